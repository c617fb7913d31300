package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

// row is one row of the import form as it is written.
type row map[string]any

// books are rows of the import form, by array. Scenarios write down what differs from the shared bank.
type books map[records.Array][]row

// readBooks reads the import form. Numbers stay as they are spelled.
func readBooks(t testing.TB, text []byte) books {
	t.Helper()
	var b books
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&b); err != nil {
		t.Fatalf("these records are not in the import form: %v\n%s", err, text)
	}
	for array := range b {
		if !slices.Contains(records.Arrays, array) {
			t.Fatalf("%q is not an array of the import form; expected one of %q", array, records.Arrays)
		}
	}
	return b
}

// sharedBank is the bank that every scenario begins with.
func sharedBank(t testing.TB) books {
	t.Helper()
	text, err := os.ReadFile("testdata/bank.json")
	if err != nil {
		t.Fatal(err)
	}
	return readBooks(t, text)
}

// copy is books that can be changed without changing b.
func (b books) copy() books {
	c := books{}
	for array, rows := range b {
		for _, r := range rows {
			c[array] = append(c[array], maps.Clone(r))
		}
	}
	return c
}

// key is the name of the field that a row of the array goes by.
func key(array records.Array) string {
	if array == records.Settlements {
		return "transaction_id"
	}
	return "id"
}

// change writes differences into the books and returns the rows that they touched, whole.
func (b books) change(t testing.TB, differences books) books {
	t.Helper()
	touched := books{}
	for _, array := range slices.Sorted(maps.Keys(differences)) {
		for _, d := range differences[array] {
			if d["absent"] == true {
				b.remove(t, array, d[key(array)])
				continue
			}
			touched[array] = append(touched[array], b.merge(t, array, d))
		}
	}
	return touched
}

// merge puts one row's differences into the books and returns the whole row.
func (b books) merge(t testing.TB, array records.Array, d row) row {
	t.Helper()
	i := b.find(array, d[key(array)])
	if i < 0 {
		b[array] = append(b[array], row{})
		i = len(b[array]) - 1
	}
	if like, ok := d["like"]; ok {
		model := b.find(array, like)
		if model < 0 {
			t.Fatalf("%s: there is no %v to be like", array, like)
		}
		b[array][i] = maps.Clone(b[array][model])
	}
	maps.Copy(b[array][i], d)
	delete(b[array][i], "like")
	return b[array][i]
}

func (b books) remove(t testing.TB, array records.Array, id any) {
	t.Helper()
	i := b.find(array, id)
	if i < 0 {
		t.Fatalf("%s: there is no %v to take away", array, id)
	}
	b[array] = slices.Delete(b[array], i, i+1)
}

func (b books) find(array records.Array, id any) int {
	return slices.IndexFunc(b[array], func(r row) bool { return r[key(array)] == id })
}

// bring imports books as any bank would bring them: nothing may be refused, and nothing may go unread.
func (w *world) bring(b books) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	var refused error
	report, err := feed.Feed{Store: w.store, Refused: func(p records.Problem) { refused = fmt.Errorf("refused: %s", p) }}.
		Read(ctx, "the records", bytes.NewReader(text))
	switch {
	case err != nil:
		return err
	case refused != nil:
		return refused
	case len(report.Unknown) > 0:
		return fmt.Errorf("there is no column %q in %s", report.Unknown[0].Name, report.Unknown[0].Array)
	}
	return nil
}

// damage writes values into the database past every check.
func (w *world) damage(b books) {
	w.Helper()
	for array, rows := range b {
		for _, r := range rows {
			for column, value := range r {
				w.exec(fmt.Sprintf("UPDATE %s SET %s = $1 WHERE %s = $2", array, column, key(array)), value, r[key(array)])
			}
		}
	}
}

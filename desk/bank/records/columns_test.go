package records

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"countersign"

	"github.com/google/go-cmp/cmp"
)

// TestColumnsAreTheFieldsOfTheirRecord keeps the tables and the structs together: a field that is in one only would be read
// and never compared, or stored and never read.
func TestColumnsAreTheFieldsOfTheirRecord(t *testing.T) {
	if len(tables) != len(Arrays) {
		t.Fatalf("%d tables, %d arrays", len(tables), len(Arrays))
	}
	for _, a := range Arrays {
		blank := tables[a].blank()
		typ := reflect.TypeOf(blank).Elem()
		if typ.NumField() != len(tables[a].columns) {
			t.Errorf("%s: %d fields, %d columns", a, typ.NumField(), len(tables[a].columns))
		}
		if blank.Array() != a {
			t.Errorf("%s makes rows of %s", a, blank.Array())
		}
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("json")
			column, ok := tables[a].index[name]
			if !ok {
				t.Errorf("%s: no column %q", a, name)
				continue
			}
			here := reflect.ValueOf(tables[a].columns[column].at(blank)).Pointer()
			if there := reflect.ValueOf(blank).Elem().Field(i).Addr().Pointer(); here != there {
				t.Errorf("%s: column %s points at another field", a, name)
			}
		}
	}
}

func TestColumnsRequiredFirst(t *testing.T) {
	for a, table := range tables {
		optional := ""
		for _, c := range table.columns {
			if c.need && optional != "" {
				t.Errorf("%s: required %s stands behind optional %s", a, c.name, optional)
			}
			if !c.need {
				optional = c.name
			}
		}
	}
}

// records returns one filled record of each array.
func filled(t *testing.T) (out []Record) {
	o := read(t, strings.NewReader(document(good)))
	for r := range o.set.Rows() {
		out = append(out, r.Record)
	}
	if len(out) != len(Arrays) {
		t.Fatalf("%d records", len(out))
	}
	return out
}

func TestEncodeTellsEveryFieldApart(t *testing.T) {
	for _, r := range filled(t) {
		before := Encode(nil, r)
		for _, c := range tables[r.Array()].columns {
			undo := change(c.at(r))
			if bytes.Equal(before, Encode(nil, r)) {
				t.Errorf("%s: another %s gives the same bytes", r.Array(), c.name)
			}
			undo()
		}
		if !bytes.Equal(before, Encode(nil, r)) {
			t.Fatalf("%s: the test did not put the row back", r.Array())
		}
	}
}

// change gives a column another value and returns how to put the first one back.
func change(p any) (undo func()) {
	switch p := p.(type) {
	case *string:
		old := *p
		*p += "x"
		return func() { *p = old }
	case *int64:
		*p++
		return func() { *p-- }
	case *bool:
		*p = !*p
		return func() { *p = !*p }
	case **bool:
		old := *p
		*p = nil
		if old == nil {
			*p = new(bool)
		}
		return func() { *p = old }
	case *countersign.When:
		old := *p
		*p = when("2199-01-01")
		return func() { *p = old }
	case *[]string:
		old := *p
		*p = append([]string{"x"}, old...)
		return func() { *p = old }
	}
	panic("a column of a new type")
}

func TestEncodeIsUnambiguous(t *testing.T) {
	for name, pair := range map[string][2]Record{
		"text that moved to the next column": {&Merchant{ID: "ab", Name: "c"}, &Merchant{ID: "a", Name: "bc"}},
		"a flag that was two":                {&Customer{Flags: []string{"ab"}}, &Customer{Flags: []string{"a", "b"}}},
		"not recorded and not trusted":       {&Device{}, &Device{Trusted: new(bool)}},
		"a device and a merchant":            {&Device{ID: "x"}, &Merchant{ID: "x"}},
	} {
		if bytes.Equal(Encode(nil, pair[0]), Encode(nil, pair[1])) {
			t.Errorf("%s: the same bytes", name)
		}
	}
	if !bytes.Equal(Encode(nil, &Customer{}), Encode(nil, &Customer{Flags: []string{}})) {
		t.Error("no flags and an empty list of flags differ, though a database would return either")
	}
}

func TestSetKeepsEveryRow(t *testing.T) {
	o := read(t, strings.NewReader(document(good)))
	var again Set
	for r := range o.set.Rows() {
		again.Add(r)
		if r.Number != 1 {
			t.Errorf("%s: row number %d", r.Record.Array(), r.Number)
		}
	}
	if diff := cmp.Diff(o.set, again, sameWhen); diff != "" {
		t.Error(diff)
	}
	for range o.set.Rows() {
		break // must not panic
	}
}

func TestMaskShowsFourCharactersAtMost(t *testing.T) {
	for in, want := range map[string]string{"": "****", "1234567": "****", "12345678": "****5678", "0000014579": "****4579", "ab\x00cdef\ng": "****ef?g"} {
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
}

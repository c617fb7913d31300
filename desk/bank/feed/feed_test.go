package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

func open(t testing.TB, database string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reader imports text and returns the report and what was refused.
func read(t testing.TB, f Feed, text []byte) (Report, []string) {
	t.Helper()
	refused := []string{}
	f.Refused = func(p records.Problem) { refused = append(refused, p.String()) }
	report, err := f.Read(t.Context(), "bank.json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return report, refused
}

// books are customers with accounts, transactions, entries and settlements of their own: seven rows each, and a merchant.
func books(customers int) map[string][]map[string]any {
	at := "2026-06-01T10:00:00Z"
	all := map[string][]map[string]any{"merchants": {{"id": "M", "name": "Mart"}}}
	for i := range customers {
		id := fmt.Sprint(i)
		add := func(array string, row map[string]any) { all[array] = append(all[array], row) }
		add("customers", map[string]any{"id": "C" + id, "name": "Ada Obi"})
		add("accounts", map[string]any{"id": "A" + id, "customer_id": "C" + id, "number": fmt.Sprintf("%010d", i), "currency": "NGN"})
		add("devices", map[string]any{"id": "V" + id, "customer_id": "C" + id})
		for _, n := range []string{"a", "b"} {
			add("transactions", map[string]any{"id": "T" + id + n, "account_id": "A" + id, "kind": "card", "direction": "debit", "amount_minor": 100 + i,
				"currency": "NGN", "status": "posted", "occurred_at": at, "merchant_id": "M"})
		}
		add("ledger_entries", map[string]any{"id": "L" + id, "transaction_id": "T" + id + "a", "account_id": "A" + id, "direction": "debit",
			"amount_minor": 100 + i, "currency": "NGN", "kind": "original", "posted_at": at})
		add("settlements", map[string]any{"transaction_id": "T" + id + "a", "status": "pending", "final": false, "updated_at": at})
	}
	return all
}

func asJSON(t testing.TB, set any) []byte {
	t.Helper()
	b, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// counts is how many rows each table holds.
func counts(t testing.TB, s *store.Store) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, table := range records.Arrays {
		var n int
		if err := s.DB().QueryRow("SELECT COUNT(*) FROM " + string(table)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[string(table)] = n
	}
	return all
}

var nothing = map[string]int{"customers": 0, "accounts": 0, "merchants": 0, "devices": 0, "transactions": 0, "ledger_entries": 0, "settlements": 0}

func TestImport(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		text := asJSON(t, books(200)) // more than one batch of transactions

		t.Run("a dry run says what would happen and changes nothing", func(t *testing.T) {
			report, refused := read(t, Feed{Store: s, DryRun: true}, text)
			if report.New != 1401 || report.Changed+report.Same+report.Refused != 0 || len(refused) != 0 {
				t.Errorf("the report is %+v, refused %v", report, refused)
			}
			if diff := cmp.Diff(nothing, counts(t, s)); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("every row is stored, owners first, whatever the order of the file", func(t *testing.T) {
			report, _ := read(t, Feed{Store: s}, text) // the arrays of the file are in the order of their names
			if report.New != 1401 || report.Refused != 0 {
				t.Errorf("the report is %+v", report)
			}
			want := map[string]int{"customers": 200, "accounts": 200, "merchants": 1, "devices": 200, "transactions": 400, "ledger_entries": 200, "settlements": 200}
			if diff := cmp.Diff(want, counts(t, s)); diff != "" {
				t.Error(diff)
			}
		})
		t.Run("the same file again is no change", func(t *testing.T) {
			report, _ := read(t, Feed{Store: s}, text)
			if report.Same != 1401 || report.New+report.Changed+report.Refused != 0 {
				t.Errorf("the report is %+v", report)
			}
		})
		t.Run("what advanced is changed, what contradicts is refused, the rest is stored", func(t *testing.T) {
			next := books(201)
			next["settlements"][0]["status"], next["settlements"][0]["final"] = "failed", true
			next["transactions"][2]["amount_minor"] = 7
			report, refused := read(t, Feed{Store: s}, asJSON(t, next))
			if report.New != 7 || report.Changed != 1 || report.Refused != 1 || report.Same != 1399 {
				t.Errorf("the report is %+v", report)
			}
			if len(refused) != 1 || !strings.Contains(refused[0], "transactions row 3: amount_minor is 7, expected 101 as on record") {
				t.Errorf("refused: %v", refused)
			}
		})
	})
}

func TestAFileThatIsNoImportStoresNothing(t *testing.T) {
	whole := string(asJSON(t, books(1500)))
	for name, text := range map[string]string{
		"it ends in the middle of a row":         whole[:len(whole)-9],
		"its last bracket is missing":            whole[:len(whole)-1],
		"something follows it":                   whole + "{}",
		"a NUL byte stands at its end":           whole[:len(whole)-1] + "\x00}",
		"its last row is followed by a comma":    strings.TrimSuffix(whole, "}") + ",}",
		"it is a list":                           "[" + whole + "]",
		"it is empty":                            "",
		"it is text of another kind":             "id,name\n1,Ada\n",
		"it is nested deeper than anybody needs": strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, testdb.SQLite(t))
			_, err := Feed{Store: s}.Read(t.Context(), "bank.json", strings.NewReader(text))
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "bank.json") {
				t.Errorf("the error is %v, want one of the kind invalid that names the file", err)
			}
			if diff := cmp.Diff(nothing, counts(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	if _, err := (Feed{Store: s}).File(t.Context(), filepath.Join(t.TempDir(), "nowhere.json")); countersign.KindOf(err) != countersign.NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.Write(asJSON(t, books(1))); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := (Feed{Store: s}).Read(t.Context(), "pipe", r); countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "cannot be read twice") {
		t.Errorf("a pipe: %v", err)
	}
	if diff := cmp.Diff(nothing, counts(t, s)); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Feed{Store: s}).Read(ctx, "bank.json", bytes.NewReader(asJSON(t, books(1)))); !errors.Is(err, context.Canceled) {
		t.Errorf("an import that is given up: %v", err)
	}
}

// A dry run that promised something else than happens would be worse than none.
func TestADryRunSaysExactlyWhatHappens(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 20261130))
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for round := range 8 {
			text := asJSON(t, spoiled(dice, books(5+round*2)))
			would, wouldRefuse := read(t, Feed{Store: s, DryRun: true}, text)
			did, refused := read(t, Feed{Store: s}, text)
			if diff := cmp.Diff(would, did); diff != "" {
				t.Fatalf("round %d: the dry run's report (-) is not the import's (+):\n%s", round, diff)
			}
			if diff := cmp.Diff(wouldRefuse, refused); diff != "" {
				t.Fatalf("round %d: refused by the dry run (-) and by the import (+):\n%s", round, diff)
			}
			if round == 0 && (did.Refused == 0 || did.New == 0) {
				t.Fatalf("nothing to compare: %+v", did)
			}
		}
	})
}

// spoiled breaks single rows: owners that do not exist, values out of range, changed identities, rows that are there twice.
func spoiled(dice *rand.Rand, set map[string][]map[string]any) map[string][]map[string]any {
	for _, array := range records.Arrays {
		rows := set[string(array)]
		for i := range rows {
			switch dice.IntN(12) {
			case 0:
				for _, owner := range []string{"customer_id", "account_id"} {
					if _, has := rows[i][owner]; has {
						rows[i][owner] = "nobody"
					}
				}
			case 1:
				rows[i]["currency"] = "XXX"
			case 2:
				delete(rows[i], "id")
			case 3:
				rows[i]["amount_minor"] = dice.IntN(3) - 1
			case 4:
				rows = append(rows, rows[i])
			}
		}
		set[string(array)] = rows
	}
	return set
}

func TestProgress(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	var said []string
	last, total := 0, 0
	f := Feed{Store: s, Progress: func(done, of int, is string) {
		if len(said) == 0 || said[len(said)-1] != is {
			said = append(said, is)
		}
		last, total = done, of
	}}
	read(t, f, asJSON(t, books(800)))
	want := []string{"reading bank.json", "storing customers", "storing accounts", "storing merchants", "storing devices", "storing transactions",
		"storing ledger_entries", "storing settlements"}
	if diff := cmp.Diff(want, said); diff != "" || last != 5601 || total != 5601 {
		t.Errorf("it ended at %d of %d:\n%s", last, total, diff)
	}
}

func TestRecordsInMemoryAreAnImportToo(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	set := records.Set{Customers: []records.Customer{{ID: "C1", Name: "Ada", Flags: []string{}}},
		Accounts: []records.Account{{ID: "A1", CustomerID: "C1", Number: "1", Currency: "NGN"}, {ID: "A2", CustomerID: "C2", Number: "2", Currency: "NGN"}}}
	var refused []records.Problem
	f := Feed{Store: s, Refused: func(p records.Problem) { refused = append(refused, p) }}
	report, err := f.Set(t.Context(), set)
	if err != nil || report.New != 2 || report.Refused != 1 || len(refused) != 1 || refused[0].Field != "customer_id" {
		t.Errorf("the report is %+v, refused %v, %v", report, refused, err)
	}
	if b := asJSON(t, report); !bytes.Contains(b, []byte(`"understood":[]`)) || !bytes.Contains(b, []byte(`"unknown_columns":[]`)) {
		t.Errorf("an empty list is null: %s", b)
	}
}

// BenchmarkImport reports rows a second into an empty database, from the file to the last commit.
func BenchmarkImport(b *testing.B) {
	text := asJSON(b, books(3000))
	for name, database := range map[string]func(testing.TB) string{"sqlite": testdb.SQLite, "postgres": testdb.Postgres} {
		b.Run(name, func(b *testing.B) {
			took := time.Duration(0)
			for range b.N {
				s := open(b, database(b))
				began := time.Now()
				if _, err := (Feed{Store: s}).Read(b.Context(), "bank.json", io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))); err != nil {
					b.Fatal(err)
				}
				took += time.Since(began)
			}
			b.ReportMetric(float64(21001*b.N)/took.Seconds(), "rows/s")
		})
	}
}

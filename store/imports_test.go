package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

// counts is what became of a batch, without the words.
type counts struct{ New, Changed, Same, Refused int }

func counted(done store.Imported) counts {
	return counts{done.New, done.Changed, done.Same, len(done.Refused)}
}

// rowsOf are the rows of a set, which must all be of one array.
func rowsOf(set records.Set) (rows []records.Row) {
	for row := range set.Rows() {
		rows = append(rows, row)
	}
	return rows
}

func importRows(s *store.Store, rows []records.Row) (done store.Imported, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		done, err = tx.Import(ctx, rows)
		return err
	})
	return done, err
}

// many is n transactions of account A1.
func many(n int) (set records.Set) {
	for i := range n {
		set.Transactions = append(set.Transactions, transaction(fmt.Sprintf("M%04d", i)))
	}
	return set
}

func TestImport(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		books(t, s, 3)
		step := func(name string, set records.Set, want counts, says ...string) {
			t.Run(name, func(t *testing.T) {
				t.Helper()
				before := shelf(t, s)
				rehearsed, err := s.Rehearse(ctx, rowsOf(set), nil)
				if err != nil || counted(rehearsed) != want {
					t.Errorf("rehearsing said %+v, %v; want %+v", counted(rehearsed), err, want)
				}
				if diff := cmp.Diff(before, shelf(t, s)); diff != "" {
					t.Errorf("rehearsing changed the books:\n%s", diff)
				}
				done, err := importRows(s, rowsOf(set))
				if err != nil || counted(done) != want {
					t.Errorf("importing said %+v, %v; want %+v", counted(done), err, want)
				}
				if diff := cmp.Diff(rehearsed.Refused, done.Refused); diff != "" {
					t.Errorf("refused (-rehearsed +imported):\n%s", diff)
				}
				if changes := want.New+want.Changed > 0; changes == cmp.Equal(before, shelf(t, s)) {
					t.Errorf("the books changed: %v, want %v", !changes, changes)
				}
				for i, problem := range done.Refused {
					if !strings.Contains(problem.String(), says[i]) {
						t.Errorf("refused with %q, want …%s…", problem, says[i])
					}
				}
			})
		}
		step("a batch of five hundred is stored", many(500), counts{New: 500})
		step("the same batch again changes nothing", many(500), counts{Same: 500})
		step("of a batch that was stored in part the rest is stored", many(600), counts{New: 100, Same: 500})
		step("the same row twice in one batch is one row", records.Set{Customers: []records.Customer{{ID: "C7", Name: "Bo"}, {ID: "C7", Name: "Bo"}}}, counts{New: 1, Same: 1})

		with := func(change func(*records.Transaction)) records.Set {
			tr := transaction("T0")
			change(&tr)
			return records.Set{Transactions: []records.Transaction{tr}}
		}
		step("a transaction may be reversed", with(func(tr *records.Transaction) { tr.Status = records.Reversed }), counts{Changed: 1})
		step("and the bank's older file does not take that back", with(func(*records.Transaction) {}), counts{Same: 1})
		step("its amount never changes", with(func(tr *records.Transaction) { tr.AmountMinor = 501 }), counts{Refused: 1}, "amount_minor is 501, expected 500 as on record")
		step("its currency never changes", with(func(tr *records.Transaction) { tr.Currency = "USD" }), counts{Refused: 1}, "currency")
		step("its account never changes", with(func(tr *records.Transaction) { tr.AccountID = "A2" }), counts{Refused: 1}, "account_id")
		step("what was not known may be filled in", with(func(tr *records.Transaction) { tr.EndToEndID = "E2E-1" }), counts{Changed: 1})

		settled := func(status records.SettlementStatus, final bool) records.Set {
			return records.Set{Settlements: []records.Settlement{{TransactionID: "T1", Status: status, Final: final}}}
		}
		step("a settlement is known by its transaction", settled(records.SettlementPending, false), counts{New: 1})
		step("it may become final", settled(records.SettlementFailed, true), counts{Changed: 1})
		step("and then goes back no more", settled(records.SettlementPending, false), counts{Refused: 1}, "never stops being final")

		step("an account of nobody is refused, and the others are stored", records.Set{Accounts: []records.Account{{ID: "A7", CustomerID: "C1", Currency: "NGN"},
			{ID: "A8", CustomerID: "C404", Currency: "NGN"}}}, counts{New: 1, Refused: 1}, `customer_id is C404, expected the id of one of the customers`)
		step("a device of nobody", records.Set{Devices: []records.Device{{ID: "V9", CustomerID: "C404"}}}, counts{Refused: 1}, "C404")
		step("a transaction of no account", with(func(tr *records.Transaction) { tr.ID, tr.AccountID = "T9", "A404" }), counts{Refused: 1}, "A404")
		step("a ledger entry of no transaction", records.Set{LedgerEntries: []records.LedgerEntry{{ID: "L404", TransactionID: "T404", AccountID: "A1",
			Direction: countersign.Debit, AmountMinor: 1, Currency: "NGN", Kind: records.Original}}}, counts{Refused: 1}, "T404")
		step("a settlement of no transaction", records.Set{Settlements: []records.Settlement{{TransactionID: "T404", Status: records.Settled}}}, counts{Refused: 1}, "T404")
		step("a merchant refers to nothing", records.Set{Merchants: []records.Merchant{{ID: "M1", Name: "'; DROP TABLE merchants; --", Flagged: true}}}, counts{New: 1})
		step("a flag may be taken back", records.Set{Merchants: []records.Merchant{{ID: "M1", Name: "'; DROP TABLE merchants; --"}}}, counts{Changed: 1})

		t.Run("nothing is no work", func(t *testing.T) {
			done, err := importRows(s, nil)
			rehearsed, errRehearsal := s.Rehearse(ctx, nil, nil)
			if err != nil || errRehearsal != nil || counted(done) != (counts{}) || counted(rehearsed) != (counts{}) {
				t.Errorf("got %+v, %v and %+v, %v", done, err, rehearsed, errRehearsal)
			}
		})
		t.Run("a rehearsal knows what earlier batches of the same file would have stored", func(t *testing.T) {
			set := records.Set{Devices: []records.Device{{ID: "V8", CustomerID: "C-later"}, {ID: "V9", CustomerID: "C404"}}}
			got, err := s.Rehearse(ctx, rowsOf(set), func(array records.Array, id string) bool { return array == records.Customers && id == "C-later" })
			if err != nil || counted(got) != (counts{New: 1, Refused: 1}) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	})
}

// shelf counts what is in the books and sums what can change, to see whether it did.
func shelf(t testing.TB, s *store.Store) (all []string) {
	t.Helper()
	for _, query := range []string{
		"SELECT COUNT(*) FROM customers", "SELECT COUNT(*) FROM accounts", "SELECT COUNT(*) FROM devices", "SELECT COUNT(*) FROM ledger_entries",
		"SELECT COUNT(*) FROM merchants", "SELECT COUNT(*) FROM merchants WHERE flagged", "SELECT COUNT(*) FROM transactions",
		"SELECT COUNT(*) FROM transactions WHERE status = 'reversed'", "SELECT COUNT(*) FROM transactions WHERE end_to_end_id <> ''",
		"SELECT COALESCE(SUM(amount_minor), 0) FROM transactions", "SELECT COUNT(*) FROM settlements", "SELECT COUNT(*) FROM settlements WHERE final",
	} {
		all = append(all, fmt.Sprint(query, ": ", number(t, s, query)))
	}
	return all
}

func TestTheSameFileImportedTwiceAtOnce(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		stores := []*store.Store{open(t, database), open(t, database)}
		books(t, stores[0], 0)
		for round := range 5 {
			var set records.Set
			for i := range 100 {
				set.Customers = append(set.Customers, records.Customer{ID: fmt.Sprint("C-", round, "-", i), Name: "Ada"})
			}
			all := many(100)
			for i := range all.Transactions {
				all.Transactions[i].ID += fmt.Sprint("-", round)
			}
			for _, err := range parallel(4, func(i int) error {
				for _, rows := range [][]records.Row{rowsOf(set), rowsOf(all)} {
					done, err := importRows(stores[i%2], rows)
					if err != nil {
						return err
					}
					if c := counted(done); c != (counts{New: 100}) && c != (counts{Same: 100}) {
						return fmt.Errorf("got %+v", c)
					}
				}
				return nil
			}) {
				t.Error(err)
			}
		}
		if n := number(t, stores[0], "SELECT COUNT(*) FROM transactions"); n != 500 {
			t.Errorf("%d transactions, want 500", n)
		}
	})
}

func TestABookHoldsWhatBearsOnOneTransaction(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		books(t, s, 2)
		at := func(day int, change func(*records.Transaction)) records.Transaction {
			tr := transaction(fmt.Sprint("X", day))
			tr.OccurredAt = countersign.At(time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC))
			change(&tr)
			return tr
		}
		imports(t, s, records.Set{
			Merchants: []records.Merchant{{ID: "M1", Name: "Shop"}},
			Transactions: []records.Transaction{
				at(1, func(tr *records.Transaction) {}), // a copy of long ago
				at(2, func(tr *records.Transaction) { tr.AmountMinor++ }),
				at(3, func(tr *records.Transaction) { tr.AccountID = "A2" }),
				at(4, func(tr *records.Transaction) { tr.Direction = countersign.Credit }),
				at(5, func(tr *records.Transaction) { tr.CounterpartyAccount = "8" }),
				at(6, func(tr *records.Transaction) { tr.CounterpartyAccount, tr.MerchantID = "", "" }),
				at(29, func(tr *records.Transaction) { tr.MerchantID, tr.CounterpartyAccount, tr.EndToEndID = "M1", "", "E1" }),
				at(30, func(tr *records.Transaction) {
					tr.MerchantID, tr.CounterpartyAccount, tr.EndToEndID, tr.AccountID = "M1", "", "E1", "A2"
				}),
			},
		})
		ids := func(list []records.Transaction) (all string) {
			for _, tr := range list {
				all += tr.ID + " "
			}
			return all
		}
		b, err := s.Book(ctx, "T0")
		if err != nil || ids(b.Like) != "X1 T1 " || ids(b.Recent) != "T0 T1 X29 " || b.SameEndToEnd != nil || b.Merchant != nil || b.Settlement != nil || b.Device != nil {
			t.Errorf("T0: like %s, recent %s: %+v, %v", ids(b.Like), ids(b.Recent), b, err)
		}
		if b, err = s.Book(ctx, "X29"); err != nil || ids(b.SameEndToEnd) != "X30 " || b.Merchant == nil || ids(b.Like) != "" {
			t.Errorf("X29: %+v, %v", b, err)
		}
		if b, err = s.Book(ctx, "X6"); err != nil || ids(b.Like) != "" {
			t.Errorf("X6, which names nobody, is like %s, %v", ids(b.Like), err)
		}
		if _, err := s.Book(ctx, "T404"); countersign.KindOf(err) != countersign.NotFound {
			t.Errorf("a transaction that does not exist gave %v", err)
		}
	})
}

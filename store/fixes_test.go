package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

func ngn(minor int64) countersign.Money { return countersign.Money{Minor: minor, Currency: "NGN"} }

// imports stores records and wants all of them new.
func imports(t testing.TB, s *store.Store, set records.Set) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		for row := range set.Rows() {
			if done, err := tx.Import(ctx, []records.Row{row}); err != nil || done.New != 1 {
				return fmt.Errorf("import %s %s: %+v: %w", row.Record.Array(), row.Record.Key(), done, err)
			}
		}
		return nil
	})
}

// books stores a customer, an account and n transactions T0, T1, … of 5.00 NGN, each with its original entry, and the case
// that every fix is for.
func books(t testing.TB, s *store.Store, n int) {
	t.Helper()
	set := records.Set{
		Customers: []records.Customer{{ID: "C1", Name: "Ada Obi"}},
		Accounts:  []records.Account{{ID: "A1", CustomerID: "C1", Number: "0000014579", Currency: "NGN"}, {ID: "A2", CustomerID: "C1", Currency: "NGN"}},
	}
	for i := range n {
		tr := transaction(fmt.Sprint("T", i))
		set.Transactions = append(set.Transactions, tr)
		set.LedgerEntries = append(set.LedgerEntries, records.LedgerEntry{ID: "L-" + tr.ID, TransactionID: tr.ID, AccountID: "A1", Direction: countersign.Debit,
			AmountMinor: tr.AmountMinor, Currency: "NGN", Kind: records.Original})
	}
	imports(t, s, set)
	newCase(t, s, "D-1")
	newCase(t, s, "D-2")
}

// post posts a fix as the executor does: account locked, earlier posting looked for.
func post(s *store.Store, id countersign.CaseID, fix countersign.Fix) (p store.Posting, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.LockAccount(ctx, fix.AccountID); err != nil {
			return err
		}
		var posted bool
		if p, posted, err = tx.Posted(ctx, id, fix); err != nil || posted {
			return err
		}
		p, err = tx.Post(ctx, id, fix, worker)
		return err
	})
	return p, err
}

// ledger sums what was posted on a transaction: credits of the account, debits of the suspense account, and how many entries.
func ledger(t testing.TB, s *store.Store, transaction string) (credits, debits, entries int64) {
	t.Helper()
	return number(t, s, "SELECT COALESCE(SUM(amount_minor), 0) FROM ledger_entries WHERE transaction_id = $1 AND account_id = 'A1' AND direction = 'credit'", transaction),
		number(t, s, "SELECT COALESCE(SUM(amount_minor), 0) FROM ledger_entries WHERE transaction_id = $1 AND account_id = 'suspense:NGN' AND direction = 'debit'", transaction),
		number(t, s, "SELECT COUNT(*) FROM ledger_entries WHERE transaction_id = $1", transaction)
}

func TestPost(t *testing.T) {
	fix := func(kind countersign.FixKind, transaction string, minor int64) countersign.Fix {
		return *countersign.NewFix(kind, transaction, "A1", ngn(minor))
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		books(t, s, 10)
		t.Run("a fix is one balanced pair of entries, and its transaction is reversed", func(t *testing.T) {
			p, err := post(s, "D-1", fix("reversal", "T0", 500))
			if err != nil || p.Repeated || p.Case != "D-1" || p.Actor != worker.String() || p.PostedAt.IsZero() {
				t.Errorf("got %+v, %v", p, err)
			}
			if credits, debits, entries := ledger(t, s, "T0"); credits != 500 || debits != 500 || entries != 3 {
				t.Errorf("credited %d, debited %d, in %d entries", credits, debits, entries)
			}
			if tr, err := s.Transaction(ctx, "T0"); err != nil || tr.Status != records.Reversed {
				t.Errorf("the transaction is %s, %v", tr.Status, err)
			}
		})
		t.Run("a second time posts nothing and returns the first result", func(t *testing.T) {
			p, err := post(s, "D-1", fix("reversal", "T0", 500))
			if _, _, entries := ledger(t, s, "T0"); err != nil || !p.Repeated || p.PostedAt.IsZero() || entries != 3 {
				t.Errorf("got %+v, %v, and %d entries", p, err, entries)
			}
		})
		for _, row := range []struct {
			name string
			id   countersign.CaseID
			fix  countersign.Fix
		}{
			{"another amount", "D-1", fix("reversal", "T0", 1)},
			{"another case", "D-2", fix("reversal", "T0", 500)},
			{"another account", "D-1", *countersign.NewFix("reversal", "T0", "A2", ngn(500))},
			{"another currency", "D-1", *countersign.NewFix("reversal", "T0", "A1", countersign.Money{Minor: 500, Currency: "USD"})},
		} {
			t.Run("the same fix with "+row.name+" is an error", func(t *testing.T) {
				if _, err := post(s, row.id, row.fix); !errors.Is(err, store.ErrOtherInputs) {
					t.Errorf("got %v", err)
				}
			})
		}
		t.Run("a reversed transaction cannot be refunded as well", func(t *testing.T) {
			if _, err := post(s, "D-1", fix("refund", "T0", 1)); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "of NGN 5.00, NGN 5.00 was given back already") {
				t.Errorf("got %v", err)
			}
		})
		t.Run("two parts may be given back, and nothing beyond", func(t *testing.T) {
			if _, err := post(s, "D-1", fix("refund", "T1", 200)); err != nil {
				t.Fatal(err)
			}
			if _, err := post(s, "D-1", fix("reversal", "T1", 301)); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("one unit too much gave %v", err)
			}
			if _, err := post(s, "D-1", fix("reversal", "T1", 300)); err != nil {
				t.Error(err)
			}
			if credits, debits, _ := ledger(t, s, "T1"); credits != 500 || debits != 500 {
				t.Errorf("credited %d, debited %d", credits, debits)
			}
		})
		t.Run("what the bank's own books gave back counts", func(t *testing.T) {
			imports(t, s, records.Set{LedgerEntries: []records.LedgerEntry{{ID: "L9", TransactionID: "T2", AccountID: "A1", Direction: countersign.Credit, AmountMinor: 400,
				Currency: "NGN", Kind: records.Adjustment}}})
			if _, err := post(s, "D-1", fix("refund", "T2", 101)); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("got %v", err)
			}
		})
		pair := fix("refund", "T3", 500).Entries
		one := func(change func(*countersign.Entry)) []countersign.Entry {
			e := []countersign.Entry{pair[0], pair[1]}
			change(&e[1])
			return e
		}
		for _, row := range []struct {
			name string
			fix  countersign.Fix
			want string
		}{
			{"more than was taken", fix("refund", "T3", 501), "cannot be given back"},
			{"nothing", fix("refund", "T3", 0), "balanced"},
			{"less than nothing", fix("refund", "T3", -500), "balanced"},
			{"the largest number there is", fix("refund", "T3", 1<<63-1), "cannot be given back"},
			{"another currency", *countersign.NewFix("refund", "T3", "A1", countersign.Money{Minor: 1, Currency: "USD"}), "the transaction in NGN"},
			{"a transaction of another account", *countersign.NewFix("refund", "T3", "A2", ngn(1)), `no transaction "T3" on account "A2"`},
			{"a transaction that does not exist", fix("refund", "T99", 1), `no transaction "T99"`},
			{"an account that does not exist", *countersign.NewFix("refund", "T3", "A9", ngn(1)), `no account "A9"`},
			{"no entries", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500)}, "balanced"},
			{"one entry", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: pair[:1]}, "balanced"},
			{"a third entry", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: append(pair[:2:2], pair[0])}, "balanced"},
			{"two entries that differ", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: one(func(e *countersign.Entry) { e.Amount.Minor-- })}, "balanced"},
			{"two credits", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: one(func(e *countersign.Entry) { e.Direction = countersign.Credit })}, "balanced"},
			{"a debit of somebody's account", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: one(func(e *countersign.Entry) { e.AccountID = "A2" })}, "balanced"},
			{"an entry of another kind", countersign.Fix{Kind: "refund", TransactionID: "T3", AccountID: "A1", Amount: ngn(500), Entries: one(func(e *countersign.Entry) { e.Kind = "reversal" })}, "balanced"},
		} {
			t.Run("refused: "+row.name, func(t *testing.T) {
				if _, err := post(s, "D-1", row.fix); err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want …%s…", err, row.want)
				}
				if credits, debits, entries := ledger(t, s, "T3"); credits != 0 || debits != 0 || entries != 1 {
					t.Errorf("credited %d, debited %d, in %d entries", credits, debits, entries)
				}
			})
		}
		t.Run("refused: a fix that nobody posts", func(t *testing.T) {
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Post(ctx, "D-1", fix("refund", "T3", 1), countersign.Actor{})
				return err
			})
			if _, _, entries := ledger(t, s, "T3"); err == nil || entries != 1 {
				t.Errorf("got %v and %d entries", err, entries)
			}
		})
		t.Run("ten at once post once", func(t *testing.T) {
			other := open(t, database)
			var first atomic.Int64
			for _, err := range parallel(10, func(i int) error {
				p, err := post([]*store.Store{s, other}[i%2], "D-1", fix("reversal", "T4", 500))
				if err == nil && !p.Repeated {
					first.Add(1)
				}
				return err
			}) {
				t.Error(err)
			}
			if credits, debits, entries := ledger(t, s, "T4"); first.Load() != 1 || credits != 500 || debits != 500 || entries != 3 {
				t.Errorf("%d first results, credited %d, debited %d, in %d entries", first.Load(), credits, debits, entries)
			}
		})
		t.Run("what was posted is found by the book", func(t *testing.T) {
			b, err := s.Book(ctx, "T4")
			if err != nil || len(b.Fixed) == 0 || len(b.Entries) != 3 || b.Transaction.Status != records.Reversed {
				t.Errorf("got %+v, %v", b, err)
			}
		})
	})
}

// Whatever is posted and imported, in whatever order: never is more given back by us than was taken, and our entries balance.
func TestWhateverIsPostedNeverMoreThanWasTaken(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		const transactions = 400
		books(t, s, transactions)
		next := 0
		rapid.Check(t, func(rt *rapid.T) {
			transaction := fmt.Sprint("T", next%transactions)
			next++
			if next > transactions {
				rt.Skip("all transactions were used")
			}
			imported, posted := int64(0), int64(0)
			for i := range rapid.IntRange(1, 4).Draw(rt, "steps") {
				minor := rapid.Int64Range(1, 600).Draw(rt, "amount")
				if rapid.IntRange(0, 3).Draw(rt, "who") == 0 {
					imports(t, s, records.Set{LedgerEntries: []records.LedgerEntry{{ID: fmt.Sprint("B-", transaction, "-", i), TransactionID: transaction, AccountID: "A1",
						Direction: countersign.Credit, AmountMinor: minor, Currency: "NGN", Kind: records.RefundEntry}}})
					imported += minor
					continue
				}
				kind := rapid.SampledFrom([]countersign.FixKind{countersign.Reversal, countersign.Refund}).Draw(rt, "kind")
				id := rapid.SampledFrom([]countersign.CaseID{"D-1", "D-2"}).Draw(rt, "case")
				p, err := post(s, id, *countersign.NewFix(kind, transaction, "A1", ngn(minor)))
				if err == nil && !p.Repeated {
					if posted += minor; posted+imported > 500 {
						rt.Fatalf("%d of 500 was given back already, and %d more was posted", posted+imported-minor, minor)
					}
				}
			}
			if credits, debits, _ := ledger(t, s, transaction); credits != posted+imported || debits != posted {
				rt.Fatalf("credited %d, debited %d, after posting %d and importing %d", credits, debits, posted, imported)
			}
		})
	})
}

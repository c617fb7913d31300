package execute_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/pipeline/execute"
	"countersign/store"
	"countersign/store/storetest"
)

var (
	ctx   = context.Background()
	actor = countersign.Actor{Kind: countersign.Policy, ID: "p-1"}
)

const amount = 5000

func ngn(minor int64) countersign.Money { return countersign.Money{Minor: minor, Currency: "NGN"} }

// bank stores two customers with an account each, and n transactions T0, T1, … of the first, 50.00 NGN each, posted.
func bank(t testing.TB, s *store.Store, n int) {
	t.Helper()
	set := records.Set{
		Customers: []records.Customer{{ID: "C1", Name: "Ada"}, {ID: "C2", Name: "Bo"}},
		Accounts:  []records.Account{{ID: "A1", CustomerID: "C1", Currency: "NGN"}, {ID: "A2", CustomerID: "C2", Currency: "NGN"}},
	}
	for i := range n {
		id := fmt.Sprint("T", i)
		set.Transactions = append(set.Transactions, records.Transaction{ID: id, AccountID: "A1", Kind: records.Transfer, Direction: countersign.Debit,
			AmountMinor: amount, Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(time.Unix(1_790_000_000, 0))})
		set.LedgerEntries = append(set.LedgerEntries, records.LedgerEntry{ID: "L" + id, TransactionID: id, AccountID: "A1", Direction: countersign.Debit,
			AmountMinor: amount, Currency: "NGN", Kind: records.Original})
	}
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		for row := range set.Rows() {
			if done, err := tx.Import(ctx, []records.Row{row}); err != nil || done.New != 1 {
				return fmt.Errorf("%+v: %w", done, err)
			}
		}
		return nil
	})
}

func write(t testing.TB, s *store.Store, f func(context.Context, *store.Tx) error) {
	t.Helper()
	if err := s.Write(ctx, f); err != nil {
		t.Fatal(err)
	}
}

// dispute stores a case about a transaction.
func dispute(t testing.TB, s *store.Store, id countersign.CaseID, transaction string) countersign.Case {
	t.Helper()
	c := countersign.Case{ID: id, Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: transaction}, CustomerID: "C1",
		Reason: countersign.DisputeReason(id), Amount: ngn(amount), Status: countersign.Queued, OpenedAt: time.Now(), UpdatedAt: time.Now(), Round: 1, Revision: 1}
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, actor, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": "queued"}})
	})
	return c
}

// unreturned justifies the reversal of a posted transaction of which nothing was given back, and saw all of its rows.
func unreturned(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
	b, err := v.Book(ctx, c.Subject.ID)
	if err != nil {
		return nil, "", err
	}
	seen := fmt.Sprint(b.Transaction, b.Entries)
	if b.Transaction.Status != records.Posted || len(b.Entries) != 1 {
		return nil, seen, nil
	}
	return countersign.NewFix(countersign.Reversal, b.Transaction.ID, b.Account.ID, b.Transaction.Amount()), seen, nil
}

// whatever justifies the fix it is given.
func whatever(fix countersign.Fix) execute.Justify {
	return func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
		return &fix, "", nil
	}
}

func reversal(transaction string) countersign.Fix {
	return *countersign.NewFix(countersign.Reversal, transaction, "A1", ngn(amount))
}

// carryOut closes a case by its fix, as the pipeline does: ledger, case and record in one transaction.
func carryOut(s *store.Store, o execute.Order) (posting store.Posting, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if posting, err = execute.Apply(ctx, tx, o); err != nil || posting.Repeated {
			return err
		}
		c := o.Case
		c.Status, c.Outcome, c.HandledBy = countersign.Closed, countersign.Resolved, countersign.ByPolicy
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, c.ID, o.Actor, store.Note{Kind: audit.Fix, Payload: posting.Row(c.Round, "")},
			store.Note{Kind: audit.Closed, Payload: store.Closing(c)})
	})
	return posting, err
}

// state is all that carrying out a fix changes.
type state struct {
	Fixes, Entries, Given, Suspense int64
	Transaction                     string
	Case                            string
	Rows                            int64
}

var (
	untouched = state{Entries: 1, Transaction: "posted", Case: "queued", Rows: 1}
	given     = state{Fixes: 1, Entries: 3, Given: amount, Suspense: amount, Transaction: "reversed", Case: "closed", Rows: 3}
)

func look(t testing.TB, s *store.Store, id countersign.CaseID, transaction string) (now state) {
	t.Helper()
	err := s.DB().QueryRow(`SELECT (SELECT COUNT(*) FROM fixes WHERE transaction_id = $1), (SELECT COUNT(*) FROM ledger_entries WHERE transaction_id = $1),
		(SELECT COALESCE(SUM(amount_minor), 0) FROM ledger_entries WHERE transaction_id = $1 AND account_id = 'A1' AND direction = 'credit'),
		(SELECT COALESCE(SUM(amount_minor), 0) FROM ledger_entries WHERE transaction_id = $1 AND account_id = 'suspense:NGN' AND direction = 'debit'),
		(SELECT status FROM transactions WHERE id = $1), (SELECT status FROM cases WHERE id = $2), (SELECT COUNT(*) FROM record_rows WHERE case_id = $2)`,
		transaction, string(id)).Scan(&now.Fixes, &now.Entries, &now.Given, &now.Suspense, &now.Transaction, &now.Case, &now.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func verified(t testing.TB, s *store.Store) {
	t.Helper()
	if report, err := s.VerifyRecord(ctx, nil); err != nil || !report.OK {
		t.Errorf("the record: %v, %v", report, err)
	}
}

// Must hold: carried out once, twice or ten times, one after the other or at once, the balances are the same.
func TestHoweverOftenItIsDelivered(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, _ := storetest.Open(t, database)
		other, _ := storetest.Open(t, database) // as another process would
		bank(t, s, 10)
		next := 0
		order := func(t *testing.T) execute.Order {
			transaction := fmt.Sprint("T", next)
			next++
			c := dispute(t, s, countersign.CaseID("D-"+transaction), transaction)
			_, seen, err := unreturned(ctx, s.View, c)
			if err != nil {
				t.Fatal(err)
			}
			return execute.Order{Case: c, Fix: reversal(transaction), Seen: seen, Justify: unreturned, Actor: actor}
		}
		for _, times := range []int{1, 2, 10} {
			t.Run(fmt.Sprint(times, " times, one after the other"), func(t *testing.T) {
				o := order(t)
				first, err := carryOut(s, o)
				if err != nil || first.Repeated {
					t.Fatalf("got %+v, %v", first, err)
				}
				for range times - 1 {
					again, err := carryOut(other, o)
					if err != nil || !again.Repeated || !again.PostedAt.Equal(first.PostedAt) || again.Actor != first.Actor || again.Fix.Amount != first.Fix.Amount {
						t.Errorf("got %+v, %v; want the first result, marked as repeated", again, err)
					}
				}
				if got := look(t, s, o.Case.ID, o.Fix.TransactionID); got != given {
					t.Errorf("got %+v", got)
				}
			})
			t.Run(fmt.Sprint(times, " times at once"), func(t *testing.T) {
				o := order(t)
				var posted, repeated atomic.Int64
				var done sync.WaitGroup
				for i := range times {
					done.Go(func() {
						p, err := carryOut([]*store.Store{s, other}[i%2], o)
						switch {
						case err != nil:
							t.Error(err)
						case p.Repeated:
							repeated.Add(1)
						default:
							posted.Add(1)
						}
					})
				}
				done.Wait()
				if posted.Load() != 1 || repeated.Load() != int64(times-1) {
					t.Errorf("posted %d times and repeated %d times", posted.Load(), repeated.Load())
				}
				if got := look(t, s, o.Case.ID, o.Fix.TransactionID); got != given {
					t.Errorf("got %+v", got)
				}
			})
		}
		verified(t, s)
	})
}

// Each statement of carrying out a fix fails once, beginning and commit included. Whatever is left then is nothing or all of
// it, and carrying it out again ends in the same balances.
func TestAFailureAtAnyStatementLeavesNothingHalfDone(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, faults := storetest.Open(t, database)
		const most = 100
		bank(t, s, most)
		transactions := 0
		for _, way := range faults.Ways {
			t.Run(string(way), func(t *testing.T) {
				var failures, lost int
				for statement := 1; ; statement++ {
					if transactions == most {
						t.Fatalf("still failing after %d statements", statement)
					}
					transaction := fmt.Sprint("T", transactions)
					transactions++
					c := dispute(t, s, countersign.CaseID("D-"+transaction), transaction)
					_, seen, err := unreturned(ctx, s.View, c)
					if err != nil {
						t.Fatal(err)
					}
					o := execute.Order{Case: c, Fix: reversal(transaction), Seen: seen, Justify: unreturned, Actor: actor}

					faults.At(statement, way)
					_, err = carryOut(s, o)
					fired := faults.Fired()
					left := look(t, s, c.ID, transaction)
					var refused *execute.Refused
					switch {
					case errors.As(err, &refused):
						t.Errorf("statement %d: a failing database is no refusal: %v", statement, err)
					case err == nil && left != given:
						t.Errorf("statement %d: reported as done, and left %+v", statement, left)
					case err != nil && left == given:
						lost++ // it happened, and nobody knows: only the commit may end like that
					case err != nil && left != untouched:
						t.Errorf("statement %d: failed with %v and left %+v", statement, err, left)
					}
					if fired {
						failures++ // though a line that broke in time is replaced, and nobody notices
					}
					if p, err := carryOut(s, o); err != nil || p.Repeated != (left == given) {
						t.Errorf("statement %d: again: %+v, %v", statement, p, err)
					}
					if got := look(t, s, c.ID, transaction); got != given {
						t.Errorf("statement %d: again left %+v", statement, got)
					}
					if !fired {
						break
					}
				}
				if least := 12; failures < least {
					t.Errorf("only %d statements failed, of at least %d", failures, least)
				}
				if want := map[storetest.Way]int{storetest.Lost: 1}[way]; lost != want {
					t.Errorf("%d failures left a fix that was carried out, want %d", lost, want)
				}
			})
		}
		verified(t, s)
	})
}

func TestRefusals(t *testing.T) {
	says := func(err error) execute.Justify {
		return func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
			return nil, "", err
		}
	}
	// fix changes the order to another fix, with or without records that would justify it.
	fix := func(kind countersign.FixKind, transaction, account string, money countersign.Money, justified bool) func(*execute.Order) {
		return func(o *execute.Order) {
			o.Fix = *countersign.NewFix(kind, cmp.Or(transaction, o.Fix.TransactionID), account, money)
			if justified {
				o.Seen, o.Justify = "", whatever(o.Fix)
			}
		}
	}
	late := func(direction countersign.Direction, minor int64) func(*testing.T, *store.Store, string) {
		return func(t *testing.T, s *store.Store, transaction string) {
			l := records.LedgerEntry{ID: "late " + transaction, TransactionID: transaction, AccountID: "A1", Direction: direction, AmountMinor: minor, Currency: "NGN",
				Kind: records.RefundEntry}
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Import(ctx, []records.Row{records.NewRow(&l)})
				return err
			})
		}
	}
	usd := countersign.Money{Minor: 1, Currency: "USD"}
	rows := []struct {
		name   string
		before func(t *testing.T, s *store.Store, transaction string) // what happened after the fix was decided
		order  func(*execute.Order)
		want   string
	}{
		{"an account that is not on record", nil, fix("reversal", "", "A9", ngn(amount), false), "not on record"},
		{"an account of another customer", nil, fix("reversal", "", "A2", ngn(amount), true), "belongs to another customer"},
		{"records that changed since they were read", late(countersign.Debit, 1), nil, "the records changed"},
		{"records that were reversed meanwhile", late(countersign.Credit, amount), nil, "the records changed"},
		{"records that justify no fix, when they are read for the first time", late(countersign.Credit, amount), func(o *execute.Order) { o.Seen = "" }, "do not support a fix"},
		{"records whose reading says why there is no fix", nil, func(o *execute.Order) {
			o.Justify = says(countersign.Errorf(countersign.Conflict, "the settlement is pending"))
		}, "the settlement is pending"},
		{"a case whose transaction is gone", nil, func(o *execute.Order) {
			o.Justify = says(countersign.Errorf(countersign.NotFound, "there is no such transaction"))
		}, "no such transaction"},
		{"another kind of fix", nil, fix("refund", "", "A1", ngn(amount), false), "another fix: reversal of NGN 50.00 on transaction T"},
		{"another amount", nil, fix("reversal", "", "A1", ngn(amount-1), false), "another fix"},
		{"another currency", nil, fix("reversal", "", "A1", usd, false), "another fix"},
		{"another transaction", nil, fix("reversal", "T0", "A1", ngn(amount), false), "another fix"},
		{"more than the original amount, whatever was justified", nil, fix("reversal", "", "A1", ngn(amount+1), true), "cannot be given back"},
		{"more than is left of it, whatever was justified", late(countersign.Credit, 1), fix("reversal", "", "A1", ngn(amount), true), "NGN 0.01 was given back already"},
		{"a currency that is not the transaction's, whatever was justified", nil, fix("reversal", "", "A1", usd, true), "the transaction in NGN"},
		{"a transaction that is not on the account, whatever was justified", nil, fix("reversal", "X", "A1", ngn(1), true), `no transaction "X" on account "A1"`},
		{"a transaction that another case has fixed", func(t *testing.T, s *store.Store, transaction string) {
			c := dispute(t, s, countersign.CaseID("D-other-"+transaction), transaction)
			if _, err := carryOut(s, execute.Order{Case: c, Fix: reversal(transaction), Justify: unreturned, Actor: actor}); err != nil {
				t.Fatal(err)
			}
		}, nil, "already given back"},
		{"a case that has fixed it with another amount", func(t *testing.T, s *store.Store, transaction string) {
			part := *countersign.NewFix(countersign.Reversal, transaction, "A1", ngn(1))
			c := countersign.Case{ID: countersign.CaseID("D-" + transaction), CustomerID: "C1"}
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, err := execute.Apply(ctx, tx, execute.Order{Case: c, Fix: part, Justify: whatever(part), Actor: actor})
				return err
			})
		}, nil, "in another amount"},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		s, _ := storetest.Open(t, database)
		bank(t, s, 1+len(rows))
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				transaction := fmt.Sprint("T", 1+i)
				c := dispute(t, s, countersign.CaseID("D-"+transaction), transaction)
				fix, seen, err := unreturned(ctx, s.View, c)
				if err != nil {
					t.Fatal(err)
				}
				o := execute.Order{Case: c, Fix: *fix, Seen: seen, Justify: unreturned, Actor: actor}
				if row.before != nil {
					row.before(t, s, transaction)
				}
				if row.order != nil {
					row.order(&o)
				}
				before := look(t, s, c.ID, transaction)
				_, err = carryOut(s, o)
				var refused *execute.Refused
				if !errors.As(err, &refused) || !strings.Contains(refused.Why, row.want) {
					t.Errorf("got %v, want it refused: …%s…", err, row.want)
				}
				if after := look(t, s, c.ID, transaction); after != before {
					t.Errorf("before %+v, after %+v", before, after)
				}
			})
		}
		verified(t, s)
	})
}

func TestWhatIsNoRefusal(t *testing.T) {
	broken := errors.New("the database did not answer")
	testdb.Engines(t, func(t *testing.T, database string) {
		s, _ := storetest.Open(t, database)
		bank(t, s, 1)
		c := dispute(t, s, "D-0", "T0")
		for _, row := range []struct {
			name  string
			order execute.Order
			want  string
		}{
			{"records that cannot be read", execute.Order{Fix: reversal("T0"), Justify: func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
				return nil, "", broken
			}}, broken.Error()},
			{"a fix without its two entries", execute.Order{Fix: countersign.Fix{Kind: countersign.Reversal, TransactionID: "T0", AccountID: "A1", Amount: ngn(amount)},
				Justify: unreturned}, "balanced"},
		} {
			t.Run(row.name, func(t *testing.T) {
				row.order.Case, row.order.Actor = c, actor
				_, err := carryOut(s, row.order)
				var refused *execute.Refused
				if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want an error that is no refusal: …%s…", err, row.want)
				}
				if got := look(t, s, c.ID, "T0"); got != untouched {
					t.Errorf("left %+v", got)
				}
			})
		}
		t.Run("a fix that nobody ordered", func(t *testing.T) {
			if _, err := carryOut(s, execute.Order{Case: c, Fix: reversal("T0"), Justify: unreturned}); err == nil {
				t.Error("it was carried out")
			}
			if got := look(t, s, c.ID, "T0"); got != untouched {
				t.Errorf("left %+v", got)
			}
		})
	})
}

// Ten cases want the same money back at once, half of them as a reversal and half as a refund, on records that would justify
// each alone. One gets it.
func TestManyCasesAboutOneTransaction(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, _ := storetest.Open(t, database)
		other, _ := storetest.Open(t, database)
		bank(t, s, 1)
		var orders []execute.Order
		for i := range 10 {
			fix := *countersign.NewFix([]countersign.FixKind{countersign.Reversal, countersign.Refund}[i%2], "T0", "A1", ngn(amount))
			orders = append(orders, execute.Order{Case: dispute(t, s, countersign.CaseID(fmt.Sprint("D-", i)), "T0"), Fix: fix, Justify: whatever(fix), Actor: actor})
		}
		var posted, refusals atomic.Int64
		var done sync.WaitGroup
		for i, o := range orders {
			done.Go(func() {
				_, err := carryOut([]*store.Store{s, other}[i%2], o)
				var refused *execute.Refused
				switch {
				case errors.As(err, &refused):
					refusals.Add(1)
				case err != nil:
					t.Error(err)
				default:
					posted.Add(1)
				}
			})
		}
		done.Wait()
		got := look(t, s, "D-0", "T0")
		if posted.Load() != 1 || refusals.Load() != 9 || got.Fixes != 1 || got.Given != amount || got.Suspense != amount {
			t.Errorf("posted %d, refused %d, left %+v", posted.Load(), refusals.Load(), got)
		}
		verified(t, s)
	})
}

// While a fix is being carried out, an import that touches its account waits, and the other way round: whoever comes second
// sees all of what the first did.
func TestAFixAndAnImportTakeTurns(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, _ := storetest.Open(t, database)
		bank(t, s, 2)
		reversed := func(ctx context.Context, tx *store.Tx, transaction string) error {
			l := records.LedgerEntry{ID: "late " + transaction, TransactionID: transaction, AccountID: "A1", Direction: countersign.Credit, AmountMinor: amount,
				Currency: "NGN", Kind: records.ReversalEntry}
			_, err := tx.Import(ctx, []records.Row{records.NewRow(&l)})
			return err
		}
		t.Run("the bank's own reversal comes first, and the fix is refused", func(t *testing.T) {
			c := dispute(t, s, "D-0", "T0")
			read, fixed := make(chan struct{}), make(chan error, 1)
			o := execute.Order{Case: c, Fix: reversal("T0"), Actor: actor, Justify: func(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
				close(read)
				return unreturned(ctx, v, c)
			}}
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				if err := reversed(ctx, tx, "T0"); err != nil {
					return err
				}
				go func() {
					_, err := carryOut(s, o)
					fixed <- err
				}()
				return untilOneWaits(ctx, s, read)
			})
			var refused *execute.Refused
			if err := <-fixed; !errors.As(err, &refused) {
				t.Errorf("got %v, want it refused", err)
			}
			if got := look(t, s, "D-0", "T0"); got.Given != amount || got.Fixes != 0 {
				t.Errorf("got %+v", got)
			}
		})
		t.Run("the fix comes first, and the import waits until it is posted", func(t *testing.T) {
			c := dispute(t, s, "D-1", "T1")
			var posted atomic.Bool
			stored, done := make(chan struct{}), make(chan error, 1)
			o := execute.Order{Case: c, Fix: reversal("T1"), Actor: actor, Justify: func(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
				go func() {
					done <- s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						err := reversed(ctx, tx, "T1")
						close(stored)
						if !posted.Load() {
							err = errors.Join(err, errors.New("the import did not wait"))
						}
						return err
					})
				}()
				fix, seen, err := unreturned(ctx, v, c)
				return fix, seen, errors.Join(err, untilOneWaits(ctx, s, stored))
			}}
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, err := execute.Apply(ctx, tx, o)
				posted.Store(true)
				return err
			})
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})
}

// untilOneWaits returns when somebody waits for a lock in PostgreSQL, or when what should have waited did not. On SQLite the
// writer is alone and everybody else waits outside.
func untilOneWaits(ctx context.Context, s *store.Store, didNot <-chan struct{}) error {
	for waiting := 0; waiting == 0 && s.Engine() == "postgres"; {
		select {
		case <-didNot:
			return nil
		default:
		}
		err := s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
		if err != nil {
			return err
		}
	}
	return nil
}

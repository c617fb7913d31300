package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// exec runs one statement in the writing pool, past everything the store checks.
func exec(t testing.TB, s *store.Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.DB().Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// number reads one number.
func number(t testing.TB, s *store.Store, query string, args ...any) (n int64) {
	t.Helper()
	if err := s.DB().QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// keep writes one line that a test can count.
func keep(ctx context.Context, tx *store.Tx, name string) error {
	return run(ctx, tx, "INSERT INTO settings (name, value, changed_at) VALUES ($1, '', 0)", name)
}

// run runs one statement in a transaction, past everything the store checks.
func run(ctx context.Context, tx *store.Tx, statement string, args ...any) error {
	_, err := tx.SQL().ExecContext(ctx, statement, args...)
	return err
}

func kept(t testing.TB, s *store.Store) int64 { return number(t, s, "SELECT COUNT(*) FROM settings") }

func TestWrite(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		boom := errors.New("boom")
		for _, row := range []struct {
			name string
			fail func(context.Context, *store.Tx) error
			want string
		}{
			{"an error leaves nothing behind", func(context.Context, *store.Tx) error { return boom }, "boom"},
			{"a panic comes back as an error and leaves nothing behind", func(context.Context, *store.Tx) error { panic("of ours") }, "panic in a transaction: of ours"},
			{"a refused statement leaves nothing behind", func(ctx context.Context, tx *store.Tx) error { return keep(ctx, tx, "a") }, "settings"},
		} {
			t.Run(row.name, func(t *testing.T) {
				after := false
				err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					tx.AfterCommit(func() { after = true })
					if err := keep(ctx, tx, "a"); err != nil {
						return err
					}
					return row.fail(ctx, tx)
				})
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want an error with %q", err, row.want)
				}
				if n := kept(t, s); n != 0 || after {
					t.Errorf("%d rows left behind, after commit ran: %v", n, after)
				}
			})
		}
		t.Run("the store works on after that", func(t *testing.T) {
			after := 0
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { after++ })
				return keep(ctx, tx, "b")
			})
			if n := kept(t, s); n != 1 || after != 1 {
				t.Errorf("%d rows, after commit ran %d times, want 1 and 1", n, after)
			}
		})
		t.Run("one that was given up before it began does not begin", func(t *testing.T) {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			err := s.Write(gone, func(context.Context, *store.Tx) error { t.Error("it began"); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want that it was cancelled", err)
			}
		})
		t.Run("one that was given up while it ran is finished", func(t *testing.T) {
			going, cancel := context.WithCancel(ctx)
			before := kept(t, s)
			err := s.Write(going, func(ctx context.Context, tx *store.Tx) error {
				cancel()
				return keep(ctx, tx, "c")
			})
			if n := kept(t, s); err != nil || n != before+1 {
				t.Errorf("got %v and %d new rows, want it committed", err, n-before)
			}
		})
		t.Run("a transaction has one time, in UTC and whole microseconds", func(t *testing.T) {
			write(t, s, func(_ context.Context, tx *store.Tx) error {
				if tx.Now.Nanosecond()%1000 != 0 || tx.Now.Location().String() != "UTC" {
					t.Errorf("got %v", tx.Now)
				}
				return nil
			})
		})
	})
}

// Fifty goroutines read a number and write it back one higher. With a writer that begins by reading and upgrades later,
// most of them would fail busy or overwrite each other.
func TestWritersThatReadFirstLoseNothing(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		stores := []*store.Store{open(t, database), open(t, database)} // as two processes would
		newCase(t, stores[0], "D-1")
		const writers, times = 50, 4
		errs := parallel(writers, func(i int) error {
			for range times {
				err := stores[i%2].Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					c, err := tx.LockCase(ctx, "D-1")
					if err != nil {
						return err
					}
					c.Message += "x"
					return tx.Save(ctx, &c)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		for _, err := range errs {
			t.Error(err)
		}
		c, err := stores[0].Case(ctx, "D-1")
		if err != nil || len(c.Message) != writers*times || c.Revision != 1+writers*times {
			t.Errorf("got %d changes at revision %d, %v; want %d", len(c.Message), c.Revision, err, writers*times)
		}
	})
}

// parallel runs f in n goroutines and returns the errors.
func parallel(n int, f func(i int) error) (errs []error) {
	all := make([]error, n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() { all[i] = f(i) })
	}
	done.Wait()
	for _, err := range all {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func TestMoreWritersThanOneCommitCarriesAreAllAnswered(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for round := range 5 {
			before := kept(t, s)
			errs := parallel(300, func(i int) error {
				return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return keep(ctx, tx, fmt.Sprint(round, " ", i)) })
			})
			if n := kept(t, s) - before; len(errs) > 0 || n != 300 {
				t.Fatalf("%d of 300 were kept, errors: %v", n, errs)
			}
		}
	})
}

// together is parallel with a store whose writer is busy until all have begun, so that on SQLite many of them share a commit.
func together(s *store.Store, n int, f func(i int) error) []error {
	var busy, begun sync.WaitGroup
	running := make(chan struct{})
	begun.Add(n)
	busy.Go(func() {
		// Its own fate is that of the commit it shares, and nobody's business.
		_ = s.Write(ctx, func(context.Context, *store.Tx) error { close(running); begun.Wait(); return nil })
	})
	<-running
	defer busy.Wait()
	return parallel(n, func(i int) error { begun.Done(); return f(i) })
}

// Units that wait together share one commit on SQLite. Whichever do, each stands or falls by itself.
func TestUnitsOfOneCommit(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		t.Run("one that fails takes nobody with it", func(t *testing.T) {
			var after, failed atomic.Int64
			errs := together(s, 60, func(i int) error {
				return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					tx.AfterCommit(func() { after.Add(1) })
					if err := keep(ctx, tx, fmt.Sprint("unit ", i)); err != nil {
						return err
					}
					switch i % 3 {
					case 1:
						failed.Add(1)
						return errors.New("no")
					case 2:
						failed.Add(1)
						panic("no")
					}
					return nil
				})
			})
			if n := kept(t, s); n != 20 || len(errs) != 40 || after.Load() != 20 || failed.Load() != 40 {
				t.Errorf("%d kept, %d errors, %d after a commit; want 20, 40 and 20", n, len(errs), after.Load())
			}
		})
		t.Run("a failed one is not seen by the next", func(t *testing.T) {
			before := kept(t, s)
			errs := parallel(40, func(i int) error {
				err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					if err := keep(ctx, tx, "one name for all"); err != nil {
						return err
					}
					return errors.New("undone")
				})
				if err == nil || err.Error() != "undone" {
					return fmt.Errorf("got %v, want only its own error", err)
				}
				return nil
			})
			if n := kept(t, s); n != before || len(errs) > 0 {
				t.Errorf("%d kept, want %d: %v", n, before, errs)
			}
		})
	})
}

// A commit that fails is told to everybody whose work was in it. Here a reference is only checked when the transaction ends.
func TestAFailedCommitIsToldToAll(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		if s.Engine() == "postgres" {
			exec(t, s, "ALTER TABLE accounts ALTER CONSTRAINT accounts_customer_id_fkey DEFERRABLE INITIALLY DEFERRED")
		}
		var after atomic.Int64
		orphan := func(ctx context.Context, tx *store.Tx) error {
			tx.AfterCommit(func() { after.Add(1) })
			if s.Engine() == "sqlite" {
				if err := run(ctx, tx, "PRAGMA defer_foreign_keys = 1"); err != nil {
					return err
				}
			}
			return run(ctx, tx, "INSERT INTO accounts (id, customer_id, number, currency, kind, status) VALUES ('A', 'nobody', '', '', '', '')")
		}
		if err := s.Write(ctx, orphan); err == nil || !strings.Contains(err.Error(), "commit") {
			t.Fatalf("got %v, want an error of the commit", err)
		}
		if s.Engine() == "sqlite" {
			var told atomic.Int64
			together(s, 10, func(i int) error {
				err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					tx.AfterCommit(func() { after.Add(1) })
					if i == 0 {
						return orphan(ctx, tx)
					}
					return keep(ctx, tx, fmt.Sprint("innocent ", i))
				})
				if err != nil {
					told.Add(1)
				}
				return err
			})
			if n := kept(t, s); n+told.Load() != 10 {
				t.Errorf("%d kept and %d told that they were not, want 10 together", n, told.Load())
			}
			if n := kept(t, s); after.Load() != n {
				t.Errorf("%d were told of a commit, and %d rows are there", after.Load(), n)
			}
		}
		if n := number(t, s, "SELECT COUNT(*) FROM accounts"); n != 0 {
			t.Errorf("%d accounts were left behind", n)
		}
		write(t, s, func(ctx context.Context, tx *store.Tx) error { return keep(ctx, tx, "and it works on") })
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, err := store.Open(ctx, database, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		newCase(t, s, "D-1")
		var done sync.WaitGroup
		for range 30 { // whoever is caught by the closing is answered, one way or the other
			done.Go(func() {
				_ = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return tx.Record(ctx, "D-1", worker, store.Note{Kind: audit.Note, Payload: map[string]int{"round": 1}})
				})
			})
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		done.Wait()
		err = s.Write(ctx, func(context.Context, *store.Tx) error { t.Error("it ran"); return nil })
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("writing gave %v, want that the database is closed", err)
		}
		if _, err := s.Case(ctx, "D-1"); err == nil || countersign.KindOf(err) == countersign.NotFound {
			t.Errorf("reading gave %v, want that the database is closed", err)
		}
		if report, err := open(t, database).VerifyRecord(ctx, nil); err != nil || !report.OK {
			t.Errorf("what was written before: %v, %v", report, err)
		}
	})
}

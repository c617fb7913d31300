package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// clock is a store's time, moved by hand.
type clock struct{ now atomic.Int64 }

func at(t time.Time) *clock { c := &clock{}; c.now.Store(t.UnixMicro()); return c }

func (c *clock) Now() time.Time          { return time.UnixMicro(c.now.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.now.Add(d.Microseconds()) }

const leaseTime = 15 * time.Second

// take takes a case's lease for the usual time.
func take(t testing.TB, s *store.Store, id countersign.CaseID) (lease store.Lease, ok bool) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		lease, ok, err = tx.TakeLease(ctx, id, leaseTime)
		return err
	})
	return lease, ok
}

func hold(s *store.Store, l store.Lease) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.HoldLease(ctx, l, leaseTime) })
}

func TestLease(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
		newCase(t, s, "D-1")

		first, ok := take(t, s, "D-1")
		if c, err := s.Case(ctx, "D-1"); !ok || err != nil || c.Status != countersign.Investigating || c.Revision != 2 {
			t.Fatalf("taking it gave %v and %+v, %v", ok, c, err)
		}
		t.Run("a case that somebody has is not given away", func(t *testing.T) {
			if _, ok := take(t, s, "D-1"); ok {
				t.Error("it was")
			}
		})
		t.Run("its holder keeps it by renewing", func(t *testing.T) {
			for range 3 {
				clock.advance(leaseTime - time.Second)
				if err := hold(s, first); err != nil {
					t.Fatal(err)
				}
				if _, ok := take(t, s, "D-1"); ok {
					t.Fatal("it was given away")
				}
			}
		})
		var second store.Lease
		t.Run("one that ran out is taken over under a higher token", func(t *testing.T) {
			clock.advance(leaseTime + time.Second)
			if second, ok = take(t, s, "D-1"); !ok || second.Token <= first.Token {
				t.Errorf("got %v, %+v", ok, second)
			}
		})
		t.Run("the old holder can write no more", func(t *testing.T) {
			if err := hold(s, first); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("got %v", err)
			}
		})
		t.Run("who let it run out and was not replaced may go on", func(t *testing.T) {
			clock.advance(leaseTime + time.Second)
			if err := hold(s, second); err != nil {
				t.Error(err)
			}
		})
		t.Run("a case that has ended has no lease to hold or to take", func(t *testing.T) {
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				c, err := tx.LockCase(ctx, "D-1")
				c.Status = countersign.InReview
				return errors.Join(err, tx.Save(ctx, &c))
			})
			if err := hold(s, second); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("holding gave %v", err)
			}
			if _, ok := take(t, s, "D-1"); ok {
				t.Error("taking gave it away")
			}
		})
		t.Run("a case that does not exist is given to nobody", func(t *testing.T) {
			if _, ok := take(t, s, "D-2"); ok {
				t.Error("it was")
			}
		})
		t.Run("of many who reach for one case at once, one gets it", func(t *testing.T) {
			newCase(t, s, "D-3")
			other := open(t, database)
			var got atomic.Int64
			for _, err := range parallel(20, func(i int) error {
				return []*store.Store{s, other}[i%2].Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					_, ok, err := tx.TakeLease(ctx, "D-3", 5*time.Minute)
					if ok {
						tx.AfterCommit(func() { got.Add(1) })
					}
					return err
				})
			}) {
				t.Error(err)
			}
			if got.Load() != 1 {
				t.Errorf("%d got it", got.Load())
			}
		})
	})
}

// job stores a job of the queue as it is in that state, taken so long ago.
func job(t testing.TB, s *store.Store, state string, ago time.Duration) (id int64) {
	t.Helper()
	taken := s.Now().Add(-ago).UTC().Format("2006-01-02 15:04:05.000")
	final := map[string]any{"completed": taken, "discarded": taken, "cancelled": taken}[state]
	statement := `INSERT INTO river_job (args, kind, max_attempts, queue, state, attempted_at, finalized_at, created_at, scheduled_at)
		VALUES ('{}', 'other', 25, 'elsewhere', $1, $2, $3, $2, $2) RETURNING id`
	if s.Engine() == "postgres" {
		statement = `INSERT INTO river_job (args, kind, max_attempts, queue, state, attempted_at, finalized_at)
			VALUES ('{}', 'other', 25, 'elsewhere', CAST($1 AS TEXT)::river_job_state, CAST($2 AS TEXT)::timestamp AT TIME ZONE 'UTC', CAST($3 AS TEXT)::timestamp AT TIME ZONE 'UTC') RETURNING id`
	}
	if err := s.DB().QueryRow(statement, state, taken, final).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// Machines disagree about the time. A lease is measured by one clock all the same: whoever has a case keeps it, however far ahead
// another is, and who died is missed within a lease, however far ahead they were.
func TestLeasesOfMachinesWhoseClocksDisagree(t *testing.T) {
	database := testdb.Postgres(t)
	machines := map[string]*store.Store{}
	for name, by := range map[string]time.Duration{"right": 0, "a day ahead": 24 * time.Hour, "an hour behind": -time.Hour} {
		machines[name] = open(t, database, store.Options{Now: func() time.Time { return time.Now().Add(by) }})
	}
	for name, holder := range machines {
		id := countersign.CaseID(fmt.Sprint("D-", len(name)))
		newCase(t, holder, id)
		lease, ok := take(t, holder, id)
		if !ok {
			t.Fatalf("%s: it was not given", name)
		}
		for other, s := range machines {
			if stranded, err := s.Stranded(ctx, false); err != nil || contains(stranded, id) {
				t.Errorf("to the machine that is %s the case of one that is %s is stranded (%v)", other, name, err)
			}
			if _, ok := take(t, s, id); ok {
				t.Errorf("the machine that is %s took the case of one that is %s", other, name)
			}
		}
		write(t, holder, func(ctx context.Context, tx *store.Tx) error { return tx.HoldLease(ctx, lease, -time.Second) }) // it died long ago
		for other, s := range machines {
			if stranded, err := s.Stranded(ctx, false); err != nil || !contains(stranded, id) {
				t.Errorf("to the machine that is %s the case of a dead one that was %s is not stranded (%v)", other, name, err)
			}
		}
	}
}

// A clock that was a day ahead for a moment must not hold a case until tomorrow.
func TestALeaseOfAClockThatWasWrongRunsOut(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now().Add(24 * time.Hour))
		s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
		newCase(t, s, "D-1")
		first, _ := take(t, s, "D-1")
		clock.advance(-24 * time.Hour)
		if stranded, err := s.Stranded(ctx, false); err != nil || !contains(stranded, "D-1") {
			t.Errorf("it is not stranded (%v)", err)
		}
		if err := hold(s, first); err != nil {
			t.Errorf("its holder, who is there, cannot renew it: %v", err)
		}
		if _, ok := take(t, s, "D-1"); ok {
			t.Error("it was given away although its holder had renewed it")
		}
	})
}

func TestStranded(t *testing.T) {
	const none, recent, long = time.Duration(0), time.Second, time.Minute
	rows := []struct {
		name      string
		lease     time.Duration // how long the lease still runs; 0 for a case that is queued
		state     string        // of its job; empty for none at all
		taken     time.Duration // ago
		stranded  bool
		exclusive bool // whether it is when nobody else works
	}{
		{"queued, and its job waits", none, "available", none, false, false},
		{"queued, and its job waits for its time", none, "scheduled", none, false, false},
		{"queued, and its job is to be tried again", none, "retryable", long, false, false},
		{"queued, and its job was just taken", none, "running", recent, false, true},
		{"queued, and whoever took its job died before it took the lease", none, "running", long, true, true},
		{"queued, and its job is done", none, "completed", long, true, true},
		{"queued, and its job was given up", none, "discarded", long, true, true},
		{"queued, and its job was cancelled", none, "cancelled", long, true, true},
		{"queued, and its job is gone", none, "", none, true, true},
		{"investigated", 5 * time.Minute, "running", long, false, true},
		{"investigated, and its job is gone", 5 * time.Minute, "", none, false, true},
		{"its worker died", -time.Second, "running", long, true, true},
		{"its worker died at once", -time.Second, "running", recent, true, true},
		{"its worker failed and is to try again later", -time.Second, "retryable", long, true, true},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now()) // that stands: how slow the machine is does not matter
		s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
		for i, row := range rows {
			var jobID int64 = 1 << 40
			if row.state != "" {
				jobID = job(t, s, row.state, row.taken)
			}
			newCase(t, s, id(i))
			write(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
				if row.lease != 0 {
					_, _, err = tx.TakeLease(ctx, id(i), row.lease)
				}
				return errors.Join(err, tx.SetJob(ctx, id(i), jobID))
			})
		}
		normal, err := s.Stranded(ctx, false)
		exclusive, errExclusive := s.Stranded(ctx, true)
		if err := errors.Join(err, errExclusive); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				if got := contains(normal, id(i)); got != row.stranded {
					t.Errorf("stranded: %v, want %v", got, row.stranded)
				}
				if got := contains(exclusive, id(i)); got != row.exclusive {
					t.Errorf("stranded when nobody else works: %v, want %v", got, row.exclusive)
				}
				write(t, s, func(ctx context.Context, tx *store.Tx) error {
					freed, err := tx.FreeLease(ctx, id(i), 1, false)
					if freed != row.stranded {
						t.Errorf("put back: %v, want %v", freed, row.stranded)
					}
					return errors.Join(err, tx.SetJob(ctx, id(i), 1<<40))
				})
			})
		}
	})
}

// TestRoundsReachEveryStrandedCase: however long the queue is, wherever in it they are.
func TestRoundsReachEveryStrandedCase(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		waits := job(t, s, "available", 0)
		for i, due := range []int{-1970, -1, 0, 0, 0, 0, 1, 1, 2} { // years from 1970 on; 0 for unknown
			c := queued(id(i))
			if at := time.Date(1970+due, 6, 1, 0, 0, 0, 0, time.UTC); due != 0 {
				c.DueAt, c.DueSource = &at, countersign.DueFromRule
			}
			shelve(t, s, c) // its job is gone
			if i%2 == 1 {
				write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.SetJob(ctx, id(i), waits) })
			}
		}
		newCase(t, s, "D-GONE")
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := tx.TakeLease(ctx, "D-GONE", -time.Second)
			return err
		})
		for _, part := range []int{1, 2, 3, 9, 100} {
			rounds := s.Rounds().InParts(part)
			for round := range 2 {
				seen := map[countersign.CaseID]int{}
				for range 9/part + 1 {
					found, err := rounds.Look(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if len(found) > part+1 || !contains(found, "D-GONE") {
						t.Errorf("a look at %d queued cases found %v", part, found)
					}
					for _, c := range found {
						seen[c.ID]++
					}
				}
				delete(seen, "D-GONE") // which every look finds
				want := map[countersign.CaseID]int{id(0): 1, id(2): 1, id(4): 1, id(6): 1, id(8): 1}
				if !maps.Equal(seen, want) {
					t.Errorf("round %d in parts of %d found %v, want %v", round+1, part, seen, want)
				}
			}
		}
		t.Run("a look reads a part of the queue by its index", func(t *testing.T) {
			storetest.Fill(t, s, storetest.Filled{Cases: 1200, Open: 400})
			readsNoWholeTable(t, s, func(v store.View) error {
				_, err := s.RoundsThrough(v).InParts(10).Look(ctx)
				return err
			})
		})
	})
}

func contains(waiting []store.Waiter, id countersign.CaseID) bool {
	return slices.ContainsFunc(waiting, func(c store.Waiter) bool { return c.ID == id })
}

func TestACaseIsPutBackOnce(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		stores := []*store.Store{open(t, database), open(t, database)} // as two processes would
		s := stores[0]
		free := func(s *store.Store, id countersign.CaseID, jobID int64) (freed bool, err error) {
			err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				freed, err = tx.FreeLease(ctx, id, jobID, false)
				return err
			})
			return freed, err
		}
		newCase(t, s, "D-1") // its job is gone
		newCase(t, s, "D-2") // its worker is
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := tx.TakeLease(ctx, "D-2", -time.Second)
			return err
		})
		for _, id := range []countersign.CaseID{"D-1", "D-2"} {
			var won atomic.Int64
			jobs := make([]int64, 10)
			for i := range jobs {
				jobs[i] = job(t, s, "available", 0)
			}
			for _, err := range parallel(len(jobs), func(i int) error {
				freed, err := free(stores[i%2], id, jobs[i])
				if freed {
					won.Add(1)
				}
				return err
			}) {
				t.Error(err)
			}
			if won.Load() != 1 {
				t.Errorf("case %s was put back %d times", id, won.Load())
			}
			if left, err := s.Stranded(ctx, false); err != nil || contains(left, id) {
				t.Errorf("it is stranded still, though its new job waits: %v, %v", left, err)
			}
		}
		t.Run("and then taken under a higher token", func(t *testing.T) {
			if lease, ok := take(t, s, "D-2"); !ok || lease.Token != 2 {
				t.Errorf("got %v, %+v", ok, lease)
			}
			if freed, err := free(s, "D-2", 1); err != nil || freed {
				t.Errorf("put back under its worker's hands: %v, %v", freed, err)
			}
		})
		t.Run("one that cannot be read is put back like any other", func(t *testing.T) {
			newCase(t, s, "D-3")
			exec(t, s, "UPDATE cases SET verdict = 'no JSON' WHERE id = 'D-3'")
			if freed, err := free(s, "D-3", 1); err != nil || !freed {
				t.Errorf("got %v, %v", freed, err)
			}
		})
		t.Run("a case that does not exist cannot be put back", func(t *testing.T) {
			if freed, err := free(s, "D-9", 1); freed || countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v, %v", freed, err)
			}
		})
	})
}

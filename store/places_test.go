package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

var operator = countersign.Actor{Kind: countersign.CLI, ID: "test"}

// limit sets how many cases of each pool are investigated at once.
func limit(t testing.TB, s *store.Store, most map[string]int64) {
	t.Helper()
	w := store.DefaultWorkload()
	w.MaxCases = most
	write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, operator) })
}

// enter takes a case as a worker does, with a place at the bank's desk and one at a model.
func enter(s *store.Store, id countersign.CaseID, model string) (lease store.Lease, in bool, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if lease, in, err = tx.TakeLease(ctx, id, leaseTime); err != nil || !in {
			return err
		}
		c, err := tx.Case(ctx, id)
		if err != nil {
			return err
		}
		lease, in, err = tx.Enter(ctx, lease, c, model, lease.Token > 1)
		return err
	})
	return lease, in, err
}

func enters(t testing.TB, s *store.Store, id countersign.CaseID, model string, want bool) store.Lease {
	t.Helper()
	lease, in, err := enter(s, id, model)
	if err != nil || in != want {
		t.Errorf("case %s found a place: %v, %v; want %v", id, in, err, want)
	}
	return lease
}

// ends leaves a case to a person.
func ends(t testing.TB, s *store.Store, id countersign.CaseID) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, id)
		c.Status = countersign.InReview
		return errors.Join(err, tx.Save(ctx, &c))
	})
}

// called lets in whoever there is a place for, and gives each a job that waits.
func called(t testing.TB, s *store.Store, pool string) (ids []countersign.CaseID) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		ids = nil
		cases, err := tx.Call(ctx, pool, "")
		for _, c := range cases {
			ids = append(ids, c.ID)
			err = errors.Join(err, tx.SetJob(ctx, c.ID, 1<<40))
		}
		return err
	})
	return ids
}

const bankPool = "desk:bank"

func TestAPoolWithALimit(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
		for i := range 9 {
			newCase(t, s, id(i))
		}
		limit(t, s, map[string]int64{bankPool: 2})
		first := enters(t, s, id(0), "m", true)
		enters(t, s, id(1), "m", true)
		before, err := s.Case(ctx, id(2))
		if err != nil {
			t.Fatal(err)
		}
		t.Run("a case that finds it full is as it was, and stands in line", func(t *testing.T) {
			clock.advance(time.Second)
			enters(t, s, id(2), "m", false)
			c, err := s.Case(ctx, id(2))
			if err != nil || c.Status != countersign.Queued || c.Revision != before.Revision {
				t.Errorf("it is %s in revision %d, before it was in %d: %v", c.Status, c.Revision, before.Revision, err)
			}
			if lines, err := s.Lines(ctx); err != nil || len(lines) != 1 || lines[0] != bankPool {
				t.Errorf("the lines are %v, %v", lines, err)
			}
			if stranded, err := s.Stranded(ctx, false); err != nil || contains(stranded, id(2)) {
				t.Errorf("the sweep would wake it for nothing: %v", err)
			}
			if ids := called(t, s, bankPool); len(ids) != 0 {
				t.Errorf("called %v though no place is free", ids)
			}
		})
		t.Run("a dead worker's case keeps its place until another goes on with it", func(t *testing.T) {
			clock.advance(leaseTime + time.Second)
			if err := hold(s, store.Lease{Case: id(1), Token: 1}); err != nil { // the other one lives
				t.Error(err)
			}
			enters(t, s, id(3), "m", false)
			if again := enters(t, s, id(0), "m", true); again.Token != first.Token+1 {
				t.Errorf("it was taken over under token %d", again.Token)
			}
		})
		t.Run("a place that is given back is for who waits longest, and for nobody else", func(t *testing.T) {
			ends(t, s, id(0))
			clock.advance(time.Second)
			enters(t, s, id(4), "m", false) // it has only just come
			if ids := called(t, s, bankPool); len(ids) != 1 || ids[0] != id(2) {
				t.Fatalf("called %v, want %s", ids, id(2))
			}
			if ids := called(t, s, bankPool); len(ids) != 0 {
				t.Errorf("called %v for a place that somebody is on the way to", ids)
			}
			enters(t, s, id(5), "m", false)
			enters(t, s, id(2), "m", true)
		})
		t.Run("who was called and finds the place gone keeps its place in the line", func(t *testing.T) {
			limit(t, s, map[string]int64{bankPool: 1})
			ends(t, s, id(2))
			limit(t, s, map[string]int64{bankPool: 2})
			if ids := called(t, s, bankPool); len(ids) != 1 || ids[0] != id(3) {
				t.Fatalf("called %v", ids)
			}
			limit(t, s, map[string]int64{bankPool: 1})
			enters(t, s, id(3), "m", false)
			limit(t, s, map[string]int64{bankPool: 2})
			if ids := called(t, s, bankPool); len(ids) != 1 || ids[0] != id(3) {
				t.Errorf("called %v, want %s again", ids, id(3))
			}
			enters(t, s, id(3), "m", true)
		})
		t.Run("a lower limit ends nothing that has begun", func(t *testing.T) {
			limit(t, s, map[string]int64{bankPool: 1})
			clock.advance(leaseTime + time.Second)
			enters(t, s, id(1), "m", true)
			enters(t, s, id(3), "m", true)
			enters(t, s, id(6), "m", false)
		})
		t.Run("without a limit everybody is called, and nobody is stopped", func(t *testing.T) {
			limit(t, s, nil)
			if ids := called(t, s, bankPool); len(ids) != 3 || ids[0] != id(4) || ids[1] != id(5) || ids[2] != id(6) {
				t.Errorf("called %v", ids)
			}
			for i := 4; i < 9; i++ {
				enters(t, s, id(i), "m", true)
			}
			if lines, err := s.Lines(ctx); err != nil || len(lines) != 0 {
				t.Errorf("somebody stands in %v still, %v", lines, err)
			}
		})
	})
}

func TestACaseNeedsAPlaceInEachOfItsPools(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i := range 4 {
			newCase(t, s, id(i))
		}
		limit(t, s, map[string]int64{bankPool: 2, "model:slow": 1})
		enters(t, s, id(0), "slow", true)
		enters(t, s, id(1), "slow", false) // in the model's line, it takes no place at the desk
		enters(t, s, id(2), "quick", true)
		enters(t, s, id(3), "quick", false)
		ends(t, s, id(0))
		if ids := called(t, s, bankPool); len(ids) != 1 || ids[0] != id(3) {
			t.Errorf("called %v to the desk", ids)
		}
		if ids := called(t, s, "model:slow"); len(ids) != 1 || ids[0] != id(1) {
			t.Errorf("called %v to the model", ids)
		}
	})
}

// TestDesksThatShareAModelTakeTurns: a flood of one desk's cases stands in the model's line before the first of the other's.
func TestDesksThatShareAModelTakeTurns(t *testing.T) {
	for most, want := range map[int64]string{1: "BMBMBBBB", 2: "BBMBMBBB", 4: "BBBBMMBB"} {
		testdb.Engines(t, func(t *testing.T, database string) {
			clock := at(time.Now())
			s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
			limit(t, s, map[string]int64{"model:m": most})
			began := ""
			var working []countersign.Case
			begins := func(id countersign.CaseID) bool {
				_, in, err := enter(s, id, "m")
				c, wrong := s.Case(ctx, id)
				if err := errors.Join(err, wrong); err != nil {
					t.Fatal(err)
				}
				if in {
					began, working = began+strings.ToUpper(string(c.Desk[:1])), append(working, c)
				}
				return in
			}
			for i := range 8 {
				c := queued(id(i))
				if i > 5 {
					c.Desk = countersign.Merchant
				}
				shelve(t, s, c)
				clock.advance(time.Second)
				if in := begins(c.ID); in != (int64(i) < most) {
					t.Errorf("case %d of a model that takes %d began: %v", i, most, in)
				}
			}
			for len(working) > 0 {
				done := working[0]
				working = working[1:]
				ends(t, s, done.ID)
				var next []store.Waiter
				write(t, s, func(ctx context.Context, tx *store.Tx) error {
					called, err := tx.Call(ctx, "model:m", done.Desk)
					for _, c := range called {
						err = errors.Join(err, tx.SetJob(ctx, c.ID, 1<<40))
					}
					next = called
					return err
				})
				for _, c := range next {
					if !begins(c.ID) {
						t.Errorf("case %s was called and found no place", c.ID)
					}
				}
			}
			if began != want {
				t.Errorf("at a model that takes %d they began %s, want %s", most, began, want)
			}
		})
	}
}

// Several places that are free at once are shared out like one after the other.
func TestPlacesThatAreFreeAtOnceAreShared(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now, Leases: clock.Now})
		limit(t, s, map[string]int64{"model:m": 1})
		for i := range 8 {
			c := queued(id(i))
			if i > 5 {
				c.Desk = countersign.Merchant
			}
			shelve(t, s, c)
			clock.advance(time.Second)
			enters(t, s, c.ID, "m", i == 0)
		}
		limit(t, s, map[string]int64{"model:m": 4})
		if pools, err := s.Pools(ctx); err != nil || len(pools) != 1 || pools[0] != (store.PoolStanding{Name: "model:m", Max: 4, Held: 1, Standing: 7}) {
			t.Errorf("the pool is said to stand so: %+v, %v", pools, err)
		}
		if ids := called(t, s, "model:m"); !slices.Equal(ids, []countersign.CaseID{id(6), id(1), id(7)}) {
			t.Errorf("called %v", ids)
		}
	})
}

// However many reach for places at once, on however many machines, there are never more than the limit.
func TestALimitIsExact(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		const cases, most = 40, 3
		stores := []*store.Store{open(t, database), open(t, database), open(t, database)}
		for i := range cases {
			newCase(t, stores[0], id(i))
		}
		limit(t, stores[0], map[string]int64{bankPool: most, "model:m": most + 1})
		var in atomic.Int64
		for _, err := range parallel(cases, func(i int) error {
			_, found, err := enter(stores[i%len(stores)], id(i), "m")
			if found {
				in.Add(1)
			}
			return err
		}) {
			t.Error(err)
		}
		if in.Load() != most {
			t.Errorf("%d of %d found a place, want %d", in.Load(), cases, most)
		}
		if n := number(t, stores[0], "SELECT COUNT(*) FROM places WHERE waits_for = 'desk:bank'"); n != cases-most {
			t.Errorf("%d stand in line, want %d", n, cases-most)
		}
	})
}

func TestParseWorkload(t *testing.T) {
	for _, row := range []struct{ sentence, text, want string }{
		{"an unknown field", `{"max_case": {}}`, "unknown field"},
		{"a pool that nobody knows", `{"max_cases": {"bank": 3}}`, `"bank" is no pool`},
		{"a limit that lets nobody in", `{"max_cases": {"desk:bank": 0}}`, "max_cases.desk:bank: is 0"},
		{"a queue that is always long", `{"long_queue": 0}`, "long_queue: is 0"},
		{"less than nothing", `{"refuse_at": -1}`, "refuse_at: is -1"},
		{"two of them", `{}{}`, "one JSON object"},
		{"no JSON", `max_cases = 3`, "expected JSON such as"},
	} {
		t.Run(row.sentence+" is refused", func(t *testing.T) {
			_, err := store.ParseWorkload([]byte(row.text))
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
	t.Run("what is left out is as it is without one", func(t *testing.T) {
		w, err := store.ParseWorkload([]byte(`{"max_cases": {"desk:bank": 8}}`))
		if err != nil || w.MaxCases[bankPool] != 8 || w.LongQueue != store.DefaultWorkload().LongQueue || w.RefuseAt != 0 {
			t.Errorf("got %+v, %v", w, err)
		}
	})
}

func TestAWorkloadIsKeptWithWhoSetIt(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		if w, err := s.Workload(ctx); err != nil || len(w.MaxCases) != 0 {
			t.Errorf("at first it is %+v, %v", w, err)
		}
		limit(t, s, map[string]int64{bankPool: 3})
		write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.LimitPool(ctx, "model:m", 2, operator) })
		if w, err := s.Workload(ctx); err != nil || fmt.Sprint(w.MaxCases) != "map[desk:bank:3 model:m:2]" {
			t.Errorf("then it is %+v, %v", w, err)
		}
		write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.LimitPool(ctx, bankPool, 0, operator) })
		if w, err := s.Workload(ctx); err != nil || fmt.Sprint(w.MaxCases) != "map[model:m:2]" || number(t, s, "SELECT COUNT(*) FROM pools") != 1 {
			t.Errorf("at last it is %+v, %v", w, err)
		}
		if n := number(t, s, "SELECT COUNT(*) FROM workloads WHERE actor = 'cli:test'"); n != 3 {
			t.Errorf("%d of 3 changes are on record", n)
		}
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.ApplyWorkload(ctx, store.DefaultWorkload(), countersign.Actor{})
		})
		if err == nil {
			t.Error("a change without an author was taken")
		}
		if _, err := s.DB().Exec("DELETE FROM workloads"); err == nil {
			t.Error("the history could be removed")
		}
	})
}

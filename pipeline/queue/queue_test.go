package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/queue"
	"countersign/store"
)

var (
	ctx    = context.Background()
	worker = countersign.Actor{Kind: countersign.Worker, ID: "test"}
)

func open(t *testing.T, database string) *store.Store {
	t.Helper()
	s, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func prepare(t *testing.T, c queue.Config) *queue.Queue {
	t.Helper()
	q, err := queue.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// start starts a queue and returns how to stop it; the end of the test stops it too.
func start(t *testing.T, c queue.Config) (q *queue.Queue, stop func()) {
	t.Helper()
	q = prepare(t, c)
	if err := q.Start(ctx); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return q, stop
}

// opening is a transaction that stores a queued case.
func opening(q *queue.Queue, id countersign.CaseID) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		jobID, err := q.Add(ctx, tx, countersign.Bank, id)
		if err != nil {
			return err
		}
		c := countersign.Case{ID: id, Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: "T-" + string(id)},
			Reason: countersign.OtherReason, Status: countersign.Queued, OpenedAt: tx.Now, UpdatedAt: tx.Now, Round: 1, Revision: 1}
		return tx.Birth(ctx, c, jobID, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": "queued"}})
	}
}

func add(t *testing.T, s *store.Store, q *queue.Queue, id countersign.CaseID) {
	t.Helper()
	if err := s.Write(ctx, opening(q, id)); err != nil {
		t.Fatal(err)
	}
}

func take(s *store.Store, id countersign.CaseID, until time.Duration) (got bool, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, got, err = tx.TakeLease(ctx, id, until)
		return err
	})
	return got, err
}

// finish takes a case and leaves it to a person, as a worker does.
func finish(s *store.Store, id countersign.CaseID) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if _, ok, err := tx.TakeLease(ctx, id, time.Minute); err != nil || !ok {
			return err
		}
		c, err := tx.Case(ctx, id)
		c.Status = countersign.InReview
		return errors.Join(err, tx.Save(ctx, &c))
	})
}

func TestACaseIsWorkedWhenItsTransactionHasCommitted(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		worked := make(chan countersign.CaseID, 100)
		q, _ := start(t, queue.Config{Store: s, Work: func(ctx context.Context, id countersign.CaseID) error {
			worked <- id
			return finish(s, id)
		}})
		no := errors.New("no")
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(opening(q, "never")(ctx, tx), no)
		})
		if !errors.Is(err, no) {
			t.Fatal(err)
		}
		committed := make(chan struct{})
		err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			tx.AfterCommit(func() { close(committed) })
			return opening(q, "D-1")(ctx, tx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := <-worked; got != "D-1" {
			t.Errorf("case %s was worked", got)
		}
		select {
		case <-committed:
		default:
			t.Error("it was worked before its transaction had committed")
		}
		t.Run("one whose transaction was rolled back never", func(t *testing.T) {
			for i := range 20 { // jobs are taken in order: by the time these are done, that one would be
				add(t, s, q, countersign.CaseID(fmt.Sprint("later ", i)))
			}
			for range 20 {
				if got := <-worked; got == "never" {
					t.Error("it was worked")
				}
			}
			if n := jobs(t, s); n != 21 {
				t.Errorf("there were %d jobs, want 21", n)
			}
		})
	})
}

func jobs(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	if err := s.DB().QueryRow("SELECT COUNT(*) FROM river_job WHERE kind = 'case'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAProcessThatOnlyOpensCasesNeedsNoStart(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		opener := prepare(t, queue.Config{Store: s})
		add(t, s, opener, "D-1")
		if err := opener.Stop(ctx); err != nil {
			t.Errorf("stopping what was never started: %v", err)
		}
		worked := make(chan countersign.CaseID, 1)
		other := open(t, database) // as a worker on another machine
		start(t, queue.Config{Store: other, Work: func(ctx context.Context, id countersign.CaseID) error {
			worked <- id
			return finish(other, id)
		}})
		if got := <-worked; got != "D-1" {
			t.Errorf("case %s was worked", got)
		}
	})
}

// What the sweep is for: a case whose worker is gone is worked again within seconds.
func TestAStrandedCaseIsPutBack(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		worked := make(chan countersign.CaseID, 100)
		config := queue.Config{Store: s, Sweep: 50 * time.Millisecond, Work: func(ctx context.Context, id countersign.CaseID) error {
			if err := finish(s, id); err != nil {
				return err
			}
			worked <- id
			return nil
		}}
		q := prepare(t, queue.Config{Store: s})
		for _, id := range []countersign.CaseID{"no job", "dead worker", "dead before it began"} {
			add(t, s, q, id)
		}
		for _, statement := range []string{
			"DELETE FROM river_job WHERE id = (SELECT job_id FROM cases WHERE id = 'no job')",
			"UPDATE river_job SET state = 'running', attempted_at = '2026-01-01 00:00:00' WHERE state = 'available'",
		} {
			if _, err := s.DB().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if ok, err := take(s, "dead worker", -time.Second); err != nil || !ok {
			t.Fatal(ok, err)
		}
		t.Run("at the start", func(t *testing.T) {
			_, stop := start(t, config)
			got := map[countersign.CaseID]bool{<-worked: true, <-worked: true, <-worked: true}
			if len(got) != 3 {
				t.Errorf("worked %v", got)
			}
			stop()
		})
		t.Run("and while it runs, once", func(t *testing.T) {
			q, _ := start(t, config)
			before := jobs(t, s)
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				if err := opening(q, "lost")(ctx, tx); err != nil {
					return err
				}
				if _, err := tx.SQL().ExecContext(ctx, "DELETE FROM river_job WHERE state = 'available'"); err != nil {
					return err
				}
				_, _, err := tx.TakeLease(ctx, "lost", -time.Second)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := <-worked; got != "lost" {
				t.Errorf("case %s was worked", got)
			}
			if n := jobs(t, s) - before; n != 1 {
				t.Errorf("it took %d jobs", n)
			}
		})
	})
}

// A case that was put back and waits for a free worker is not put back again at every look.
func TestASweepDoesNotFloodTheQueue(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		busy, free, worked := make(chan struct{}), make(chan struct{}), make(chan countersign.CaseID, 10)
		var once sync.Once
		q, _ := start(t, queue.Config{Store: s, Workers: 1, Sweep: time.Millisecond, Work: func(ctx context.Context, id countersign.CaseID) error {
			if id == "slow" {
				once.Do(func() { close(busy) })
				<-free
			}
			worked <- id
			return finish(s, id)
		}})
		add(t, s, q, "slow")
		<-busy
		before := jobs(t, s)
		add(t, s, q, "lost")
		if ok, err := take(s, "lost", -time.Second); err != nil || !ok { // by a worker that is dead now
			t.Fatal(ok, err)
		}
		for reads := 0; jobs(t, s) == before+1 || reads < 100; reads++ { // until it was put back, and a good while longer
			if jobs(t, s) > before+2 {
				break
			}
		}
		if n := jobs(t, s) - before; n != 2 {
			t.Errorf("the case has %d jobs, want its own and one more", n)
		}
		close(free)
		<-worked
		<-worked
	})
}

func TestAnExclusiveStartVoidsEveryLease(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		q := prepare(t, queue.Config{Store: s})
		add(t, s, q, "D-1")
		add(t, s, q, "D-2")
		if _, err := s.DB().Exec("UPDATE river_job SET state = 'running', attempted_at = CURRENT_TIMESTAMP"); err != nil {
			t.Fatal(err)
		}
		if ok, err := take(s, "D-1", 5*time.Minute); err != nil || !ok { // killed a moment later
			t.Fatal(ok, err)
		}
		worked := make(chan countersign.CaseID, 10)
		work := func(ctx context.Context, id countersign.CaseID) error {
			worked <- id
			return finish(s, id)
		}
		t.Run("not when others may be working", func(t *testing.T) {
			before := jobs(t, s)
			_, stop := start(t, queue.Config{Store: s, Work: work})
			stop()
			if n := jobs(t, s) - before; n != 0 {
				t.Errorf("%d cases were put back", n)
			}
		})
		t.Run("when nobody else is", func(t *testing.T) {
			start(t, queue.Config{Store: s, Work: work, Exclusive: true})
			if got := map[countersign.CaseID]bool{<-worked: true, <-worked: true}; len(got) != 2 {
				t.Errorf("worked %v", got)
			}
		})
	})
}

func TestStop(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		t.Run("waits for what runs", func(t *testing.T) {
			s := open(t, database)
			began, end := make(chan struct{}), make(chan struct{})
			var ended atomic.Bool
			q, stop := start(t, queue.Config{Store: s, Work: func(ctx context.Context, id countersign.CaseID) error {
				close(began)
				<-end
				ended.Store(ctx.Err() == nil)
				return finish(s, id)
			}})
			add(t, s, q, "patient")
			<-began
			go func() { close(end) }()
			stop()
			if !ended.Load() {
				t.Error("it returned while a case was worked, or cancelled it")
			}
			if c, err := s.Case(ctx, "patient"); err != nil || c.Status != countersign.InReview {
				t.Errorf("got %s, %v", c.Status, err)
			}
			if err := q.Stop(ctx); err != nil {
				t.Errorf("the second time: %v", err)
			}
		})
		t.Run("cancels what does not end in time, and the case stays where it was", func(t *testing.T) {
			s := open(t, database)
			began := make(chan struct{})
			config := queue.Config{Store: s, Grace: time.Millisecond, Work: func(ctx context.Context, id countersign.CaseID) error {
				if ok, err := take(s, id, time.Minute); err != nil || !ok {
					return err
				}
				close(began)
				<-ctx.Done()
				return ctx.Err()
			}}
			q, stop := start(t, config)
			add(t, s, q, "stubborn")
			<-began
			stop()
			if c, err := s.Case(ctx, "stubborn"); err != nil || c.Status != countersign.Investigating {
				t.Errorf("got %s, %v", c.Status, err)
			}
			worked := make(chan countersign.CaseID, 1)
			start(t, queue.Config{Store: s, Exclusive: true, Work: func(ctx context.Context, id countersign.CaseID) error {
				worked <- id
				return finish(s, id)
			}})
			if got := <-worked; got != "stubborn" {
				t.Errorf("the next start worked %s", got)
			}
		})
	})
}

// The sweep would put the case back too; here it is the queue itself that tries again.
func TestAnErrorIsTriedAgain(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		tries := make(chan countersign.CaseID)
		var failed atomic.Bool
		q, _ := start(t, queue.Config{Store: s, Sweep: time.Hour, Work: func(ctx context.Context, id countersign.CaseID) error {
			tries <- id
			if !failed.Swap(true) {
				return errors.New("the database could not be reached")
			}
			return finish(s, id)
		}})
		add(t, s, q, "D-1")
		if first, second := <-tries, <-tries; first != "D-1" || second != "D-1" {
			t.Errorf("worked %s, then %s", first, second)
		}
	})
}

func TestAPanicIsTriedAgain(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		tries := make(chan countersign.CaseID)
		var failed atomic.Bool
		q, _ := start(t, queue.Config{Store: s, Sweep: time.Hour, Work: func(ctx context.Context, id countersign.CaseID) error {
			tries <- id
			if !failed.Swap(true) {
				panic("of ours")
			}
			return finish(s, id)
		}})
		add(t, s, q, "D-1")
		if first, second := <-tries, <-tries; first != "D-1" || second != "D-1" {
			t.Errorf("worked %s, then %s", first, second)
		}
	})
}

// Two processes with workers on one database: each case is worked by one of them.
func TestTwoProcessesShareTheWork(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		const cases = 40
		var done sync.WaitGroup
		done.Add(cases)
		var mu sync.Mutex
		leased := map[countersign.CaseID]int{}
		var opener *queue.Queue
		var s *store.Store
		for range 2 {
			s = open(t, database)
			mine := s
			opener, _ = start(t, queue.Config{Store: mine, Sweep: 10 * time.Millisecond, Work: func(ctx context.Context, id countersign.CaseID) error {
				ok, err := take(mine, id, time.Minute)
				if err != nil || !ok {
					return err
				}
				mu.Lock()
				leased[id]++
				mu.Unlock()
				done.Done()
				return nil
			}})
		}
		for i := range cases {
			add(t, s, opener, countersign.CaseID(fmt.Sprint("D-", i)))
		}
		done.Wait()
		mu.Lock()
		defer mu.Unlock()
		for id, n := range leased {
			if n != 1 {
				t.Errorf("case %s was given to %d workers", id, n)
			}
		}
	})
}

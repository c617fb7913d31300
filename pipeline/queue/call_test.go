package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/queue"
	"countersign/store"
)

var desks = []countersign.DeskName{countersign.Bank, countersign.Merchant}

// addAt queues a case of a desk.
func addAt(t *testing.T, s *store.Store, q *queue.Queue, desk countersign.DeskName, id countersign.CaseID) {
	t.Helper()
	err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		jobID, err := q.Add(ctx, tx, desk, id)
		if err != nil {
			return err
		}
		c := countersign.Case{ID: id, Desk: desk, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: "T-" + string(id)},
			Reason: countersign.OtherReason, Status: countersign.Queued, OpenedAt: tx.Now, UpdatedAt: tx.Now, Round: 1, Revision: 1}
		return tx.Birth(ctx, c, jobID, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": "queued"}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAFloodAtOneDeskDoesNotKeepTheOtherWaiting: in what order cases begin does not depend on how fast anything is.
func TestAFloodAtOneDeskDoesNotKeepTheOtherWaiting(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		const flood = 300
		s := open(t, database)
		opener := prepare(t, queue.Config{Store: s, Desks: desks})
		for i := range flood {
			addAt(t, s, opener, countersign.Bank, countersign.CaseID(fmt.Sprintf("D-%03d", i)))
		}
		began, goOn := make(chan countersign.CaseID, flood), make(chan struct{})
		start(t, queue.Config{Store: s, Desks: desks, Workers: 2, Work: func(ctx context.Context, id countersign.CaseID) error {
			began <- id
			<-goOn
			return finish(s, id)
		}})
		first := []countersign.CaseID{<-began, <-began} // nobody at the bank's desk is free now, and hundreds wait
		addAt(t, s, opener, countersign.Merchant, "C-1")
		if got := <-began; got != "C-1" {
			t.Errorf("after %v began %s, want the merchant's case", first, got)
		}
		close(goOn)
	})
}

// A version before this one has put every desk's cases into one queue.
func TestWhatAnEarlierVersionQueuedIsWorked(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		addAt(t, s, prepare(t, queue.Config{Store: s}), countersign.Bank, "D-1")
		worked := make(chan countersign.CaseID, 1)
		start(t, queue.Config{Store: s, Desks: desks, Work: func(ctx context.Context, id countersign.CaseID) error {
			worked <- id
			return finish(s, id)
		}})
		if got := <-worked; got != "D-1" {
			t.Errorf("case %s was worked", got)
		}
	})
}

// A newer version may queue what this one has never heard of, or name a case that is not there.
func TestAJobThatIsNotUnderstoodHarmsNothing(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		q := prepare(t, queue.Config{Store: s, Desks: desks})
		addAt(t, s, q, countersign.Bank, "D-1")
		for _, statement := range []string{
			"INSERT INTO river_job (kind, queue, args, max_attempts, priority) VALUES ('of tomorrow', 'bank', '{}', 25, 1)",
			`INSERT INTO river_job (kind, queue, args, max_attempts, priority) VALUES ('case', 'bank', '{"case": "nobody", "by": "tomorrow"}', 25, 1)`,
			`INSERT INTO river_job (kind, queue, args, max_attempts, priority) VALUES ('case', 'bank', '{"case": 7}', 25, 1)`,
		} {
			if _, err := s.DB().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		addAt(t, s, q, countersign.Bank, "D-2")
		worked := make(chan countersign.CaseID, 10)
		start(t, queue.Config{Store: s, Desks: desks, Workers: 1, Work: func(ctx context.Context, id countersign.CaseID) error {
			if _, err := s.Case(ctx, id); countersign.KindOf(err) == countersign.NotFound {
				_, err := take(s, id, time.Minute)
				return err
			}
			worked <- id
			return finish(s, id)
		}})
		if first, second := <-worked, <-worked; first != "D-1" || second != "D-2" {
			t.Errorf("worked %s, then %s", first, second)
		}
		var state string
		var attempts int
		err := s.DB().QueryRow("SELECT CAST(state AS TEXT), attempt FROM river_job WHERE kind = 'of tomorrow'").Scan(&state, &attempts)
		if err != nil || state != "available" || attempts != 0 {
			t.Errorf("tomorrow's job is %s after %d attempts, want it left alone: %v", state, attempts, err)
		}
	})
}

// TestAJobOfAProgramThatWasOutgrownIsNoFailedAttempt: whoever takes it next has all of its attempts.
func TestAJobOfAProgramThatWasOutgrownIsNoFailedAttempt(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		worked := make(chan bool, 100)
		q, stop := start(t, queue.Config{Store: s, Desks: desks, Workers: 1, Work: func(context.Context, countersign.CaseID) error {
			worked <- true
			return fmt.Errorf("take the case: %w", store.ErrOtherSchema)
		}})
		addAt(t, s, q, countersign.Bank, "D-1")
		<-worked
		stop()
		var left int
		var failures string
		err := s.DB().QueryRow("SELECT max_attempts - attempt, COALESCE(CAST(errors AS TEXT), '') FROM river_job").Scan(&left, &failures)
		if err != nil || left != 25 || failures != "" {
			t.Errorf("%d attempts are left, and its failures are %q: %v", left, failures, err)
		}
	})
}

// waitsItsTurn works a case as the pipeline does where there are limits, and tells the queue when it has ended.
func waitsItsTurn(s *store.Store, q **queue.Queue, hold func(countersign.CaseID)) func(context.Context, countersign.CaseID) error {
	return func(ctx context.Context, id countersign.CaseID) error {
		var in bool
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			lease, ok, err := tx.TakeLease(ctx, id, time.Minute)
			if err != nil || !ok {
				return err
			}
			c, err := tx.Case(ctx, id)
			if err != nil {
				return err
			}
			_, in, err = tx.Enter(ctx, lease, c, "", false)
			return err
		})
		if err != nil || !in {
			return err
		}
		hold(id)
		err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			c, err := tx.LockCase(ctx, id)
			c.Status = countersign.InReview
			return errors.Join(err, tx.Save(ctx, &c))
		})
		return errors.Join(err, (*q).Call(ctx, countersign.Bank, store.DeskPool(countersign.Bank)))
	}
}

func limited(t *testing.T, s *store.Store, most int64) {
	t.Helper()
	w := store.DefaultWorkload()
	w.MaxCases["desk:bank"] = most
	err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, worker) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhoFindsAPoolFullIsCalledInTurn: one place, two processes, no sweep. Each case that ends lets the next one in, in the order in which
// they came, and whoever waits keeps no worker.
func TestWhoFindsAPoolFullIsCalledInTurn(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		const cases = 8
		began, goOn := make(chan countersign.CaseID, cases), make(chan struct{})
		var q [2]*queue.Queue
		var s *store.Store
		for i := range q {
			s = open(t, database)
			if i == 0 {
				limited(t, s, 1)
			}
			q[i], _ = start(t, queue.Config{Store: s, Desks: desks, Workers: 1, Sweep: time.Hour, Work: waitsItsTurn(s, &q[i], func(id countersign.CaseID) {
				began <- id
				<-goOn
			})})
		}
		id := func(i int) countersign.CaseID { return countersign.CaseID(fmt.Sprintf("D-%d", i)) }
		addAt(t, s, q[0], countersign.Bank, id(0))
		if got := <-began; got != id(0) {
			t.Fatalf("%s began", got)
		}
		for i := 1; i < cases; i++ {
			addAt(t, s, q[0], countersign.Bank, id(i))
			for standing := 0; standing < i; { // until it stands in line: the second process's one worker is free for each of them
				if err := s.DB().QueryRow("SELECT COUNT(*) FROM places WHERE waits_for = 'desk:bank'").Scan(&standing); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := 1; i < cases; i++ {
			goOn <- struct{}{}
			if got := <-began; got != id(i) {
				t.Errorf("%s was called, want %s", got, id(i))
			}
		}
		goOn <- struct{}{}
	})
}

// TestTheSweepCallsForThoseWhoWereKilled: whoever had the place is gone and called nobody.
func TestTheSweepCallsForThoseWhoWereKilled(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		limited(t, s, 1)
		began := make(chan countersign.CaseID, 10)
		var q *queue.Queue
		q, _ = start(t, queue.Config{Store: s, Desks: desks, Sweep: 20 * time.Millisecond, Work: waitsItsTurn(s, &q, func(id countersign.CaseID) { began <- id })})
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { // as a case that is worked elsewhere
			if err := opening(q, "D-0")(ctx, tx); err != nil {
				return err
			}
			_, _, err := tx.TakeLease(ctx, "D-0", 5*time.Minute)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		addAt(t, s, q, countersign.Bank, "D-1")
		for standing := 0; standing < 1; {
			if err := s.DB().QueryRow("SELECT COUNT(*) FROM places WHERE waits_for = 'desk:bank'").Scan(&standing); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			c, err := tx.LockCase(ctx, "D-0")
			c.Status = countersign.InReview
			return errors.Join(err, tx.Save(ctx, &c))
		}); err != nil {
			t.Fatal(err)
		}
		if got := <-began; got != "D-1" {
			t.Errorf("%s began", got)
		}
	})
}

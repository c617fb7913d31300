package queue_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/pipeline/queue"
	"countersign/store"
)

// requested stores a case and an instruction of its fix, and wakes whoever carries it, in one transaction, which ends with err.
func requested(t *testing.T, s *store.Store, q *queue.Queue, id string, err error) {
	t.Helper()
	got := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := opening(q, countersign.CaseID("D-"+id))(ctx, tx); err != nil {
			return err
		}
		fix := countersign.NewFix(countersign.Reversal, "T-"+id, "A-1", countersign.Money{Minor: 100, Currency: "NGN"})
		if err := tx.Request(ctx, store.Instruction{ID: id, Case: countersign.CaseID("D-" + id), Round: 1, Fix: *fix, Body: []byte("{}"), Route: 1,
			Outcome: countersign.Resolved, HandledBy: countersign.ByPolicy}, worker); err != nil {
			return err
		}
		return errors.Join(q.Wake(ctx, tx, id), err)
	})
	if !errors.Is(got, err) {
		t.Fatal(got)
	}
}

// books brings an account with some payments, and a route that leads outside.
func books(t *testing.T, s *store.Store, ids ...string) {
	t.Helper()
	set := records.Set{Customers: []records.Customer{{ID: "C-1", Name: "Ada"}}, Accounts: []records.Account{{ID: "A-1", CustomerID: "C-1", Currency: "NGN"}}}
	for _, id := range ids {
		set.Transactions = append(set.Transactions, records.Transaction{ID: "T-" + id, AccountID: "A-1", Kind: records.Transfer, Direction: countersign.Debit,
			AmountMinor: 100, Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(time.Unix(1_790_000_000, 0))})
	}
	err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for row := range set.Rows() {
			if _, err := tx.Import(ctx, []records.Row{row}); err != nil {
				return err
			}
		}
		_, err := tx.ApplyRoute(ctx, store.Route{Destination: "elsewhere", Settings: "{}"}, func(int64) string { return "" }, worker)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Must hold: what was decided is carried, whether its worker was there, came later, or died before it began; what was not committed is
// not.
func TestAnInstructionIsCarriedOnceItsDecisionHasCommitted(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		books(t, s, "rolled-back", "first", "second")
		carried := make(chan string, 10)
		config := queue.Config{Store: s, Work: func(context.Context, countersign.CaseID) error { return nil }, Sweep: 20 * time.Millisecond, Exclusive: true,
			Carry: func(_ context.Context, id string) error { carried <- id; return nil }}
		wants := func(id string) {
			t.Helper()
			select {
			case got := <-carried:
				if got != id {
					t.Errorf("carried %s, want %s", got, id)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s was not carried", id)
			}
		}
		opener := prepare(t, queue.Config{Store: s})
		boom := errors.New("boom")
		requested(t, s, opener, "rolled-back", boom)
		requested(t, s, opener, "first", nil)
		// Its job is lost, as that of a worker is that took it and died.
		if _, err := s.DB().Exec("DELETE FROM river_job"); err != nil {
			t.Fatal(err)
		}
		q, stop := start(t, config)
		wants("first")
		stop()
		requested(t, s, q, "second", nil)
		ids, err := s.WaitingInstructions(ctx, false)
		if err != nil || len(ids) != 0 {
			t.Errorf("%v are waiting for the sweep, and workers were just woken for all (%v)", ids, err)
		}
	})
}

// A core that is slow lets instructions wait for a worker, and no sweep makes their line longer.
func TestAnInstructionWaitsInTheQueueOnce(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		var ahead atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		s, err := store.Open(ctx, database, store.Options{Now: clock, Leases: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		books(t, s, "first", "second", "third")
		answered, swept := make(chan struct{}), make(chan struct{})
		q, _ := start(t, queue.Config{Store: s, Work: func(context.Context, countersign.CaseID) error { return nil }, Workers: 1, Sweep: 20 * time.Millisecond,
			Carry: func(context.Context, string) error { <-answered; return nil },
			Swept: func(ctx context.Context) error {
				select {
				case swept <- struct{}{}:
				case <-ctx.Done():
				}
				return nil
			}})
		t.Cleanup(func() { close(answered) }) // before the queue is stopped
		for _, id := range []string{"first", "second", "third"} {
			requested(t, s, q, id, nil)
		}
		for range 3 {
			ahead.Add(int64(time.Minute))
			<-swept
			<-swept
		}
		var jobs, instructions int
		err = s.DB().QueryRow(`SELECT COUNT(*), COUNT(DISTINCT args ->> 'instruction') FROM river_job WHERE kind = 'instruction' AND CAST(state AS TEXT) = 'available'`).
			Scan(&jobs, &instructions)
		if err != nil || jobs != instructions || jobs < 2 {
			t.Errorf("%d jobs wait for %d instructions (%v)", jobs, instructions, err)
		}
	})
}

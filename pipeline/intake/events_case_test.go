package intake_test

import (
	"context"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// casesOf are the cases of a dispute.
func (w *till) casesOf(dispute string) []countersign.Case {
	w.Helper()
	return w.standing(dispute).Cases
}

// held puts a case into a worker's hands.
func (w *till) held(id countersign.CaseID) (lease store.Lease) {
	w.Helper()
	w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		lease, _, err = tx.TakeLease(ctx, id, time.Minute)
		return err
	}))
	return lease
}

// rows counts those of a kind in a case's record.
func (w *till) rows(id countersign.CaseID, kind audit.Kind) (n int) {
	w.Helper()
	for row, err := range w.Store.RecordRows(ctx, id, 0) {
		w.must(err)
		if row.Kind == kind {
			n++
		}
	}
	return n
}

// What an event says of one stage waits while the case of another is investigated, and the record of its own is told of it once.
func TestAnEventThatWaitsForAnotherStageIsToldOnce(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		inquiry := w.deliver(word{stage: "inquiry", status: "needs_response"}.body("dp-two", 0)).Cases[0].ID
		w.held(inquiry)
		got := w.deliver(word{hour: 1, stage: "chargeback", status: "needs_response", order: "1042"}.body("dp-two", 1))
		for range 3 {
			w.must(w.Sweep(ctx))
		}
		if n := w.rows(got.Cases[0].ID, audit.Event); n != 1 || got.Event.State != store.EventWaiting {
			t.Errorf("it is %s, and %d rows tell of it", got.Event.State, n)
		}
		w.reviewed(inquiry, func(*countersign.Case) {})
		w.must(w.CatchUp(ctx, inquiry))
		w.must(w.Sweep(ctx))
		for _, c := range w.casesOf("dp-two") {
			if c.Subject.ID != "1042" {
				t.Errorf("the case at %s is about %q", c.Stage, c.Subject.ID)
			}
		}
		if n := w.rows(got.Cases[0].ID, audit.Event); n != 1 {
			t.Errorf("in the end %d rows tell of it", n)
		}
	})
}

// reviewed is a case whose investigation has ended, as f has it.
func (w *till) reviewed(id countersign.CaseID, f func(*countersign.Case)) {
	w.Helper()
	w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, id)
		if err != nil {
			return err
		}
		c.Status = countersign.InReview
		f(&c)
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, actor, store.Note{Kind: audit.Verdict, Payload: map[string]any{"status": c.Status}})
	}))
}

// A person who set another deadline knew the provider's: an event that says nothing new of it leaves theirs, and a sooner one counts.
func TestADeadlineThatAPersonSetOutlivesAnEventThatRepeatsIt(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response", order: "1042", due: 7}.body("dp-due", 0)).Cases[0].ID
		w.reviewed(id, func(c *countersign.Case) { c.DueAt, c.DueSource = on(10), countersign.DueManual })
		w.deliver(word{hour: 1, stage: "chargeback", status: "under_review"}.body("dp-due", 1))
		c, err := w.Store.Case(ctx, id)
		if err != nil || !c.DueAt.Equal(*on(10)) || c.DueSource != countersign.DueManual {
			t.Errorf("it is due %v by %s, %v", c.DueAt, c.DueSource, err)
		}
		w.deliver(word{hour: 2, stage: "chargeback", status: "under_review", due: 6}.body("dp-due", 2))
		if c, err = w.Store.Case(ctx, id); err != nil || !c.DueAt.Equal(noon.AddDate(0, 0, 6)) || c.DueSource != countersign.DueFromProvider {
			t.Errorf("after a sooner one it is due %v by %s, %v", c.DueAt, c.DueSource, err)
		}
	})
}

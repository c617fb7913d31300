package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/store"
	"countersign/store/storetest"
)

// clock is a store's time, moved by hand. Each reading is told to whoever listens.
type clock struct {
	micros atomic.Int64
	heard  atomic.Pointer[func()]
}

func newClock() *clock {
	c := &clock{}
	c.micros.Store(noon.AddDate(0, 0, 3).UnixMicro())
	return c
}

func (c *clock) Now() time.Time {
	if heard := c.heard.Load(); heard != nil {
		(*heard)()
	}
	return time.UnixMicro(c.micros.Load()).UTC()
}

func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

func (c *clock) onReading(f func()) { c.heard.Store(&f) }

// worldAt is a world whose time is moved by hand.
func worldAt(t *testing.T, database string, c *clock, m llm.Model) *world {
	t.Helper()
	s, err := store.Open(ctx, database, store.Options{Now: c.Now, Leases: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return worldOn(t, s, m)
}

// beside is another process on the same database, an hour later, with the same model.
func (w *world) beside(database string) *world {
	w.Helper()
	c := newClock()
	c.micros.Store(time.Now().Add(time.Hour).UnixMicro())
	other := worldAt(w.T, database, c, nil)
	other.model, other.pipeline.Worker = w.model, "another"
	return other
}

// rents makes the bank of the scenarios with as many failed transfers as wanted, RENT-1, RENT-2, …, a day apart.
func (w *world) rents(n int) {
	w.Helper()
	b := sharedBank(w)
	for i := range n {
		id := fmt.Sprintf("RENT-%d", i+1)
		b.change(w, books{
			"transactions": {{"id": id, "like": "RENT", "end_to_end_id": "E2E-" + id, "counterparty_account": fmt.Sprintf("%010d", 5000+i),
				"occurred_at": noon.AddDate(0, 0, -i-1).Format(time.RFC3339)}},
			"ledger_entries": {{"id": id + "-OUT", "like": "RENT-OUT", "transaction_id": id}},
			"settlements":    {{"transaction_id": id, "like": "RENT"}},
		})
	}
	if err := w.bring(b); err != nil {
		w.Fatal(err)
	}
}

// turnsOnRecord are the numbers of the model turns that a case's record holds, in order.
func (w *world) turnsOnRecord(id countersign.CaseID) (numbers []int) {
	w.Helper()
	n := 0
	for _, row := range w.rows(id) {
		if row.Kind == audit.ModelTurn {
			n++
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// ended checks that a case came to the end that its records justify, in spite of whatever happened on the way: the fix was
// posted once, no turn is on record twice, none that was on record by then was asked for again, and the chain is whole.
func (w *world) ended(id countersign.CaseID, transaction string, before, asked []int) {
	w.Helper()
	c := w.theCase(id)
	if c.Status != countersign.Closed || c.Outcome != countersign.Resolved || c.HandledBy != countersign.ByPolicy || c.Fix.State != countersign.FixPosted {
		w.Errorf("%s %s by %s, fix %s, reasons %v", c.Status, c.Outcome, c.HandledBy, c.Fix.State, c.Verdict)
	}
	w.postedOnce(transaction)
	if on := w.turnsOnRecord(id); !slices.Equal(on, []int{1, 2}) {
		w.Errorf("turns %v are on record, want 1 and 2", on)
	}
	for turn := 1; turn <= 2; turn++ {
		n := count(asked, turn)
		if most := 2; n < 1 || n > most || slices.Contains(before, turn) && n != 1 {
			w.Errorf("turn %d was asked for %d times; on record before the crash: %v", turn, n, before)
		}
	}
	if len(asked) > 3 {
		w.Errorf("the model was asked %v; one crash costs one answer at most", asked)
	}
	if report, err := w.store.VerifyCase(ctx, id); err != nil || !report.OK {
		w.Errorf("the record does not verify: %v %+v", err, report)
	}
}

func count(turns []int, turn int) (n int) {
	for _, t := range turns {
		if t == turn {
			n++
		}
	}
	return n
}

func (w *world) postedOnce(transaction string) {
	w.Helper()
	var entries, sum int
	err := w.store.DB().QueryRow(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN direction = 'credit' THEN amount_minor ELSE -amount_minor END), 0)
		FROM ledger_entries WHERE transaction_id = $1 AND id LIKE 'fix:%'`, transaction).Scan(&entries, &sum)
	if err != nil || entries != 2 || sum != 0 {
		w.Errorf("%d entries of the fix, out of balance by %d, %v; want two, balanced", entries, sum, err)
	}
}

// Each statement of an investigation fails once, and each time that is the last thing the process does: it leaves behind
// what had been committed, and its lease. The next process must come to the same end.
func TestKilledAtAnyStatement(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		s, faults := storetest.Open(t, database)
		w := worldOn(t, s, nil)
		next := w.beside(database)
		w.rents(200)
		n := 1
		for ; ; n++ {
			way, transaction := faults.Ways[n%len(faults.Ways)], fmt.Sprintf("RENT-%d", n) // where there are two ways, they take turns
			id := w.open(transaction, countersign.FailedTransfer, "")
			already := len(w.model.asked())
			faults.At(n, way)
			err := w.pipeline.Work(ctx, id)
			if !faults.Fired() {
				if err != nil {
					t.Fatalf("with no fault: %v", err)
				}
				break
			}
			before := w.turnsOnRecord(id)
			if err == nil && w.theCase(id).Status == countersign.InReview {
				w.unread(id, n)
				continue
			}
			if err := next.pipeline.Work(ctx, id); err != nil {
				t.Errorf("statement %d, %s: the next process: %v", n, way, err)
			}
			w.ended(id, transaction, before, w.model.asked()[already:])
			if t.Failed() {
				t.Fatalf("after statement %d, %s: %v", n, way, err)
			}
		}
		if n < 30 {
			t.Errorf("only %d statements were there to fail", n-1)
		}
		t.Logf("killed at each of %d statements", n-1)
		w.verifies()
	})
}

// unread checks a case that ended with a person because a reading failed: that is what must happen, and nothing is posted.
func (w *world) unread(id countersign.CaseID, n int) {
	w.Helper()
	c := w.theCase(id)
	failed := slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == countersign.FactsUnreadable }) ||
		slices.ContainsFunc(w.rows(id), func(r store.RecordRow) bool { return r.Kind == audit.ToolCall && failedStep(w, r) })
	if w.store.Engine() == "sqlite" || !failed || c.Fix.State == countersign.FixPosted {
		w.Fatalf("statement %d: with a person because of %v, fix %s", n, c.Verdict.Reasons, c.Fix.State)
	}
}

// The program is stopped at each moment at which it looks at the clock. It lets go of the case, which the next process can
// take at once.
func TestStoppedAtAnyMoment(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		c := newClock()
		w := worldAt(t, database, c, nil)
		next := worldAt(t, database, newClock(), nil) // no later than the first
		next.model = w.model
		w.rents(200)
		stopped := 0
		for n := 1; ; n++ {
			transaction := fmt.Sprintf("RENT-%d", n)
			id := w.open(transaction, countersign.FailedTransfer, "")
			already := len(w.model.asked())
			running, stop := context.WithCancel(ctx)
			var readings atomic.Int64
			c.onReading(func() {
				if readings.Add(1) == int64(n) {
					stop()
				}
			})
			err := w.pipeline.Work(running, id)
			c.onReading(func() {})
			if running.Err() == nil {
				stop()
				break
			}
			stopped++
			before := w.turnsOnRecord(id)
			if closed := w.theCase(id).Status == countersign.Closed; (err == nil) != closed || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("moment %d: closed is %v, and the error %v", n, closed, err)
			}
			if err := next.pipeline.Work(ctx, id); err != nil {
				t.Errorf("moment %d: the next process: %v", n, err)
			}
			w.ended(id, transaction, before, w.model.asked()[already:])
			if t.Failed() {
				t.Fatalf("after moment %d: %v", n, err)
			}
		}
		if stopped < 20 {
			t.Errorf("only %d moments were there to stop at", stopped)
		}
		t.Logf("stopped at each of %d moments", stopped)
		w.verifies()
	})
}

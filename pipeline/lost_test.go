package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/store"
)

// TestACommitOfAnInvestigationThatNobodyAnswered: each of its transactions in turn loses its connection while it commits, before the
// server saw it or after it was carried out. Whoever takes the case next ends it, once.
func TestACommitOfAnInvestigationThatNobodyAnswered(t *testing.T) {
	t.Parallel()
	const commits = 4 // take, two turns, the end
	line := testdb.Through(t, testdb.Postgres(t))
	clock := newClock()
	w := worldAt(t, line.URL, clock, nil)
	w.rents(2 * commits)
	n := 0
	for which := 1; which <= commits; which++ {
		for sentence, broken := range map[string]testdb.Broken{"before the server saw it": testdb.Unsent, "after it was carried out": testdb.Unanswered} {
			n++
			transaction := rent(n)
			t.Run(fmt.Sprintf("commit %d, %s", which, sentence), func(t *testing.T) {
				id := w.open(transaction, countersign.FailedTransfer, "")
				var seen atomic.Int64
				line.AtCommits(func() testdb.Broken {
					if seen.Add(1) == int64(which) {
						return broken
					}
					return testdb.Whole
				})
				if err := w.pipeline.Work(ctx, id); !errors.Is(err, store.ErrUnknown) {
					t.Errorf("got %v", err)
				}
				clock.advance(time.Hour) // its lease has run out
				if err := w.pipeline.Work(ctx, id); err != nil {
					t.Error(err)
				}
				if c := w.theCase(id); c.Status != countersign.Closed || c.HandledBy != countersign.ByPolicy || len(w.posted()) != 2*n {
					t.Errorf("it is %s by %s, and %d entries were posted; want it closed, and %d", c.Status, c.HandledBy, len(w.posted()), 2*n)
				}
				turns := map[string]int{}
				for _, row := range w.rows(id) {
					turns[string(row.Kind)]++
				}
				if turns["model_turn"] != 2 || turns["fix"] != 1 || turns["closed"] != 1 {
					t.Errorf("the record holds %v", turns)
				}
			})
		}
	}
	w.verifies()
}

// TestAWorkerThatIsCutOffStops: for as long as a lease lasts it hears nothing of the database, so somebody else may have the case by now.
// It does not go on asking a model, and it does not wait for the model's answer either.
func TestAWorkerThatIsCutOffStops(t *testing.T) {
	t.Parallel()
	line := testdb.Through(t, testdb.Postgres(t))
	w := newWorld(t, line.URL, nil)
	w.rents(1)
	w.pipeline.Lease = 300 * time.Millisecond
	id := w.open(rent(1), countersign.FailedTransfer, "")
	cause := make(chan error, 1)
	var once sync.Once
	w.model.Model = waitsForTheEnd{offline, func(ctx context.Context) {
		once.Do(func() {
			line.Cut()
			<-ctx.Done()
			cause <- context.Cause(ctx)
		})
	}}
	done := make(chan error, 1)
	go func() { done <- w.pipeline.Work(ctx, id) }()
	if err := <-cause; err == nil || errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("it was stopped by %v", err)
	}
	line.Mend()
	if err := <-done; err == nil {
		t.Error("it says that all is well")
	}
	if c := w.theCase(id); c.Status != countersign.Investigating {
		t.Errorf("the case is %s", c.Status)
	}
}

// waitsForTheEnd is a model that answers when nobody wants to know any more.
type waitsForTheEnd struct {
	llm.Model
	wait func(context.Context)
}

func (m waitsForTheEnd) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	m.wait(ctx)
	return m.Model.Complete(ctx, r)
}

package pipeline_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/llm"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/store"
)

var (
	ctx     = context.Background()
	clerk   = countersign.Actor{Kind: countersign.CLI, ID: "test"}
	analyst = countersign.Actor{Kind: countersign.Person, ID: "ada"}
)

// world is a store, a queue, a pipeline and a review with the bank's desk, without the program around them.
type world struct {
	*testing.T
	store    *store.Store
	queue    *queue.Queue
	pipeline *pipeline.Pipeline
	review   review.Review
	desk     desk.Desk
	model    *counted
}

// newWorld opens a database. A nil model is the offline reviewer.
func newWorld(t *testing.T, database string, m llm.Model) *world {
	t.Helper()
	s, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return worldOn(t, s, m)
}

func worldOn(t *testing.T, s *store.Store, m llm.Model) *world {
	t.Helper()
	if m == nil {
		m = offline
	}
	w := &world{T: t, store: s, desk: bank.New(), model: &counted{Model: m}}
	w.pipeline = &pipeline.Pipeline{Store: s, Desks: map[countersign.DeskName]desk.Desk{countersign.Bank: w.desk},
		Model: func(_ context.Context, _ store.View, _ countersign.Case) (llm.Model, error) { return w.model, nil }, Worker: "test", Log: slog.New(slog.DiscardHandler)}
	var err error
	if w.queue, err = queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	w.review = review.Review{Store: s, Queue: w.queue, Desks: map[countersign.DeskName]review.Desk{
		countersign.Bank: {Outcome: w.desk.Outcome, Outcomes: w.desk.Outcomes, Justify: w.desk.Justify, Waive: w.desk.Waive}}}
	return w
}

// use gives the pipeline another desk under the bank's name.
func (w *world) use(d desk.Desk) { w.pipeline.Desks[countersign.Bank] = d }

// counted is a model that notes which turns it was asked for.
type counted struct {
	llm.Model
	mu    sync.Mutex
	turns []int
}

func (m *counted) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	m.mu.Lock()
	m.turns = append(m.turns, r.Turn())
	m.mu.Unlock()
	return m.Model.Complete(ctx, r)
}

// asked are the turns that the model was asked for, in order.
func (m *counted) asked() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.turns)
}

// open files a dispute and leaves it to whoever works it.
func (w *world) open(transaction string, reason countersign.DisputeReason, notes string) countersign.CaseID {
	w.Helper()
	opened, err := intake.Intake{Store: w.store, Queue: w.queue}.Open(ctx, w.desk.Desk, clerk,
		intake.Request{SubjectID: transaction, Reason: reason, Notes: notes})
	if err != nil {
		w.Fatal(err)
	}
	return opened.Case.ID
}

// work opens a dispute and works it on the spot.
func (w *world) work(transaction string, reason countersign.DisputeReason) countersign.Case {
	w.Helper()
	id := w.open(transaction, reason, "")
	if err := w.pipeline.Work(ctx, id); err != nil {
		w.Fatal(err)
	}
	w.verifies()
	return w.theCase(id)
}

func (w *world) theCase(id countersign.CaseID) countersign.Case {
	w.Helper()
	c, err := w.store.Case(ctx, id)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// verifies walks every chain of the record.
func (w *world) verifies() {
	w.Helper()
	report, err := w.store.VerifyRecord(ctx, nil)
	if err != nil || !report.OK {
		w.Errorf("the record does not verify: %v %+v", err, report)
	}
}

// act is a person who has just read the case.
func (w *world) act(id countersign.CaseID) review.Act {
	w.Helper()
	return review.Act{Case: id, Revision: w.theCase(id).Revision, Actor: analyst}
}

func (w *world) rows(id countersign.CaseID) (rows []store.RecordRow) {
	w.Helper()
	for row, err := range w.store.RecordRows(ctx, id, 0) {
		if err != nil {
			w.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// exec runs one statement past everything that the store checks.
func (w *world) exec(statement string, args ...any) {
	w.Helper()
	if _, err := w.store.DB().Exec(statement, args...); err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
}

// posted lists the ledger entries that fixes made, on every account.
func (w *world) posted() (entries []countersign.Entry) {
	w.Helper()
	rows, err := w.store.DB().Query("SELECT account_id, direction, amount_minor, currency, kind FROM ledger_entries WHERE id LIKE 'fix:%' ORDER BY id")
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e countersign.Entry
		if err := rows.Scan(&e.AccountID, &e.Direction, &e.Amount.Minor, &e.Amount.Currency, &e.Kind); err != nil {
			w.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

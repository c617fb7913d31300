package pipeline_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/chain"
	"countersign/llm/scripted"
	"countersign/pipeline/budget"
	"countersign/store"
)

// priced has the pipeline ask a model of a chain, at USD 1 for a million tokens read and USD 2 for a million written.
func (w *world) priced(m llm.Model) {
	link := chain.Link{Connection: "desk", Model: m, Identity: m.Identity(), Price: llm.Price{Currency: "USD", Input: 1_000_000, Output: 2_000_000}}
	w.pipeline.Model = func(context.Context, store.View, countersign.Case) (llm.Model, error) {
		return chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), link), nil
	}
}

// An answer that comes when the case is somebody else's by now counts for nothing, and was paid for all the same: the day has it, and
// the case has not.
func TestAnAnswerThatCameTooLateIsCountedAllTheSame(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		w.rents(1)
		id := w.open("RENT-1", countersign.FailedTransfer, "")
		w.priced(scripted.Func(func(int, llm.Request) (llm.Reply, error) {
			w.exec("UPDATE cases SET lease_token = lease_token + 1 WHERE id = $1", string(id))
			return llm.Reply{Text: "hm", Stop: llm.StopEnd, Usage: &llm.Usage{Input: 1000, Output: 10}}, nil
		}))
		if err := w.pipeline.Work(ctx, id); err != nil {
			t.Errorf("it should go without a word, and said %v", err)
		}
		spent, err := w.store.ModelSpending(ctx, store.Day(w.store.Now()))
		if err != nil || len(spent) != 1 || spent[0].Answers != 1 || spent[0].Cost.String() != "USD 0.00102" {
			t.Errorf("the day has %+v, %v; want one answer of USD 0.00102", spent, err)
		}
		if rows := w.rows(id); len(rows) != 2 {
			t.Errorf("%d rows; want nothing after opened and started", len(rows))
		}
	})
}

// Where nobody can say what was spent, nobody is asked, and the person who decides is told that and not that a budget is spent.
func TestABudgetThatCannotBeReadIsNotOneThatIsSpent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testdb.SQLite(t), nil)
	w.rents(1)
	w.priced(scripted.Func(func(int, llm.Request) (llm.Reply, error) {
		t.Error("the model was asked")
		return llm.Reply{}, nil
	}))
	w.pipeline.Budgets = func(context.Context) (budget.Budgets, error) { return budget.Budgets{}, errors.New("a broken row") }
	c := w.work("RENT-1", countersign.FailedTransfer)
	if len(c.Verdict.Reasons) != 1 || c.Verdict.Reasons[0].Code != countersign.BudgetReached || !strings.Contains(c.Verdict.Reasons[0].Text, "could not be read") {
		t.Errorf("%s, for %+v", c.Status, c.Verdict.Reasons)
	}
}

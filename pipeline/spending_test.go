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

// A call that the program's stop, or the loss of the lease, cut off may have to be paid, and its turn is asked for again.
func TestACallThatWasCutOffIsCounted(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(w *world, id countersign.CaseID, stop func()){
		"by a stop": func(_ *world, _ countersign.CaseID, stop func()) { stop() },
		"by the loss of a lease": func(w *world, id countersign.CaseID, _ func()) {
			w.exec("UPDATE cases SET lease_token = lease_token + 1 WHERE id = $1", string(id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testdb.SQLite(t), nil)
			w.rents(1)
			w.pipeline.Lease = 3 * time.Second // renewed every second
			id := w.open("RENT-1", countersign.FailedTransfer, "")
			stopping, stop := context.WithCancel(ctx)
			defer stop()
			w.priced(cutOff{offline, func() { cut(w, id, stop) }})
			if err := w.pipeline.Work(stopping, id); (err != nil) != (name == "by a stop") {
				t.Errorf("%v", err)
			}
			spent, err := w.store.ModelSpending(ctx, store.Day(w.store.Now()))
			if err != nil || len(spent) != 1 || spent[0].Failures != 1 || spent[0].Assumed == 0 || spent[0].Cost.Micro == 0 {
				t.Errorf("the day has %+v, %v; want one failure, with what was sent", spent, err)
			}
			if c := w.theCase(id); c.Status != countersign.Investigating || len(w.rows(id)) != 2 {
				t.Errorf("it is %s, with %d rows; want nothing after opened and started", c.Status, len(w.rows(id)))
			}
		})
	}
}

// cutOff is a model whose server has all of the request when its caller gives up.
type cutOff struct {
	llm.Model
	first func()
}

func (m cutOff) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	_, err := hanging{m.Model, m.first}.Complete(ctx, r)
	var e *llm.Error
	if errors.As(err, &e) {
		e.Attempts = []llm.Attempt{{At: time.Now(), MaybePaid: true}}
	}
	return llm.Reply{}, err
}

func (m cutOff) Identity() llm.Identity { return llm.Identity{Provider: "openai", Name: "m"} }

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

// Whoever takes a model's server down for one turn must not thereby have rules agree with themselves: that the model itself decided in
// the end makes no such case automatic.
func TestACaseInWhichTheOfflineReviewerStoodInOnceNeedsAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testdb.SQLite(t), nil)
	w.rents(2)
	down := false
	able := scripted.Func(func(_ int, r llm.Request) (llm.Reply, error) {
		if down {
			down = false
			return llm.Reply{}, &llm.Error{Kind: llm.Refused, Message: "not now"}
		}
		return offline.Complete(ctx, r)
	})
	w.pipeline.Model = func(context.Context, store.View, countersign.Case) (llm.Model, error) {
		return chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), chain.Link{Connection: "desk", Model: able, Identity: able.Identity()},
			chain.Link{Connection: "rulebook", Model: offline, Identity: offline.Identity(), Offline: true}), nil
	}
	if c := w.work("RENT-1", countersign.FailedTransfer); c.Status != countersign.Closed || c.Model.Provider != able.Identity().Provider {
		t.Fatalf("the model answered each turn: %s by %s, for %+v", c.Status, c.Model.Provider, c.Verdict.Reasons)
	}
	down = true
	c := w.work("RENT-2", countersign.FailedTransfer)
	if down || c.Model.Provider != able.Identity().Provider {
		t.Fatalf("the model was to decide in the end, and %s did", c.Model.Provider)
	}
	if c.Status != countersign.InReview || len(c.Verdict.Reasons) != 1 || c.Verdict.Reasons[0].Code != countersign.OfflineStoodIn || len(w.posted()) != 2 {
		t.Errorf("%s, for %+v; want a person, because somebody stood in", c.Status, c.Verdict.Reasons)
	}
	if spent, err := w.store.ModelSpending(ctx, store.Day(w.store.Now())); err != nil || len(spent) != 1 || spent[0].Connection != "desk" || spent[0].Failures != 1 {
		t.Errorf("the day has %+v, %v; want the model alone, with its one failure", spent, err)
	}
}

// thinksAloud is a model that uses 60,010 tokens for an answer without a call, and how often it was asked.
func thinksAloud() (llm.Model, *int) {
	asked := new(int)
	return scripted.Func(func(int, llm.Request) (llm.Reply, error) {
		*asked++
		return llm.Reply{Text: "hm", Stop: llm.StopEnd, Usage: &llm.Usage{Input: 60_000, Output: 10}}, nil
	}), asked
}

func TestABudgetCountsTheTurnBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testdb.SQLite(t), nil)
	w.rents(1)
	model, asked := thinksAloud()
	w.priced(model)
	w.pipeline.Budgets = func(context.Context) (budget.Budgets, error) {
		return budget.Budgets{Case: budget.Limit{Tokens: 50_000}}, nil
	}
	if c := w.work("RENT-1", countersign.FailedTransfer); *asked != 1 || c.Verdict.Reasons[0].Code != countersign.BudgetReached {
		t.Errorf("asked %d times, for %+v; want no second call", *asked, c.Verdict.Reasons)
	}
}

// What a case used in an earlier round counts into its budget, and what another case of the desk used today into the desk's.
func TestABudgetCountsWhatWasUsedBefore(t *testing.T) {
	t.Parallel()
	limit := budget.Limit{Tokens: 100_000}
	for name, row := range map[string]struct {
		budgets budget.Budgets
		again   func(w *world, id countersign.CaseID) countersign.Case
	}{
		"in an earlier round of the case": {budget.Budgets{Case: limit}, func(w *world, id countersign.CaseID) countersign.Case { return w.retried(id) }},
		"in another case of the desk": {budget.Budgets{Desks: map[countersign.DeskName]budget.Limit{countersign.Bank: limit}},
			func(w *world, _ countersign.CaseID) countersign.Case {
				return w.work("RENT-2", countersign.FailedTransfer)
			}},
		"in another case": {budget.Budgets{Day: limit},
			func(w *world, _ countersign.CaseID) countersign.Case {
				return w.work("RENT-2", countersign.FailedTransfer)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testdb.SQLite(t), nil)
			w.rents(2)
			model, asked := thinksAloud()
			w.priced(model)
			w.pipeline.Budgets = func(context.Context) (budget.Budgets, error) { return row.budgets, nil }
			first := w.work("RENT-1", countersign.FailedTransfer)
			if *asked != 2 || first.Verdict.Reasons[0].Code != countersign.ModelFailed {
				t.Fatalf("asked %d times, for %+v; want two answers without a call", *asked, first.Verdict.Reasons)
			}
			c := row.again(w, first.ID)
			if *asked != 2 || c.Verdict.Reasons[0].Code != countersign.BudgetReached || !strings.Contains(c.Verdict.Reasons[0].Text, "100,000 tokens is spent") {
				t.Errorf("asked %d times in all, for %+v", *asked, c.Verdict.Reasons)
			}
		})
	}
}

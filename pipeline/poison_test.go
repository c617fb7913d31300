package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/internal/testdb"
	"countersign/pipeline"
	"countersign/pipeline/investigate"
	"countersign/pipeline/policy"
	"countersign/store"
)

// codes are the codes of a case's reasons.
func codes(c countersign.Case) (out []countersign.ReasonCode) {
	if c.Verdict == nil {
		return nil
	}
	for _, r := range c.Verdict.Reasons {
		out = append(out, r.Code)
	}
	return out
}

// withAPerson checks a case that ended with a person and moved nothing.
func (w *world) withAPerson(id countersign.CaseID, want ...countersign.ReasonCode) {
	w.Helper()
	c := w.theCase(id)
	if c.Status != countersign.InReview || len(w.posted()) > 0 {
		w.Fatalf("the case is %s, and %d entries were posted", c.Status, len(w.posted()))
	}
	for _, code := range want {
		if !slices.Contains(codes(c), code) {
			w.Errorf("the reasons are %v, want %s among them", c.Verdict.Reasons, code)
		}
	}
	w.verifies()
}

// bug is what stands in for a bug of ours in a part of the program.
func bug() { panic("a bug of ours") }

// Whatever part of the program breaks over a case, the case ends with a person and the worker lives on.
func TestABrokenPartCostsOneCase(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		broke func(*desk.Desk)
		want  []countersign.ReasonCode
	}{
		{"reading the facts", func(d *desk.Desk) {
			d.Facts = func(context.Context, store.View, countersign.Case) (countersign.Facts, error) {
				bug()
				return countersign.Facts{}, nil
			}
		}, []countersign.ReasonCode{countersign.ModelFailed, countersign.FactsUnreadable}},
		{"a rule of the desk", func(d *desk.Desk) {
			d.Rules = append(slices.Clone(d.Rules), policy.Rule{Name: "broken/1", Check: func(policy.Input) []countersign.Reason { bug(); return nil }})
		}, []countersign.ReasonCode{countersign.FactsUnreadable}},
		{"what the model is told", func(d *desk.Desk) {
			d.Brief = func(countersign.Case) investigate.Brief { bug(); return investigate.Brief{} }
		}, []countersign.ReasonCode{countersign.ModelFailed}},
		{"the tools", func(d *desk.Desk) {
			d.Tools = func(store.View, countersign.Case) []investigate.Tool { bug(); return nil }
		}, []countersign.ReasonCode{countersign.ModelFailed}},
		{"one tool, while it runs", func(d *desk.Desk) {
			tools := d.Tools
			d.Tools = func(v store.View, c countersign.Case) []investigate.Tool {
				all := tools(v, c)
				all[2].Run = func(context.Context, json.RawMessage) (any, error) { bug(); return nil, nil }
				return all
			}
		}, []countersign.ReasonCode{countersign.ModelAskedForPerson}},
		{"the tools and the facts and the rules and the brief", func(d *desk.Desk) {
			*d = desk.Desk{Desk: d.Desk, Rules: []policy.Rule{{Name: "broken/1"}}}
		}, []countersign.ReasonCode{countersign.ModelFailed, countersign.FactsUnreadable}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldAt(t, testdb.SQLite(t), newClock(), nil)
			w.rents(2)
			whole := w.desk
			broken := w.desk
			row.broke(&broken)
			w.use(broken)
			id := w.open("RENT-1", countersign.FailedTransfer, "")
			if err := w.pipeline.Work(ctx, id); err != nil {
				t.Fatalf("the worker: %v", err)
			}
			w.withAPerson(id, row.want...)
			if _, err := pipeline.Replay(broken.Rules, w.store.RecordRows(ctx, id, 0), 1); err != nil {
				t.Errorf("it does not replay: %v", err)
			}
			w.use(whole)
			if c := w.work("RENT-2", countersign.FailedTransfer); c.HandledBy != countersign.ByPolicy {
				t.Errorf("the next case: %s, %v", c.Status, c.Verdict)
			}
		})
	}
}

// A model of a broken provider answers nothing; the provider's panic stays in its turn.
func TestABrokenProviderCostsOneCase(t *testing.T) {
	t.Parallel()
	w := worldAt(t, testdb.SQLite(t), newClock(), interrupted{offline, 1, bug})
	w.rents(1)
	id := w.open("RENT-1", countersign.FailedTransfer, "")
	if err := w.pipeline.Work(ctx, id); err != nil {
		t.Fatal(err)
	}
	w.withAPerson(id, countersign.ModelFailed)
}

// What breaks inside the last transaction breaks again each time. The case goes round five times and then to a person.
func TestACaseThatKeepsBreakingGoesToAPerson(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		c := newClock()
		w := worldAt(t, database, c, nil)
		w.rents(1)
		broken, facts, calls := w.desk, w.desk.Facts, 0
		broken.Facts = func(ctx context.Context, v store.View, c countersign.Case) (countersign.Facts, error) {
			if calls++; calls%2 == 0 { // the executor reads them again, inside the transaction
				bug()
			}
			return facts(ctx, v, c)
		}
		w.use(broken)
		id := w.open("RENT-1", countersign.FailedTransfer, "")
		for begun := 1; begun <= 5; begun++ {
			if err := w.pipeline.Work(ctx, id); err == nil || !strings.Contains(err.Error(), "a bug of ours") {
				t.Fatalf("the %d. time: got %v", begun, err)
			}
			if now := w.theCase(id).Status; now != countersign.Investigating {
				t.Fatalf("the %d. time: it is %s", begun, now)
			}
			c.advance(time.Minute)
		}
		if err := w.pipeline.Work(ctx, id); err != nil {
			t.Fatal(err)
		}
		w.withAPerson(id, countersign.ModelFailed, countersign.FactsUnreadable)
		if got := w.theCase(id); !strings.Contains(got.Proposal.Summary, "interrupted 5 times") || got.Model.InputTokens == 0 || got.Model.Provider != "rulebook" {
			t.Errorf("the summary is %q, the model's use %+v", got.Proposal.Summary, got.Model)
		}
		if asked := w.model.asked(); !slices.Equal(asked, []int{1, 2}) {
			t.Errorf("the model was asked %v; its answers were on record", asked)
		}
		w.use(w.desk)
		spent := w.theCase(id).Model
		if got := w.retried(id); got.Model.InputTokens < spent.InputTokens*3/2 || got.Model.OutputTokens < spent.OutputTokens*3/2 {
			t.Errorf("the rounds before cost %+v, and with the last one it is %+v", spent, got.Model)
		} else if got.HandledBy != countersign.ByPolicy || got.Round != 2 {
			t.Errorf("when the bug is mended: %s by %q in round %d, %v", got.Status, got.HandledBy, got.Round, got.Verdict)
		}
		w.verifies()
	})
}

// retried lets a person retry a case, and works it.
func (w *world) retried(id countersign.CaseID) countersign.Case {
	w.Helper()
	if _, err := w.review.Retry(ctx, w.act(id)); err != nil {
		w.Fatal(err)
	}
	if err := w.pipeline.Work(ctx, id); err != nil {
		w.Fatal(err)
	}
	return w.theCase(id)
}

// A record that cannot be gone on from will not be readable the next time either.
func TestARecordThatCannotBeReadBackGoesToAPerson(t *testing.T) {
	t.Parallel()
	for name, note := range map[string]store.Note{
		"a step without a turn":        {Kind: audit.ToolCall, Payload: map[string]any{"round": 1, "ref": "S1"}},
		"a turn of another shape":      {Kind: audit.ModelTurn, Payload: map[string]any{"round": 1, "turn": "the first"}},
		"a beginning of another shape": {Kind: audit.Started, Payload: map[string]any{"round": 1, "canary": 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			w := worldAt(t, testdb.SQLite(t), c, nil)
			w.rents(1)
			id := w.open("RENT-1", countersign.FailedTransfer, "")
			err := w.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { // a worker that dies at once
				if _, ok, err := tx.TakeLease(ctx, id, time.Second); err != nil || !ok {
					return fmt.Errorf("not taken: %w", err)
				}
				started := store.Note{Kind: audit.Started, Payload: map[string]any{"round": 1, "status": "investigating"}}
				return tx.Record(ctx, id, clerk, started, note)
			})
			if err != nil {
				t.Fatal(err)
			}
			c.advance(time.Minute)
			if err := w.pipeline.Work(ctx, id); err != nil {
				t.Fatal(err)
			}
			w.withAPerson(id, countersign.ModelFailed, countersign.FactsUnreadable)
			if len(w.model.asked()) > 0 {
				t.Error("the model was asked")
			}
		})
	}
}

// A desk that the program does not have is a mistake of whoever put it together: the case waits until it is mended.
func TestACaseOfNoDeskWaits(t *testing.T) {
	t.Parallel()
	w := worldAt(t, testdb.SQLite(t), newClock(), nil)
	w.rents(1)
	id := w.open("RENT-1", countersign.FailedTransfer, "")
	desks := w.pipeline.Desks
	w.pipeline.Desks = map[countersign.DeskName]desk.Desk{}
	if err := w.pipeline.Work(ctx, id); err == nil || w.theCase(id).Status != countersign.Queued {
		t.Errorf("got %v, and the case is %s", err, w.theCase(id).Status)
	}
	w.pipeline.Desks = desks
	if err := w.pipeline.Work(ctx, id); err != nil || w.theCase(id).Status != countersign.Closed {
		t.Errorf("got %v, and the case is %s", err, w.theCase(id).Status)
	}
}

package pipeline_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/scripted"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/investigate"
	"countersign/pipeline/policy"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
	"countersign/store"
)

// library is a third desk, of nobody's: readers dispute fines. It is one value, and nothing else in the program knows of it.
func library(fine *string) desk.Desk {
	facts := func(context.Context, store.View, countersign.Case) (countersign.Facts, error) {
		return countersign.Facts{Seen: *fine, AtStake: &countersign.Money{Minor: 250, Currency: "EUR"},
			Items: []countersign.Fact{{Name: "book_returned", State: countersign.Present, Value: *fine, Source: "shelf"}}}, nil
	}
	return desk.Desk{
		Desk: intake.Desk{Name: "library", Prefix: "L-", Find: func(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
			return intake.Found{Subject: countersign.Subject{Kind: "loan", ID: r.SubjectID}, DueSource: countersign.DueUnknown}, nil
		}},
		Brief: func(countersign.Case) investigate.Brief {
			return investigate.Brief{System: "You look at fines.", Case: "A reader disputes a fine.", Recommendations: []string{"WAIVE", "ASK"}, Escalation: "ASK"}
		},
		Given: func(store.View, countersign.Case) []investigate.Tool {
			return []investigate.Tool{
				{Tool: llm.Tool{Name: "read_loan"}, Run: func(context.Context, json.RawMessage) (any, error) { return map[string]string{"back": "Monday"}, nil }},
				{Tool: llm.Tool{Name: "read_fine"}, Run: func(context.Context, json.RawMessage) (any, error) { return map[string]int{"cents": 250}, nil }},
			}
		},
		Tools: func(store.View, countersign.Case) []investigate.Tool { return nil },
		Facts: facts,
		Documents: func(context.Context, store.View, countersign.Case) ([]verify.Document, error) {
			return []verify.Document{{ID: "1", Title: "House rules", Version: "v1", Text: "A fine is waived when the book came back within a week."}}, nil
		},
		Rules:    []policy.Rule{policy.PersonDecides},
		Outcome:  map[string]countersign.Outcome{"WAIVE": "waived"},
		Outcomes: []countersign.Outcome{"waived", "kept"},
		Fresh: func(ctx context.Context, v store.View, c countersign.Case) (review.Fresh, error) {
			f, err := facts(ctx, v, c)
			return review.Fresh{Facts: f}, err
		},
		MustChoose: true,
	}
}

// librarian proposes to waive, and quotes the house rules.
func librarian(quote string) llm.Model {
	canary := regexp.MustCompile(`canary: (\w+)`)
	return scripted.Func(func(_ int, r llm.Request) (llm.Reply, error) {
		args, err := json.Marshal(map[string]any{"recommendation": "WAIVE", "confidence": 0.2, "summary": "It came back.", "canary": canary.FindStringSubmatch(r.Messages[0].Text.String())[1],
			"claims": []any{
				map[string]any{"text": "It came back.", "citations": []any{map[string]any{"ref": "S1", "field": "back", "value": "Monday"}}},
				map[string]any{"text": "The fine.", "citations": []any{map[string]any{"ref": "S2", "field": "cents", "value": "250"}}}},
			"quotes":           []any{map[string]any{"document": "house rules", "quote": quote}},
			"customer_message": "", "fraud_suspected": false})
		return scripted.Calls(scripted.Call("submit_decision", string(args))), err
	})
}

// TestAThirdDeskIsOneValue: a desk that nobody thought of plugs in without a change anywhere.
func TestAThirdDeskIsOneValue(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		fine := "on time"
		d := library(&fine)
		desks := map[countersign.DeskName]desk.Desk{"library": d}
		p := &pipeline.Pipeline{Store: w.store, Desks: desks, Worker: "test", Log: slog.New(slog.DiscardHandler),
			Model: func(_ context.Context, _ store.View, _ countersign.Case) (llm.Model, error) {
				return librarian("A fine is waived when the book came back"), nil
			}}
		r := review.Review{Store: w.store, Queue: w.queue, Desks: map[countersign.DeskName]review.Desk{"library": {Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, MustChoose: d.MustChoose, Fresh: d.Fresh}}}
		opened, err := intake.Intake{Store: w.store, Queue: w.queue}.Open(ctx, d.Desk, clerk, intake.Request{SubjectID: "LOAN-7", Reason: countersign.OtherReason})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Work(ctx, opened.Case.ID); err != nil {
			t.Fatal(err)
		}
		c := w.theCase(opened.Case.ID)
		if c.Recommendation != "WAIVE" || len(c.Verdict.Reasons) != 1 || c.Verdict.Reasons[0].Code != countersign.PersonDecides || c.Amount.Minor != 250 {
			t.Errorf("%s %s, reasons %+v, amount %s: %s", c.Status, c.Recommendation, c.Verdict.Reasons, c.Amount, c.Proposal.Summary)
		}
		if q := c.Proposal.Quotes; len(q) != 1 || q[0].Status != countersign.QuoteExact || q[0].Version != "v1" {
			t.Errorf("the quotes are %+v", q)
		}

		act := review.Act{Case: c.ID, Revision: c.Revision, Actor: analyst}
		fine = "a day late"
		if _, err := r.Approve(ctx, act); countersign.KindOf(err) != countersign.Conflict {
			t.Errorf("approving what has changed answers %v", err)
		}
		fine = "on time"
		if c, err = r.Approve(ctx, act); err != nil || c.Outcome != "waived" || c.HandledBy != countersign.ByPerson {
			t.Errorf("%s %v", c.Outcome, err)
		}
		w.verifies()
		if _, err := pipeline.Replay(d.Rules, w.store.RecordRows(ctx, c.ID, 0), 1); err != nil {
			t.Error(err)
		}
	})
}

// A recommendation that asks for a person is not approved at such a desk, only decided.
func TestWhatAsksForAPersonIsDecidedAndNotApproved(t *testing.T) {
	w := newWorld(t, testdb.SQLite(t), nil)
	fine := "on time"
	d := library(&fine)
	p := &pipeline.Pipeline{Store: w.store, Desks: map[countersign.DeskName]desk.Desk{"library": d}, Worker: "test", Log: slog.New(slog.DiscardHandler),
		Model: func(context.Context, store.View, countersign.Case) (llm.Model, error) {
			return scripted.Func(func(int, llm.Request) (llm.Reply, error) { return scripted.Say(""), nil }), nil
		}}
	r := review.Review{Store: w.store, Queue: w.queue, Desks: map[countersign.DeskName]review.Desk{"library": {Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, MustChoose: true, Fresh: d.Fresh}}}
	opened, err := intake.Intake{Store: w.store, Queue: w.queue}.Open(ctx, d.Desk, clerk, intake.Request{SubjectID: "LOAN-8", Reason: countersign.OtherReason})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Work(ctx, opened.Case.ID); err != nil {
		t.Fatal(err)
	}
	c := w.theCase(opened.Case.ID)
	act := review.Act{Case: c.ID, Revision: c.Revision, Actor: analyst}
	if _, err := r.Approve(ctx, act); countersign.KindOf(err) != countersign.Conflict {
		t.Errorf("approving %q answers %v", c.Recommendation, err)
	}
	if _, err := r.Override(ctx, act, "kept", "  ", ""); countersign.KindOf(err) != countersign.Invalid {
		t.Errorf("deciding without a reason answers %v", err)
	}
	if c, err = r.Override(ctx, act, "kept", "The book was late.", ""); err != nil || c.Outcome != "kept" {
		t.Errorf("%s %v", c.Outcome, err)
	}
	w.verifies()
}

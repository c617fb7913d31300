package demo

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"countersign"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/store"

	"github.com/google/go-cmp/cmp"
)

// office is the program without its faces: enough to work the demo's disputes one after the other.
type office struct {
	*testing.T
	store    *store.Store
	intake   intake.Intake
	pipeline *pipeline.Pipeline
	review   review.Review
	desk     desk.Desk
}

func newOffice(t *testing.T) *office {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "demo.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	q, err := queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, store: s, desk: bank.New(), intake: intake.Intake{Store: s, Queue: q}}
	models, reviewer := Models(now, o.load), rulebook.New(bank.Playbook())
	o.pipeline = &pipeline.Pipeline{Store: s, Desks: map[countersign.DeskName]desk.Desk{countersign.Bank: o.desk}, Worker: "demo",
		Model: func(_ context.Context, _ store.View, c countersign.Case) (llm.Model, error) {
			return models(c, reviewer), nil
		}, Log: slog.New(slog.DiscardHandler)}
	o.review = review.Review{Store: s, Queue: q, Desks: map[countersign.DeskName]review.Desk{countersign.Bank: {
		Outcome: o.desk.Outcome, Outcomes: o.desk.Outcomes, Justify: o.desk.Justify, Waive: o.desk.Waive}}}
	if err := o.load(t.Context(), Bank(now)); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *office) load(ctx context.Context, set records.Set) error {
	_, err := feed.Feed{Store: o.store, Refused: func(p records.Problem) { o.Error(p) }}.Set(ctx, set)
	return err
}

// work carries one dispute to its end and returns the case.
func (o *office) work(d Dispute) (c countersign.Case) {
	ctx := o.Context()
	if d.Damaged {
		o.must(Damage(ctx, o.store.DB()))
	}
	opened, err := o.intake.Open(ctx, o.desk.Desk, clerk, intake.Request{SubjectID: d.TransactionID, Reason: d.Reason, Notes: d.Notes, Channel: d.Channel})
	o.must(err)
	if d.Shadow {
		o.mode(policy.Shadow)
		defer o.mode(policy.Act)
	}
	o.must(o.pipeline.Work(ctx, opened.Case.ID))
	c, err = o.store.Case(ctx, opened.Case.ID)
	o.must(err)
	if d.Then != nil {
		c, err = o.act(c, *d.Then)
		o.must(err)
	}
	return c
}

var clerk = countersign.Actor{Kind: countersign.CLI, ID: "demo"}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *office) mode(m policy.Mode) {
	limits := policy.Default()
	limits.Mode = m
	o.must(o.store.Write(o.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, clerk) }))
}

func (o *office) act(c countersign.Case, a Act) (countersign.Case, error) {
	by := review.Act{Case: c.ID, Revision: c.Revision, Actor: countersign.Actor{Kind: countersign.Person, ID: "analyst@demo.example"}}
	switch a.Verb {
	case "approve":
		return o.review.Approve(o.Context(), by)
	case "override":
		return o.review.Override(o.Context(), by, a.Outcome, a.Reason, a.Fix)
	case "escalate":
		return o.review.Escalate(o.Context(), by, a.Reason, a.Reference)
	}
	return c, fmt.Errorf("nobody can %q", a.Verb)
}

func TestEveryDisputeEndsAsItsTitleSays(t *testing.T) {
	o := newOffice(t)
	for _, d := range Disputes() {
		t.Run(d.Title, func(t *testing.T) {
			o.T = t
			c := o.work(d)
			got := []countersign.ReasonCode{}
			for _, reason := range c.Verdict.Reasons {
				got = append(got, reason.Code)
			}
			if diff := cmp.Diff(append([]countersign.ReasonCode{}, d.Want...), got); diff != "" || c.Outcome != d.WantOutcome {
				t.Errorf("the case is %s %s; the reasons differ from what the table says (-want +got):\n%s%v\n%s", c.Status, c.Outcome, diff, c.Verdict.Reasons, c.Proposal.Summary)
			}
			if len(d.Want) == 0 && (c.HandledBy != countersign.ByPolicy || c.Fix.State != countersign.FixPosted) {
				t.Errorf("handled by %s, the fix is %s", c.HandledBy, c.Fix.State)
			}
		})
	}
	o.T = t
	report, err := o.store.VerifyRecord(t.Context(), nil)
	if err != nil || !report.OK {
		t.Errorf("the record does not verify: %+v, %v", report, err)
	}
}

func TestDamageStaysWithOneCustomer(t *testing.T) {
	o := newOffice(t)
	for range 2 { // the second time changes nothing
		o.must(Damage(t.Context(), o.store.DB()))
	}
	for _, d := range Disputes() {
		_, err := o.store.Book(t.Context(), d.TransactionID)
		if unreadable := err != nil; unreadable != d.Damaged {
			t.Errorf("%s: unreadable is %v: %v", d.Title, unreadable, err)
		}
	}
	o.must(o.load(t.Context(), Bank(now))) // and the same import still goes through
}

package pipeline

import (
	"context"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/execute"
	"countersign/pipeline/outside"
	"countersign/pipeline/policy"
	"countersign/store"
)

// judged is a finished investigation with its verdict and everything the verdict depends on.
type judged struct {
	input   policy.Input
	verdict countersign.Verdict
	use     countersign.ModelUse
}

// act closes the case by its fix: ledger entries, transaction, case and record rows in one transaction, or none of them. Where others
// post the fix, the case waits for them, and what wakes whoever asks them is in the transaction too.
func (p *Pipeline) act(ctx context.Context, j job, v judged) error {
	c := v.onto(j.Case)
	c.Status, c.HandledBy, c.Outcome = countersign.Closed, countersign.ByPolicy, j.desk.Outcome[c.Recommendation]
	c.Fix = countersign.FixOutcome{State: countersign.FixPosted, Fix: v.input.Facts.Fix}
	policyActor := countersign.Actor{Kind: countersign.Policy, ID: v.verdict.PolicyVersion}
	return p.write(ctx, j, func(ctx context.Context, tx *store.Tx) error {
		posting, err := execute.Apply(ctx, tx, execute.Order{Case: j.Case, Fix: *c.Fix.Fix, Seen: v.input.Facts.Seen,
			Justify: j.desk.Justify, Actor: policyActor, Outcome: c.Outcome, HandledBy: c.HandledBy})
		if err != nil {
			return err
		}
		if posting.Requested != nil {
			waiting := c
			begun := outside.Begin(&waiting, *posting.Requested, policyActor)
			if err := p.finish(ctx, tx, j, waiting, v, begun); err != nil {
				return err
			}
			return p.Wake(ctx, tx, posting.Requested.ID)
		}
		return p.finish(ctx, tx, j, c, v,
			store.Note{Kind: audit.Fix, Payload: posting.Row(c.Round, ""), By: policyActor},
			store.Note{Kind: audit.Closed, Payload: store.Closing(c), By: policyActor})
	})
}

// toReview leaves the case to a person, with every reason.
func (p *Pipeline) toReview(ctx context.Context, j job, v judged, fix countersign.FixOutcome) error {
	c := v.onto(j.Case)
	c.Status, c.Fix = countersign.InReview, fix
	if stands := policy.Stands(v.verdict); !stands {
		c.Recommendation = j.escalation()
	}
	return p.write(ctx, j, func(ctx context.Context, tx *store.Tx) error { return p.finish(ctx, tx, j, c, v) })
}

// onto is the case with what the investigation found.
func (v judged) onto(c countersign.Case) countersign.Case {
	proposal := v.input.Proposal
	proposal.Claims, proposal.Quotes = v.input.Evidence.Claims, v.input.Evidence.Quotes
	c.Amount = v.input.Amount
	c.Proposal, c.Facts, c.Verdict = &proposal, &v.input.Facts, &v.verdict
	c.Recommendation, c.Message = proposal.Recommendation, proposal.CustomerMessage
	c.Model = sum(c.Model, v.use)
	return c
}

// sum adds the use of this round to that of the rounds before; the model named is the last one.
func sum(before, now countersign.ModelUse) countersign.ModelUse {
	now.Attempts += before.Attempts
	now.InputTokens += before.InputTokens
	now.OutputTokens += before.OutputTokens
	now.AssumedTokens += before.AssumedTokens
	now.Cost = before.Cost.Plus(now.Cost)
	return now
}

type factsRow struct {
	Round int               `json:"round"`
	Facts countersign.Facts `json:"facts"`
}

type proposalRow struct {
	Round    int                  `json:"round"`
	Proposal countersign.Proposal `json:"proposal"`
	Evidence countersign.Evidence `json:"evidence"`
}

// verdictRow, with the facts and the proposal before it, is all a verdict depends on: Replay computes it again.
type verdictRow struct {
	Round          int                 `json:"round"`
	Status         countersign.Status  `json:"status"`
	Recommendation string              `json:"recommendation"`
	Limits         policy.Limits       `json:"limits"`
	Amount         countersign.Money   `json:"amount"`
	Verdict        countersign.Verdict `json:"verdict"`
	Fix            string              `json:"fix_refused,omitempty"`
}

// finish saves the case with what was found, in the caller's transaction. People cannot change a case under investigation, so
// its revision is the one the lease was taken with.
func (p *Pipeline) finish(ctx context.Context, tx *store.Tx, j job, c countersign.Case, v judged, more ...store.Note) error {
	if err := tx.Save(ctx, &c); err != nil {
		return err
	}
	tx.AfterCommit(func() { p.Watch.ended(c, tx.Now.Sub(j.begun)) })
	status := c.Status
	if status == countersign.Closed || status == countersign.AwaitingConfirmation {
		status = countersign.Investigating // the row of the fix, or the closing row, says what becomes of it
	}
	notes := []store.Note{
		{Kind: audit.Facts, Payload: factsRow{c.Round, v.input.Facts}},
		{Kind: audit.Proposal, Payload: proposalRow{c.Round, v.input.Proposal, v.input.Evidence}},
		{Kind: audit.Verdict, Payload: verdictRow{c.Round, status, c.Recommendation, v.input.Limits, v.input.Amount, v.verdict, c.Fix.Why}},
	}
	return tx.Record(ctx, c.ID, p.actor(), append(notes, more...)...)
}

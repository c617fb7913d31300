// Package pipeline carries a case from the queue to a fix or a person.
//
// It has no word of any desk in it: what differs between desks arrives as a desk.Desk. Everything a stage learns is recorded
// in the transaction that makes it true, under a lease that another worker takes over when this one dies.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/llm"
	"countersign/pipeline/budget"
	"countersign/pipeline/execute"
	"countersign/pipeline/investigate"
	"countersign/pipeline/policy"
	"countersign/pipeline/verify"
	"countersign/store"
)

// Pipeline works cases. It is safe for concurrent use.
type Pipeline struct {
	Store *store.Store
	Desks map[countersign.DeskName]desk.Desk
	// Model is which model investigates a case. It is asked in the transaction that takes the case, and reads through its View. A
	// *chain.Chain is held to the budgets.
	Model   func(context.Context, store.View, countersign.Case) (llm.Model, error)
	Budgets func(context.Context) (budget.Budgets, error) // in force now, asked before each call; nil for none
	Bounds  investigate.Bounds
	Worker  string        // names this process in the record
	Lease   time.Duration // how long a silent worker keeps a case, 15 s when zero; it renews three times in that time
	Log     *slog.Logger
	Watch   Watch
	// Wake has an instruction to those outside carried to them once the transaction has committed.
	Wake func(ctx context.Context, tx *store.Tx, instruction string) error
	// Freed tells whoever waits that a case of that desk has given these pools a place back; nil when nobody waits.
	Freed func(ctx context.Context, back countersign.DeskName, pools ...string) error
}

// Work carries one case from the queue to a fix or a person. Whatever goes wrong, it ends with a person and never with a
// fix. A case that another worker holds, or that needs none, is left alone.
//
// An error means that the database could not be reached or that the program stops: the case stays where its record ends,
// and whoever takes it next goes on from there.
func (p *Pipeline) Work(ctx context.Context, id countersign.CaseID) error {
	j, ok, err := p.take(ctx, id)
	if err != nil || !ok {
		return err
	}
	p.Watch.took(j)
	ctx, letGo := p.keep(ctx, j)
	defer letGo()

	err = p.carry(ctx, &j)
	switch {
	case err == nil:
		p.freed(ctx, j)
		return nil
	case errors.Is(err, store.ErrLeaseLost), errors.Is(context.Cause(ctx), store.ErrLeaseLost):
		p.Watch.lost(j)
		return nil // another worker has the case, and what this one had recorded
	case errors.Is(context.Cause(ctx), errCutOff), errors.Is(context.Cause(ctx), store.ErrOtherSchema):
		return errors.Join(context.Cause(ctx), err) // nothing can be written, so the lease runs out by itself
	case ctx.Err() != nil:
		return errors.Join(err, p.leave(ctx, j))
	}
	return err
}

// carry is the whole of an investigation. A panic in any stage is a bug of ours and ends with a person.
func (p *Pipeline) carry(ctx context.Context, j *job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			p.Log.ErrorContext(ctx, "panic while working a case", "case", string(j.Case.ID), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = p.giveUp(ctx, *j, countersign.BrokenProgram, "the investigation stopped with an internal error")
		}
	}()
	switch {
	case j.damage != "":
		return p.giveUp(ctx, *j, countersign.BrokenProgram, j.damage)
	case j.starts > maxStarts:
		return p.giveUp(ctx, *j, countersign.Interrupted, fmt.Sprintf("the investigation was interrupted %d times", j.starts-1))
	}
	facts, err := p.facts(ctx, *j)
	if err != nil {
		return err
	}
	outcome, err := investigate.Run(ctx, p.conversation(j))
	if err != nil {
		return err
	}
	evidence := verify.Citations(outcome.Proposal, outcome.Steps, j.fence.Strip)
	limits, err := p.Store.Limits(ctx)
	if err != nil {
		return err
	}
	evidence.Quotes = p.quotes(ctx, *j, outcome.Proposal.Quotes)
	input := policy.Input{Limits: limits, Amount: amount(j.Case, facts), Facts: facts, Proposal: outcome.Proposal, Evidence: evidence}
	return p.conclude(ctx, *j, judged{input, decide(j.desk.Rules, input), outcome.Use})
}

// facts reads the records without the model. What cannot be read is a fact of its own, and a reason; only the end of ctx,
// which says nothing about the records, is an error.
func (p *Pipeline) facts(ctx context.Context, j job) (countersign.Facts, error) {
	facts, err := j.desk.Facts(ctx, p.Store.View, j.Case)
	if err == nil || ctx.Err() != nil {
		return facts, ctx.Err()
	}
	p.Log.ErrorContext(ctx, "read the facts of a case", "case", string(j.Case.ID), "error", err)
	var e *countersign.Error
	if errors.As(err, &e) && e.Kind != countersign.Internal {
		return countersign.Facts{Unreadable: e.Error()}, nil
	}
	return countersign.Facts{Unreadable: "the database did not answer"}, nil
}

// amount is what the dispute is about: as the request said, else as the records have it.
func amount(c countersign.Case, facts countersign.Facts) countersign.Money {
	if c.Amount.Currency == "" && facts.AtStake != nil {
		return *facts.AtStake
	}
	return c.Amount
}

// quotes looks every quote up in the documents of the case. Documents that cannot be read hold none of them: whoever relies on a
// quote then has none, and a person looks.
func (p *Pipeline) quotes(ctx context.Context, j job, quotes []countersign.Quote) []countersign.Quote {
	if len(quotes) == 0 || j.desk.Documents == nil {
		return quotes
	}
	documents, err := j.desk.Documents(ctx, p.Store.View, j.Case)
	if err != nil {
		p.Log.ErrorContext(ctx, "read the documents of a case", "case", string(j.Case.ID), "error", err)
	}
	unfenced := slices.Clone(quotes)
	for i, q := range quotes {
		unfenced[i].Document, unfenced[i].Quote = j.fence.Strip(q.Document), j.fence.Strip(q.Quote)
	}
	return verify.Quotes(unfenced, documents)
}

// conclude ends the investigation: the policy acts, or a person must. A fix that the executor refuses, because the records
// say something else by now, goes to a person with that reason.
func (p *Pipeline) conclude(ctx context.Context, j job, v judged) error {
	if v.verdict.Kind != countersign.Automatic {
		return p.toReview(ctx, j, v, countersign.FixOutcome{State: planned(v.input.Facts.Fix), Fix: v.input.Facts.Fix})
	}
	err := p.act(ctx, j, v)
	var refused *execute.Refused
	if errors.As(err, &refused) {
		v.verdict = policy.NotApplicable(v.verdict, refused.Why)
		return p.toReview(ctx, j, v, countersign.FixOutcome{State: countersign.FixRefused, Why: refused.Why, Fix: v.input.Facts.Fix})
	}
	return err
}

func planned(fix *countersign.Fix) countersign.FixState {
	if fix == nil {
		return countersign.FixNone
	}
	return countersign.FixPlanned
}

// giveUp sends a case to a person without a proposal of the model's. It asks the desk for nothing that could fail again.
func (p *Pipeline) giveUp(ctx context.Context, j job, failure countersign.Failure, why string) error {
	limits, err := p.Store.Limits(ctx)
	if err != nil {
		return err
	}
	proposal := countersign.Proposal{Recommendation: j.escalation(), Failure: failure, Summary: "No proposal was made: " + why + "."}
	input := policy.Input{Limits: limits, Amount: j.Case.Amount, Facts: countersign.Facts{Unreadable: why}, Proposal: proposal,
		Evidence: verify.Citations(proposal, nil, nil)}
	return p.toReview(ctx, j, judged{input, decide(j.desk.Rules, input), j.use()}, countersign.FixOutcome{State: countersign.FixNone})
}

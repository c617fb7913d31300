package outside

import (
	"context"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/execute"
	"countersign/pipeline/policy"
	"countersign/store"
)

// Told is what was found out of an instruction, and from whom.
type Told struct {
	Reference string // theirs
	Said      string // theirs, of a rejection
	Why       string // ours, when nothing is known
	Exchanges []store.Exchange
	ByHand    bool // a person found out, and says so
	Booked    bool // and that the books hold the entries already
}

// onto is the instruction as the case shows it, with what is known now.
func (t Told) onto(shown countersign.Instruction, i store.Instruction, now time.Time) *countersign.Instruction {
	shown.Attempts, shown.AskedAt = i.Attempts, &now
	if t.Reference != "" {
		shown.Reference = t.Reference
	}
	return &shown
}

// Begin makes the case wait for an instruction that was just written, and returns the row that says so.
func Begin(c *countersign.Case, i store.Instruction, by countersign.Actor) store.Note {
	c.Status, c.Outcome, c.HandledBy = countersign.AwaitingConfirmation, "", ""
	c.Fix = countersign.FixOutcome{State: countersign.FixRequested, Fix: &i.Fix,
		Instruction: &countersign.Instruction{ID: i.ID, State: countersign.Requested, RequestedAt: i.RequestedAt}}
	return store.Note{Kind: audit.Fix, By: by, Payload: store.FixRow{Round: c.Round, Status: c.Status, Fix: i.Fix, Waived: i.Waived,
		State: countersign.Requested, Instruction: i.ID, Body: string(i.Body)}}
}

// row is a step of an instruction as the record keeps it.
func (t Told) row(c countersign.Case, i store.Instruction, state countersign.InstructionState) store.FixRow {
	return store.FixRow{Round: c.Round, Status: c.Status, Fix: i.Fix, State: state, Instruction: i.ID, Reference: t.Reference, Said: t.Said, Why: t.Why,
		Booked: t.Booked, Exchanges: t.Exchanges}
}

// Close ends a case whose fix was posted outside: it is entered into the books, and the case is closed as it was decided.
func Close(ctx context.Context, tx *store.Tx, c *countersign.Case, i store.Instruction, told Told) ([]store.Note, error) {
	posting, err := execute.Confirm(ctx, tx, i, told.Booked)
	if err != nil {
		return nil, err
	}
	row := told.row(*c, i, countersign.Confirmed)
	row.Status, row.PostedAt, row.Waived = "", posting.PostedAt, i.Waived // the closing row says closed
	c.Fix.State, c.Fix.Why, c.Fix.Instruction.State, c.Fix.Instruction.Booked = countersign.FixPosted, "", countersign.Confirmed, told.Booked
	c.Status, c.Outcome, c.HandledBy = countersign.Closed, i.Outcome, i.HandledBy
	closing := store.Note{Kind: audit.Closed, By: countersign.ParseActor(i.Actor)}
	if told.ByHand {
		c.HandledBy, closing.By = countersign.ByPerson, countersign.Actor{}
	}
	closing.Payload = store.Closing(*c)
	return []store.Note{{Kind: audit.Fix, Payload: row}, closing}, nil
}

// Decline brings a case back to a person: its fix was not posted outside and will not be, so another may be.
func Decline(ctx context.Context, tx *store.Tx, c *countersign.Case, i store.Instruction, told Told) ([]store.Note, error) {
	i.State = countersign.Declined
	c.Fix.State, c.Fix.Why, c.Fix.Instruction.Said = countersign.FixRejected, "", told.Said
	return back(ctx, tx, c, i, told, policy.Declined(verdictOf(*c)))
}

// unsettle brings a case to a person who must find out what nobody here can. The fix stays taken.
func unsettle(ctx context.Context, tx *store.Tx, c *countersign.Case, i store.Instruction, told Told) ([]store.Note, error) {
	i.State = countersign.Unsettled
	c.Fix.State, c.Fix.Why = countersign.FixUnknown, told.Why
	return back(ctx, tx, c, i, told, policy.Unsettled(verdictOf(*c), told.Why))
}

func back(ctx context.Context, tx *store.Tx, c *countersign.Case, i store.Instruction, told Told, verdict countersign.Verdict) ([]store.Note, error) {
	c.Status, c.Verdict, c.Fix.Instruction.State = countersign.InReview, &verdict, i.State
	return []store.Note{{Kind: audit.Fix, Payload: told.row(*c, i, i.State)}}, tx.KeepInstruction(ctx, i)
}

// Again makes a case that a person holds wait for its instruction once more.
func Again(ctx context.Context, tx *store.Tx, c *countersign.Case, i store.Instruction) error {
	i.State, i.Failures, i.FailingSince = countersign.Requested, 0, time.Time{}
	verdict := policy.Again(verdictOf(*c))
	c.Status, c.Verdict = countersign.AwaitingConfirmation, &verdict
	c.Fix.State, c.Fix.Why, c.Fix.Instruction.State = countersign.FixRequested, "", countersign.Requested
	return tx.KeepInstruction(ctx, i)
}

func verdictOf(c countersign.Case) countersign.Verdict {
	if c.Verdict == nil {
		return countersign.Verdict{}
	}
	return *c.Verdict
}

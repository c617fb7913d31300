package review

import (
	"context"
	"errors"
	"strings"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/execute"
	"countersign/pipeline/outside"
	"countersign/store"
)

// held refuses what cannot be decided while nobody knows whether the fix of the case was posted elsewhere: another fix could give the
// same back twice, and a case that is closed is looked at by nobody.
func (a Act) held(c countersign.Case) error {
	if c.Fix.State != countersign.FixUnknown || a.settles {
		return nil
	}
	return countersign.Errorf(countersign.Conflict, "whether the fix of this case was posted is not known, so nothing else can be decided").
		Try("ask again, or find out and settle it by hand")
}

// Ask has those who were to post the fix asked once more what became of it.
func (r Review) Ask(ctx context.Context, act Act) (countersign.Case, error) {
	act.settles = true
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		i, err := unsettled(ctx, tx, *c)
		if err != nil {
			return nil, err
		}
		d := decided(*c, "ask", "")
		if err := outside.Again(ctx, tx, c, i); err != nil {
			return nil, err
		}
		d.Status = c.Status
		return []store.Note{{Kind: audit.Decision, Payload: d}}, r.Queue.Wake(ctx, tx, i.ID)
	})
}

// Found is what a person found out of a fix that others were to post.
type Found struct {
	What      Finding
	Reference string // theirs; needed when they posted it
	Reason    string // how the person knows
}

// Finding is what became of a fix that others were to post. The zero Finding is none: it is said, or nothing is settled.
type Finding string

const (
	FoundPosted    Finding = "posted"
	FoundBooked    Finding = "booked" // posted, and the books here hold the entries already, so none are entered
	FoundNotPosted Finding = "not_posted"
)

func (f Found) posted() bool { return f.What == FoundPosted || f.What == FoundBooked }

// Settle ends an instruction of which nobody knew the end, by what a person found out and answers for. Posted enters it into the books
// and closes the case; not posted leaves the case with the person, who may decide it anew.
func (r Review) Settle(ctx context.Context, act Act, f Found) (countersign.Case, error) {
	f.Reference = strings.TrimSpace(f.Reference)
	if err := f.complete(); err != nil {
		return countersign.Case{}, err
	}
	act.settles = true
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		i, err := unsettled(ctx, tx, *c)
		if err != nil {
			return nil, err
		}
		d := decided(*c, "settle", f.Reason)
		d.Found, d.Reference = f.What, f.Reference
		told := outside.Told{Reference: f.Reference, ByHand: true, Booked: f.What == FoundBooked}
		if f.Reference != "" {
			c.Fix.Instruction.Reference = f.Reference
		}
		end := outside.Decline
		if f.posted() {
			end = outside.Close
		}
		notes, err := end(ctx, tx, c, i, told)
		var refused *execute.Refused
		switch {
		case errors.As(err, &refused) && told.Booked:
			return nil, countersign.Errorf(countersign.Conflict, "its entries are not here: %s", refused.Why).In("found").
				Try("if the core posted it, say so, and they are made")
		case errors.As(err, &refused):
			return nil, countersign.Errorf(countersign.Conflict, "the entries cannot be made: %s", refused.Why).
				Try("if the books hold the entries already, say so and settle it again")
		}
		return append([]store.Note{{Kind: audit.Decision, Payload: d}}, notes...), err
	})
}

func (f Found) complete() error {
	if err := said("reason", f.Reason); err != nil {
		return err
	}
	switch {
	case !f.posted() && f.What != FoundNotPosted:
		return countersign.Errorf(countersign.Invalid, "%q is not one of posted, booked, not_posted", string(f.What)).In("found")
	case f.posted() && blank(f.Reference):
		return countersign.Errorf(countersign.Invalid, "is missing").In("reference").Try("give the reference under which it was posted")
	}
	return oneLine("reference", f.Reference, 200)
}

// unsettled is the instruction that a case in review hangs on.
func unsettled(ctx context.Context, tx *store.Tx, c countersign.Case) (store.Instruction, error) {
	if c.Fix.State != countersign.FixUnknown || c.Fix.Instruction == nil {
		return store.Instruction{}, countersign.Errorf(countersign.Conflict, "it is known what became of the fix of this case: there is nothing to settle")
	}
	return tx.Instruction(ctx, c.Fix.Instruction.ID)
}

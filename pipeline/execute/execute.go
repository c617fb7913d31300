// Package execute applies a fix once, in the caller's transaction, or refuses it with a sentence.
//
// Applying it is posting it to the ledger here or, where a bank has set that others post its fixes, writing the instruction to them.
// What they then did comes back to Confirm, which enters it into the books. It reaches nobody outside itself: see pipeline/outside.
//
// It trusts nobody who asks. Inside the transaction, with the account locked, it reads the records again and compares: the
// fix must still be the one they justify, and nothing that was read may have changed since. It cannot reach a model, and
// there is no other path that posts.
package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"countersign"
	"countersign/store"
)

// Justify reads the records through v and returns the fix that they justify now, and a hash of every row it read. An error
// of kind Conflict says in a sentence why they justify none.
type Justify func(ctx context.Context, v store.View, c countersign.Case) (fix *countersign.Fix, seen string, err error)

// Order is a fix that somebody may post: the policy, or a person who took responsibility.
type Order struct {
	Case    countersign.Case
	Fix     countersign.Fix
	Seen    string // the rows as they were when the fix was decided; empty to skip the comparison, when the reading is new anyway
	Justify Justify
	Actor   countersign.Actor

	// What the decision ends in once the fix is posted, for one that others post.
	Outcome   countersign.Outcome
	HandledBy countersign.HandledBy
	Waived    string // a person's reason to post it although the facts do not support it
}

// Refused is a fix that was not applied, and why, in words for an analyst. Nothing was written.
type Refused struct{ Why string }

func (r *Refused) Error() string { return "fix refused: " + r.Why }

// Apply posts the fix, or writes the instruction to those who are to post it: then Requested is set, and nothing is posted yet. A second
// delivery of the same order posts nothing and returns the first result, marked Repeated. A *Refused error means that the case needs a
// person; any other error that the transaction must be rolled back and may be tried again.
func Apply(ctx context.Context, tx *store.Tx, o Order) (store.Posting, error) {
	if err := tx.LockAccount(ctx, o.Fix.AccountID); err != nil {
		return store.Posting{}, refuse(err, "the account of the fix is not on record")
	}
	earlier, posted, err := tx.Posted(ctx, o.Case.ID, o.Fix)
	if err != nil || posted {
		return earlier, refuse(err, "this transaction was already given back, by another case or in another amount")
	}
	if _, asked, err := tx.Requested(ctx, o.Case.ID, o.Fix); asked || err != nil {
		return store.Posting{}, refuse(cmp.Or(err, store.ErrOtherInputs), "somebody was asked to give this transaction back, and whether they did is not known yet")
	}
	if err := o.check(ctx, tx); err != nil {
		return store.Posting{}, err
	}
	route, err := tx.Route(ctx)
	switch {
	case err != nil:
		return store.Posting{}, err
	case route.Outside():
		return o.request(ctx, tx, route)
	}
	posting, err := tx.Post(ctx, o.Case.ID, o.Fix, o.Actor)
	return posting, refuse(err, "")
}

// check reads the records again and compares them with what the fix was decided on.
func (o Order) check(ctx context.Context, tx *store.Tx) error {
	owner, err := tx.Account(ctx, o.Fix.AccountID)
	if err != nil {
		return fmt.Errorf("read the account of the fix: %w", err)
	}
	if owner.CustomerID != o.Case.CustomerID {
		return &Refused{"the account of the fix belongs to another customer"}
	}
	fix, seen, err := o.Justify(ctx, tx.View, o.Case)
	switch {
	case err != nil:
		return refuse(err, "")
	case o.Seen != "" && seen != o.Seen:
		return &Refused{"the records changed after they were read"}
	case fix == nil:
		return &Refused{"the records do not support a fix"}
	case !same(*fix, o.Fix):
		return &Refused{fmt.Sprintf("the records now support another fix: %s of %s on transaction %s", fix.Kind, fix.Amount, fix.TransactionID)}
	}
	return nil
}

func same(a, b countersign.Fix) bool {
	return a.Kind == b.Kind && a.TransactionID == b.TransactionID && a.AccountID == b.AccountID && a.Amount == b.Amount
}

// refuse makes a refusal of what the records themselves say no to, and leaves failures of the database alone.
func refuse(err error, why string) error {
	var e *countersign.Error
	switch {
	case errors.Is(err, store.ErrOtherInputs):
		return &Refused{why}
	case errors.As(err, &e) && (e.Kind == countersign.Conflict || e.Kind == countersign.NotFound):
		if why == "" {
			why = e.Message
		}
		return &Refused{why}
	}
	return err
}

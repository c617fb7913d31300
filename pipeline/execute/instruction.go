package execute

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign"
	"countersign/store"
)

// instruction is what those who post are sent: docs/posting.md has its form, and a change of it is a new version.
type instruction struct {
	Instruction   string              `json:"instruction"`
	Version       int                 `json:"version"`
	Kind          countersign.FixKind `json:"kind"`
	TransactionID string              `json:"transaction_id"`
	AccountID     string              `json:"account_id"`
	Amount        countersign.Money   `json:"amount"`
	Entries       []countersign.Entry `json:"entries"`
	Case          countersign.CaseID  `json:"case"`
	RequestedAt   time.Time           `json:"requested_at"`
}

// request writes the instruction. Its bytes are made here, once: whoever sends it sends these.
func (o Order) request(ctx context.Context, tx *store.Tx, route store.Route) (store.Posting, error) {
	i := store.Instruction{ID: "ins_" + strings.ToLower(rand.Text()), Case: o.Case.ID, Round: o.Case.Round, Fix: o.Fix, Route: route.Version, Outcome: o.Outcome,
		HandledBy: o.HandledBy, Waived: o.Waived, Actor: o.Actor.String(), RequestedAt: tx.Now, State: countersign.Requested}
	body, err := json.Marshal(instruction{i.ID, 1, o.Fix.Kind, o.Fix.TransactionID, o.Fix.AccountID, o.Fix.Amount, o.Fix.Entries, o.Case.ID, tx.Now})
	if err != nil {
		return store.Posting{}, fmt.Errorf("write the instruction: %w", err) // unreachable: all of it marshals
	}
	i.Body = body
	if err := tx.Request(ctx, i, o.Actor); err != nil {
		return store.Posting{}, refuse(err, "")
	}
	return store.Posting{Case: o.Case.ID, Fix: o.Fix, Actor: o.Actor.String(), Requested: &i}, nil
}

// Confirm enters into the books what others posted on an instruction, in the name of who decided it, and ends the instruction. The money
// has moved, so nothing is justified again; but the books may refuse it, when they hold as much already: that is a *Refused error,
// and a person must see which of the two it is. Booked says that one did, and that the entries are there.
func Confirm(ctx context.Context, tx *store.Tx, i store.Instruction, booked bool) (store.Posting, error) {
	i.State = countersign.Confirmed
	if err := tx.KeepInstruction(ctx, i); err != nil { // first: it would count as still to be given back
		return store.Posting{}, err
	}
	if err := tx.LockAccount(ctx, i.Fix.AccountID); err != nil {
		return store.Posting{}, refuse(err, "the account of the fix is not on record")
	}
	if booked {
		posting, err := tx.PostBooked(ctx, i.Case, i.Fix, countersign.ParseActor(i.Actor))
		return posting, refuse(err, "")
	}
	posting, err := tx.Post(ctx, i.Case, i.Fix, countersign.ParseActor(i.Actor))
	return posting, refuse(err, "")
}

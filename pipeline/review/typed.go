package review

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// typing is the payload of a row of kind note: what became of a fact that a person typed in.
type typing struct {
	Round int                   `json:"round"`
	Typed string                `json:"typed"` // added, taken back
	Fact  countersign.TypedFact `json:"fact"`
}

func typed(round int, what string, f countersign.TypedFact) store.Note {
	return store.Note{Kind: audit.Note, Payload: typing{round, what, f}}
}

// AddTypedFact puts what a person knows on a case, as theirs. It changes no recommendation; what the desk's rules make of it, they
// say when the facts are read again.
func (r Review) AddTypedFact(ctx context.Context, act Act, f countersign.TypedFact) (countersign.Case, error) {
	f.Text, f.Reference, f.On = strings.TrimSpace(f.Text), strings.TrimSpace(f.Reference), strings.TrimSpace(f.On)
	if err := typable(f); err != nil {
		return countersign.Case{}, err
	}
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		if !slices.Contains(r.Desks[c.Desk].Typed, f.Kind) {
			return nil, countersign.Errorf(countersign.Invalid, "%q is no kind of fact that can be typed in", f.Kind).In("kind").Try("choose one of the list")
		}
		if f.On > tx.Now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) { // tomorrow here is today somewhere
			return nil, countersign.Errorf(countersign.Invalid, "has not come yet").In("on").Try("say when it happened")
		}
		f.ID, f.CaseID, f.TypedAt, f.TypedBy = "typed_"+strings.ToLower(rand.Text()[:16]), c.ID, tx.Now, act.Actor.String()
		return []store.Note{typed(c.Round, "added", f)}, tx.AddTypedFact(ctx, f, act.Actor)
	})
}

// typable refuses what a report could not print as one line of somebody's.
func typable(f countersign.TypedFact) error {
	if blank(f.Text) {
		return countersign.Errorf(countersign.Invalid, "is missing").In("text").Try("say what you know, and from where")
	}
	if err := oneLine("text", f.Text, 500); err != nil {
		return err
	}
	if err := oneLine("reference", f.Reference, 100); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, f.On); f.On != "" && err != nil {
		return countersign.Errorf(countersign.Invalid, "%q is no day", f.On).In("on").Try("write it as 2026-11-03")
	}
	if f.Amount != nil && f.Amount.Minor <= 0 {
		return countersign.Errorf(countersign.Invalid, "is %s", f.Amount).In("amount").Try("write an amount above zero, or none")
	}
	return nil
}

// RemoveTypedFact takes a typed-in fact back. The record keeps what it said.
func (r Review) RemoveTypedFact(ctx context.Context, act Act, id string) (countersign.Case, error) {
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		all, err := tx.TypedFacts(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if err := tx.RemoveTypedFact(ctx, c.ID, id, act.Actor); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(f countersign.TypedFact) bool { return f.ID == id })
		return []store.Note{typed(c.Round, "taken back", all[i])}, nil
	})
}

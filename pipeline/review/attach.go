package review

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// Attach says which subject a case is about that came without one, or with one that is not on record, and starts a new round: what was
// found before was found about nothing. A case whose subject was found is about that one.
func (r Review) Attach(ctx context.Context, act Act, subject string) (countersign.Case, error) {
	subject = strings.TrimSpace(subject)
	switch {
	case blank(subject):
		return countersign.Case{}, countersign.Errorf(countersign.Invalid, "is missing").In("order_id")
	case strings.ContainsFunc(subject, unicode.IsControl):
		return countersign.Case{}, countersign.Errorf(countersign.Invalid, "holds a control character").In("order_id")
	}
	if err := short("order_id", subject, 200); err != nil {
		return countersign.Case{}, err
	}
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		switch {
		case !Unmatched(*c):
			return nil, countersign.Errorf(countersign.Conflict, "the case is about %s %s, which was found", c.Subject.Kind, c.Subject.ID).In("order_id")
		case subject == c.Subject.ID:
			return nil, countersign.Errorf(countersign.Conflict, "the case is about that one already").In("order_id").Try("retry it, if it is on record now")
		}
		jobID, err := r.Queue.Add(ctx, tx, c.Desk, c.ID)
		if err != nil {
			return nil, err
		}
		d := decided(*c, "attach", "")
		d.Subject, c.Subject.ID = subject, subject
		c.NextRound()
		d.Round, d.Status = c.Round, c.Status
		if err := tx.Rename(ctx, *c); err != nil {
			return nil, err
		}
		return []store.Note{{Kind: audit.Decision, Payload: d}}, tx.SetJob(ctx, c.ID, jobID)
	})
}

// Unmatched reports whether nobody knows what a case is about: no subject was named, or none of that name is on record.
func Unmatched(c countersign.Case) bool {
	return c.Subject.Kind == countersign.OrderSubject && (c.Subject.ID == "" ||
		c.Verdict != nil && slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == countersign.OrderNotFound }))
}

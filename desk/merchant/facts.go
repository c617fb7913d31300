package merchant

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/store"
)

// reader reads what bears on one case, each thing once: what a model is shown and what it is shown beside come from one reading.
type reader struct {
	Config
	view     store.View
	c        countersign.Case
	order    func() shop.Records
	versions func() ([]Version, error) // of the policies that count for it
}

func (c Config) reader(ctx context.Context, v store.View, of countersign.Case) reader {
	r := reader{Config: c, view: v, c: of, order: sync.OnceValue(func() shop.Records {
		if of.Subject == (countersign.Subject{Kind: countersign.OrderSubject}) {
			return shop.Records{Order: shop.Rows[shop.Order]{Unnamed: true}}
		}
		return c.Order(ctx, of.Subject.ID)
	})}
	r.versions = sync.OnceValues(func() ([]Version, error) { return c.Policies.InForce(ctx, v, r.placed()) })
	return r
}

// facts reads the shop and the library and says what they establish. What cannot be read is among the facts, and a doubt.
func (c Config) facts(ctx context.Context, v store.View, of countersign.Case) (countersign.Facts, error) {
	in, err := c.reader(ctx, v, of).input(ctx, c.Now())
	if err != nil {
		return countersign.Facts{}, err
	}
	facts := rules.Judge(in)
	if of.Reopened != nil {
		facts.Doubts = append(facts.Doubts, countersign.Doubt{Reason: of.Reopened.Reason})
	}
	return facts, ctx.Err()
}

// relied reports whether a decision counted on money that had been given back.
func relied(c countersign.Case) bool {
	return c.Facts != nil && c.Facts.Fact("refund_returned").State == countersign.Present
}

func (r reader) input(ctx context.Context, now time.Time) (rules.Input, error) {
	amount, err := r.named(ctx)
	if err != nil {
		return rules.Input{}, err
	}
	typed, err := r.tightening(ctx)
	in := rules.Input{Records: r.order(), Reason: r.c.Reason, Disputed: amount, DueAt: r.c.DueAt, Now: now, Typed: typed}
	versions, unread := r.versions()
	if unread != nil {
		in.Library = "the policy library could not be read."
	}
	for _, version := range versions {
		in.Policies = append(in.Policies, rules.Policy{ID: version.ID, Title: version.Title, Version: version.Name, ValidFrom: version.ValidFrom})
	}
	return in, err
}

// named is the amount that the chargeback named, at first or in an event since, nil when it named none. A case of one that named none
// has an amount too, once it was looked at: what was paid. Only the rows of its record tell the two apart, and where those were erased the
// case's own counts.
func (r reader) named(ctx context.Context) (*countersign.Money, error) {
	amount := r.c.Amount
	if amount.Currency == "" || r.c.ID == "" {
		return nil, nil
	}
	unnamed := false
	for row, err := range r.view.RecordRows(ctx, r.c.ID, 0) {
		if err != nil {
			return nil, fmt.Errorf("read what the chargeback named: %w", err)
		}
		if row.Payload == nil || row.Kind != audit.Opened && row.Kind != audit.Event && row.Kind != audit.Reopened {
			continue
		}
		var said struct {
			Amount countersign.Money `json:"amount"`
		}
		if json.Unmarshal(row.Payload.Bytes, &said) == nil {
			unnamed = said.Amount.Currency == "" && (unnamed || row.Kind == audit.Opened)
		}
	}
	if unnamed {
		return nil, nil
	}
	return &amount, nil
}

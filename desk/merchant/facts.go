package merchant

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"countersign"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/store"
)

// reader reads what bears on one case, each thing once: what a model is shown and what it is shown beside come from one reading.
type reader struct {
	Config
	view  store.View
	c     countersign.Case
	order func() shop.Records
}

func (c Config) reader(ctx context.Context, v store.View, of countersign.Case) reader {
	return reader{c, v, of, sync.OnceValue(func() shop.Records { return c.Order(ctx, of.Subject.ID) })}
}

// facts reads the shop and the library and says what they establish. What cannot be read is among the facts, and a doubt.
func (c Config) facts(ctx context.Context, v store.View, of countersign.Case) (countersign.Facts, error) {
	in, err := c.reader(ctx, v, of).input(ctx, c.Now())
	if err != nil {
		return countersign.Facts{}, err
	}
	return rules.Judge(in), ctx.Err()
}

func (r reader) input(ctx context.Context, now time.Time) (rules.Input, error) {
	amount, err := r.named(ctx)
	if err != nil {
		return rules.Input{}, err
	}
	typed, err := r.tightening(ctx)
	in := rules.Input{Records: r.order(), Reason: r.c.Reason, Disputed: amount, DueAt: r.c.DueAt, Now: now, Typed: typed}
	versions, unread := r.versions(ctx)
	if unread != nil {
		in.Library = "the policy library could not be read."
	}
	for _, version := range versions {
		in.Policies = append(in.Policies, rules.Policy{ID: version.ID, Title: version.Title, Version: version.Name, ValidFrom: version.ValidFrom})
	}
	return in, err
}

// named is the amount that the chargeback named, nil when it named none. A case of one that named none has an amount too, once it was
// looked at: what was paid. Only the first row of its record tells the two apart, and where that was erased the case's own counts.
func (r reader) named(ctx context.Context) (*countersign.Money, error) {
	amount := r.c.Amount
	if amount.Currency == "" || r.c.ID == "" {
		return nil, nil
	}
	for row, err := range r.view.RecordRows(ctx, r.c.ID, 0) {
		if err != nil {
			return nil, fmt.Errorf("read what the chargeback named: %w", err)
		}
		var opened struct {
			Amount countersign.Money `json:"amount"`
		}
		if row.Payload != nil && json.Unmarshal(row.Payload.Bytes, &opened) == nil && opened.Amount.Currency == "" {
			return nil, nil
		}
		break
	}
	return &amount, nil
}

package merchant

import (
	"context"
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
	facts := rules.Judge(c.reader(ctx, v, of).input(ctx, c.Now()))
	return facts, ctx.Err()
}

func (r reader) input(ctx context.Context, now time.Time) rules.Input {
	in := rules.Input{Records: r.order(), Reason: r.c.Reason, DueAt: r.c.DueAt, Now: now}
	if r.c.Amount.Currency != "" {
		amount := r.c.Amount
		in.Disputed = &amount
	}
	versions, err := r.versions(ctx)
	if err != nil {
		in.Library = "the policy library could not be read."
	}
	for _, version := range versions {
		in.Policies = append(in.Policies, rules.Policy{ID: version.ID, Title: version.Title, Version: version.Name, ValidFrom: version.ValidFrom})
	}
	return in
}

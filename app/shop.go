package app

import (
	"context"
	"sync"

	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/desk/merchant/shop"
)

// connected is the shop that the latest mapping leads to, opened when it is first asked for and again when another mapping was
// saved. One that cannot be opened is tried again each time: it may be back.
type connected struct {
	setup setup.Setup

	mu      sync.Mutex
	version int64
	shop    *connector.Shop
}

// order reads an order. A shop that nobody has connected knows of no kind of record; one that cannot be reached has read none.
func (c *connected) order(ctx context.Context, id string) shop.Records {
	s, err := c.open(ctx)
	switch {
	case err != nil:
		return connector.Unreachable(err)
	case s == nil:
		return unmapped()
	}
	return s.Order(ctx, id)
}

// name is what the shop is called in its mapping; empty while there is none.
func (c *connected) name(ctx context.Context) string {
	v, _, _ := c.setup.Latest(ctx) // a report does without: whether the shop can be reached is said elsewhere
	return v.Mapped.Name
}

// open returns nil while there is no mapping.
func (c *connected) open(ctx context.Context) (*connector.Shop, error) {
	v, ok, err := c.setup.Latest(ctx)
	if err != nil || !ok {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shop != nil && c.version == v.Version {
		return c.shop, nil
	}
	s, err := connector.Open(ctx, v.Mapped)
	if err != nil {
		return nil, err
	}
	err = c.closed()
	c.shop, c.version = s, v.Version
	return s, err
}

// closed closes the shop that is open, if one is.
func (c *connected) closed() error {
	if c.shop == nil {
		return nil
	}
	return c.shop.Close()
}

func unmapped() shop.Records {
	return shop.Records{Order: shop.Rows[shop.Order]{Unmapped: true}, Payments: shop.Rows[shop.Payment]{Unmapped: true},
		Fulfillments: shop.Rows[shop.Fulfillment]{Unmapped: true}, Refunds: shop.Rows[shop.Refund]{Unmapped: true}, Returns: shop.Rows[shop.Return]{Unmapped: true}}
}

package connector

import (
	"context"
	"database/sql"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Sampled are rows of one kind as the product reads them, each with the order that it belongs to.
type Sampled struct {
	shop.Records
	Owners []Owner // in the order of the rows
}

// Owner is the order that a row belongs to, as its way leads to it.
type Owner struct {
	Key    string // as the row has it
	Number string // the order's own, where the mapping names a column for it
	Found  bool   // there is such an order
}

// Samples reads n rows of one kind of record, of whatever orders, as the product reads them: what a person confirms before a
// mapping is used. The other kinds in the records say that they were not asked for.
func (s *Shop) Samples(ctx context.Context, k Kind, n int) (all Sampled, err error) {
	all.Records = unread("not asked for")
	r, err := s.way(k)
	if err != nil {
		return all, err
	}
	if len(r.tables) == 0 {
		return all, countersign.Errorf(countersign.Invalid, "the mapping does not say where %s are", k.plural()).In("entities." + string(k))
	}
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		const spare = 20 // a sign may leave rows out that are not of the kind
		v := &visit{Shop: s, tx: tx}
		rows, err := v.ask(ctx, r, s.d.sample(r, n*spare))
		if err != nil {
			return err
		}
		for _, r := range v.take(&all.Records, k, rows, n) {
			owner, err := v.owner(ctx, k, r)
			if err != nil {
				return err
			}
			all.Owners = append(all.Owners, owner)
		}
		return nil
	})
	return all, err
}

// owner looks the order up that a row belongs to.
func (v *visit) owner(ctx context.Context, k Kind, r row) (Owner, error) {
	if k == Order {
		return Owner{r.key(), r["number"].text, true}, nil
	}
	o := Owner{Key: r.key()}
	orders, err := v.way(Order)
	if err != nil || len(orders.tables) == 0 || o.Key == "" {
		return o, nil
	}
	found, err := v.by(ctx, orders, "", v.d.spelled(orders.key.column, o.Key))
	if err == nil && len(found) > 0 {
		o.Number, o.Found = found[0]["number"].text, true
	}
	return o, err
}

// spelled is a key as a column of whole numbers has it, where another column writes the same number with a point: 42.0000.
func (d dialect) spelled(c Column, key string) string {
	if whole, ok := strings.CutSuffix(canonical(key), "."); ok && d.family(c) == integers && plainNumber.MatchString(key) {
		return whole
	}
	return key
}

// take puts the first n records that rows make among the records of their kind, and says which rows these were.
func (v *visit) take(all *shop.Records, k Kind, rows []row, n int) (taken []row) {
	switch k {
	case Order:
		all.Order, taken = leading(rows, n, func(r row) (shop.Order, bool) { return v.asOrder(r), true })
	case Payment:
		all.Payments, taken = leading(rows, n, v.payment)
	case Fulfillment:
		all.Fulfillments, taken = leading(rows, n, v.fulfillment)
	case Refund:
		all.Refunds, taken = leading(rows, n, v.refund)
	case Return:
		all.Returns, taken = leading(rows, n, v.returned)
	}
	return taken
}

func leading[T any](rows []row, n int, read func(row) (T, bool)) (found shop.Rows[T], taken []row) {
	for _, r := range rows {
		if one, counts := read(r); counts && len(found.All) < n {
			found.All, taken = append(found.All, one), append(taken, r)
		}
	}
	return found, taken
}

package connector

import (
	"context"
	"database/sql"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Samples reads n rows of one kind of record, of whatever orders, as the product reads them: what a person confirms before a
// mapping is used. The other kinds in the records say that they were not asked for.
func (s *Shop) Samples(ctx context.Context, k Kind, n int) (all shop.Records, err error) {
	all = unread("not asked for")
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
		if err == nil {
			v.take(&all, k, rows, n)
		}
		return err
	})
	return all, err
}

// take puts the first n records that rows make among the records of their kind.
func (v *visit) take(all *shop.Records, k Kind, rows []row, n int) {
	switch k {
	case Order:
		all.Order = leading(rows, n, func(r row) (shop.Order, bool) { return v.asOrder(r), true })
	case Payment:
		all.Payments = leading(rows, n, v.payment)
	case Fulfillment:
		all.Fulfillments = leading(rows, n, v.fulfillment)
	case Refund:
		all.Refunds = leading(rows, n, v.refund)
	case Return:
		all.Returns = leading(rows, n, v.returned)
	}
}

func leading[T any](rows []row, n int, read func(row) (T, bool)) (found shop.Rows[T]) {
	for _, r := range rows {
		if one, counts := read(r); counts && len(found.All) < n {
			found.All = append(found.All, one)
		}
	}
	return found
}

package connector

import (
	"context"
	"database/sql"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Shared looks at some refunds and counts the references that stand on more than one. Such rows are read as one refund, of which
// the latest counts. So a reference that stands on refunds of two orders, or of two amounts, is an error: it names a payment or a
// way to pay, and an attempt that failed later would hide the refund that did not.
func (s *Shop) Shared(ctx context.Context, rows int) (references int, err error) {
	r, err := s.way(Refund)
	at, named := r.place("reference")
	if err != nil || !named {
		return 0, err
	}
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		v := &visit{Shop: s, tx: tx}
		found, err := v.ask(ctx, r, s.d.sample(r, rows))
		if err != nil {
			return err
		}
		references, err = v.shared(at.column.Name, found)
		return err
	})
	return references, err
}

func (v *visit) shared(column string, rows []row) (references int, err error) {
	type refund struct {
		shop.Refund
		order string
	}
	first, again := map[string]refund{}, map[string]bool{}
	for _, r := range rows {
		one, counts := v.refund(r)
		if !counts || one.Reference == "" {
			continue
		}
		other, twice := first[one.Reference]
		switch {
		case !twice:
			first[one.Reference] = refund{one, r.key()}
		case other.ID == one.ID && other.order == r.key(): // a join met it twice
		case other.order != r.key():
			return 0, noReference("%s of the refunds %s and %s of two orders is %q, so it is no reference of one refund", column, other.ID, one.ID, one.Reference)
		case one.Amount.Money != nil && other.Amount.Money != nil && *one.Amount.Money != *other.Amount.Money:
			return 0, noReference("%s of the refunds %s and %s of two amounts is %q, so it is no reference of one refund", column, other.ID, one.ID, one.Reference)
		default:
			again[one.Reference] = true
		}
	}
	return len(again), nil
}

func noReference(format string, texts ...string) *countersign.Error {
	var all []any
	for _, text := range texts {
		all = append(all, shown(text))
	}
	return countersign.Errorf(countersign.Unprocessed, format, all...).In("entities.refund.columns.reference").
		Try("name the column that only the same refund has twice, or leave the reference out: every row then is a refund of its own")
}

package setup

import (
	"context"
	"errors"
	"fmt"

	"countersign"
	"countersign/desk/merchant/connector"
)

// Trial is what a mapping reads of a shop before it is kept, for a person to judge.
type Trial struct {
	Rights connector.Rights
	Slow   []string // reads that look through a whole table
	Lost   []string // rows that lead to no order, as sentences without their end
	Shared string   // references that stand on more than one refund, as such a sentence; empty when none does
	Rows   map[connector.Kind]connector.Sampled
}

// mostRows is how many rows of each kind of record a person is shown.
const mostRows = 5

// Try connects as a mapping says, refuses a role that can write, looks every name up in the live catalog and reads a few rows of
// each kind of record. The first thing that is wrong is the error; so is a kind of which no row leads to an order, for its records
// would be missing from every order and would look like none at all, and a reference that makes two refunds one. Nothing is kept.
func Try(ctx context.Context, m connector.Mapping) (t Trial, err error) {
	if t.Rights, err = connector.Probe(ctx, m.Driver, m.DSN); err != nil {
		return t, err
	}
	s, err := connector.Open(ctx, m)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	catalog, err := s.Catalog(ctx)
	if err != nil {
		return t, err
	}
	if err := Faults(m, catalog); err != nil {
		return t, err
	}
	return t, t.read(ctx, s, m)
}

// Faults is the first thing that is wrong with a mapping, by itself or for a catalog.
func Faults(m connector.Mapping, c connector.Catalog) error {
	for _, all := range [][]*countersign.Error{m.Faults(), m.Check(c)} {
		if len(all) > 0 {
			return all[0]
		}
	}
	return nil
}

func (t *Trial) read(ctx context.Context, s *connector.Shop, m connector.Mapping) (err error) {
	t.Rows = map[connector.Kind]connector.Sampled{}
	for _, k := range m.Kinds() {
		if err := t.follow(ctx, s, k, m.Entities[k]); err != nil {
			return err
		}
		if t.Rows[k], err = s.Samples(ctx, k, mostRows); err != nil {
			return err
		}
	}
	if t.Shared, err = shared(ctx, s); err != nil {
		return err
	}
	t.Slow, err = s.Plan(ctx)
	return err
}

// mostCompared is how many refunds are looked at for references that stand on more than one.
const mostCompared = 2_000

// shared says what it means that refunds have the same reference, where some do.
func shared(ctx context.Context, s *connector.Shop) (string, error) {
	n, err := s.Shared(ctx, mostCompared)
	switch {
	case countersign.KindOf(err) == countersign.Unavailable:
		return "whether two refunds have the same reference could not be found out in time: rows with the same one are read as one refund, of which the latest counts", nil
	case err != nil || n == 0:
		return "", err
	case n == 1:
		return "one reference stands on more than one row: they are read as one refund, of which the latest counts", nil
	}
	return fmt.Sprintf("%d references stand on more than one row each: rows with the same one are read as one refund, of which the latest counts", n), nil
}

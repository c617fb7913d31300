package connector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign"
)

// What trying ways may cost: a person waits for the page.
const (
	mostTried  = 60
	tryingTime = 12 * time.Second
	rowsTried  = 50
)

// Ways are how the rows of a kind may find their orders, each tried on some rows, those that lead to orders first. They are what
// keys and names say; when none of these leads to an order, what is in the rows is looked for among the keys of orders and of the
// tables that have a way to them. What could not be tried in time is as if its table were empty.
func (s *Shop) Ways(ctx context.Context, k Kind) ([]Way, error) {
	orders, err := s.way(Order)
	if err != nil {
		return nil, err
	}
	e := s.mapping.Entities[k]
	t, ok := s.catalog.Table(e.Schema, e.Table)
	if !ok || len(orders.tables) == 0 {
		return nil, countersign.Errorf(countersign.Unprocessed, "the database has no table %s that this role may read", shown(e.Table)).In("entities." + string(k) + ".table")
	}
	ctx, cancel := context.WithTimeout(ctx, tryingTime)
	defer cancel()
	trial := &trial{Shop: s, kind: k, from: t}
	all := trial.each(ctx, Ways(s.catalog, t, orders.tables[0], orders.key.column.Name))
	if !slices.ContainsFunc(all, Way.Leads) {
		for _, w := range trial.each(ctx, byValues(s.catalog, s.d, t, orders)) {
			if w.Leads() && !slices.ContainsFunc(all, w.same) {
				all = append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Way) int { return rank(a) - rank(b) })
	return all, nil
}

func rank(w Way) int {
	if w.Leads() {
		return 0
	}
	return 1
}

// trial tries ways of one table, and stops when that takes too long.
type trial struct {
	*Shop
	kind  Kind
	from  Table
	tried int
	over  bool
}

func (t *trial) each(ctx context.Context, ways []Way) []Way {
	for i := range ways {
		if t.tried++; t.over || t.tried > mostTried {
			continue
		}
		r, ok := t.along(t.kind, t.from, ways[i])
		if !ok {
			continue
		}
		f, err := t.follow(ctx, r, rowsTried)
		if err != nil {
			t.over = countersign.KindOf(err) == countersign.Unavailable || errors.Is(err, context.DeadlineExceeded)
			continue
		}
		ways[i].Tried = f
	}
	return ways
}

// byValues are the ways that only values could speak for: from each column of a table to the key of orders, and to the key of each
// table that has a way to them.
func byValues(c Catalog, d dialect, from Table, orders route) (ways []Way) {
	key, table := orders.key.column, orders.tables[0]
	for _, column := range from.Columns {
		if from.alone(column.Name) {
			continue
		}
		if d.alike(column, key) {
			ways = append(ways, Way{OrderKey: column.Name, Says: fmt.Sprintf("by what is in %s", shown(column.Name)), ByValue: true})
		}
		for _, to := range c.Tables {
			known, ok := to.Column(KeyOf(to))
			if !ok || to.Name == from.Name || to.Name == table.Name || !d.alike(column, known) {
				continue
			}
			for _, w := range direct(to, table, key.Name) {
				over := step{On{column.Name, known.Name}, from, to, fmt.Sprintf("what is in %s is in %s of %s", shown(column.Name), shown(known.Name), shown(to.Name))}
				w = over.then(w)
				w.ByValue = true
				ways = append(ways, w)
			}
		}
	}
	return ways
}

// alike reports whether two columns may hold the same keys.
func (d dialect) alike(a, b Column) bool {
	f, g := d.family(a), d.family(b)
	keys := []family{integers, texts, padded, uuids, decimals}
	return slices.Contains(keys, f) && slices.Contains(keys, g) && f.number() == g.number()
}

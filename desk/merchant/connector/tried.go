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
// tables whose rows lead to them. What could not be tried in time is as if its table were empty.
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
	trial := &trial{Shop: s, kind: k, from: t, orders: orders.tables[0], key: orders.key.column}
	all := trial.each(ctx, t, Ways(s.catalog, t, orders.tables[0], orders.key.column.Name))
	if !slices.ContainsFunc(all, Way.Leads) {
		all = append(all, trial.byValues(ctx, all)...)
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
	kind   Kind
	from   Table
	orders Table
	key    Column // of orders
	tried  int
	over   bool
}

func (t *trial) each(ctx context.Context, from Table, ways []Way) []Way {
	for i := range ways {
		if t.tried++; t.over || t.tried > mostTried {
			continue
		}
		r, ok := t.along(t.kind, from, ways[i])
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

// leading are those of some ways that lead to orders.
func (t *trial) leading(ctx context.Context, from Table, ways []Way) []Way {
	return slices.DeleteFunc(t.each(ctx, from, ways), func(w Way) bool { return !w.Leads() })
}

// byValues are the ways that lead to orders and that only values speak for, beside those that were tried: from a column of the table
// to the key of orders, or to another table from which there is a way.
func (t *trial) byValues(ctx context.Context, tried []Way) []Way {
	ways := t.leading(ctx, t.from, t.valued(t.from))
	for _, to := range t.between() {
		var over []Way
		for _, leg := range t.legs(ctx, to) {
			for _, s := range t.reaching(to) {
				w := s.then(leg)
				w.ByValue = true
				over = append(over, w)
			}
		}
		over = slices.DeleteFunc(distinct(over), func(w Way) bool { return slices.ContainsFunc(tried, w.same) })
		ways = append(ways, t.leading(ctx, t.from, over)...)
	}
	return ways
}

// valued are the columns of a table that may hold the key of orders, whatever they are called.
func (t *trial) valued(from Table) (ways []Way) {
	for _, column := range from.Columns {
		if !from.alone(column.Name) && t.d.alike(column, t.key) {
			ways = append(ways, Way{OrderKey: column.Name, Says: fmt.Sprintf("by what is in %s", shown(column.Name)), ByValue: true})
		}
	}
	return ways
}

// between are the tables that a way may lead over. Those that name an order come first, and of each kind those that the mapping
// reads: a refund is of a payment more often than of anything else, and not every table can be tried.
func (t *trial) between() []Table {
	likely := func(to Table) (rank int) {
		if len(direct(to, t.orders, t.key.Name)) == 0 {
			rank = 2
		}
		if _, mapped := t.mapped(to); !mapped {
			rank++
		}
		return rank
	}
	all := slices.DeleteFunc(slices.Clone(t.catalog.Tables), func(to Table) bool { return to.Name == t.from.Name || to.Name == t.orders.Name })
	slices.SortStableFunc(all, func(a, b Table) int { return likely(a) - likely(b) })
	return all
}

// mapped is what the mapping reads of a table.
func (t *trial) mapped(to Table) (Entity, bool) {
	for _, e := range t.mapping.Entities {
		if found, ok := t.catalog.Table(e.Schema, e.Table); ok && found.Schema == to.Schema && found.Name == to.Name {
			return e, true
		}
	}
	return Entity{}, false
}

// legs are how the rows of a table between may find their orders: by a column that is named so, else by one whose values lead there.
func (t *trial) legs(ctx context.Context, to Table) []Way {
	if named := direct(to, t.orders, t.key.Name); len(named) > 0 {
		return named
	}
	if len(t.reaching(to)) == 0 {
		return nil
	}
	return t.leading(ctx, to, t.valued(to))
}

// reaching are the steps from the table to one between: those that names speak for, and from each column that may hold its key.
func (t *trial) reaching(to Table) []step {
	all := steps(Catalog{Tables: []Table{to}}, t.from, t.orders)
	name := KeyOf(to)
	if e, _ := t.mapped(to); name == "" && e.Columns["id"] != LineColumn {
		name = e.Columns["id"]
	}
	key, ok := to.Column(name)
	for _, column := range t.from.Columns {
		if ok && !t.from.alone(column.Name) && t.d.alike(column, key) {
			all = append(all, step{On{column.Name, key.Name}, t.from, to, fmt.Sprintf("what is in %s is in %s of %s", shown(column.Name), shown(key.Name), shown(to.Name))})
		}
	}
	return all
}

// alike reports whether two columns may hold the same keys. A column of SQLite without a type may hold whatever the other does.
func (d dialect) alike(a, b Column) bool {
	f, g := d.family(a), d.family(b)
	keys := []family{integers, texts, padded, uuids, decimals}
	if d == SQLite && (f == others || g == others) {
		return (f == others || slices.Contains(keys, f)) && (g == others || slices.Contains(keys, g))
	}
	return slices.Contains(keys, f) && slices.Contains(keys, g) && f.number() == g.number()
}

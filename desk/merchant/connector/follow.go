package connector

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
)

// Followed is what became of some rows of one kind that were followed to their orders.
type Followed struct {
	Rows int      // how many were looked at
	Lost int      // how many of these lead to no order that there is
	Held string   // what one of the lost holds where it should hold the key of an order; empty when it holds nothing
	Key  string   // where that is: "order_id of refunds"
	Of   string   // and what it should be equal to: "id of orders"
	IDs  []string // of a few of the lost, as far as the mapping says what their id is
	Own  bool     // that is what tells the rows themselves apart, and no declared key says that it is an order's
}

// Follow looks at a few rows of one kind and at whether each leads to an order that there is, along the mapping's way: one
// question to the database, however large the tables are.
func (s *Shop) Follow(ctx context.Context, k Kind, rows int) (f Followed, err error) {
	r, err := s.way(k)
	if err != nil {
		return f, err
	}
	return s.follow(ctx, r, rows)
}

func (s *Shop) follow(ctx context.Context, r route, rows int) (f Followed, err error) {
	orders, err := s.way(Order)
	if err != nil {
		return f, err
	}
	if len(r.tables) == 0 || len(orders.tables) == 0 {
		return f, countersign.Errorf(countersign.Invalid, "the mapping does not say where %s and orders are", r.kind.plural()).In("entities")
	}
	f.Key = shown(r.key.column.Name) + " of " + shown(r.tables[r.key.table].Name)
	f.Of = shown(orders.key.column.Name) + " of " + shown(orders.tables[0].Name)
	f.Own = r.key.table == 0 && r.tables[0].alone(r.key.column.Name) &&
		!slices.ContainsFunc(direct(r.tables[0], orders.tables[0], orders.key.column.Name), func(w Way) bool { return w.OrderKey == r.key.column.Name })
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		limited, cancel := context.WithTimeout(ctx, s.bounds.query+s.d.grace())
		defer cancel()
		led := map[string]bool{}
		return f.counting(led, ask(limited, tx, s.d.following(r, orders, rows), func(cells []cell) { f.take(led, cells) }))
	})
	if at, named := r.place("id"); !named || at.table != 0 { // they were told apart by what they hold of an order
		f.IDs = nil
	}
	return f, err
}

// take takes a line of the answer: which row it is, what it holds of an order's key, and the order's own. A join may meet a row
// more than once, and it is enough that one of these leads to an order.
func (f *Followed) take(led map[string]bool, line []cell) {
	id := line[0].text
	if line[0].null || id == "" {
		id = fmt.Sprintf("\x00%d", len(led)) // a row without an id is one of its own
	}
	led[id] = led[id] || !line[2].null
	if line[2].null && f.Held == "" {
		f.Held = shown(line[1].text)
	}
}

func (f *Followed) counting(led map[string]bool, err error) error {
	const few = 3
	for _, id := range slices.Sorted(maps.Keys(led)) {
		f.Rows++
		if led[id] {
			continue
		}
		if f.Lost++; len(f.IDs) < few && !strings.HasPrefix(id, "\x00") {
			f.IDs = append(f.IDs, shown(id))
		}
	}
	return err
}

// along is the way of rows of one kind when they go another way than the mapping says. Its tables may be read from now on.
func (s *Shop) along(k Kind, t Table, w Way) (route, bool) {
	e := w.On(Entity{Schema: t.Schema, Table: t.Name, Columns: map[string]string{}})
	if key := KeyOf(t); key != "" {
		e.Columns["id"] = key
	}
	m := s.mapping.clone()
	m.Entities[k] = e
	r, wrong := m.route(k, s.catalog)
	tables := slices.Clone(r.tables)
	for _, other := range s.routes {
		tables = append(tables, other.tables...)
	}
	s.may.allow(s.catalog, tables)
	return r, len(wrong) == 0
}

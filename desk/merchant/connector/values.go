package connector

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Value is a text that a column holds, and in how many rows. A column that is empty in some rows has a Value with Empty.
type Value struct {
	Text  string
	Empty bool
	Count int64
}

// Values are the different texts that a column of one of the mapping's tables holds, the most frequent first, at most so many;
// more reports that there are others. A table that is too large to look through in time is an error of the kind unavailable.
func (s *Shop) Values(ctx context.Context, schema, table, column string, most int) (all []Value, more bool, err error) {
	t, ok := s.catalog.Table(schema, table)
	if !ok {
		return nil, false, countersign.Errorf(countersign.Unprocessed, "the database has no table %s that this role may read", shown(table)).In("table").Try(near(table, s.catalog.tableNames()))
	}
	c, ok := t.Column(column)
	if !ok {
		return nil, false, countersign.Errorf(countersign.Unprocessed, "%s has no column %s", shown(table), shown(column)).In("column").Try(near(column, t.columnNames()))
	}
	rows := 0
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return ask(ctx, tx, s.d.distinct(t, c, most+1), func(cells []cell) {
			if rows++; rows <= most {
				all = tallied(all, cells)
			}
		})
	})
	return all, rows > most, err
}

// tallied adds a value and how often it is there. Blanks around a text make no other state of it.
func tallied(all []Value, cells []cell) []Value {
	text, empty := strings.TrimSpace(cells[0].text), cells[0].null
	count, _ := strconv.ParseInt(cells[1].text, 10, 64) // the database counted
	i := slices.IndexFunc(all, func(v Value) bool { return v.Text == text && v.Empty == empty })
	if i < 0 {
		return append(all, Value{text, empty, count})
	}
	all[i].Count += count
	return all
}

// Unsorted is a status that the shop has and its mapping does not explain: every record with it is unknown until a person says
// what it means.
type Unsorted struct {
	Kind Kind
	Value
}

// Unsorted finds the statuses that are in no list of the mapping, of the 200 most frequent of each kind. Rows without a status are
// not among them: nobody could sort those. Nor are those of a table that is too large to look through in time: each order that is
// read says so of its own. It counts whole tables: ask now and then.
func (s *Shop) Unsorted(ctx context.Context) (all []Unsorted, err error) {
	const most = 200
	for _, k := range Kinds[1:] {
		r, err := s.way(k)
		at, named := r.place("status")
		if err != nil || !named {
			continue
		}
		values, _, err := s.Values(ctx, r.tables[at.table].Schema, r.tables[at.table].Name, at.column.Name, most)
		if err != nil && countersign.KindOf(err) != countersign.Unavailable {
			return nil, err
		}
		for _, v := range values {
			if v.Text != "" && s.mapping.Entities[k].stateOf(v.Text) == shop.Unseen {
				all = append(all, Unsorted{k, v})
			}
		}
	}
	return all, nil
}

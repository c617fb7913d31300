package connector

import (
	"fmt"
	"slices"
	"strings"
)

// Way is how a row of one table finds its order.
type Way struct {
	OrderKey string // the column that holds the order's key, when the table has it itself
	Join     Joins  // else the tables in between
	Says     string // the way in words, and what it rests on

	Tried   Followed // what became of some rows that went this way; see Shop.Ways
	ByValue bool     // nothing but values speaks for it, and small numbers are in every table
}

// Leads reports whether rows went this way and met an order.
func (w Way) Leads() bool { return w.Tried.Lost < w.Tried.Rows }

// Likely reports whether a way may be proposed: names or keys speak for it, and no rows speak against it.
func (w Way) Likely() bool { return !w.ByValue && (w.Leads() || w.Tried.Rows == 0) }

// On is an entity that goes this way.
func (w Way) On(e Entity) Entity {
	e.OrderKey, e.Join = w.OrderKey, w.Join
	return e
}

// Ways finds how the rows of a table may find their orders, whose key is in a column of orders, the surest first: a column of its
// own, by a key that the database knows or by its name; then over one table between, then over two.
func Ways(c Catalog, from, orders Table, key string) []Way {
	ways := direct(from, orders, key)
	for _, s := range steps(c, from, orders) {
		for _, w := range direct(s.to, orders, key) {
			ways = append(ways, s.then(w))
		}
	}
	for _, s := range steps(c, from, orders) {
		for _, again := range steps(c, s.to, orders) {
			if again.to.Name == from.Name {
				continue
			}
			for _, w := range direct(again.to, orders, key) {
				ways = append(ways, s.then(again.then(w)))
			}
		}
	}
	return distinct(ways)
}

// direct are the columns of a table that name an order.
func direct(t, orders Table, key string) (ways []Way) {
	if t.Name == orders.Name && t.Schema == orders.Schema {
		return []Way{{OrderKey: key, Says: "each order is a row of it"}}
	}
	for _, f := range t.ForeignKeys {
		if len(f.Columns) == 1 && f.Table == orders.Name && f.Schema == orders.Schema && slices.Equal(f.References, []string{key}) {
			ways = append(ways, Way{OrderKey: f.Columns[0], Says: fmt.Sprintf("%s is a key of %s", shown(f.Columns[0]), shown(orders.Name))})
		}
	}
	for _, column := range t.Columns {
		if !t.alone(column.Name) && (after(column.Name, "order") || after(column.Name, orders.Name)) {
			ways = append(ways, Way{OrderKey: column.Name, Says: fmt.Sprintf("%s is named like the key of an order", shown(column.Name))})
		}
	}
	return ways
}

// step goes from one table to another that it is joined with.
type step struct {
	on   On
	from Table
	to   Table
	says string
}

func (s step) then(w Way) Way {
	j := Join{Schema: s.to.Schema, Table: s.to.Name, On: s.on, OrderKey: w.OrderKey}
	return Way{Join: append(Joins{j}, w.Join...), Says: s.says + ", and there " + w.Says}
}

// steps are the tables that may stand between a row and its order: those that the row has a key of, and those that have a key of
// the row.
func steps(c Catalog, from, orders Table) (all []step) {
	for _, to := range c.Tables {
		if to.Name == from.Name || to.Name == orders.Name || to.View != from.View && to.View {
			continue
		}
		all = append(all, known(from, to)...)
		all = append(all, guessed(from, to)...)
	}
	return all
}

// known are steps along keys that the database has declared.
func known(from, to Table) (all []step) {
	for _, f := range from.ForeignKeys {
		if f.Table == to.Name && f.Schema == to.Schema && len(f.Columns) == 1 && len(f.References) == 1 {
			all = append(all, step{On{f.Columns[0], f.References[0]}, from, to, fmt.Sprintf("%s is a key of %s", shown(f.Columns[0]), shown(to.Name))})
		}
	}
	return all
}

// guessed are steps along columns that are named alike: both have payment_collection_id, or one has fulfillment_id and the other
// is fulfillment.
func guessed(from, to Table) (all []step) {
	for _, a := range from.Columns {
		if key := KeyOf(to); key != "" && after(a.Name, to.Name) {
			all = append(all, step{On{a.Name, key}, from, to, fmt.Sprintf("%s is named after %s", shown(a.Name), shown(to.Name))})
		}
		if !strings.HasSuffix(folded(a.Name), "id") || folded(a.Name) == "id" {
			continue
		}
		for _, b := range to.Columns {
			if folded(a.Name) == folded(b.Name) && !everywhere(a.Name) {
				all = append(all, step{On{a.Name, b.Name}, from, to, fmt.Sprintf("%s has %s too", shown(to.Name), shown(a.Name))})
			}
		}
	}
	for _, b := range to.Columns {
		if key := KeyOf(from); key != "" && folded(b.Name) == singular(folded(from.Name))+"id" {
			all = append(all, step{On{key, b.Name}, from, to, fmt.Sprintf("%s has %s", shown(to.Name), shown(b.Name))})
		}
	}
	return all
}

// after reports whether a column is named after a table: charge, charge_id, chargeNr for charges.
func after(column, table string) bool {
	rest, ok := strings.CutPrefix(folded(column), singular(folded(table)))
	return ok && slices.Contains([]string{"", "id", "nr", "no", "num", "number", "key", "ref", "code", "uuid"}, rest)
}

// alone reports whether a column by itself tells a table's rows apart: whatever it is called, it names them and not their orders.
func (t Table) alone(column string) bool { return len(t.Key) == 1 && t.Key[0] == column }

// everywhere reports whether a column is one that many tables have, and that leads from one to the other without meaning anything.
func everywhere(column string) bool {
	return slices.Contains([]string{"userid", "customerid", "shopid", "storeid", "tenantid", "orderid", "returnid", "claimid", "exchangeid"}, folded(column))
}

func singular(name string) string { return strings.TrimSuffix(name, "s") }

// distinct keeps the first of ways that are the same, and not more than a person would read.
func distinct(ways []Way) (some []Way) {
	const most = 12
	for _, w := range ways {
		if !slices.ContainsFunc(some, w.same) && len(some) < most {
			some = append(some, w)
		}
	}
	return some
}

func (w Way) same(other Way) bool {
	return other.OrderKey == w.OrderKey && slices.Equal(other.Join, w.Join)
}

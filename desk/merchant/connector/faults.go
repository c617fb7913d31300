package connector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
)

// faults collects what is wrong with a mapping, each with its field.
type faults struct{ all []*countersign.Error }

func (f *faults) add(field, format string, args ...any) *countersign.Error {
	f.all = append(f.all, countersign.Errorf(countersign.Invalid, format, args...).In(field))
	return f.all[len(f.all)-1]
}

// Faults is everything that is wrong with a mapping by itself, before any database is asked: see Check for the rest. In the
// order of the form; empty when nothing is.
func (m Mapping) Faults() []*countersign.Error {
	f := &faults{}
	if strings.TrimSpace(m.Name) == "" || len(m.Name) > 64 {
		f.add("name", "a mapping has a name of 1 to 64 letters").Try(`such as "shop"`)
	}
	if m.Driver != SQLite && m.Driver != Postgres && m.Driver != MySQL {
		f.add("driver", "%q is not a kind of database that can be read", shown(m.Driver)).Try("write sqlite, postgres or mysql; mysql is for MariaDB too")
	}
	f.usual("", m.Zone, m.Currency, m.Unit)
	for _, k := range slices.Sorted(maps.Keys(m.Entities)) {
		if _, known := forms[k]; !known {
			f.add("entities."+shown(string(k)), "there is no such kind of record")
		}
	}
	if _, ok := m.Entities[Order]; !ok {
		f.add("entities.order", "missing: without the table of orders nothing can be found")
	}
	for _, k := range Kinds {
		if e, ok := m.Entities[k]; ok {
			f.entity(m, k, e)
		}
	}
	return f.all
}

// usual looks at what a mapping may say for all its entities, and each entity for itself.
func (f *faults) usual(path, zone, currency, unit string) {
	if _, err := zoneOf(zone); err != nil {
		f.add(below(path, "zone"), "%v", err).Try("write a name such as Europe/Berlin, UTC, an offset such as +01:00, or unix or unix_ms for counted seconds")
	}
	if currency != "" && !countersign.KnownCurrency(currency) {
		f.add(below(path, "currency"), "%q is not a currency", shown(currency)).Try("expected a code of ISO 4217 in capitals, such as EUR or USD; a column goes into columns.currency")
	}
	if unit != "" && unit != Major && unit != Minor {
		f.add(below(path, "unit"), "%q is not a unit", shown(unit)).Try("write major when the column says 49.90, minor when it says 4990")
	}
}

func (f *faults) entity(m Mapping, k Kind, e Entity) {
	path := "entities." + string(k)
	if e.Table == "" {
		f.add(below(path, "table"), "missing: which table holds the %s?", k.plural())
	}
	f.usual(path, e.Zone, e.Currency, e.Unit)
	f.keys(path, k, e)
	f.columns(path, k, e)
	f.conditions(below(path, "where"), e.Where)
	f.states(path, k, e)
	f.money(path, m, k, e)
}

func (f *faults) keys(path string, k Kind, e Entity) {
	if k == Order {
		f.orderItself(path, e)
		return
	}
	if e.Key != "" {
		f.add(below(path, "key"), "only an order has a key here").Try("columns.id is the row's own id, order_key the order's")
	}
	if len(e.Join) == 0 {
		if e.OrderKey == "" {
			f.add(below(path, "order_key"), "missing: which column says whose order it is?").Try("a link table goes into join")
		}
		return
	}
	if e.OrderKey != "" {
		f.add(below(path, "order_key"), "with a join, the joined table has the order's key").Try("move it into join")
	}
	for i, j := range e.Join {
		f.join(joinPath(path, e.Join, i), j, i == len(e.Join)-1)
	}
}

func (f *faults) orderItself(path string, e Entity) {
	if e.Key == "" {
		f.add(below(path, "key"), "missing: which column do the other tables mean by an order?")
	}
	if e.OrderKey != "" {
		f.add(below(path, "order_key"), "an order has a key and no order_key")
	}
	if len(e.Join) > 0 {
		f.add(below(path, "join"), "an order is read from one table").Try("make a view that joins what belongs together, and name the view")
	}
}

func (f *faults) join(path string, j Join, last bool) {
	if j.Table == "" {
		f.add(below(path, "table"), "missing: which table is joined?")
	}
	if j.On.Left == "" || j.On.Right == "" {
		f.add(below(path, "on"), "missing: which columns are equal?").Try(`write "column" when both tables call it that, else "left = right"`)
	}
	switch {
	case last && j.OrderKey == "":
		f.add(below(path, "order_key"), "missing: which column of %s is the order's key?", shown(j.Table))
	case !last && j.OrderKey != "":
		f.add(below(path, "order_key"), "only the last joined table has the order's key")
	}
}

// joinPath is where a join stands in the document.
func joinPath(path string, all Joins, i int) string { return oneOf(below(path, "join"), len(all), i) }

func oneOf(path string, all, i int) string {
	if all == 1 {
		return path
	}
	return fmt.Sprintf("%s[%d]", path, i)
}

func (f *faults) columns(path string, k Kind, e Entity) {
	path = below(path, "columns")
	for _, name := range slices.Sorted(maps.Keys(e.Columns)) {
		switch {
		case !slices.Contains(forms[k].columns, name):
			f.add(below(path, name), "nothing of that name is read of %s", k.plural()).Try(near(name, forms[k].columns))
		case e.Columns[name] == "":
			f.add(below(path, name), "no column is named").Try("leave the field out when the shop has none")
		}
	}
	for _, name := range forms[k].needed {
		if _, ok := e.Columns[name]; !ok {
			f.add(below(path, name), "missing: %s cannot be read without it", k.plural())
		}
	}
}

func (f *faults) conditions(path string, all Conditions) {
	for i, c := range all {
		at := oneOf(path, len(all), i)
		if c.Column == "" {
			f.add(below(at, "column"), "missing: which column is looked at?")
		}
		said := 0
		for _, yes := range []bool{c.IsNull, c.NotNull, c.Equals != nil} {
			if yes {
				said++
			}
		}
		if said != 1 {
			f.add(at, "a condition says one thing, this says %d", said).Try(`write one of "is_null": true, "not_null": true and "equals": "…"`)
		}
	}
}

func (f *faults) states(path string, k Kind, e Entity) {
	at := below(path, "states")
	sorted := map[string]string{} // status → the list that has it
	for _, list := range slices.Sorted(maps.Keys(e.States)) {
		if !slices.Contains(forms[k].states, list) {
			f.add(below(at, list), "%s are not sorted into that", k.plural()).Try(near(list, forms[k].states))
		}
		for i, status := range e.States[list] {
			f.status(fmt.Sprintf("%s[%d]", below(at, list), i), list, strings.TrimSpace(status), sorted)
		}
	}
	_, named := e.Columns["status"]
	switch {
	case k == Order:
	case named && len(sorted) == 0:
		f.add(at, "nothing says what a status of these %s means, so every one would be unknown", k.plural()).Try("sort the statuses that the shop has into " + strings.Join(forms[k].states, ", "))
	case !named && len(e.States) > 0:
		f.add(below(path, "columns.status"), "missing: states are the values of that column")
	case !named && len(e.Where) == 0 && (k == Payment || k == Refund):
		f.add(below(path, "columns.status"), "missing: which of these rows are %s that happened?", k.plural()).
			Try(`name a column with a status, or say in where which rows count, such as {"column": "deleted_at", "is_null": true}; every row is {"column": "…the id…", "not_null": true}`)
	}
}

func (f *faults) status(at, list, status string, sorted map[string]string) {
	switch other, twice := sorted[status]; {
	case status == "":
		f.add(at, "an empty status means nothing: it is always unknown")
	case twice && other != list:
		f.add(at, "%q stands in %s and in %s", shown(status), other, list).Try("keep it in one of the two")
	case twice:
		f.add(at, "%q stands in %s twice", shown(status), list)
	}
	sorted[status] = list
}

func (f *faults) money(path string, m Mapping, k Kind, e Entity) {
	if e.Sign != "" && (e.Sign != NegativeIsRefund || k != Payment && k != Refund) {
		f.add(below(path, "sign"), "%q is not a sign of %s", shown(e.Sign), k.plural()).Try("payments and refunds may have negative_is_refund: rows below zero are refunds")
	}
	if _, ok := e.Columns[k.amount()]; !ok {
		return
	}
	if m.unit(e) == "" {
		f.add(below(path, "unit"), "missing: is an amount of 4990 four thousand or forty-nine?").Try("write major or minor, here or for the whole mapping")
	}
	if _, ok := e.Columns["currency"]; !ok && m.currency(e) == "" {
		f.add(below(path, "currency"), "missing: in which currency are the amounts?").Try("name a column in columns.currency, or write the currency, here or for the whole mapping")
	}
}

package connector

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Every statement that reads a shop's tables is made here, of texts that stand in this file and in dialect.go, of names that
// were found in the catalog and went through quoted, and of places for values.

// lookup selects the records of one kind that belong to an order, by its key. False when no row could: a key that is no number
// is in no column of numbers.
func (d dialect) lookup(r route, key string, most int) (statement, bool) {
	condition, args, ok := d.equal(r.key, key)
	return d.selecting(r, condition, args, most, true), ok
}

// named selects the orders whose column at a place holds that text.
func (d dialect) named(r route, at place, id string) (statement, bool) {
	const two = 2 // the second shows that a name is not one order's alone
	condition, args, ok := d.equal(at, id)
	return d.selecting(r, condition, args, two, true), ok
}

// sample selects rows of whatever order, as they come.
func (d dialect) sample(r route, most int) statement {
	return d.selecting(r, "1 = 1", nil, most, false)
}

// following selects a few rows of a kind, whether or not they lead anywhere, and beside each what it holds of an order's key, and
// the key of the order that has it. The few are taken before anything is joined, so that a table of any size is as quick.
func (d dialect) following(r, orders route, most int) statement {
	const often = 20 // a row may be joined more than once
	id := r.key
	if at, ok := r.place("id"); ok && at.table == 0 {
		id = at
	}
	order := place{len(r.tables), orders.key.column}
	text, args := d.few(r, id, most)
	for i, l := range r.links {
		text += " LEFT JOIN " + d.table(r.tables[i+1]) + " AS " + alias(i+1) + " ON " + d.linked(place{i, l.left}, place{i + 1, l.right})
	}
	text += " LEFT JOIN " + d.table(orders.tables[0]) + " AS " + alias(order.table) + " ON " + d.linked(r.key, order)
	for _, f := range orders.where {
		condition, more := d.keeps(filter{place{order.table, f.at.column}, f.counted, f.Condition}, len(args)+1)
		text, args = text+" AND "+condition, append(args, more...)
	}
	columns := d.asText(alias(id.table), id.column) + ", " + d.asText(alias(r.key.table), r.key.column) + ", " + d.asText(alias(order.table), order.column)
	return statement{sql: "SELECT " + columns + " FROM " + text + fmt.Sprintf(" LIMIT %d", most*often), args: args}
}

// few are the first rows of a kind's own table that count by what is in it, with what is needed to go on from them.
func (d dialect) few(r route, id place, most int) (text string, args []any) {
	first := r.key
	if len(r.links) > 0 {
		first = place{0, r.links[0].left}
	}
	columns := d.columnAt(first)
	if id.table == 0 && id.column.Name != first.column.Name {
		columns += ", " + d.columnAt(id)
	}
	text = "SELECT " + columns + " FROM " + d.table(r.tables[0]) + " AS " + alias(0) + " WHERE 1 = 1"
	for _, f := range r.where {
		if f.at.table == 0 {
			condition, more := d.keeps(f, len(args)+1)
			text, args = text+" AND "+condition, append(args, more...)
		}
	}
	return "(" + text + fmt.Sprintf(" LIMIT %d", most) + ") AS " + alias(0), args
}

// selecting is the one form that all of them have: the order's key, then every value that the mapping names.
func (d dialect) selecting(r route, condition string, args []any, most int, sorted bool) statement {
	columns := []string{d.asText(alias(r.key.table), r.key.column)}
	for _, p := range r.places {
		columns = append(columns, d.asText(alias(p.table), p.column))
	}
	conditions := []string{condition}
	for _, f := range r.where {
		text, more := d.keeps(f, len(args)+1)
		conditions, args = append(conditions, text), append(args, more...)
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + d.from(r) + " WHERE " + strings.Join(conditions, " AND ")
	if sorted {
		text += " ORDER BY " + d.sorting(r)
	}
	return statement{sql: text + fmt.Sprintf(" LIMIT %d", most), args: args}
}

// sorting is by an expression on purpose: asked for the first few by a column that has an index, a planner may walk the whole
// table along it in the hope of meeting the order's rows soon.
func (d dialect) sorting(r route) string {
	at, ok := r.place("id")
	if !ok {
		at = r.key
	}
	return d.exact(d.comparable(at))
}

func alias(table int) string { return fmt.Sprintf("t%d", table) }

// column is a column of one of the tables.
func (d dialect) columnAt(at place) string { return alias(at.table) + "." + d.quoted(at.column.Name) }

func (d dialect) from(r route) string {
	text := d.table(r.tables[0]) + " AS " + alias(0)
	for i, l := range r.links {
		text += " JOIN " + d.table(r.tables[i+1]) + " AS " + alias(i+1) + " ON " + d.linked(place{i, l.left}, place{i + 1, l.right})
	}
	return text
}

// linked compares two columns, as text where their types would not compare or would compare as floats do. MySQL finds rows by
// a collation that takes ch_1A for ch_1a, so there the text decides once more.
func (d dialect) linked(left, right place) string {
	a, b := d.family(left.column), d.family(right.column)
	asText := d.exact(d.comparable(left)) + " = " + d.exact(d.comparable(right))
	plain := d.columnAt(left) + " = " + d.columnAt(right)
	switch {
	case d == SQLite && (a == others) == (b == others), a == b && a != texts, a.number() && b.number(), a == b && d != MySQL:
		return plain
	case a == b:
		return plain + " AND " + asText
	}
	return asText
}

// comparable is a column as the text that a person would name it by.
func (d dialect) comparable(at place) string {
	if d == SQLite {
		return "CAST(" + d.columnAt(at) + " AS TEXT)"
	}
	return d.asText(alias(at.table), at.column)
}

func (d dialect) keeps(f filter, n int) (string, []any) {
	switch {
	case f.IsNull:
		return "(" + d.unset(f) + ")", nil
	case f.NotNull:
		return "NOT (" + d.unset(f) + ")", nil
	}
	return d.exact(d.comparable(f.at)) + " = " + d.parameter(n), []any{*f.Equals}
}

// unset is whether a column holds nothing, by the rule by which momentOf reads a cell: MySQL's zero date is how old shops say "not
// yet", and a text that plays a date's part says it with no letter at all, a counted time with 0. A refund that was never made has
// such a time and is none; one that nobody deleted has one, and is one.
func (d dialect) unset(f filter) string {
	condition, text := d.columnAt(f.at)+" IS NULL", d.comparable(f.at)
	kind := d.family(f.at.column)
	if kind == texts || kind == padded || kind == others || d == SQLite || d == MySQL && (kind == wallClock || kind == instant) {
		condition += " OR TRIM(" + text + ") = '' OR TRIM(" + text + ") LIKE '" + noDate + "%'"
	}
	if f.counted && (kind.number() || d == SQLite) {
		condition += " OR TRIM(" + text + ") = '0'"
	}
	return condition
}

var (
	wholeNumber = regexp.MustCompile(`^-?\d{1,20}$`)
	plainNumber = regexp.MustCompile(`^-?\d{1,40}(\.\d{1,20})?$`)
	uuid        = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// equal compares a column with a text, in the column's own type, so that an index can be used and nothing is compared as a
// float. False when the text is no value of that type: then no row can have it.
func (d dialect) equal(at place, text string) (condition string, args []any, ok bool) {
	column, first := d.columnAt(at)+" = ", d.parameter(1)
	exactly := d.exact(d.comparable(at)) + " = " + d.parameter(2)
	switch f := d.family(at.column); {
	case f == texts && d != Postgres: // a collation may find too much, and more than are ever read
		return column + first + " AND " + exactly, []any{text, text}, true
	case d == SQLite && f != others:
		return column + first, []any{text}, true
	case f == integers && d == MySQL:
		n, ok := counted(text)
		return column + first, []any{n}, ok
	case f == decimals && d == MySQL:
		return column + "CAST(" + first + " AS DECIMAL(65, 20))", []any{text}, plainNumber.MatchString(text)
	case f == texts:
		return column + "CAST(" + first + " AS text)", []any{text}, true
	case f == padded:
		return column + "CAST(" + first + " AS bpchar)", []any{text}, true
	case f == integers:
		_, err := strconv.ParseInt(text, 10, 64)
		return column + "CAST(" + first + " AS bigint)", []any{text}, err == nil && wholeNumber.MatchString(text)
	case f == decimals:
		return column + "CAST(" + first + " AS numeric)", []any{text}, plainNumber.MatchString(text)
	case f == uuids:
		return column + "CAST(" + first + " AS uuid)", []any{text}, uuid.MatchString(text)
	}
	return d.exact(d.comparable(at)) + " = " + first, []any{text}, true
}

// counted is a whole number as the widest type that holds it: MySQL compares a text with a number as floats, which have
// fifteen digits.
func counted(text string) (any, bool) {
	if !wholeNumber.MatchString(text) {
		return nil, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// distinct counts the values of a column, the most frequent first.
func (d dialect) distinct(t Table, c Column, most int) statement {
	text := d.exact(d.comparable(place{0, c}))
	return statement{sql: "SELECT " + text + ", COUNT(*) FROM " + d.table(t) + " AS t0 GROUP BY 1 ORDER BY 2 DESC, 1" + fmt.Sprintf(" LIMIT %d", most)}
}

// explained asks how a statement would be carried out, and carries nothing out. PostgreSQL reads a small table whole even where
// it has an index, so there it is told not to if it can.
func (d dialect) explained(s statement) statement {
	switch d {
	case Postgres:
		return statement{sql: "EXPLAIN (FORMAT JSON) " + s.sql, args: s.args}
	case MySQL:
		return statement{sql: "EXPLAIN " + s.sql, args: s.args}
	}
	return statement{sql: "EXPLAIN QUERY PLAN " + s.sql, args: s.args}
}

// probing asks how a row of a table would be changed, which is refused to who may not, and changes nothing.
func (d dialect) probing(t Table, c Column) statement {
	column := d.quoted(c.Name)
	return statement{sql: "EXPLAIN UPDATE " + d.table(t) + " SET " + column + " = " + column}
}

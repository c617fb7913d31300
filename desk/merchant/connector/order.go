package connector

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Order reads everything about one order, named by its key or its number, in one snapshot of the shop's database. No such order
// is an empty list of orders. It returns no error: each kind of record that could not be read says why, and is never empty
// without saying so.
func (s *Shop) Order(ctx context.Context, id string) shop.Records {
	all, changed := s.read(ctx, id)
	if changed {
		return s.readAgain(ctx, id, all)
	}
	return all
}

// read reads an order with the catalog as it was. It reports whether something was not as the catalog says.
func (s *Shop) read(ctx context.Context, id string) (all shop.Records, changed bool) {
	v := &visit{Shop: s}
	err := s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		v.tx = tx
		all = v.records(ctx, id)
		return nil
	})
	if err != nil {
		return Unreachable(err), false
	}
	return all, v.changed
}

// readAgain reads an order after the shop was changed under us: with the catalog as it is now, which can also say what is gone.
func (s *Shop) readAgain(ctx context.Context, id string, before shop.Records) shop.Records {
	catalog, err := s.Catalog(ctx)
	if err != nil {
		return before
	}
	now := *s
	now.catalog = catalog
	now.survey()
	all, _ := now.read(ctx, id)
	return all
}

// visit is one transaction in a shop's database.
type visit struct {
	*Shop
	tx      *sql.Tx
	changed bool // a statement met tables that are not as the catalog says
}

// row is what was read of one record, by the names of the mapping.
type row map[string]cell

// ask runs one statement, and when it fails leaves the transaction as it was: in PostgreSQL an error would be the end of it.
func (v *visit) ask(ctx context.Context, r route, s statement) (rows []row, err error) {
	if v.d == Postgres {
		if err := tell(ctx, v.tx, statement{sql: "SAVEPOINT kind"}); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, v.bounds.query+v.d.grace())
	defer cancel()
	err = ask(limited, v.tx, s, func(cells []cell) {
		found := row{"": cells[0]}
		for i, name := range r.names {
			found[name] = cells[i+1]
		}
		rows = append(rows, found)
	})
	v.changed = v.changed || err != nil && outdated(causeOf(err))
	if err != nil && v.d == Postgres {
		err = errors.Join(err, tell(ctx, v.tx, statement{sql: "ROLLBACK TO SAVEPOINT kind"}))
	}
	return rows, err
}

// grace is how much longer than its own limit a server may take to stop. SQLite has no server and no limit but ours.
func (d dialect) grace() time.Duration {
	if d == SQLite {
		return 0
	}
	return 3 * time.Second
}

// key is the order's key in a row.
func (r row) key() string { return r[""].text }

func (v *visit) records(ctx context.Context, id string) (all shop.Records) {
	found, key, why := v.order(ctx, id)
	all.Order = found
	all.Payments = belonging(ctx, v, Payment, key, why, v.payment)
	all.Fulfillments = belonging(ctx, v, Fulfillment, key, why, v.fulfillment)
	all.Refunds = belonging(ctx, v, Refund, key, why, v.refund)
	all.Returns = belonging(ctx, v, Return, key, why, v.returned)
	return all
}

// order finds the order and its key. Without a key, why says why nothing that belongs to the order can be looked for.
func (v *visit) order(ctx context.Context, id string) (found shop.Rows[shop.Order], key, why string) {
	if _, ok := v.mapping.Entities[Order]; !ok {
		return shop.Rows[shop.Order]{Unmapped: true}, "", "the mapping does not say where orders are"
	}
	rows, err := v.called(ctx, id)
	switch {
	case err != nil:
		says := sentence(failure(err))
		if _, numbered := v.mapping.Entities[Order].Columns["number"]; !numbered && !errors.As(err, new(ambiguous)) {
			key = id // the order cannot be read, but this is its key: what belongs to it can be looked for
		}
		return shop.Rows[shop.Order]{Unread: says}, key, "the order could not be read, so what belongs to it could not be looked for: " + says
	case len(rows) == 0:
		return shop.Rows[shop.Order]{}, "", fmt.Sprintf("the shop's database has no order %s, so nothing that belongs to it could be looked for", shown(id))
	case rows[0].key() == "":
		why = "the order has no key, so nothing that belongs to it could be looked for"
	}
	return shop.Rows[shop.Order]{All: []shop.Order{v.asOrder(rows[0])}}, rows[0].key(), why
}

// ambiguous is a name that several orders answer to.
type ambiguous struct{ err *countersign.Error }

func (a ambiguous) Error() string { return a.err.Error() }
func (a ambiguous) Unwrap() error { return a.err }

// called finds the order with that key or number, compared as text. At most one is returned.
func (v *visit) called(ctx context.Context, id string) ([]row, error) {
	r, err := v.way(Order)
	if err != nil {
		return nil, err
	}
	if id == "" || len(id) > 200 || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return nil, nil // no database has an order of that name, and some would not take the question
	}
	var all []row
	for _, by := range []string{"", "number"} {
		rows, err := v.by(ctx, r, by, id)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	different := slices.CompactFunc(slices.Clone(all), func(a, b row) bool { return a.key() == b.key() })
	switch {
	case len(different) > 1:
		return nil, ambiguous{countersign.Errorf(countersign.Conflict, "two orders answer to %s: the one with the key %s and the one with the key %s",
			shown(id), shown(different[0].key()), shown(different[1].key())).Try("name the order by something that only it has")}
	case len(all) > 1 && len(all) > v.ways(all, id):
		return nil, ambiguous{countersign.Errorf(countersign.Conflict, "two rows have the key %s of one order", shown(all[0].key())).
			Try("entities.order.key must be a column that is different in every row")}
	}
	return different, nil
}

// ways is in how many ways one row answers to a name: by its key, by its number, or by both.
func (v *visit) ways(rows []row, id string) (n int) {
	if rows[0].key() == id {
		n++
	}
	if rows[0]["number"].text == id {
		n++
	}
	return n
}

// by finds the orders whose key, or whose number, is a text: exactly it, whatever the database's collation takes for equal.
func (v *visit) by(ctx context.Context, r route, name, id string) ([]row, error) {
	at, ok := r.key, true
	if name != "" {
		at, ok = r.place(name)
	}
	if !ok {
		return nil, nil
	}
	s, ok := v.d.named(r, at, id)
	if !ok {
		return nil, nil
	}
	rows, err := v.ask(ctx, r, s)
	f := v.d.family(at.column)
	return slices.DeleteFunc(rows, func(found row) bool { return !answers(f, found[name].text, id) }), err
}

// answers reports whether a value is what was asked for.
func answers(f family, value, asked string) bool {
	return value == asked || f == uuids && strings.EqualFold(value, asked)
}

// belongs reports whether a value is an order's key: exactly it, or the same number when one of the columns holds numbers.
func belongs(f family, value, key string) bool {
	return answers(f, value, key) || f.number() && plainNumber.MatchString(value) && plainNumber.MatchString(key) && canonical(value) == canonical(key)
}

// canonical is a number without the zeros that say nothing.
func canonical(number string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		sign, number = "-", rest
	}
	whole, fraction, _ := strings.Cut(number, ".")
	return sign + strings.TrimLeft(whole, "0") + "." + strings.TrimRight(fraction, "0")
}

// belonging reads the records of one kind that belong to an order, or says why it has no key to look for them with.
func belonging[T any](ctx context.Context, v *visit, k Kind, key, why string, read func(row) (T, bool)) (found shop.Rows[T]) {
	if _, ok := v.mapping.Entities[k]; !ok {
		return shop.Rows[T]{Unmapped: true}
	}
	if key == "" {
		return shop.Rows[T]{Unread: why}
	}
	rows, cut, err := v.all(ctx, k, key)
	if err != nil {
		return shop.Rows[T]{Unread: k.plural() + " could not be read: " + sentence(failure(err))}
	}
	found.Cut = cut
	var met []row
	for _, r := range rows {
		one, counts := read(r)
		if !counts {
			continue
		}
		switch again, err := v.again(k, r, met); {
		case err != nil:
			return shop.Rows[T]{Unread: k.plural() + " could not be read: " + sentence(failure(err))}
		case !again:
			found.All, met = append(found.All, one), append(met, r)
		}
	}
	return found
}

func (v *visit) all(ctx context.Context, k Kind, key string) (rows []row, cut bool, err error) {
	r, err := v.way(k)
	if err != nil {
		return nil, false, err
	}
	s, ok := v.d.lookup(r, key, v.bounds.rows+1)
	if !ok {
		return nil, false, countersign.Errorf(countersign.Unprocessed, "%s of %s holds %s, and %s is the key of an order",
			shown(r.key.column.Name), shown(r.tables[r.key.table].Name), v.d.family(r.key.column), shown(key)).
			Try("name the column that holds what entities.order.key holds")
	}
	if rows, err = v.ask(ctx, r, s); err != nil {
		return nil, false, err
	}
	if cut = len(rows) > v.bounds.rows; cut {
		rows = rows[:v.bounds.rows]
	}
	f := v.d.family(r.key.column)
	rows = slices.DeleteFunc(rows, func(found row) bool { return !belongs(f, found.key(), key) })
	slices.SortStableFunc(rows, byID)
	return rows, cut, nil
}

// byID sorts numbers as numbers, and before other ids.
func byID(a, b row) int {
	x, y := a["id"].text, b["id"].text
	numeric := wholeNumber.MatchString(x)
	switch {
	case numeric != wholeNumber.MatchString(y) && numeric:
		return -1
	case numeric != wholeNumber.MatchString(y):
		return 1
	case numeric && len(x) != len(y):
		return len(x) - len(y)
	}
	return strings.Compare(x, y)
}

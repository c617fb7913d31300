package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign"
)

// What a person types to find a case may be: a case's id or its beginning, the id of a transaction or order (with the # that shops
// write before one, or without), a provider's reference, the id of a customer, the beginning of any word of a customer's name (of all of them, if there are several), an amount. Whatever fits in
// any of these ways is found. Our own ids are found in small letters too, names in any, as far as they are ASCII: beyond that
// the two databases would not agree.

const (
	// mostCustomers is how many customers of one name are looked at, and mostMeant how many cases that are about what was typed.
	// Whoever searches is told that there are more.
	mostCustomers = 1_000
	mostMeant     = 5_000
	// mostNamed is how many cases are worth reading one by one to put them in order. Where more fit, a page is filled sooner by
	// a walk through the list.
	mostNamed = 1_000
)

// found is what a query comes to: a condition, and how many cases fit in it.
type found struct {
	way
	many   bool // too many to read them one by one and put them in order
	none   bool
	capped bool // more fit than were looked at
}

// way is one way in which a case can fit what was typed.
type way struct {
	condition string
	values    []any
}

// find looks up what a query stands for. An empty one stands for nothing, and narrows nothing.
func (v View) find(ctx context.Context, query string) (found, error) {
	typed := strings.TrimSpace(query)
	if typed == "" || !isText(typed) {
		return found{none: typed != ""}, nil
	}
	ids, capped, err := v.meant(ctx, typed)
	if err != nil {
		return found{}, err
	}
	f := found{capped: capped}
	for _, beginning := range slices.Compact([]string{typed, strings.ToUpper(typed)}) {
		w := way{"id >= ? AND id < ?", []any{beginning, after(beginning)}}
		begin, err := v.fitting(ctx, mostNamed, w)
		if err != nil {
			return found{}, err
		}
		if len(begin) > mostNamed {
			f.many = true
			f.or(w)
		} else {
			ids = append(ids, begin...)
		}
	}
	f.none = !f.many && len(ids) == 0
	f.many = f.many || len(ids) > mostNamed
	f.or(way{"id " + v.d.inList, []any{listed(ids)}})
	if f.many {
		f.condition += " OR 1 = 0" // else PostgreSQL, which cannot know how long the list is, would read its cases one by one
	}
	return f, nil
}

// isText reports whether a database can be asked for it: PostgreSQL refuses anything else.
func isText(typed string) bool { return utf8.ValidString(typed) && !strings.Contains(typed, "\x00") }

func (f *found) or(w way) {
	if f.condition != "" {
		f.condition += " OR "
	}
	f.condition += w.condition
	f.values = append(f.values, w.values...)
}

// meant names the cases that are about what was typed: a transaction or order, a provider's reference, a customer, an amount.
func (v View) meant(ctx context.Context, typed string) (ids []string, capped bool, err error) {
	ways := []way{{"subject_id = ?", []any{typed}}, {"customer_id = ?", []any{typed}}, {"provider_ref = ? AND provider_ref <> ''", []any{typed}}}
	if number, marked := strings.CutPrefix(typed, "#"); marked {
		ways = append(ways, way{"subject_id = ?", []any{number}})
	}
	customers, capped, err := v.customersNamed(ctx, typed)
	if err != nil {
		return nil, false, err
	}
	if len(customers) > 0 {
		ways = append(ways, way{"customer_id " + v.d.inList, []any{listed(customers)}})
	}
	amounts, err := v.amounts(ctx, "cases", typed)
	if err != nil {
		return nil, false, err
	}
	for _, m := range amounts {
		ways = append(ways, way{"amount_minor = ? AND currency = ?", []any{m.Minor, m.Currency}})
	}
	ids, err = v.fitting(ctx, mostMeant, ways...)
	return ids[:min(len(ids), mostMeant)], capped || len(ids) > mostMeant, err
}

// fitting names the cases that fit in any of the ways, one more than most if there are more. Each way is a query of its own,
// because each has an index of its own.
func (v View) fitting(ctx context.Context, most int, ways ...way) ([]string, error) {
	var c choice
	for i, w := range ways {
		if i > 0 {
			c.where += " UNION ALL "
		}
		c.where += "SELECT id FROM cases WHERE 1 = 1"
		c.and(w.condition, w.values...)
	}
	c.args = append(c.args, most+1)
	rows, err := v.q.QueryContext(ctx, c.where+fmt.Sprintf(" LIMIT $%d", len(c.args)), c.args...)
	if err != nil {
		return nil, fmt.Errorf("look for cases: %w", err)
	}
	ids, err := collect(rows, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
	return ids, wrap(err, "look for cases")
}

// after is the end of the texts that begin with this one: no id or name has the last of all characters in it.
func after(beginning string) string { return beginning + "\U0010FFFF" }

// customersNamed finds the customers whose names have words that begin with the words that were typed; capped when there are
// more than are looked at.
func (v View) customersNamed(ctx context.Context, typed string) (ids []string, capped bool, err error) {
	words := wordsOf(typed)
	if len(words) == 0 {
		return nil, false, nil
	}
	c := choice{where: "SELECT w.customer_id FROM customer_words w WHERE 1 = 1"}
	c.and("w.word >= ? AND w.word < ?", words[0], after(words[0]))
	for _, word := range words[1:] {
		c.and("EXISTS (SELECT 1 FROM customer_words o WHERE o.customer_id = w.customer_id AND o.word >= ? AND o.word < ?)", word, after(word))
	}
	c.args = append(c.args, mostCustomers+1)
	rows, err := v.q.QueryContext(ctx, c.where+fmt.Sprintf(" ORDER BY w.word, w.customer_id LIMIT $%d", len(c.args)), c.args...)
	if err != nil {
		return nil, false, fmt.Errorf("look for customers: %w", err)
	}
	ids, err = collect(rows, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
	capped = len(ids) > mostCustomers
	ids = ids[:min(len(ids), mostCustomers)]
	slices.Sort(ids)
	return slices.Compact(ids), capped, wrap(err, "look for customers")
}

// mostWords is how many words of a name are looked for: people have no more, and whoever types more looks for something else.
const mostWords = 6

// wordsOf cuts a typed name into words as the migrations cut customers' names, the longest first: it leaves the fewest. Single
// letters are no name.
func wordsOf(typed string) []string {
	words := strings.FieldsFunc(strings.Map(small, typed), func(r rune) bool { return r == ' ' || r == '-' })
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	if len(words) == 0 || len(words) > mostWords || len(words[0]) == 1 {
		return nil
	}
	return words
}

// small makes small letters of ASCII, as LOWER does in both databases.
func small(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + ('a' - 'A')
	}
	return r
}

// amounts are the amounts in the rows of a table that a person may mean by "24,500.00", "24500" or "NGN 24,500". Without a
// currency that may be one amount for each number of decimal digits that a currency can have.
func (v View) amounts(ctx context.Context, table, typed string) ([]countersign.Money, error) {
	a, ok := readAmount(typed)
	if !ok {
		return nil, nil
	}
	var minors []any
	for digits := range 5 {
		if minor, ok := a.minor(digits); ok {
			minors = append(minors, minor)
		}
	}
	if len(minors) == 0 {
		return nil, nil
	}
	rows, err := v.q.QueryContext(ctx, "SELECT DISTINCT amount_minor, currency FROM "+table+" WHERE amount_minor IN "+v.d.values(1, len(minors)), minors...)
	if err != nil {
		return nil, fmt.Errorf("look for an amount: %w", err)
	}
	found, err := collect(rows, func(row scanner) (m countersign.Money, err error) { return m, row.Scan(&m.Minor, &m.Currency) })
	return slices.DeleteFunc(found, func(m countersign.Money) bool { return !a.means(m) }), wrap(err, "look for an amount")
}

// typedAmount is an amount as somebody typed it: its digits before and behind the point.
type typedAmount struct{ currency, whole, fraction string }

// readAmount reads digits in groups of any length, a currency before or behind them. False for everything else.
func readAmount(typed string) (a typedAmount, ok bool) {
	s := strings.ToUpper(strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "").Replace(typed))
	if n := len(s); n > 3 && countersign.KnownCurrency(s[:3]) {
		a.currency, s = s[:3], s[3:]
	} else if n > 3 && countersign.KnownCurrency(s[n-3:]) {
		a.currency, s = s[n-3:], s[:n-3]
	}
	a.whole, a.fraction, _ = strings.Cut(s, ".")
	a.fraction = strings.TrimRight(a.fraction, "0")
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	return a, a.whole != "" && !strings.ContainsFunc(a.whole+a.fraction, notDigit)
}

// minor is the amount in the smallest unit of a currency with so many decimal digits; false if it has no such amount.
func (a typedAmount) minor(digits int) (int64, bool) {
	if len(a.fraction) > digits {
		return 0, false
	}
	n, err := strconv.ParseInt(a.whole+a.fraction+strings.Repeat("0", digits-len(a.fraction)), 10, 64)
	return n, err == nil
}

func (a typedAmount) means(m countersign.Money) bool {
	digits, ok := countersign.Exponent(m.Currency)
	if !ok || a.currency != "" && a.currency != m.Currency {
		return false
	}
	minor, ok := a.minor(digits)
	return ok && minor == m.Minor
}

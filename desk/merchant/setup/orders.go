package setup

import (
	"context"
	"errors"
	"fmt"

	"countersign"
	"countersign/desk/merchant/connector"
)

// mostFollowed is how many rows of each kind of record are followed to their orders.
const mostFollowed = 50

// plurals are what sentences call the records of a kind.
var plurals = map[connector.Kind]string{connector.Payment: "payments", connector.Fulfillment: "fulfilments", connector.Refund: "refunds", connector.Return: "returns"}

// follow looks whether the rows of a kind lead to orders that there are. A table without a row says nothing, and a shop that is too
// slow to ask is said to have been too slow.
func (t *Trial) follow(ctx context.Context, s *connector.Shop, k connector.Kind, e connector.Entity) error {
	if k == connector.Order {
		return nil
	}
	f, err := s.Follow(ctx, k, mostFollowed)
	switch {
	case countersign.KindOf(err) == countersign.Unavailable:
		t.Lost = append(t.Lost, fmt.Sprintf("whether %s lead to orders could not be found out in time: compare the order of each row below", plurals[k]))
		return nil
	case err != nil:
		return err
	case f.Rows > 0 && f.Lost == f.Rows:
		better, _ := better(ctx, s, k)
		return leadsNowhere(k, e, f, better)
	}
	if f.Own && f.Rows > 0 {
		t.Lost = append(t.Lost, fmt.Sprintf("%s find their order by their own key, %s: small numbers are in every table, so compare the order of each row below", plurals[k], f.Key))
	}
	if f.Lost > 0 {
		t.Lost = append(t.Lost, fmt.Sprintf("%d of %d %s lead to no order: %s%s", f.Lost, f.Rows, plurals[k], held(f), lostRows(f)))
	}
	return nil
}

// lostRows names a few of the rows that lead to no order, for whoever looks them up in the shop.
func lostRows(f connector.Followed) string {
	switch n := len(f.IDs); {
	case n == 0:
		return ""
	case n < f.Lost:
		return "; among these rows are " + listed(f.IDs, "and")
	case n == 1:
		return "; that row is " + f.IDs[0]
	}
	return "; these rows are " + listed(f.IDs, "and")
}

// held is what the lost hold where they should hold the key of an order.
func held(f connector.Followed) string {
	if f.Held == "" {
		return f.Key + " holds nothing there"
	}
	return fmt.Sprintf(`%s holds "%s", and that is in no %s`, f.Key, f.Held, f.Of)
}

// Misled is the first kind of record of which no row leads to an order while another way would lead them there. It is asked as soon
// as the ways are chosen. Which rows count may not be said by then, so a way that no other betters is left to Try, and so is one
// that could not be asked about.
func Misled(ctx context.Context, m connector.Mapping) (err error) {
	s, err := connector.Open(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, k := range m.Kinds() {
		if k == connector.Order {
			continue
		}
		f, err := s.Follow(ctx, k, mostFollowed)
		if err != nil || f.Rows == 0 || f.Lost < f.Rows {
			continue
		}
		if better, ok := better(ctx, s, k); ok {
			return leadsNowhere(k, m.Entities[k], f, better)
		}
	}
	return nil
}

// better is a way of a kind's rows that leads to orders, in words.
func better(ctx context.Context, s *connector.Shop, k connector.Kind) (says string, ok bool) {
	ways, err := s.Ways(ctx, k)
	if err != nil || len(ways) == 0 || !ways[0].Leads() {
		return "", false
	}
	return fmt.Sprintf("%s: %d of %d rows lead to an order", ways[0].Says, ways[0].Tried.Rows-ways[0].Tried.Lost, ways[0].Tried.Rows), true
}

// leadsNowhere says what was tried, and names a better way if there is one. Where none was found it asks for none.
func leadsNowhere(k connector.Kind, e connector.Entity, f connector.Followed, better string) error {
	text := fmt.Sprintf("of %d %s that were looked at, none leads to an order: %s", f.Rows, plurals[k], held(f))
	if f.Rows == 1 {
		text = fmt.Sprintf("the one row of %s leads to no order: %s", plurals[k], held(f))
	}
	hint := "choose another column, or a way over another table; this one leads to orders: " + better
	if better == "" {
		hint = fmt.Sprintf("no way to orders was found from this table: choose the one that has the %s of these orders, or none, which leaves %s unknown", plurals[k], plurals[k])
	}
	return countersign.Errorf(countersign.Unprocessed, "%s", text).In(keyField(k, e)).Try(hint)
}

// keyField is where a mapping says how a kind's rows find their order.
func keyField(k connector.Kind, e connector.Entity) string {
	if len(e.Join) > 0 {
		return "entities." + string(k) + ".join"
	}
	return "entities." + string(k) + ".order_key"
}

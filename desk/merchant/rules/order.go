package rules

import (
	"cmp"
	"fmt"

	"countersign"
	"countersign/desk/merchant/shop"
)

// missing is all that can be said without the order.
func missing(orders shop.Rows[shop.Order]) []finding {
	switch {
	case orders.Unread != "":
		return []finding{unknown("order_found", "", "orders").because(countersign.FactsUnreadable, "The order could not be read: %s", orders.Unread)}
	case orders.Unnamed:
		return []finding{absent("order_found", "", "the dispute").because(countersign.OrderNotFound, "The dispute names no order of the shop. Attach the one that it is about.")}
	case orders.Unmapped:
		return []finding{unknown("order_found", "", "orders").because(countersign.FactsUnreadable, "No shop is connected, so the order could not be read.")}
	case len(orders.All) > 1 || orders.Cut:
		return []finding{unknown("order_found", "", "orders").cannotTell("More than one order of the shop answers to this number, so which one is disputed cannot be told.")}
	}
	return []finding{absent("order_found", "", "orders").because(countersign.OrderNotFound, "The shop's database has no order of this number.")}
}

func found(o shop.Order) []finding {
	return []finding{present("order_found", printable(o.Number), rows("orders", o.ID))}
}

// stake is the amount that the dispute is about, and where it comes from.
type stake struct {
	amount *countersign.Money // nil when it cannot be told
	said   bool               // somebody said it; otherwise it is what was paid
	paid   total
}

// atStake is the disputed amount, or what was paid for the order when nobody named one: a network disputes a payment, whole or in
// part, and the whole is the case in which a refund must cover most.
func atStake(in Input) stake {
	s := stake{amount: in.Disputed, said: in.Disputed != nil}
	s.paid = sum(in.Records.Payments, payment)
	if s.amount == nil && s.paid.known() && s.paid.money != nil {
		s.amount = s.paid.money
	}
	return s
}

func payment(p shop.Payment) part { return part{p.ID, p.Amount, p.State, shop.Paid, p.Status} }

// paid says what the order was paid with. A dispute about more than that, or about an order that nobody paid, is not understood.
func paid(in Input, s stake) []finding {
	const name = "paid"
	source := rows("payments", s.paid.ids...)
	switch {
	case !s.paid.known():
		return []finding{unknown(name, "", source).cannotTell("What was paid for the order is not known: %s", s.paid.why)}
	case s.paid.money == nil:
		return []finding{absent(name, "", source).because(countersign.FactsDisagree, "No payment of this order is on record as paid, so what is disputed cannot be told.")}
	case s.said && s.paid.money.Currency != in.Disputed.Currency:
		return []finding{present(name, s.paid.money.String(), source).
			cannotTell("The dispute is about %s, and the order was paid in %s: the amounts cannot be compared.", in.Disputed, s.paid.money.Currency)}
	case s.said && s.paid.money.Minor < in.Disputed.Minor:
		return []finding{present(name, s.paid.money.String(), source).
			because(countersign.FactsDisagree, "The dispute is about %s, and only %s was paid for the order.", in.Disputed, s.paid.money)}
	}
	return []finding{present(name, s.paid.money.String(), source)}
}

func disputed(in Input, s stake) []finding {
	switch {
	case s.amount == nil:
		return []finding{unknown("disputed", "", "the chargeback").cannotTell("The amount in dispute is not known.")}
	case s.amount.Minor <= 0:
		return []finding{unknown("disputed", s.amount.String(), "the chargeback").cannotTell("The amount in dispute is given as %s.", s.amount)}
	case s.said:
		return []finding{present("disputed", s.amount.String(), "the chargeback")}
	}
	return []finding{present("disputed", s.amount.String(), "what was paid, as the chargeback names no amount")}
}

// part is one row that counts towards a total when it is in the state that counts.
type part struct {
	id     string
	amount shop.Amount
	state  shop.State
	counts shop.State
	status string
}

// total is a sum of rows in one currency, or why there is none.
type total struct {
	money *countersign.Money // nil when no row counts, and when why says that it cannot be told
	ids   []string           // the rows that count
	why   string
}

func (t total) known() bool { return t.why == "" }

// sum adds the rows that count. A row whose state or amount is not understood makes the total unknown: a guess in either
// direction could be the one that loses the money.
func sum[T any](rows shop.Rows[T], read func(T) part) total {
	if why := unread(rows); why != "" {
		return total{why: why}
	}
	var t total
	for _, row := range rows.All {
		p := read(row)
		switch {
		case p.state == shop.Unseen:
			return total{why: unseen(p)}
		case p.state != p.counts:
			continue
		}
		t.add(p)
	}
	return t
}

func (t *total) add(p part) {
	t.ids = append(t.ids, p.id)
	switch m := p.amount.Money; {
	case t.why != "":
	case m == nil:
		t.why = notAnAmount(p)
	case m.Minor <= 0:
		t.why = fmt.Sprintf("row %s has the amount %s.", printable(p.id), m)
	case t.money == nil:
		first := *m
		t.money = &first
	case t.money.Currency != m.Currency:
		t.why = fmt.Sprintf("the rows are in %s and in %s.", t.money.Currency, m.Currency)
	case t.money.Minor+m.Minor < t.money.Minor:
		t.why = "the rows add up to more than an amount can hold."
	default:
		t.money.Minor += m.Minor
	}
}

func notAnAmount(p part) string {
	if p.amount.Problem != "" {
		return fmt.Sprintf("row %s: %s", printable(p.id), p.amount.Problem)
	}
	return fmt.Sprintf("row %s has no amount.", printable(p.id))
}

func unseen(p part) string {
	if p.status == "" {
		return fmt.Sprintf("row %s has no status.", printable(p.id))
	}
	return fmt.Sprintf("row %s has the status “%s”, and nobody has said what that means.", printable(p.id), printable(p.status))
}

// partial reports whether some of the rows could not be read.
func partial(r shop.Records) bool {
	return cmp.Or(r.Order.Unread, r.Payments.Unread, r.Fulfillments.Unread, r.Refunds.Unread, r.Returns.Unread) != ""
}

// unread says why rows are not all there are, and is empty when they are.
func unread[T any](rows shop.Rows[T]) string {
	switch {
	case rows.Unread != "":
		return rows.Unread
	case rows.Unmapped:
		return "the shop's mapping does not say where they are kept."
	case rows.Cut:
		return "there are more rows than are ever read."
	}
	return ""
}

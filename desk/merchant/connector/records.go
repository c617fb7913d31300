package connector

import (
	"strings"

	"countersign/desk/merchant/shop"
)

// Each of these makes a record of a row. False says that the row is none of that kind after all.

func (v *visit) asOrder(r row) shop.Order {
	return shop.Order{
		ID: r.key(), Number: r["number"].text, Customer: r["customer"].text, Email: r["email"].text, PlacedAt: v.moment(Order, r, "placed_at"),
		Status: strings.TrimSpace(r["status"].text), Total: v.amount(Order, r), ShippingAddress: r["shipping_address"].text,
	}
}

func (v *visit) payment(r row) (shop.Payment, bool) {
	state, status := v.state(Payment, r)
	return shop.Payment{ID: r["id"].text, Amount: v.amount(Payment, r), State: state, Status: status,
		PaidAt: v.moment(Payment, r, "paid_at"), Reference: r["reference"].text}, !v.signed(Payment) || !negative(r)
}

func (v *visit) refund(r row) (shop.Refund, bool) {
	state, status := v.state(Refund, r)
	return shop.Refund{ID: r["id"].text, Reference: r["reference"].text, Amount: v.amount(Refund, r), State: state, Status: status,
		RefundedAt: v.moment(Refund, r, "refunded_at")}, !v.signed(Refund) || negative(r) || !isNumber(r)
}

func (v *visit) fulfillment(r row) (shop.Fulfillment, bool) {
	state, status := v.state(Fulfillment, r)
	f := shop.Fulfillment{ID: r["id"].text, State: state, Status: status, Carrier: r["carrier"].text, Tracking: r["tracking"].text,
		ShippedAt: v.moment(Fulfillment, r, "shipped_at"), DeliveredAt: v.moment(Fulfillment, r, "delivered_at")}
	if _, named := v.mapping.Entities[Fulfillment].Columns["status"]; !named {
		f.State = v.journey(f)
	}
	return f, true
}

// journey is how far a parcel is, in a shop that keeps dates and no status: Medusa does.
func (v *visit) journey(f shop.Fulfillment) shop.State {
	columns := v.mapping.Entities[Fulfillment].Columns
	switch {
	case recorded(f.DeliveredAt):
		return shop.Delivered
	case f.DeliveredAt.Problem != "", f.ShippedAt.Problem != "" && !recorded(f.ShippedAt):
		return shop.Unseen
	case recorded(f.ShippedAt):
		return shop.InTransit
	case columns["shipped_at"] != "":
		return shop.NotShipped
	}
	return shop.Unseen
}

// recorded reports whether a time is there, be it in a zone that nobody named.
func recorded(m shop.Moment) bool {
	return !m.When.IsZero() || m.Problem != "" && stamp.MatchString(strings.TrimSpace(m.Text)) && strings.HasPrefix(m.Problem, unzoned)
}

func (v *visit) returned(r row) (shop.Return, bool) {
	state, status := v.state(Return, r)
	return shop.Return{ID: r["id"].text, State: state, Status: status, OpenedAt: v.moment(Return, r, "opened_at"), Reason: r["reason"].text}, true
}

// state is what a row's status means, and the status.
func (v *visit) state(k Kind, r row) (shop.State, string) {
	e := v.mapping.Entities[k]
	if _, named := e.Columns["status"]; !named {
		return without[k], ""
	}
	status := strings.TrimSpace(r["status"].text)
	return e.stateOf(status), status
}

// stateOf is what the mapping says of a status: exactly that text, capitals and all, without the blanks around it. "Failed" and
// "failed" may be two states of one shop, and what is in no list is unknown until a person says what it is.
func (e Entity) stateOf(status string) shop.State {
	for list, values := range e.States {
		for _, value := range values {
			if status != "" && strings.TrimSpace(value) == status {
				return shop.State(list)
			}
		}
	}
	return shop.Unseen
}

// without is what a row that counts at all means in a table that has no status. A return is taken for the one that asks more
// of whoever decides.
var without = map[Kind]shop.State{Payment: shop.Paid, Fulfillment: shop.Unseen, Refund: shop.Returned, Return: shop.Open}

func (v *visit) moment(k Kind, r row, name string) shop.Moment {
	e := v.mapping.Entities[k]
	column, ok := v.typeOf(k, name)
	if !ok {
		return shop.Moment{}
	}
	z, _ := zoneOf(v.mapping.zone(e)) // one that is none leaves the time unread: Faults has said so
	return momentOf(r[name].text, column, z)
}

// typeOf is the family of the column that a value was read from, false if the mapping names none.
func (v *visit) typeOf(k Kind, name string) (family, bool) {
	at, ok := v.routes[k].place(name)
	return v.d.family(at.column), ok
}

// amount reads the money of a row and takes the mapping's sign off it. An amount below zero that the mapping does not explain
// is none: it could be a refund among payments, or the reversal of one.
func (v *visit) amount(k Kind, r row) shop.Amount {
	e, text := v.mapping.Entities[k], r[k.amount()].text
	currency := v.mapping.currency(e)
	if _, named := e.Columns["currency"]; named {
		currency = r["currency"].text
	}
	below := negative(r)
	if below && v.signed(k) {
		a := amountOf(strings.Replace(text, "-", "", 1), v.mapping.unit(e), currency)
		a.Text = text
		return a
	}
	a := amountOf(text, v.mapping.unit(e), currency)
	if below && a.Problem == "" {
		a.Money, a.Problem = nil, shown(text)+" is below zero, and the mapping does not say what that means"
	}
	return a
}

func (v *visit) signed(k Kind) bool { return v.mapping.Entities[k].Sign == NegativeIsRefund }

// negative reports whether a row's amount is below zero; isNumber, whether it is a number at all.
func negative(r row) bool {
	text := strings.TrimSpace(first(r["amount"].text, r["total"].text))
	return strings.HasPrefix(text, "-") && decimal.MatchString(text) && strings.ContainsAny(text, "123456789")
}

func isNumber(r row) bool {
	text := strings.TrimSpace(r["amount"].text)
	return text != "" && decimal.MatchString(text)
}

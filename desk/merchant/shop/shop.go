// Package shop holds what a shop's own database says of one order, as it was read through the shop's mapping: every row, every
// value with what was wrong with it, and for every kind of record whether it could be read at all.
//
// It keeps three things apart that look alike when they are forgotten: no row, rows that could not be read, and a kind of record
// that the shop's mapping does not know. It judges nothing; package rules does.
package shop

import (
	"time"

	"countersign"
)

// Records are what was read of one order, in one snapshot of the shop's database. The zero Records were never read: every kind in
// them must then say why.
type Records struct {
	Order        Rows[Order]       `json:"order"` // none or one
	Payments     Rows[Payment]     `json:"payments"`
	Fulfillments Rows[Fulfillment] `json:"fulfillments"`
	Refunds      Rows[Refund]      `json:"refunds"`
	Returns      Rows[Return]      `json:"returns"`
}

// Rows are the order's rows of one kind, in the order of their ids. Only when Unread is empty, Unmapped false and Cut false do
// they say anything about what is not among them.
type Rows[T any] struct {
	All      []T    `json:"rows"`
	Unread   string `json:"unread,omitempty"`   // why they could not be read, as a sentence for people; empty when they were
	Unmapped bool   `json:"unmapped,omitempty"` // the mapping names no table for them
	Cut      bool   `json:"cut,omitempty"`      // there are more than are ever read
	Unnamed  bool   `json:"unnamed,omitempty"`  // nobody has said yet whose they would be, so that none were looked for
}

// Whole reports whether the rows are all there are.
func (r Rows[T]) Whole() bool { return r.Unread == "" && !r.Unmapped && !r.Cut }

// Order is the order itself. Text fields are as the shop has them: written by whoever could, the customer included.
type Order struct {
	ID              string `json:"id"`
	Number          string `json:"number"`
	Customer        string `json:"customer"`
	Email           string `json:"email"`
	PlacedAt        Moment `json:"placed_at"`
	Status          string `json:"status"`
	Total           Amount `json:"total"`
	ShippingAddress string `json:"shipping_address"`
}

// Payment is one attempt to pay for the order.
type Payment struct {
	ID        string `json:"id"`
	Amount    Amount `json:"amount"`
	State     State  `json:"state"`  // Paid, Pending, Failed or Unseen
	Status    string `json:"status"` // what the shop calls it
	PaidAt    Moment `json:"paid_at"`
	Reference string `json:"reference"`
}

// Fulfillment is one parcel.
type Fulfillment struct {
	ID          string `json:"id"`
	State       State  `json:"state"` // Delivered, InTransit, NotShipped or Unseen
	Status      string `json:"status"`
	Carrier     string `json:"carrier"`
	Tracking    string `json:"tracking"`
	ShippedAt   Moment `json:"shipped_at"`
	DeliveredAt Moment `json:"delivered_at"`
}

// Refund is one row about money going back: an attempt, which may have failed, or a later word on an earlier one. Rows with the
// same Reference and amount are about the same refund, and the latest of them counts; with the same Reference and other amounts
// they are about nobody knows what. Without one, every row is a refund of its own.
type Refund struct {
	ID         string `json:"id"`
	Reference  string `json:"reference"`
	Amount     Amount `json:"amount"` // above zero: the mapping's sign is already taken off
	State      State  `json:"state"`  // Returned, InProgress, NotReturned or Unseen
	Status     string `json:"status"`
	RefundedAt Moment `json:"refunded_at"`
}

// Return is goods on their way back, or a customer's request to send some.
type Return struct {
	ID       string `json:"id"`
	State    State  `json:"state"` // Open, Closed or Unseen
	Status   string `json:"status"`
	OpenedAt Moment `json:"opened_at"`
	Reason   string `json:"reason"`
}

// State is what the person who set the mapping up said that a status of this shop means.
type State string

const (
	Unseen State = "unknown" // in no list of the mapping, or not recorded: it means nothing until a person says what

	Paid    State = "paid"
	Pending State = "pending"
	Failed  State = "failed"

	Delivered  State = "delivered"
	InTransit  State = "in_transit"
	NotShipped State = "not_shipped"

	Returned    State = "returned" // the money went back
	InProgress  State = "in_progress"
	NotReturned State = "not_returned"

	Open   State = "open"
	Closed State = "closed"
)

// Amount is an amount of money as a cell holds it. Money is nil when the cell is empty or is not exactly an amount of its currency;
// Problem then says why, unless the cell is empty.
type Amount struct {
	Money   *countersign.Money `json:"money"`
	Text    string             `json:"text"`
	Problem string             `json:"problem,omitempty"`
}

// Moment is a time as a cell holds it. When is zero when the cell is empty, holds the database's zero date, or cannot be read, or
// is a time of day in a zone that nobody has named; Problem then says why, unless nothing was recorded.
type Moment struct {
	When    countersign.When `json:"when"`
	Day     string           `json:"day,omitempty"` // on the shop's own calendar; empty where nobody has said in which zone that is
	Text    string           `json:"text"`
	Problem string           `json:"problem,omitempty"`
}

// Days are the first and the last day that the shop may have called it: one and the same when its zone is known, else every day that
// it was anywhere. Both are empty for a moment that is not known.
func (m Moment) Days() (first, last string) {
	const west, east = -12 * time.Hour, 14 * time.Hour // the clocks that are furthest from UTC
	at, exact := m.When.Instant()
	switch {
	case m.Day != "":
		return m.Day, m.Day
	case !exact:
		return m.When.String(), m.When.String()
	}
	return at.Add(west).Format(time.DateOnly), at.Add(east).Format(time.DateOnly)
}

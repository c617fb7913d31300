package setup

import (
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/shop"
)

// Line is one row of a shop as the product reads it, for a person to compare with what they know of it.
type Line struct {
	Order   string // the number of the order that the row belongs to, else its key
	Lost    bool   // there is no such order
	ID      string
	Status  string     // what the shop calls it
	Meaning shop.State // what that was said to mean; empty for an order
	Amount  shop.Amount
	When    shop.Moment
	More    string // a number, a carrier with its tracking number, a reason
}

// Lines are the rows of one kind of record.
func Lines(k connector.Kind, all connector.Sampled) []Line {
	lines := linesOf(k, all.Records)
	for i, owner := range all.Owners[:min(len(lines), len(all.Owners))] {
		lines[i].Order, lines[i].Lost = owner.Number, !owner.Found
		if owner.Number == "" {
			lines[i].Order = owner.Key
		}
	}
	return lines
}

func linesOf(k connector.Kind, all shop.Records) (lines []Line) {
	switch k {
	case connector.Order:
		for _, o := range all.Order.All {
			lines = append(lines, Line{ID: o.ID, Status: o.Status, Amount: o.Total, When: o.PlacedAt, More: o.Number})
		}
	case connector.Payment:
		for _, p := range all.Payments.All {
			lines = append(lines, Line{ID: p.ID, Status: p.Status, Meaning: p.State, Amount: p.Amount, When: p.PaidAt, More: p.Reference})
		}
	case connector.Fulfillment:
		for _, f := range all.Fulfillments.All {
			lines = append(lines, Line{ID: f.ID, Status: f.Status, Meaning: f.State, When: latest(f), More: joined(f.Carrier, f.Tracking)})
		}
	case connector.Refund:
		for _, r := range all.Refunds.All {
			lines = append(lines, Line{ID: r.ID, Status: r.Status, Meaning: r.State, Amount: r.Amount, When: r.RefundedAt, More: r.Reference})
		}
	case connector.Return:
		for _, r := range all.Returns.All {
			lines = append(lines, Line{ID: r.ID, Status: r.Status, Meaning: r.State, When: r.OpenedAt, More: r.Reason})
		}
	}
	return lines
}

// latest is when a parcel was last heard of.
func latest(f shop.Fulfillment) shop.Moment {
	if f.DeliveredAt.Text != "" {
		return f.DeliveredAt
	}
	return f.ShippedAt
}

func joined(a, b string) string {
	if a != "" && b != "" {
		return a + " " + b
	}
	return a + b
}

// Problem is what was wrong with a cell of the row, empty when nothing was.
func (l Line) Problem() string {
	if l.Lost {
		return "there is no such order"
	}
	if l.Amount.Problem != "" {
		return l.Amount.Problem
	}
	return l.When.Problem
}

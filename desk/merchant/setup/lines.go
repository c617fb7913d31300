package setup

import (
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/shop"
)

// Line is one row of a shop as the product reads it, for a person to compare with what they know of it.
type Line struct {
	ID      string
	Status  string     // what the shop calls it
	Meaning shop.State // what that was said to mean; empty for an order
	Amount  shop.Amount
	When    shop.Moment
	More    string // a number, a carrier with its tracking number, a reason
}

// Lines are the rows of one kind of record.
func Lines(k connector.Kind, all shop.Records) (lines []Line) {
	switch k {
	case connector.Order:
		for _, o := range all.Order.All {
			lines = append(lines, Line{o.ID, o.Status, "", o.Total, o.PlacedAt, o.Number})
		}
	case connector.Payment:
		for _, p := range all.Payments.All {
			lines = append(lines, Line{p.ID, p.Status, p.State, p.Amount, p.PaidAt, p.Reference})
		}
	case connector.Fulfillment:
		for _, f := range all.Fulfillments.All {
			lines = append(lines, Line{f.ID, f.Status, f.State, shop.Amount{}, latest(f), joined(f.Carrier, f.Tracking)})
		}
	case connector.Refund:
		for _, r := range all.Refunds.All {
			lines = append(lines, Line{r.ID, r.Status, r.State, r.Amount, r.RefundedAt, r.Reference})
		}
	case connector.Return:
		for _, r := range all.Returns.All {
			lines = append(lines, Line{r.ID, r.Status, r.State, shop.Amount{}, r.OpenedAt, r.Reason})
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
	if l.Amount.Problem != "" {
		return l.Amount.Problem
	}
	return l.When.Problem
}

package merchant

import (
	"context"
	"slices"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/shop"
	"countersign/store"
)

// Who wrote what is not the shop's own word.
const (
	buyer   = "the customer"
	carrier = "the carrier"
	seller  = "the shop"
)

// display shows whoever decides the order and the rows that the facts are read from.
func (c Config) display(ctx context.Context, v store.View, of countersign.Case) (desk.Display, error) {
	records := c.reader(ctx, v, of).order()
	if why := records.Order.Unread; why != "" {
		return desk.Display{}, unread(why)
	}
	tables := []desk.Table{paymentTable(records), fulfillmentTable(records), refundTable(records), returnTable(records)}
	return desk.Display{Lines: lines(of, records.Order.All), Tables: slices.DeleteFunc(tables, func(t desk.Table) bool { return len(t.Rows) == 0 })}, nil
}

func lines(c countersign.Case, orders []shop.Order) []desk.Line {
	all := []desk.Line{{Label: "Order", Cell: desk.Cell{Text: c.Subject.ID}}}
	if len(orders) == 1 {
		o := orders[0]
		all = append(all,
			desk.Line{Label: "Placed", Cell: timed(o.PlacedAt)},
			desk.Line{Label: "Total", Cell: money(o.Total)},
			desk.Line{Label: "Status", Cell: desk.Cell{Text: o.Status}},
			desk.Line{Label: "Customer", Cell: written(o.Customer, buyer)},
			desk.Line{Label: "Ship to", Cell: written(o.ShippingAddress, buyer)})
	}
	t := c.Terms
	all = append(all, desk.Line{Label: "Network", Cell: desk.Cell{Text: joined(t.Network, t.ReasonCode, NameOf(t))}},
		desk.Line{Label: "Stage", Cell: desk.Cell{Text: strings.ReplaceAll(c.Stage, "_", " ")}},
		desk.Line{Label: "Reference", Cell: desk.Cell{Text: t.Reference}})
	return slices.DeleteFunc(all, func(l desk.Line) bool { return l.Cell == desk.Cell{} })
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

func written(text, by string) desk.Cell {
	if text == "" {
		return desk.Cell{}
	}
	return desk.Cell{Text: text, By: by}
}

// money shows an amount, or the cell as it stands when it is none.
func money(a shop.Amount) desk.Cell {
	if a.Money == nil {
		return written(joined(a.Text, a.Problem), seller)
	}
	return desk.Cell{Amount: a.Money}
}

func timed(m shop.Moment) desk.Cell {
	if m.When.IsZero() {
		return written(joined(m.Text, m.Problem), seller)
	}
	return desk.Cell{When: m.When}
}

// state is what a status means here, and the shop's word for it where that is another.
func state(s shop.State, status string) desk.Cell {
	words := strings.ReplaceAll(string(s), "_", " ")
	if status != "" && !strings.EqualFold(status, words) {
		words += " (" + status + ")"
	}
	return desk.Cell{Text: words}
}

func paymentTable(r shop.Records) desk.Table {
	t := desk.Table{Name: "payments", Title: "Payments", Cited: []string{"payments"}, Columns: []string{"Payment", "Amount", "State", "Paid", "Reference"}}
	for _, p := range r.Payments.All {
		t.Rows = append(t.Rows, desk.Row{ID: p.ID, Mine: true, Cells: []desk.Cell{{Text: p.ID}, money(p.Amount), state(p.State, p.Status), timed(p.PaidAt), written(p.Reference, seller)}})
	}
	return t
}

func fulfillmentTable(r shop.Records) desk.Table {
	t := desk.Table{Name: "fulfillments", Title: "Deliveries", Cited: []string{"fulfillments"}, Columns: []string{"Parcel", "State", "Carrier", "Tracking", "Shipped", "Delivered"}}
	for _, f := range r.Fulfillments.All {
		t.Rows = append(t.Rows, desk.Row{ID: f.ID, Mine: true, Cells: []desk.Cell{{Text: f.ID}, state(f.State, f.Status), written(f.Carrier, carrier), written(f.Tracking, carrier), timed(f.ShippedAt), timed(f.DeliveredAt)}})
	}
	return t
}

func refundTable(r shop.Records) desk.Table {
	t := desk.Table{Name: "refunds", Title: "Refunds", Cited: []string{"refunds"}, Columns: []string{"Refund", "Amount", "State", "When", "Reference"}}
	for _, f := range r.Refunds.All {
		t.Rows = append(t.Rows, desk.Row{ID: f.ID, Mine: true, Cells: []desk.Cell{{Text: f.ID}, money(f.Amount), state(f.State, f.Status), timed(f.RefundedAt), written(f.Reference, seller)}})
	}
	return t
}

func returnTable(r shop.Records) desk.Table {
	t := desk.Table{Name: "returns", Title: "Returns", Cited: []string{"returns"}, Columns: []string{"Return", "State", "Opened", "Reason"}}
	for _, f := range r.Returns.All {
		t.Rows = append(t.Rows, desk.Row{ID: f.ID, Mine: true, Cells: []desk.Cell{{Text: f.ID}, state(f.State, f.Status), timed(f.OpenedAt), written(f.Reason, buyer)}})
	}
	return t
}

// factGroups names the facts of package rules for people.
var factGroups = []desk.FactGroup{
	{Title: "The order", Facts: []desk.FactTitle{
		{Name: "order_found", Title: "The order is in the shop's records"},
		{Name: "paid", Title: "The order was paid"},
		{Name: "disputed", Title: "The amount in dispute is known"},
	}},
	{Title: "Money back", Facts: []desk.FactTitle{
		{Name: "refund_returned", Title: "Money was refunded"},
		{Name: "refund_pending", Title: "A refund is under way"},
		{Name: "refund_typed_in", Title: "A person states a refund"},
		{Name: "return_on_file", Title: "The customer has a return on file"},
		{Name: "return_typed_in", Title: "A person states a return"},
	}},
	{Title: "Delivery", Facts: []desk.FactTitle{
		{Name: "delivered", Title: "Everything was delivered"},
	}},
	{Title: "What it can be answered with", Facts: []desk.FactTitle{
		{Name: "policy_in_force", Title: "A policy was in force when the order was placed"},
		{Name: "in_time", Title: "There is time to answer"},
	}},
}

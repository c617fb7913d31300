package merchant

import (
	"context"
	"encoding/json"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
	"countersign/llm"
	"countersign/pipeline/investigate"
	"countersign/pipeline/investigate/fence"
	"countersign/store"
)

// given is what code looks at before the model is asked: the order, everything that happened to it, and the passages of the policies
// that bear on the claim. Each is a step, and the same reading answers them all.
func (c Config) given(v store.View, of countersign.Case) []investigate.Tool {
	var r *reader
	reading := func(ctx context.Context) reader {
		if r == nil {
			fresh := c.reader(ctx, v, of)
			r = &fresh
		}
		return *r
	}
	return []investigate.Tool{
		look("read_order", reading, func(r shop.Records) (any, error) { return orderResult(r.Order) }),
		look("read_payments", reading, func(r shop.Records) (any, error) { return listed("payments", r.Payments, paymentRow) }),
		look("read_fulfillments", reading, func(r shop.Records) (any, error) { return listed("fulfillments", r.Fulfillments, fulfillmentRow) }),
		look("read_refunds", reading, func(r shop.Records) (any, error) { return listed("refunds", r.Refunds, refundRow) }),
		look("read_returns", reading, func(r shop.Records) (any, error) { return listed("returns", r.Returns, returnRow) }),
		{Tool: llm.Tool{Name: "read_policies"}, Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
			r := reading(ctx)
			return r.passages(ctx, r.query(), excerptCharacters)
		}},
	}
}

func look(name string, reading func(context.Context) reader, show func(shop.Records) (any, error)) investigate.Tool {
	return investigate.Tool{Tool: llm.Tool{Name: name}, Run: func(ctx context.Context, _ json.RawMessage) (any, error) {
		return show(reading(ctx).order())
	}}
}

// unread is the error of records that are not all there: a failed step, which nobody can cite.
func unread(why string) error {
	return countersign.Errorf(countersign.Unavailable, "could not be read: %s", why).Try("this does not mean that there is nothing")
}

// maxShown is how many rows of one kind a model is shown. What is left out is counted; the facts read them all.
const maxShown = 50

// listed is the result of one kind of record, under its name, so that whoever reads it knows what it is.
func listed[T any](name string, rows shop.Rows[T], show func(T) any) (any, error) {
	switch {
	case rows.Unread != "":
		return nil, unread(rows.Unread)
	case rows.Unmapped:
		return nil, unread("the shop's mapping does not say where " + name + " are kept.")
	}
	shown := []any{}
	for _, row := range rows.All[:min(len(rows.All), maxShown)] {
		shown = append(shown, show(row))
	}
	return map[string]any{name: shown, "count": len(rows.All), "not_listed": len(rows.All) - len(shown), "more_than_are_read": rows.Cut}, nil
}

type orderShown struct {
	ID       string      `json:"id"`
	Number   string      `json:"number"`
	Customer fence.Words `json:"customer"`
	PlacedAt string      `json:"placed_at"`
	Status   fence.Words `json:"status"`
	Total    string      `json:"total"`
	ShipTo   fence.Words `json:"shipping_address"`
}

func orderResult(rows shop.Rows[shop.Order]) (any, error) {
	if rows.Unread != "" || rows.Unmapped {
		return nil, unread(strings.TrimSpace(rows.Unread + " no order can be read"))
	}
	if len(rows.All) != 1 {
		return map[string]any{"found": false, "order": nil}, nil
	}
	o := rows.All[0]
	return map[string]any{"found": true, "order": orderShown{ID: o.ID, Number: o.Number, Customer: fence.Words(initials(o.Customer)),
		PlacedAt: moment(o.PlacedAt), Status: fence.Words(o.Status), Total: amount(o.Total), ShipTo: fence.Words(o.ShippingAddress)}}, nil
}

func paymentRow(p shop.Payment) any {
	return struct {
		ID        string      `json:"id"`
		Amount    string      `json:"amount"`
		State     string      `json:"state"`
		Status    fence.Words `json:"shop_status"`
		PaidAt    string      `json:"paid_at"`
		Reference fence.Words `json:"reference"`
	}{p.ID, amount(p.Amount), string(p.State), fence.Words(p.Status), moment(p.PaidAt), fence.Words(p.Reference)}
}

func fulfillmentRow(f shop.Fulfillment) any {
	return struct {
		ID          string      `json:"id"`
		State       string      `json:"state"`
		Status      fence.Words `json:"shop_status"`
		Carrier     fence.Words `json:"carrier"`
		Tracking    fence.Words `json:"tracking"`
		ShippedAt   string      `json:"shipped_at"`
		DeliveredAt string      `json:"delivered_at"`
	}{f.ID, string(f.State), fence.Words(f.Status), fence.Words(f.Carrier), fence.Words(f.Tracking), moment(f.ShippedAt), moment(f.DeliveredAt)}
}

func refundRow(r shop.Refund) any {
	return struct {
		ID         string      `json:"id"`
		Amount     string      `json:"amount"`
		State      string      `json:"state"`
		Status     fence.Words `json:"shop_status"`
		RefundedAt string      `json:"refunded_at"`
		Reference  fence.Words `json:"reference"`
	}{r.ID, amount(r.Amount), string(r.State), fence.Words(r.Status), moment(r.RefundedAt), fence.Words(r.Reference)}
}

func returnRow(r shop.Return) any {
	return struct {
		ID       string      `json:"id"`
		State    string      `json:"state"`
		Status   fence.Words `json:"shop_status"`
		OpenedAt string      `json:"opened_at"`
		Reason   fence.Words `json:"reason"`
	}{r.ID, string(r.State), fence.Words(r.Status), moment(r.OpenedAt), fence.Words(r.Reason)}
}

// amount is an amount as the model reads it: what it is, or what is wrong with it. A rounded one is never shown as if it were exact.
func amount(a shop.Amount) string {
	switch {
	case a.Money != nil:
		return a.Money.String()
	case a.Problem != "":
		return "unknown: " + a.Problem
	}
	return ""
}

func moment(m shop.Moment) string {
	if m.Problem != "" {
		return "unknown"
	}
	return m.When.String()
}

// initials shortens a person's name to what tells two apart: "Ada O.".
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) < 2 {
		return name
	}
	last := []rune(words[len(words)-1])
	return words[0] + " " + string(last[:1]) + "."
}

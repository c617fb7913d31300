package merchant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
)

// The columns in which a shop says in its own word how things stand.
const (
	statusColumn     = "Status"
	shopStatusColumn = "Status in the shop"
)

// exhibits are the shop's rows as tables, each with where and when it was read. Here nothing is masked: a carrier's number with its
// digits hidden proves nothing, and the report goes to the one who was told them before.
func (e evidence) exhibits(at time.Time, asJudged bool) []report.Exhibit {
	r := e.records
	all := []report.Exhibit{
		table("orders", "The order", "S1", r.Order, []report.Column{idColumn("Order"), textColumn("Customer"), timeColumn("Placed"), textColumn(statusColumn), amountColumn("Total"), textColumn("Shipped to")},
			func(o shop.Order) []string {
				return []string{cmp.Or(o.Number, o.ID), o.Customer, instant(o.PlacedAt), o.Status, spelled(o.Total), o.ShippingAddress}
			}),
		table("payments", "Payments", "S2", r.Payments, []report.Column{idColumn("Payment"), textColumn("State"), textColumn(shopStatusColumn), timeColumn("Paid"), idColumn("Reference"), amountColumn("Amount")},
			func(p shop.Payment) []string {
				return []string{p.ID, stateWords(p.State), p.Status, instant(p.PaidAt), p.Reference, spelled(p.Amount)}
			}),
		table("fulfillments", "Deliveries", "S3", r.Fulfillments, []report.Column{idColumn("Parcel"), textColumn("State"), textColumn(shopStatusColumn), textColumn("Carrier"), idColumn("Tracking"), timeColumn("Shipped"), timeColumn("Delivered")},
			func(f shop.Fulfillment) []string {
				return []string{f.ID, stateWords(f.State), f.Status, f.Carrier, f.Tracking, instant(f.ShippedAt), instant(f.DeliveredAt)}
			}),
		table("refunds", "Refunds", "S4", r.Refunds, []report.Column{idColumn("Refund"), textColumn("State"), textColumn(shopStatusColumn), timeColumn("When"), idColumn("Reference"), amountColumn("Amount")},
			func(f shop.Refund) []string {
				return []string{f.ID, stateWords(f.State), f.Status, instant(f.RefundedAt), f.Reference, spelled(f.Amount)}
			}),
		table("returns", "Returns", "S5", r.Returns, []report.Column{idColumn("Return"), textColumn("State"), textColumn(shopStatusColumn), timeColumn("Opened"), textColumn("Reason")},
			func(f shop.Return) []string {
				return []string{f.ID, stateWords(f.State), f.Status, instant(f.OpenedAt), f.Reason}
			}),
	}
	for i := range all {
		all[i].ID, all[i].Database, all[i].ReadAt = fmt.Sprintf("E%d", i+1), "the shop's database", report.At(at)
		if !asJudged {
			all[i].Step = "" // the model was shown other rows
		}
	}
	return all
}

func textColumn(title string) report.Column {
	return report.Column{Title: title, Kind: report.TextColumn}
}
func idColumn(title string) report.Column { return report.Column{Title: title, Kind: report.IDColumn} }
func amountColumn(title string) report.Column {
	return report.Column{Title: title, Kind: report.AmountColumn}
}
func timeColumn(title string) report.Column {
	return report.Column{Title: title, Kind: report.TimeColumn}
}

func table[T any](name, title, step string, rows shop.Rows[T], columns []report.Column, cells func(T) []string) report.Exhibit {
	e := report.Exhibit{Title: title, Table: name, Step: step, Columns: columns, Rows: [][]string{}, Note: noteOn(rows)}
	for _, row := range rows.All {
		e.Rows = append(e.Rows, cells(row))
	}
	return e
}

// noteOn says what an exhibit does not hold.
func noteOn[T any](rows shop.Rows[T]) string {
	switch {
	case rows.Unread != "":
		return "could not be read: " + rows.Unread
	case rows.Unmapped:
		return "the shop's mapping does not say where these are kept"
	case rows.Cut:
		return fmt.Sprintf("the first %d rows; there are more", len(rows.All))
	case len(rows.All) == 0:
		return "no rows"
	}
	return ""
}

func stateWords(s shop.State) string { return strings.ReplaceAll(string(s), "_", " ") }

func spelled(a shop.Amount) string {
	if a.Money == nil {
		return joined(a.Text, a.Problem)
	}
	return a.Money.String()
}

func instant(m shop.Moment) string {
	if m.When.IsZero() {
		return joined(m.Text, m.Problem)
	}
	return m.When.String()
}

// timeline is what happened to the order and to the case, by time. What has no time of its own is left out: it stands in its
// exhibit.
func (e evidence) timeline(c countersign.Case, by string, at time.Time) []report.Event {
	all := []report.Event{}
	add := func(m shop.Moment, source, what string, args ...any) {
		if s := m.When.String(); s != "" {
			all = append(all, report.Event{At: s, What: fmt.Sprintf(what, args...), Source: source})
		}
	}
	r := e.records
	for _, o := range r.Order.All {
		add(o.PlacedAt, "orders", "Order placed")
	}
	for _, p := range r.Payments.All {
		add(p.PaidAt, "payments", "Payment %s: %s", stateWords(p.State), spelled(p.Amount))
	}
	for _, f := range r.Fulfillments.All {
		add(f.ShippedAt, "fulfillments", "Parcel %s shipped", joined(f.Carrier, f.Tracking))
		add(f.DeliveredAt, "fulfillments", "Parcel %s delivered", joined(f.Carrier, f.Tracking))
	}
	for _, f := range r.Refunds.All {
		add(f.RefundedAt, "refunds", "Refund %s: %s", stateWords(f.State), spelled(f.Amount))
	}
	for _, f := range r.Returns.All {
		add(f.OpenedAt, "returns", "Return opened")
	}
	all = append(all, report.Event{At: report.At(c.OpenedAt), What: "Chargeback received", Source: "case record"},
		report.Event{At: report.At(at), What: fmt.Sprintf("Decided by %s: %s", by, c.Outcome), Source: "case record"})
	slices.SortStableFunc(all, func(a, b report.Event) int { return cmp.Compare(a.At, b.At) })
	return all
}

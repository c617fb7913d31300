package web

import (
	"slices"
	"strings"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/desk/merchant/shop"
)

// moneyScreen asks what an amount and a time of this shop mean, beside some that it has.
type moneyScreen struct {
	shopStep
	Amounts, Times []sampleLine
	Units          []picked
	Currency, Zone string
	Zones          []string
	Columns        string // which columns say the currency, in words
	Everywhere     bool   // every amount has such a column
	Negative       []picked
	Below          bool // some amounts are below zero
}

// sampleLine is what one column holds.
type sampleLine struct{ Title, Column, Values string }

func showMoney(w *wizard, status int, p shopStep) error {
	m := w.draft.Mapping
	screen := moneyScreen{shopStep: p, Currency: m.Currency, Zone: m.Zone, Zones: zones}
	if err := w.sampleMoney(&screen); err != nil {
		return err
	}
	if w.r.Method == "POST" { // what was wrong stays to be corrected
		screen.Currency, screen.Zone, m.Unit = w.form("currency"), w.form("zone"), w.form("unit")
	}
	unit := m.Unit
	if unit == "" && pointed(screen.Amounts) {
		unit = connector.Major
	}
	screen.Units = []picked{{Value: connector.Major, Title: "Whole units: 49.90 is forty-nine and ninety", Current: unit == connector.Major},
		{Value: connector.Minor, Title: "The smallest unit: 4990 is forty-nine and ninety", Current: unit == connector.Minor}}
	return w.draw(status, w.template, screen)
}

// pointed reports whether an amount has a point in it, which the smallest unit never has.
func pointed(lines []sampleLine) bool {
	return slices.ContainsFunc(lines, func(l sampleLine) bool { return strings.Contains(l.Values, ".") })
}

func (w *wizard) sampleMoney(p *moneyScreen) error {
	s, _, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	m := w.draft.Mapping
	p.Everywhere = true
	var currencies []string
	for _, k := range m.Kinds() {
		rows, err := s.Samples(w.r.Context(), k, 5)
		if err != nil {
			return err
		}
		e, lines := m.Entities[k], setup.Lines(k, rows)
		p.Times = append(p.Times, timesOf(k, e, rows)...)
		amount := e.Columns[k.Amount()]
		if amount != "" {
			p.Amounts = append(p.Amounts, sampleLine{kindTitles[k], legible(amount), sampled(texts(lines, func(l setup.Line) string { return l.Amount.Text }))})
			if e.Columns["currency"] != "" {
				currencies = append(currencies, legible(e.Columns["currency"]))
			} else {
				p.Everywhere = false
			}
		}
		if k == connector.Payment || k == connector.Refund {
			p.Negative = append(p.Negative, picked{Value: string(k), Title: kindTitles[k], Current: e.Sign != ""})
			p.Below = p.Below || e.Sign != "" || slices.ContainsFunc(lines, func(l setup.Line) bool { return strings.HasPrefix(l.Amount.Text, "-") })
		}
	}
	p.Columns = strings.Join(slices.Compact(currencies), ", ")
	return nil
}

// timesOf are the columns of a kind that hold times, each with what it holds and no other.
func timesOf(k connector.Kind, e connector.Entity, rows connector.Sampled) (all []sampleLine) {
	add := func(name string, values []string) {
		if column := e.Columns[name]; column != "" {
			all = append(all, sampleLine{kindTitles[k], legible(column), sampled(values)})
		}
	}
	switch k {
	case connector.Order:
		add("placed_at", texts(rows.Order.All, func(o shop.Order) string { return o.PlacedAt.Text }))
	case connector.Payment:
		add("paid_at", texts(rows.Payments.All, func(p shop.Payment) string { return p.PaidAt.Text }))
	case connector.Fulfillment:
		add("shipped_at", texts(rows.Fulfillments.All, func(f shop.Fulfillment) string { return f.ShippedAt.Text }))
		add("delivered_at", texts(rows.Fulfillments.All, func(f shop.Fulfillment) string { return f.DeliveredAt.Text }))
	case connector.Refund:
		add("refunded_at", texts(rows.Refunds.All, func(r shop.Refund) string { return r.RefundedAt.Text }))
	case connector.Return:
		add("opened_at", texts(rows.Returns.All, func(r shop.Return) string { return r.OpenedAt.Text }))
	}
	return all
}

func texts[T any](rows []T, text func(T) string) (all []string) {
	for _, row := range rows {
		all = append(all, text(row))
	}
	return all
}

// sampled are the different values of some rows, in a line.
func sampled(values []string) string {
	var all []string
	for _, value := range values {
		if text := legible(clip(value)); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "nothing yet"
	}
	return strings.Join(all[:min(3, len(all))], " · ")
}

// answerMoney keeps what an amount and a time mean. An unknown zone is taken too: the times are then shown and compared by no rule.
func answerMoney(w *wizard) error {
	m := &w.draft.Mapping
	m.Unit, m.Currency, m.Zone = w.form("unit"), strings.ToUpper(w.form("currency")), w.form("zone")
	if m.Unit == "" {
		return countersign.Errorf(countersign.Invalid, "missing: is an amount of 4990 four thousand or forty-nine?").In("unit")
	}
	for _, k := range []connector.Kind{connector.Payment, connector.Refund} {
		if e, ok := m.Entities[k]; ok {
			e.Sign = ""
			if slices.Contains(w.r.PostForm["negative"], string(k)) {
				e.Sign = connector.NegativeIsRefund
			}
			m.Entities[k] = e
		}
	}
	for _, wrong := range m.Faults() {
		if about(wrong.Field, "unit", "currency", "zone", "sign") {
			return wrong
		}
	}
	return w.next("")
}

// about reports whether a field is one of these, of the mapping or of one of its entities.
func about(field string, names ...string) bool {
	i := strings.LastIndex(field, ".")
	return slices.Contains(names, field[i+1:]) && !strings.Contains(field, ".columns.")
}

package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/pipeline/intake"
)

// chargebackScreen is the page on which a chargeback is opened: an order, and what came with it. What was typed is kept whatever
// happens.
type chargebackScreen struct {
	Order, Network, ReasonCode, Amount, Currency, Due, Reference, Notes string
	Stages                                                              []picked
	Zone                                                                string // in which Due is typed
	Wrong                                                               map[string]string
	Unknown                                                             bool          // the shop answers, and has no such order
	Others                                                              []earlierCase // about this order or of this reference, and not this dispute
}

// stages are the stages of a dispute between a cardholder's bank and a shop. An inquiry has taken no money yet.
var stages = []picked{
	{Value: "inquiry", Title: "Inquiry: a question, no money was taken"}, {Value: "chargeback", Title: "Chargeback"},
	{Value: "pre_arbitration", Title: "Pre-arbitration"}, {Value: "arbitration", Title: "Arbitration"},
}

func chargebackForm(v *visit) error {
	return v.showChargeback(http.StatusOK, chargebackScreen{Order: strings.TrimSpace(v.r.URL.Query().Get("order"))}, "chargeback")
}

func (v *visit) showChargeback(status int, p chargebackScreen, stage string) error {
	p.Zone = v.zone.String()
	for _, s := range stages {
		s.Current = s.Value == stage
		p.Stages = append(p.Stages, s)
	}
	return v.show(status, "chargeback", screen{Title: "Open a chargeback", Section: "Open a dispute", Page: p})
}

// postChargeback opens a chargeback by the same way as every other channel. The shop is not asked: a chargeback with its deadline is
// kept even while the shop's database is down.
func postChargeback(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	p := chargebackScreen{Order: v.form("order_id"), Network: v.form("network"), ReasonCode: v.form("reason_code"), Amount: v.form("amount"),
		Currency: strings.ToUpper(v.form("currency")), Due: v.form("due"), Reference: v.form("provider_ref"), Notes: v.r.PostFormValue("notes"), Wrong: map[string]string{}}
	request := v.chargeback(&p)
	if len(p.Wrong) > 0 {
		return v.showChargeback(http.StatusBadRequest, p, v.form("stage"))
	}
	if v.form("anyway") == "" && v.noSuchOrder(p.Order) {
		p.Unknown, p.Wrong["order_id"] = true, "The shop answers, and has no order of this number."
		return v.showChargeback(http.StatusBadRequest, p, v.form("stage"))
	}
	if v.form("another") == "" {
		var err error
		if p.Others, err = v.otherDisputes(request); err != nil {
			return err
		}
		if len(p.Others) > 0 {
			return v.showChargeback(http.StatusConflict, p, v.form("stage"))
		}
	}
	opened, err := v.Intake.Open(v.r.Context(), v.Desks[countersign.Merchant].Desk, v.who.Actor, request)
	switch e := answer.Told(err); {
	case e != nil && e.Err == nil:
		p.Wrong[strings.SplitN(e.Field, ".", 2)[0]] = advised(e)
		return v.showChargeback(answer.Status(e.Kind), p, v.form("stage"))
	case err != nil:
		return err
	case opened.Sooner:
		return v.back("/cases/"+string(opened.Case.ID), "This chargeback was open already. Its deadline is now the sooner one that you typed; nothing else was added to it.")
	case !opened.Created:
		return v.back("/cases/"+string(opened.Case.ID), "This chargeback was open already; what you typed now was not added to it.")
	}
	return v.back("/cases/"+string(opened.Case.ID), "The chargeback is open, and its order is being read.")
}

// noSuchOrder asks the shop for an order that a person has just typed. A shop that does not answer has said nothing: the chargeback is
// opened, and its deadline kept.
func (v *visit) noSuchOrder(order string) bool {
	ctx, cancel := context.WithTimeout(v.r.Context(), longestLook)
	defer cancel()
	facts, err := v.Desks[countersign.Merchant].Facts(ctx, v.Store.View, countersign.Case{Desk: countersign.Merchant,
		Subject: countersign.Subject{Kind: countersign.OrderSubject, ID: order}})
	return err == nil && facts.Fact("order_found").State == countersign.Absent
}

// otherDisputes are the cases that a chargeback about an order may be mistaken for, none when it is one that is open: what was typed then
// is reported again. One dispute that is worked as two is answered twice, or paid twice.
func (v *visit) otherDisputes(r intake.Request) ([]earlierCase, error) {
	d := v.Desks[countersign.Merchant].Desk
	found, err := d.Find(v.r.Context(), v.Store.View, r, v.now)
	if err != nil {
		return nil, nil // intake says why it is refused
	}
	_, open, err := v.Store.OpenCase(v.r.Context(), d.Name, found.Subject, found.Reason, r.Terms.Reference, found.Stage)
	if err != nil || open {
		return nil, err
	}
	all, err := v.Store.CasesAbout(v.r.Context(), found.Subject, r.Terms.Reference, 6)
	return v.listed(all), err
}

// chargeback reads what was typed, and notes what cannot be read.
func (v *visit) chargeback(p *chargebackScreen) intake.Request {
	r := intake.Request{SubjectID: p.Order, SubjectField: "order_id", Reason: countersign.OtherReason, Notes: lineEnds.Replace(p.Notes), Channel: "dashboard",
		Stage: v.form("stage"), Terms: countersign.Terms{Network: p.Network, ReasonCode: p.ReasonCode, Reference: p.Reference}}
	if p.Amount != "" {
		m, err := countersign.ParseMoney(p.Amount, p.Currency)
		if err != nil {
			p.Wrong["amount"] = "An amount and its currency, such as 149.00 and USD."
		}
		r.Amount = &m
	}
	if p.Due != "" {
		at, err := time.ParseInLocation(dueForm, p.Due, v.zone)
		if err != nil {
			p.Wrong["due_at"] = "A day and a time, such as 2026-12-01 17:00."
		}
		r.DueAt = &at
	}
	return r
}

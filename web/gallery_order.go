package web

import (
	"context"
	"fmt"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/desk/merchant/report"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
	"countersign/store"
)

func usDollars(minor int64) countersign.Money {
	return countersign.Money{Minor: minor, Currency: "USD"}
}

// policyText is a page of an invented shop's policy.
const policyText = "Several parcels\n\nAn order may travel in several parcels. It counts as delivered when the last of them was delivered.\n\n" +
	"When an order counts as delivered\n\nAn order counts as delivered when the carrier records the delivery at the address given in the order. For parcels " +
	"worth more than 200 US dollars a signature is taken at the door.\n\nWhen nothing arrived\n\nIf tracking shows no movement for seven days, tell us: " +
	"we open a trace with the carrier and answer within ten days."

const clauseText = "An order counts as delivered when the carrier records the delivery at the address given in the order."

// aboutOrder is a chargeback about an order that was delivered, reviewed and waiting for a person.
func (g *gallery) aboutOrder(id countersign.CaseID) *tale {
	due := galleryTime.Add(5 * 24 * time.Hour)
	t := &tale{Case: countersign.Case{ID: id, Desk: countersign.Merchant, Subject: countersign.Subject{Kind: countersign.OrderSubject, ID: "20140"}, Channel: "api",
		Reason: countersign.NotReceived, Amount: usDollars(149_00), Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1", Reference: "dp_1QxYz"}, Stage: "chargeback",
		Status: countersign.InReview, OpenedAt: galleryTime.Add(-40 * time.Minute), UpdatedAt: galleryTime.Add(-12 * time.Minute),
		Notes: "Cardholder states that the merchandise was never received.", DueAt: &due, DueSource: countersign.DueFromProvider, Round: 1, Revision: 4,
		Facts: orderFacts(""), Model: countersign.ModelUse{Provider: "openai", Name: "desk-model-1", Attempts: 1, InputTokens: 3120, OutputTokens: 411}},
		desk: g.shop, display: orderDisplay(), steps: orderSteps()}
	start := strings.Index(policyText, clauseText)
	t.documents = []verify.Document{{ID: "PV-4", Title: "Shipping and Delivery", File: "shipping.pdf", Version: "v4", Text: policyText}}
	t.proposes(&countersign.Proposal{Recommendation: "CONTEST", Confidence: 0.93, Turn: 1, Summary: "The order was delivered, so the claim that nothing arrived can be answered.",
		Claims: []countersign.Claim{
			{Text: "The order was paid.", Citations: []countersign.Citation{cites("S2", "payments[0].state", "paid")}},
			{Text: "The parcel was delivered on 7 November.", Citations: []countersign.Citation{cites("S3", "fulfillments[0].state", "delivered")}},
			{Text: "Nothing was refunded.", Citations: []countersign.Citation{cites("S4", "count", "0")}}},
		Quotes: []countersign.Quote{{Document: "Shipping and Delivery", Quote: clauseText, Version: "v4", Status: countersign.QuoteExact, Start: start, End: start + len(clauseText), Page: 2}}})
	return t.because(aReason(countersign.PersonDecides, "Every case of this desk is decided by a person."))
}

// orderFacts are the facts of the order, with a refund on record where one is given.
func orderFacts(refund string) *countersign.Facts {
	fact := func(name string, state countersign.FactState, value, source string) countersign.Fact {
		return countersign.Fact{Name: name, State: state, Value: value, Source: source}
	}
	refunded := fact("refund_returned", countersign.Absent, "", "refunds")
	doubts := []countersign.Doubt{{Wanting: "ACCEPT", Fact: "refund_returned", Reason: aReason(countersign.NoRefundContradictsAccept, "There is no refund on record yet.")}}
	if refund != "" {
		refunded = fact("refund_returned", countersign.Present, refund+", which covers the dispute", "refunds B20140-1")
		doubts[0] = countersign.Doubt{Wanting: "CONTEST", Fact: "refund_returned", Reason: aReason(countersign.RefundContradictsContest,
			"The records show that "+refund+" was already refunded, which covers the USD 149.00 in dispute; contesting would deny it.")}
	}
	return &countersign.Facts{Seen: recordsSeen, Doubts: doubts, Items: []countersign.Fact{
		fact("order_found", countersign.Present, "20140", "orders 20140"), fact("paid", countersign.Present, "USD 149.00", "payments T20140-1"),
		fact("disputed", countersign.Present, "USD 149.00", "the chargeback"), refunded, fact("refund_pending", countersign.Absent, "", "refunds"),
		fact("return_on_file", countersign.Absent, "", "returns"), fact("delivered", countersign.Present, "delivered 2026-11-07, UPS 1Z-20140", "fulfillments P20140-1"),
		fact("in_time", countersign.Present, "2026-12-05T08:10:00Z", "the chargeback"), fact("policy_in_force", countersign.Present, "Shipping and Delivery v4", "library")}}
}

func orderDisplay() desk.Display {
	total := usDollars(149_00)
	delivered := countersign.At(galleryTime.Add(-23 * 24 * time.Hour))
	return desk.Display{Lines: []desk.Line{
		{Label: "Order", Cell: desk.Cell{Text: "20140"}}, {Label: "Placed", Cell: desk.Cell{When: countersign.At(galleryTime.Add(-27 * 24 * time.Hour))}},
		{Label: "Total", Cell: desk.Cell{Amount: &total}}, {Label: "Customer", Cell: theirCell("Margaret Hollis", "the customer")},
		{Label: "Network", Cell: desk.Cell{Text: "visa · 13.1 · merchandise or services not received"}}, {Label: "Reference", Cell: desk.Cell{Text: "dp_1QxYz"}}},
		Tables: []desk.Table{
			{Name: "payments", Title: "Payments", Cited: []string{"payments"}, Columns: []string{"Payment", "Amount", "State", "Reference"},
				Rows: []desk.Row{{ID: "T20140-1", Mine: true, Cells: []desk.Cell{{Text: "T20140-1"}, {Amount: &total}, {Text: "paid (taken)"}, theirCell("pi_3Kx91", "the shop")}}}},
			{Name: "fulfillments", Title: "Deliveries", Cited: []string{"fulfillments"}, Columns: []string{"Parcel", "State", "Carrier", "Tracking", "Delivered"},
				Rows: []desk.Row{{ID: "P20140-1", Mine: true, Cells: []desk.Cell{{Text: "P20140-1"}, {Text: "delivered (handed over)"}, theirCell("UPS", "the carrier"), theirCell("1Z-20140", "the carrier"), {When: delivered}}}}}}}
}

func orderSteps() []countersign.Step {
	var p payment
	all := []countersign.Step{
		p.step(1, "read_order", 4*time.Millisecond, `{"found":true,"order":{"id":"20140","number":"20140","customer":%s,"total":"USD 149.00","shipping_address":%s}}`,
			theirs("Margaret H."), theirs("12 Harbour Road, Portland OR 97201, USA")),
		p.step(2, "read_payments", time.Millisecond, `{"payments":[{"id":"T20140-1","amount":"USD 149.00","state":"paid","shop_status":%s}],"count":1}`, theirs("taken")),
		p.step(3, "read_fulfillments", time.Millisecond, `{"fulfillments":[{"id":"P20140-1","state":"delivered","carrier":%s,"tracking":%s}],"count":1}`, theirs("UPS"), theirs("1Z-20140")),
		p.step(4, "read_refunds", time.Millisecond, `{"refunds":[],"count":0}`),
		p.step(5, "read_returns", time.Millisecond, `{"returns":[],"count":0}`),
		p.step(6, "read_policies", 5*time.Millisecond, `{"passages":[{"document":"Shipping and Delivery","version":"v4","page":2,"text":[%s]}]}`, theirs(clauseText)),
	}
	for i := range all {
		all[i].Turn = 0
	}
	return all
}

// orders are the cases of a shop.
func (g *gallery) orders() {
	g.showCase(anAnalyst, "a chargeback to contest", g.aboutOrder("C-2001").file())

	g.showCase(anAnalyst, "a chargeback whose recommendation was overruled", g.refunded("C-2003").file())

	g.showCase(anAnalyst, "a chargeback whose deadline was edited since", g.tooLate("C-2046").file())

	g.typedIn()

	down := g.aboutOrder("C-2023").because(aReason(countersign.FactsUnreadable, "The order could not be read: the shop's database did not answer in time."), decidesAlways)
	down.Facts, down.none, down.display, down.Recommendation = &countersign.Facts{Seen: recordsSeen, Items: []countersign.Fact{{Name: "order_found", State: countersign.Unknown, Source: "orders"}}}, true, desk.Display{}, "MANUAL_REVIEW_REQUIRED"
	g.showCase(anAnalyst, "a chargeback while the shop is down", down.file())
}

var decidesAlways = aReason(countersign.PersonDecides, "Every case of this desk is decided by a person.")

// refunded is a chargeback that a model would contest although the money went back, with a clause that is not there.
func (g *gallery) refunded(id countersign.CaseID) *tale {
	t := g.aboutOrder(id)
	t.Facts, t.Recommendation = orderFacts("USD 149.00"), "MANUAL_REVIEW_REQUIRED"
	t.Proposal.Quotes = append(t.Proposal.Quotes, countersign.Quote{Document: "Shipping and Delivery", Quote: "All sales are final under any circumstances whatsoever.", Version: "v4", Status: countersign.QuoteNotFound})
	t.Proposal.Quotes = append(t.Proposal.Quotes, countersign.Quote{Document: "Shipping and Delivery", Quote: "eligible for a refund after 30 days", Version: "v4", Status: countersign.QuoteLeavesOut})
	t.because(aReason(countersign.RefundContradictsContest, t.Facts.Doubts[0].Reason.Text), decidesAlways)
	t.Verdict.Caveats = []string{t.Facts.Doubts[0].Reason.Text}
	return t
}

// tooLate is a chargeback whose deadline somebody set to a day that has passed, after it was judged.
func (g *gallery) tooLate(id countersign.CaseID) *tale {
	t, passed := g.aboutOrder(id), galleryTime.Add(-29*24*time.Hour)
	t.DueAt, t.DueSource, t.now = &passed, countersign.DueManual, orderFacts("")
	t.now.Seen, t.now.Rows, t.Facts.Rows = "another", recordsSeen, recordsSeen
	for i, f := range t.now.Items {
		if f.Name == "in_time" {
			t.now.Items[i].State, t.now.Items[i].Value = countersign.Absent, passed.UTC().Format(time.RFC3339)
		}
	}
	t.now.Doubts = append(t.now.Doubts, countersign.Doubt{Fact: "in_time", Reason: aReason(countersign.DeadlinePassed, "The deadline has passed.")})
	return t
}

// refundedInPart is a chargeback of which a part went back before.
func (g *gallery) refundedInPart(id countersign.CaseID) *tale {
	t := g.aboutOrder(id)
	t.Facts, t.Recommendation = orderFacts("USD 49.00"), "MANUAL_REVIEW_REQUIRED"
	for i, f := range t.Facts.Items {
		if f.Name == "refund_returned" {
			t.Facts.Items[i].Value = "USD 49.00, a part"
		}
	}
	t.Facts.Doubts = []countersign.Doubt{{Fact: "refund_returned", Reason: aReason(countersign.PartialRefund, "USD 49.00 of the USD 149.00 in dispute was already refunded, USD 100.00 was not.")}}
	t.because(t.Facts.Doubts[0].Reason, decidesAlways)
	t.Verdict.Caveats = []string{t.Facts.Doubts[0].Reason.Text}
	return t
}

// stillThere is the shop as it was when its cases were reviewed.
func stillThere(context.Context, store.View, countersign.Case) (review.Fresh, error) {
	return review.Fresh{Facts: countersign.Facts{Seen: recordsSeen}}, nil
}

// quotes is what the report of a sample would quote: the clause that its proposal found.
func quotes(_ context.Context, _ store.View, c countersign.Case) (all []desk.Clause, err error) {
	for i, q := range c.Proposal.Quotes {
		if words := report.Found[q.Status]; words != "" {
			all = append(all, desk.Clause{Name: fmt.Sprint(desk.ClausePrefix, i+1), Document: q.Document, Version: q.Version, Page: q.Page, Quote: q.Quote, Found: words})
		}
	}
	return all, nil
}

// typedIn are cases on which people stated what no record shows.
func (g *gallery) typedIn() {
	known := g.aboutOrder("C-2041").withTyped()
	g.showCase(anAnalyst, "a chargeback with typed-in facts", known.file())
	g.showCase(anAuditor, "a chargeback with typed-in facts, seen by an auditor", known.file())

	v := g.visit(anAnalyst)
	page, err := v.caseScreen(g.aboutOrder("C-2042").file())
	if err != nil {
		panic(err) // unreachable: a sample's records can be read
	}
	page.Typed.Wrong = map[string]string{"amount": "“12,5 0 USD” is no amount; expected one such as 149.00 and USD.", "on": "On has not come yet. Say when it happened."}
	page.Typed.Form = typedForm{Text: "I gave her the money back in the shop", On: "2027-01-01", Amount: "12,5 0", Currency: "USD"}
	g.hang(v, "case", "a chargeback, a typed-in fact was refused", "", screen{Title: page.ID + " " + page.Title, Section: "Queue", Page: page})
}

// withTyped is what two people typed in.
func (t *tale) withTyped() *tale {
	back := usDollars(20_00)
	t.typed = []countersign.TypedFact{
		{ID: "typed_1", Kind: "delivery", Text: "Our own driver handed it to the porter, who signed for it. The slip is in the van.", On: "2026-11-07", Reference: "Round 7"},
		{ID: "typed_2", Kind: "refund", Text: "Twenty dollars in cash for the scratched lid; dékalẹ̀ \u202eknow", Amount: &back},
	}
	for i := range t.typed {
		f := &t.typed[i]
		f.CaseID, f.TypedAt, f.TypedBy = t.ID, galleryTime.Add(time.Duration(i-7)*time.Minute), anAnalyst.Actor.String()
		t.later = append(t.later, deed{time.Minute, audit.Note, anAnalyst.Actor, fields{"round": 1, "typed": "added", "fact": f}})
	}
	return t
}

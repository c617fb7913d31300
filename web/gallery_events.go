package web

import (
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/events"
)

// heard are the states of a case that a provider's events brought about.
func (g *gallery) heard() {
	g.showCase(anAnalyst, "a chargeback that was won, and charged back a second time", g.again("C-2070").file())
	g.showCase(anAnalyst, "a dispute that names no order", g.unmatched("C-2071").file())
	g.showCase(anAnalyst, "an inquiry that nobody reads an answer to, and what arrived since", g.unread("C-2072").file())
}

// told are events of a dispute, so many hours apart, as they came in.
func told(t *tale, all ...events.Dispute) (known []events.Known) {
	for i, d := range all {
		at := galleryTime.Add(time.Duration(i-len(all)) * 9 * time.Hour)
		d.ID, d.OrderID, d.PaymentID, d.Network, d.ReasonCode = "dp_1MtJUT2eZvKYlo2C", t.Subject.ID, "ch_1MtJUT2eZvKYlo2CNaw2HvEv", t.Terms.Network, t.Terms.ReasonCode
		if d.Round == 0 {
			d.Round = 1
		}
		known = append(known, events.Known{Key: fmt.Sprint("evt_", i), Source: "provider", ReceivedAt: at.Add(90 * time.Second), Seen: 1 + i%2,
			Event: events.Event{Version: 1, ID: fmt.Sprint("ev_", i), Type: "charge.dispute.updated", CreatedAt: at, Dispute: &d}})
	}
	return known
}

// again is a chargeback that was contested and won, and came back.
func (g *gallery) again(id countersign.CaseID) *tale {
	t := g.aboutOrder(id)
	due := galleryTime.Add(19 * 24 * time.Hour)
	t.heard.known = told(t, events.Dispute{Stage: events.Inquiry, Status: events.Closed}, events.Dispute{Stage: events.Chargeback, Status: events.NeedsResponse},
		events.Dispute{Stage: events.Chargeback, Status: events.Won}, events.Dispute{Stage: events.Chargeback, Status: events.NeedsResponse, Round: 2, DueAt: &due})
	t.Stage, t.Round, t.DueAt, t.DueSource, t.Recommendation = "chargeback", 2, &due, countersign.DueFromProvider, "MANUAL_REVIEW_REQUIRED"
	t.Reopened = &countersign.Reopened{Reason: aReason(countersign.ReopenedByEvent, "Another round has begun."), At: galleryTime.Add(-9 * time.Hour), Round: 2}
	provider := countersign.Actor{Kind: countersign.Source, ID: "provider"}
	t.before = []deed{
		{time.Hour, audit.Decision, anAnalyst.Actor, fields{"round": 1, "status": countersign.InReview, "verb": "override", "outcome_wanted": countersign.Contested,
			"reason": "The carrier has the delivery, and the customer signed for it."}},
		{time.Second, audit.Note, anAnalyst.Actor, fields{"round": 1, "report": audit.ReportMade + fmt.Sprintf("%064d", 7)}},
		{time.Second, audit.Closed, anAnalyst.Actor, fields{"round": 1, "status": countersign.Closed, "outcome": countersign.Contested, "handled_by": countersign.ByPerson}},
		{24 * time.Hour, audit.Event, provider, fields{"round": 1, "source": "provider", "events": []fields{{"type": "charge.dispute.closed"}},
			"standing": events.Standing{Stage: events.Chargeback, Status: events.Won}}},
		{24 * time.Hour, audit.Reopened, provider, fields{"round": 2, "status": countersign.Queued, "outcome": "", "source": "provider", "events": []fields{{"type": "charge.dispute.created"}},
			"text": "Another round has begun."}},
	}
	t.because(t.Reopened.Reason, decidesAlways)
	t.Verdict.Caveats = []string{t.Reopened.Text}
	return t
}

// unmatched is a dispute whose order nobody knows.
func (g *gallery) unmatched(id countersign.CaseID) *tale {
	t := g.aboutOrder(id)
	t.Subject.ID = ""
	t.heard.known = told(t, events.Dispute{Stage: events.Chargeback, Status: events.NeedsResponse})
	t.Stage, t.Recommendation, t.none = "chargeback", "MANUAL_REVIEW_REQUIRED", true
	t.Facts = &countersign.Facts{Seen: recordsSeen, Items: []countersign.Fact{{Name: "order_found", State: countersign.Absent, Source: "the dispute"}}}
	return t.because(aReason(countersign.OrderNotFound, "The dispute names no order of the shop. Attach the one that it is about."), decidesAlways)
}

// unread is an inquiry whose answer would be read by nobody.
func (g *gallery) unread(id countersign.CaseID) *tale {
	t := g.aboutOrder(id)
	t.Terms.Network, t.Stage = "klarna", "inquiry"
	t.heard.known = told(t, events.Dispute{Stage: events.Inquiry, Status: events.NeedsResponse}, events.Dispute{Stage: events.Inquiry, Status: events.UnderReview})
	for i := range t.heard.known {
		t.heard.known[i].ReceivedAt = galleryTime.Add(time.Duration(i) * time.Hour)
	}
	t.heard.refunds = []events.Known{{Key: "evt_9", Source: "provider", ReceivedAt: galleryTime.Add(3 * time.Hour), Seen: 1, Event: events.Event{Version: 1, ID: "ev_9",
		Type: "refund.failed", CreatedAt: galleryTime, Refund: &events.Refund{ID: "re_77", OrderID: t.Subject.ID, Status: events.RefundFailed, Amount: &t.Amount}}}}
	return t
}

// sources are the states of the page about who may send events.
func (g *gallery) sources() {
	admin := g.visit(anAdmin)
	hang := func(state, address string, p eventsScreen) {
		p.Address = "https://disputes.bank.example/hooks/"
		g.hang(admin, "events", state, address, screen{Title: "Events", Section: "Settings", Page: p})
	}
	hang("no source yet", "/settings/events", eventsScreen{})
	all := eventsScreen{Sources: []sourceLine{
		{Name: "provider", Window: "5 minutes", Skew: "the same second", Last: admin.moment(galleryTime), Deliveries: "12,408", Events: "11,973", Former: admin.moment(galleryTime.Add(9 * time.Hour))},
		{Name: "old-gateway-of-the-german-shop", Window: "5 minutes", Skew: "188 s behind ours", Off: true, Last: admin.moment(galleryTime.Add(-time.Hour)), Deliveries: "31", Events: "30", Waiting: 2, Unreadable: 1,
			Kept: []refusedLine{{admin.moment(galleryTime.Add(-2 * time.Hour)), `dispute.status: "angry" is not one of needs_response, under_review, closed, withdrawn, reversed, won, accepted, expired, lost`}},
			Refused: []refusedLine{{admin.moment(galleryTime.Add(-time.Hour)), "Countersign-Signature: is of another body or secret: body changed in transit? (headers seen: Accept-Encoding, Content-Length, Countersign-Signature, User-Agent, X-Forwarded-For)"},
				{admin.moment(galleryTime.Add(-3 * time.Hour)), "Countersign-Signature: is 3600 seconds off, and 300 are allowed: signed at 2026-12-01T06:10:00Z, and it is 2026-12-01T07:10:00Z here"}}},
		{Name: "new", Window: "5 minutes", Deliveries: "0", Events: "0", Lost: true},
	}}
	all.Changes = []sourceChange{
		{"new", "Ngozi Admin", "added", admin.moment(galleryTime)},
		{"provider", "Ngozi Admin", "given a new secret", admin.moment(galleryTime.Add(-15 * time.Hour))},
		{"the-shop-of-last-year", "the operator", "removed", admin.moment(galleryTime.Add(-70 * 24 * time.Hour))},
	}
	hang("sources, one with trouble", "", all)
	fresh := all
	fresh.Secret = &secretPanel{"Secret of new", "cshook_4WQ7ZK2M9XN5RPT3VBYJ6DHCAG8E4WQ7ZK2M9XN5RPT3VBYJ6DHC", "It signs what new sends. It is not shown again."}
	hang("a secret, shown once", "", fresh)
	wrong := all
	wrong.Name, wrong.Wrong = "New Source", `Name "New Source" is no name of a source; expected up to 40 small letters, digits and dashes.`
	hang("a name that is none", "", wrong)
}

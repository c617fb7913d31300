package web

import (
	"slices"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/store"
)

// listed is a case as the queue lists it.
func (g *gallery) listed(id countersign.CaseID, complaint countersign.DisputeReason, amount countersign.Money, due time.Duration, recommendation string, codes ...countersign.ReasonCode) countersign.Case {
	at := galleryTime.Add(due)
	c := countersign.Case{ID: id, Desk: countersign.Bank, Reason: complaint, Amount: amount, Status: countersign.InReview, DueAt: &at, DueSource: countersign.DueFromRule,
		Recommendation: recommendation, Verdict: &countersign.Verdict{Kind: countersign.Review}}
	for _, code := range codes {
		c.Verdict.Reasons = append(c.Verdict.Reasons, countersign.Reason{Code: code})
	}
	if recommendation == "resolve" {
		c.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: countersign.NewFix(countersign.Reversal, "TX-1", "A-1", amount)}
	}
	return c
}

// waitingCases are what a morning's queue holds, most at risk first.
func (g *gallery) waitingCases() []countersign.Case {
	euros := countersign.Money{Minor: 129_900, Currency: "EUR"}
	unknown := g.listed("D-1049", countersign.Unauthorised, naira(8_420_000), 0, "escalate", countersign.FraudSuspected, countersign.ModelAskedForPerson)
	unknown.DueAt = nil
	refused := g.listed("D-1051", countersign.FailedTransfer, naira(8_420_000), -3*time.Hour, "resolve", countersign.FixNotApplicable)
	refused.Fix.State = countersign.FixRefused
	raised := g.listed("D-1052", countersign.FailedTransfer, naira(8_420_000), 3*time.Hour, "escalate", countersign.AboveCap)
	raised.Raised = true
	return []countersign.Case{
		unknown, g.listed("D-1017", countersign.Unauthorised, euros, -49*time.Hour, "escalate", countersign.FraudSuspected, countersign.TypeNotAllowed, countersign.ConfidenceLow, countersign.ModelAskedForPerson),
		refused, g.listed("D-1046", countersign.FailedTransfer, naira(1_025_000), 45*time.Minute, "escalate", countersign.ModelFailed),
		raised, g.listed("D-1045", countersign.FailedTransfer, naira(3_330_000), 5*time.Hour, "escalate", countersign.FactsDisagree),
		g.listed("D-1050", countersign.FailedTransfer, naira(880_000), 11*time.Hour, "escalate", countersign.EvidenceInvalid),
		g.listed("D-1042", countersign.FailedTransfer, naira(8_420_000), 23*time.Hour+20*time.Minute, "resolve", countersign.AboveCap),
		g.listed("D-1048", countersign.FailedTransfer, naira(615_000), 26*time.Hour, "resolve", countersign.FactsUnknown, countersign.ConfidenceLow),
		g.listed("D-1057", countersign.DuplicateCharge, naira(1_700_000), 40*time.Hour, "reject", countersign.RejectionNeedsPerson),
		g.listed("D-1047", countersign.FailedTransfer, naira(1_460_000), 52*time.Hour, "escalate", countersign.EvidenceTooLittle, countersign.FactsUnreadable, countersign.ConfidenceLow, countersign.ModelAskedForPerson),
		g.listed("D-1023", countersign.NotReceived, countersign.Money{Minor: 5_800, Currency: "JPY"}, 6*24*time.Hour, "escalate", countersign.TypeNotAllowed, countersign.NoCapForCurrency),
		g.listed("D-1024", countersign.WrongAmount, naira(123_456_789_00), 13*24*time.Hour, "escalate", countersign.TypeNotAllowed),
	}
}

// inQueue is how many cases each way to narrow the morning's queue lists.
func inQueue() store.Counts {
	return store.Counts{Open: 15, ForPerson: 13, Raised: 1, Status: map[countersign.Status]int{countersign.InReview: 13, countersign.Closed: 871},
		Due: map[store.Due]int{store.Overdue: 2}, Desk: map[countersign.DeskName]int{countersign.Bank: 13},
		Complaint:      map[countersign.DisputeReason]int{countersign.FailedTransfer: 8, countersign.Unauthorised: 2, countersign.DuplicateCharge: 1, countersign.NotReceived: 1, countersign.WrongAmount: 1},
		Reason:         map[countersign.ReasonCode]int{countersign.FraudSuspected: 2, countersign.AboveCap: 2, countersign.ModelAskedForPerson: 3, countersign.TypeNotAllowed: 3, countersign.FactsDisagree: 1},
		Recommendation: map[string]int{"resolve": 3, "reject": 1, "escalate": 9}}
}

// list hangs a queue. Every third case is somebody's.
func (g *gallery) list(v *visit, state, address string, n narrowing, page store.Page, counts store.Counts, then func(*screen)) {
	p := v.queueScreen(n, page, counts, counts)
	for i, c := range page.Cases {
		holder := store.Claim{}
		if i%3 == 1 && c.Status == countersign.InReview {
			holder.PersonID = []string{anAnalyst.PersonID, anApprover.PersonID}[i/3%2]
		}
		p.Rows = append(p.Rows, queueRow{string(c.ID), matter(c), reasonsShort(c), v.whoHas(holder, colleagues), needs(c), money(c.Amount), v.due(c)})
	}
	s := screen{Title: p.Heading, Section: "Queue", Page: p}
	if then != nil {
		then(&s)
	}
	g.hang(v, "queue", state, address, s)
}

func (g *gallery) queues() {
	v, all := g.visit(anAnalyst), store.Page{Cases: g.waitingCases()}
	g.list(v, "full: overdue, due soon and of unknown deadline", "/queue", narrowing{}, all, inQueue(), nil)
	g.list(v, "with a message about what was just done", "", narrowing{}, all, inQueue(),
		func(s *screen) { s.Told = "The reversal of NGN 84,200.00 was posted, and the case is closed." })
	demo := g.visit(anAdmin)
	demo.Notice = demoNotice
	g.list(demo, "of a demo, seen by an admin", "", narrowing{}, all, inQueue(), nil)
	g.list(g.visit(anAuditor), "seen by an auditor, who takes no case", "", narrowing{}, all, inQueue(), nil)
	g.list(v, "narrowed to a kind and a reason", "", narrowing{complaint: "failed_transfer", why: "above_cap"}, store.Page{Cases: all.Cases[7:8]}, inQueue(), nil)
	g.list(v, "second page", "", narrowing{after: store.Place{Risk: 1, ID: "D-1046"}}, store.Page{Cases: all.Cases[4:], Next: store.Place{Risk: 2, ID: "D-1024"}}, inQueue(), nil)
	g.list(v, "a search that was cut short", "", narrowing{q: "Okonkwo"}, store.Page{Cases: all.Cases[3:6], Capped: true}, inQueue(), nil)
	g.closedQueue(v)
	g.emptyQueues(v)
}

func (g *gallery) closedQueue(v *visit) {
	var ended []countersign.Case
	for i, c := range slices.Concat(g.waitingCases(), g.waitingCases()) {
		c.Status, c.Outcome, c.HandledBy = countersign.Closed, countersign.Resolved, countersign.ByPolicy
		if i%2 == 1 {
			c.Outcome, c.HandledBy = countersign.Rejected, countersign.ByPerson
		} else {
			c.Verdict = nil
		}
		ended = append(ended, c)
	}
	counts := inQueue()
	counts.Status[countersign.Closed] = store.MostCounted
	counts.Reason, counts.Complaint, counts.Recommendation, counts.Desk = nil, nil, nil, nil
	g.list(v, "closed cases", "", narrowing{show: closed}, store.Page{Cases: ended, Next: store.Place{Risk: 1, ID: "D-0900"}}, counts, nil)
}

func (g *gallery) emptyQueues(v *visit) {
	none := store.Counts{Status: map[countersign.Status]int{}}
	g.list(g.visit(anAdmin), "empty: no dispute yet", "", narrowing{}, store.Page{}, none, nil)
	g.list(v, "empty: nothing waits for a person", "", narrowing{}, store.Page{}, store.Counts{Open: 2, Status: map[countersign.Status]int{countersign.Closed: 41}}, nil)
	g.list(v, "empty: nothing matches", "", narrowing{q: "mark \u202e<b>", mine: true, complaint: "wrong_amount"}, store.Page{}, none, nil)
	g.list(v, "empty: nothing was raised", "", narrowing{show: raised}, store.Page{}, inQueue(), nil)
}

// openings are the pages on which a dispute is opened.
func (g *gallery) openings() {
	v := g.visit(anAnalyst)
	found := openScreen{Query: "Obi", Channel: "phone", FoundText: "3 transactions, latest first"}
	for i, status := range []string{"posted", "posted", "pending"} {
		p := []payment{rent(), fuel(), rent()}[i]
		t := store.FoundTransaction{Account: records.Account{Number: "2004094321"}, Customer: records.Customer{Name: p.customer}}
		t.ID, t.Status, t.OccurredAt, t.AmountMinor, t.Currency, t.CounterpartyName = p.id, records.TransactionStatus(status), countersign.At(p.at), p.amount.Minor, "NGN", p.payee
		if i == 0 {
			t.Open = []store.OpenDispute{{ID: "D-1042", Reason: countersign.FailedTransfer, Status: countersign.InReview}}
		}
		if i == 2 {
			t.ID, t.CounterpartyName, t.OccurredAt = "TX-879900", "\u202e<b>mark-payee</b>", countersign.When{}
		}
		found.Found = append(found.Found, v.foundLine(t))
	}
	chosen := openScreen{Query: "Obi", Channel: "phone", Chosen: &found.Found[1]}
	for _, r := range countersign.DisputeReasons {
		chosen.Complaints = append(chosen.Complaints, picked{Value: string(r), Title: capital(complaint(r))})
	}
	refused := chosen
	refused.Complaints = slices.Clone(chosen.Complaints)
	refused.Complaints[1].Current = true
	refused.Wrong, refused.Notes = "The notes have 20,312 characters, expected at most 20,000.", "Caller was charged two times for fuel on Saturday morning, one slip only."
	for _, s := range []struct {
		state, address string
		page           openScreen
	}{
		{"nothing looked up yet", "/open", openScreen{Channel: "phone"}}, {"transactions found", "", found}, {"nothing found", "", openScreen{Query: "TX-404", Channel: "phone"}},
		{"a transaction chosen", "", chosen}, {"refused, with what was typed", "", refused},
	} {
		g.opening(v, s.state, s.address, s.page)
	}
}

// chargebacks are the page on which a chargeback is opened.
func (g *gallery) chargebacks() {
	v := g.visit(anAnalyst)
	typed := chargebackScreen{Order: "20140", Network: "visa", ReasonCode: "13.1", Amount: "149,00", Currency: "USD", Due: "2026-12-06T17:00", Reference: "dp_1QxYz",
		Notes: "Cardholder states that \u202e<b>mark-goods</b> never arrived.", Wrong: map[string]string{"amount": "An amount and its currency, such as 149.00 and USD."}}
	open, closed := g.aboutOrder("C-2001"), g.aboutOrder("C-1987")
	closed.Status, closed.Outcome, closed.HandledBy = countersign.Closed, countersign.Contested, countersign.ByPerson
	again := chargebackScreen{Order: "20140", Network: "visa", ReasonCode: "13.3", Others: v.listed([]countersign.Case{open.Case, closed.Case})}
	for _, s := range []struct {
		state string
		page  chargebackScreen
	}{{"nothing typed yet", chargebackScreen{}}, {"refused, with what was typed", typed}, {"other cases are about the order", again}} {
		p := s.page
		p.Zone, p.Stages = v.zone.String(), slices.Clone(stages)
		p.Stages[1].Current = true
		g.hang(v, "chargeback", s.state, "/open/chargeback", screen{Title: "Open a chargeback", Section: "Open a dispute", Page: p})
	}
}

func (g *gallery) opening(v *visit, state, address string, p openScreen) {
	g.hang(v, "open", state, address, screen{Title: "Open a dispute", Section: "Open a dispute", Page: p})
}

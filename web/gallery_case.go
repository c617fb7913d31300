package web

import (
	"time"

	"countersign"
	"countersign/audit"
	"countersign/auth"
	"countersign/desk"
	"countersign/store"
)

// aboutTransfer is a dispute about a payment, investigated and in review, whose model says what its books say.
func (g *gallery) aboutTransfer(id countersign.CaseID, p payment) *tale {
	due := galleryTime.Add(23*time.Hour + 20*time.Minute)
	t := &tale{Case: countersign.Case{ID: id, Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: p.id}, CustomerID: "C-1042",
		Channel: "whatsapp", Reason: countersign.FailedTransfer, Amount: p.amount, Status: countersign.InReview, OpenedAt: galleryTime.Add(-40 * time.Minute),
		UpdatedAt: galleryTime.Add(-12 * time.Minute),
		Notes:     "Good morning. I sent this to my landlord on Saturday, you people debited me sharp sharp but the man is saying he has not seen anything. Pls check am, rent is due o 🙏",
		DueAt:     &due, DueSource: countersign.DueFromRule, Round: 1, Revision: 4, Facts: p.facts(),
		Model: countersign.ModelUse{Provider: "openai", Name: "desk-model-1", Attempts: 2, InputTokens: 2898, OutputTokens: 549}},
		desk: g.bank, display: p.display(), steps: p.steps()}
	t.proposes(&countersign.Proposal{Recommendation: "resolve", Category: countersign.FailedTransfer, Confidence: 0.94, Turn: 2,
		Summary: "The transfer failed and the money was not given back.", Claims: transferClaims(p),
		CustomerMessage: "Hello Adaeze, your transfer of " + p.amount.String() + " did not arrive at the other bank, and the money had not come back to you. We are putting it back into your account. You do not need to do anything."})
	if fix := t.Facts.Fix; fix != nil {
		t.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: fix}
	}
	return t
}

func transferClaims(p payment) []countersign.Claim {
	return []countersign.Claim{
		{Text: "The full amount of " + p.amount.String() + " was taken from the account.", Citations: []countersign.Citation{
			cites("S1", "id", p.id), cites("S1", "status", "posted"), cites("S2", "found", "true")}},
		{Text: "The rail says that the transfer failed, and that this is final.", Citations: []countersign.Citation{
			cites("S3", "status", p.rail()), cites("S3", "final", "true")}},
		{Text: "Nothing was given back.", Citations: []countersign.Citation{cites("S2", "given_back_minor", "0")}},
	}
}

func cites(ref countersign.StepRef, field, value string) countersign.Citation {
	return countersign.Citation{Ref: ref, Field: field, Value: value, Status: countersign.CitationVerified}
}

func (t *tale) proposes(p *countersign.Proposal) {
	t.Proposal, t.Recommendation, t.Message = p, p.Recommendation, p.CustomerMessage
}

// because is the policy's verdict: code and sentence of each reason for a person.
func (t *tale) because(reasons ...countersign.Reason) *tale {
	t.Verdict = &countersign.Verdict{Kind: countersign.Review, Reasons: reasons, PolicyVersion: thePolicy.ID}
	if len(reasons) == 0 {
		t.Verdict.Kind = countersign.Automatic
	}
	return t
}

func aReason(code countersign.ReasonCode, text string) countersign.Reason {
	return countersign.Reason{Code: code, Text: text}
}

// unplanned takes the planned fix away: what stands after every check is that a person decides.
func (t *tale) unplanned() *tale {
	t.Recommendation, t.Fix = "escalate", countersign.FixOutcome{State: countersign.FixNone}
	return t
}

// toConfirm is the case that most samples are variations of.
func (g *gallery) toConfirm(id countersign.CaseID) *tale {
	return g.aboutTransfer(id, rent()).because(aReason(countersign.AboveCap, "NGN 84,200.00 is not under the cap of NGN 50,000.00."))
}

// showCase hangs a case as somebody sees it.
func (g *gallery) showCase(who auth.Principal, state string, f *file) {
	v := g.visit(who)
	page, err := v.caseScreen(f)
	if err != nil {
		panic(err) // unreachable: a sample's records can be read
	}
	g.hang(v, "case", state, "/cases/"+string(f.ID), screen{Title: string(f.ID) + " " + page.Title, Section: "Queue", Page: page})
}

func (g *gallery) cases() {
	g.showCase(anAnalyst, "in review, a fix to confirm", g.toConfirm("D-1042").file())
	g.unfinished()
	g.doubtful()
	g.refusals()
	g.elsewhere()
	g.attended()
	g.ended()
}

// unfinished are cases that no person need look at yet.
func (g *gallery) unfinished() {
	waiting := g.toConfirm("D-1043")
	waiting.Status, waiting.Proposal, waiting.Facts, waiting.Verdict, waiting.Fix, waiting.Message = countersign.Queued, nil, nil, nil, countersign.FixOutcome{}, ""
	g.showCase(anAnalyst, "waiting for a worker", waiting.file())

	working := g.toConfirm("D-1044")
	working.Status, working.Proposal, working.Facts, working.Verdict, working.Fix, working.Message = countersign.Investigating, nil, nil, nil, countersign.FixOutcome{}, ""
	working.steps, working.OpenedAt = working.steps[:4], galleryTime.Add(-4*time.Second)
	g.showCase(anAnalyst, "being investigated, its trace live", working.file())
}

// doubtful are cases in which the records and the model do not say the same, or one of them says too little.
func (g *gallery) doubtful() {
	settled := rent()
	settled.settled, settled.failure = true, ""
	disagree := g.aboutTransfer("D-1045", settled).because(
		aReason(countersign.FactsDisagree, "The records do not support a fix for failed transfer. The transfer TX-880142 settled: the money reached the other bank."))
	disagree.Proposal.Confidence, disagree.Recommendation = 1, "escalate"
	g.showCase(anAnalyst, "in review, the records say something else than the model", disagree.file())

	silent := g.toConfirm("D-1046").because(aReason(countersign.ModelFailed, "The model did not finish: it took too long."))
	silent.proposes(&countersign.Proposal{Recommendation: "escalate", Failure: countersign.TimedOut, Turn: 2})
	silent.steps = silent.steps[:8]
	g.showCase(anAnalyst, "in review, the model failed", silent.file())

	unread := g.toConfirm("D-1047").unplanned().because(aReason(countersign.FactsUnreadable, "The records could not be read: the database did not answer."))
	unread.Facts, unread.none, unread.display = &countersign.Facts{Unreadable: "the database did not answer"}, true, desk.Display{}
	g.showCase(anAnalyst, "in review, the records could not be read", unread.file())

	bare := rent()
	bare.noDevice = true
	unknown := g.aboutTransfer("D-1048", bare).because(
		aReason(countersign.FactsUnknown, "No device is on record for TX-880142, so whether it was the customer's cannot be told."),
		aReason(countersign.ConfidenceLow, "The model states a confidence of 0.85; 0.9 is needed."))
	unknown.Proposal.Confidence = 0.85
	g.showCase(anAnalyst, "in review, a fact is not known", unknown.file())

	g.suspicious()
	g.unfounded()
}

func (g *gallery) suspicious() {
	p := rent()
	p.newDevice = true
	t := g.aboutTransfer("D-1049", p).because(
		aReason(countersign.FraudSuspected, "The payment was made with a device that is not trusted. The device was first seen 20 minutes before the payment. The model suspects fraud."),
		aReason(countersign.ModelAskedForPerson, "The model asks for a person."))
	t.Reason, t.Notes = countersign.Unauthorised, "I did not do this transfer. My phone was stolen at Ojuelegba on Friday evening and the SIM with it."
	t.proposes(&countersign.Proposal{Recommendation: "escalate", Category: countersign.Unauthorised, Confidence: 0.5, FraudSuspected: true, Turn: 2,
		Summary: "The payment may not have been the customer's own doing.", CustomerMessage: "Hello Adaeze, thank you for telling us about this payment. A colleague is looking into it and will come back to you.",
		Claims: []countersign.Claim{{Text: "The device is not trusted and was new.", Citations: []countersign.Citation{cites("S4", "device.trusted", "no"),
			cites("S4", "device.seconds_known_before_transaction", "1200")}}, {Text: "Nothing was given back.", Citations: []countersign.Citation{cites("S2", "given_back_minor", "0")}}}})
	t.DueAt, t.DueSource = nil, countersign.DueUnknown
	g.showCase(anAnalyst, "in review, signs of fraud and no deadline known", t.file())
}

func (g *gallery) unfounded() {
	t := g.toConfirm("D-1050").because(aReason(countersign.EvidenceInvalid,
		"The proposal cites something that is not there. “S11” is no step of this investigation. S3 (get_settlement_status) says “failed” at “status”, not “returned”."))
	t.Proposal.Claims = append(t.Proposal.Claims,
		countersign.Claim{Text: "The bank's own note says that it owes the money.", Citations: []countersign.Citation{{Ref: "S11", Field: "owed", Value: "true", Status: countersign.CitationUnknownStep}}},
		countersign.Claim{Text: "The settlement was returned.", Citations: []countersign.Citation{{Ref: "S3", Field: "status", Value: "returned", Status: countersign.CitationValueMismatch}}},
		countersign.Claim{Text: "The customer has always paid on time."})
	t.Recommendation = "escalate"
	g.showCase(anAnalyst, "in review, evidence that is not there", t.file())
}

// refusals are fixes that were not posted, and what is proposed in place of one.
func (g *gallery) refusals() {
	refused := g.toConfirm("D-1051").because(aReason(countersign.FixNotApplicable, "The fix could not be applied: the records changed after they were read."))
	refused.Fix.State, refused.Fix.Why, refused.Facts.Seen = countersign.FixRefused, "the records changed after they were read", "an earlier state"
	late := galleryTime.Add(-3 * time.Hour)
	refused.DueAt = &late
	outdated := refused.file()
	outdated.stale = true
	g.showCase(anAnalyst, "in review and overdue, the fix was refused because the records changed", outdated)

	reject := g.aboutTransfer("D-1057", rent()).unplanned().because(aReason(countersign.RejectionNeedsPerson, "A rejection is always confirmed by a person."))
	reject.proposes(&countersign.Proposal{Recommendation: "reject", Category: countersign.FailedTransfer, Confidence: 0.9, Turn: 2, Claims: transferClaims(rent())[:1],
		CustomerMessage: "Hello Adaeze, we looked into the payment you asked about. From our records it went through as it should, so we do not see anything that we still owe you for it."})
	reject.Fix = countersign.FixOutcome{State: countersign.FixNone}
	g.showCase(anAnalyst, "in review, a rejection to confirm", reject.file())

	g.showCase(anAnalyst, "in review, charged twice, a refund to confirm", g.chargedTwice("D-1056").file())
}

func (g *gallery) chargedTwice(id countersign.CaseID) *tale {
	p := fuel()
	t := g.aboutTransfer(id, p).because(aReason(countersign.ShadowMode, "The policy is in shadow mode: nothing is automatic."))
	t.Reason, t.Notes, t.Channel = countersign.DuplicateCharge, "Caller was charged two times for fuel on Saturday morning, one slip only.", "phone"
	t.proposes(&countersign.Proposal{Recommendation: "resolve", Category: countersign.DuplicateCharge, Confidence: 0.97, Turn: 2,
		CustomerMessage: "Hello Adaeze, the filling station took NGN 17,000.00 from your card twice. We are giving the second one back.",
		Claims: []countersign.Claim{{Text: "There is a second charge, three minutes later, with the same reference.", Citations: []countersign.Citation{
			cites("S8", "possible_copies[0].id", p.twin), cites("S8", "possible_copies[0].same_reference", "yes")}}}})
	return t
}

// attended are cases that somebody has done something about, and one that the reader may not decide.
func (g *gallery) attended() {
	raised := g.toConfirm("D-1052")
	raised.Raised, raised.Recommendation = true, "escalate"
	raised.decide(6*time.Minute, anAnalyst.Actor, "escalate", fields{"reason": "The amount is above what I may decide, and the customer has called three times."})
	g.showCase(anApprover, "raised to approvers", raised.file())

	held := g.toConfirm("D-1053")
	held.holder = store.Claim{PersonID: anApprover.PersonID, Since: galleryTime.Add(-4 * time.Minute), Until: galleryTime.Add(6 * time.Minute)}
	g.showCase(anAnalyst, "held by a colleague", held.file())

	mine := g.toConfirm("D-1054")
	mine.Round, mine.Message, mine.earlier = 2, "Hello Adaeze, we have found your transfer: it did not arrive, and the money is on its way back to you.\n\nAmina, Disputes", g.others()
	mine.holder = store.Claim{PersonID: anAnalyst.PersonID, Since: galleryTime.Add(-2 * time.Minute), Until: galleryTime.Add(8 * time.Minute)}
	mine.later = append(mine.later, deed{5 * time.Minute, audit.Message, anAnalyst.Actor, fields{"round": 2, "text": mine.Message}})
	g.showCase(anAnalyst, "held by the reader, in its second investigation, the message edited", mine.file())

	g.showCase(anAuditor, "seen by an auditor", g.toConfirm("D-1055").file())
}

// others are further cases of the same customer.
func (g *gallery) others() []countersign.Case {
	closed := g.toConfirm("D-0871")
	closed.close(0, thePolicy, countersign.Resolved, countersign.ByPolicy)
	closed.OpenedAt = galleryTime.AddDate(0, -3, 0)
	open := g.chargedTwice("D-1056")
	return []countersign.Case{open.Case, closed.Case}
}

// ended are closed cases, and one whose record somebody has tampered with.
func (g *gallery) ended() {
	small := rent()
	small.amount, small.id = naira(2_450_000), "TX-880013"
	byPolicy := g.aboutTransfer("D-1031", small).because()
	byPolicy.post(0, thePolicy)
	byPolicy.close(0, thePolicy, countersign.Resolved, countersign.ByPolicy)
	for _, e := range byPolicy.Fix.Fix.Entries {
		byPolicy.display.Ledger = append(byPolicy.display.Ledger, desk.Posting{TransactionID: small.id, Entry: e, When: countersign.At(galleryTime)})
	}
	g.showCase(anAnalyst, "closed by the policy, the fix posted", byPolicy.file())

	g.showCase(anAnalyst, "closed by a person, no money moved", g.turnedDown("D-1029").file())
	g.showCase(anAuditor, "its record broken", g.turnedDown("D-1027").file().tampered(17, "was paid out", "was never paid out"))
}

func (g *gallery) turnedDown(id countersign.CaseID) *tale {
	t := g.aboutTransfer(id, rent()).unplanned().because(aReason(countersign.ModelAskedForPerson, "The model asks for a person."))
	t.proposes(&countersign.Proposal{Recommendation: "escalate", Category: countersign.FailedTransfer, Confidence: 0.4, Turn: 2, Claims: transferClaims(rent())[1:]})
	t.Facts.Fix, t.Facts.Supports = nil, ""
	t.decide(21*time.Minute, anApprover.Actor, "override", fields{"outcome_wanted": countersign.Rejected, "fix": "none",
		"reason": "The other bank confirmed in writing that TX-880142 was paid out at the counter on the same day.", "draft_withdrawn": true})
	t.close(0, anApprover.Actor, countersign.Rejected, countersign.ByPerson)
	return t
}

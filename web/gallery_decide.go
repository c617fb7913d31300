package web

import (
	"context"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/store"
)

// waive stands for the desk's own: a person may post the reversal, and the rail says that a refund is not the way.
func (g *gallery) waive(_ context.Context, _ store.View, c countersign.Case, kind countersign.FixKind) (*countersign.Fix, string, error) {
	if kind == countersign.Refund {
		return nil, "", countersign.Errorf(countersign.Conflict, "%s is a transfer that failed. Nobody may waive this.", c.Subject.ID).Try("post a reversal instead")
	}
	return countersign.NewFix(kind, c.Subject.ID, "A-1042-NGN", c.Amount), recordsSeen, nil
}

// ask is the page before an act, as somebody first sees it.
func (g *gallery) ask(who auth.Principal, verb string, f *file) (*visit, *decideScreen) {
	v := g.visit(who)
	v.r.SetPathValue("verb", verb)
	p := v.decideScreen(f)
	if err := verbs[verb](v, f, p); err != nil {
		panic(err) // unreachable: the gallery's desk answers everything
	}
	return v, p
}

// confirm hangs the page of an act, changed as somebody's answer would have changed it.
func (g *gallery) confirm(verb, state string, f *file, then func(*visit, *decideScreen)) {
	v, p := g.ask(anAnalyst, verb, f)
	if then != nil {
		then(v, p)
	}
	g.hang(v, "decide", state, "/cases/"+p.ID+"/"+p.Verb, screen{Title: p.Heading + " · " + p.ID, Section: "Queue", Page: p})
}

func (g *gallery) decisions() {
	g.confirm("approve", "approve: post a reversal", g.toConfirm("D-1042").file(), nil)
	g.confirm("override", "override: choose what should happen", g.toConfirm("D-1042").file(), nil)
	g.confirm("escalate", "escalate", g.toConfirm("D-1042").file(), nil)
	g.confirm("message", "edit the message", g.toConfirm("D-1042").file(), nil)
	g.confirm("retry", "investigate again", g.toConfirm("D-1046").because(aReason(countersign.ModelFailed, "The model did not finish.")).file(), nil)
	g.approvals()
	g.confirm("approve", "approve: contest a chargeback", g.aboutOrder("C-2001").file(), nil)
	g.confirm("deadline", "set the deadline", g.aboutOrder("C-2001").file(), nil)
	g.confirm("attach", "attach an order", g.unmatched("C-2071").file(), nil)
	g.confirm("override", "override: an inquiry that nobody reads an answer to", g.unread("C-2072").file(), nil)
	g.confirm("override", "override: contest or accept a chargeback", g.refunded("C-2003").file(), nil)
	moved := g.aboutOrder("C-2043")
	moved.now = orderFacts("USD 149.00")
	moved.now.Seen = "another"
	g.confirm("override", "override: the shop's records changed since", moved.file(), nil)
	g.confirm("override", "override: the deadline has passed since", g.tooLate("C-2046").file(), nil)
	g.confirm("override", "override: a part was refunded", g.refundedInPart("C-2047").file(), nil)
	twice := g.refunded("C-2044")
	twice.Recommendation = "ACCEPT"
	twice.because(decidesAlways)
	twice.Proposal.Recommendation = "ACCEPT"
	g.confirm("approve", "approve: accept what was refunded", twice.file(), nil)
	g.packs()
	g.elsewhereDecided()
	g.refusedDecisions()
}

// approvals are the other things that approving may mean.
func (g *gallery) approvals() {
	rejected := g.toConfirm("D-1057").unplanned()
	rejected.Recommendation = "reject"
	g.confirm("approve", "approve: a rejection, no money moves", rejected.file(), nil)
	g.confirm("approve", "approve: raise it to an approver", g.toConfirm("D-1049").unplanned().file(), nil)
	raised := g.toConfirm("D-1052").unplanned()
	raised.Raised = true
	g.confirm("approve", "approve: nothing to approve", raised.file(), nil)
	g.confirm("approve", "approve: a refund of the second charge", g.chargedTwice("D-1056").file(), nil)

	edited := g.toConfirm("D-1054")
	edited.Message = "Hello Adaeze, the money is on its way back to you.\n\nAmina, Disputes"
	g.confirm("message", "edit the message: a person has changed it before", edited.file(), nil)
	g.confirm("retry", "investigate again: would find the same", g.toConfirm("D-1042").file(), nil)
}

// refusedDecisions are decisions that were not carried out: what was typed is still there.
func (g *gallery) refusedDecisions() {
	const typed = "The tailor sent the receipt: she was paid in cash on Sunday,\nso nothing is owed for this transfer any more."
	g.confirm("override", "override: without a reason", g.toConfirm("D-1042").file(), func(_ *visit, p *decideScreen) {
		p.Outcome, p.Wrong["reason"] = "resolved-reversal", "Reason is missing."
	})
	stale := g.toConfirm("D-1042")
	stale.decide(9*time.Minute, anApprover.Actor, "escalate", fields{"reason": "Two approvers, please: the customer is staff."})
	stale.Raised, stale.Revision = true, 5
	f := stale.file()
	g.confirm("override", "override: stale, a colleague was faster", f, func(v *visit, p *decideScreen) {
		p.Outcome, p.Reason = "rejected", typed
		p.Wrong["page"] = "The case changed while this page was open. Nothing of yours was carried out, and nothing that you typed is lost."
		p.Changed = append(p.Changed, v.traceLine(f, f.rows[len(f.rows)-1]))
	})
	closedMeanwhile := g.turnedDown("D-1029").file()
	g.confirm("escalate", "escalate: closed meanwhile", closedMeanwhile, func(v *visit, p *decideScreen) {
		p.Typed = []typedText{{"reason", "Why", typed}, {"reference", "Reference of the outside desk", "FRAUD-2026-1182"}}
		p.Wrong["page"] = "The case changed while this page was open. Nothing of yours was carried out, and nothing that you typed is lost."
		for _, row := range closedMeanwhile.rows[len(closedMeanwhile.rows)-2:] {
			p.Changed = append(p.Changed, v.traceLine(closedMeanwhile, row))
		}
	})
	g.confirm("message", "edit the message: too long", g.toConfirm("D-1042").file(), func(_ *visit, p *decideScreen) {
		p.Text, p.Wrong["text"] = "Hello Adaeze, let me begin at the beginning.", "Text has 5,012 characters, expected at most 5,000."
	})
	g.confirm("approve", "approve: the records changed since", g.toConfirm("D-1042").file(), func(_ *visit, p *decideScreen) {
		p.Wrong["page"] = "The records changed after the facts of the case were read. Retry the case, and decide on what the records say now."
	})
}

package web

import (
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

const anInstruction = "ins_4q7zr2m5cxk3hw6t"

// sent makes the fix of a case one that the bank's core was asked to post.
func (t *tale) sent(status countersign.Status, state countersign.FixState, now countersign.InstructionState) *tale {
	asked := galleryTime.Add(-3 * time.Minute)
	t.decide(9*time.Minute, anAnalyst.Actor, "approve", fields{"outcome_wanted": countersign.Resolved})
	t.Status, t.Fix.State = status, state
	t.Fix.Instruction = &countersign.Instruction{ID: anInstruction, State: now, Attempts: 2, RequestedAt: galleryTime.Add(-6 * time.Minute), AskedAt: &asked}
	t.later = append(t.later, deed{9 * time.Minute, audit.Fix, anAnalyst.Actor, fields{"round": t.Round, "status": countersign.AwaitingConfirmation, "fix": t.Fix.Fix,
		"state": countersign.Requested, "instruction": anInstruction}})
	return t
}

// then adds what came of the instruction.
func (t *tale) then(more fields) *tale {
	row := fields{"round": t.Round, "status": t.Status, "fix": t.Fix.Fix, "state": t.Fix.Instruction.State, "instruction": anInstruction}
	for name, value := range more {
		row[name] = value
	}
	t.later = append(t.later, deed{12 * time.Minute, audit.Fix, aWorker, row})
	return t
}

// elsewhere are cases whose fix the bank's own core posts, or does not.
func (g *gallery) elsewhere() {
	requested := g.toConfirm("D-1070").sent(countersign.AwaitingConfirmation, countersign.FixRequested, countersign.Requested)
	requested.later = append(requested.later, deed{11 * time.Minute, audit.Note, aWorker, fields{"round": 1, "instruction": anInstruction,
		"exchanges": []store.Exchange{{Asked: "post", Attempt: 1, At: galleryTime.Add(-5 * time.Minute), Problem: "no answer came in time"}}}})
	g.showCase(anAnalyst, "waits for the core to confirm a fix", requested.file())

	rejected := g.toConfirm("D-1071").sent(countersign.InReview, countersign.FixRejected, countersign.Declined)
	rejected.Fix.Instruction.Said = "ACCOUNT CLOSED 2026-11-20, use 88-REFUND-DORMANT"
	rejected.because(aReason(countersign.FixDeclined, "The fix was to be posted elsewhere, and was not: nothing was posted.")).then(fields{"said": rejected.Fix.Instruction.Said})
	again := rejected.file()
	again.outside = true
	g.showCase(anAnalyst, "in review, the core rejected the fix", again)

	g.showCase(anAnalyst, "in review, what became of the fix is not known", g.unsettled("D-1072").file())

	posted := g.toConfirm("D-1073").sent(countersign.InReview, countersign.FixPosted, countersign.Confirmed)
	posted.Fix.Instruction.Reference = "CBS-2026-11-30-000418"
	posted.then(fields{"status": "", "reference": posted.Fix.Instruction.Reference})
	posted.close(12*time.Minute, anAnalyst.Actor, countersign.Resolved, countersign.ByPerson)
	g.showCase(anAnalyst, "closed, the core confirmed the fix", posted.file())
}

// elsewhereDecided are the acts on such cases.
func (g *gallery) elsewhereDecided() {
	asking := g.toConfirm("D-1042").file()
	asking.outside = true
	g.confirm("approve", "approve: have the core post a reversal", asking, nil)
	g.confirm("ask", "ask the core again", g.unsettled("D-1072").file(), nil)
	g.confirm("settle", "settle a fix by hand", g.unsettled("D-1072").file(), nil)
	g.confirm("approve", "approve: the fix may have been posted", g.unsettled("D-1072").file(), nil)
	g.confirm("settle", "settle a fix by hand: without a reference", g.unsettled("D-1072").file(), func(_ *visit, p *decideScreen) {
		p.Outcome, p.Reason, p.Wrong["reference"] = "posted", "Seen in the core's journal.", "Reference is missing. Give the reference under which it was posted."
	})
}

func (g *gallery) unsettled(id countersign.CaseID) *tale {
	const why = "they were asked 10 times since and gave no answer that can be used; at last: no answer came in time"
	t := g.toConfirm(id).sent(countersign.InReview, countersign.FixUnknown, countersign.Unsettled)
	t.Fix.Why, t.Fix.Instruction.Attempts = why, 11
	return t.because(aReason(countersign.FixOutcomeUnknown, "Whether the fix was posted elsewhere is not known: "+why+".")).then(fields{"why": why})
}

package web

import (
	"countersign"
	"countersign/pipeline/review"
	"countersign/store"
)

// sentPanel is a fix that the bank's own core was asked to post. What the core says is a stranger's text.
type sentPanel struct {
	ID, Words, Reference, Said, Times string
	Asked                             *moment
	Means                             string // what it means for whoever reads it; empty where the case is closed
}

var sentWords = map[countersign.InstructionState]string{
	countersign.Requested: "asked, and not confirmed yet",
	countersign.Confirmed: "confirmed",
	countersign.Declined:  "not posted, and will not be",
	countersign.Unsettled: "not known",
}

var sentMeans = map[countersign.FixState]string{
	countersign.FixRequested: "Nobody has to do anything. The case is closed when the core confirms, and needs a person when it rejects the fix or cannot be asked for some time.",
	countersign.FixRejected:  "Nothing was posted. Have the core asked anew, or decide otherwise.",
	countersign.FixUnknown:   "The money may have moved. Look in the core for the instruction above, and say here what you found. Until then nothing else can be posted for this transaction.",
}

func (v *visit) sent(f *file) *sentPanel {
	i := f.Case.Fix.Instruction
	if i == nil {
		return nil
	}
	p := &sentPanel{ID: i.ID, Words: sentWords[i.State], Reference: legible(i.Reference), Said: legible(i.Said), Times: many(i.Attempts, "time", "times") + " in all",
		Means: sentMeans[f.Case.Fix.State]}
	if i.AskedAt != nil {
		asked := v.moment(*i.AskedAt)
		p.Asked = &asked
	}
	return p
}

// findOut is what can be done with a case whose fix may have been posted: find that out, and nothing that would decide it before.
func (v *visit) findOut(f *file) *actPanel {
	ask, settle := f.act("ask", "Ask the core again", "a"), f.act("settle", "Settle it by hand", "x")
	p := &actPanel{Primary: &ask, Happens: "The core is asked once more what became of the instruction. The case is closed if it confirms.",
		Others: []act{settle, f.act("escalate", "Escalate", "e"), f.act("message", "Edit the message", "m")}}
	if v.who.MayDecide(f.Case) != nil {
		p.Cannot, p.Others = waitsForApprover, p.Others[1:]
	}
	return p
}

// hold says of an act that it cannot be done while nobody knows whether the fix was posted, or that there is nothing to find out.
func (p *decideScreen) hold(f *file) {
	finding := p.Verb == "ask" || p.Verb == "settle"
	switch unknown := f.Case.Fix.State == countersign.FixUnknown; {
	case unknown && (p.Verb == "approve" || p.Verb == "override" || p.Verb == "retry"):
		p.Over = "Nobody knows whether the fix of this case was posted, so nothing else can be decided. Ask again, or settle it by hand."
	case finding && !unknown && p.Over == "":
		p.Over = "It is known what became of the fix of this case."
	}
}

func askAgain(_ *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "Ask the core again", "Ask again"
	p.Happens = "The bank's core is asked what became of the instruction. If it never had it, it is sent again under the same key, and posted once."
	return nil
}

func askSettle(_ *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "What became of the fix", "Settle it"
	p.Happens = "You looked in the core yourself, and answer for what you found. It is kept with your name."
	if i := f.Case.Fix.Instruction; i != nil {
		p.Happens = "Look in the core for the instruction " + i.ID + ", and answer for what you found there. It is kept with your name."
	}
	p.Options = []option{
		{Value: string(review.FoundPosted), Title: "The core posted it", Happens: "The entries are made here too, and the case is closed as it was decided."},
		{Value: string(review.FoundBooked), Title: "The core posted it, and an import has brought its entries already", Happens: "No entries are made here. The case is closed as it was decided."},
		{Value: string(review.FoundNotPosted), Title: "The core did not post it, and will not", Happens: "The case stays with you and can be decided again. If the core posts it after all, the customer has the money twice."},
	}
	return nil
}

// found is what a person says that they found.
func (v *visit) found() review.Found {
	return review.Found{What: review.Finding(v.form("choice")), Reason: v.form("reason"), Reference: v.form("reference")}
}

// tellSent is a step of an instruction, for the trace.
func tellSent(row store.FixRow, l *traceLine) {
	fix := string(row.Fix.Kind) + " of " + row.Fix.Amount.String()
	switch row.State {
	case countersign.Requested:
		l.Words = "The bank's core is to post the " + fix
	case countersign.Confirmed:
		l.Words, l.Said = "The "+fix+" was posted by the core, and entered here", writtenBy("the bank's core", row.Reference)
		if row.Booked {
			l.Words = "The " + fix + " was posted by the core; its entries were here already"
		}
	case countersign.Declined:
		l.Words, l.Bad, l.Said = "The core did not post the "+fix, true, writtenBy("the bank's core", row.Said)
	default:
		l.Words, l.Bad = "Nobody knows whether the "+fix+" was posted: "+legible(row.Why), true
	}
}

func tellExchange(e store.Exchange) string {
	if e.Problem != "" {
		return "The core was asked, and " + legible(e.Problem)
	}
	return "The core has the instruction, and has not ended"
}

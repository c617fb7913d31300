package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"countersign"
	"countersign/pipeline/review"
)

// decideScreen is the page on which a person confirms an act: what it does, with amount and account, and what it needs to know.
type decideScreen struct {
	ID, Title, Standing     string
	Amount                  amount
	Due                     due
	Verb, Heading, Happens  string
	Button                  string
	Fix                     *fixPanel
	Options                 []option // of an override
	Outcome, FixKind        string   // what was chosen
	Reason, Reference, Text string   // what was typed: kept whatever happens
	Wrong                   map[string]string
	Changed                 []traceLine // what happened since the person opened the page
	Over                    string      // why the act can no longer be done; there is no form then
	Revision, Seen          int64
	Proposed                string        // the model's draft, beside a person's
	Draft                   string        // what the customer's draft says, on an act that would freeze it
	Splits                  string        // the currency of an amount that may be decided in part; empty when none may
	Part                    string        // what was typed of it
	Order                   string        // that was typed
	DueTyped, Zone          string        // of a deadline, and where its clock is
	Hurting                 []picked      // facts that speak against the shop, and may be left out of the report
	Clauses                 []clauseShown // that the report would quote, and that may be left out of it
	Unread                  string        // why the clauses cannot be shown
	WithheldWhy             string
	Withheld                bool        // a fact is ticked
	Typed                   []typedText // what was typed into a form that cannot be sent any more
	Also                    string      // what else the report says
	PartWarnings            []string    // what whoever names a part must know
	Moved                   string      // what has changed since, as the beginning of a sentence
	Printed                 string      // where the reason will be read
	Overruled               []string    // what spoke against the model's recommendation
	Pack                    *packPanel  // nil when nothing would be sent
	Warnings                []string    // what this person must know of the outcome
	Facts                   string      // the hash of what the records say now, which this page shows
	Differs                 []string    // where that is not what the case was judged on
	Answers                 bool        // the report has an answer, which this person adopts or rewrites
	Answer                  string
}

// option is one thing that a person may decide otherwise.
type option struct {
	Value, Outcome, Fix string
	Title, Happens      string
	Preview             *fixPanel
	Cannot              string
}

// verbs are the acts, by the last word of their address.
var verbs = map[string]func(*visit, *file, *decideScreen) error{
	"approve": askApprove, "override": askOverride, "escalate": askEscalate, "message": askMessage, "deadline": askDeadline, "retry": askRetry,
	"ask": askAgain, "settle": askSettle, "attach": askAttach,
}

func unknownVerb(verb string) error {
	return countersign.Errorf(countersign.Invalid, "%q is not something that can be done with a case; nothing was changed.", clip(verb)).
		Try("Expected approve, override, escalate, message, deadline, attach, retry, ask or settle.")
}

// decideForm asks before an act.
func decideForm(v *visit) error {
	ask := verbs[v.r.PathValue("verb")]
	if ask == nil {
		return countersign.Errorf(countersign.NotFound, "There is no page at this address.").Try("Go back to the case.")
	}
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := v.decideScreen(f)
	if err := ask(v, f, p); err != nil {
		return err
	}
	return v.showDecide(http.StatusOK, p)
}

func (v *visit) decideScreen(f *file) *decideScreen {
	p := &decideScreen{ID: string(f.ID), Title: matter(f.Case), Standing: standing(f.Case), Amount: money(f.Amount), Due: v.due(f.Case),
		Verb: v.r.PathValue("verb"), Revision: f.Revision, Seen: f.head.Seq, Moved: f.whatMoved(), Wrong: map[string]string{}}
	if raised := v.who.MayDecide(f.Case) != nil; raised && f.Status == countersign.InReview && (p.Verb == "approve" || p.Verb == "override" || p.Verb == "settle") {
		p.Over = waitsForApprover
	}
	p.hold(f)
	if f.Status != countersign.InReview {
		p.Over = "This case is " + ended(f.Case) + ", so nothing can be decided."
	}
	return p
}

func ended(c countersign.Case) string {
	if c.Status == countersign.Closed {
		return "closed, " + standing(c)
	}
	return standing(c)
}

func (v *visit) showDecide(status int, p *decideScreen) error {
	return v.show(status, "decide", screen{Title: p.Heading + " · " + p.ID, Section: "Queue", Page: p})
}

func askApprove(v *visit, f *file, p *decideScreen) error {
	a, happens := f.approval()
	p.Happens = happens
	if a == nil {
		p.Heading, p.Over = "Nothing to approve", happens
		if f.stale {
			p.Differs = f.differs()
		}
		return nil
	}
	p.Heading, p.Button = a.Title, a.Title
	if _, closes := f.desk.Outcome[f.Recommendation]; closes {
		p.Draft = legible(f.Message)
	}
	outcome := f.desk.Outcome[f.Recommendation]
	p.Pack = v.pack(f, review.Decided{Outcome: outcome, Followed: true})
	p.Warnings = f.warnings(outcome)
	if f.desk.Reports && f.Proposal != nil {
		p.Answers, p.Answer = true, legible(f.Proposal.Summary)
	}
	if outcome != "" {
		v.quotes(f, p)
	}
	if outcome == countersign.Resolved {
		p.Fix = v.preview(f, *f.Facts.Fix)
		p.Button += " to " + f.account(f.Facts.Fix.AccountID)
	}
	return nil
}

func askOverride(v *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = f.otherwise(), "Carry out what is chosen"
	p.Happens, p.Draft = "Choose what should happen, and say why. Your reason is kept in the record.", legible(f.Message)
	p.Hurting, p.Facts, p.PartWarnings = v.hurting(f), f.now.Seen, f.warnings(f.desk.Split)
	v.quotes(f, p)
	if f.stale {
		p.Differs = f.differs()
	}
	if f.Verdict != nil {
		p.Overruled = f.Verdict.Caveats
	}
	if f.desk.Reports {
		p.Button, p.Printed = "Close the case", "kept in the record, and printed in the evidence report as your answer"
	}
	p.Pack = v.pack(f, review.Decided{Outcome: f.desk.Split, Reason: "as it will be given"})
	if f.desk.Split != "" && f.Amount.Currency != "" {
		p.Splits = f.Amount.Currency
	}
	for _, outcome := range f.desk.Outcomes {
		if outcome != countersign.Resolved {
			p.Options = append(p.Options, option{Value: string(outcome), Outcome: string(outcome), Title: f.closeAs(outcome), Cannot: f.cannotBe(outcome),
				Happens: strings.Join(append(f.warnings(outcome), f.closing()), " ")})
			continue
		}
		for _, kind := range []countersign.FixKind{countersign.Reversal, countersign.Refund} {
			p.Options = append(p.Options, v.waived(f, outcome, kind))
		}
		p.Options = append(p.Options, option{Value: string(outcome) + "-none", Outcome: string(outcome), Fix: "none", Title: "Close as resolved without moving money",
			Happens: "For what was put right elsewhere."})
	}
	return nil
}

func (f *file) closeAs(outcome countersign.Outcome) string {
	switch {
	case f.desk.Acts():
		return "Close as " + plain(outcome)
	case outcome == f.desk.Split && f.Amount.Currency == "":
		return capital(plain(outcome)) + " it"
	case outcome == f.desk.Split:
		return capital(plain(outcome)) + " " + f.Amount.String() + ", or the part of it that is named below"
	}
	return capital(plain(outcome)) + " the claim of " + disputed(f.Case)
}

func (f *file) closing() string {
	if f.desk.Acts() {
		return "No money moves."
	}
	return "Nothing is sent and no money moves from here."
}

// warnings are what whoever chooses that outcome must know, by what the records say now.
func (f *file) warnings(outcome countersign.Outcome) []string {
	if f.desk.Warn == nil || f.now.Seen == "" {
		return nil
	}
	return f.desk.Warn(f.now, outcome, nil)
}

// differs says what the records say now, where that is not what the case was judged on.
func (f *file) differs() (all []string) {
	for _, g := range f.desk.FactGroups {
		for _, t := range g.Facts {
			before := countersign.Fact{Name: t.Name}
			if i := slices.IndexFunc(f.Facts.Items, func(fact countersign.Fact) bool { return fact.Name == t.Name }); i >= 0 {
				before = f.Facts.Items[i]
			}
			if now, other := f.byNow(before); other {
				all = append(all, t.Title+": was "+factWords(before)+", is "+factWords(now))
			}
		}
	}
	if len(all) == 0 {
		all = append(all, "Something of them was changed; what the rules read from it is the same.")
	}
	return all
}

func factWords(f countersign.Fact) string {
	if f.State == "" {
		return "not there"
	}
	return strings.TrimSpace(stateWords[f.State] + " " + legible(f.Value))
}

// waived is the option of posting a fix on a person's own responsibility, or why nobody may.
func (v *visit) waived(f *file, outcome countersign.Outcome, kind countersign.FixKind) option {
	o := option{Value: string(outcome) + "-" + string(kind), Outcome: string(outcome), Fix: string(kind)}
	fix, _, err := f.desk.Waive(v.r.Context(), v.Store.View, f.Case, kind)
	var e *countersign.Error
	switch {
	case errors.As(err, &e):
		o.Title, o.Cannot = "Post a "+string(kind), sentence(e)
	case err != nil: // closing the case and handing it on need no records
		v.Log.WarnContext(v.r.Context(), "the records of a case cannot be read", "case", string(f.ID), "error", err)
		o.Title, o.Cannot = "Post a "+string(kind), "The records of this case cannot be read now."
	case fix == nil:
		o.Title, o.Cannot = "Post a "+string(kind), "The records leave nothing to give back."
	default:
		o.Title = fmt.Sprintf("Post a %s of %s to %s", kind, fix.Amount, f.account(fix.AccountID))
		o.Happens, o.Preview = "The entries are posted and the case is closed as resolved.", v.preview(f, *fix)
		if f.outside {
			o.Title = fmt.Sprintf("Have the core post a %s of %s to %s", kind, fix.Amount, f.account(fix.AccountID))
			o.Happens = "The bank's core will be asked to post the entries, and the case is closed as resolved when it confirms that it did."
		}
	}
	return o
}

func askEscalate(_ *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "Escalate", "Escalate"
	p.Happens = "The case goes to the approvers and stays open. With the reference of an outside desk that took it, it is closed as escalated."
	return nil
}

func askMessage(_ *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "Message to the customer", "Keep this draft"
	p.Happens = "A draft. Nothing is sent from here; closing the case freezes it."
	p.Text = f.Message
	if f.Proposal != nil && f.Proposal.CustomerMessage != f.Message {
		p.Proposed = f.Proposal.CustomerMessage
	}
	return nil
}

func askDeadline(v *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button, p.Zone = "Set the deadline", "Set the deadline", v.zone.String()
	p.Happens = "When the answer must have arrived, as whoever carries the dispute says it. The queue is ordered by it. None is ever computed here."
	if f.DueAt != nil {
		p.DueTyped = f.DueAt.In(v.zone).Format(dueForm)
	}
	return nil
}

// dueForm is how a browser writes a day and a time.
const dueForm = "2006-01-02T15:04"

func askRetry(v *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "Investigate again", "Investigate again"
	p.Happens = "A new investigation begins. What this one found stays in the record."
	if again, err := v.Review.MayRetry(v.r.Context(), v.Store.View, f.Case); err == nil && !again && f.Status == countersign.InReview {
		p.Over = "Another investigation would find the same: the model answered, and the records it was about have not changed."
	}
	return nil
}

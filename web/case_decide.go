package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/audit"
	"countersign/pipeline/review"
	"countersign/store"
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
	Over                    string      // why the act can no longer be done; the form is then only a place to copy from
	Revision, Seen          int64
	Proposed                string   // the model's draft, beside a person's
	Draft                   string   // what the customer's draft says, on an act that would freeze it
	Splits                  string   // the currency of an amount that may be decided in part; empty when none may
	Part                    string   // what was typed of it
	DueTyped, Zone          string   // of a deadline, and where its clock is
	Hurting                 []picked // facts that speak against the shop, and may be left out of the report
	WithheldWhy             string
	Withheld                bool       // something is ticked
	Printed                 string     // where the reason will be read
	Overruled               []string   // what spoke against the model's recommendation
	Pack                    *packPanel // nil when nothing would be sent
	Warnings                []string   // what this person must know of the outcome
	Facts                   string     // the hash of what the records say now, which this page shows
	Differs                 []string   // where that is not what the case was judged on
	Answers                 bool       // the report has an answer, which this person adopts or rewrites
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
}

func unknownVerb(verb string) error {
	return countersign.Errorf(countersign.Invalid, "%q is not something that can be done with a case; nothing was changed.", clip(verb)).
		Try("Expected approve, override, escalate, message, deadline or retry.")
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
		Verb: v.r.PathValue("verb"), Revision: f.Revision, Seen: f.head.Seq, Wrong: map[string]string{}}
	if raised := v.who.MayDecide(f.Case) != nil; raised && f.Status == countersign.InReview && (p.Verb == "approve" || p.Verb == "override") {
		p.Over = waitsForApprover
	}
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
	if outcome == countersign.Resolved {
		p.Fix = v.preview(f, *f.Facts.Fix)
		p.Button += " to " + f.account(f.Facts.Fix.AccountID)
	}
	return nil
}

func askOverride(v *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = f.otherwise(), "Carry out what is chosen"
	p.Happens, p.Draft = "Choose what should happen, and say why. Your reason is kept in the record.", legible(f.Message)
	p.Hurting, p.Facts = v.hurting(f), f.now.Seen
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
			p.Options = append(p.Options, option{Value: string(outcome), Outcome: string(outcome), Title: f.closeAs(outcome), Happens: strings.Join(append(f.warnings(outcome), f.closing()), " ")})
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
			if before, now := f.Facts.Fact(t.Name), f.now.Fact(t.Name); before.State != now.State || before.Value != now.Value {
				all = append(all, t.Title+": was "+factWords(before)+", is "+factWords(now))
			}
		}
	}
	if len(all) == 0 {
		all = append(all, "A row of them was changed; what the rules read from them is the same.")
	}
	return all
}

func factWords(f countersign.Fact) string {
	return strings.TrimSpace(stateWords[f.State] + " " + legible(f.Value))
}

// hurting are the facts that a rule finds a doubt in now, at a desk that makes reports.
func (v *visit) hurting(f *file) (all []picked) {
	if !f.desk.Reports || f.Facts == nil {
		return nil
	}
	facts := *f.Facts
	if f.now.Seen != "" {
		facts = f.now
	}
	for _, g := range f.desk.FactGroups {
		for _, t := range g.Facts {
			fact := facts.Fact(t.Name)
			if slices.ContainsFunc(facts.Doubts, func(d countersign.Doubt) bool { return d.Fact == t.Name }) {
				all = append(all, picked{Value: t.Name, Title: t.Title + ": " + strings.TrimSpace(stateWords[fact.State]+" "+v.readable(fact.Value))})
			}
		}
	}
	return all
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

// postDecide carries an act out on the revision that the person saw. What cannot be carried out comes back as the same page, with
// what was typed, what is wrong, and what happened to the case meanwhile.
func postDecide(v *visit) error {
	verb := v.r.PathValue("verb")
	ask := verbs[verb]
	if ask == nil {
		return unknownVerb(verb)
	}
	if err := v.parse(); err != nil {
		return err
	}
	act, err := v.act(v.form("revision"))
	if err != nil {
		return err
	}
	c, err := v.carryOut(verb, act)
	if err == nil {
		return v.back("/cases/"+string(c.ID), done(verb, c))
	}
	e := answer.Told(err)
	if e == nil || e.Kind == countersign.NotFound {
		return err
	}
	return v.refused(ask, e)
}

// act is what this reader does with a case, in the state that they saw on the page from which it is sent.
func (v *visit) act(revision string) (review.Act, error) {
	seen, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		return review.Act{}, countersign.Errorf(countersign.Precondition, "The page did not say which state of the case it was about; nothing was changed.").Try("Open the case again.")
	}
	return review.Act{Case: countersign.CaseID(v.r.PathValue("id")), Revision: seen, Actor: v.who.Actor}, nil
}

// mostForm is how long a posted form may be: the longest draft and reason, in characters of four bytes, encoded.
const mostForm = 256 << 10

// parse reads the posted form, and refuses one that is longer than any page of ours sends.
func (v *visit) parse() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, mostForm)
	var long *http.MaxBytesError
	switch err := v.r.ParseForm(); {
	case errors.As(err, &long):
		return countersign.Errorf(countersign.TooLarge, "The form has more than %d KB; nothing was changed.", mostForm>>10).Try("Shorten what you typed.")
	case err != nil:
		return countersign.Errorf(countersign.Invalid, "The form cannot be read; nothing was changed.").Try("Open the page again.")
	}
	return nil
}

func (v *visit) carryOut(verb string, act review.Act) (countersign.Case, error) {
	ctx := v.r.Context()
	switch verb {
	case "approve":
		if err := v.mayDecide(act); err != nil {
			return countersign.Case{}, err
		}
		act.Answer = v.answer(act)
		return v.Review.Approve(ctx, act)
	case "override":
		if err := v.mayDecide(act); err != nil {
			return countersign.Case{}, err
		}
		outcome, fix, err := v.chosen()
		if err != nil {
			return countersign.Case{}, err
		}
		act.Withhold, act.Why, act.Facts = v.r.PostForm["withhold"], v.form("withheld_why"), v.form("facts")
		if act.Part, err = v.part(act.Case); err != nil {
			return countersign.Case{}, err
		}
		return v.Review.Override(ctx, act, outcome, v.form("reason"), fix)
	case "escalate":
		return v.Review.Escalate(ctx, act, v.form("reason"), v.form("reference"))
	case "message":
		return v.Review.Message(ctx, act, v.text())
	case "deadline":
		due, err := time.ParseInLocation(dueForm, v.form("due"), v.zone)
		if err != nil {
			return countersign.Case{}, countersign.Errorf(countersign.Invalid, "A day and a time, such as 2026-12-01 17:00").In("due_at")
		}
		return v.Review.Deadline(ctx, act, due)
	}
	return v.Review.Retry(ctx, act)
}

// answer is what was written in the place of the model's summary; empty where that was left as it stood.
func (v *visit) answer(act review.Act) string {
	written := strings.TrimSpace(lineEnds.Replace(v.r.PostFormValue("answer")))
	if c, err := v.Store.Case(v.r.Context(), act.Case); err == nil && c.Proposal != nil && written == strings.TrimSpace(lineEnds.Replace(legible(c.Proposal.Summary))) {
		return ""
	}
	return written
}

// mayDecide asks of the case as it stands. Should it be raised a moment later, its revision is another one then, and the decision
// a conflict.
func (v *visit) mayDecide(act review.Act) error {
	c, err := v.Store.Case(v.r.Context(), act.Case)
	if err != nil || c.Revision != act.Revision || c.Status != countersign.InReview {
		return err // what happened meanwhile is the better answer, and review gives it
	}
	return v.who.MayDecide(c)
}

// text is the draft as it was typed, with line ends as everybody else writes them.
func (v *visit) text() string { return lineEnds.Replace(v.r.PostFormValue("text")) }

// chosen is the option of an override: the outcome, and the fix after a dash.
func (v *visit) chosen() (countersign.Outcome, string, error) {
	choice := v.form("choice")
	if choice == "" {
		return "", "", countersign.Errorf(countersign.Invalid, "Choose what should happen").In("choice")
	}
	outcome, fix, _ := cutLast(choice)
	return countersign.Outcome(outcome), fix, nil
}

// part is the amount that a person typed when they decide about less than the whole, in the case's currency; nil when they typed
// none.
func (v *visit) part(id countersign.CaseID) (*countersign.Money, error) {
	typed := v.form("part")
	if typed == "" {
		return nil, nil
	}
	c, err := v.Store.Case(v.r.Context(), id)
	if err != nil {
		return nil, err
	}
	m, err := countersign.ParseMoney(typed, c.Amount.Currency)
	if err != nil {
		return nil, countersign.Errorf(countersign.Invalid, "“%s” is not an amount of %s; expected one such as %s", clip(typed), c.Amount.Currency, strings.TrimPrefix(c.Amount.String(), c.Amount.Currency+" ")).In("amount")
	}
	return &m, nil
}

// refused shows the page of an act again.
func (v *visit) refused(ask func(*visit, *file, *decideScreen) error, e *countersign.Error) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if e.Field == "If-Match" && v.pressedTwice(f) {
		return v.back("/cases/"+string(f.ID), done(v.r.PathValue("verb"), f.Case))
	}
	p := v.decideScreen(f)
	if err := ask(v, f, p); err != nil {
		return err
	}
	p.Part, p.WithheldWhy = v.r.PostFormValue("part"), v.r.PostFormValue("withheld_why")
	for i := range p.Hurting {
		p.Hurting[i].Current = slices.Contains(v.r.PostForm["withhold"], p.Hurting[i].Value)
		p.Withheld = p.Withheld || p.Hurting[i].Current
	}
	if v.r.PostForm.Has("answer") {
		p.Answer = v.r.PostFormValue("answer")
	}
	p.Outcome, p.Reason, p.Reference = v.form("choice"), v.r.PostFormValue("reason"), v.r.PostFormValue("reference")
	if p.Verb == "message" {
		p.Text = v.text()
	}
	field := e.Field
	if field == "If-Match" || field == "" || p.Over != "" {
		field = "page"
	}
	if strings.HasPrefix(field, "amount") { // the form has one field for it, and the sentence names the amount
		field, e = "amount", &countersign.Error{Kind: e.Kind, Message: e.Message, Hint: e.Hint}
	}
	p.Wrong[field] = sentence(e)
	if e.Field == "If-Match" {
		p.Wrong[field] = "The case changed while this page was open. Nothing of yours was carried out, and nothing that you typed is lost."
	}
	switch {
	case e.Kind == countersign.Conflict && f.stale && f.desk.Reports && f.Status == countersign.InReview:
		delete(p.Wrong, field)
		p.Wrong["page"], p.Differs = "The records changed behind this page, so nothing was carried out. Nothing that you typed is lost.", f.differs()
	case e.Hint != "" && e.Field != "If-Match":
		p.Wrong[field] += " " + stopped(capital(e.Hint))
	}
	seen, _ := strconv.ParseInt(v.form("seen"), 10, 64) // without one, the whole trace is news
	for _, row := range f.rows {
		if row.Seq > seen && e.Kind == countersign.Conflict {
			p.Changed = append(p.Changed, v.traceLine(f, row))
		}
	}
	return v.showDecide(answer.Status(e.Kind), p)
}

// pressedTwice reports whether the first thing that happened since the page was opened is this very act, of the same person.
// Browsers show the answer to the second press: it must not say that nothing was carried out.
func (v *visit) pressedTwice(f *file) bool {
	seen, err := strconv.ParseInt(v.form("seen"), 10, 64)
	i := slices.IndexFunc(f.rows, func(row store.RecordRow) bool { return row.Seq == seen+1 })
	if err != nil || i < 0 || f.rows[i].Actor != v.who.Actor.String() {
		return false
	}
	verb := v.r.PathValue("verb")
	if f.rows[i].Kind == audit.Message {
		return verb == "message" && f.Message == v.text()
	}
	d, ok := decisionOf(f.rows[i])
	if !ok || d.Verb != verb || d.Reason != v.form("reason") || d.Reference != v.form("reference") {
		return false
	}
	outcome, fix, _ := v.chosen()
	return verb != "override" || d.Outcome == outcome && d.Fix == fix
}

// done says what was just done.
func done(verb string, c countersign.Case) string {
	switch {
	case verb == "message":
		return "The draft was kept. Nothing was sent."
	case verb == "deadline":
		return "The deadline was set by hand."
	case verb == "retry":
		return "A new investigation begins."
	case c.Status == countersign.Closed && c.Fix.State == countersign.FixPosted:
		return fmt.Sprintf("The %s of %s was posted, and the case is closed.", c.Fix.Fix.Kind, c.Fix.Fix.Amount)
	case c.Status == countersign.Closed:
		return "The case is closed as " + outcomeWords(c.Outcome) + ". No money moved."
	}
	return "The case was raised to the approvers. It stays open."
}

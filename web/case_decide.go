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
	Over                    string      // why the act can no longer be done; there is no form then
	Revision, Seen          int64
	Proposed                string        // the model's draft, beside a person's
	Draft                   string        // what the customer's draft says, on an act that would freeze it
	Splits                  string        // the currency of an amount that may be decided in part; empty when none may
	Part                    string        // what was typed of it
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
		Verb: v.r.PathValue("verb"), Revision: f.Revision, Seen: f.head.Seq, Moved: f.whatMoved(), Wrong: map[string]string{}}
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
		var err error
		if act.Answer, err = v.answer(act.Case); err != nil {
			return countersign.Case{}, err
		}
		act.Withhold, act.Why = v.r.PostForm["withhold"], v.form("withheld_why")
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
		due, err := v.dueTyped()
		if err != nil {
			return countersign.Case{}, err
		}
		return v.Review.Deadline(ctx, act, due)
	}
	return v.Review.Retry(ctx, act)
}

func (v *visit) dueTyped() (time.Time, error) {
	due, err := time.ParseInLocation(dueForm, v.form("due"), v.zone)
	if err != nil {
		return due, countersign.Errorf(countersign.Invalid, "is no day and time; expected one such as 2026-12-01 17:00").In("due_at")
	}
	return due, nil
}

// answer is what was written in the place of the model's summary; empty where that was left as it stood, or the page did not ask. Who
// took it out and wrote nothing did not mean to sign it.
func (v *visit) answer(id countersign.CaseID) (string, error) {
	if !v.r.PostForm.Has("answer") {
		return "", nil
	}
	c, err := v.Store.Case(v.r.Context(), id)
	if err != nil {
		return "", err
	}
	written, summary := v.form("answer"), ""
	if c.Proposal != nil {
		summary = strings.TrimSpace(lineEnds.Replace(legible(c.Proposal.Summary)))
	}
	switch {
	case written == "":
		return "", countersign.Errorf(countersign.Invalid, "is empty").In("answer").Try("write it, or open this page again for the model's words")
	case written == summary:
		return "", nil
	}
	return written, nil
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
	again, same := v.sentBefore(f)
	if e.Field == "If-Match" && again && same {
		return v.back("/cases/"+string(f.ID), done(v.r.PathValue("verb"), f.Case))
	}
	p := v.decideScreen(f)
	if err := ask(v, f, p); err != nil {
		return err
	}
	v.retype(p)
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
		if again && f.Status == countersign.Closed {
			p.Wrong[field] = "You closed this case already, with something else than what you sent now. What you sent now was not used, and nothing that you typed is lost."
		}
	}
	switch {
	case e.Kind == countersign.Conflict && f.stale && f.desk.Reports && f.Status == countersign.InReview:
		delete(p.Wrong, field)
		p.Wrong["page"], p.Differs = f.whatMoved()+" changed behind this page, so nothing was carried out. Nothing that you typed is lost.", f.differs()
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

// sentBefore reports whether the first thing that happened since the page was opened is this act, of the same person, and whether it was
// the same in all that was sent. Browsers show the answer to the second press: it must not say that nothing was carried out, and neither
// that something was which was not.
func (v *visit) sentBefore(f *file) (again, same bool) {
	seen, err := strconv.ParseInt(v.form("seen"), 10, 64)
	i := slices.IndexFunc(f.rows, func(row store.RecordRow) bool { return row.Seq == seen+1 })
	if err != nil || i < 0 || f.rows[i].Actor != v.who.Actor.String() {
		return false, false
	}
	verb := v.r.PathValue("verb")
	if f.rows[i].Kind == audit.Message {
		return verb == "message", f.Message == v.text()
	}
	d, ok := decisionOf(f.rows[i])
	if !ok || d.Verb != verb {
		return false, false
	}
	return true, d.Reason == v.form("reason") && d.Reference == v.form("reference") && v.keptSo(f, d)
}

// keptSo reports whether a decision holds what this form says beside its reason.
func (v *visit) keptSo(f *file, d decision) bool {
	switch d.Verb {
	case "deadline":
		due, err := v.dueTyped()
		return err == nil && d.Due != nil && d.Due.Equal(due)
	case "approve":
		answer, err := v.answer(f.ID)
		return err == nil && d.Answer == answer && v.withheldSo(d)
	case "override":
		outcome, fix, _ := v.chosen()
		part, err := v.part(f.ID)
		if part != nil && *part == f.Amount {
			part = nil
		}
		return err == nil && d.Outcome == outcome && d.Fix == fix && v.withheldSo(d) && (part == nil) == (d.Part == nil) && (part == nil || *part == *d.Part)
	}
	return true
}

func (v *visit) withheldSo(d decision) bool {
	return slices.Equal(d.Withheld, v.r.PostForm["withhold"]) && (len(d.Withheld) == 0 || d.Why == v.form("withheld_why"))
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

package web

import (
	"fmt"
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
	case "ask":
		return v.Review.Ask(ctx, act)
	case "settle":
		if err := v.mayDecide(act); err != nil {
			return countersign.Case{}, err
		}
		return v.Review.Settle(ctx, act, v.found())
	case "message":
		return v.Review.Message(ctx, act, v.text())
	case "deadline":
		due, err := v.dueTyped()
		if err != nil {
			return countersign.Case{}, err
		}
		return v.Review.Deadline(ctx, act, due)
	case "attach":
		return v.Review.Attach(ctx, act, v.form("order_id"))
	}
	return v.Review.Retry(ctx, act)
}

func (v *visit) dueTyped() (time.Time, error) {
	due, err := time.ParseInLocation(dueForm, v.form("due"), v.zone)
	switch {
	case v.form("due") == "":
		return due, countersign.Errorf(countersign.Invalid, "is missing").In("due_at")
	case err != nil:
		return due, countersign.Errorf(countersign.Invalid, "“%s” is no day and time; expected one such as 2026-12-01T17:00", clip(v.form("due"))).In("due_at")
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

// typedText is something that somebody typed, for them to copy.
type typedText struct{ Name, Label, Text string }

// retype puts on the page what was sent.
func (v *visit) retype(p *decideScreen) {
	p.Outcome, p.Reason, p.Reference = v.form("choice"), v.r.PostFormValue("reason"), v.r.PostFormValue("reference")
	p.Part, p.WithheldWhy = v.r.PostFormValue("part"), v.r.PostFormValue("withheld_why")
	for i := range p.Hurting {
		p.Hurting[i].Current = slices.Contains(v.r.PostForm["withhold"], p.Hurting[i].Value)
		p.Withheld = p.Withheld || p.Hurting[i].Current
	}
	for i := range p.Clauses {
		p.Clauses[i].Ticked = slices.Contains(v.r.PostForm["withhold"], p.Clauses[i].Name)
	}
	if v.r.PostForm.Has("answer") {
		p.Answer = v.r.PostFormValue("answer")
	}
	switch p.Verb {
	case "message":
		p.Text = v.text()
	case "attach":
		p.Order = v.r.PostFormValue("order_id")
	case "deadline": // the one that the case has would be set by the next press
		p.DueTyped = v.form("due")
	}
	if p.Over != "" {
		p.Typed = v.typedTexts(countersign.CaseID(p.ID))
	}
}

// typedTexts are the texts of a form that cannot be sent any more. An answer that was left as the model wrote it was not typed.
func (v *visit) typedTexts(id countersign.CaseID) (all []typedText) {
	for _, field := range []typedText{{Name: "answer", Label: "The answer"}, {Name: "reason", Label: "Why"}, {Name: "part", Label: "Amount to contest"},
		{Name: "withheld_why", Label: "Why something is left out"}, {Name: "reference", Label: "Reference of the outside desk"}, {Name: "text", Label: "Draft"}, {Name: "due", Label: "Answer due"}, {Name: "order_id", Label: "Order"}} {
		field.Text = v.r.PostFormValue(field.Name)
		if answer, err := v.answer(id); field.Name == "answer" && err == nil && answer == "" || strings.TrimSpace(field.Text) == "" {
			continue
		}
		all = append(all, field)
	}
	return all
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
	case "attach":
		return d.Subject == v.form("order_id")
	case "deadline":
		due, err := v.dueTyped()
		return err == nil && d.Due != nil && d.Due.Equal(due)
	case "settle":
		return d.Found == v.found().What
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
	case verb == "attach":
		return "The case is about order " + legible(clip(c.Subject.ID)) + " now, and a new investigation begins."
	case verb == "retry":
		return "A new investigation begins."
	case c.Status == countersign.AwaitingConfirmation && verb == "ask":
		return "The bank's core is asked again."
	case c.Status == countersign.AwaitingConfirmation:
		return fmt.Sprintf("The bank's core is asked to post the %s of %s. The case is closed when it confirms.", c.Fix.Fix.Kind, c.Fix.Fix.Amount)
	case verb == "settle" && c.Status == countersign.InReview:
		return "The fix was not posted, and the case can be decided again."
	case c.Status == countersign.Closed && c.Fix.State == countersign.FixPosted:
		return fmt.Sprintf("The %s of %s was posted, and the case is closed.", c.Fix.Fix.Kind, c.Fix.Fix.Amount)
	case c.Status == countersign.Closed:
		return "The case is closed as " + outcomeWords(c.Outcome) + ". No money moved."
	}
	return "The case was raised to the approvers. It stays open."
}

package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/audit"
	"countersign/auth"
	"countersign/desk"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
	"countersign/store"
)

// file is everything about one case at one moment: the case, its record as it was just verified, and what the desk shows of
// its records.
type file struct {
	countersign.Case
	desk       desk.Desk
	rows       []store.RecordRow
	report     audit.Report
	head       audit.Head
	display    desk.Display
	documents  []verify.Document // what the proposal quotes from
	exhibits   []store.Exhibit   // files that people added
	typed      []countersign.TypedFact
	heard      heard             // what providers said
	reported   []int             // rounds that a report was made of
	sealed     store.Report      // of a case that is closed
	unsealed   error             // why there is none
	unreadable string            // why the desk could not show its records
	now        countersign.Facts // what the records of a case in review say now; Seen is empty when that is not known
	outside    bool              // a fix that is decided now is posted by the bank's own core
	stale      bool              // the records are not those any more that the facts of this case in review were read from
	names      map[string]string
	holder     store.Claim
	held       bool
	earlier    []countersign.Case
}

// load reads a case for showing, in one snapshot. An id that no case can have is not looked up.
func (v *visit) load(id string) (*file, error) {
	f := &file{}
	err := v.Store.Snapshot(v.r.Context(), func(view store.View) error { return v.read(v.r.Context(), view, f, id) })
	return f, err
}

func (v *visit) read(ctx context.Context, view store.View, f *file, id string) (err error) {
	if len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return noSuchCase(id)
	}
	if f.Case, err = view.Case(ctx, countersign.CaseID(id)); countersign.KindOf(err) == countersign.NotFound {
		return noSuchCase(id)
	} else if err != nil {
		return err
	}
	answer.About(ctx, f.ID)
	f.desk = v.Desks[f.Desk]
	if f.report, f.head, err = view.Walk(ctx, f.Case, func(row store.RecordRow) { f.rows = append(f.rows, row) }); err != nil {
		return err
	}
	if f.names, err = view.Names(ctx); err != nil {
		return err
	}
	if f.holder, f.held, err = view.Holder(ctx, f.ID, v.now); err != nil {
		return err
	}
	if f.earlier, err = view.EarlierCases(ctx, f.Case, 6); err != nil {
		return err
	}
	if f.desk.Acts() {
		route, err := view.Route(ctx)
		if err != nil {
			return err
		}
		f.outside = route.Outside()
	}
	if f.desk.Room.Files > 0 {
		if f.exhibits, err = view.Exhibits(ctx, f.ID); err != nil {
			return err
		}
	}
	if len(f.desk.Typed) > 0 {
		if f.typed, err = view.TypedFacts(ctx, f.ID); err != nil {
			return err
		}
	}
	if err := f.hear(ctx, view); err != nil {
		return err
	}
	f.reported = reportedRounds(f.rows)
	if f.reports() {
		f.sealed, f.unsealed = view.Report(ctx, f.ID)
	}
	f.show(ctx, view)
	return nil
}

// longestLook is how long a page waits for records that are in somebody else's database.
const longestLook = 8 * time.Second

// show asks the desk for its records. A case whose records cannot be read is still a case that somebody must decide, so the
// page says so instead of failing.
func (f *file) show(ctx context.Context, view store.View) {
	if f.desk.Display == nil {
		f.unreadable = "This program does not have the desk of this case."
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	display, err := f.desk.Display(ctx, view, f.Case)
	if err != nil {
		f.unreadable = "The records of this case cannot be read now."
		return
	}
	f.display = display
	if f.desk.Documents != nil && f.Proposal != nil && len(f.Proposal.Quotes) > 0 {
		f.documents, _ = f.desk.Documents(ctx, view, f.Case) // without them a clause is shown by itself
	}
	if f.Status != countersign.InReview || f.Facts == nil || f.Facts.Seen == "" || f.Fix.State == countersign.FixUnknown {
		return // what the records say of a fix that may have been posted is no news
	}
	if now, err := f.desk.Facts(ctx, view, f.Case); err == nil {
		f.now, f.stale = now, now.Seen != f.Facts.Seen
	}
}

func noSuchCase(id string) error {
	return countersign.Errorf(countersign.NotFound, "There is no case %q.", clip(id)).Try("Look for it in the queue: by its number, the transaction, the customer or the amount.")
}

// caseScreen is the page of a case, in the order in which a person decides.
type caseScreen struct {
	ID, Title, Standing string
	Status              countersign.Status
	Amount              amount
	Due                 due
	Opened              moment
	Lines               []line
	Said                words // what the customer wrote
	Facts               factsPanel
	Proposal            *proposalPanel
	Why                 []why
	Because             string // the same in a few words, for the head of the page
	Fix                 *fixPanel
	Act                 *actPanel
	Message             *messagePanel // nil at a desk that writes to nobody
	Whose               string        // the records are
	SetDue              string        // where the deadline can be set
	Beside              string        // what the cases listed last have in common with this one
	Report              *reportPanel  // nil while there is nothing to report
	Exhibits            *exhibitsPanel
	Typed               *typedPanel
	Events              *eventsPanel   // nil while nobody said anything of their own accord
	Rounds              []earlierRound // what was decided before it was opened again
	Reopened            string         // why it is open again
	Attach              string         // where the order is named, of a case whose order is not known
	Wrong               string         // why what was just sent was not taken
	Lost                []typedText    // what was typed into a form that the page does not have any more
	Trace               []traceLine
	Steps               []stepTable
	Record              recordPanel
	Earlier             []earlierCase
	Also                []earlierCase // of those, the ones about the same order: one dispute may be worked as two
	Holder              string
	Mine, CanHold       bool
	CanTake             bool // the reader may take the next case from here
	Working             bool // an investigation is under way or about to be
	Raised              string
	Last                int64  // the last row of the record that is on this page
	Stamp               string // how the case stood when this page was drawn
	Revision            int64
	Round               int
}

// casePage is the page of a case.
func casePage(v *visit) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := v.renew(f); err != nil {
		return err
	}
	page, err := v.caseScreen(f)
	if err != nil {
		return err
	}
	s := screen{Title: string(f.ID) + " " + page.Title, Section: "Queue", Page: page}
	switch {
	case page.Working:
		s.Refresh = 2
	case f.Status == countersign.AwaitingConfirmation:
		s.Refresh = 5
	}
	return v.show(http.StatusOK, "case", s)
}

func (v *visit) caseScreen(f *file) (*caseScreen, error) {
	act, err := v.acts(f)
	if err != nil {
		return nil, err
	}
	p := &caseScreen{
		ID: string(f.ID), Title: matter(f.Case), Standing: standing(f.Case), Status: f.Status, Amount: money(f.Amount), Due: v.due(f.Case),
		Opened: v.moment(f.OpenedAt), Lines: v.lines(f), Said: writtenBy(f.author(), f.Notes), Facts: v.facts(f), Proposal: v.proposal(f),
		Why: f.why(), Because: f.because(), Fix: v.fix(f), Act: act, Message: v.message(f), Whose: f.whose(), Report: f.sealedReport(), Exhibits: v.exhibits(f), Typed: v.typed(f),
		Trace: v.trace(f), Steps: v.steps(f), Record: v.record(f),
		Earlier: v.listed(f.earlier), Working: f.Status == countersign.Queued || f.Status == countersign.Investigating, Last: f.head.Seq, Stamp: stamp(f.Case),
		Revision: f.Revision, Round: f.Round, Raised: v.raisedBy(f),
		CanTake: v.may(auth.Decide),
	}
	p.Beside = "Other cases of this customer"
	if f.CustomerID == "" {
		p.Beside = "Other cases about this " + string(f.Subject.Kind)
	}
	if f.desk.Reports {
		p.Also = v.listed(slices.DeleteFunc(slices.Clone(f.earlier), func(c countersign.Case) bool { return c.Subject != f.Subject }))
	}
	v.hold(p, f)
	p.Events, p.Rounds = v.events(f), v.rounds(f)
	if f.Reopened != nil && f.Status != countersign.Closed {
		p.Reopened = legible(f.Reopened.Text)
	}
	if review.Unmatched(f.Case) && f.Status == countersign.InReview && v.may(auth.Decide) {
		p.Attach = "/cases/" + string(f.ID) + "/attach"
	}
	if f.Status == countersign.InReview && v.may(auth.Decide) {
		p.SetDue = "/cases/" + string(f.ID) + "/deadline"
	}
	return p, nil
}

// author is who wrote the notes of a case.
func (f *file) author() string { return cmp.Or(f.desk.NotesBy, "the customer") }

func (f *file) whose() string {
	if f.desk.Whose == "" {
		return "The"
	}
	return capital(f.desk.Whose)
}

// because is why the case waits for a person, in a few words; empty when it does not.
func (f *file) because() string {
	if f.Status != countersign.InReview {
		return ""
	}
	return reasonsShort(f.Case)
}

// hold says who else has the case before them. It informs; it never keeps anybody from deciding.
func (v *visit) hold(p *caseScreen, f *file) {
	if f.Status != countersign.InReview {
		return
	}
	p.Mine = f.held && f.holder.PersonID == v.who.Actor.ID
	if f.held && !p.Mine {
		p.Holder = f.person(f.holder.PersonID) + " has had this case before them since " + v.moment(f.holder.Since).Text
	}
	p.CanHold = !p.Mine && v.may(auth.Decide)
}

// raisedBy is who raised an open case to approvers, and why.
func (v *visit) raisedBy(f *file) string {
	if !f.Raised || f.Status == countersign.Closed {
		return ""
	}
	for i := len(f.rows) - 1; i >= 0; i-- {
		if d, ok := decisionOf(f.rows[i]); ok && (d.Verb == "escalate" || d.Verb == "approve") {
			return f.actor(f.rows[i].Actor) + ", " + v.moment(at(f.rows[i])).Text + quoted(legible(d.Reason))
		}
	}
	return ""
}

func quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return ": “" + reason + "”"
}

// cell is one value as a page shows it.
type cell struct {
	Text    string
	By      string // who wrote Text, when it is other people's
	Amount  *amount
	When    *moment
	Numbers bool
}

func (v *visit) cell(c desk.Cell) cell {
	switch {
	case c.Amount != nil:
		a := money(*c.Amount)
		return cell{Amount: &a, Numbers: true}
	case !c.When.IsZero():
		m := v.when(c.When)
		return cell{When: &m}
	}
	return cell{Text: legible(c.Text), By: c.By}
}

type line struct {
	Label string
	Cell  cell
}

func (v *visit) lines(f *file) (all []line) {
	for _, l := range f.display.Lines {
		all = append(all, line{l.Label, v.cell(l.Cell)})
	}
	if f.Channel != "" && f.Channel != "api" {
		all = append(all, line{"Reached us by", cell{Text: legible(f.Channel), By: "whoever sent it"}})
	}
	if f.Status == countersign.Closed {
		ended := v.moment(f.UpdatedAt)
		all = append(all, line{"Closed", cell{When: &ended}})
	}
	return all
}

type earlierCase struct {
	ID, Title, Standing string
	Amount              amount
	Opened              moment
}

// listed are cases in a line each.
func (v *visit) listed(cases []countersign.Case) (all []earlierCase) {
	for _, c := range cases {
		all = append(all, earlierCase{string(c.ID), matter(c), standing(c), money(c.Amount), v.moment(c.OpenedAt)})
	}
	return all
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "")
}

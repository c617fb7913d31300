package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/report"
	"countersign/events"
	"countersign/follow"
	"countersign/pipeline/review"
	"countersign/store"
)

// traceLine is one row of the record in words: what happened, who did it, how long it took.
type traceLine struct {
	Seq   int64
	When  moment
	Clock string // the time of day alone, for a list of one day's lines
	Words string
	More  string // what it cost: tokens, time
	Said  words  // what a person wrote with it
	Kind  string
	Bad   bool
}

func (v *visit) trace(f *file) (all []traceLine) {
	for _, row := range f.rows {
		all = append(all, v.traceLine(f, row))
	}
	return all
}

func (v *visit) traceLine(f *file, row store.RecordRow) traceLine {
	when := at(row)
	l := traceLine{Seq: row.Seq, When: v.moment(when), Clock: when.In(v.zone).Format("15:04:05"), Kind: string(row.Kind)}
	if row.Payload == nil {
		l.Words = plain(row.Kind) + "; its contents were erased"
		return l
	}
	tell := tellers[row.Kind]
	if tell == nil {
		l.Words = plain(row.Kind)
		return l
	}
	if err := tell(f, row, &l); err != nil {
		l.Words, l.Bad = plain(row.Kind)+"; its contents cannot be read", true
	}
	return l
}

// tellers put a row of each kind into words. An error means that the payload is not what this version writes.
var tellers = map[audit.Kind]func(*file, store.RecordRow, *traceLine) error{
	audit.Opened:    tellOpened,
	audit.Started:   tellStarted,
	audit.ModelTurn: tellTurn,
	audit.ToolCall:  tellStep,
	audit.Facts:     tellFacts,
	audit.Proposal:  tellProposal,
	audit.Verdict:   tellVerdict,
	audit.Fix:       tellFix,
	audit.Decision:  tellDecision,
	audit.Message:   tellMessage,
	audit.Note:      tellNote,
	audit.Closed:    tellClosed,
	audit.Event:     tellEvent,
	audit.Reopened:  tellEvent,
}

func tellOpened(f *file, row store.RecordRow, l *traceLine) error {
	l.Words = "Opened by " + f.actor(row.Actor)
	return nil
}

func tellStarted(f *file, row store.RecordRow, l *traceLine) error {
	var s struct {
		Round   int `json:"round"`
		Resumed int `json:"resumed_after_turn"`
		Model   struct {
			Provider string `json:"provider"`
			Name     string `json:"name"`
		} `json:"model"`
		Connections []string `json:"connections"`
	}
	if err := json.Unmarshal(row.Payload.Bytes, &s); err != nil {
		return err
	}
	who := s.Model.Name
	switch s.Model.Provider {
	case "rulebook":
		who = "the offline reviewer (no AI)"
	case "scripted":
		who = "a script that plays a failing model (“" + who + "”)"
	}
	if len(s.Connections) > 1 {
		who += "; where it does not answer, " + inOrder(s.Connections[1:])
	}
	switch {
	case s.Resumed > 0:
		l.Words = fmt.Sprintf("Investigation taken up again after turn %d, with %s", s.Resumed, who)
	case s.Round > 1:
		l.Words = fmt.Sprintf("Investigation %d began, with %s", s.Round, who)
	default:
		l.Words = "Investigation began, with " + who
	}
	return nil
}

// inOrder names connections in the order in which they are asked.
func inOrder(connections []string) string {
	names := make([]string, len(connections))
	for i, name := range connections {
		if names[i] = legible(name); name == "rulebook" {
			names[i] = "the offline reviewer (no AI)"
		}
	}
	return strings.Join(names, ", then ")
}

func tellTurn(_ *file, row store.RecordRow, l *traceLine) error {
	var turn struct {
		Number int `json:"turn"`
		Calls  []struct {
			Name string `json:"name"`
		} `json:"calls"`
		Usage *struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
		} `json:"usage"`
		Asked []askedModel  `json:"asked"`
		Error string        `json:"error"`
		Note  string        `json:"note"`
		Took  time.Duration `json:"took_ns"`
	}
	if err := json.Unmarshal(row.Payload.Bytes, &turn); err != nil {
		return err
	}
	l.Words, l.More = fmt.Sprintf("%s, turn %d: ", whoAnswered(turn.Asked), turn.Number), took(turn.Took)
	if turn.Usage != nil {
		l.More = count(turn.Usage.Input) + " tokens read, " + count(turn.Usage.Output) + " written · " + l.More
	}
	if cost := costOf(turn.Asked).String(); cost != "" {
		l.More = cost + " · " + l.More
	}
	switch {
	case turn.Error != "":
		l.Words, l.Bad = l.Words+"no usable answer", true
	case len(turn.Calls) == 0:
		l.Words += "answered without asking for anything"
	case turn.Calls[0].Name == submission:
		l.Words += "submitted its proposal"
	default:
		l.Words += "asked for " + many(len(turn.Calls), "record", "records")
	}
	l.Words += notAnswered(turn.Asked)
	if turn.Note != "" {
		l.Said = writtenBy("", turn.Note)
	}
	return nil
}

// askedModel is one of several models that were asked in a turn.
type askedModel struct {
	Connection string            `json:"connection"`
	Provider   string            `json:"provider"`
	Name       string            `json:"name"`
	Kind       string            `json:"error"`
	Costs      countersign.Costs `json:"cost"`
}

func (m askedModel) called() string {
	if m.Provider == "rulebook" {
		return "the offline reviewer (no AI)"
	}
	return legible(m.Name)
}

// whoAnswered begins the line of a turn: with a name where there were several to ask.
func whoAnswered(asked []askedModel) string {
	if n := len(asked); n > 1 && asked[n-1].Kind == "" {
		return capital(asked[n-1].called())
	}
	return "Model"
}

func costOf(asked []askedModel) (sum countersign.Costs) {
	for _, m := range asked {
		sum = sum.Plus(m.Costs)
	}
	return sum
}

// silences say why a model that was to be asked gave no answer.
var silences = map[string]string{
	"unreachable": "could not be reached", "refused": "refused the request", "timed_out": "took too long", "unreadable": "answered with something unreadable",
	"canceled": "was interrupted", "budget_spent": "was not asked, because a budget for models is spent", "passed_over": "was passed over",
}

// notAnswered says who was to be asked before, and gave no answer.
func notAnswered(asked []askedModel) (said string) {
	for _, m := range asked {
		if m.Kind != "" && len(asked) > 1 {
			why := silences[m.Kind]
			if why == "" {
				why = "gave no answer"
			}
			said += "; " + m.called() + " " + why
		}
	}
	return said
}

func tellStep(f *file, row store.RecordRow, l *traceLine) error {
	var step countersign.Step
	if err := json.Unmarshal(row.Payload.Bytes, &step); err != nil {
		return err
	}
	if step.Tool == submission {
		l.Words, l.Bad = "The proposal was taken", !step.OK
		if !step.OK {
			l.Words = "The proposal was not well formed: " + step.Error
		}
		return nil
	}
	l.Words, l.More, l.Bad = string(step.Ref)+" "+capital(f.told(step)), took(step.Took), !step.OK
	return nil
}

func tellFacts(_ *file, row store.RecordRow, l *traceLine) error {
	var kept struct{ Facts countersign.Facts }
	if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
		return err
	}
	unknown := 0
	for _, fact := range kept.Facts.Items {
		if fact.State == countersign.Unknown {
			unknown++
		}
	}
	l.Words = "Code read the records itself: " + many(len(kept.Facts.Items), "fact", "facts")
	if unknown > 0 {
		l.Words += fmt.Sprintf(", %d not known", unknown)
	}
	if kept.Facts.Unreadable != "" {
		l.Words, l.Bad = "Code could not read the records", true
	}
	return nil
}

func tellProposal(_ *file, row store.RecordRow, l *traceLine) error {
	var kept struct {
		Proposal countersign.Proposal
		Evidence countersign.Evidence
	}
	if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
		return err
	}
	if kept.Proposal.Failure != "" {
		l.Words, l.Bad = "No proposal: "+failures[kept.Proposal.Failure], true
		return nil
	}
	l.Words = "Proposal, " + headline(kept.Proposal) + fmt.Sprintf(", %.2f stated", kept.Proposal.Confidence)
	if n := len(kept.Evidence.Invalid); n > 0 {
		l.Words, l.Bad = l.Words+"; "+many(n, "citation names", "citations name")+" nothing real", true
	}
	return nil
}

func tellVerdict(_ *file, row store.RecordRow, l *traceLine) error {
	var kept struct{ Verdict countersign.Verdict }
	if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
		return err
	}
	l.Words = "The policy found no reason for a person"
	if n := len(telling(kept.Verdict.Reasons)); n > 0 {
		l.Words = "The policy sends it to a person, for " + many(n, "reason", "reasons")
	}
	return nil
}

func tellFix(f *file, row store.RecordRow, l *traceLine) error {
	var kept store.FixRow
	if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
		return err
	}
	if kept.State != "" {
		tellSent(kept, l)
		return nil
	}
	l.Words = "Posted the " + string(kept.Fix.Kind) + " of " + kept.Fix.Amount.String() + " for " + f.actor(row.Actor)
	return nil
}

// decision is what the record keeps of an act of a person's.
type decision struct {
	Round     int                 `json:"round"`
	Verb      string              `json:"verb"`
	Subject   string              `json:"subject"`
	Outcome   countersign.Outcome `json:"outcome_wanted"`
	Fix       string              `json:"fix"`
	Reason    string              `json:"reason"`
	Reference string              `json:"reference"`
	Withdrawn bool                `json:"draft_withdrawn"`
	Part      *countersign.Money  `json:"part"`
	Withheld  []string            `json:"withheld"`
	Why       string              `json:"withheld_why"`
	Answer    string              `json:"answer"`
	Due       *time.Time          `json:"due_at"`
	Warnings  []string            `json:"warnings"`
	Found     review.Finding      `json:"found"`
}

func decisionOf(row store.RecordRow) (d decision, ok bool) {
	if row.Kind != audit.Decision || row.Payload == nil {
		return d, false
	}
	return d, json.Unmarshal(row.Payload.Bytes, &d) == nil
}

func tellDecision(f *file, row store.RecordRow, l *traceLine) error {
	d, ok := decisionOf(row)
	if !ok {
		return errors.New("not a decision")
	}
	acts := map[string]string{"approve": " approved the recommendation", "override": " decided otherwise", "escalate": " raised it to approvers", "deadline": " set the deadline", "retry": " asked for another investigation",
		"ask": " had the core asked again", "settle": " found out what became of the fix",
		"attach": " said which order it is about: " + legible(clip(d.Subject))}
	l.Words = capital(f.actor(row.Actor)) + acts[d.Verb]
	if d.Verb == "override" {
		if f.desk.Reports && d.Part == nil && d.Outcome == f.desk.Outcome[f.Recommendation] {
			l.Words = capital(f.actor(row.Actor)) + " decided as recommended, in their own words"
		}
		l.Words += ": " + plain(d.Outcome)
		if d.Fix != "" && d.Fix != "none" {
			l.Words += " with a " + d.Fix
		}
	}
	if d.Verb == "settle" {
		l.Words += ": it was " + map[review.Finding]string{review.FoundNotPosted: "not "}[d.Found] + "posted"
	} else if d.Reference != "" {
		l.Words = capital(f.actor(row.Actor)) + " handed it to an outside desk"
	}
	if d.Withdrawn {
		l.Words += "; the model's draft to the customer was withdrawn"
	}
	l.Said = writtenBy(f.actor(row.Actor), d.Reason)
	return nil
}

func tellMessage(f *file, row store.RecordRow, l *traceLine) error {
	l.Words = capital(f.actor(row.Actor)) + " changed the draft to the customer"
	return nil
}

// tellNote is what is beside the course of a case: its files, what people typed in, and its report.
func tellNote(f *file, row store.RecordRow, l *traceLine) error {
	var note struct {
		File, Name, Description, Report, Pack, Typed, Again string
		Pages                                               int
		Fact                                                countersign.TypedFact
		Exchanges                                           []store.Exchange
	}
	if err := json.Unmarshal(row.Payload.Bytes, &note); err != nil {
		return err
	}
	who := f.actor(row.Actor)
	switch {
	case note.File == "added":
		l.Words, l.Said = capital(who)+" added a file", writtenBy(who, strings.TrimSuffix(note.Name+": "+note.Description, ": "))
	case note.File == "removed":
		l.Words, l.Said = capital(who)+" took a file off", writtenBy(who, note.Name)
	case note.Typed == "added":
		l.Words, l.Said = capital(who)+" typed in a fact", writtenBy(who, note.Fact.Text)
	case note.Typed != "":
		l.Words, l.Said = capital(who)+" took a typed-in fact back", writtenBy(who, note.Fact.Text)
	case len(note.Exchanges) > 0:
		l.Words, l.Bad = tellExchange(note.Exchanges[len(note.Exchanges)-1]), note.Exchanges[len(note.Exchanges)-1].Problem != ""
	case note.Again != "":
		l.Words = capital(who) + " reported it again, with a deadline that is sooner"
	case note.Pack != "":
		l.Words = capital(who) + " had the report and its files made into one PDF: " + many(note.Pages, "page", "pages") + ", SHA-256 " + report.Short(legible(note.Pack))
	case note.Report != "":
		l.Words, l.Bad = "The evidence report was "+legible(note.Report), true
		if fingerprint, made := strings.CutPrefix(note.Report, audit.ReportMade); made {
			l.Words, l.Bad = "Evidence report "+report.Short(fingerprint), false
		}
	default:
		l.Words = plain(row.Kind)
	}
	return nil
}

// tellEvent is what a provider said, or that it opened the case again.
func tellEvent(f *file, row store.RecordRow, l *traceLine) error {
	var said struct {
		Source   string
		Text     string
		Took     []string
		Events   []struct{ Type string }
		Standing *events.Standing
	}
	if err := json.Unmarshal(row.Payload.Bytes, &said); err != nil {
		return err
	}
	l.Words = legible(said.Source) + " sent " + many(len(said.Events), "event", "events")
	if len(said.Events) == 1 {
		l.Words = legible(said.Source) + " sent “" + legible(clip(said.Events[0].Type)) + "”"
	}
	if said.Standing != nil {
		l.Words += ": " + events.Says(said.Standing.Stage, said.Standing.Status)
	}
	if row.Kind == audit.Reopened {
		l.Words = "Opened again. " + legible(said.Text)
		return nil
	}
	if slices.Contains(said.Took, "order_id") {
		l.Words += " It says which order this is about."
	}
	if slices.Contains(said.Took, "due_at") {
		l.Words += " The deadline was moved."
	}
	return nil
}

func tellClosed(f *file, row store.RecordRow, l *traceLine) error {
	var closed store.ClosedRow
	if err := json.Unmarshal(row.Payload.Bytes, &closed); err != nil {
		return err
	}
	l.Words = "Closed: " + outcomeWords(closed.Outcome)
	return nil
}

// actor is whoever did something, as people call them.
func (f *file) actor(recorded string) string {
	a := countersign.ParseActor(recorded)
	switch a.Kind {
	case countersign.Person:
		return f.person(a.ID)
	case countersign.Token:
		return "a program with " + legible(cmp.Or(f.names[a.ID], "token "+a.ID))
	case countersign.Worker:
		return "worker " + a.ID
	case countersign.Policy:
		return "the policy"
	case countersign.Source:
		return "an event of " + legible(a.ID)
	case countersign.CLI:
		return a.ID + " on the command line"
	}
	return recorded
}

func (f *file) person(id string) string {
	if name := f.names[id]; name != "" {
		return legible(name)
	}
	return id
}

// caseLive streams the case as it happens: each row of its record as a line of the trace, from the row after the one that the
// page has, and an event named case when the page should be drawn anew.
func caseLive(v *visit) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	after, err := lastSeen(v.r, f.head)
	if err != nil {
		return err
	}
	leave, err := v.Room.Take(v.who.Actor.String())
	if err != nil {
		return err
	}
	defer leave()
	s, err := follow.Open(v.w, v.r)
	if err != nil || v.r.Method == http.MethodHead {
		return nil // the reader has gone, or asked for the headers alone
	}
	f.rows = nil // what was recorded before is the page's: a stream lasts
	seen := v.r.URL.Query().Get("seen")
	follower := follow.Follower{Store: v.Store, Stopping: v.Stopping, Heartbeat: v.Heartbeat}
	err = follower.Case(v.r.Context(), f.ID, after, follow.Watcher{
		Row: func(row store.RecordRow) error {
			text, err := v.lineHTML(f, row)
			if err != nil {
				return err
			}
			return s.Event("", row.Seq, text)
		},
		Case: func(c countersign.Case) error {
			if f.Case = c; stamp(c) == seen {
				return nil
			}
			if err := v.stillIn(); err != nil {
				return err
			}
			seen = stamp(c)
			return s.Event("case", 0, string(c.Status))
		},
		Beat: func() error {
			if err := v.stillIn(); err != nil {
				return err
			}
			return s.Beat()
		},
	})
	if err != nil && !errors.Is(err, errSignIn) && v.r.Context().Err() == nil {
		v.Log.WarnContext(v.r.Context(), "a live trace ended", "case", string(f.ID), "error", err)
	}
	return nil
}

// stillIn is errSignIn once the reader's session is over: a stream that they opened before does not outlast it by more than a
// heartbeat.
func (v *visit) stillIn() error {
	_, ok, err := v.Sessions.Principal(v.r.Context())
	if err == nil && !ok {
		err = errSignIn
	}
	return err
}

// stamp is how a case stood when a page was drawn: a page whose stamp is an old one shows something that is no longer so, also
// when that changed while the program was not there to say it.
func stamp(c countersign.Case) string { return fmt.Sprintf("%d-%s", c.Revision, c.Status) }

func lastSeen(r *http.Request, head audit.Head) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return follow.From("Last-Event-ID", id, head)
	}
	return follow.From("after", r.URL.Query().Get("after"), head)
}

func (v *visit) lineHTML(f *file, row store.RecordRow) (string, error) {
	var b bytes.Buffer
	err := v.pages["case"].ExecuteTemplate(&b, "trace-line", v.traceLine(f, row))
	return strings.TrimSpace(b.String()), err
}

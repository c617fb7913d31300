package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/events"
	"countersign/store"
)

// eventRow is the payload of a row of kind event: what a source said, and what the case took over of it. Status and outcome are
// the case's where they became others: when it was opened again, or is investigated anew.
type eventRow struct {
	Round    int                  `json:"round"`
	Status   *countersign.Status  `json:"status,omitempty"`
	Outcome  *countersign.Outcome `json:"outcome,omitempty"`
	Source   string               `json:"source"`
	Events   []told               `json:"events"` // those that were new to the case, in the provider's order
	Standing *events.Standing     `json:"standing,omitempty"`
	Took     []string             `json:"took,omitempty"` // what changed on the case
	Amount   *countersign.Money   `json:"amount,omitempty"`
	Due      *time.Time           `json:"due_at,omitempty"`
	Result   *countersign.Result  `json:"result,omitempty"`
	Code     string               `json:"code,omitempty"` // why the case was opened again
	Text     string               `json:"text,omitempty"`
}

func (r *eventRow) took(what string) { r.Took = append(r.Took, what) }

// told is one event in a record: which one, when it happened there and came here, and the hash of the bytes that were kept.
type told struct {
	ID         string    `json:"id"`
	EventID    string    `json:"event_id"`
	Type       string    `json:"type"`
	CreatedAt  time.Time `json:"created_at"`
	ReceivedAt time.Time `json:"received_at"`
	SHA256     string    `json:"body_sha256"`
}

// Apply brings the cases of an event's dispute, or of its order's refunds, to what all their events say together. True means that some
// of it waits: a worker has the case, and would write its own over it.
func (e Events) Apply(ctx context.Context, event store.Event) (held bool, err error) {
	for range 3 { // a case that was opened by another way at the same moment is found the next time
		err = e.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			held, err = e.applyIn(ctx, tx, event)
			return err
		})
		if countersign.KindOf(err) != countersign.Conflict {
			break
		}
	}
	if err != nil {
		// Whether or not this is kept, the event waits and is tried again; whoever called is told why.
		_ = e.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.DelayEvent(ctx, event.ID, err.Error()) })
	}
	return held, err
}

func (e Events) applyIn(ctx context.Context, tx *store.Tx, event store.Event) (held bool, err error) {
	desk, ok := e.Desks[event.Desk]
	if !ok {
		return false, fmt.Errorf("event %s is for desk %q, which this program does not have", event.ID, event.Desk)
	}
	w := work{Events: e, tx: tx, desk: desk, source: event.Source}
	dispute, refunds := event.Refs()
	if dispute != "" {
		if err := w.dispute(ctx, dispute, event.Dispute); err != nil {
			return false, err
		}
	}
	if refunds != "" {
		if err := w.refunds(ctx, refunds, event.RefundOrder); err != nil {
			return false, err
		}
	}
	return w.held, tx.SettleEvents(ctx, w.settled)
}

// work is one transaction that brings cases to what their events say.
type work struct {
	Events
	tx      *store.Tx
	desk    Desk
	source  string
	settled []string
	held    bool
}

func (w *work) actor() countersign.Actor {
	return countersign.Actor{Kind: countersign.Source, ID: w.source}
}

// applied is what a case holds of a thread.
type applied struct {
	Known   events.Standing `json:"known"`          // how the dispute stood when it was looked at last
	Held    events.Standing `json:"held"`           // and when the case took its fields from it: one that is closed takes none
	Told    []string        `json:"told,omitempty"` // the events that its record was told last: one may have to come again for another stage
	Refunds int             `json:"refund_failures,omitempty"`
}

// KnownEvents reads what was kept.
func KnownEvents(kept []store.Event) (all []events.Known, err error) {
	for _, k := range kept {
		known := events.Known{Key: k.ID, Source: k.Source, ReceivedAt: k.ReceivedAt, Seen: k.Seen}
		if err := json.Unmarshal([]byte(k.Said), &known.Event); err != nil {
			return nil, fmt.Errorf("read event %s as it was kept: %w", k.ID, err)
		}
		all = append(all, known)
	}
	return all, nil
}

// dispute brings the cases of a dispute, one for each of its stages, to how it stands.
func (w *work) dispute(ctx context.Context, ref, dispute string) error {
	threads, err := w.tx.LockThreads(ctx, w.source, ref)
	if err != nil {
		return err
	}
	kept, err := w.tx.EventsOf(ctx, w.source, dispute)
	if err != nil {
		return err
	}
	known, err := KnownEvents(kept)
	if err != nil {
		return err
	}
	standings, _ := events.Fold(known)
	behind := false
	for _, s := range standings {
		th := threads[string(s.Stage)]
		th.Source, th.Ref, th.Stage = w.source, ref, string(s.Stage)
		news := newsOf(kept, known, string(s.Stage))
		held, err := w.stage(ctx, th, dispute, s, slices.Clone(news))
		if err != nil {
			return err
		}
		if held {
			w.held = true
			behind = behind || len(news) == 0
			continue
		}
		for _, n := range news {
			w.settled = append(w.settled, n.ID)
		}
	}
	if behind { // what another stage's event said of this one, the order for one: it has to come again
		w.settled = nil
	}
	return nil
}

// newsOf are the events of a stage that its case does not hold yet.
func newsOf(kept []store.Event, known []events.Known, stage string) (news []told) {
	for i, k := range kept {
		if k.Stage == stage && k.State == store.EventWaiting {
			news = append(news, toldOf(k, known[i]))
		}
	}
	return news
}

func toldOf(k store.Event, known events.Known) told {
	return told{k.ID, k.EventID, known.Type, known.CreatedAt, k.ReceivedAt, k.BodyHash}
}

// stage brings the case of one stage to how the dispute stands there.
func (w *work) stage(ctx context.Context, th store.Thread, dispute string, s events.Standing, news []told) (held bool, err error) {
	var was applied
	if len(th.Applied) > 0 {
		if err := json.Unmarshal(th.Applied, &was); err != nil {
			return false, fmt.Errorf("read what is held of %s: %w", th.Ref, err)
		}
	}
	holds := applied{Known: s, Held: s}
	for _, n := range news {
		holds.Told = append(holds.Told, n.ID)
	}
	news = slices.DeleteFunc(news, func(n told) bool { return slices.Contains(was.Told, n.ID) })
	if len(news) == 0 && reflect.DeepEqual(was.Known, s) {
		return false, nil
	}
	c, err := w.caseOf(ctx, th, dispute)
	if err != nil {
		return false, err
	}
	row := eventRow{Source: w.source, Events: news, Standing: &s, Amount: s.Amount, Due: s.DueAt, Result: s.Result()}
	switch {
	case c.ID == "":
		c, err = w.open(ctx, dispute, s, row)
	case c.Status == countersign.Investigating:
		return true, nil
	default:
		err = w.follow(ctx, &c, was, s, row)
	}
	if err != nil {
		return false, err
	}
	if c.Status == countersign.Closed {
		holds.Held = was.Held
	}
	th.Case = c.ID
	if th.Applied, err = json.Marshal(holds); err != nil {
		return false, err
	}
	return false, w.tx.KeepThread(ctx, th)
}

// caseOf is the case that holds a stage of a dispute, or one that was opened for it by another way; none if there is neither. An open one
// goes before one that was closed: two open cases of one dispute cannot be.
func (w *work) caseOf(ctx context.Context, th store.Thread, dispute string) (c countersign.Case, err error) {
	if th.Case != "" {
		if c, err = w.tx.LockCase(ctx, th.Case); err != nil || c.Status != countersign.Closed {
			return c, err
		}
	}
	found, ok, err := w.tx.CaseOfDispute(ctx, w.desk.Name, dispute, th.Stage)
	switch {
	case err != nil || !ok:
		return c, err
	case c.ID != "" && (found.ID == c.ID || found.Status == countersign.Closed):
		return c, nil
	}
	return w.tx.LockCase(ctx, found.ID)
}

// request is a dispute in the form in which every channel hands one over.
func (w *work) request(dispute string, s events.Standing) Request {
	return Request{SubjectID: s.Order, SubjectField: "order_id", Unmatched: s.Order == "", Reason: countersign.OtherReason, Channel: "events from " + w.source,
		Amount: s.Amount, DueAt: s.DueAt, Stage: string(s.Stage), Terms: countersign.Terms{Network: s.Network, ReasonCode: s.ReasonCode, Reference: dispute}}
}

// open opens the case of a dispute that nobody here has heard of, whatever its first event says: none is dropped.
func (w *work) open(ctx context.Context, dispute string, s events.Standing, row eventRow) (countersign.Case, error) {
	r, err := w.request(dispute, s).checked()
	if err != nil {
		return countersign.Case{}, err
	}
	row.Round = 1
	opened, err := w.openIn(ctx, w.tx, w.desk, w.actor(), r, w.id(w.desk.Prefix), store.Note{Kind: audit.Event, Payload: row})
	if w.Counted != nil {
		w.tx.AfterCommit(func() { w.Counted(w.desk.Name, countersign.Source, true) })
	}
	if err != nil || row.Result == nil {
		return opened.Case, err
	}
	opened.Case.Result = row.Result
	return opened.Case, w.tx.Save(ctx, &opened.Case)
}

// follow takes over what the events say that the case does not hold yet. What somebody here has changed meanwhile is theirs: a field
// follows the provider's newer word as long as it holds the provider's older one, or nothing. A deadline that is sooner counts at once.
func (w *work) follow(ctx context.Context, c *countersign.Case, was applied, s events.Standing, row eventRow) error {
	before, err := w.find(ctx, c.Terms.Reference, was.Held)
	if err != nil {
		return err
	}
	now, err := w.find(ctx, c.Terms.Reference, s)
	if err != nil {
		return err
	}
	if c.Status == countersign.Closed && s.TurnedSince(was.Known) {
		if err := w.reopen(ctx, c, countersign.ReopenedByEvent, s.Turned, s.Since, &row); err != nil {
			return err
		}
		c.DueAt, c.DueSource = nil, countersign.DueUnknown // the round before had that one, whoever set it
	}
	if c.Status != countersign.Closed {
		if err := w.take(ctx, c, before, now, &row); err != nil {
			return err
		}
		if r := c.Reopened; r != nil && r.Code == countersign.ReopenedByEvent && s.Turned != "" && (r.Text != s.Turned || !r.At.Equal(s.Since)) { // the last turn, whichever came first
			r.Text, r.At = s.Turned, s.Since
			row.took("reopened")
		}
	}
	if result := s.Result(); !same(c.Result, result) {
		c.Result = result
		row.took("result")
	}
	row.Round = c.Round
	kind := audit.Event
	if row.Code != "" {
		kind = audit.Reopened
	}
	if len(row.Took) > 0 {
		if err := w.tx.Save(ctx, c); err != nil {
			return err
		}
	}
	if len(row.Events) == 0 && len(row.Took) == 0 {
		return nil
	}
	return w.tx.Record(ctx, c.ID, w.actor(), store.Note{Kind: kind, Payload: row})
}

// saidOfCase is what the events say of the fields of a case; nothing for a standing that was never applied.
type saidOfCase struct {
	order string
	found Found
	terms countersign.Terms
}

func (w *work) find(ctx context.Context, reference string, s events.Standing) (f saidOfCase, err error) {
	if s.Stage == "" {
		return f, nil
	}
	r, err := w.request(reference, s).checked()
	if err != nil {
		return f, err
	}
	f.order, f.terms = s.Order, r.Terms
	f.found, err = w.desk.Find(ctx, w.tx.View, r, w.tx.Now)
	return f, err
}

// take is told of a field at a time. A case in review that turns out to be about another order is investigated anew, as one is whose order
// a person attached: what was found was found about something else.
func (w *work) take(ctx context.Context, c *countersign.Case, was, now saidOfCase, row *eventRow) error {
	if err := w.takeNames(ctx, c, was, now, row); err != nil {
		return err
	}
	if amount, moves := amountOfEvents(*c, was, now); moves {
		c.Amount = amount
		row.took("amount")
	}
	if due, moves := deadlineOf(*c, was.found, now.found); moves {
		c.DueAt, c.DueSource = due, now.found.DueSource
		row.took("due_at")
	}
	if c.Status != countersign.InReview || !slices.Contains(row.Took, "order_id") {
		return nil
	}
	row.Status = &c.Status
	return w.nextRound(ctx, c)
}

// takeNames takes over the order and the terms. Another open case that goes by them already stays the only one of that name: this one keeps
// its own, and the two are a person's to tell apart. Nothing else that the event says waits for that.
func (w *work) takeNames(ctx context.Context, c *countersign.Case, was, now saidOfCase, row *eventRow) error {
	named := *c
	named.Terms.Network = follows(c.Terms.Network, was.terms.Network, now.terms.Network)
	named.Terms.ReasonCode = follows(c.Terms.ReasonCode, was.terms.ReasonCode, now.terms.ReasonCode)
	order := now.order != "" && now.order != c.Subject.ID && (c.Subject.ID == "" || c.Subject.ID == was.order)
	if order {
		named.Subject.ID = now.order
	}
	terms := named.Terms != c.Terms
	if terms {
		found, err := w.desk.Find(ctx, w.tx.View, Request{SubjectID: named.Subject.ID, Unmatched: true, Stage: c.Stage, Terms: named.Terms}, w.tx.Now)
		if err != nil {
			return err
		}
		named.Reason = cmp.Or(found.Reason, c.Reason)
	}
	if !order && !terms {
		return nil
	}
	other, ok, err := w.tx.OpenCase(ctx, c.Desk, named.Subject, named.Reason, c.Terms.Reference, c.Stage)
	if err != nil || ok && other.ID != c.ID {
		return err
	}
	if order {
		row.took("order_id")
	}
	if terms {
		row.took("terms")
	}
	*c = named
	return w.tx.Rename(ctx, named)
}

// follows is the newer word, while the field holds the older one or nothing.
func follows(holds, was, now string) string {
	if holds == "" || holds == was {
		return now
	}
	return holds
}

// amountOfEvents is the amount that the case should have. Where no event named one, the case has what was paid, and the first one to name
// one is right.
func amountOfEvents(c countersign.Case, was, now saidOfCase) (countersign.Money, bool) {
	older, newer := was.found.Amount, now.found.Amount
	switch {
	case newer == c.Amount, newer == older:
		return c.Amount, false
	case c.Amount.Currency == "":
		return newer, true
	}
	return newer, was.found.Stage != "" && (c.Amount == older || older.Currency == "")
}

// deadlineOf is the deadline that the case should have. The provider's own newer word may extend the provider's older one, and takes it
// away where another round has none yet. One that a person set, or that came another way, gives way to a sooner one alone, and to that once:
// an event that only repeats it is no reason to set it again.
func deadlineOf(c countersign.Case, was, now Found) (*time.Time, bool) {
	theirs := was.DueSource != "" && c.DueSource == was.DueSource && sameTime(c.DueAt, was.DueAt)
	switch {
	case sameTime(c.DueAt, now.DueAt):
		return nil, false
	case theirs:
		return now.DueAt, true
	case c.DueAt != nil && sameTime(was.DueAt, now.DueAt):
		return nil, false
	case now.DueAt != nil && (c.DueAt == nil || now.DueAt.Before(*c.DueAt)):
		return now.DueAt, true
	}
	return nil, false
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

func same(a, b *countersign.Result) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// reopen begins another round of a case that was closed. What was decided stays in its record, and the report with the round that it was
// made for; the records are read again, because the decision will be about what they say now.
func (w *work) reopen(ctx context.Context, c *countersign.Case, code countersign.ReasonCode, text string, at time.Time, row *eventRow) error {
	if err := w.nextRound(ctx, c); err != nil {
		return err
	}
	c.Outcome, c.HandledBy, c.Contested = "", "", nil
	c.Reopened = &countersign.Reopened{Reason: countersign.Reason{Code: code, Text: text}, At: at, Round: c.Round}
	row.Status, row.Outcome, row.Code, row.Text = &c.Status, &c.Outcome, string(code), text
	row.took("reopened")
	return nil
}

// nextRound has a case investigated anew.
func (w *work) nextRound(ctx context.Context, c *countersign.Case) error {
	jobID, err := w.Queue.Add(ctx, w.tx, c.Desk, c.ID)
	if err != nil {
		return err
	}
	c.NextRound()
	return w.tx.SetJob(ctx, c.ID, jobID)
}

// refunds opens cases again whose decision counted on a refund that has failed since.
func (w *work) refunds(ctx context.Context, ref, order string) error {
	threads, err := w.tx.LockThreads(ctx, w.source, ref)
	if err != nil {
		return err
	}
	kept, err := w.tx.RefundEvents(ctx, w.source, order)
	if err != nil {
		return err
	}
	known, err := KnownEvents(kept)
	if err != nil {
		return err
	}
	var was applied
	th := threads[store.RefundStage]
	if len(th.Applied) > 0 {
		if err := json.Unmarshal(th.Applied, &was); err != nil {
			return fmt.Errorf("read what is held of %s: %w", ref, err)
		}
	}
	refunds, failures := events.Refunds(known)
	var news []told
	for i, k := range kept {
		if k.State == store.EventWaiting {
			news = append(news, toldOf(k, known[i]))
			if k.Dispute == "" {
				w.settled = append(w.settled, k.ID)
			}
		}
	}
	cases, err := w.tx.CasesOfSubject(ctx, w.desk.Name, countersign.Subject{Kind: countersign.OrderSubject, ID: order})
	if err != nil {
		return err
	}
	for _, c := range cases {
		if err := w.refunded(ctx, c.ID, refunds, failures > was.Refunds, news); err != nil {
			return err
		}
	}
	th = store.Thread{Source: w.source, Ref: ref, Stage: store.RefundStage}
	if th.Applied, err = json.Marshal(applied{Refunds: failures}); err != nil {
		return err
	}
	return w.tx.KeepThread(ctx, th)
}

func (w *work) refunded(ctx context.Context, id countersign.CaseID, refunds []events.Refunded, failed bool, news []told) error {
	c, err := w.tx.LockCase(ctx, id)
	if err != nil {
		return err
	}
	row, kind := eventRow{Round: c.Round, Source: w.source, Events: news}, audit.Event
	relied := failed && c.Status == countersign.Closed && w.desk.Relied != nil && w.desk.Relied(c)
	if relied { // another one that is open about the same shows the event, and there cannot be two
		_, open, err := w.tx.OpenCase(ctx, c.Desk, c.Subject, c.Reason, c.Terms.Reference, c.Stage)
		if err != nil {
			return err
		}
		relied = !open
	}
	if relied {
		last := lastFailed(refunds)
		if err := w.reopen(ctx, &c, countersign.RefundHasFailed, failedText(last), last.Failed, &row); err != nil {
			return err
		}
		if err := w.tx.Save(ctx, &c); err != nil {
			return err
		}
		row.Round, kind = c.Round, audit.Reopened
	} else if failed && c.Status == countersign.InReview { // who decides has seen a page that does not say so yet: theirs is out of date
		if err := w.tx.Save(ctx, &c); err != nil {
			return err
		}
	}
	if len(news) == 0 {
		return nil
	}
	return w.tx.Record(ctx, id, w.actor(), store.Note{Kind: kind, Payload: row})
}

func lastFailed(refunds []events.Refunded) (last events.Refunded) {
	for _, r := range refunds {
		if r.Failed.After(last.Failed) {
			last = r
		}
	}
	return last
}

func failedText(r events.Refunded) string {
	amount := ""
	if r.Amount != nil {
		amount = " of " + r.Amount.String()
	}
	return fmt.Sprintf("Refund %s%s failed on %s, after a decision here had counted on it.", clip(r.ID), amount, r.Failed.Format(time.DateOnly))
}

// CatchUp brings a case, which a worker has just let go, the events that waited for it.
func (e Events) CatchUp(ctx context.Context, id countersign.CaseID) error {
	waiting, err := e.Store.EventsWaitingFor(ctx, id)
	for _, event := range waiting {
		e.apply(ctx, &event)
	}
	return err
}

// Sweep applies events that wait, and those that a process kept and then died over.
func (e Events) Sweep(ctx context.Context) error {
	waiting, err := e.Store.WaitingEvents(ctx, 1000)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, event := range waiting {
		dispute, refunds := event.Refs()
		about := event.Source + "\x00" + dispute + "\x00" + refunds
		if done[about] {
			continue
		}
		done[about] = true
		e.apply(ctx, &event)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

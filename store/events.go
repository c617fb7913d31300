package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign"
)

// EventState is what became of an event.
type EventState string

const (
	EventWaiting    EventState = "waiting"    // kept, and its case does not hold it yet
	EventApplied    EventState = "applied"    //
	EventUnreadable EventState = "unreadable" // kept, and nobody could make anything of it: Why says so
)

// Event is a delivery that was signed by a source, as it came, and what it says.
type Event struct {
	ID         string
	Source     string
	Desk       countersign.DeskName
	Body       []byte // as received, compressed if it was
	BodyHash   string
	Encoding   string // of the body, as its header had it: gzip, or empty
	Signature  string // the header, for evidence
	Headers    []string
	ReceivedAt time.Time
	SignedAt   time.Time
	Seen       int // deliveries
	SeenAt     time.Time
	Skew       time.Duration // of the last delivery

	EventID     string // the provider's; empty for one that is unreadable
	Fingerprint string
	Dispute     string // what it is about: a dispute at a stage, the refunds of an order, or both
	Stage       string
	RefundOrder string
	Said        string // in one exact form

	State EventState
	Why   string
}

const eventColumns = `id, source, desk, body, body_hash, encoding, signature, headers, received_at, signed_at, seen, seen_at, skew, event_id, fingerprint,
	dispute, stage, refund_order, said, state, why`

func scanEvent(row scanner) (e Event, err error) {
	var skew int64
	err = row.Scan(&e.ID, &e.Source, &e.Desk, &e.Body, &e.BodyHash, &e.Encoding, &e.Signature, asJSON{&e.Headers}, scanMicros{&e.ReceivedAt},
		scanMicros{&e.SignedAt}, &e.Seen, scanMicros{&e.SeenAt}, &skew, &e.EventID, &e.Fingerprint, &e.Dispute, &e.Stage, &e.RefundOrder, &e.Said, &e.State, &e.Why)
	e.Skew = time.Duration(skew) * time.Second
	return e, err
}

// KeepEvent keeps a delivery. One that was kept before, by its bytes, by the provider's id or by what it says, is counted on that one,
// which is returned; true means that it is new.
func (t *Tx) KeepEvent(ctx context.Context, e Event) (Event, bool, error) {
	for _, same := range []func(context.Context, Event) (Event, error){t.seenBody, t.seenID, t.seenWords} {
		first, err := same(ctx, e)
		switch {
		case err == nil:
			return first, false, nil
		case !errors.Is(err, sql.ErrNoRows):
			return Event{}, false, wrap(err, "count a delivery of %s", e.Source)
		}
	}
	e.Seen, e.SeenAt = 1, t.Now
	_, err := t.exec(ctx, "INSERT INTO events ("+eventColumns+") VALUES "+t.d.values(1, 21), e.ID, e.Source, string(e.Desk), e.Body, e.BodyHash, e.Encoding, e.Signature,
		asJSON{e.Headers}, t.Now.UnixMicro(), e.SignedAt.UnixMicro(), e.Seen, e.SeenAt.UnixMicro(), int64(e.Skew/time.Second), e.EventID, e.Fingerprint, e.Dispute,
		e.Stage, e.RefundOrder, e.Said, string(e.State), e.Why)
	e.ReceivedAt = t.Now
	return e, true, wrap(raced(err), "keep an event of %s", e.Source)
}

const countDelivery = "UPDATE events SET seen = seen + 1, seen_at = $3, signed_at = $4, skew = $5 WHERE source = $1 AND "

// seenBody, seenID and seenWords count a delivery on the event that it is again: the same bytes in the same encoding, the provider's id, or
// what it says. The encoding is not signed: bytes that could not be unpacked, because a proxy had named another, can be when they come again.
func (t *Tx) seenBody(ctx context.Context, e Event) (Event, error) {
	return scanEvent(t.q.QueryRowContext(ctx, countDelivery+"body_hash = $2 AND encoding = $6 RETURNING "+eventColumns, append(t.counted(e, e.BodyHash), e.Encoding)...))
}

func (t *Tx) seenID(ctx context.Context, e Event) (Event, error) {
	return scanEvent(t.q.QueryRowContext(ctx, countDelivery+"event_id = $2 AND event_id <> '' RETURNING "+eventColumns, t.counted(e, e.EventID)...))
}

func (t *Tx) seenWords(ctx context.Context, e Event) (Event, error) {
	return scanEvent(t.q.QueryRowContext(ctx, countDelivery+"fingerprint = $2 AND fingerprint <> '' RETURNING "+eventColumns, t.counted(e, e.Fingerprint)...))
}

func (t *Tx) counted(e Event, by string) []any {
	return []any{e.Source, by, t.Now.UnixMicro(), e.SignedAt.UnixMicro(), int64(e.Skew / time.Second)}
}

// EventByID finds an event by its provider's id; false if there is none.
func (v View) EventByID(ctx context.Context, source, eventID string) (Event, bool, error) {
	e, err := scanEvent(v.q.QueryRowContext(ctx, "SELECT "+eventColumns+" FROM events WHERE source = $1 AND event_id = $2 AND event_id <> ''", source, eventID))
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	return e, err == nil, wrap(err, "look for an event of %s", source)
}

// EventsOf lists the events of a dispute in the order in which they came.
func (v View) EventsOf(ctx context.Context, source, dispute string) ([]Event, error) {
	return v.events(ctx, "source = $1 AND dispute = $2 AND dispute <> ''", source, dispute)
}

// RefundEvents lists the events about refunds of an order.
func (v View) RefundEvents(ctx context.Context, source, order string) ([]Event, error) {
	return v.events(ctx, "source = $1 AND refund_order = $2 AND refund_order <> ''", source, order)
}

// RefundEventsOfOrder lists the events of every source about refunds of an order.
func (v View) RefundEventsOfOrder(ctx context.Context, order string) ([]Event, error) {
	return v.events(ctx, "refund_order = $1 AND refund_order <> ''", order)
}

// WaitingEvents lists events that no case holds yet, the first to come first.
func (v View) WaitingEvents(ctx context.Context, limit int) ([]Event, error) {
	return v.events(ctx, "id IN (SELECT id FROM events WHERE state = 'waiting' ORDER BY received_at, id LIMIT $1)", limit)
}

// EventsWaitingFor lists an event of each dispute that has some waiting for a case.
func (v View) EventsWaitingFor(ctx context.Context, id countersign.CaseID) ([]Event, error) {
	return v.events(ctx, `id IN (SELECT MIN(e.id) FROM events e JOIN event_threads t ON t.source = e.source AND t.ref = 'dispute ' || e.dispute
		WHERE t.case_id = $1 AND t.case_id <> '' AND e.state = 'waiting' AND e.dispute <> '' GROUP BY e.source, e.dispute)`, string(id))
}

// UnreadableEvents lists the last events of a source that nobody could make anything of, the latest first.
func (v View) UnreadableEvents(ctx context.Context, source string, limit int) ([]Event, error) {
	return v.events(ctx, "id IN (SELECT id FROM events WHERE source = $1 AND state = 'unreadable' ORDER BY received_at DESC, id LIMIT $2)", source, limit)
}

func (v View) events(ctx context.Context, where string, args ...any) ([]Event, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+eventColumns+" FROM events WHERE "+where+" ORDER BY received_at, id", args...)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	all, err := collect(rows, scanEvent)
	return all, wrap(err, "list events")
}

// SettleEvents marks events as held by their cases.
func (t *Tx) SettleEvents(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := t.exec(ctx, "UPDATE events SET state = 'applied', why = '' WHERE state = 'waiting' AND id "+t.d.in(1), listed(ids))
	return wrap(err, "settle events")
}

// DelayEvent says why an event is still waiting.
func (t *Tx) DelayEvent(ctx context.Context, id, why string) error {
	_, err := t.exec(ctx, "UPDATE events SET why = $2 WHERE id = $1 AND state = 'waiting'", id, why)
	return wrap(err, "say why an event waits")
}

// RefundStage is the stage of a thread about refunds.
const RefundStage = "refunds"

// Thread is what one source says of one dispute at one stage, or of one order's refunds, and how much of that its case holds.
type Thread struct {
	Source, Ref, Stage string
	Case               countersign.CaseID
	Applied            json.RawMessage
}

func scanThread(row scanner) (th Thread, err error) {
	var applied string
	err = row.Scan(&th.Source, &th.Ref, &th.Stage, &th.Case, &applied)
	th.Applied = json.RawMessage(applied)
	return th, err
}

// LockThreads lets one transaction at a time work on what a source says under that name, and reads what is held of it.
func (t *Tx) LockThreads(ctx context.Context, source, ref string) (map[string]Thread, error) {
	_, err := t.exec(ctx, "INSERT INTO event_threads (source, ref, stage, case_id, applied) VALUES ($1, $2, '', '', '') ON CONFLICT (source, ref, stage) DO NOTHING", source, ref)
	if err != nil {
		return nil, wrap(err, "begin the thread %s of %s", ref, source)
	}
	var one string
	if err := t.q.QueryRowContext(ctx, "SELECT ref FROM event_threads WHERE source = $1 AND ref = $2 AND stage = ''"+t.d.lock, source, ref).Scan(&one); err != nil {
		return nil, wrap(err, "lock the thread %s of %s", ref, source)
	}
	rows, err := t.q.QueryContext(ctx, "SELECT source, ref, stage, case_id, applied FROM event_threads WHERE source = $1 AND ref = $2", source, ref)
	if err != nil {
		return nil, fmt.Errorf("read the thread %s of %s: %w", ref, source, err)
	}
	list, err := collect(rows, scanThread)
	all := map[string]Thread{}
	for _, th := range list {
		all[th.Stage] = th
	}
	return all, wrap(err, "read the thread %s of %s", ref, source)
}

// KeepThread keeps how much of a thread its case holds.
func (t *Tx) KeepThread(ctx context.Context, th Thread) error {
	_, err := t.exec(ctx, `INSERT INTO event_threads (source, ref, stage, case_id, applied) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (source, ref, stage) DO UPDATE SET case_id = excluded.case_id, applied = excluded.applied`,
		th.Source, th.Ref, th.Stage, string(th.Case), string(th.Applied))
	return wrap(err, "keep the thread %s of %s", th.Ref, th.Source)
}

// ThreadsOf lists the threads that a case holds.
func (v View) ThreadsOf(ctx context.Context, id countersign.CaseID) ([]Thread, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT source, ref, stage, case_id, applied FROM event_threads WHERE case_id = $1 AND case_id <> '' ORDER BY source, ref, stage", string(id))
	if err != nil {
		return nil, fmt.Errorf("list the threads of case %s: %w", id, err)
	}
	all, err := collect(rows, scanThread)
	return all, wrap(err, "list the threads of case %s", id)
}

// CaseOfDispute is the case that a provider knows by that reference at that stage: the open one, else the last.
func (v View) CaseOfDispute(ctx context.Context, desk countersign.DeskName, reference, stage string) (countersign.Case, bool, error) {
	c, err := scanCase(v.q.QueryRowContext(ctx, "SELECT "+caseColumns+` FROM cases WHERE desk = $1 AND provider_ref = $2 AND provider_ref <> '' AND stage = $3
		ORDER BY CASE WHEN status = 'closed' THEN 1 ELSE 0 END, opened_at DESC, id LIMIT 1`, string(desk), reference, stage))
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	return c, err == nil, wrap(err, "look for the case of a dispute")
}

// CasesOfSubject lists every case of a desk about that subject, the first first.
func (v View) CasesOfSubject(ctx context.Context, desk countersign.DeskName, subject countersign.Subject) ([]countersign.Case, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+caseColumns+" FROM cases WHERE desk = $1 AND subject_kind = $2 AND subject_id = $3 ORDER BY opened_at, id", string(desk), string(subject.Kind), subject.ID)
	if err != nil {
		return nil, fmt.Errorf("list the cases about %s: %w", subject.ID, err)
	}
	all, err := collect(rows, scanCase)
	return all, wrap(err, "list the cases about %s", subject.ID)
}

// Rename gives a case another subject, and the words that follow from what its provider says now. Save keeps the rest.
func (t *Tx) Rename(ctx context.Context, c countersign.Case) error {
	n, err := t.exec(ctx, "UPDATE cases SET subject_id = $2, reason = $3, terms = $4 WHERE id = $1", string(c.ID), c.Subject.ID, string(c.Reason), asJSON{c.Terms})
	if isUnique(err) {
		e := countersign.Errorf(countersign.Conflict, "another open case is about %s %s", c.Subject.Kind, c.Subject.ID).In("order_id").Try("decide that case, or name another order")
		e.Err = err
		return e
	}
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.NotFound, "there is no case %q", string(c.ID))
	}
	return wrap(err, "rename case %s", c.ID)
}

// CasesOfEvent lists the cases that hold the dispute that an event is about, at its stage.
func (v View) CasesOfEvent(ctx context.Context, e Event) ([]countersign.Case, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+caseColumns+` FROM cases WHERE id IN (SELECT case_id FROM event_threads
		WHERE source = $1 AND stage = $3 AND ref = $2) ORDER BY opened_at, id`, e.Source, disputeRef(e.Dispute), e.Stage)
	if err != nil {
		return nil, fmt.Errorf("list the cases of an event: %w", err)
	}
	all, err := collect(rows, scanCase)
	return all, wrap(err, "list the cases of an event")
}

// disputeRef and refundRef are what the threads of a dispute, and of an order's refunds, go by.
func disputeRef(dispute string) string { return "dispute " + dispute }
func refundRef(order string) string    { return "refunds of " + order }

// Dispute is the dispute that a thread is about; empty for one about refunds.
func (th Thread) Dispute() string {
	dispute, _ := strings.CutPrefix(th.Ref, disputeRef(""))
	return dispute
}

// Refs are the threads that an event belongs to.
func (e Event) Refs() (dispute, refunds string) {
	if e.Dispute != "" {
		dispute = disputeRef(e.Dispute)
	}
	if e.RefundOrder != "" {
		refunds = refundRef(e.RefundOrder)
	}
	return dispute, refunds
}

// Package intake turns a request, from any channel, into a stored and queued case. There is one function for all of them.
//
// The case, the first row of its record and its job commit together or not at all, and nothing waits for a model. What is
// wrong with a request is said before anything is written.
package intake

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// Request is what a channel hands over. Notes are the customer's own words and stay untrusted for good.
type Request struct {
	SubjectID    string
	SubjectField string // what the request calls it, for errors: transaction_id when empty
	CustomerID   string // optional: checked against the owner of the subject, never believed
	Reason       countersign.DisputeReason
	Notes        string
	Channel      string             // "api" when empty
	Amount       *countersign.Money // what is disputed, where the request says it
	DueAt        *time.Time         // the deadline that whoever carries the dispute gave
	Stage        string
	Terms        countersign.Terms
	Key          *store.Key // optional idempotency key
	Unmatched    bool       // the subject is not known: a person says later which it is
}

// Found is the subject of a request as the records have it.
type Found struct {
	Subject    countersign.Subject
	CustomerID string
	Amount     countersign.Money
	DueAt      *time.Time
	DueSource  countersign.DueSource
	Reason     countersign.DisputeReason // what the terms of the request come to; empty when the request's own word counts
	Stage      string                    // how far the dispute has gone; empty at a desk that knows of no stages
}

// reason is the word for the complaint that the case is kept under.
func (f Found) reason(r Request) countersign.DisputeReason {
	if f.Reason != "" {
		return f.Reason
	}
	return r.Reason
}

// Desk is what intake must know of a desk.
type Desk struct {
	Name   countersign.DeskName
	Prefix string // of case ids
	// Find looks the subject up. A subject that is not on record is NotFound, another customer's is Unprocessed.
	Find func(ctx context.Context, v store.View, r Request, now time.Time) (Found, error)
	// Relied reports whether what was decided of a case counted on money that had been given back; nil when none ever does.
	Relied func(countersign.Case) bool
}

// Intake opens cases.
type Intake struct {
	Store *store.Store
	Queue interface {
		Add(context.Context, *store.Tx, countersign.DeskName, countersign.CaseID) (int64, error)
	}
	NewID func(prefix string) countersign.CaseID // NewID when nil
	// Counted is told of each request that ended in a case, and whether it opened one; nil when nobody measures.
	Counted func(desk countersign.DeskName, by countersign.ActorKind, created bool)
}

// Opened is the case a request ended in. Created is false when it was open already, or when the key had been used before; Sooner is
// true when the open case took over its deadline.
type Opened struct {
	Case    countersign.Case
	Created bool
	Sooner  bool
}

// Open stores and queues a case, or returns the one that is already open about the same subject for the same reason, at the same stage.
// The same idempotency key with the same body returns the first case, with another body a Conflict; so is a request that says something
// else of the open case than it holds.
func (in Intake) Open(ctx context.Context, desk Desk, actor countersign.Actor, r Request) (Opened, error) {
	opened, err := in.find(ctx, desk, actor, r)
	if err == nil && in.Counted != nil {
		in.Counted(desk.Name, actor.Kind, opened.Created)
	}
	return opened, err
}

func (in Intake) find(ctx context.Context, desk Desk, actor countersign.Actor, r Request) (Opened, error) {
	r, err := r.checked()
	if err != nil {
		return Opened{}, err
	}
	if c, ok, err := in.remembered(ctx, r); err != nil || ok {
		return Opened{Case: c}, err
	}
	if r.Terms.Reference != "" { // of which no index says that there is one: it may have come with another reason, or with none
		if opened, ok, err := in.earlier(ctx, desk, actor, r); err != nil || ok {
			return opened, err
		}
	}
	// Insert first and look afterwards: most requests are new, and the unique indexes decide between two that meet.
	for range 3 {
		id := in.id(desk.Prefix)
		opened, err := in.open(ctx, desk, actor, r, id)
		if errors.Is(err, store.ErrUnknown) {
			opened, err = in.settle(ctx, desk, actor, r, id)
		}
		if countersign.KindOf(err) != countersign.Conflict {
			return opened, err
		}
		if opened, ok, err := in.earlier(ctx, desk, actor, r); err != nil || ok {
			return opened, err
		}
	}
	return Opened{}, countersign.Errorf(countersign.Unavailable, "other requests about the same transaction kept getting in first").Try("try again")
}

// settle finds out whether a case was stored whose commit nobody answered, and stores it if it was not. Doing it again under the same id
// waits for the first attempt if that is still on its way, and is a Conflict with it if it came through.
func (in Intake) settle(ctx context.Context, desk Desk, actor countersign.Actor, r Request, id countersign.CaseID) (Opened, error) {
	opened, err := in.open(ctx, desk, actor, r, id)
	if countersign.KindOf(err) != countersign.Conflict {
		return opened, err
	}
	c, found := in.Store.Case(ctx, id)
	if found == nil {
		return Opened{Case: c, Created: true}, nil
	}
	return opened, err
}

// remembered is the case that an earlier request with the same key opened.
func (in Intake) remembered(ctx context.Context, r Request) (c countersign.Case, ok bool, err error) {
	if r.Key == nil {
		return c, false, nil
	}
	id, ok, err := in.Store.Remembered(ctx, *r.Key)
	if err != nil || !ok {
		return c, false, err
	}
	c, err = in.Store.Case(ctx, id)
	return c, err == nil, err
}

// earlier is the case that is in the way: the one of this key, or the open one about the same subject for the same reason.
func (in Intake) earlier(ctx context.Context, desk Desk, actor countersign.Actor, r Request) (Opened, bool, error) {
	if c, ok, err := in.remembered(ctx, r); err != nil || ok {
		return Opened{Case: c}, ok, err
	}
	found, err := desk.Find(ctx, in.Store.View, r, in.Store.Now())
	if err != nil {
		return Opened{}, false, err
	}
	c, ok, err := in.Store.OpenCase(ctx, desk.Name, found.Subject, found.reason(r), r.Terms.Reference, found.Stage)
	if err != nil || !ok {
		return Opened{}, false, err
	}
	return in.again(ctx, actor, c, r, found)
}

func (in Intake) open(ctx context.Context, desk Desk, actor countersign.Actor, r Request, id countersign.CaseID) (opened Opened, err error) {
	err = in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		opened, err = in.openIn(ctx, tx, desk, actor, r, id)
		return err
	})
	return opened, err
}

// openIn opens a case in the caller's transaction; with are the rows of its record after the first.
func (in Intake) openIn(ctx context.Context, tx *store.Tx, desk Desk, actor countersign.Actor, r Request, id countersign.CaseID, with ...store.Note) (Opened, error) {
	found, err := desk.Find(ctx, tx.View, r, tx.Now)
	if err != nil {
		return Opened{}, err
	}
	jobID, err := in.Queue.Add(ctx, tx, desk.Name, id)
	if err != nil {
		return Opened{}, err
	}
	c := newCase(id, desk, r, found, tx.Now)
	notes := append([]store.Note{{Kind: audit.Opened, Payload: openedRow(c)}}, with...)
	if err := tx.Birth(ctx, c, jobID, actor, notes...); err != nil || r.Key == nil {
		return Opened{Case: c, Created: true}, err
	}
	return Opened{Case: c, Created: true}, tx.Remember(ctx, *r.Key, id)
}

func newCase(id countersign.CaseID, desk Desk, r Request, f Found, now time.Time) countersign.Case {
	return countersign.Case{
		ID: id, Desk: desk.Name, Subject: f.Subject, CustomerID: f.CustomerID, Channel: r.Channel, Reason: f.reason(r), Notes: r.Notes,
		Amount: f.Amount, Terms: r.Terms, Stage: f.Stage, Status: countersign.Queued, OpenedAt: now, UpdatedAt: now, DueAt: f.DueAt, DueSource: f.DueSource,
		Round: 1, Revision: 1, Fix: countersign.FixOutcome{State: countersign.FixNone},
	}
}

// openedRow is what the first row of a record says.
func openedRow(c countersign.Case) any {
	return struct {
		Round      int                       `json:"round"`
		Status     countersign.Status        `json:"status"`
		Desk       countersign.DeskName      `json:"desk"`
		Subject    countersign.Subject       `json:"subject"`
		CustomerID string                    `json:"customer_id"`
		Reason     countersign.DisputeReason `json:"reason"`
		Channel    string                    `json:"channel"`
		Notes      string                    `json:"notes"`
		Amount     countersign.Money         `json:"amount"`
		DueAt      *time.Time                `json:"due_at"`
		DueSource  countersign.DueSource     `json:"due_source"`
		Stage      string                    `json:"stage,omitempty"`
		Terms      *countersign.Terms        `json:"terms,omitempty"`
	}{c.Round, c.Status, c.Desk, c.Subject, c.CustomerID, c.Reason, c.Channel, c.Notes, c.Amount, c.DueAt, c.DueSource, c.Stage, terms(c)}
}

// terms is nil for a dispute that nobody carries: a record row of before there were any says the same.
func terms(c countersign.Case) *countersign.Terms {
	if c.Terms == (countersign.Terms{}) {
		return nil
	}
	return &c.Terms
}

func (in Intake) id(prefix string) countersign.CaseID {
	if in.NewID != nil {
		return in.NewID(prefix)
	}
	return NewID(prefix)
}

// NewID makes a case id that a person can read aloud: the desk's letter and eight characters without I, L, O and U. The
// primary key catches the one in a million million that repeats.
func NewID(prefix string) countersign.CaseID {
	var b [5]byte
	rand.Read(b[:])
	return countersign.CaseID(prefix + crockford.EncodeToString(b[:]))
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Limits of what a request may carry, in bytes.
const (
	maxID    = 200
	maxNotes = 20_000
)

// checked refuses what cannot be stored or would have to be guessed, naming the field and what was expected.
func (r Request) checked() (Request, error) {
	if r.Channel == "" {
		r.Channel = "api"
	}
	r.Terms.Network, r.Terms.ReasonCode = strings.ToLower(strings.TrimSpace(r.Terms.Network)), strings.TrimSpace(r.Terms.ReasonCode)
	err := errors.Join(
		id(r.subjectField(), r.SubjectID, !r.Unmatched), id("customer_id", r.CustomerID, false), id("channel", r.Channel, true),
		text("notes", r.Notes, maxNotes), reason(r.Reason), key(r.Key),
		id("network", r.Terms.Network, false), id("reason_code", r.Terms.ReasonCode, false), id("provider_ref", r.Terms.Reference, false),
		id("stage", r.Stage, false), amount(r.Amount), deadline(r.DueAt))
	var first *countersign.Error
	if errors.As(err, &first) {
		return r, first
	}
	return r, nil
}

// subjectField is what a request calls its subject.
func (r Request) subjectField() string {
	if r.SubjectField == "" {
		return "transaction_id"
	}
	return r.SubjectField
}

func amount(m *countersign.Money) error {
	switch {
	case m == nil:
		return nil
	case !countersign.KnownCurrency(m.Currency):
		return countersign.Errorf(countersign.Invalid, "%q is not a currency of ISO 4217; expected three capitals, such as USD", clip(m.Currency)).In("amount.currency")
	case m.Minor <= 0:
		return countersign.Errorf(countersign.Invalid, "%d is not an amount in dispute; expected minor units above 0", m.Minor).In("amount.minor")
	}
	return nil
}

// deadline may have passed: a chargeback that comes too late is one for a person to see. A year that no dispute is of is a slip of the pen.
func deadline(at *time.Time) error {
	if at == nil || at.Year() >= 1990 && at.Year() <= 2200 {
		return nil
	}
	return countersign.Errorf(countersign.Invalid, "%s is no deadline; expected a time of the years 1990 to 2200", at.UTC().Format(time.RFC3339)).In("due_at")
}

func key(k *store.Key) error {
	if k == nil {
		return nil
	}
	return id("Idempotency-Key", k.Value, true)
}

func reason(got countersign.DisputeReason) error {
	var want []string
	for _, known := range countersign.DisputeReasons {
		if got == known {
			return nil
		}
		want = append(want, string(known))
	}
	return countersign.Errorf(countersign.Invalid, "%q is not one of %s", clip(string(got)), strings.Join(want, ", ")).In("reason")
}

func id(field, value string, required bool) error {
	switch {
	case value == "" && required:
		return countersign.Errorf(countersign.Invalid, "is missing").In(field)
	case len(value) > maxID:
		return countersign.Errorf(countersign.Invalid, "has %d bytes; an id has at most %d", len(value), maxID).In(field)
	case strings.ContainsFunc(value, unicode.IsControl):
		return countersign.Errorf(countersign.Invalid, "%q holds a control character", clip(value)).In(field)
	}
	return text(field, value, maxID)
}

func text(field, value string, max int) error {
	switch {
	case len(value) > max:
		return countersign.Errorf(countersign.TooLarge, "has %d bytes; at most %d are kept", len(value), max).In(field)
	case !utf8.ValidString(value):
		return countersign.Errorf(countersign.Invalid, "is not valid UTF-8").In(field)
	case strings.ContainsRune(value, 0):
		return countersign.Errorf(countersign.Invalid, "holds a NUL character").In(field)
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// Package events says what a provider's events make of a dispute.
//
// Events come in bursts, in any order and more than once. So nothing here depends on when one arrived: how a dispute stands is a fold
// over all its known events, in the order of the provider's own time, and a fold over the same events is the same. What each event does
// to a dispute is one table; what can be answered at each stage is another. Both are printed in docs/events.md.
//
// An ended dispute is closed for now: a network may turn its decision round, ask again, or begin another round. Each of these is counted
// as a turn, and a case that was closed before is opened again for it.
//
// The package is pure: bytes and events in, standings out. It knows no case and no provider by name.
package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign"
)

// Stage is how far a dispute has gone. An inquiry is a question: no money was taken.
type Stage string

const (
	Inquiry        Stage = "inquiry"
	Chargeback     Stage = "chargeback"
	PreArbitration Stage = "pre_arbitration"
	Arbitration    Stage = "arbitration"
)

// Stages lists them in the order in which a dispute meets them.
var Stages = []Stage{Inquiry, Chargeback, PreArbitration, Arbitration}

// Status is what the provider says of a dispute at its stage.
type Status string

const (
	NeedsResponse Status = "needs_response"
	UnderReview   Status = "under_review"
	Won           Status = "won"
	Reversed      Status = "reversed"  // given back, and not for good: another round may follow
	Withdrawn     Status = "withdrawn" // by whoever raised it
	Lost          Status = "lost"
	Accepted      Status = "accepted"
	Expired       Status = "expired" // nobody answered in time
	Closed        Status = "closed"  // ended without a decision, as inquiries do
)

// Statuses lists them in the order of their rank: of two events of one moment, the later one in this list counts.
var Statuses = []Status{NeedsResponse, UnderReview, Closed, Withdrawn, Reversed, Won, Accepted, Expired, Lost}

// RefundStatus is what the provider says of a refund.
type RefundStatus string

const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed"
	RefundCanceled  RefundStatus = "canceled"
)

// RefundStatuses lists them in the order of their rank.
var RefundStatuses = []RefundStatus{RefundPending, RefundSucceeded, RefundCanceled, RefundFailed}

// Event is one event in our own form, version 1.
type Event struct {
	Version   int       `json:"version"` // 1, and so when left out
	ID        string    `json:"id"`      // the provider's
	Type      string    `json:"type"`    // the provider's word for it; kept and shown, and nothing depends on it
	CreatedAt time.Time `json:"created_at"`
	Dispute   *Dispute  `json:"dispute,omitempty"`
	Refund    *Refund   `json:"refund,omitempty"`
}

// Dispute is a dispute as the event has it. What is empty, the event does not say.
type Dispute struct {
	ID         string             `json:"id"`
	OrderID    string             `json:"order_id,omitempty"`
	PaymentID  string             `json:"payment_id,omitempty"`
	Stage      Stage              `json:"stage"`
	Status     Status             `json:"status"`
	Round      int                `json:"round,omitempty"` // 1 when left out; a second chargeback is round 2
	ReasonCode string             `json:"reason_code,omitempty"`
	Network    string             `json:"network,omitempty"`
	Amount     *countersign.Money `json:"amount,omitempty"`
	DueAt      *time.Time         `json:"due_at,omitempty"`
}

// Refund is a refund as the event has it.
type Refund struct {
	ID      string             `json:"id"`
	OrderID string             `json:"order_id"`
	Status  RefundStatus       `json:"status"`
	Amount  *countersign.Money `json:"amount,omitempty"`
}

// Parse reads an event strictly: no unknown field, none twice, nothing after the object. An error is Unprocessed and names the field.
func Parse(raw []byte) (e Event, err error) {
	if !utf8.Valid(raw) {
		return e, wrong("body", "is not valid UTF-8")
	}
	if err := once(raw); err != nil {
		return e, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, wrong("body", "%s", plain(err))
	}
	if err := exactly(raw, e); err != nil {
		return e, err
	}
	return e.checked()
}

// plain is what encoding/json found, without its package's name.
func plain(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("%s is a %s, and cannot be one", clip(kind.Field), kind.Value)
	}
	var at *time.ParseError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s is no time; expected one such as 2026-12-01T17:00:00Z", clip(at.Value))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// once refuses what is no JSON object, what follows it, and a key that comes twice: two readers would understand two things.
func once(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := object(d, "body", 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wrong("body", "has something after the object")
	}
	return nil
}

// deepest is far below what an event nests.
const deepest = 16

func object(d *json.Decoder, place string, depth int) error {
	token, err := d.Token()
	if err != nil {
		return wrong(place, "is not JSON: %s", plain(err))
	}
	open, nested := token.(json.Delim)
	if depth == 0 && open != '{' {
		return wrong(place, "is not a JSON object")
	}
	if !nested {
		return nil
	}
	if depth == deepest {
		return wrong(place, "is nested too deep")
	}
	seen := map[string]bool{}
	for d.More() {
		at := place
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return wrong(place, "is not JSON: %s", plain(err))
			}
			name, _ := key.(string) // a key is always text
			if at = place + "." + clip(name); seen[name] {
				return wrong(at, "is there twice")
			}
			seen[name] = true
		}
		if err := object(d, at, depth+1); err != nil {
			return err
		}
	}
	if _, err = d.Token(); err != nil {
		return wrong(place, "is not JSON: %s", plain(err))
	}
	return nil
}

// exactly refuses keys that encoding/json takes for ours although their letters are others: "Status" for "status".
func exactly(raw []byte, e Event) error {
	type keys = map[string]json.RawMessage
	var top, dispute, disputed, refund, refunded keys
	_ = json.Unmarshal(raw, &top) // it was read already
	_ = json.Unmarshal(top["dispute"], &dispute)
	_ = json.Unmarshal(dispute["amount"], &disputed)
	_ = json.Unmarshal(top["refund"], &refund)
	_ = json.Unmarshal(refund["amount"], &refunded)
	for place, has := range map[string]keys{"": top, "dispute.": dispute, "dispute.amount.": disputed, "refund.": refund, "refund.amount.": refunded} {
		for key := range has {
			if !known[place+key] {
				return wrong(place+clip(key), "is not a field of an event")
			}
		}
	}
	if (e.Dispute != nil) != (dispute != nil) || (e.Refund != nil) != (refund != nil) {
		return wrong("body", "names dispute or refund in other letters")
	}
	return nil
}

var known = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`version id type created_at dispute refund dispute.id dispute.order_id dispute.payment_id dispute.stage
		dispute.status dispute.round dispute.reason_code dispute.network dispute.amount dispute.amount.minor dispute.amount.currency dispute.due_at
		refund.id refund.order_id refund.status refund.amount refund.amount.minor refund.amount.currency`) {
		all[name] = true
	}
	return all
}()

func wrong(field, format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Unprocessed, format, args...).In(field)
}

// checked is the event as everything behind Parse may count on it: UTC, rounds from 1, words of ours alone.
func (e Event) checked() (Event, error) {
	e.CreatedAt = e.CreatedAt.UTC().Truncate(time.Microsecond)
	switch {
	case e.Version == 0:
		e.Version = 1
	case e.Version != 1:
		return e, wrong("version", "%d is not known; expected 1", e.Version)
	}
	if e.Dispute == nil && e.Refund == nil {
		return e, wrong("body", "says nothing of a dispute or a refund; expected dispute, refund or both")
	}
	err := errors.Join(text("id", e.ID, true), text("type", e.Type, true), moment("created_at", e.CreatedAt), e.Dispute.check(), e.Refund.check())
	var first *countersign.Error
	if errors.As(err, &first) {
		return e, first
	}
	return e, nil
}

func (d *Dispute) check() error {
	if d == nil {
		return nil
	}
	d.Network = strings.ToLower(strings.TrimSpace(d.Network))
	if d.Round == 0 {
		d.Round = 1
	}
	if d.DueAt != nil {
		due := d.DueAt.UTC().Truncate(time.Microsecond)
		d.DueAt = &due
	}
	err := errors.Join(text("dispute.id", d.ID, true), text("dispute.order_id", d.OrderID, false), text("dispute.payment_id", d.PaymentID, false),
		text("dispute.reason_code", d.ReasonCode, false), text("dispute.network", d.Network, false), money("dispute.amount", d.Amount))
	if err != nil {
		return err
	}
	if err := d.stand(); err != nil {
		return err
	}
	switch {
	case d.Round < 1 || d.Round > 20:
		return wrong("dispute.round", "%d is no round; expected 1 to 20", d.Round)
	case d.DueAt != nil:
		return moment("dispute.due_at", *d.DueAt)
	}
	return nil
}

// stand reads stage and status. Some providers have words of their own for an inquiry's, warning_needs_response and the like: they
// mean both.
func (d *Dispute) stand() error {
	status, warning := strings.CutPrefix(string(d.Status), "warning_")
	d.Status = Status(status)
	switch {
	case warning && d.Stage != "" && d.Stage != Inquiry:
		return wrong("dispute.status", "warning_%s is an inquiry's, and the stage is %q", clip(status), clip(string(d.Stage)))
	case warning:
		d.Stage = Inquiry
	case d.Stage == "":
		d.Stage = Chargeback // the one that costs most to miss
	}
	if err := oneOf("dispute.stage", d.Stage, Stages); err != nil {
		return err
	}
	return oneOf("dispute.status", d.Status, Statuses)
}

func (r *Refund) check() error {
	if r == nil {
		return nil
	}
	return errors.Join(text("refund.id", r.ID, true), text("refund.order_id", r.OrderID, true), oneOf("refund.status", r.Status, RefundStatuses),
		money("refund.amount", r.Amount))
}

func oneOf[T ~string](field string, got T, words []T) error {
	var want []string
	for _, word := range words {
		if got == word {
			return nil
		}
		want = append(want, string(word))
	}
	return wrong(field, "%q is not one of %s", clip(string(got)), strings.Join(want, ", "))
}

// longest is the most bytes of a name, as everywhere else in the program.
const longest = 200

func text(field, value string, required bool) error {
	switch {
	case value == "" && required:
		return wrong(field, "is missing")
	case len(value) > longest:
		return wrong(field, "has %d bytes; at most %d are kept", len(value), longest)
	case strings.ContainsFunc(value, unicode.IsControl) || strings.ContainsRune(value, utf8.RuneError):
		return wrong(field, "%q holds a character that cannot be printed", clip(value))
	}
	return nil
}

func money(field string, m *countersign.Money) error {
	switch {
	case m == nil:
		return nil
	case !countersign.KnownCurrency(m.Currency):
		return wrong(field+".currency", "%q is not a currency of ISO 4217; expected three capitals, such as USD", clip(m.Currency))
	case m.Minor <= 0:
		return wrong(field+".minor", "%d is no amount; expected minor units above 0", m.Minor)
	}
	return nil
}

func moment(field string, at time.Time) error {
	if at.Year() < 1990 || at.Year() > 2200 {
		return wrong(field, "is missing or out of range; expected a time such as 2026-12-01T17:00:00Z")
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// Said is the event in one exact form, for keeping.
func (e Event) Said() string {
	b, err := json.Marshal(e)
	if err != nil {
		return "" // unreachable: Parse lets nothing in that cannot be written
	}
	return string(b)
}

// Fingerprint tells two events apart by what they say: the same one under another id has the same.
func (e Event) Fingerprint() string {
	e.ID = ""
	sum := sha256.Sum256([]byte(e.Said()))
	return hex.EncodeToString(sum[:])
}

// Again is Fingerprint without the moment and the provider's word for it: two events in a row that have it in common are one that was
// told twice.
func (e Event) Again() string {
	e.CreatedAt, e.Type = time.Time{}, ""
	return e.Fingerprint()
}

package intake

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"time"

	"countersign"
	"countersign/events"
	"countersign/store"
)

// Events takes in what providers send of their own accord. A delivery is kept first, in a transaction of its own, and then applied: what
// cannot be applied now waits, and is applied when it can be. Nothing that was kept is lost, and nothing is applied twice, because what a
// case gets is computed from all the events of its dispute and not from the one that came last.
type Events struct {
	Intake
	Desks map[countersign.DeskName]Desk
	Log   *slog.Logger
}

// Delivery is a body whose signature was good.
type Delivery struct {
	Source    store.EventSource
	Body      []byte // as received
	Plain     []byte // the same, unpacked
	Unpacked  string // why it could not be; empty when it could
	Encoding  string
	Signature string
	Headers   []string // the names of those that came
	SignedAt  time.Time
}

// Received is what became of a delivery.
type Received struct {
	Event store.Event
	Again bool               // it had come before
	Cases []countersign.Case // that it is about, as they stand now
}

// Receive keeps a delivery and applies it if it can. An event that cannot be understood is kept too, and the error says why: Unprocessed.
// Any other error means that it was not kept, and that the sender should try again.
func (e Events) Receive(ctx context.Context, d Delivery) (Received, error) {
	event, why := d.event(e.Store.Now())
	var got Received
	err := e.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		kept := event
		if kept.EventID != "" {
			first, ok, err := tx.EventByID(ctx, kept.Source, kept.EventID)
			if err != nil {
				return err
			}
			if ok && first.Fingerprint != kept.Fingerprint { // counting it on the first one would lose what it says
				why = countersign.Errorf(countersign.Unprocessed, "an event %q said something else before", clip(kept.EventID)).In("id")
				kept = unreadableEvent(kept, why)
			}
		}
		var fresh bool
		got.Event, fresh, err = tx.KeepEvent(ctx, kept)
		got.Again = !fresh
		return err
	})
	if err != nil {
		return Received{}, err
	}
	if got.Event.State == store.EventUnreadable {
		if why == nil {
			why = countersign.Errorf(countersign.Unprocessed, "%s", got.Event.Why)
		}
		return got, why
	}
	if got.Event.State == store.EventWaiting {
		e.apply(ctx, &got.Event)
	}
	got.Cases, err = e.Store.CasesOfEvent(ctx, got.Event)
	return got, err
}

// apply is Apply for an event that is safe already: what goes wrong is logged, and the sweep tries again.
func (e Events) apply(ctx context.Context, event *store.Event) {
	held, err := e.Apply(ctx, *event)
	switch {
	case err != nil:
		e.log().ErrorContext(ctx, "apply an event", "event", event.ID, "source", event.Source, "error", err)
	case !held:
		event.State = store.EventApplied
	}
}

func (e Events) log() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

// event is the delivery as it is kept, and why nobody can make anything of it.
func (d Delivery) event(now time.Time) (store.Event, *countersign.Error) {
	sum := sha256.Sum256(d.Body)
	kept := store.Event{ID: "evt_" + strings.ToLower(rand.Text()[:16]), Source: d.Source.Name, Desk: d.Source.Desk, Body: d.Body, BodyHash: hex.EncodeToString(sum[:]), Encoding: d.Encoding,
		Signature: d.Signature, Headers: d.Headers, SignedAt: d.SignedAt, Skew: now.Sub(d.SignedAt), State: store.EventWaiting}
	if d.Unpacked != "" {
		why := countersign.Errorf(countersign.Unprocessed, "%s", d.Unpacked).In("body")
		return unreadableEvent(kept, why), why
	}
	said, err := events.Parse(d.Plain)
	if err != nil {
		why := toldWhy(err)
		return unreadableEvent(kept, why), why
	}
	kept.EventID, kept.Fingerprint, kept.Said = said.ID, said.Fingerprint(), said.Said()
	if said.Dispute != nil {
		kept.Dispute, kept.Stage = said.Dispute.ID, string(said.Dispute.Stage)
	}
	if said.Refund != nil {
		kept.RefundOrder = said.Refund.OrderID
	}
	return kept, nil
}

func unreadableEvent(e store.Event, why *countersign.Error) store.Event {
	e.State, e.Why = store.EventUnreadable, why.Error()
	e.EventID, e.Fingerprint, e.Dispute, e.Stage, e.RefundOrder = "", "", "", "", ""
	return e
}

func toldWhy(err error) *countersign.Error {
	var told *countersign.Error
	if errors.As(err, &told) {
		return told
	}
	return countersign.Errorf(countersign.Unprocessed, "cannot be read") // unreachable: Parse says why
}

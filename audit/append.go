package audit

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"countersign"
)

// MaxPayload is the longest payload Append takes, in bytes. The longest line of an export is 64 MiB, and a payload may double
// when it is quoted there.
const MaxPayload = 24 << 20

// Head is where a case's record ends. It exists from the case's birth, with Seq 0 and a zero Hash, so that there is something
// to lock before the first row is written.
type Head struct {
	Case countersign.CaseID
	Seq  int64
	Hash Hash
}

// Entry is what is to be recorded. Salt must come from a cryptographic source of randomness, a new one for every entry.
// Payload is a JSON object; its bytes are kept exactly.
//
// A payload of a row that changes the case's status carries it as "status" at its top level, with "outcome" beside it when that
// changes too ("" or null takes an outcome back). The verifier compares the last ones with the case as it is stored. An
// "outcome" without a "status" is not the case's, and model_turn and tool_call rows are never looked into.
type Entry struct {
	Kind    Kind
	Actor   countersign.Actor
	At      int64 // microseconds since 1970-01-01T00:00:00Z
	Salt    Salt
	Payload []byte
}

// Append makes the rows that continue a case's record, in order, and the head after them. It stores nothing: the caller must
// hold the head's lock, and write rows, payloads and new head in the transaction of the change that they record.
//
// It is all or nothing: with an error there are no rows and the head is the old one. Refused are an actor that names nobody,
// an unknown kind, a payload that is not a JSON object in UTF-8, a time that is not after 1970, a salt of zeros, a first entry
// that is not opened, and a status or outcome where the verifier does not look for one.
func Append(head Head, entries ...Entry) ([]Row, Head, error) {
	if err := head.check(); err != nil {
		return nil, head, fmt.Errorf("append to the record of case %q: %w", head.Case, err)
	}
	rows, next := make([]Row, 0, len(entries)), head
	var scratch []byte
	for i, e := range entries {
		if err := e.check(next.Seq + 1); err != nil {
			return nil, head, fmt.Errorf("append to the record of case %q: entry %d, kind %q: %w", head.Case, i+1, e.Kind, err)
		}
		r := Row{
			Version: Version, Case: head.Case, Seq: next.Seq + 1, Kind: e.Kind, Actor: e.Actor.String(), At: e.At,
			Commitment: Commit(e.Salt[:], e.Payload), Prev: next.Hash,
		}
		scratch = r.appendPreimage(scratch[:0])
		r.Hash = sha256.Sum256(scratch)
		rows, next = append(rows, r), Head{Case: head.Case, Seq: r.Seq, Hash: r.Hash}
	}
	return rows, next, nil
}

func (h Head) check() error {
	switch {
	case h.Case == "" || !utf8.ValidString(string(h.Case)):
		return errors.New("the case has no usable id")
	case h.Seq < 0:
		return fmt.Errorf("the head is at step %d, expected 0 or more", h.Seq)
	case (h.Seq == 0) != (h.Hash == Hash{}):
		return fmt.Errorf("the head is at step %d with hash %s: only a head at step 0 has a hash of zeros", h.Seq, h.Hash)
	}
	return nil
}

func (e Entry) check(seq int64) error {
	switch {
	case !e.Kind.Known():
		return fmt.Errorf("the kind is unknown, expected one of %q", Kinds)
	case seq == 1 && e.Kind != Opened:
		return fmt.Errorf("a record begins with kind %q", Opened)
	case !e.Actor.Valid() || !utf8.ValidString(e.Actor.ID):
		return fmt.Errorf("actor %q names nobody of a known kind", e.Actor)
	case e.At <= 0:
		return fmt.Errorf("time %d is not after 1970", e.At)
	case e.Salt == Salt{}:
		return errors.New("the salt is all zeros")
	}
	return e.checkPayload(seq)
}

func (e Entry) checkPayload(seq int64) error {
	switch {
	case len(e.Payload) > MaxPayload:
		return fmt.Errorf("the payload has %d bytes, expected at most %d", len(e.Payload), MaxPayload)
	case !utf8.Valid(e.Payload):
		return errors.New("the payload is not UTF-8")
	case !json.Valid(e.Payload) || skipSpace(e.Payload)[0] != '{':
		return fmt.Errorf("the payload %q is not a JSON object", clip(e.Payload))
	case e.Kind == Erased:
		_, err := erasedSteps(e.Payload, seq)
		return err
	}
	return e.checkState()
}

// checkState keeps the writer to what the verifier reads, so that no honest record is ever called broken.
func (e Entry) checkState() error {
	status, outcome := statement(e.Payload)
	switch {
	case status == nil:
		return nil
	case !e.Kind.changesCase():
		return errors.New(`the payload has "status" at its top level, and rows of this kind never change the case`)
	case status[0] != '"':
		return fmt.Errorf(`the payload's "status" is %s, expected a string`, clip(status))
	case outcome != nil && outcome[0] != '"' && string(outcome) != "null":
		return fmt.Errorf(`the payload's "outcome" is %s, expected a string or null`, clip(outcome))
	}
	return nil
}

package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"countersign"
)

// Resolve and Reject are what a proposal may recommend that the policy treats differently; every other word asks for a
// person.
const (
	Resolve = "resolve"
	Reject  = "reject"
)

// Default are the limits before anybody set any.
func Default() Limits {
	return Limits{
		Mode: Act, AllowedTypes: []string{string(countersign.FailedTransfer), string(countersign.DuplicateCharge)},
		MinConfidence: 0.9, MinEvidence: 2, Caps: map[string]int64{"NGN": 50_000_00},
	}
}

// Version names limits and rules together: the same version gives the same verdict on the same input.
func Version(limits Limits, rules []Rule) string {
	names := []string{}
	for _, rule := range slices.Concat(own, rules) {
		names = append(names, rule.Name)
	}
	b, err := json.Marshal(struct {
		Limits Limits   `json:"limits"`
		Rules  []string `json:"rules"`
	}{limits, names})
	if err != nil {
		return "p-unknown" // unreachable: a confidence that is no number does not get past ParseLimits
	}
	sum := sha256.Sum256(b)
	return "p-" + hex.EncodeToString(sum[:8])
}

// ParseLimits reads limits from JSON. Every field is needed: a limit that somebody forgot must not mean "no limit".
func ParseLimits(text []byte) (Limits, error) {
	var l Limits
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, unreadable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return l, countersign.Errorf(countersign.Invalid, "there is something after the end of the policy")
	}
	return l, l.check()
}

func unreadable(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return countersign.Errorf(countersign.Invalid, "is a %s, expected %s", wrong.Value, expected[wrong.Field]).In(wrong.Field)
	}
	return countersign.Errorf(countersign.Invalid, "the policy is not JSON of the form that `policy show` prints: %v", err)
}

var expected = map[string]string{
	"mode": "act or shadow", "allowed_types": "a list of categories", "min_confidence": "a number from 0 to 1",
	"min_evidence": "a whole number of at least 1", "caps": "whole minor units by currency code",
}

func (l Limits) check() error {
	switch {
	case l.Mode != Act && l.Mode != Shadow:
		return countersign.Errorf(countersign.Invalid, "%q is not act or shadow", string(l.Mode)).In("mode")
	case !(l.MinConfidence > 0 && l.MinConfidence <= 1):
		return countersign.Errorf(countersign.Invalid, "%v is not above 0 and at most 1", l.MinConfidence).In("min_confidence")
	case l.MinEvidence < 1:
		return countersign.Errorf(countersign.Invalid, "%d is not a whole number of at least 1", l.MinEvidence).In("min_evidence")
	case l.AllowedTypes == nil:
		return countersign.Errorf(countersign.Invalid, "is missing; an empty list allows none").In("allowed_types")
	case l.Caps == nil:
		return countersign.Errorf(countersign.Invalid, "is missing; without a cap for its currency no case is automatic").In("caps")
	}
	return errors.Join(l.checkTypes(), l.checkCaps())
}

func (l Limits) checkTypes() error {
	for _, t := range l.AllowedTypes {
		if t != string(countersign.FailedTransfer) && t != string(countersign.DuplicateCharge) {
			return countersign.Errorf(countersign.Invalid, "%q cannot be automatic; only failed_transfer and duplicate_charge have a fix that records can justify", t).In("allowed_types")
		}
	}
	return nil
}

func (l Limits) checkCaps() error {
	for _, currency := range slices.Sorted(maps.Keys(l.Caps)) {
		switch {
		case !countersign.KnownCurrency(currency):
			return countersign.Errorf(countersign.Invalid, "%q is not a currency of ISO 4217", currency).In("caps")
		case l.Caps[currency] < 0:
			return countersign.Errorf(countersign.Invalid, "%d is negative; a cap of 0 means that nothing in %s is automatic", l.Caps[currency], currency).In("caps." + currency)
		}
	}
	return nil
}

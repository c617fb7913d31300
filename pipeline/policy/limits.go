package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
	for _, rule := range slices.Concat(ours(rules), rules) {
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

// ParseLimits reads limits from JSON. Every field is needed: a limit that somebody forgot must not mean "no limit". Unknown
// names, names in other letters and names that stand there twice are refused. Every error is a *countersign.Error of the
// kind Invalid that names the field and says what it holds and what was expected.
func ParseLimits(text []byte) (Limits, error) {
	var l Limits
	given := map[string]bool{}
	err := eachMember("policy", text, func(name string, value json.RawMessage) error {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return wrong(name, "is not a limit; expected mode, allowed_types, min_confidence, min_evidence and caps")
		}
		given[name] = true
		return fields[i].read(&l, value)
	})
	if err != nil {
		return Limits{}, err
	}
	for _, f := range fields {
		if !given[f.name] {
			return Limits{}, wrong(f.name, "is missing; expected %s", f.expected)
		}
	}
	return l, nil
}

// field is one limit: its name, what it may hold, and how it is read.
type field struct {
	name, expected string
	read           func(*Limits, json.RawMessage) error
}

var fields = []field{
	{"mode", "act or shadow", readMode},
	{"allowed_types", "a list of categories; an empty one allows none", readTypes},
	{"min_confidence", "a number above 0 and at most 1", readConfidence},
	{"min_evidence", "a whole number from 1 to 100", readEvidence},
	{"caps", "minor units by currency; without a cap for its currency no case is automatic", readCaps},
}

func wrong(field, format string, args ...any) error {
	return countersign.Errorf(countersign.Invalid, format, args...).In(field)
}

func readMode(l *Limits, value json.RawMessage) error {
	var mode string
	if json.Unmarshal(value, &mode) != nil || mode != string(Act) && mode != string(Shadow) {
		return wrong("mode", "%s is not a mode; expected \"act\" or \"shadow\"", clip(value))
	}
	l.Mode = Mode(mode)
	return nil
}

// mayBeAutomatic are the categories that have a fix which records can justify.
var mayBeAutomatic = []string{string(countersign.FailedTransfer), string(countersign.DuplicateCharge)}

func readTypes(l *Limits, value json.RawMessage) error {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || items == nil {
		return wrong("allowed_types", "%s is not a list; expected a list of categories", clip(value))
	}
	l.AllowedTypes = []string{}
	for i, item := range items {
		var category string
		name := fmt.Sprintf("allowed_types[%d]", i)
		if json.Unmarshal(item, &category) != nil || !slices.Contains(mayBeAutomatic, category) {
			return wrong(name, "%s cannot be automatic; only failed_transfer and duplicate_charge have a fix that records can justify", clip(item))
		}
		if slices.Contains(l.AllowedTypes, category) {
			return wrong(name, "%s stands there twice; expected each category once", clip(item))
		}
		l.AllowedTypes = append(l.AllowedTypes, category)
	}
	return nil
}

func readConfidence(l *Limits, value json.RawMessage) error {
	if json.Unmarshal(value, &l.MinConfidence) != nil || !(l.MinConfidence > 0 && l.MinConfidence <= 1) {
		return wrong("min_confidence", "%s is not a confidence; expected a number above 0 and at most 1", clip(value))
	}
	return nil
}

func readEvidence(l *Limits, value json.RawMessage) (err error) {
	if l.MinEvidence, err = strconv.Atoi(string(value)); err != nil || l.MinEvidence < 1 || l.MinEvidence > 100 {
		return wrong("min_evidence", "%s is not a number of steps; expected a whole number from 1 to 100", clip(value))
	}
	return nil
}

func readCaps(l *Limits, value json.RawMessage) error {
	l.Caps = map[string]int64{}
	return eachMember("caps", value, func(currency string, value json.RawMessage) error {
		name := "caps." + clip([]byte(currency))
		if !countersign.KnownCurrency(currency) {
			return wrong(name, "%q is not a currency of ISO 4217; expected three capitals, such as NGN", clip([]byte(currency)))
		}
		minor, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || minor < 0 {
			return wrong(name, "%s is not a cap; expected whole minor units, where 0 means that nothing in %s is automatic", clip(value), currency)
		}
		l.Caps[currency] = minor
		return nil
	})
}

// eachMember reads one JSON object strictly: no name twice, nothing behind it.
func eachMember(name string, text []byte, read func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return wrong(name, "%s is not a JSON object; expected the form that `policy show` prints", clip(text))
	}
	given := map[string]bool{}
	for d.More() {
		member, value, err := nextMember(d)
		switch {
		case err != nil:
			return broken(name, err)
		case given[member]:
			return wrong(name, "%q stands there twice; expected each name once", clip([]byte(member)))
		}
		given[member] = true
		if err := read(member, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return broken(name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong(name, "has something after its end; expected one JSON object")
	}
	return nil
}

func nextMember(d *json.Decoder) (name string, value json.RawMessage, err error) {
	key, err := d.Token()
	if err != nil {
		return "", nil, err
	}
	name, _ = key.(string) // a decoder hands out nothing else inside an object
	err = d.Decode(&value)
	return name, value, err
}

func broken(name string, err error) error {
	return &countersign.Error{Kind: countersign.Invalid, Field: name, Message: "is broken JSON; expected the form that `policy show` prints", Err: err}
}

// clip shortens what an error repeats.
func clip(value []byte) string {
	const longest = 40
	s := []rune(strings.ToValidUTF8(string(bytes.TrimSpace(value[:min(len(value), 4*longest)])), "\uFFFD"))
	if len(s) > longest || len(value) > 4*longest {
		return string(s[:min(len(s), longest)]) + "…"
	}
	return string(s)
}

package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// Break is the first step of a case that does not match, and why, in a sentence for people. A step that is missing is named
// by the number it would have.
type Break struct {
	Case countersign.CaseID `json:"case"` // empty when an export as a whole does not add up
	Seq  int64              `json:"seq"`
	Why  string             `json:"why"`
}

// Report is what a verifier found: at most one break a case.
type Report struct {
	OK       bool    `json:"ok"` // no breaks
	Cases    int64   `json:"cases"`
	Rows     int64   `json:"rows"`
	Erased   int64   `json:"erased"`             // rows whose payload is gone
	Redacted bool    `json:"redacted,omitempty"` // payloads were left out of the export: nothing that needs one was compared
	Breaks   []Break `json:"breaks"`
	// Unchecked is what nobody can tell any more, because the payload that said it is erased, or because
	// an earlier version never had it said. It is not a break.
	Unchecked []Break `json:"unchecked,omitempty"`
}

// Merge sums the reports of verifiers that shared the cases among them. The result does not depend on how they did.
func Merge(reports ...Report) Report {
	sum := Report{Breaks: []Break{}}
	for _, r := range reports {
		sum.Cases += r.Cases
		sum.Rows += r.Rows
		sum.Erased += r.Erased
		sum.Redacted = sum.Redacted || r.Redacted
		sum.Breaks = append(sum.Breaks, r.Breaks...)
		sum.Unchecked = append(sum.Unchecked, r.Unchecked...)
	}
	slices.SortStableFunc(sum.Breaks, byCase)
	slices.SortStableFunc(sum.Unchecked, byCase)
	sum.OK = len(sum.Breaks) == 0
	return sum
}

func byCase(a, b Break) int { return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Seq, b.Seq)) }

// MarshalJSON writes an empty list of breaks as [], never as null.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	if r.Breaks == nil {
		r.Breaks = []Break{}
	}
	return json.Marshal(plain(r))
}

// String says the same in words, a line a break, the verdict last.
func (r Report) String() string {
	var b strings.Builder
	for _, u := range r.Unchecked {
		fmt.Fprintf(&b, "case %s, step %d: cannot be checked: %s\n", u.Case, u.Seq, u.Why)
	}
	for _, x := range r.Breaks {
		if x.Case == "" {
			fmt.Fprintf(&b, "the export: %s\n", x.Why)
			continue
		}
		fmt.Fprintf(&b, "case %s, step %d: %s\n", x.Case, x.Seq, x.Why)
	}
	b.WriteString(r.verdict())
	return b.String()
}

func (r Report) verdict() string {
	counted := fmt.Sprintf("%s, %s", count(r.Cases, "case"), count(r.Rows, "row"))
	if r.Erased > 0 {
		counted += ", " + count(r.Erased, "payload") + " erased"
	}
	if r.Redacted {
		counted += ", payloads left out and not compared"
	}
	if r.OK {
		return "intact: " + counted
	}
	return "BROKEN: " + counted + ", " + count(int64(len(r.Breaks)), "break")
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk/bank/records"
)

// finding is what one rule found: one fact and, when the fact is not as a fix needs it, the reason. A reason without a code
// is no reason.
type finding struct {
	fact   countersign.Fact
	reason countersign.Reason
}

func present(name, value, source string) finding {
	return finding{fact: countersign.Fact{Name: name, State: countersign.Present, Value: value, Source: source}}
}

func absent(name, value, source string) finding {
	return finding{fact: countersign.Fact{Name: name, State: countersign.Absent, Value: value, Source: source}}
}

func unknown(name, value, source string) finding {
	return finding{fact: countersign.Fact{Name: name, State: countersign.Unknown, Value: value, Source: source}}
}

// disagree, cannotTell and suspect give a finding its reason: the books say otherwise, the books do not say, or it looks
// like fraud.
func (f finding) disagree(format string, args ...any) finding {
	return f.because(countersign.FactsDisagree, format, args...)
}

func (f finding) cannotTell(format string, args ...any) finding {
	return f.because(countersign.FactsUnknown, format, args...)
}

func (f finding) suspect(format string, args ...any) finding {
	return f.because(countersign.FraudSuspected, format, args...)
}

func (f finding) because(code countersign.ReasonCode, format string, args ...any) finding {
	f.reason = countersign.Reason{Code: code, Text: fmt.Sprintf(format, args...)}
	return f
}

// doubtful reports whether any of the findings carries a reason.
func doubtful(list []finding) bool {
	return slices.ContainsFunc(list, func(f finding) bool { return f.reason.Code != "" })
}

// write adds findings to the facts: each fact once, whichever rules read it, and each reason as a doubt against the category.
func write(facts *countersign.Facts, against countersign.DisputeReason, list []finding) {
	for _, f := range list {
		if facts.Fact(f.fact.Name).Source == "" {
			facts.Items = append(facts.Items, f.fact)
		}
		if f.reason.Code != "" {
			facts.Doubts = append(facts.Doubts, countersign.Doubt{Against: against, Fact: f.fact.Name, Reason: f.reason})
		}
	}
}

// id is a row's id in a sentence. Ids are opaque text from somebody's file, so it is kept short and printable.
func id(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// rows names rows as the source of a fact: "ledger_entries L-1, L-2".
func rows(array records.Array, list ...string) string {
	const most = 5
	out := make([]string, 0, most+1)
	for i, s := range list {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		out = append(out, id(s))
	}
	return strings.TrimSpace(string(array) + " " + strings.Join(out, ", "))
}

func transactionIDs(list []records.Transaction) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.ID
	}
	return out
}

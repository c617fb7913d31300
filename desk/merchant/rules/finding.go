package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign"
)

// finding is what one rule found: one fact, and the doubts that it gives rise to.
type finding struct {
	fact   countersign.Fact
	doubts []countersign.Doubt
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

// of gives a finding the amount that its value tells of.
func (f finding) of(amount *countersign.Money) finding {
	f.fact.Amount = amount
	return f
}

// because gives a finding a doubt against every recommendation, against only against those that want the one named.
func (f finding) because(code countersign.ReasonCode, format string, args ...any) finding {
	return f.against("", code, format, args...)
}

func (f finding) against(wanting string, code countersign.ReasonCode, format string, args ...any) finding {
	f.doubts = append(f.doubts, countersign.Doubt{Wanting: wanting, Fact: f.fact.Name,
		Reason: countersign.Reason{Code: code, Text: fmt.Sprintf(format, args...)}})
	return f
}

func (f finding) cannotTell(format string, args ...any) finding {
	return f.because(countersign.FactsUnknown, format, args...)
}

// write adds findings to the facts, in order.
func write(facts *countersign.Facts, lists ...[]finding) {
	for _, f := range slices.Concat(lists...) {
		facts.Items = append(facts.Items, f.fact)
		facts.Doubts = append(facts.Doubts, f.doubts...)
	}
}

// rows names rows as the source of a fact: "refunds R-1, R-2".
func rows(kind string, ids ...string) string {
	const most = 5
	out := make([]string, 0, most+1)
	for i, s := range ids {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(ids)-most))
			break
		}
		out = append(out, printable(s))
	}
	return strings.TrimSpace(kind + " " + strings.Join(out, ", "))
}

// printable is text of the shop's in a sentence: short, and without what could pretend to be something else.
func printable(s string) string {
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

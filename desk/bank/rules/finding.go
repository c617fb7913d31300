package rules

import (
	"fmt"
	"strconv"
	"strings"

	"countersign"
)

// finding collects what rules found.
type finding struct {
	items  []countersign.Fact
	doubts []countersign.Doubt
}

func (f *finding) add(more finding) {
	f.items = append(f.items, more.items...)
	f.doubts = append(f.doubts, more.doubts...)
}

// present, absent and unknown record one fact: its name, what was read and where.
func (f *finding) present(name, value, source string) { f.fact(name, countersign.Present, value, source) }
func (f *finding) absent(name, value, source string)  { f.fact(name, countersign.Absent, value, source) }
func (f *finding) unknown(name, value, source string) { f.fact(name, countersign.Unknown, value, source) }

func (f *finding) fact(name string, state countersign.FactState, value, source string) {
	f.items = append(f.items, countersign.Fact{Name: name, State: state, Value: value, Source: source})
}

// disagree, cannotTell and suspect record one doubt: the books say otherwise, do not say, or look like fraud. An empty
// category speaks against every proposal.
func (f *finding) disagree(against countersign.DisputeReason, format string, args ...any) {
	f.doubt(against, countersign.FactsDisagree, format, args...)
}

func (f *finding) cannotTell(against countersign.DisputeReason, format string, args ...any) {
	f.doubt(against, countersign.FactsUnknown, format, args...)
}

func (f *finding) suspect(format string, args ...any) {
	f.doubt("", countersign.FraudSuspected, format, args...)
}

func (f *finding) doubt(against countersign.DisputeReason, code countersign.ReasonCode, format string, args ...any) {
	reason := countersign.Reason{Code: code, Text: fmt.Sprintf(format, args...)}
	f.doubts = append(f.doubts, countersign.Doubt{Against: against, Reason: reason})
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

func ids(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = id(s)
	}
	if len(out) > 5 {
		out = append(out[:5], fmt.Sprintf("%d more", len(out)-5))
	}
	return strings.Join(out, ", ")
}

func transactions(s ...string) string { return "transactions " + ids(s) }
func entries(s ...string) string      { return "ledger_entries " + ids(s) }

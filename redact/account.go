package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortest is the length of a Nigerian account number (NUBAN), the shortest number that is masked as an account.
const shortest = 10

// accounts adds to the intervals already found (cards) every run of ten or more digits that stands alone, written in one
// piece or grouped by single spaces or dashes.
func (sp *span) accounts(found []interval) []interval {
	var all []interval
	for _, run := range sp.runs(found) {
		all = append(all, sp.longGroups(run)...)
	}
	return merge(found, all)
}

// merge puts two sorted lists of intervals that do not overlap into one.
func merge(a, b []interval) []interval {
	out := make([]interval, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].first < b[0].first {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// runs cuts the span into groups that could be one account number. A masked card, a separator that account numbers do not
// have, and the four digits of an earlier mask end a run.
func (sp *span) runs(cards []interval) [][]group {
	var runs [][]group
	var run []group
	for i, g := range sp.groups {
		for len(cards) > 0 && cards[0].end <= g.first {
			cards = cards[1:]
		}
		carded := len(cards) > 0 && cards[0].first < g.end
		masked := i == 0 && g.len() == 4 && strings.HasSuffix(sp.before, "****")
		if carded || i > 0 && !single(g.sep) {
			runs, run = append(runs, run), nil
		}
		if !carded && !masked {
			run = append(run, g)
		}
	}
	return append(runs, run)
}

func single(sep string) bool {
	r, width := utf8.DecodeRuneInString(sep)
	return width == len(sep) && (isSpace(r) || isDash(r))
}

// longGroups masks each group that is long enough by itself, and what lies between them as one number if together it is.
func (sp *span) longGroups(run []group) []interval {
	var found []interval
	from := 0
	for i, g := range run {
		if g.len() >= shortest {
			found = append(found, sp.together(run[from:i])...)
			if sp.alone(g, g) {
				found = append(found, interval{g.first, g.end})
			}
			from = i + 1
		}
	}
	return append(found, sp.together(run[from:])...)
}

// together reads short groups as one account number. Two groups with a dash are more often a range of amounts.
func (sp *span) together(run []group) []interval {
	if len(run) > 0 && sp.fraction(run[0]) {
		run = run[1:]
	}
	if len(run) > 0 && sp.hasFraction(run[len(run)-1]) {
		run = run[:len(run)-1]
	}
	if len(run) < 2 {
		return nil
	}
	first, last := run[0], run[len(run)-1]
	r, _ := utf8.DecodeRuneInString(last.sep)
	if last.end-first.first < shortest || len(run) == 2 && isDash(r) || !sp.alone(first, last) {
		return nil
	}
	return []interval{{first.first, last.end}}
}

// alone reports whether the digits from first to last are a number of their own: no letter against them, not part of an id,
// not one side of a decimal point.
func (sp *span) alone(first, last group) bool {
	if last.end == len(sp.values) && sp.gluedRight() || sp.fraction(first) || sp.hasFraction(last) {
		return false
	}
	return first.first > sp.idEnd()
}

// idEnd is the first digit of the last group that belongs to an id the span starts with, -1 when it starts with none: only
// dashes and underscores lie between them.
func (sp *span) idEnd() int {
	if sp.id == 0 {
		sp.id = sp.readID()
	}
	return sp.id
}

func (sp *span) readID() int {
	if !sp.named() {
		return -1
	}
	for i, g := range sp.groups[1:] {
		r, width := utf8.DecodeRuneInString(g.sep)
		if width != len(g.sep) || !isDash(r) && r != '_' {
			return sp.groups[i].first
		}
	}
	return len(sp.values)
}

// fraction reports whether g follows a decimal point or a thousands comma: the "00" in 24,500.00.
func (sp *span) fraction(g group) bool {
	if g.first > 0 {
		return g.sep == "."
	}
	n := len(sp.before)
	if n < 2 || sp.before[n-1] != ',' && sp.before[n-1] != '.' {
		return false
	}
	return isDigit(rune(sp.before[n-2]))
}

// hasFraction reports whether g is followed by a decimal point or a thousands comma and more digits.
func (sp *span) hasFraction(g group) bool {
	rest := sp.text[sp.endOf(interval{g.first, g.end}):]
	if rest == "" {
		rest = sp.after
	}
	return len(rest) >= 2 && (rest[0] == '.' || rest[0] == ',') && isDigit(rune(rest[1]))
}

func (sp *span) gluedRight() bool {
	r, _ := utf8.DecodeRuneInString(sp.after)
	return inWord(r)
}

// inWord reports whether r, right against a number, makes it a part of an id. Only the letters that ids are written in do:
// in scripts without spaces between words every number stands right against a letter.
func inWord(r rune) bool { return r == '_' || isLatin(fold(r)) }

// named reports whether the span is the tail of an id such as txn_8d1aa1219382, TX-2026000123 or 7K3M9: a letter is joined
// to it by nothing, dashes or underscores. Words that announce an account do not make an id.
func (sp *span) named() bool {
	start := len(sp.before)
	for start > 0 && len(sp.before)-start < 64 {
		r, width := utf8.DecodeLastRuneInString(sp.before[:start])
		if !inWord(r) && !isDash(r) && !unicode.IsDigit(r) {
			break
		}
		start -= width
	}
	name := strings.TrimRight(sp.before[start:], "-_–‐")
	return strings.IndexFunc(name, unicode.IsLetter) >= 0 && !announces[strings.ToLower(name)]
}

// announces are words that people write right before a number that must be masked, without a space.
var announces = map[string]bool{
	"acct": true, "account": true, "acc": true, "acctno": true, "accountno": true, "ac": true, "nuban": true, "no": true,
	"number": true, "card": true, "pan": true, "tel": true, "phone": true, "mobile": true, "gsm": true, "whatsapp": true,
	"bvn": true, "nin": true,
}

package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a stretch of digits and what may stand between the digits of one number. It starts and ends with a digit.
type span struct {
	text   string
	before string // what precedes the span in the text, to judge whether it stands alone
	after  string
	values []byte // the digits' values
	at     []int  // the digits' offsets in text, and one more: the end
	groups []group
	id     int // see idEnd; 0 until asked for the first time
}

// group is digits with nothing between them: values[first:end].
type group struct {
	first, end int
	sep        string // what stands before it, empty for the first
}

func (g group) len() int { return g.end - g.first }

// maskNumbers masks cards, then phone numbers, then account numbers in each span.
func maskNumbers(s string) string {
	return eachSpan(s, func(sp *span) []interval {
		found := sp.cards()
		if phone, ok := sp.phone(); ok && len(found) == 0 {
			return []interval{phone}
		}
		return sp.accounts(found)
	})
}

// maskCards masks cards only.
func maskCards(s string) string {
	return eachSpan(s, func(sp *span) []interval { return sp.cards() })
}

// interval is a number inside a span: values[first:end].
type interval struct{ first, end int }

func eachSpan(s string, judge func(*span) []interval) string {
	var edits []edit
	var sp span
	for i := 0; i < len(s); {
		if date := dateAt(s, i); date > 0 {
			i += date
			continue
		}
		if _, width, ok := digitAt(s[i:]); !ok {
			i += max(width, 1)
			continue
		}
		end := sp.read(s, i)
		if len(sp.values) >= fewest {
			for _, n := range judge(&sp) {
				edits = append(edits, edit{i + sp.at[n.first], i + sp.endOf(n), stars(sp.values[n.first:n.end])})
			}
		}
		i = end
	}
	return apply(s, edits)
}

func (sp *span) endOf(n interval) int {
	last := sp.at[n.end-1]
	_, width, _ := digitAt(sp.text[last:])
	return last + width
}

func stars(digits []byte) string {
	b := []byte("****0000")
	for i, v := range digits[len(digits)-4:] {
		b[4+i] = '0' + v
	}
	return string(b)
}

// read fills the span that starts at s[i] and returns where it ends.
func (sp *span) read(s string, i int) (end int) {
	*sp = span{values: sp.values[:0], at: sp.at[:0], groups: sp.groups[:0], before: s[:i]}
	start, sep := i, ""
	for {
		first := len(sp.values)
		for {
			v, width, ok := digitAt(s[i:])
			if !ok {
				break
			}
			sp.values, sp.at = append(sp.values, v), append(sp.at, i-start)
			i += width
		}
		sp.groups = append(sp.groups, group{first, len(sp.values), sep})
		width := separator(s[i:])
		if width == 0 || dateAt(s, i+width) > 0 {
			break
		}
		sep = s[i : i+width]
		i += width
	}
	sp.text, sp.after = s[start:i], s[i:]
	sp.at = append(sp.at, i-start)
	return i
}

// separator is the width of what may stand between two groups of one number: at most three signs, then a digit. 0 when the
// number ends here.
func separator(s string) int {
	width := 0
	for range 3 {
		r, size := utf8.DecodeRuneInString(s[width:])
		if !isSeparator(r) {
			return 0
		}
		width += size
		if _, _, ok := digitAt(s[width:]); ok {
			return width
		}
	}
	return 0
}

func isSeparator(r rune) bool {
	if r < utf8.RuneSelf {
		return r != 0 && strings.ContainsRune(" -._/()\t\n\r", r)
	}
	return isSpace(r) || isDash(r) || unicode.Is(unicode.Cf, r) || r == '．' || r == '·' || r == '＿'
}

func isSpace(r rune) bool { return r == ' ' || r > utf8.RuneSelf && unicode.Is(unicode.Zs, r) }

func isDash(r rune) bool {
	return r == '-' || r > utf8.RuneSelf && (unicode.Is(unicode.Pd, r) || r == '−')
}

// dateAt is the width of a date (2026-11-28, 28-11-2026, 28/11/2026 or 28.11.2026) that starts at s[i] and is not part of
// something longer; 0 if there is none. Dates end a span: two of them side by side have as many digits as a card.
func dateAt(s string, i int) int {
	if len(s)-i < 10 || s[i] < '0' || s[i] > '3' || i > 0 && strings.IndexByte("0123456789-./", s[i-1]) >= 0 {
		return 0
	}
	if d := s[i : i+10]; !isoDate(d) && !dayFirst(d) {
		return 0
	}
	if rest := s[i+10:]; rest != "" && isDigit(rune(rest[0])) || len(rest) > 1 && rest[0] == s[i+dateSign(s[i:])] && isDigit(rune(rest[1])) {
		return 0
	}
	return 10
}

// dateSign is where the first sign between a date's parts stands.
func dateSign(d string) int {
	if isDigit(rune(d[2])) {
		return 4
	}
	return 2
}

func isoDate(d string) bool {
	return d[4] == '-' && d[7] == '-' && year(d[:4]) && between(d[5:7], "01", "12") && between(d[8:], "01", "31")
}

// dayFirst also takes the month first, as Americans write it.
func dayFirst(d string) bool {
	return strings.IndexByte("-./", d[2]) >= 0 && d[5] == d[2] && between(d[:2], "01", "31") && between(d[3:5], "01", "31") && year(d[6:])
}

// year stops short of the first card number that could look like one, 2131.
func year(s string) bool { return between(s, "1900", "2130") }

func between(s, low, high string) bool {
	return strings.Trim(s, "0123456789") == "" && low <= s && s <= high
}

// decimal reports whether the span is one number with a decimal point: two groups and a dot.
func (sp *span) decimal() bool { return len(sp.groups) == 2 && sp.groups[1].sep == "." }

// phone finds a telephone number: a plus and 8 to 15 digits, or a trunk zero or an area code in brackets and ten or eleven.
func (sp *span) phone() (interval, bool) {
	if sp.decimal() {
		return interval{}, false
	}
	if strings.HasSuffix(sp.before, "+") || strings.HasSuffix(sp.before, "＋") {
		return sp.international()
	}
	n := len(sp.values)
	return interval{0, n}, (n == 10 || n == 11) && (sp.trunk() || sp.bracketed()) && !sp.gluedRight()
}

// international takes whole groups up to the longest number there is (ITU-T E.164).
func (sp *span) international() (interval, bool) {
	end := 0
	for _, g := range sp.groups {
		if g.end <= 15 {
			end = g.end
		}
	}
	return interval{0, end}, end >= fewest
}

// trunk reports whether the span is a national number such as 0803.123.4567: a date such as 01.12.2026 has a shorter first
// group.
func (sp *span) trunk() bool {
	return sp.values[0] == 0 && sp.groups[0].len() >= 3 && sp.plain() && !sp.named()
}

func (sp *span) bracketed() bool {
	return len(sp.groups) > 1 && strings.Contains(sp.groups[1].sep, ")")
}

package redact

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Card numbers have 13 to 19 digits (ISO/IEC 7812) and end with a Luhn check digit. One number in ten passes that check by
// chance, so the less a stretch of digits looks like one number standing alone, the more its first digits must look like a
// card's.

// cards finds the card numbers in a span, longest first from each digit on. One that starts or ends inside a group takes
// the whole group with it: a few stray digits beside a mask help nobody.
func (sp *span) cards() []interval {
	var found []interval
	for first := 0; first+13 <= len(sp.values); first++ {
		for n := min(19, len(sp.values)-first); n >= 13; n-- {
			if sp.card(first, first+n) {
				whole := sp.widen(first, first+n)
				found = append(found, whole)
				first = whole.end - 1
				break
			}
		}
	}
	return found
}

func (sp *span) widen(first, end int) interval {
	return interval{sp.group(first).first, sp.group(end - 1).end}
}

// group is the group that holds the i-th digit.
func (sp *span) group(i int) group {
	n, _ := slices.BinarySearchFunc(sp.groups, i, func(g group, i int) int { return g.end - 1 - i })
	return sp.groups[n]
}

func (sp *span) card(first, end int) bool {
	d := sp.values[first:end]
	if !luhn(d) {
		return false
	}
	switch whole := first == 0 && end == len(sp.values); {
	case whole && sp.plain():
		return true
	case sp.widen(first, end) == (interval{first, end}) && !sp.decimal():
		return issued(d)
	default:
		return issued(d) && usual(d)
	}
}

// plain reports whether the span is written as people write one number: spaces, dashes or dots between the groups, no letter
// against either end, and not a decimal fraction.
func (sp *span) plain() bool {
	for _, g := range sp.groups[1:] {
		for _, r := range g.sep {
			if !isSpace(r) && !isDash(r) && r != '.' && !unicode.Is(unicode.Cf, r) {
				return false
			}
		}
	}
	r, _ := utf8.DecodeLastRuneInString(sp.before)
	return !sp.decimal() && !inWord(r) && !sp.gluedRight()
}

// luhn reports whether the last digit checks the others (ISO/IEC 7812-1, annex B).
func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i])
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// issued reports whether a card network's numbers begin like this.
func issued(d []byte) bool {
	switch four := int(d[0])*1000 + int(d[1])*100 + int(d[2])*10 + int(d[3]); {
	case d[0] >= 3 && d[0] <= 6: // JCB, Amex, Diners · Visa · Mastercard, Maestro, Verve · Discover, UnionPay, RuPay
		return true
	case four >= 2200 && four <= 2720: // Mir, Mastercard
		return true
	default:
		return four == 2131 || four == 1800 || four == 9792 || four/100 == 81 // JCB · Troy · UnionPay, RuPay
	}
}

// usual reports whether that network's numbers have this length.
func usual(d []byte) bool {
	switch n := len(d); d[0] {
	case 4:
		return n == 13 || n == 16 || n == 19
	case 3:
		return n >= 14 && n <= 16
	case 2, 1, 8, 9:
		return n == 15 || n == 16
	default:
		return n >= 16
	}
}

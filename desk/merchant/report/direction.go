package report

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// A line that holds Arabic or Hebrew is drawn in another order than it is read. What follows is the bidirectional algorithm of
// Unicode (UAX 9) for one line: its rules W1 to W7, N1, N2, I1, I2, L1, L2 and L4. The characters that embed and override directions
// never come here, visible has written them out; and brackets go with what is next to them, as before Unicode 6.3.

// fromRight stands before the lines of a paragraph that is read from the right, and is not drawn.
const fromRight = '\u200F'

// readsFromRight reports whether a paragraph is read from the right: its first letter says so.
func readsFromRight(paragraph string) bool {
	for _, r := range paragraph {
		switch classOf(r) {
		case bidi.R, bidi.AL:
			return true
		case bidi.L:
			return false
		}
	}
	return false
}

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

func turns(r rune) bool {
	c := classOf(r)
	return c == bidi.R || c == bidi.AL || c == bidi.AN
}

// letters are what stays together when a line is turned: a letter and its marks.
type letters struct {
	text  string
	class bidi.Class
	level int
}

// visual is a line in the order in which it is drawn, from the left.
func visual(text string) string {
	text, right := strings.CutPrefix(text, string(fromRight))
	if !right && strings.IndexFunc(text, turns) < 0 {
		return text
	}
	all, base := lettersOf(text), 0
	if right {
		base = 1
	}
	weak(all, base)
	neutral(all, base)
	level(all, base)
	turn(all)
	var b strings.Builder
	for _, l := range all {
		b.WriteString(mirrored(l))
	}
	return b.String()
}

// lettersOf divides a line; marks are in the class of their letter, which is W1.
func lettersOf(text string) (all []letters) {
	for _, r := range text {
		if n := len(all); n > 0 && unicode.Is(unicode.Mn, r) {
			all[n-1].text += string(r)
		} else {
			all = append(all, letters{text: string(r), class: classOf(r)})
		}
	}
	return all
}

func sideOf(base int) bidi.Class {
	if base == 1 {
		return bidi.R
	}
	return bidi.L
}

// weak is W2 to W7: what numbers and what stands in them are.
func weak(all []letters, base int) {
	strong := sideOf(base)
	for i := range all {
		switch c := all[i].class; {
		case c == bidi.L || c == bidi.R || c == bidi.AL:
			strong = c
		case c == bidi.EN && strong == bidi.AL:
			all[i].class = bidi.AN
		}
	}
	for i := range all {
		switch before, after := classAt(all, i-1), classAt(all, i+1); {
		case all[i].class == bidi.AL:
			all[i].class = bidi.R
		case before == after && (all[i].class == bidi.CS && (before == bidi.EN || before == bidi.AN) || all[i].class == bidi.ES && before == bidi.EN):
			all[i].class = before
		}
	}
	terminators(all)
	strong = sideOf(base)
	for i := range all {
		switch c := all[i].class; {
		case c == bidi.L || c == bidi.R:
			strong = c
		case c == bidi.ES || c == bidi.ET || c == bidi.CS:
			all[i].class = bidi.ON
		case c == bidi.EN && strong == bidi.L:
			all[i].class = bidi.L
		}
	}
}

// terminators is W5: signs of money, per cent and the like belong to the number that they touch.
func terminators(all []letters) {
	for i := range all {
		if all[i].class == bidi.ET && classAt(all, i-1) == bidi.EN {
			all[i].class = bidi.EN
		}
	}
	for i := range slices.Backward(all) {
		if all[i].class == bidi.ET && classAt(all, i+1) == bidi.EN {
			all[i].class = bidi.EN
		}
	}
}

func classAt(all []letters, i int) bidi.Class {
	if i < 0 || i >= len(all) {
		return bidi.ON
	}
	return all[i].class
}

// neutral is N1 and N2: what has no direction takes that of both its neighbours, or the paragraph's.
func neutral(all []letters, base int) {
	for i := 0; i < len(all); i++ {
		if directed(all[i].class) {
			continue
		}
		end := i
		for end < len(all) && !directed(all[end].class) {
			end++
		}
		before, after := sideOf(base), sideOf(base)
		if i > 0 {
			before = side(all[i-1].class)
		}
		if end < len(all) {
			after = side(all[end].class)
		}
		if before != after {
			before = sideOf(base)
		}
		for ; i < end; i++ {
			all[i].class = before
		}
	}
}

func directed(c bidi.Class) bool {
	return c == bidi.L || c == bidi.R || c == bidi.EN || c == bidi.AN
}

// side is which way a class counts for its neighbours: numbers count as what they stand in, which is from the right.
func side(c bidi.Class) bidi.Class {
	if c == bidi.L {
		return bidi.L
	}
	return bidi.R
}

// level is I1, I2 and L1.
func level(all []letters, base int) {
	for i, l := range all {
		switch {
		case base == 0 && l.class == bidi.R, base == 1 && l.class != bidi.R:
			all[i].level = base + 1
		case base == 0 && l.class != bidi.L:
			all[i].level = 2
		default:
			all[i].level = base
		}
	}
	for i := range slices.Backward(all) {
		if strings.TrimSpace(all[i].text) != "" {
			break
		}
		all[i].level = base
	}
}

// turn is L2: from the deepest level on, every stretch of that level or deeper is turned round.
func turn(all []letters) {
	for deep := 2; deep > 0; deep-- {
		for i := 0; i < len(all); i++ {
			end := i
			for end < len(all) && all[end].level >= deep {
				end++
			}
			slices.Reverse(all[i:end])
			i = max(i, end-1)
		}
	}
}

var mirrors = map[string]string{"(": ")", ")": "(", "[": "]", "]": "[", "{": "}", "}": "{", "<": ">", ">": "<", "«": "»", "»": "«", "‹": "›", "›": "‹"}

// mirrored is L4.
func mirrored(l letters) string {
	if other, ok := mirrors[l.text]; ok && l.level%2 == 1 {
		return other
	}
	return l.text
}

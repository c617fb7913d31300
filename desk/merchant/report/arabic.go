package report

import (
	"strings"
	"unicode"
)

// Arabic letters have up to four forms, by which of their neighbours they are joined to. PDF has nobody to choose among them, so
// they are chosen here, out of the block that Unicode keeps for programs that cannot.

// forms lists the letters that have forms there, each followed by where its forms begin and how many there are, in Unicode's order:
// alone, joined to the letter before, to the one after, to both. Two forms: it is never joined to the one after; one: to none.
// Beside the Arabic alphabet these are the letters of Persian and Urdu that the fonts have. A letter that is not here is not drawn.
var forms = map[rune]struct {
	first rune
	count int
}{
	'ء': {0xFE80, 1}, 'آ': {0xFE81, 2}, 'أ': {0xFE83, 2}, 'ؤ': {0xFE85, 2}, 'إ': {0xFE87, 2}, 'ئ': {0xFE89, 4}, 'ا': {0xFE8D, 2}, 'ب': {0xFE8F, 4}, 'ة': {0xFE93, 2},
	'ت': {0xFE95, 4}, 'ث': {0xFE99, 4}, 'ج': {0xFE9D, 4}, 'ح': {0xFEA1, 4}, 'خ': {0xFEA5, 4}, 'د': {0xFEA9, 2}, 'ذ': {0xFEAB, 2}, 'ر': {0xFEAD, 2}, 'ز': {0xFEAF, 2},
	'س': {0xFEB1, 4}, 'ش': {0xFEB5, 4}, 'ص': {0xFEB9, 4}, 'ض': {0xFEBD, 4}, 'ط': {0xFEC1, 4}, 'ظ': {0xFEC5, 4}, 'ع': {0xFEC9, 4}, 'غ': {0xFECD, 4}, 'ف': {0xFED1, 4},
	'ق': {0xFED5, 4}, 'ك': {0xFED9, 4}, 'ل': {0xFEDD, 4}, 'م': {0xFEE1, 4}, 'ن': {0xFEE5, 4}, 'ه': {0xFEE9, 4}, 'و': {0xFEED, 2}, 'ى': {0xFEEF, 2}, 'ي': {0xFEF1, 4},
	'پ': {0xFB56, 4}, 'ٹ': {0xFB66, 4}, 'چ': {0xFB7A, 4}, 'ڈ': {0xFB88, 2}, 'ژ': {0xFB8A, 2}, 'ڑ': {0xFB8C, 2}, 'ک': {0xFB8E, 4}, 'گ': {0xFB92, 4}, 'ں': {0xFB9E, 2}, 'ھ': {0xFBAA, 4}, 'ی': {0xFBFC, 4},
}

// lamAlef are the ligatures of lam with an alef, which are not optional; each is followed by its form that is joined to a letter before.
var lamAlef = map[rune]rune{'آ': 0xFEF5, 'أ': 0xFEF7, 'إ': 0xFEF9, 'ا': 0xFEFB}

const (
	lam, shadda, stretch, notJoined = 'ل', '\u0651', '\u0640', '\u200C'
)

// shaped gives every Arabic letter the form that it has between its neighbours. Text without Arabic is as it was, and so is text that
// is shaped already.
func shaped(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return forms[r].count > 0 }) < 0 {
		return text
	}
	in := lowerShadda([]rune(text))
	var out strings.Builder
	for i := 0; i < len(in); i++ {
		f, known := forms[in[i]]
		before, after := joinsOn(in, i, -1), joinsOn(in, i, +1)
		switch ligature := lamAlef[runeAt(in, i+1)]; {
		case !known:
			out.WriteRune(in[i])
		case in[i] == lam && ligature != 0:
			out.WriteRune(ligature + oneIf(before))
			i++
		case f.count == 4 && after:
			out.WriteRune(f.first + 2 + oneIf(before))
		case f.count >= 2:
			out.WriteRune(f.first + oneIf(before))
		default:
			out.WriteRune(f.first)
		}
	}
	return out.String()
}

// joinsOn reports whether the next letter on that side reaches over to this one. Marks stand on letters and are not asked.
func joinsOn(in []rune, i, step int) bool {
	for i += step; i >= 0 && i < len(in) && unicode.Is(unicode.Mn, in[i]); i += step {
	}
	r := runeAt(in, i)
	if r == stretch || r == '\u200D' {
		return true
	}
	if step < 0 {
		return forms[r].count == 4
	}
	return forms[r].count >= 2
}

func runeAt(in []rune, i int) rune {
	if i < 0 || i >= len(in) {
		return 0
	}
	return in[i]
}

func oneIf(yes bool) rune {
	if yes {
		return 1
	}
	return 0
}

// lowerShadda puts the sign of a doubled letter before its vowel: that is how they are stacked, and not how Unicode sorts them.
func lowerShadda(in []rune) []rune {
	for i := 1; i < len(in); i++ {
		if in[i] == shadda && unicode.Is(unicode.Mn, in[i-1]) {
			in[i-1], in[i] = in[i], in[i-1]
		}
	}
	return in
}

// unshaped reports whether a letter is Arabic and came out of shaped as it went in: one that has no forms, or whose forms nobody listed.
func unshaped(r rune) bool {
	return unicode.Is(unicode.Arabic, r) && unicode.Is(unicode.Lo, r) && r < 0xFB50
}

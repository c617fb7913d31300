package verify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastRepeated is how many words in a row are a repetition: fewer stand in two texts by chance.
const leastRepeated = 8

// Repeats returns what finds the words of a clause in other texts: as many in a row as nobody writes by chance, or all of them if the
// clause is shorter, with their glyphs folded (see Fold), in any case and with any signs between them. What it finds is said as it
// stands in the text, in small letters; empty is none. A quote proves something and must be exact; this is for what must not be
// told, and errs on the side of finding.
func Repeats(clause string) (in func(text string) (words string)) {
	said := wordsOf(clause)
	least, enough := min(leastRepeated, len(said)), min(LeastQuoted, letters(strings.Join(said, "")))
	places := map[string][]int{}
	for i := 0; i+least <= len(said); i++ {
		key := strings.Join(said[i:i+least], " ")
		if len(places[key]) < mostTurned { // more has only a text that was made to keep us busy
			places[key] = append(places[key], i)
		}
	}
	return func(text string) string {
		if least == 0 || len(text) < least {
			return ""
		}
		told := wordsOf(text)
		for i := 0; i+least <= len(told); i++ {
			for _, at := range places[strings.Join(told[i:i+least], " ")] {
				if n := inARow(said[at:], told[i:], least, enough); n > 0 {
					return strings.Join(told[i:i+n], " ")
				}
			}
		}
		return ""
	}
}

// inARow is how many words two texts begin with alike, of which the first least are, once they have enough letters; 0 when they have not.
func inARow(said, told []string, least, enough int) int {
	n := least
	for letters(strings.Join(told[:n], "")) < enough {
		if n == min(len(said), len(told)) || said[n] != told[n] {
			return 0
		}
		n++
	}
	return n
}

// wordsOf are the words of a text in small letters, folded. Where a script has no spaces each of its characters is one.
func wordsOf(text string) (words []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	f := Fold(text)
	for i, r := range f.text {
		if slices.ContainsFunc(f.between(i, i+1), dash.parts) {
			end()
		}
		switch {
		case r == '\'': // customer's, or customers
		case unicode.IsMark(r):
			b.WriteRune(r)
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case spaceless(r):
			end()
			b.WriteRune(r)
		default:
			if first, _ := utf8.DecodeRuneInString(b.String()); spaceless(first) {
				end()
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	end()
	return words
}

// parts reports whether a dash stands between two words and not inside one.
func (d dash) parts() bool { return d.apart && !d.broken || d.kind == emDash || d.kind == enDash }

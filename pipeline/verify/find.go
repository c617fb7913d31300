package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostPlaces is how many places a quote is tried at, where its letters stand and something else does not fit. Only a text that
// was made to keep us busy has more.
const mostPlaces = 10_000

// mostTurned is how many of them are read as what their sentence says, which costs more.
const mostTurned = 100

// find returns where the text says the quote, in the bytes of the text as it is; the first place if there are several. A place
// whose sentence says otherwise, by what the quote leaves out, is none; turned reports that there was one.
func (f Folded) find(quote Folded) (start, end int, ok, turned bool) {
	at, read := 0, 0
	for range mostPlaces {
		i := strings.Index(f.text[at:], quote.text)
		if i < 0 || quote.text == "" || read == mostTurned {
			break
		}
		if at += i; f.says(quote, at) {
			start, end = f.original(quote, at)
			if !leavesOut(f.in, start, end) {
				return start, end, true, false
			}
			read++
		}
		at++
	}
	return 0, 0, false, read > 0
}

// says reports whether the quote, whose letters stand at a place, is what stands there: with the same dashes, and cutting no
// word or number in two.
func (f Folded) says(quote Folded, at int) bool {
	end := at + len(quote.text)
	first, last := at+1, end // dashes at the very beginning and end count if the quote has them too
	if len(quote.leads()) > 0 {
		first = at
	}
	if len(quote.trails()) > 0 {
		last = end + 1
	}
	if !sameDashes(f.between(first, last), quote.dashes, at) {
		return false
	}
	before, behind := max(0, at-reach), min(len(f.text), end+reach)
	return !splits(f.spell(before, at, f.between(before, first)), quote.spell(0, min(len(quote.text), reach), quote.between(0, reach))) &&
		!splits(quote.spell(max(0, len(quote.text)-reach), len(quote.text), quote.between(len(quote.text)-reach, len(quote.text)+1)), f.spell(end, behind, f.between(last, behind)))
}

// reach is how far to both sides of a cut we look, in bytes.
const reach = 16

// sameDashes compares the dashes of a text with those of a quote that would stand at a place in it. Where a dash may be the
// line's there may be a hyphen or none.
func sameDashes(text, quote []dash, at int) bool {
	for len(text) > 0 || len(quote) > 0 {
		switch {
		case len(text) > 0 && len(quote) > 0 && text[0].at == quote[0].at+at:
			if !text[0].same(quote[0]) {
				return false
			}
			text, quote = text[1:], quote[1:]
		case len(text) > 0 && text[0].loose && (len(quote) == 0 || text[0].at < quote[0].at+at):
			text = text[1:]
		case len(quote) > 0 && quote[0].loose && (len(text) == 0 || quote[0].at+at < text[0].at):
			quote = quote[1:]
		default:
			return false
		}
	}
	return true
}

func (d dash) same(other dash) bool {
	if d.loose || other.loose {
		return d.kind != emDash && d.kind != enDash && other.kind != emDash && other.kind != enDash
	}
	return d.apart == other.apart || d.broken || other.broken
}

// original is where a quote that stands at a place begins and ends in the text as it is.
func (f Folded) original(quote Folded, at int) (start, end int) {
	start, _ = f.origin(at)
	if len(quote.leads()) > 0 {
		start = f.between(at, at+1)[0].from
	}
	last := at + len(quote.text)
	_, end = f.origin(last - 1)
	if len(quote.trails()) > 0 {
		dashes := f.between(last, last+1)
		end = dashes[len(dashes)-1].to
	}
	return start, end
}

// splits reports whether a cut between two texts goes through a word or a number: "un|likely", "can|'t", "non-|refundable",
// "1|4 days", "1,|000", "2|½", "$|50". Whoever quotes half of one says something else.
func splits(left, right string) bool {
	l0, l1 := lastTwo(left)
	r0, r1 := firstTwo(right)
	switch {
	case unicode.IsMark(r0):
		return true
	case inWord(l0) && inWord(r0):
		return !(spaceless(l0) || spaceless(r0)) || inNumeral(l0) && inNumeral(r0) || strings.ContainsRune(negations, l0)
	case joins(l1, l0, r0), joins(l0, r0, r1):
		return true
	case unicode.IsNumber(r0) && (unicode.In(l0, unicode.Sc, unicode.Sm) && l0 != '|' || strings.ContainsRune("-.", l0) && !unicode.IsLetter(l1)):
		return true
	case unicode.IsNumber(l0) && r0 != '|' && (unicode.In(r0, unicode.Sc, unicode.Sm) || strings.ContainsRune("%‰°", r0)):
		return true
	}
	return unicode.IsDigit(l1) && l0 == ' ' && thousands(right) || unicode.IsDigit(l0) && r0 == ' ' && thousands(right[1:])
}

func lastTwo(s string) (last, before rune) {
	last, size := utf8.DecodeLastRuneInString(s)
	before, _ = utf8.DecodeLastRuneInString(s[:len(s)-size])
	return last, before
}

func firstTwo(s string) (first, second rune) {
	first, size := utf8.DecodeRuneInString(s)
	second, _ = utf8.DecodeRuneInString(s[size:])
	return first, second
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// joins reports whether a sign makes one word or number of what is on both sides of it.
func joins(left, sign, right rune) bool {
	if !inWord(left) || !inWord(right) {
		return false
	}
	return strings.ContainsRune("-'/_@&", sign) || strings.ContainsRune(".,:", sign) && unicode.IsDigit(left) && unicode.IsDigit(right)
}

// thousands reports whether a text begins with exactly three digits, which belong to a number in front: 10 000.
func thousands(s string) bool {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return digits == 3
}

// Scripts without spaces have no words to split, but numbers of several characters, and a "not" that is one of them.
const (
	numerals  = "〇零一二两兩三四五六七八九十百千万萬亿億半"
	negations = "不未无無非没沒勿毋"
)

func inNumeral(r rune) bool { return unicode.IsNumber(r) || strings.ContainsRune(numerals, r) }

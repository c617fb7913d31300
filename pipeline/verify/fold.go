package verify

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded is a text as quotes are looked up in it, and the way back to the text as it is.
//
// What is compared is the text without its hyphens and dashes, which are kept beside it: a hyphen at the end of a line may be
// the word's own or the line's, and nobody can tell. "re-turned" broken behind its hyphen answers to "returned" and to
// "re-turned"; standing in one line it answers to itself alone.
type Folded struct {
	in     string // the text as it is
	text   string
	spans  []span
	dashes []dash
}

// span says where a piece of the folded text came from: byte for byte when size is 0, else as a whole from size bytes.
type span struct{ at, from, size int }

// dash is a hyphen or a dash that stands before text[at:].
type dash struct {
	at       int
	from, to int // in the text as it is
	kind     glyph
	apart    bool // white space is behind it
	broken   bool // which is where a line ends, right behind the dash of a word or a number
	loose    bool // it stands between two letters at the end of a line: it may be the line's
}

// Fold makes glyphs alike that mean the same: white space of any kind and length, quotation marks and apostrophes, hyphens and
// dashes, three dots and the sign for them, ligatures, full-width forms, letters with their accents in one or in two
// characters. What is seen on no page is dropped: soft hyphens, characters without a width, and the asterisks that make a word
// bold in Markdown. Letters and digits stay what they are, and so does their case.
func Fold(text string) Folded {
	f := folding{in: text, out: make([]byte, 0, len(text)+len(text)/16)}
	for at := 0; at < len(text); {
		if n := words(text[at:]); n > 0 {
			f.visible(rune(text[at]))
			f.copy(at, text[at:at+n])
			at += n
			continue
		}
		at = f.piece(at)
	}
	f.settle(0)
	return Folded{text, string(f.out), f.spans, f.dashes}
}

// words is the length of what may be copied as it is at the beginning of s: letters, digits and signs of ASCII that mean
// themselves, with single spaces between them. It stops before the last if an accent may follow.
func words(s string) (n int) {
	for n < len(s) && (simple[s[n]] || s[n] == ' ' && n > 0 && s[n-1] != ' ') {
		n++
	}
	if n < len(s) && s[n] >= utf8.RuneSelf && n > 0 {
		n--
	}
	for n > 0 && s[n-1] == ' ' {
		n--
	}
	return n
}

// simple are the characters of ASCII that mean themselves, whatever stands beside them.
var simple = func() (is [256]bool) {
	for c := '!'; c <= '~'; c++ {
		g, other := look(c)
		is[c] = g == plain && other == "" && c != '.' && c != '*'
	}
	return is
}()

// folding is a Folded that is being made.
type folding struct {
	in     string
	out    []byte
	spans  []span
	dashes []dash

	waiting []dash // met, and nothing visible since
	blank   bool   // white space was met, and nothing visible since
	line    bool   // in which a line ends
	at      int    // where it began
}

// piece takes in what stands at one place of the text and returns where the next piece begins.
func (f *folding) piece(at int) (next int) {
	if s := f.in[at:]; s[0] == '.' || s[0] == '*' {
		return f.signs(at)
	}
	_, size := utf8.DecodeRuneInString(f.in[at:])
	next = at + size
	if next < len(f.in) && f.in[next] >= utf8.RuneSelf {
		next = at + max(size, norm.NFC.NextBoundaryInString(f.in[at:], true)) // with its accents
	}
	if s := f.in[at:next]; !norm.NFC.IsNormalString(s) {
		for _, r := range norm.NFC.String(s) {
			f.character(r, at, next)
		}
		return next
	}
	for at < next {
		r, size := utf8.DecodeRuneInString(f.in[at:])
		f.character(r, at, at+size)
		at += size
	}
	return next
}

// character takes in one character that came from in[from:to].
func (f *folding) character(r rune, from, to int) {
	switch g, other := look(r); {
	case g == blank:
		f.white(r, from)
	case g == nothing || g == shy && !f.endsLine(to):
	case g != plain:
		f.dash(g, from, to)
	case other != "":
		first, _ := utf8.DecodeRuneInString(other)
		f.visible(first)
		f.replace(from, to, other)
	case f.in[from:to] == string(r):
		f.visible(r)
		f.copy(from, f.in[from:to])
	default: // a letter and its accent that are one character now, or a byte that is none
		f.visible(r)
		f.replace(from, to, string(r))
	}
}

func (f *folding) endsLine(at int) bool {
	rest := strings.TrimLeft(f.in[at:], " \t")
	r, _ := utf8.DecodeRuneInString(rest)
	return breaks(r)
}

// signs takes in dots, which in threes are one sign, however far apart, and asterisks, which in twos make a word bold. Between
// two words or numbers of which one has a digit at the seam they stay: x**2 is not x2.
func (f *folding) signs(at int) (next int) {
	s := f.in[at:]
	for _, spaced := range []string{". . .", ".\u00A0.\u00A0."} {
		if strings.HasPrefix(s, spaced) {
			f.visible('.')
			f.replace(at, at+len(spaced), "...")
			return at + len(spaced)
		}
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if bold := s[0] == '*' && n > 1; bold && !f.joinsDigits(s[n:]) {
		return at + n
	}
	f.visible(rune(s[0]))
	f.copy(at, s[:n])
	return at + n
}

// joinsDigits reports whether a digit would join a letter or a digit if what stands between them were dropped.
func (f *folding) joinsDigits(rest string) bool {
	if f.blank || len(f.waiting) > 0 {
		return false
	}
	before, _ := utf8.DecodeLastRune(f.out)
	rest = strings.TrimLeftFunc(rest, func(r rune) bool { g, _ := look(r); return r == '*' || g == nothing || g == shy })
	behind, _ := utf8.DecodeRuneInString(rest)
	return inWord(before) && inWord(behind) && (unicode.IsNumber(before) || unicode.IsNumber(behind))
}

func digitBehind(s string) bool { r, _ := utf8.DecodeRuneInString(s); return unicode.IsDigit(r) }

func (f *folding) white(r rune, at int) {
	if !f.blank && len(f.waiting) == 0 {
		f.at = at
	}
	f.blank, f.line = true, f.line || breaks(r)
}

// dash notes a hyphen or a dash. Two in a row are how people type a long one.
func (f *folding) dash(kind glyph, from, to int) {
	if n := len(f.waiting); n > 0 && !f.blank {
		f.waiting[n-1].to, f.waiting[n-1].kind = to, emDash
		return
	}
	if len(f.waiting) == 0 {
		f.space(0)
	} else {
		f.place(0)
	}
	f.waiting = append(f.waiting, dash{from: from, to: to, kind: kind})
}

// visible makes room for a character that is about to be written.
func (f *folding) visible(next rune) {
	if len(f.waiting) > 0 {
		f.settle(next)
	} else if f.blank {
		f.space(next)
	}
}

// space writes the white space that was met, unless it is at the beginning, or the end of a line in a script that has no
// spaces.
func (f *folding) space(next rune) {
	last, _ := utf8.DecodeLastRune(f.out)
	seamless := (spaceless(last) || spaceless(next)) && (spaceless(last) || !inWord(last)) && (spaceless(next) || !inWord(next))
	if f.blank && len(f.out) > 0 && !(f.line && seamless) {
		f.copy(f.at, " ")
	}
	f.blank, f.line = false, false
}

// place says of the last dash that waits how it stands to what follows it.
func (f *folding) place(next rune) {
	d := &f.waiting[len(f.waiting)-1]
	last, _ := utf8.DecodeLastRune(f.out)
	d.at, d.apart, d.broken = len(f.out), f.blank, f.line && len(f.out) > 0 && last != ' '
	ends := f.line || d.kind == endOfLine
	d.loose = ends && len(f.waiting) == 1 && d.kind != enDash && d.kind != emDash && unicode.IsLetter(last) && unicode.IsLetter(next)
	f.blank, f.line = false, false
}

// settle is for the dashes that wait when something visible, or the end of the text, comes.
func (f *folding) settle(next rune) {
	if len(f.waiting) == 0 {
		return
	}
	f.place(next)
	f.dashes = append(f.dashes, f.waiting...)
	f.waiting = f.waiting[:0]
}

// copy writes s, which stands in the text from there on.
func (f *folding) copy(from int, s string) {
	if n := len(f.spans); n == 0 || f.spans[n-1].size > 0 || f.spans[n-1].from+len(f.out)-f.spans[n-1].at != from {
		f.spans = append(f.spans, span{at: len(f.out), from: from})
	}
	f.out = append(f.out, s...)
}

// replace writes s for in[from:to].
func (f *folding) replace(from, to int, s string) {
	f.spans = append(f.spans, span{at: len(f.out), from: from, size: to - from})
	f.out = append(f.out, s...)
}

// origin is where the folded byte at i begins in the text, and where it ends.
func (f Folded) origin(i int) (from, to int) {
	n := sort.Search(len(f.spans), func(n int) bool { return f.spans[n].at > i })
	s := f.spans[n-1]
	if s.size > 0 {
		return s.from, s.from + s.size
	}
	return s.from + i - s.at, s.from + i - s.at + 1
}

// between returns the dashes that stand at from or later and before to.
func (f Folded) between(from, to int) []dash {
	first := sort.Search(len(f.dashes), func(i int) bool { return f.dashes[i].at >= from })
	n := sort.Search(len(f.dashes)-first, func(i int) bool { return f.dashes[first+i].at >= to })
	return f.dashes[first : first+n]
}

// spell is text[from:to] with dashes where they belong.
func (f Folded) spell(from, to int, dashes []dash) string {
	var b strings.Builder
	for _, d := range dashes {
		b.WriteString(f.text[from:max(from, d.at)])
		b.WriteString(d.String())
		from = max(from, d.at)
	}
	b.WriteString(f.text[from:max(from, to)])
	return b.String()
}

// String is a dash as one sign, with a space behind it if there is one that a line's end does not explain.
func (d dash) String() string {
	sign := "-"
	if d.kind == emDash {
		sign = "—"
	}
	if d.apart && !d.broken {
		sign += " "
	}
	return sign
}

// leads and trails are the dashes at the beginning of a quote and at its end. They are part of it.
func (f Folded) leads() []dash  { return f.between(0, 1) }
func (f Folded) trails() []dash { return f.between(len(f.text), len(f.text)+1) }

// withoutBullet is a quote without the dash that made it an item of a list; a dash before a number may be a minus, and stays.
func (f Folded) withoutBullet() Folded {
	for len(f.dashes) > 0 && f.dashes[0].at == 0 && f.dashes[0].apart && !digitBehind(f.text) {
		f.dashes = f.dashes[1:]
	}
	return f
}

// withoutMarks is a quote without the quotation marks around it.
func (f Folded) withoutMarks() Folded {
	last := len(f.text) - 1
	if last < 2 || f.text[0] != f.text[last] || f.text[0] != '"' && f.text[0] != '\'' {
		return f
	}
	dashes := slices.Clone(f.between(1, last+1))
	for i := range dashes {
		dashes[i].at--
	}
	return Folded{text: f.text[1:last], dashes: dashes}
}

package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ink is a colour; each stays apart from the others in greyscale too, and none is the only bearer of a meaning.
type ink struct{ r, g, b int }

var (
	black  = ink{24, 28, 33}
	grey   = ink{94, 102, 112}
	line   = ink{208, 213, 219}
	shade  = ink{245, 246, 248}
	accent = ink{28, 58, 96}
	green  = ink{20, 98, 58}
	red    = ink{158, 34, 28}
	amber  = ink{132, 88, 8}
)

// style is how a text is set. Sizes are in points.
type style struct {
	face *face
	size float64
	ink  ink
	lead float64 // from one baseline to the next
}

// in is the style in another colour.
func (s style) in(i ink) style { s.ink = i; return s }

// width is how far a text of one line reaches.
func (s style) width(text string) (points float64) {
	for _, r := range text {
		points += s.advance(r)
	}
	return points
}

// advance is how far a rune moves what comes after it: marks move nothing. What the style's own font does not have is set in the
// regular one, as set does.
func (s style) advance(r rune) float64 {
	if unicode.Is(unicode.Mn, r) || r == fromRight {
		return 0
	}
	return float64(s.faceOf(r).glyphs[r&0xFFFF].width) * s.size / 1000
}

func (s style) faceOf(r rune) *face {
	if s.face.has(r) && !(s.face == faces().mono && turns(r)) { // in a fixed pitch joined letters do not join
		return s.face
	}
	return faces().sans
}

// stroke is a piece of text that is drawn as it is, at x and y from where its line begins; y upwards.
type stroke struct {
	x, y float64
	face *face
	text string
}

// set turns one line into strokes: as few as possible, one more for each change of font, and one for each mark, put where its
// letter needs it; in the order in which they stand and not in which they are read. Fonts place marks for a lower-case letter without a stem, and PDF has nobody to move them.
func (s style) set(text string) (strokes []stroke) {
	x, height, depth := 0.0, 0, 0
	var base glyph
	var from float64
	for _, r := range visual(text) {
		f := s.faceOf(r)
		g := f.glyphs[r&0xFFFF]
		if unicode.Is(unicode.Mn, r) && x > 0 {
			dx := from + float64(base.left+base.right-g.left-g.right)/2*s.size/1000
			dy := 0
			switch norm.NFC.PropertiesString(string(r)).CCC() {
			case 230, 27, 28, 30, 31, 33, 34, 35: // of the last, Arabic vowels
				dy = max(0, height+markGap-g.low)
				height = g.up + dy
			case 220, 29, 32:
				dy = min(0, depth-markGap-g.up)
				depth = g.low + dy
			}
			strokes = append(strokes, stroke{dx, float64(dy) * s.size / 1000, f, string(r)})
			continue
		}
		if n := len(strokes); n > 0 && strokes[n-1].face == f && !markOnly(strokes[n-1].text) {
			strokes[n-1].text += string(r)
		} else {
			strokes = append(strokes, stroke{x, 0, f, string(r)})
		}
		base, height, depth, from = g, g.up, g.low, x
		x += s.advance(r)
	}
	return strokes
}

// markGap is the least space between a letter and its mark, and between two marks, in thousandths of the size.
const markGap = 60

func markOnly(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.Is(unicode.Mn, r) }) < 0
}

// lines breaks a text so that no line is wider than that: at spaces, else after punctuation inside long words, else anywhere
// between letters. Line breaks of the text stay.
func (s style) lines(text string, wide float64) (all []string) {
	for paragraph := range strings.SplitSeq(drawn(text), "\n") {
		broken := s.broken(strings.TrimRight(paragraph, " "), wide)
		if readsFromRight(paragraph) {
			for i, l := range broken {
				broken[i] = string(fromRight) + l
			}
		}
		all = append(all, broken...)
	}
	return all
}

// atMost are the lines of a text that are no higher than that. What is longer is cut, and ends so that a reader sees it.
func (s style) atMost(height float64, text string, wide float64) []string {
	all := s.lines(text, wide)
	if n := int(height / s.lead); len(all) > n {
		all = append(all[:n-1:n-1], "…")
	}
	return all
}

func (s style) broken(text string, wide float64) (all []string) {
	for s.width(text) > wide {
		n := s.fits(text, wide)
		all = append(all, strings.TrimRight(text[:n], " "))
		text = strings.TrimLeft(text[n:], " ")
	}
	return append(all, text)
}

// clipped is the text on one line, cut where it would be wider: for what is said in full elsewhere.
func (s style) clipped(text string, wide float64) string {
	text = strings.ReplaceAll(drawn(text), "\n", " ")
	if s.width(text) <= wide {
		return text
	}
	return text[:s.fits(text, wide-s.width("…"))] + "…"
}

// fits is how many bytes go on a line: at least one letter, whatever the width.
func (s style) fits(text string, wide float64) int {
	var at, space, inside, letter int
	for i, r := range text {
		if r == ' ' {
			space = i // at the end of a line it takes no room
			wide -= s.advance(r)
			continue
		}
		if !unicode.Is(unicode.Mn, r) && i > 0 {
			letter = i // a mark stays with its letter
		}
		if wide -= s.advance(r); wide < 0 && letter > 0 {
			break
		}
		at = i + len(string(r))
		switch r {
		case '-', '/', ',', ';', '@', '_', '.', '?', '&', '=', '–', '—':
			inside = at
		}
	}
	switch {
	case space > 0:
		return space
	case inside > 0 && inside < len(text):
		return inside
	case letter > 0:
		return min(at, letter)
	}
	return len(text)
}

package report

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"countersign"
)

// visible makes what would steer a text instead of being read in it into something that can be read: a stray control character
// or a character that turns the direction of what follows would let the same report look different from what it says.
func visible(s string) string {
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x061C || r >= 0x200E && r <= 0x200F || r >= 0x202A && r <= 0x202E ||
		r >= 0x2066 && r <= 0x2069
}

// drawn is the text as the PDF draws it: composed as far as Unicode composes, Arabic letters in the form that they have there, without
// what is never seen, every kind of blank a space. Only the picture changes; the content inside keeps every character.
func drawn(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r), r == '\u2007', r == '\u2060':
			return ' '
		case r == '\u00AD', r >= '\u200B' && r <= '\u200D', r == '\uFEFF', r >= '\uFE00' && r <= '\uFE0F':
			return -1
		}
		return r
	}, shaped(norm.NFC.String(visible(s))))
}

// setScripts are those that come out right here: glyphs side by side, marks above and below them, joined (shaped) and turned round
// (visual) where they must be. Others need more, and half a rendering of somebody's name is worse than none.
var setScripts = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Arabic, unicode.Hebrew,
	unicode.Common, unicode.Inherited}

// drawable finds the first rune that the PDF could not draw.
func drawable(text string) (bad rune, why string) {
	fonts := faces()
	for _, r := range drawn(text) {
		switch {
		case r == '\n':
		case !unicode.In(r, setScripts...), unshaped(r), unicode.Is(unicode.Hebrew, r) && unicode.Is(unicode.Mn, r):
			return r, "this script"
		case !fonts.sans.has(r) || !fonts.bold.has(r):
			return r, "this character"
		}
	}
	return 0, ""
}

// Drawable reports whether the PDF can draw every text of the content; the error names the first rune that it cannot, and the
// field that it is in. Ask it before a person approves: afterwards there is only HTML.
func (c Content) Drawable() (err error) {
	c.texts(func(path, text string) {
		if err != nil {
			return
		}
		if bad, why := drawable(text); why != "" {
			err = countersign.Errorf(countersign.Unprocessed, "the PDF cannot draw %q (U+%04X): it does not know %s", bad, bad, why).
				In(path).Try("export the report as HTML, which carries every text")
		}
	})
	return err
}

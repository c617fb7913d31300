package web

import (
	"fmt"
	"strings"
	"unicode"
)

// words are what somebody wrote who is not the desk and not the model. A page shows them as that person's words, as text.
type words struct{ Text, By string }

func writtenBy(who, text string) words { return words{legible(text), who} }

// Long reports whether a page may have to scroll within the words, which must then be possible without a mouse.
func (w words) Long() bool { return len(w.Text) > 400 || strings.Count(w.Text, "\n") > 8 }

// legible is other people's text with what cannot be seen made visible: characters that take no room, that turn the direction
// of a line around, or that no keyboard types. They are how one text is made to look like another. Line breaks stay.
func legible(text string) string {
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unseen(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	switch {
	case r == '\n', r == '\r', r == '\t':
		return false
	case r == '\u200d', r == '\ufe0f': // they hold emoji together
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029' || r == '\u3164'
}

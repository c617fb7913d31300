package verify

import "unicode"

// glyph is what one character means to a comparison.
type glyph int

const (
	plain     glyph = iota // itself, or the text that stands for it
	blank                  // a space or the end of a line
	nothing                // not seen on any page
	hyphen                 // may stand at the end of a line and mean nothing
	shy                    // a soft hyphen: seen at the end of a line only
	endOfLine              // what PDF readers put for a hyphen at the end of a line, which is then gone
	enDash
	emDash
)

// alike lists the characters that may stand for each other, with the text that stands for all of them. No letter and no digit
// is among them but those whose shape alone differs: ligatures and full-width forms. A superscript 2, a fraction and a circled
// digit are other characters, and so are the letters of other scripts that look like Latin ones.
var alike = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", '´': "'", '`': "'", '‹': "'", '›': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`, '«': `"`, '»': `"`,
	'…': "...",
	'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
	'￠': "¢", '￡': "£", '￢': "¬", '￣': "¯", '￤': "¦", '￥': "¥", '￦': "₩",
}

// marks are the characters that are no letters.
var marks = map[rune]glyph{
	'-': hyphen, '‐': hyphen, '‑': hyphen, '﹣': hyphen, '⁃': hyphen, '\u00AD': shy, '\u0002': endOfLine, '\uFFFE': endOfLine,
	'‒': enDash, '–': enDash, '−': enDash, '﹘': emDash, '—': emDash, '―': emDash, '⸺': emDash, '⸻': emDash,
	// Characters without a width. Those that turn the direction of what follows are not among them: text in them reads
	// otherwise than it is written.
	'\u200B': nothing, '\u200C': nothing, '\u200D': nothing, '\u2060': nothing, '\uFEFF': nothing, '\u200E': nothing,
	'\u200F': nothing, '\u061C': nothing, '\uFE0E': nothing, '\uFE0F': nothing,
}

// look says what a character means, and the text that stands for it if that is not itself.
func look(r rune) (glyph, string) {
	if r >= '！' && r <= '～' {
		r -= '！' - '!'
		if _, same := marks[r]; !same && alike[r] == "" {
			return plain, string(r)
		}
	}
	if g, ok := marks[r]; ok {
		return g, ""
	}
	if unicode.IsSpace(r) {
		return blank, ""
	}
	return plain, alike[r]
}

// breaks reports whether a blank ends a line.
func breaks(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// spaceless reports whether a character belongs to a script that sets no spaces between words.
func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

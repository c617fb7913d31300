package library

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"
)

// decode makes text of bytes: UTF-8, or what the mark at their beginning says, or UTF-16 as it looks without one, or else
// Windows-1252, which is a guess, and is said.
func decode(name string, file []byte) (text, guess string, err error) {
	from := encodingOf(file)
	if from != nil {
		if file, err = from.NewDecoder().Bytes(file); err != nil {
			return "", "", refused("%s is not text that can be read", name).Try("save it as UTF-8")
		}
		if from == charmap.Windows1252 {
			guess = "The file does not say how its letters are written; they were read as Windows-1252. Look at them before you confirm."
		}
	}
	text = strings.TrimPrefix(string(file), "\uFEFF")
	if strings.ContainsRune(text, 0) {
		return "", "", refused("%s holds bytes that no text has", name).Try("expected Markdown, text, HTML, DOCX or PDF")
	}
	return newlines.Replace(text), guess, nil
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func encodingOf(file []byte) encoding.Encoding {
	switch little, big := zeros(file); {
	case bytes.HasPrefix(file, []byte("\xFF\xFE")), little:
		return utf.UTF16(utf.LittleEndian, utf.UseBOM)
	case bytes.HasPrefix(file, []byte("\xFE\xFF")), big:
		return utf.UTF16(utf.BigEndian, utf.UseBOM)
	case utf8.Valid(file):
		return nil
	}
	return charmap.Windows1252
}

// zeros looks at the first bytes of a file for how UTF-16 looks in most scripts that policies are written in: every other byte is
// zero.
func zeros(file []byte) (little, big bool) {
	file = file[:min(len(file), 400)&^1]
	var at [2]int
	for i, b := range file {
		if b == 0 {
			at[i%2]++
		}
	}
	enough := len(file) / 4
	return enough > 0 && at[1] > enough && at[0] == 0, enough > 0 && at[0] > enough && at[1] == 0
}

// odd counts the characters that no reader could make sense of: signs for a letter that was not understood, letters that only
// one font knows, control characters. A page with many of them was read wrongly.
func odd(text string) (n int) {
	for _, r := range text {
		if r == unicode.ReplacementChar || unicode.In(r, unicode.Co, unicode.Cn) || unicode.IsControl(r) && !strings.ContainsRune("\n\t\f", r) {
			n++
		}
	}
	return n
}

// invisible drops what is seen on no page. A soft hyphen at the end of a line is seen.
var invisible = strings.NewReplacer("\u00AD\n", "-\n", "\u00AD", "", "\u200B", "", "\u2060", "", "\uFEFF", "")

// tidy drops what nobody sees, takes the spaces from the ends of lines, and makes of many empty lines one.
func tidy(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.Lines(invisible.Replace(text)) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat("\n", min(empty, 1)+1))
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}

package fence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters of one text a model is shown.
const longest = 600

// Clean makes somebody else's text harmless and keeps it readable: one line of at most 600 characters, without invisible
// signs, with tags, chat-template tokens, role labels and names of steps broken. What is cut is counted at the end.
// Cleaning twice is cleaning once.
func Clean(s string) string {
	head, rest := foresee(s)
	return cut(defuse(head), rest)
}

// foresee cuts what cannot be shown anyhow before any work is done on it, and says how many characters that was. Cleaning
// shortens some texts, so it leaves a few times more than is shown.
func foresee(s string) (head string, rest int) {
	if len(s) <= 4*longest {
		return s, 0
	}
	n := 4 * longest
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], utf8.RuneCountInString(s[n:])
}

// cut keeps the result within longest, its own remark included, so that cutting again cuts nothing.
func cut(s string, rest int) string {
	n := utf8.RuneCountInString(s)
	if n <= longest && rest == 0 {
		return s
	}
	const remark = 40
	if n > longest-remark {
		rest += n - (longest - remark)
		s = limit(s, longest-remark)
	}
	return fmt.Sprintf("%s… (%d more characters)", strings.TrimRight(s, " "), rest)
}

// limit returns the first n characters of s.
func limit(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// defuse is Clean without the cutting.
func defuse(s string) string {
	if ordinary(s) {
		return s
	}
	return strings.TrimSpace(breakLabels([]rune(breakTokens(visible(s, true)))))
}

// neutral cleans a text of our own making, such as an id or a status, that may still carry something foreign: tokens and
// invisible signs go, words and step names stay.
func neutral(s string) string {
	if ordinary(s) {
		return s
	}
	return breakTokens(visible(s, false))
}

// ordinary reports whether nothing in s needs a closer look: most names, ids and times.
func ordinary(s string) bool {
	if len(s) > longest {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= utf8.RuneSelf || b < ' ' || b == 0x7f || strings.IndexByte("<>[]#`:", b) >= 0:
			return timeOfDay(s, i)
		case b == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' '):
			return false
		case (b == 'S' || b == 's') && i+1 < len(s) && (s[i+1] == ' ' || '0' <= s[i+1] && s[i+1] <= '9'):
			return false
		}
	}
	return true
}

// timeOfDay lets the commonest colons pass: those of a time in our own format, 2026-11-28T09:14:00Z.
func timeOfDay(s string, i int) bool {
	return i == 13 && s[10] == 'T' && len(s) <= len("2026-11-28T09:14:00.000000+01:00") && strings.Trim(s, "0123456789-+:.TZ") == ""
}

// visible returns the signs of s that a reader would see, all white space as blanks. With squeeze, runs of blanks are one.
func visible(s string, squeeze bool) []rune {
	out := make([]rune, 0, len(s))
	marks := 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Z):
			if r = ' '; squeeze && len(out) > 0 && out[len(out)-1] == ' ' {
				continue
			}
		case invisible(r):
			continue
		case unicode.Is(unicode.M, r):
			if marks++; marks > 4 { // no language stacks more on one letter
				continue
			}
			out = append(out, r)
			continue
		}
		marks = 0
		out = append(out, r)
	}
	return out
}

// invisible signs say nothing to a person and can say a lot to a model, or turn the reading order round.
func invisible(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
		return true
	default:
		return r == '\u2800' || r == '\u17b4' || r == '\u17b5' // a blank Braille cell, two Khmer vowels without a form
	}
}

// breakLabels changes names of steps to S-3 and takes the colon from role labels. It comes after breakTokens, because a
// label may stand in brackets.
func breakLabels(in []rune) string {
	var out strings.Builder
	for i := 0; i < len(in); i++ {
		if wordStart(in, i) {
			if n := stepName(in[i:]); n == 1 || n == 2 && !apostrophe(in, i) {
				out.WriteRune(in[i])
				out.WriteByte('-')
				i += n - 1
				continue
			}
			if label, n := roleLabel(in[i:]); n > 0 {
				out.WriteString(label + " -")
				i += n - 1
				continue
			}
		}
		out.WriteRune(in[i])
	}
	return out.String()
}

// apostrophe lets "ADA'S 3 BAGS" be.
func apostrophe(in []rune, i int) bool { return i > 0 && (in[i-1] == '\'' || in[i-1] == '’') }

func wordStart(in []rune, i int) bool {
	return i == 0 || !unicode.In(in[i-1], unicode.L, unicode.N, unicode.M)
}

// stepName reports how much before the number of something like S3 there is: "S", or "S " in capitals; 0 for anything else.
func stepName(in []rune) int {
	if likeS(in[0]) && len(in) > 1 && unicode.IsNumber(in[1]) {
		return 1
	}
	if likeS(in[0]) && in[0] != 's' && len(in) > 2 && in[1] == ' ' && unicode.IsNumber(in[2]) {
		return 2
	}
	return 0
}

func likeS(r rune) bool {
	f := foldLetter(r)
	return f == 's' || strings.ContainsRune("ЅѕꓢՏⓈⓢ🅂ſꜱ", r)
}

// foldLetter is the small ASCII letter that a full-width or mathematical letter looks like, other signs as they are.
func foldLetter(r rune) rune {
	switch {
	case '！' <= r && r <= '～':
		r += '!' - '！'
	case 0x1D400 <= r && r <= 0x1D6A3: // thirteen alphabets of 52 letters, capitals first
		r = (r - 0x1D400) % 52
		return 'a' + r%26
	}
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// roleLabel reads a word such as Assistant or Human that a colon follows: how chat transcripts are written. It returns what
// stands before the colon and the length up to and with it.
func roleLabel(in []rune) (label string, n int) {
	var word strings.Builder
	for n < len(in) && n < 16 && (unicode.IsLetter(in[n]) || in[n] == '_') {
		word.WriteRune(foldLetter(in[n]))
		n++
	}
	if !roles[word.String()] {
		return "", 0
	}
	for n < len(in) && n < 24 && strings.ContainsRune(" *_\"')|", in[n]) {
		n++
	}
	if n == len(in) || !strings.ContainsRune(":：︓﹕꞉ː∶", in[n]) {
		return "", 0
	}
	return strings.TrimRight(string(in[:n]), " "), n + 1
}

// roles are the words that chat formats put before a colon, and the name of the line that the first message must end with.
var roles = map[string]bool{
	"system": true, "user": true, "human": true, "assistant": true, "ai": true, "model": true, "tool": true, "function": true,
	"developer": true, "instruction": true, "instructions": true, "response": true, "observation": true, "ipython": true,
	"bot": true, "chatgpt": true, "gpt": true, "claude": true, "system_message": true, "canary": true,
}

// breakTokens changes every sign that could be part of a tag, a control token, a heading or a code block.
func breakTokens(in []rune) string {
	var out strings.Builder
	for i, r := range in {
		switch {
		case strings.ContainsRune(lessThan, r):
			out.WriteString("&lt;")
		case strings.ContainsRune(greaterThan, r):
			out.WriteString("&gt;")
		case strings.ContainsRune("[［【〔﹝⁅", r) && opensWord(in[i+1:]):
			out.WriteByte('(')
		case strings.ContainsRune("]］】〕﹞⁆", r) && closesWord(in[:i]):
			out.WriteByte(')')
		case r == '`':
			out.WriteByte('\'')
		case strings.ContainsRune(hashes, r) && i+1 < len(in) && strings.ContainsRune(hashes, in[i+1]):
			out.WriteString(string(r) + " ")
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

const hashes = "#＃﹟"

// Signs that can pass for the brackets of a tag.
const (
	lessThan    = "<＜﹤‹〈〈⟨˂ᐸ❮❬❰⧼⟪"
	greaterThan = ">＞﹥›〉〉⟩˃ᐳ❯❭❱⧽⟫"
)

// opensWord reports whether a word follows, as in [INST], [/INST], [ SYS ] or [|user|]. A bracketed number is left alone.
func opensWord(after []rune) bool {
	for _, r := range after[:min(4, len(after))] {
		if unicode.IsLetter(r) {
			return true
		}
		if !strings.ContainsRune(" /\\|｜", r) {
			return false
		}
	}
	return false
}

func closesWord(before []rune) bool {
	for i := len(before) - 1; i >= max(0, len(before)-3); i-- {
		if unicode.IsLetter(before[i]) {
			return true
		}
		if !strings.ContainsRune(" |｜", before[i]) {
			return false
		}
	}
	return false
}

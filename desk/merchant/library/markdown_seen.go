package library

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// seen takes from a text what its reader does not see as a part of it: what is struck out between tildes, and in Markdown comments
// and elements of HTML that are struck out or hidden, however many lines they go over. Code stays as it is written. What looks like
// half of a strike is said: somebody may have meant more than any program strikes out.
func seen(text string, markdown bool) (kept string, left omissions, look []string) {
	r := reading{in: text, markdown: markdown}
	for r.at < len(r.in) {
		r.next()
	}
	if r.halves > 0 {
		look = append(look, "“~~” stands in the text without another that ends what it strikes out. Whether the text beside it counts must be seen in the document.")
	}
	if r.unended {
		look = append(look, "“<!--” begins a comment that nothing ends. A reader may not see what stands behind it, which must be seen in the document.")
	}
	if r.styled {
		look = append(look, "The file has a style sheet, which was not read. What it hides or strikes out must be seen in the document.")
	}
	return r.kept.String(), r.left, look
}

// reading is a text that is being read from its beginning to its end.
type reading struct {
	in       string
	at       int
	markdown bool
	kept     strings.Builder
	left     omissions
	halves   int  // double tildes that strike nothing out
	unended  bool // a comment was met that stays open
	styled   bool // a style sheet was met

	// What was looked for once is not looked for again: a hostile file would have us read it as often as it has letters.
	paragraph int    // where the paragraph ends that we are in
	unstruck  [3]int // up to where no strike of so many tildes ends
	uncovered bool   // no comment ends any more
}

// next reads one piece: all of a block of code, a link's definition, or a mark with what it is about, else one character.
func (r *reading) next() {
	if r.markdown && r.line() {
		return
	}
	rest := r.in[r.at:]
	if r.at >= r.paragraph {
		r.paragraph = r.at + max(1, paragraphEnd(rest))
	}
	switch {
	case rest[0] == '~':
		r.tildes(len(rest) - len(strings.TrimLeft(rest, "~")))
	case !r.markdown:
		r.keep(1)
	case rest[0] == '\\':
		r.keep(min(2, len(rest)))
	case rest[0] == '`':
		r.keep(codeEnd(r.in[r.at:r.paragraph]))
	case rest[0] == '<':
		r.keep(r.markup(rest))
	default:
		r.keep(1)
	}
}

func (r *reading) keep(n int) {
	r.kept.WriteString(r.in[r.at : r.at+n])
	r.at += n
}

// leave leaves out the next bytes, of which those from a place to another are words.
func (r *reading) leave(why string, n, from, to int) {
	r.left.add(why, r.in[r.at+from:r.at+to], r.kept.String())
	r.at += n
}

// line reads what takes whole lines, where one begins.
func (r *reading) line() bool {
	if r.at > 0 && r.in[r.at-1] != '\n' {
		return false
	}
	rest := r.in[r.at:]
	if n := fenceEnd(rest); n > 0 {
		r.keep(n)
		return true
	}
	if m := aside.FindStringSubmatchIndex(rest); m != nil {
		r.remarked(rest, m)
		return true
	}
	if r.opens() {
		if m := definition.FindStringSubmatchIndex(rest); m != nil {
			r.defined(rest, m)
			return true
		}
	}
	return false
}

// opens reports whether nothing of a paragraph stands before, so that a link may be defined here.
func (r *reading) opens() bool {
	kept := strings.TrimRight(r.kept.String(), " \t")
	return kept == "" || strings.HasSuffix(kept, "\n\n") || r.left != nil && r.left[len(r.left)-1].at == r.kept.Len()
}

// definition is a line that says where links lead, and shows nothing. People write comments as such, [//]: # (not for customers), and
// mean one in a list, in a quotation and in the middle of a paragraph too, where some readers of Markdown would show it.
var (
	aside      = regexp.MustCompile(`^((?:[ \t]*(?:[-*+>]|\d{1,9}[.)])[ \t]*)*[ \t]*)\[(?://|comment|_|#)\]:[ \t]*(?:#|<>|\S+)[ \t]*("[^"\n]*"|'[^'\n]*'|\([^()\n]*\)|)[ \t]*(?:\n|$)`)
	definition = regexp.MustCompile(`^ {0,3}\[[^\]\[^\n][^\]\[\n]*\]:[ \t]*(\S+)([ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|$)`)
	address    = regexp.MustCompile(`[/#.:@]`)
)

// remarked leaves a comment out, with its line unless that begins an item or goes on with a quotation.
func (r *reading) remarked(rest string, m []int) {
	from, end := m[3], m[1]
	if strings.TrimSpace(rest[:from]) == "" {
		from = 0
	} else {
		end = len(strings.TrimRight(rest[:end], "\n"))
	}
	r.keep(from)
	r.leave(commented, end-from, m[4]-from, m[5]-from)
}

func (r *reading) defined(rest string, m []int) {
	switch target := rest[m[2]:m[3]]; {
	case m[4] >= 0:
		r.leave(commented, m[1], m[4], m[5])
	case address.MatchString(target):
		r.at += m[1]
	default:
		r.leave(commented, m[1], m[2], m[3])
	}
}

// fenceEnd is where a block of code ends that begins here, 0 when none does; one that nobody ends goes on to the end.
func fenceEnd(text string) int {
	isFence := func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
	}
	first := lineEnd(text)
	if !isFence(text[:first]) {
		return 0
	}
	for at := first; at < len(text); {
		end := at + lineEnd(text[at:])
		if isFence(text[at:end]) {
			return end
		}
		at = end
	}
	return len(text)
}

// mostMarks is more than anybody puts around code.
const mostMarks = 40

// codeEnd is where code ends that begins here in a paragraph, or the marks when they begin none.
func codeEnd(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "`"))
	for at := n; at < len(text) && n <= mostMarks; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			break
		}
		at += i
		marks := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if at += marks; marks == n {
			return at
		}
	}
	return n
}

var emptyLine = regexp.MustCompile(`\n[ \t]*(?:\n|$)`)

func paragraphEnd(text string) int {
	if at := emptyLine.FindStringIndex(text); at != nil {
		return at[0]
	}
	return len(text)
}

// tildes reads so many of them. Two strike out what is between them and two others in the paragraph; in Markdown one does too. Between
// spaces they are signs like any other.
func (r *reading) tildes(n int) {
	if n > 2 || n == 1 && !r.markdown {
		r.keep(n)
		return
	}
	if opensStrike(r.in, r.at, r.at+n) && r.at >= r.unstruck[n] {
		if end := strikeEnd(r.in[r.at:max(r.paragraph, r.at+n)], n, r.markdown); end > 0 {
			r.leave(struckOut, end, n, end-n)
			return
		}
		r.unstruck[n] = r.paragraph
	}
	if n == 2 {
		r.halves++
	}
	r.keep(n)
}

// strikeEnd is where what is struck out from here on ends, 0 when nothing ends it.
func strikeEnd(text string, n int, markdown bool) int {
	for at := n; at < len(text); {
		switch marks := len(text[at:]) - len(strings.TrimLeft(text[at:], "~")); {
		case marks == n && closesStrike(text, at, at+marks):
			return at + marks
		case marks > 0:
			at += marks
		case markdown && text[at] == '\\':
			at += 2
		case markdown && text[at] == '`':
			at += codeEnd(text[at:])
		default:
			at++
		}
	}
	return 0
}

// opensStrike and closesStrike are the rules by which Markdown tells a mark before a word from one behind a word.
func opensStrike(text string, from, to int) bool {
	before, after := around(text, from, to)
	return !unicode.IsSpace(after) && (!isSign(after) || unicode.IsSpace(before) || isSign(before))
}

func closesStrike(text string, from, to int) bool {
	before, after := around(text, from, to)
	return !unicode.IsSpace(before) && (!isSign(before) || unicode.IsSpace(after) || isSign(after))
}

// around are the characters beside a mark; the ends of a text are spaces.
func around(text string, from, to int) (before, after rune) {
	before, after = ' ', ' '
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(text[:from])
	}
	if to < len(text) {
		after, _ = utf8.DecodeRuneInString(text[to:])
	}
	return before, after
}

func isSign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// markup reads a comment or an element that no reader sees, and says how much of what follows is to be kept.
func (r *reading) markup(rest string) (keep int) {
	if inner, ok := strings.CutPrefix(rest, "<!--"); ok {
		return r.comment(rest, inner)
	}
	m := anyTag.FindString(rest)
	if m == "" || m[1] == '/' {
		return 1
	}
	element := elementOf(m)
	why, hidden := page{}.unread(element)
	if !hidden || slices.Contains(voids, element.DataAtom) {
		return len(m)
	}
	from, to, end := len(m), len(rest), len(rest)
	if at := elementEnd(rest[from:], element.Data); at != nil {
		to, end = from+at[0], from+at[1]
	}
	r.styled = r.styled || element.DataAtom == atom.Style
	if why == "" {
		to = from
	}
	r.leave(why, end, from, to)
	return 0
}

// comment leaves one out. One that nobody ends hides all that follows if it begins a line, and is a sign like any other if not.
func (r *reading) comment(rest, inner string) (keep int) {
	const begins, ends = "<!--", "-->"
	if !r.uncovered {
		if end := strings.Index(inner, ends); end >= 0 {
			r.leave(commented, len(begins)+end+len(ends), len(begins), len(begins)+end)
			return 0
		}
		r.uncovered = true
	}
	if before := strings.TrimRight(r.in[max(0, r.at-4):r.at], " "); before != "" && !strings.HasSuffix(before, "\n") {
		r.unended = true
		return 1
	}
	r.leave(commented, len(rest), len(begins), len(rest))
	return 0
}

// voids are elements that hold nothing.
var voids = []atom.Atom{atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr}

// elementOf is the element that a tag begins.
func elementOf(tag string) *html.Node {
	z := html.NewTokenizer(strings.NewReader(tag))
	z.Next()
	t := z.Token()
	return &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
}

// elementEnd is where the tag stands that ends an element of that name, behind those that end others of its name within; nil when
// there is none.
func elementEnd(text, name string) []int {
	depth := 1
	for at := strings.IndexByte(text, '<'); at >= 0 && at < len(text); at += 1 + len(untilTag(text[at+1:])) {
		m := anyTag.FindStringSubmatch(text[at:])
		switch {
		case m == nil || !strings.EqualFold(m[2], name):
		case m[1] == "":
			depth++
		default:
			if depth--; depth == 0 {
				return []int{at, at + len(m[0])}
			}
		}
	}
	return nil
}

var anyTag = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9-]*)(?:\s[^<>]*)?/?>`)

func untilTag(text string) string {
	before, _, _ := strings.Cut(text, "<")
	return before
}

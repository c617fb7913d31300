package library

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Passage is a part of a document that may be shown by itself: some paragraphs below the same headings.
type Passage struct {
	Title   string
	Version string // the version's name
	Heading string // the headings above it, the outermost first
	Page    int    // on which it begins, 0 when the document has none
	Start   int    // where it begins in the document's text, in bytes
	Text    string // as it stands there
}

// A passage grows until it has enough, and never beyond the most, in bytes.
const (
	enoughPassage = 600
	mostPassage   = 1_200
)

// passages cuts a version into passages, in order. Nothing but headings and white space is left out.
func (v Version) passages() (all []Passage) {
	c := cutter{version: v}
	for at := 0; at < len(v.Text); {
		end := at + lineEnd(v.Text[at:])
		if level, heading := headingOf(v.Text[at:end]); level > 0 {
			c.flush()
			c.headed(level, heading)
		} else {
			c.line(at, end)
		}
		at = end
	}
	c.flush()
	return c.passages
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

type cutter struct {
	version    Version
	passages   []Passage
	headings   []string // by level
	start, end int      // of what was read and not cut yet
}

func (c *cutter) headed(level int, heading string) {
	for len(c.headings) < level {
		c.headings = append(c.headings, "")
	}
	c.headings = append(c.headings[:level-1], heading)
}

// line takes in one line; an empty one is where a passage that has enough may end.
func (c *cutter) line(from, to int) {
	empty := strings.TrimSpace(c.version.Text[from:to]) == ""
	if empty && c.end-c.start >= enoughPassage || to-c.start > mostPassage {
		c.flush()
	}
	if c.start == c.end {
		c.start = from
	}
	c.end = to
	for c.end-c.start > mostPassage {
		c.cut(c.start + sentenceEnd(c.version.Text[c.start:c.start+mostPassage]))
	}
}

func (c *cutter) flush() { c.cut(c.end) }

// cut makes a passage of what was read up to there.
func (c *cutter) cut(at int) {
	text := c.version.Text[c.start:at]
	trimmed := strings.TrimLeft(text, " \t\n")
	start := c.start + len(text) - len(trimmed)
	if trimmed = strings.TrimRight(trimmed, " \t\n"); trimmed != "" {
		c.passages = append(c.passages, Passage{Title: c.version.Title, Version: c.version.Name, Heading: c.heading(), Page: c.version.page(start), Start: start, Text: trimmed})
	}
	c.start = at
	c.end = max(c.end, at)
}

func (c *cutter) heading() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(c.headings), func(s string) bool { return s == "" }), " › ")
}

func (v Version) page(at int) int {
	n, exact := slices.BinarySearch(v.Pages, at)
	if exact {
		return n + 1
	}
	return n
}

// sentenceEnd is where a text that is too long is best cut: behind a sentence, else behind a word, else anywhere but in a letter.
func sentenceEnd(s string) int {
	for _, sign := range []string{". ", ".\n", "\n", " "} {
		if i := strings.LastIndex(s, sign); i >= len(s)/3 {
			return i + len(sign)
		}
	}
	end := len(s)
	for end > 1 && !utf8.ValidString(s[:end]) && len(s)-end < utf8.UTFMax {
		end--
	}
	return end
}

// characters is how much of a model's attention a passage takes.
func (p Passage) characters() int {
	return utf8.RuneCountInString(p.Title) + utf8.RuneCountInString(p.Heading) + utf8.RuneCountInString(p.Text)
}

package library

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hides and strikes are the ways in which a style makes a text one that no reader reads, or reads as one that does not count.
var (
	hides = regexp.MustCompile(`(?i)(display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|font-size\s*:\s*0(px|pt|em|rem|%)?\s*(;|!|$)|opacity\s*:\s*0(\.0*)?\s*(;|!|$)|` +
		`(^|[;\s])color\s*:\s*transparent|(text-indent|left|top|right)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](px)?[\s,]+[01](px)?[\s,]|clip-path\s*:\s*inset\(\s*(50|100)%)`)
	strikes = regexp.MustCompile(`(?i)text-decoration(-line)?\s*:[^;]*line-through`)
)

// sheet is what a page's own style sheets do to its text.
type sheet struct {
	hidden, struck selectors
	missed         []string // what they hide or strike out by more than a name
	elsewhere      []string // style sheets that are other files
}

// mostNames is more than any page that a person wrote has.
const mostNames = 1_000

var (
	ruleOfStyle    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	commentOfStyle = regexp.MustCompile(`(?s)/\*.*?\*/`)
	notOfText      = regexp.MustCompile(`:(:|before|after|hover|focus|active|visited)`) // what is there for a moment, or is no text of the page
)

// sheetOf reads from a page's own style sheets what they hide and strike out by one name. Rules that need more than a name to be
// understood are not followed: what they are about is extracted, and whoever must confirm the text is told.
func sheetOf(root *html.Node) (s sheet) {
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Link && strings.Contains(strings.ToLower(attribute(n, "rel")), "stylesheet"):
			s.elsewhere = append(s.elsewhere, attribute(n, "href"))
		case n.DataAtom == atom.Style && n.FirstChild != nil:
			s.take(commentOfStyle.ReplaceAllString(n.FirstChild.Data, " "))
		}
	}
	return s
}

func (s *sheet) take(text string) {
	if strings.Contains(strings.ToLower(text), "@import") {
		s.elsewhere = append(s.elsewhere, "@import")
	}
	for _, m := range ruleOfStyle.FindAllStringSubmatch(text, 10*mostNames) {
		switch {
		case hides.MatchString(m[2]):
			s.missed = append(s.missed, s.hidden.take(m[1])...)
		case strikes.MatchString(m[2]):
			s.missed = append(s.missed, s.struck.take(m[1])...)
		}
	}
}

// told says what of the style sheets was not followed.
func (s sheet) told() (look []string) {
	const why = "What it hides or strikes out must be seen in the page itself."
	if len(s.missed) > 0 {
		look = append(look, fmt.Sprintf("The page's style sheet hides or strikes out “%s”, which was not followed. %s", excerpt(strings.Join(s.missed, ", ")), why))
	}
	if len(s.elsewhere) > 0 {
		look = append(look, fmt.Sprintf("The page has a style sheet in another file (%s), which was not read. %s", excerpt(strings.Join(s.elsewhere, ", ")), why))
	}
	return look
}

// selectors are names of a style sheet.
type selectors []selector

// selector is one name: an element, a class or an id.
type selector struct {
	kind byte
	name string
}

var oneName = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9]*)?([.#])([-\w]+)$|^([A-Za-z][A-Za-z0-9]*)$`)

// take keeps the names that stand before a rule, and returns what is more than one.
func (all *selectors) take(names string) (missed []string) {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		switch parts := oneName.FindStringSubmatch(name); {
		case notOfText.MatchString(name):
		case parts == nil || len(*all) == mostNames:
			missed = append(missed, name)
		case parts[3] != "":
			*all = append(*all, selector{'e', strings.ToLower(parts[3])})
		default:
			*all = append(*all, selector{parts[1][0], parts[2]})
		}
	}
	return missed
}

func (all selectors) match(n *html.Node) bool {
	return slices.ContainsFunc(all, func(s selector) bool { return s.matches(n) })
}

func (s selector) matches(n *html.Node) bool {
	switch s.kind {
	case '.':
		return slices.Contains(strings.Fields(attribute(n, "class")), s.name)
	case '#':
		return attribute(n, "id") == s.name
	}
	return n.Data == s.name
}

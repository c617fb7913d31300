package library

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// deepest is how far the elements of a page may be nested. No page that a person wrote comes near.
const deepest = 1_000

// fromHTML reads what a reader of the page would see. What is hidden from them by the usual means is not quoted to anybody.
func fromHTML(name string, file []byte) (Extraction, error) {
	r, err := charset.NewReader(bytes.NewReader(file), "")
	if err != nil {
		return Extraction{}, refused("%s is not text that can be read", name).Try("save it as UTF-8")
	}
	text, err := io.ReadAll(io.LimitReader(r, mostText+1))
	if err != nil || len(text) > mostText {
		return Extraction{}, refused("%s cannot be read to its end", name).Try("save it as UTF-8, in no more than " + strconv.Itoa(mostText>>20) + " MB")
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return Extraction{}, refused("%s cannot be read as HTML: %v", name, err).Try("save the page again, or copy its text into a file")
	}
	p := page{hidden: hiddenBy(root)}
	p.element(root, 0)
	return Extraction{Text: tidy(strings.ToValidUTF8(p.String(), "\uFFFD"))}, nil
}

// page is the text of a web page as it is being read.
type page struct {
	strings.Builder
	hidden []selector
	lists  []int // the number of the last item of each list we are in; -1 for one without numbers
	pre    int   // how many elements we are in whose spaces count
	space  bool  // white space was met since the last word
}

// unseen are elements whose text no reader sees, or sees as something that does not count.
var unseen = []atom.Atom{atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Object, atom.Svg, atom.Math, atom.Canvas,
	atom.Audio, atom.Video, atom.Select, atom.Textarea, atom.Datalist, atom.Dialog, atom.Del, atom.S, atom.Strike}

// blocks are elements that begin a line.
var blocks = []atom.Atom{atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Ul, atom.Ol, atom.Dl,
	atom.Dt, atom.Dd, atom.Table, atom.Caption, atom.Tr, atom.Blockquote, atom.Pre, atom.Form, atom.Fieldset, atom.Figure, atom.Figcaption,
	atom.Details, atom.Summary, atom.Address, atom.Hr, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}

// apart are those with an empty line around them.
var apart = []atom.Atom{atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Blockquote, atom.Section, atom.Article}

func (p *page) element(n *html.Node, depth int) {
	switch {
	case n.Type == html.TextNode:
		p.words(n.Data)
	case n.Type == html.ElementNode && p.hides(n) || depth > deepest:
	case n.Type == html.ElementNode && slices.Contains(blocks, n.DataAtom):
		p.line(n)
		p.opens(n)
		p.inside(n, depth)
		p.closes(n)
		p.line(n)
	case n.DataAtom == atom.Br:
		p.space = false
		p.WriteByte('\n')
	default:
		if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
			p.cell(n)
		}
		p.inside(n, depth)
	}
}

func (p *page) inside(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.element(c, depth+1)
	}
}

func (p *page) words(text string) {
	if p.pre > 0 {
		p.WriteString(text)
		return
	}
	for i, word := range strings.FieldsFunc(text, collapses) {
		if i > 0 || p.space || collapses(rune(text[0])) {
			p.gap()
		}
		p.space = false
		p.WriteString(word)
	}
	p.space = p.space || text != "" && collapses(rune(text[len(text)-1]))
}

// collapses reports what HTML calls white space; a no-break space is none.
func collapses(r rune) bool { return strings.ContainsRune(" \t\n\r\f", r) }

// gap writes a space between words of one line.
func (p *page) gap() {
	if s := p.String(); s != "" && !strings.HasSuffix(s, "\n") && !strings.HasSuffix(s, " ") {
		p.WriteByte(' ')
	}
}

// line ends the line, if there is one, and for some elements leaves an empty one.
func (p *page) line(n *html.Node) {
	p.space = false
	if !strings.HasSuffix(p.String(), "\n") {
		p.WriteByte('\n')
	}
	if slices.Contains(apart, n.DataAtom) && !strings.HasSuffix(p.String(), "\n\n") {
		p.WriteByte('\n')
	}
}

func (p *page) cell(n *html.Node) {
	for before := n.PrevSibling; before != nil; before = before.PrevSibling {
		if before.Type == html.ElementNode {
			p.space = false
			p.WriteString(" | ")
			return
		}
	}
}

func (p *page) opens(n *html.Node) {
	switch n.DataAtom {
	case atom.Ul:
		p.lists = append(p.lists, -1)
	case atom.Ol:
		first, err := strconv.Atoi(attribute(n, "start"))
		if err != nil {
			first = 1
		}
		p.lists = append(p.lists, first-1)
	case atom.Li:
		p.item()
	case atom.Pre:
		p.pre++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.WriteString(strings.Repeat("#", int(n.Data[1]-'0')) + " ")
	}
}

func (p *page) item() {
	last := len(p.lists) - 1
	if last < 0 || p.lists[last] < 0 {
		p.WriteString("- ")
		return
	}
	p.lists[last]++
	p.WriteString(strconv.Itoa(p.lists[last]) + ". ")
}

func (p *page) closes(n *html.Node) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol:
		p.lists = p.lists[:len(p.lists)-1]
	case atom.Pre:
		p.pre--
	}
}

func (p *page) hides(n *html.Node) bool {
	_, hidden := find(n, "hidden")
	return slices.Contains(unseen, n.DataAtom) || hidden || hides.MatchString(attribute(n, "style")) ||
		slices.ContainsFunc(p.hidden, func(s selector) bool { return s.matches(n) })
}

var hides = regexp.MustCompile(`(?i)(display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|font-size\s*:\s*0(px|pt|em|rem|%)?\s*(;|!|$)|opacity\s*:\s*0(\.0*)?\s*(;|!|$))`)

// selector is one name of a style sheet: an element, a class or an id.
type selector struct {
	kind byte
	name string
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

var (
	ruleOfStyle = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	oneName     = regexp.MustCompile(`^[a-z]*([.#]?)([-\w]+)$`)
)

// hiddenBy reads from a page's own style sheets what they hide by one name. Rules that need more than a name to be understood are
// not followed: what they hide is extracted, and whoever confirms the text sees it.
func hiddenBy(root *html.Node) (all []selector) {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Style || n.FirstChild == nil {
			continue
		}
		for _, m := range ruleOfStyle.FindAllStringSubmatch(n.FirstChild.Data, 10_000) {
			if !hides.MatchString(m[2]) {
				continue
			}
			for name := range strings.SplitSeq(m[1], ",") {
				if parts := oneName.FindStringSubmatch(strings.TrimSpace(name)); parts != nil && len(all) < 1_000 {
					all = append(all, selector{(parts[1] + "e")[0], parts[2]})
				}
			}
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	value, _ := find(n, name)
	return value
}

func find(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

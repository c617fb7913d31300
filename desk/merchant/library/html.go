package library

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	p := page{sheet: sheetOf(root)}
	p.element(root, 0)
	e := Extraction{Text: tidy(strings.ToValidUTF8(p.String(), "\uFFFD")), Look: p.sheet.told(), left: p.left}
	if p.comments > 0 {
		e.Notes = append(e.Notes, "The page has comments, "+thousands(p.comments)+" characters in all, which no browser shows. They are not part of the text that can be quoted.")
	}
	return e, nil
}

// page is the text of a web page as it is being read.
type page struct {
	strings.Builder
	sheet    sheet
	lists    []int // the number of the last item of each list we are in; -1 for one without numbers
	pre      int   // how many elements we are in whose spaces count
	space    bool  // white space was met since the last word
	left     omissions
	comments int // characters in comments
}

// machinery are elements that hold no text at all, whatever letters are in them.
var machinery = []atom.Atom{atom.Script, atom.Style, atom.Head}

// unseen are elements whose text no reader sees, or sees as something that does not count, and why.
var unseen = map[atom.Atom]string{atom.Del: struckOut, atom.S: struckOut, atom.Strike: struckOut,
	atom.Template: concealed, atom.Noscript: concealed, atom.Iframe: concealed, atom.Object: concealed, atom.Canvas: concealed, atom.Audio: concealed,
	atom.Video: concealed, atom.Dialog: concealed, atom.Datalist: concealed,
	atom.Svg: notProse, atom.Math: notProse, atom.Select: notProse, atom.Textarea: notProse}

// blocks are elements that begin a line.
var blocks = []atom.Atom{atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Ul, atom.Ol, atom.Dl,
	atom.Dt, atom.Dd, atom.Table, atom.Caption, atom.Tr, atom.Blockquote, atom.Pre, atom.Form, atom.Fieldset, atom.Figure, atom.Figcaption,
	atom.Details, atom.Summary, atom.Address, atom.Hr, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}

// apart are those with an empty line around them.
var apart = []atom.Atom{atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Blockquote, atom.Section, atom.Article}

func (p *page) element(n *html.Node, depth int) {
	why, hidden := p.unread(n)
	switch {
	case n.Type == html.TextNode:
		p.words(n.Data)
	case n.Type == html.CommentNode:
		p.comments += utf8.RuneCountInString(strings.TrimSpace(n.Data))
	case hidden && why == "":
	case hidden:
		p.left.add(why, textOf(n), p.String())
	case depth > deepest:
		p.left.add(tooDeep, textOf(n), p.String())
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

// unread reports whether the text of an element is left out, and why; that of machinery is left out without a word.
func (p page) unread(n *html.Node) (why string, hidden bool) {
	if n.Type != html.ElementNode {
		return "", false
	}
	style, why := attribute(n, "style"), unseen[n.DataAtom]
	_, marked := find(n, "hidden")
	switch {
	case slices.Contains(machinery, n.DataAtom):
		return "", true
	case why != "":
		return why, true
	case marked || hides.MatchString(style) || p.sheet.hidden.match(n):
		return concealed, true
	case strikes.MatchString(style) || p.sheet.struck.match(n):
		return struckOut, true
	}
	return "", false
}

// textOf are all words of an element, as they come.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !slices.Contains(machinery, d.Parent.DataAtom) {
			b.WriteString(d.Data + " ")
		}
	}
	return b.String()
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

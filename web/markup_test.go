package web

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// faults lists what is wrong with a page: tags that are not balanced, with their line, and after that whatever a person who
// cannot see it would stumble over, and what our content policy would refuse.
func faults(page string) []string {
	written, err := tags(page)
	if err != nil {
		return []string{err.Error()}
	}
	if all := unbalanced(written); len(all) > 0 {
		return all // the tree of such a page is a guess
	}
	doc, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false)) // as one reads who runs no script
	if err != nil {
		return []string{err.Error()}
	}
	all := misplaced(written, doc)
	for _, rule := range []func(*html.Node) []string{head, outline, landmarks, ids, references, labels, nameless, inline} {
		all = append(all, rule(doc)...)
	}
	return append(all, leftovers(page)...)
}

// void are the elements that have no end.
var void = strings.Fields("area base br col embed hr img input link meta source track wbr")

// tag is one tag as it stands in a page.
type tag struct {
	name, raw string
	line      int
	kind      html.TokenType
}

// tags are all tags of a page, in order. A parser would mend them; these are as they were written.
func tags(page string) (all []tag, err error) {
	z, line := html.NewTokenizer(strings.NewReader(page)), 1
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := string(z.Raw())
		name, _ := z.TagName()
		if len(name) > 0 {
			all = append(all, tag{string(name), raw, line, kind})
		}
		if kind == html.StartTagToken && string(name) == "noscript" {
			z.NextIsNotRawText() // it is for those who run no script
		}
		line += strings.Count(raw, "\n")
	}
	if err = z.Err(); errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// unbalanced finds tags that do not end, or end something else than what is open.
func unbalanced(written []tag) (all []string) {
	var open []tag
	for _, t := range written {
		switch t.kind {
		case html.StartTagToken:
			all = append(all, repeated(t)...)
			if !slices.Contains(void, t.name) {
				open = append(open, t)
			}
		case html.SelfClosingTagToken:
			all = append(all, fmt.Sprintf("line %d: <%s/> ends itself, which means nothing", t.line, t.name))
		case html.EndTagToken:
			last := len(open) - 1
			if last < 0 || open[last].name != t.name {
				return append(all, fmt.Sprintf("line %d: </%s> ends nothing that is open; open are %v", t.line, t.name, tagNames(open)))
			}
			open = open[:last]
		}
	}
	for _, t := range open {
		all = append(all, fmt.Sprintf("line %d: <%s> has no end", t.line, t.name))
	}
	return all
}

func tagNames(open []tag) (all []string) {
	for _, t := range open {
		all = append(all, t.name)
	}
	return all
}

// misplaced finds the first element that a parser takes out of the one it was written in, or puts into one that nobody wrote: a
// block in a paragraph, a row of a table without its body.
func misplaced(written []tag, doc *html.Node) []string {
	parsed := elements(doc)
	var open []tag
	for _, t := range written {
		if t.kind == html.EndTagToken {
			open = open[:len(open)-1]
			continue
		}
		if len(parsed) == 0 || parsed[0].Data != t.name || len(open) > 0 && parsed[0].Parent.Data != open[len(open)-1].name {
			return []string{fmt.Sprintf("line %d: <%s> is not where it was written, in %v", t.line, t.name, tagNames(open))}
		}
		if parsed = parsed[1:]; !slices.Contains(void, t.name) {
			open = append(open, t)
		}
	}
	return nil
}

// repeated finds an attribute that a tag has twice: the second counts for nothing, and the tokenizer drops it without a word.
func repeated(t tag) (all []string) {
	attributes := strings.Fields(attributeValue.ReplaceAllString(strings.Trim(t.raw, "<>"), " "))[1:]
	for i, name := range attributes {
		if slices.Contains(attributes[:i], name) {
			all = append(all, fmt.Sprintf("line %d: <%s> has %s twice", t.line, t.name, name))
		}
	}
	return all
}

var attributeValue = regexp.MustCompile(`="[^"]*"|='[^']*'`)

func elements(doc *html.Node, names ...string) (all []*html.Node) {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && (len(names) == 0 || slices.Contains(names, n.Data)) {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string { value, _ := lookUp(n, name); return value }

func lookUp(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// show is an element as a complaint names it.
func show(n *html.Node) string {
	var b strings.Builder
	b.WriteString("<" + n.Data)
	for _, a := range n.Attr {
		fmt.Fprintf(&b, " %s=%.60q", a.Key, a.Val)
	}
	return b.String() + "> " + fmt.Sprintf("%.40q", spoken(n))
}

// spoken is the text of an element as it is read out: without what is hidden from that.
func spoken(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if attribute(n, "aria-hidden") == "true" {
			return
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func within(n *html.Node, names ...string) bool {
	for a := range n.Ancestors() {
		if slices.Contains(names, a.Data) {
			return true
		}
	}
	return false
}

func head(doc *html.Node) (all []string) {
	if root := elements(doc, "html"); attribute(root[0], "lang") == "" {
		all = append(all, "the page does not say its language")
	}
	titles := slices.DeleteFunc(elements(doc, "title"), func(n *html.Node) bool { return within(n, "svg") })
	if len(titles) != 1 || spoken(titles[0]) == "" || strings.HasPrefix(spoken(titles[0]), "·") {
		all = append(all, "the window has no title")
	}
	if !slices.ContainsFunc(elements(doc, "meta"), func(n *html.Node) bool { return attribute(n, "name") == "viewport" }) {
		all = append(all, "a phone is not told to be a phone")
	}
	return all
}

// outline asks for one h1, and for no step down that leaves a level out.
func outline(doc *html.Node) (all []string) {
	first, last := 0, 0
	for _, n := range elements(doc, "h1", "h2", "h3", "h4", "h5", "h6") {
		level := int(n.Data[1] - '0')
		if level == 1 {
			first++
		}
		if level > last+1 {
			all = append(all, fmt.Sprintf("%s comes after an h%d", show(n), last))
		}
		if spoken(n) == "" {
			all = append(all, "a heading says nothing: "+show(n))
		}
		last = level
	}
	if first != 1 {
		all = append(all, fmt.Sprintf("there are %d h1, expected one", first))
	}
	return all
}

// landmarks asks for one main, and one header and footer of the page: those inside a part of it are the part's.
func landmarks(doc *html.Node) (all []string) {
	for _, name := range []string{"main", "header", "footer"} {
		found := slices.DeleteFunc(elements(doc, name), func(n *html.Node) bool {
			return name != "main" && within(n, "main", "article", "section", "aside", "nav")
		})
		if len(found) != 1 {
			all = append(all, fmt.Sprintf("there are %d %s landmarks, expected one", len(found), name))
		}
	}
	return all
}

func ids(doc *html.Node) (all []string) {
	seen := map[string]bool{}
	for _, n := range elements(doc) {
		id, has := lookUp(n, "id")
		switch {
		case !has:
		case id == "" || strings.ContainsAny(id, " \t\n\f\r"):
			all = append(all, "an id that nothing can point at: "+show(n))
		case seen[id]:
			all = append(all, fmt.Sprintf("the id %q is there twice", id))
		}
		seen[id] = has
	}
	return all
}

// references asks that whatever points at a place of the page has it.
func references(doc *html.Node) (all []string) {
	there := map[string]bool{}
	for _, n := range elements(doc) {
		there[attribute(n, "id")] = true
	}
	for _, n := range elements(doc) {
		for _, a := range n.Attr {
			for _, id := range pointsAt(a) {
				if !there[id] {
					all = append(all, fmt.Sprintf("%s points at %q, which is not on the page", show(n), id))
				}
			}
		}
	}
	return all
}

func pointsAt(a html.Attribute) []string {
	switch a.Key {
	case "for", "list":
		return []string{a.Val}
	case "aria-labelledby", "aria-describedby", "aria-controls":
		return strings.Fields(a.Val)
	case "href":
		if place, ok := strings.CutPrefix(a.Val, "#"); ok {
			if id, err := url.PathUnescape(place); err == nil {
				return []string{id}
			}
			return []string{place}
		}
	}
	return nil
}

// labels asks that every field says what belongs in it.
func labels(doc *html.Node) (all []string) {
	labelled := map[string]bool{}
	for _, n := range elements(doc, "label") {
		labelled[attribute(n, "for")] = spoken(n) != ""
	}
	for _, n := range elements(doc, "input", "select", "textarea", "progress") {
		id, _ := lookUp(n, "id")
		named := id != "" && labelled[id] || within(n, "label") || attribute(n, "aria-label") != "" || attribute(n, "aria-labelledby") != ""
		if attribute(n, "type") != "hidden" && !named {
			all = append(all, "a field without a label: "+show(n))
		}
	}
	return all
}

// nameless asks that whatever can be pressed says what it is.
func nameless(doc *html.Node) (all []string) {
	for _, n := range elements(doc, "a", "button", "summary") {
		if spoken(n) == "" && attribute(n, "aria-label") == "" {
			all = append(all, "something to press that has no name: "+show(n))
		}
		if n.Data == "a" && attribute(n, "href") == "" {
			all = append(all, "a link that leads nowhere: "+show(n))
		}
	}
	return all
}

// inline finds what the content policy would refuse: styles, handlers and scripts that stand in the page.
func inline(doc *html.Node) (all []string) {
	for _, n := range elements(doc) {
		if n.Data == "style" || n.Data == "script" && attribute(n, "src") == "" {
			all = append(all, "inline: "+show(n))
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				all = append(all, "inline: "+show(n))
			}
		}
	}
	return all
}

// leftovers are what a template or a format leaves behind when it was given something else than it wanted. A page that shows
// other people's words may hold any of it as theirs.
func leftovers(page string) (all []string) {
	for _, left := range []string{"ZgotmplZ", "%!", "<nil>", "&lt;nil&gt;", "<no value>", "{{", "0001-01-01", "Jan 0001"} {
		if i := strings.Index(page, left); i >= 0 {
			all = append(all, fmt.Sprintf("the page holds %q: …%.80q", left, page[max(0, i-40):]))
		}
	}
	return all
}

func TestTheCheckerOfPages(t *testing.T) {
	whole := func(body string) string {
		return `<!doctype html><html lang="en"><head><meta name="viewport" content="x"><title>T</title></head><body><header>h</header><main><h1>One</h1>` +
			body + "</main><footer>f</footer></body></html>"
	}
	if found := faults(whole(`<p>Good. <a href="#here">There</a></p><label>Name <input name="n"></label><h2 id="here">Two</h2>`)); len(found) > 0 {
		t.Errorf("a good page has faults: %q", found)
	}
	for _, row := range []struct{ name, page, want string }{
		{"a tag without an end, with its line", whole("\n<div>\n<p>x</p>"), "line 3: </main> ends nothing"},
		{"tags that cross", whole("<b><i>x</b></i>"), "</b> ends nothing that is open"},
		{"a tag that ends itself", whole("<div/>"), "ends itself"},
		{"an attribute twice", whole(`<p class="a" class="b">x</p>`), "<p> has class twice"},
		{"no end of the page", "<html><body>", "<html> has no end"},
		{"a block in a paragraph", whole("<p>x<p>y</p></p>"), "line 1: <p> is not where it was written"},
		{"a list in a paragraph", whole("\n<p>x<ul><li>y</li></ul></p>"), "line 2: <ul> is not where"},
		{"a row without the body of its table", whole("<table><tr><td>x</td></tr></table>"), "<tr> is not where"},
		{"a form in a form", whole("<form><form></form></form>"), "<form> is not where"},
		{"no language", strings.Replace(whole(""), ` lang="en"`, "", 1), "language"},
		{"no title", strings.Replace(whole(""), "<title>T</title>", "<title> </title>", 1), "no title"},
		{"no viewport", strings.Replace(whole(""), "viewport", "generator", 1), "phone"},
		{"a second h1", whole("<h1>Two</h1>"), "there are 2 h1"},
		{"a level that is left out", whole("<h3>Three</h3>"), "comes after an h1"},
		{"an empty heading", whole("<h2><span aria-hidden=\"true\">x</span></h2>"), "says nothing"},
		{"two mains", whole("<main>x</main>"), "2 main landmarks"},
		{"no footer", strings.Replace(whole(""), "<footer>f</footer>", "", 1), "0 footer landmarks"},
		{"an id twice", whole(`<p id="a">x</p><p id="a">x</p>`), `"a" is there twice`},
		{"an id with a blank", whole(`<p id="a b">x</p>`), "nothing can point at"},
		{"a label for nothing", whole(`<label for="gone">x</label>`), `points at "gone"`},
		{"a link to a place that is not there", whole(`<a href="#S1%2Fstatus">x</a>`), `points at "S1/status"`},
		{"something described by what is not there", whole(`<p aria-describedby="a b">x</p>`), `points at "b"`},
		{"a field without a label", whole(`<input name="q">`), "without a label"},
		{"a label that says nothing", whole(`<label for="q"></label><input id="q">`), "without a label"},
		{"a button without a name", whole(`<button><span aria-hidden="true">×</span></button>`), "no name"},
		{"a link without an address", whole("<a>x</a>"), "leads nowhere"},
		{"a style", whole(`<p style="color:red">x</p>`), "inline"},
		{"a handler", whole(`<p onclick="x()">x</p>`), "inline"},
		{"a script in the page", whole("<script>x()</script>"), "inline"},
		{"a script as an address", whole(`<a href=" JavaScript:x()">x</a>`), "inline"},
		{"what a template could not say", whole(`<a href="#ZgotmplZ">x</a>`), "ZgotmplZ"},
		{"a format that was given too little", whole("<p>%!s(MISSING)</p>"), "%!"},
		{"a time that was never set", whole("<p>Mon 1 Jan 0001 00:00 UTC</p>"), "0001"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if found := strings.Join(faults(row.page), "\n"); !strings.Contains(found, row.want) {
				t.Errorf("found %q, want %q", found, row.want)
			}
		})
	}
}

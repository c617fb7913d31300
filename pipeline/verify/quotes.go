package verify

import (
	"slices"
	"strings"
	"unicode"

	"countersign"
)

// Document is one version of a document that may be quoted, with its whole text.
type Document struct {
	ID      string
	Title   string
	File    string // the name of the file it came from
	Version string
	Text    string
	Pages   []int // where each page begins in Text; nil for what has no pages
}

// LeastQuoted is how many letters and digits a quote needs: "within 14 days" stands in most policies, and shows nothing.
const LeastQuoted = 20

// Quotable reports whether a text is long enough for a quote; of a shorter one none can ever be verified.
func Quotable(text string) bool { return letters(Fold(text).text) >= LeastQuoted }

// longestQuote bounds what looking for a hostile quote can cost, in bytes. A clause that is longer can be quoted in parts.
const longestQuote = 10_000

// Quotes returns the quotes with what became of each: a quote whose status is exact or folded stands word for word in the one
// document that it names, at Text[Start:End] of the version named. Letters, digits and their order are compared as they are;
// only glyphs that mean the same may differ (see Fold). A quote that begins or ends inside a word or a number stands nowhere,
// and neither does one with an ellipsis where the document has none: what was left out may have been a "not". Each part may
// be quoted on its own, unless a "not" or an exception stands in the rest of its sentence (see leavesOut).
//
// A document is named by its title, id, or file name with or without the extension, case aside. Of two that answer to a name
// none was named; two versions of one document are two.
func Quotes(quotes []countersign.Quote, in []Document) []countersign.Quote {
	checked := slices.Clone(quotes)
	shelf := newShelf(in)
	for i, q := range checked {
		checked[i] = shelf.check(countersign.Quote{Document: q.Document, Quote: q.Quote})
	}
	return checked
}

// shelf holds the documents, each folded when the first quote asks for it.
type shelf struct {
	documents []Document
	names     [][]string
	folded    map[int]Folded
}

func newShelf(in []Document) shelf {
	s := shelf{documents: in, folded: map[int]Folded{}}
	for _, d := range in {
		stem := d.File
		if dot := strings.LastIndexByte(stem, '.'); dot > 0 {
			stem = stem[:dot]
		}
		s.names = append(s.names, []string{spelled(d.ID), spelled(d.Title), spelled(d.File), spelled(stem)})
	}
	return s
}

// Named returns the one document that answers to a name, as a quote names it.
func Named(in []Document, name string) (Document, bool) {
	i, ok := newShelf(in).named(name)
	if !ok {
		return Document{}, false
	}
	return in[i], true
}

// spelled is a name as names are compared: its glyphs folded.
func spelled(name string) string {
	f := Fold(name)
	return f.spell(0, len(f.text), f.dashes)
}

// named returns the one document that answers to a name.
func (s shelf) named(name string) (found int, ok bool) {
	name = spelled(name)
	if name == "" {
		return 0, false
	}
	for i, names := range s.names {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			continue
		}
		if ok {
			return 0, false
		}
		found, ok = i, true
	}
	return found, ok
}

func (s shelf) check(q countersign.Quote) countersign.Quote {
	i, ok := s.named(q.Document)
	if !ok {
		q.Status = countersign.QuoteUnknownDocument
		return q
	}
	d := s.documents[i]
	q.Version = d.Version
	q.Status, q.Start, q.End = s.lookUp(i, q.Quote)
	q.Page = pageAt(d.Pages, q.Start, q.Status)
	return q
}

// lookUp looks for a quote as it is, and then without what a model likes to put around what it copies: quotation marks, or the
// dash of a list.
func (s shelf) lookUp(document int, quote string) (status string, start, end int) {
	quote = strings.TrimSpace(quote)
	if len(quote) > longestQuote {
		return countersign.QuoteNotFound, 0, 0
	}
	asked := Fold(quote)
	if letters(asked.text) < LeastQuoted {
		return countersign.QuoteTooShort, 0, 0
	}
	text := s.fold(document)
	ok, turned := false, false
	for _, form := range []Folded{asked, asked.withoutBullet(), asked.withoutMarks()} {
		var otherwise bool
		if start, end, ok, otherwise = text.find(form); ok {
			break
		}
		turned = turned || otherwise
	}
	switch {
	case turned && !ok:
		return countersign.QuoteLeavesOut, 0, 0
	case !ok:
		return countersign.QuoteNotFound, 0, 0
	case s.documents[document].Text[start:end] == quote:
		return countersign.QuoteExact, start, end
	}
	return countersign.QuoteFolded, start, end
}

func (s shelf) fold(document int) Folded {
	f, ok := s.folded[document]
	if !ok {
		f = Fold(s.documents[document].Text)
		s.folded[document] = f
	}
	return f
}

// letters counts letters and digits.
func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// pageAt is the page, counted from 1, on which a quote that was found begins; 0 for a document without pages.
func pageAt(pages []int, start int, status string) int {
	if status != countersign.QuoteExact && status != countersign.QuoteFolded {
		return 0
	}
	n, exact := slices.BinarySearch(pages, start)
	if exact {
		return n + 1
	}
	return n
}

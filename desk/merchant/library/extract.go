package library

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign"
)

// Limits of one file. A policy is a text that people are meant to read.
const (
	MostBytes = 20 << 20 // of the file
	mostText  = 8 << 20  // of what is in it, in bytes
	mostPages = 2_000
)

// Extraction is what could be read in a file.
type Extraction struct {
	Kind  Kind     `json:"kind"`
	Title string   `json:"title"`
	Text  string   `json:"text"` // headings begin with #, items of lists with a dash; nothing else is marked
	Paged bool     `json:"paged"`
	Pages []Page   `json:"pages"` // one for all of it when it is not paged
	Notes []string `json:"notes"`
	Look  []string `json:"look,omitempty"` // what a person must look at before anything is quoted, but for pages, which say so themselves

	left omissions // what is told in Look when the whole was read
}

// Doubtful reports whether a person must look at the text before it may be quoted: something was left out of it or guessed, or a
// page could not be read well.
func (e Extraction) Doubtful() bool {
	return len(e.Look) > 0 || slices.ContainsFunc(e.Pages, Page.Doubtful)
}

// Page is what could be read on one page.
type Page struct {
	Start      int       `json:"start"` // where it begins in the text, in bytes
	Characters int       `json:"characters"`
	Odd        int       `json:"odd"` // characters that make no sense
	State      PageState `json:"state,omitempty"`
}

// PageState says why a page has no text; empty when it has.
type PageState string

const (
	Empty   PageState = "empty"
	Picture PageState = "picture" // somebody scanned it
)

// Starts are where the pages begin, nil for what has none.
func (e Extraction) Starts() (all []int) {
	if !e.Paged {
		return nil
	}
	for _, p := range e.Pages {
		all = append(all, p.Start)
	}
	return all
}

// extract reads a file in this process. Only plain text and Markdown are read so outside the process that is there for it.
func extract(name string, file []byte, cache string) (Extraction, error) {
	kind, err := kindOf(name, file)
	if err != nil {
		return Extraction{}, err
	}
	var e Extraction
	switch kind {
	case PDF:
		e, err = fromPDF(name, file, cache)
	case DOCX:
		e, err = fromDOCX(name, file)
	case HTML:
		e, err = fromHTML(name, file)
	case Markdown:
		e, err = fromText(name, file, plainMarkdown)
	default:
		e, err = fromText(name, file, plainText)
	}
	if err != nil {
		return Extraction{}, err
	}
	e.Kind = kind
	return e.whole(name)
}

func fromText(name string, file []byte, plain func(string) (string, omissions, []string)) (Extraction, error) {
	text, guess, err := decode(name, file)
	if err != nil {
		return Extraction{}, err
	}
	text, left, look := plain(text)
	if guess != "" {
		look = append(look, guess)
	}
	return Extraction{Text: tidy(text), Look: look, left: left}, nil
}

// whole adds what every extraction has, and refuses one that nobody could quote from.
func (e Extraction) whole(name string) (Extraction, error) {
	if len(e.Text) > mostText {
		return Extraction{}, refused("%s holds more than %d MB of text", name, mostText>>20).Try("cut it into the documents that it is made of")
	}
	if e.Pages == nil {
		e.Pages = []Page{{}}
	}
	e.withoutOverlaid()
	e.Look = append(e.left.told(), e.Look...)
	for i := range e.Pages {
		e.Pages[i].count(e.Page(i))
	}
	if strings.TrimSpace(e.Text) == "" {
		return Extraction{}, e.noText(name)
	}
	if e.Title == "" {
		e.Title = title(name, e.Text)
	}
	return e, nil
}

// Page is the text of the i-th page, counted from 0.
func (e Extraction) Page(i int) string {
	end := len(e.Text)
	if i+1 < len(e.Pages) {
		end = e.Pages[i+1].Start
	}
	return e.Text[e.Pages[i].Start:end]
}

func (p *Page) count(text string) {
	text = strings.TrimSpace(text)
	p.Characters, p.Odd = utf8.RuneCountInString(text), odd(text)
	if p.Characters == 0 && p.State == "" {
		p.State = Empty
	}
}

func (e Extraction) noText(name string) *countersign.Error {
	for _, p := range e.Pages {
		if p.State == Picture {
			return refused("%s has no text: its pages are pictures", name).Try("upload the document that was printed, or run it through text recognition and look at the result")
		}
	}
	return refused("%s has no text", name).Try("expected words that can be quoted")
}

// title is the first heading, else the file's name without its extension.
func title(name, text string) string {
	for line := range strings.Lines(text) {
		if _, heading := headingOf(line); heading != "" {
			return clip(heading)
		}
	}
	name = path.Base(strings.ReplaceAll(name, "\\", "/"))
	if stem := strings.TrimSuffix(name, path.Ext(name)); strings.TrimSpace(stem) != "" {
		return clip(strings.TrimSpace(stem))
	}
	return clip(name)
}

// clip keeps a heading that is a whole paragraph from being a title.
func clip(s string) string {
	const most = 200
	if runes := []rune(s); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return s
}

// headingOf reads a line such as "## Refunds": its level, and what it says; no heading is the level 0.
func headingOf(line string) (level int, text string) {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") || strings.TrimSpace(rest) == "" {
		return 0, ""
	}
	return level, strings.TrimSpace(rest)
}

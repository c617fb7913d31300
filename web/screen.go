package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/answer"
	"countersign/auth"
)

//go:embed templates/*.html
var templates embed.FS

// pages are the templates of all pages, each with the layout and the parts that pages share.
type pages map[string]*template.Template

// The files that are no page by themselves.
var shared = []string{"templates/layout.html", "templates/parts.html"}

func parsePages() pages {
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil || len(files) == 0 {
		panic("no templates are embedded") // unreachable: the pattern above would not have compiled
	}
	all := pages{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		all[name] = template.Must(template.New(name).ParseFS(templates, append(shared, file)...))
	}
	return all
}

// screen is what every page is drawn into.
type screen struct {
	Title                             string // of the window; the page's own heading says the same or more
	Section                           string // which entry of the menu is the current one
	Menu                              []entry
	Who                               *reader
	Notice                            string
	Told                              string // a sentence about what was just done, shown once
	Refresh                           int    // seconds after which a browser without script loads the page again; 0 for never
	Version                           string
	Script, Style, Htmx, Stream, Icon string
	Page                              any
}

// reader is the person who reads, as the head of the page names them.
type reader struct{ Name, Role string }

type entry struct {
	Title, Path string
	Current     bool
}

// show draws a page. It is drawn whole before its first byte is sent, so that an error in the middle is an error page.
func (v *visit) show(status int, page string, s screen) error {
	v.fill(&s)
	var b bytes.Buffer
	if err := v.pages[page].ExecuteTemplate(&b, "layout", s); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // nobody is left to tell
	return nil
}

// fragment draws a part of a page that is open already.
func (v *visit) fragment(page, part string, data any) error {
	var b bytes.Buffer
	if err := v.pages[page].ExecuteTemplate(&b, part, data); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = v.w.Write(b.Bytes()) // nobody is left to tell
	return nil
}

// fill adds what every page has, and what is to be told once.
func (v *visit) fill(s *screen) {
	v.frame(s)
	if s.Who != nil {
		s.Told = v.Sessions.Told(v.r.Context())
	}
}

// frame is what stands around every page.
func (v *visit) frame(s *screen) {
	s.Notice, s.Version = v.Notice, v.Version
	s.Script, s.Style, s.Icon = v.assets.address("desk.js"), v.assets.address("desk.css"), v.assets.address("icon.svg")
	s.Htmx, s.Stream = v.assets.address("htmx.min.js"), v.assets.address("hx-sse.min.js")
	if v.who.Actor.ID != "" {
		s.Who, s.Menu = &reader{legible(v.who.Name), string(v.who.Role)}, v.menu(s.Section)
	}
}

// menu lists the sections that the person may open.
func (v *visit) menu(current string) (all []entry) {
	for _, e := range []struct {
		title, path string
		right       auth.Right
	}{{"Queue", "/queue", auth.Read}, {"Open a dispute", "/open", auth.Open}, {"Library", "/library", auth.Read}, {"Record", "/record", auth.ReadRecord}, {"Import", "/import", auth.Import}, {"Settings", "/settings", signedIn}} {
		if e.right == signedIn || v.may(e.right) {
			all = append(all, entry{e.title, e.path, e.title == current})
		}
	}
	return all
}

// trouble is the page of an error.
type trouble struct {
	Heading, Message, Hint string
	Back                   string // where to go from here, with its words
	BackTitle              string
}

func (v *visit) trouble(e *countersign.Error) trouble {
	t := trouble{Heading: headings[e.Kind], Message: sentence(e), Hint: stopped(capital(e.Hint)), Back: "/queue", BackTitle: "Go to the queue"}
	if v.who.Actor.ID == "" {
		t.Back, t.BackTitle = "/sign-in", "Sign in"
	}
	if t.Heading == "" {
		t.Heading = "That did not work"
	}
	return t
}

func (v *visit) showError(e *countersign.Error) {
	t := v.trouble(e)
	if err := v.show(answer.Status(e.Kind), "error", screen{Title: t.Heading, Page: t}); err != nil {
		v.Log.ErrorContext(v.r.Context(), "the page of an error could not be drawn", "error", err)
		http.Error(v.w, t.Message, answer.Status(e.Kind))
	}
}

var headings = map[countersign.ErrorKind]string{
	countersign.NotFound:    "Not found",
	countersign.Forbidden:   "You may not do this",
	countersign.Conflict:    "This cannot be done now",
	countersign.Unavailable: "Not available now",
	countersign.TooLarge:    "Too large",
	countersign.Altered:     "Not what was sealed",
}

// sentence is an error as a sentence: its field, where it names one, is part of it.
func sentence(e *countersign.Error) string {
	text := e.Message
	if e.Field != "" {
		text = fieldName(e.Field) + " " + text
	}
	return stopped(capital(text))
}

// advised is an error in a sentence, with what to do next.
func advised(e *countersign.Error) string {
	return strings.TrimSpace(sentence(e) + " " + stopped(capital(e.Hint)))
}

// fieldName is what the pages call a field of a form.
func fieldName(field string) string {
	if name := fieldNames[field]; name != "" {
		return name
	}
	return strings.ReplaceAll(field, "_", " ")
}

var fieldNames = map[string]string{
	"order_id": "the order", "reason_code": "the reason code", "due_at": "the deadline", "provider_ref": "their reference", "on": "the day", "answer": "the answer",
	"amount.currency": "the currency", "amount.minor": "the amount", "withhold": "why it is left out",
}

// capital makes a sentence begin with a capital letter. A file's name and a code that it begins with stay as they are.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsAny(strings.TrimRight(first, ".,:;"), "._/0123456789") {
		return s
	}
	letter, size := utf8.DecodeRuneInString(s)
	if letter == utf8.RuneError { // nothing, or what is no text
		return s
	}
	return string(unicode.ToUpper(letter)) + s[size:]
}

func stopped(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}

// keysPage lists the keys, for readers without script; with it, ? opens the same list.
func keysPage(v *visit) error { return v.show(http.StatusOK, "keys", screen{Title: "Keys"}) }

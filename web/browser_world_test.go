package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/audit"
	"countersign/auth"
	"countersign/demo"
	chromium "countersign/internal/browser"
	"countersign/llm"
	"countersign/store"
)

// seat is where one person of an office sits before the dashboard, in a real browser of their own. What is written on it reads
// as what that person does and sees.
type seat struct {
	*chromium.Page
	office *office
	person store.Person
}

// sits gives a person of that role a browser. They have not come in yet.
func (o *office) sits(role auth.Role, options chromium.Options) *seat {
	o.t.Helper()
	return o.seats(o.people[role], options)
}

func (o *office) seats(p store.Person, options chromium.Options) *seat {
	o.t.Helper()
	if options.Patience == 0 {
		options.Patience = patience / 2 // other stories take place at the same time
	}
	return &seat{chromium.Open(o.t).Page(o.t, options), o, p}
}

// opens goes to a page by its address, as with a bookmark.
func (s *seat) opens(path string) {
	s.office.t.Helper()
	s.Go(s.office.server.URL + path)
}

// openLink opens a one-time link that somebody made for the person.
func (s *seat) openLink() {
	s.office.t.Helper()
	link, err := auth.MakeLink(s.office.t.Context(), s.office.Store, s.person.ID, auth.SignInLink, time.Hour, operator)
	s.office.must(err)
	s.opens("/link/" + link)
	s.See("This link lets " + s.person.Name)
}

// comesIn signs in by a link.
func (s *seat) comesIn() {
	s.office.t.Helper()
	s.openLink()
	s.ClickText("Sign in as " + s.person.Name)
	s.At("/queue")
}

// goes is the end of a story: every record is whole, the browser's console heard no complaint, and nothing was asked of anybody
// else's server.
func (s *seat) goes() {
	s.office.t.Helper()
	s.quiet()
	s.office.verified()
}

func (s *seat) quiet(expected ...string) {
	s.office.t.Helper()
	for _, complaint := range s.Console() {
		if !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(complaint, part) }) {
			s.office.t.Errorf("the console complains: %s", complaint)
		}
	}
	if asked := s.Requests(); len(asked) > 0 {
		s.office.t.Errorf("the pages asked of other hosts: %q", asked)
	}
}

// points waits until the row with that id is the one that is pointed at: marked, drawn, and all of it within the window.
func (s *seat) points(id string) {
	s.office.t.Helper()
	s.Until(fmt.Sprintf(`(row => {
		const box = row?.getBoundingClientRect()
		return box && (row.matches(':target') || row.matches('.pointed')) && row.checkVisibility() && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight
	})(document.getElementById(%s))`, spelled(id)))
}

// export takes away the file that a link of the page leads to, and says what a stranger finds in it.
func (s *seat) export(link string) audit.Report {
	s.office.t.Helper()
	var file string
	s.Eval(fmt.Sprintf("fetch(document.querySelector(%s).href).then(answer => answer.text())", spelled(link)), &file)
	report, err := audit.VerifyExport(strings.NewReader(file))
	s.office.must(err)
	return report
}

// spelled is a text as a script spells it.
func spelled(text string) string {
	b, _ := json.Marshal(text) // a string has a JSON form
	return string(b)
}

// stays notes something in the page that ends when the page does. stayed fails the test if another was loaded since.
func (s *seat) stays() { s.office.t.Helper(); s.Eval("window.noted = true", nil) }
func (s *seat) stayed() {
	s.office.t.Helper()
	var still bool
	if s.Eval("window.noted === true", &still); !still {
		s.office.t.Error("the page was loaded again")
	}
}

// leash holds the offline reviewer: it gives each answer when a test lets it, two records at a time, so that what a watcher sees
// before and after is no accident of timing.
type leash chan struct{}

func (l leash) models(c *app.Config) {
	c.Models = demo.Paced(func(_ countersign.Case, reviewer llm.Model) llm.Model { return held{reviewer, l} }, 0)
}

type held struct {
	llm.Model
	leash leash
}

func (h held) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	select {
	case <-h.leash:
	case <-ctx.Done():
	}
	return h.Model.Complete(ctx, r)
}

// answers lets the reviewer give its next answer, which somebody must be waiting for.
func (l leash) answers(t testing.TB) {
	t.Helper()
	select {
	case l <- struct{}{}:
	case <-time.After(patience):
		t.Fatal("nobody asks the reviewer for anything")
	}
}

// silentAtFirst is a model that says nothing in the first investigation of a case; the offline reviewer makes every other.
func silentAtFirst(c *app.Config) {
	c.Models = func(c countersign.Case, reviewer llm.Model) llm.Model {
		if c.Round <= 1 {
			return demo.Script("silent")
		}
		return reviewer
	}
}

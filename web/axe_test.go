package web_test

import (
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"countersign/desk/bank"
	"countersign/desk/merchant"
	chromium "countersign/internal/browser"
	"countersign/web"

	"golang.org/x/net/html"
)

// TestEveryPageCanBeUsedByEverybody shows the samples of the gallery to axe: all of them in daylight on a desk; in the dark so
// many that everything is seen once in each of its places, since the dark changes colours alone; and one of each page on a phone,
// where all must fit. With COUNTERSIGN_SCREENSHOTS set all are drawn each way, and a picture of each is kept.
func TestEveryPageCanBeUsedByEverybody(t *testing.T) {
	samples := web.Gallery(bank.New(), merchant.New(merchant.Config{}))
	server := httptest.NewServer(web.GallerySite(samples))
	t.Cleanup(server.Close)
	every, none := func(web.Sample) bool { return true }, func(web.Sample) bool { return false }
	for _, look := range []struct {
		name     string
		o        chromium.Options
		draws    func(web.Sample) bool
		examines func(web.Sample) bool
	}{
		{"light", chromium.Options{Width: 1440, Height: 900}, every, every},
		{"dark", chromium.Options{Width: 1440, Height: 900, Dark: true}, none, some(samples, parts)},
		{"phone", chromium.Options{Width: 390, Height: 844}, every, some(samples, template)},
		{"phone in the dark", chromium.Options{Width: 390, Height: 844, Dark: true}, none, none},
	} {
		t.Run(look.name, func(t *testing.T) {
			look.o.ReducedMotion = true
			p := chromium.Open(t).Page(t, look.o)
			for _, s := range samples {
				examined := look.examines(s)
				if !examined && !look.draws(s) && os.Getenv(chromium.Screenshots) == "" {
					continue
				}
				p.Go(server.URL + s.Path())
				fits(t, p, s)
				if examined {
					noComplaint(t, p, s)
				}
				picture(p, look.name+" "+strings.Trim(strings.ReplaceAll(s.Path(), "/", " "), " "))
			}
			if heard := p.Console(); len(heard) > 0 {
				t.Errorf("the console complains:\n%s", strings.Join(heard, "\n"))
			}
		})
	}
}

func noComplaint(t *testing.T, p *chromium.Page, s web.Sample) {
	t.Helper()
	for _, broken := range p.Axe() {
		t.Errorf("%s: %s", s.Path(), broken)
	}
}

// fits asks that the page is not wider than its window: nobody scrolls sideways to read a case.
func fits(t *testing.T, p *chromium.Page, s web.Sample) {
	t.Helper()
	var width, window int
	p.Eval("document.documentElement.scrollWidth", &width)
	if p.Eval("innerWidth", &window); width > window {
		t.Errorf("%s is %d wide in a window of %d", s.Path(), width, window)
	}
}

// picture keeps one of the whole page. What is fixed to the window would lie across the middle of it, so it stands in its place.
func picture(p *chromium.Page, name string) {
	if os.Getenv(chromium.Screenshots) == "" {
		return
	}
	p.Eval("document.querySelectorAll('.acts').forEach(e => { e.style.position = 'static' })", nil)
	p.Keep(strings.ReplaceAll(name, "sample ", ""))
}

// some of the samples, the richest first, so many that each thing which any of them has is on one.
func some(samples []web.Sample, things func(web.Sample) []string) func(web.Sample) bool {
	richest := slices.Clone(samples)
	slices.SortStableFunc(richest, func(a, b web.Sample) int { return len(things(b)) - len(things(a)) })
	seen, chosen := map[string]bool{}, map[string]bool{}
	for _, s := range richest {
		for _, thing := range things(s) {
			chosen[s.Path()] = chosen[s.Path()] || !seen[thing]
			seen[thing] = true
		}
	}
	return func(s web.Sample) bool { return chosen[s.Path()] }
}

func template(s web.Sample) []string { return []string{s.Template} }

// parts are the elements of a sample, by their names and classes and those around them: by what gives them their colours.
func parts(s web.Sample) (all []string) {
	var page strings.Builder
	if err := s.Render(&page); err != nil {
		return []string{s.Path()} // it is looked at, and fails there
	}
	doc, err := html.Parse(strings.NewReader(page.String()))
	if err != nil {
		return []string{s.Path()}
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			all = append(all, around(n)+" > "+n.Data+" "+classes(n))
		}
	}
	return all
}

// around is the classes of the nearest element around this one that has any.
func around(n *html.Node) string {
	for a := range n.Ancestors() {
		if c := classes(a); c != "" {
			return c
		}
	}
	return ""
}

func classes(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "class" {
			return a.Val
		}
	}
	return ""
}

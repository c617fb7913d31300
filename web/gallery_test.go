package web

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/desk/bank"
	"countersign/desk/merchant"

	"golang.org/x/net/html"
)

func drawn(t *testing.T, s Sample) string {
	t.Helper()
	var b strings.Builder
	if err := s.Render(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEverySampleIsAWholePage(t *testing.T) {
	for _, s := range Gallery(bank.New(), merchant.New(merchant.Config{})) {
		t.Run(s.Page+": "+s.State, func(t *testing.T) {
			page := drawn(t, s)
			if strings.HasPrefix(s.State, "hostile") {
				page = strings.ReplaceAll(page, "{{.Act}}", "") // they may write what they like
			}
			for _, fault := range faults(page) {
				t.Error(fault)
			}
		})
	}
}

func TestEveryPageHasASampleAndEverySampleAnAddress(t *testing.T) {
	missing := maps.Clone(everyPage())
	at := map[string]bool{}
	for _, s := range Gallery(bank.New(), merchant.New(merchant.Config{})) {
		delete(missing, s.Template)
		if at[s.Path()] {
			t.Errorf("two samples are at %s", s.Path())
		}
		at[s.Path()] = true
	}
	for name := range missing {
		t.Errorf("templates/%s.html is in no sample", name)
	}
}

func TestTheGalleryLeadsToEverySample(t *testing.T) {
	samples := Gallery(bank.New(), merchant.New(merchant.Config{}))
	site := GallerySite(samples)
	look := func(method, path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		site.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
		return answer
	}
	index := look("GET", "/")
	for _, fault := range faults(index.Body.String()) {
		t.Error(fault)
	}
	for _, s := range samples {
		if !strings.Contains(index.Body.String(), `href="`+s.Path()+`"`) {
			t.Errorf("the list does not lead to %s", s.Path())
		}
		if answer := look("GET", s.Path()); answer.Code != http.StatusOK || answer.Body.String() != drawn(t, s) {
			t.Errorf("at %s is not the sample", s.Path())
		}
		if s.Address != "" && look("GET", s.Address).Code != http.StatusOK {
			t.Errorf("nothing is at %s, where the program has %s", s.Address, s.Page)
		}
	}
	if answer := look("GET", "/"); answer.Header().Get("Content-Security-Policy") != contentPolicy {
		t.Error("the gallery's pages do not have the program's policy")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	live := httptest.NewRecorder()
	site.ServeHTTP(live, httptest.NewRequestWithContext(gone, "GET", "/cases/D-1044/live?after=7", nil))
	if live.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("a live trace is %q, and would be asked for again and again", live.Header())
	}
	if answer := look("GET", "/nowhere"); answer.Code != http.StatusNotFound {
		t.Errorf("an address that no sample has answers %d", answer.Code)
	}
	if answer := look("POST", "/cases/D-1042/approve"); answer.Code != http.StatusConflict || !strings.Contains(answer.Body.String(), "Nothing happened") {
		t.Errorf("a button answers %d", answer.Code)
	}
}

// markOf finds the marks that strangers' texts hold, in every sample that has any.
var markOf = regexp.MustCompile(`mark-\w+`)

// Where other people's words may stand: as theirs. What a model says is its own, in the two places that are marked as the
// model's; the boxes in which somebody types hold what was typed.
var theirPlaces = map[string][]string{
	"mark-model": {"proposal", "draft"},
	"":           {"words", "theirs"},
}

func TestWhatStrangersWroteIsShownAsTheirsAndIsNothingElse(t *testing.T) {
	found := map[string]bool{}
	for _, s := range Gallery(bank.New(), merchant.New(merchant.Config{})) {
		if s.Page != "case" && s.Page != "open" {
			continue
		}
		doc, err := html.Parse(strings.NewReader(drawn(t, s)))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			for _, word := range markOf.FindAllString(n.Data, -1) {
				found[word] = true
				if n.Type != html.TextNode || !inPlaceOf(n, word) {
					t.Errorf("%s: %s stands in %s", s.State, word, show(n.Parent))
				}
			}
			for _, a := range n.Attr {
				if word := markOf.FindString(a.Key + a.Val); word != "" {
					t.Errorf("%s: %s is in the attribute %s of %s", s.State, word, a.Key, show(n))
				}
			}
		}
	}
	for _, word := range strings.Fields("mark-notes mark-payee mark-memo mark-reference mark-failure mark-channel mark-model") {
		if !found[word] {
			t.Errorf("no sample holds %s", word)
		}
	}
}

func inPlaceOf(text *html.Node, word string) bool {
	places, ok := theirPlaces[word]
	if !ok {
		places = theirPlaces[""]
	}
	for n := range text.Ancestors() {
		if n.Data == "a" || n.Data == "button" || n.Data == "label" {
			return false
		}
		if slices.ContainsFunc(strings.Fields(attribute(n, "class")), func(class string) bool { return slices.Contains(places, class) }) {
			return true
		}
	}
	return false
}

func TestNothingOfAStrangersTextIsUnseen(t *testing.T) {
	for _, s := range Gallery(bank.New(), merchant.New(merchant.Config{})) {
		if s.Page != "case" {
			continue // a field in which somebody types holds what was typed, and a record what was sealed
		}
		for _, r := range drawn(t, s) {
			if unseen(r) {
				t.Errorf("%s: the page holds %U", s.State, r)
				break
			}
		}
	}
}

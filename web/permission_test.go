package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/web"
)

// access is what a page or an act, asked for with nothing filled in, answers to whom. Nobody's 303 leads to the way in.
type access struct {
	route                                     string
	nobody, analyst, approver, auditor, admin int
}

// accesses is the table of routes again, written by hand: who may do what is decided twice.
var accesses = []access{
	{"GET /{$}", 303, 303, 303, 303, 303},

	{"GET /sign-in", 200, 303, 303, 303, 303},
	{"POST /sign-in", 401, 401, 401, 401, 401},
	{"POST /sign-out", 303, 303, 303, 303, 303},
	{"GET /link/{secret}", 401, 401, 401, 401, 401},
	{"POST /link/{secret}", 401, 401, 401, 401, 401},
	{"GET /welcome/{secret}", 401, 401, 401, 401, 401},
	{"POST /welcome/{secret}", 400, 400, 400, 400, 400},

	{"GET /queue", 303, 200, 200, 200, 200},
	{"GET /queue/news", 303, 200, 200, 200, 200},
	{"POST /queue/next", 303, 303, 303, 403, 303},
	{"GET /open", 303, 200, 200, 403, 200},
	{"POST /open", 303, 404, 404, 403, 404},
	{"GET /open/chargeback", 303, 200, 200, 403, 200},
	{"POST /open/chargeback", 303, 400, 400, 403, 400},

	{"GET /cases/{id}", 303, 200, 200, 200, 200},
	{"GET /cases/{id}/live", 303, 200, 200, 200, 200},
	{"GET /cases/{id}/report", 303, 404, 404, 404, 404},
	{"GET /cases/{id}/record", 303, 200, 200, 200, 200},
	{"GET /cases/{id}/record/export", 303, 200, 200, 200, 200},
	{"POST /cases/{id}/claim", 303, 303, 303, 403, 303},
	{"POST /cases/{id}/release", 303, 303, 303, 403, 303},
	{"POST /cases/{id}/exhibits", 303, 400, 400, 403, 400},
	{"GET /cases/{id}/exhibits/{exhibit}", 303, 404, 404, 404, 404},
	{"POST /cases/{id}/exhibits/{exhibit}/remove", 303, 428, 428, 403, 428},
	{"POST /cases/{id}/typed", 303, 428, 428, 403, 428},
	{"POST /cases/{id}/typed/{fact}/remove", 303, 428, 428, 403, 428},
	{"GET /cases/{id}/{verb}", 303, 200, 200, 403, 200},
	{"POST /cases/{id}/{verb}", 303, 428, 428, 403, 428},

	{"GET /record", 303, 200, 200, 200, 200},
	{"GET /record/export", 303, 200, 200, 200, 200},
	{"POST /record/verify", 303, 303, 303, 303, 303},
	{"GET /record/verify/{task}", 303, 404, 404, 404, 404},

	{"GET /import", 303, 403, 200, 403, 200},
	{"POST /import", 303, 403, 400, 403, 400},
	{"GET /templates/{file}", 303, 403, 200, 403, 200},
	{"GET /import/{task}", 303, 403, 404, 403, 404},
	{"GET /import/{task}/results", 303, 403, 404, 403, 404},
	{"POST /import/{task}/run", 303, 403, 404, 403, 404},
	{"POST /import/{task}/cancel", 303, 403, 404, 403, 404},

	{"GET /library", 303, 200, 200, 200, 200},
	{"POST /library", 303, 403, 400, 403, 400},
	{"GET /library/{version}", 303, 404, 404, 404, 404},
	{"GET /library/{version}/file", 303, 404, 404, 404, 404},
	{"POST /library/{version}/confirm", 303, 403, 404, 403, 404},
	{"POST /library/{version}/days", 303, 403, 404, 403, 404},

	{"GET /settings", 303, 200, 200, 200, 200},
	{"POST /settings/me", 303, 400, 400, 400, 400},
	{"POST /settings/password", 303, 400, 400, 400, 400},
	{"POST /settings/mode", 303, 403, 403, 403, 400},
	{"POST /settings/people", 303, 403, 403, 403, 400},
	{"POST /settings/people/{person}", 303, 403, 403, 403, 303},
	{"POST /settings/people/{person}/link", 303, 403, 403, 403, 200},
	{"POST /settings/tokens", 303, 403, 403, 403, 400},
	{"POST /settings/tokens/{token}/revoke", 303, 403, 403, 403, 303},

	{"GET /settings/events", 303, 403, 403, 403, 200},
	{"POST /settings/events", 303, 403, 403, 403, 400},
	{"POST /settings/events/{source}/rotate", 303, 403, 403, 403, 404},
	{"POST /settings/events/{source}/remove", 303, 403, 403, 403, 404},

	{"GET /settings/shop", 303, 403, 403, 403, 200},
	{"POST /settings/shop/begin", 303, 403, 403, 403, 303},
	{"POST /settings/shop/discard", 303, 403, 403, 403, 303},
	{"POST /settings/shop/files", 303, 403, 403, 403, 303},
	{"GET /settings/shop/{step}", 303, 403, 403, 403, 303},
	{"POST /settings/shop/{step}", 303, 403, 403, 403, 303},

	{"GET /settings/models", 303, 403, 403, 403, 200},
	{"POST /settings/models/order", 303, 403, 403, 403, 303},
	{"POST /settings/models/budgets", 303, 403, 403, 403, 303},
	{"GET /settings/models/connections", 303, 403, 403, 403, 200},
	{"POST /settings/models/connections", 303, 403, 403, 403, 400},
	{"GET /settings/models/connections/{connection}", 303, 403, 403, 403, 404},
	{"POST /settings/models/connections/{connection}", 303, 403, 403, 403, 404},
	{"POST /settings/models/connections/{connection}/try", 303, 403, 403, 403, 404},
	{"GET /settings/models/connections/{connection}/remove", 303, 403, 403, 403, 404},
	{"POST /settings/models/connections/{connection}/remove", 303, 403, 403, 403, 404},

	{"GET /keys", 303, 200, 200, 200, 200},
}

// ask sends a request for the route with nothing filled in. A live trace is asked for its headers alone: it has no end.
func (b *browser) ask(route string, c countersign.Case) page {
	b.t.Helper()
	method, path, _ := strings.Cut(route, " ")
	path = strings.NewReplacer("{$}", "", "{id}", string(c.ID), "{verb}", "approve", "{secret}", "cl_NONE", "{task}", "none", "{file}", "customers.csv", "{step}", "tables", "{exhibit}", "file_none", "{fact}", "typed_none", "{connection}", "none",
		"{person}", b.people[auth.Auditor].ID, "{token}", b.spare).Replace(path)
	switch {
	case route == "POST /sign-in": // of somebody else each time, or it would be refused for trying too often
		return b.post(path, url.Values{"email": {fmt.Sprintf("x%d@bank.example", b.now().UnixNano())}})
	case method == http.MethodPost:
		return b.post(path, url.Values{})
	case strings.HasSuffix(path, "/live"):
		return b.send(http.MethodHead, path, nil, nil)
	}
	return b.get(path)
}

func TestEveryPageAnswersEverybodyAsTheTableSays(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	by := map[auth.Role]func(access) int{"": func(a access) int { return a.nobody }, auth.Analyst: func(a access) int { return a.analyst },
		auth.Approver: func(a access) int { return a.approver }, auth.Auditor: func(a access) int { return a.auditor }, auth.Admin: func(a access) int { return a.admin }}
	walk := func(t *testing.T, who string, role auth.Role, open func() *browser) {
		b := open()
		before := o.everything()
		for _, a := range accesses {
			want := by[role](a)
			p := b.ask(a.route, c)
			if a.route == "POST /record/verify" && p.status == http.StatusSeeOther && want == p.status && role != "" {
				b.verified(p.leads()) // its end is remembered, and is no doing of the next request
			}
			after := o.everything()
			if p.status != want {
				t.Errorf("%s answers %s with %d, want %d: %s", a.route, who, p.status, want, p.leads())
			}
			if role == "" && want == http.StatusSeeOther && !strings.HasPrefix(p.leads(), "/sign-in") {
				t.Errorf("%s leads %s to %q", a.route, who, p.leads())
			}
			if want == http.StatusForbidden && !strings.Contains(p.seen(), "Your role, "+string(role)+", may not") {
				t.Errorf("%s does not say to %s why not: %s", a.route, who, p.seen())
			}
			if refused := role == "" || want >= 400; refused && after != before {
				t.Errorf("%s, refused to %s, changed something", a.route, who)
			}
			if before = after; a.route == "POST /sign-out" {
				b = open()
				before = o.everything()
			}
		}
	}
	t.Run("no route is left out of the table", func(t *testing.T) {
		var listed []string
		for _, a := range accesses {
			listed = append(listed, a.route)
		}
		for _, route := range web.Routes() {
			if !slices.Contains(listed, route) {
				t.Errorf("nobody has said who may %s", route)
			}
		}
		if len(listed) != len(web.Routes()) {
			t.Errorf("the table has %d routes, the dashboard %d", len(listed), len(web.Routes()))
		}
	})
	for _, role := range auth.Roles {
		o.run(t, "to "+string(role), func(t *testing.T) { walk(t, string(role), role, func() *browser { return o.as(role) }) })
		o.run(t, "to a program with a token of "+string(role), func(t *testing.T) {
			walk(t, "a token", "", func() *browser {
				b := o.browser()
				b.bearer = o.tokens[role]
				return b
			})
		})
	}
	o.run(t, "to nobody", func(t *testing.T) { walk(t, "nobody", "", o.browser) })
	o.run(t, "to somebody whose access was taken away", func(t *testing.T) {
		walk(t, "them", "", func() *browser {
			p := o.person(fmt.Sprint("gone", o.now().UnixNano()), auth.Admin)
			b := o.signedIn(p)
			p.Disabled = true
			o.must(auth.ChangePerson(t.Context(), o.Store, p, operator))
			return b
		})
	})
	o.run(t, "to a session that was signed out elsewhere", func(t *testing.T) {
		walk(t, "it", "", func() *browser {
			b := o.as(auth.Admin)
			copied := *b.client
			copied.Jar = fixed(b.client.Jar.Cookies(b.url("/")))
			b.post("/sign-out", nil)
			return &browser{office: o, client: &copied, site: b.site}
		})
	})
	o.run(t, "to a session that nobody used for hours", func(t *testing.T) {
		walk(t, "it", "", func() *browser {
			b := o.as(auth.Admin)
			o.later(2*time.Hour + time.Minute)
			return b
		})
	})
	o.verified()
}

// A cookie is sent by browsers whatever page asks for it, so a program's calls take none.
func TestASessionOpensNothingOfTheAPI(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	b := o.as(auth.Admin)
	var document struct{ Paths map[string]map[string]any }
	o.must(json.Unmarshal([]byte(b.get("/openapi.json").text), &document))
	before, calls := o.everything(), 0
	for path, methods := range document.Paths {
		if !strings.HasPrefix(path, "/api/v1/") || strings.HasSuffix(path, "openapi.json") {
			continue
		}
		for method := range maps.Keys(methods) {
			calls++
			path := strings.Replace(path, "{id}", string(c.ID), 1)
			p := b.send(strings.ToUpper(method), path, nil, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {b.server.URL}})
			if p.status != http.StatusUnauthorized {
				t.Errorf("%s %s answers a session with %d %s", method, path, p.status, p.text)
			}
		}
	}
	if calls < 11 {
		t.Errorf("the document lists %d calls", calls)
	}
	if o.everything() != before {
		t.Error("something was changed")
	}
}

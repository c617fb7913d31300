package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/web"
)

// forged is a post that would do something if a page of ours had sent it.
type forged struct {
	path string
	form url.Values
}

// forgeries are one post for each route that changes something, complete but for where it comes from.
func (o *office) forgeries(c countersign.Case) map[string]forged {
	o.t.Helper()
	o.write(claimed(c.ID, o.people[auth.Admin]))
	link, err := auth.MakeLink(o.t.Context(), o.Store, o.people[auth.Auditor].ID, auth.SignInLink, time.Hour, operator)
	o.must(err)
	on, person := "/cases/"+string(c.ID), "/settings/people/"+o.people[auth.Auditor].ID
	return map[string]forged{
		"POST /sign-in":                                         {"/sign-in", url.Values{"email": {"admin@bank.example"}, "password": {"no password at all"}}},
		"POST /sign-out":                                        {"/sign-out", nil},
		"POST /link/{secret}":                                   {"/link/" + link, nil},
		"POST /welcome/{secret}":                                {"/welcome/cl_NONE", url.Values{"mode": {"act"}}},
		"POST /queue/next":                                      {"/queue/next", nil},
		"POST /open":                                            {"/open", url.Values{"transaction_id": {"T-9"}, "reason": {"failed_transfer"}, "notes": {"x"}, "channel": {"phone"}}},
		"POST /open/chargeback":                                 {"/open/chargeback", url.Values{"order_id": {"20140"}, "network": {"visa"}}},
		"POST /cases/{id}/claim":                                {on + "/claim", nil},
		"POST /cases/{id}/release":                              {on + "/release", nil},
		"POST /cases/{id}/exhibits":                             {on + "/exhibits", url.Values{"revision": {fmt.Sprint(c.Revision)}}},
		"POST /cases/{id}/typed":                                {on + "/typed", url.Values{"revision": {fmt.Sprint(c.Revision)}, "kind": {"other"}, "text": {"x"}}},
		"POST /cases/{id}/typed/{fact}/remove":                  {on + "/typed/typed_none/remove", url.Values{"revision": {fmt.Sprint(c.Revision)}}},
		"POST /cases/{id}/exhibits/{exhibit}/remove":            {on + "/exhibits/file_none/remove", url.Values{"revision": {fmt.Sprint(c.Revision)}}},
		"POST /cases/{id}/{verb}":                               {on + "/approve", url.Values{"revision": {fmt.Sprint(c.Revision)}}},
		"POST /record/verify":                                   {"/record/verify", nil},
		"POST /import":                                          {"/import", nil},
		"POST /import/{task}/run":                               {"/import/none/run", nil},
		"POST /import/{task}/cancel":                            {"/import/none/cancel", nil},
		"POST /library":                                         {"/library", nil},
		"POST /library/{version}/confirm":                       {"/library/none/confirm", nil},
		"POST /library/{version}/days":                          {"/library/none/days", url.Values{"valid_from": {"2026-01-01"}}},
		"POST /settings/me":                                     {"/settings/me", url.Values{"name": {"Mallory"}, "zone": {"UTC"}}},
		"POST /settings/password":                               {"/settings/password", url.Values{"password": {"a long new password"}}},
		"POST /settings/mode":                                   {"/settings/mode", url.Values{"mode": {"act"}}},
		"POST /settings/people":                                 {"/settings/people", url.Values{"email": {"mallory@evil.example"}, "name": {"Mallory"}, "role": {"admin"}}},
		"POST /settings/people/{person}":                        {person, url.Values{"role": {"admin"}, "access": {"off"}}},
		"POST /settings/people/{person}/link":                   {person + "/link", nil},
		"POST /settings/tokens":                                 {"/settings/tokens", url.Values{"name": {"mallory"}, "role": {"admin"}}},
		"POST /settings/tokens/{token}/revoke":                  {"/settings/tokens/" + o.spare + "/revoke", nil},
		"POST /settings/events":                                 {"/settings/events", url.Values{"name": {"mallory"}}},
		"POST /settings/events/{source}/rotate":                 {"/settings/events/till/rotate", nil},
		"POST /settings/events/{source}/remove":                 {"/settings/events/till/remove", nil},
		"POST /settings/models/order":                           {"/settings/models/order", url.Values{"bank": {"mallory"}}},
		"POST /settings/models/budgets":                         {"/settings/models/budgets", url.Values{"case_tokens": {"1"}}},
		"POST /settings/models/connections":                     {"/settings/models/connections", url.Values{"name": {"mallory"}, "provider": {"openai"}, "base_url": {"https://evil.example/v1"}, "model": {"m"}}},
		"POST /settings/models/connections/{connection}":        {"/settings/models/connections/hosted", url.Values{"base_url": {"https://evil.example/v1"}}},
		"POST /settings/models/connections/{connection}/try":    {"/settings/models/connections/hosted/try", nil},
		"POST /settings/models/connections/{connection}/remove": {"/settings/models/connections/hosted/remove", nil},
		"POST /settings/shop/begin":                             {"/settings/shop/begin", url.Values{"from": {"nothing"}}},
		"POST /settings/shop/discard":                           {"/settings/shop/discard", nil},
		"POST /settings/shop/files":                             {"/settings/shop/files", nil},
		"POST /settings/shop/{step}":                            {"/settings/shop/connect", url.Values{"driver": {"sqlite"}, "file": {"/etc/passwd"}}},
	}
}

func TestWhatAnotherSiteSendsIsRefused(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	o.load(failedTransfer("T-9", o.now()))
	forgeries := o.forgeries(c)
	b := o.as(auth.Admin)
	host := strings.TrimPrefix(o.server.URL, "http://")
	for sentence, header := range map[string]http.Header{
		"a page of another site":                                        {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
		"a page of a neighbour in our site":                             {"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://evil." + host}},
		"another site, that names no origin":                            {"Sec-Fetch-Site": {"cross-site"}},
		"the same host by another scheme":                               {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://" + host}},
		"an old browser, from another host":                             {"Origin": {"http://evil.example"}},
		"an old browser, from another port":                             {"Origin": {"http://127.0.0.1:1"}},
		"an old browser, from our own name as the beginning of another": {"Origin": {"http://" + host + ".evil.example"}},
		"an old browser, from a page that has no origin":                {"Origin": {"null"}},
	} {
		o.run(t, sentence, func(t *testing.T) {
			before := o.everything()
			for _, route := range web.Routes() {
				if !strings.HasPrefix(route, "POST ") {
					continue
				}
				f, ok := forgeries[route]
				if !ok {
					t.Fatalf("nobody has forged %s", route)
				}
				b.send("POST", f.path, f.form, header).is(http.StatusForbidden, "This was sent by another site, so nothing was done.")
				if o.everything() != before {
					t.Errorf("%s changed something", route)
				}
			}
			if b.get("/settings").status != http.StatusOK {
				t.Error("the session is over")
			}
		})
	}
	o.run(t, "a program that is no browser and has the cookie is not another site", func(*testing.T) {
		b.send("POST", "/settings/mode", url.Values{"mode": {"act"}}, nil).is(http.StatusSeeOther)
	})
	o.run(t, "the same from a page of ours does what it says", func(t *testing.T) {
		for _, route := range []string{"POST /settings/me", "POST /settings/tokens", "POST /settings/tokens/{token}/revoke", "POST /settings/people", "POST /settings/people/{person}/link",
			"POST /open", "POST /cases/{id}/release", "POST /queue/next", "POST /cases/{id}/claim", "POST /cases/{id}/{verb}", "POST /settings/password", "POST /settings/people/{person}"} {
			before, f := o.everything(), forgeries[route]
			if p := b.post(f.path, f.form); p.status >= 400 || o.everything() == before {
				t.Errorf("%s did nothing: %d %s", route, p.status, p.seen())
			}
		}
	})
	o.verified()
}

// Programs fetch addresses that they find in mails and on pages, so to fetch one must do nothing.
func TestReadingChangesNothing(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	b := o.as(auth.Admin)
	link, err := auth.MakeLink(t.Context(), o.Store, o.people[auth.Auditor].ID, auth.SignInLink, time.Hour, operator)
	o.must(err)
	before := o.everything()
	for _, method := range []string{"GET", "HEAD"} {
		for _, route := range web.Routes() {
			path, read := strings.CutPrefix(route, "GET ")
			if !read || strings.HasSuffix(path, "/live") && method == "GET" {
				continue
			}
			for _, verb := range []string{"approve", "override", "escalate", "message", "retry", "claim", "release", "shred"} {
				path := strings.NewReplacer("{$}", "", "{id}", string(c.ID), "{verb}", verb, "{secret}", link, "{task}", "none").Replace(path)
				if p := b.send(method, path, nil, nil); p.status >= 500 {
					t.Errorf("%s %s is %d", method, path, p.status)
				} else if method == "HEAD" && p.text != "" {
					t.Errorf("%s %s has a body", method, path)
				}
				if !strings.Contains(route, "{verb}") {
					break
				}
			}
		}
	}
	if o.everything() != before {
		t.Error("something was changed")
	}
	o.browser().post("/link/"+link, nil).is(http.StatusSeeOther)
}

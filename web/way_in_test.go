package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/auth"
	"countersign/pipeline/policy"
	"countersign/store"
)

const password = "correct horse battery"

// known is somebody who has a password.
func (o *office) known() store.Person {
	o.t.Helper()
	p, err := auth.AddPerson(o.t.Context(), o.Store, auth.NewPerson{Email: "ada@bank.example", Name: "Ada Obi", Role: auth.Analyst, Password: password}, operator)
	o.must(err)
	return p
}

func (b *browser) signIn(email, password, next string) page {
	b.t.Helper()
	return b.post("/sign-in", url.Values{"email": {email}, "password": {password}, "next": {next}})
}

func TestSigningIn(t *testing.T) {
	o := newOffice(t)
	o.known()
	o.run(t, "with e-mail and password, to where somebody wanted to go", func(t *testing.T) {
		b := o.browser()
		p := b.get("/queue?show=open&q=Ada+O.")
		if p = b.follow(p); p.status != http.StatusOK {
			t.Fatalf("the way in is %d", p.status)
		}
		p = b.post("/sign-in", with(p.form("/sign-in"), "email", " ADA@bank.example ", "password", password))
		if p.leads() != "/queue?show=open&q=Ada+O." {
			t.Errorf("it leads to %q", p.leads())
		}
		b.follow(p).is(http.StatusOK, "Ada Obi analyst")
	})
	o.run(t, "a wrong one is told so, and types only the password again", func(t *testing.T) {
		p := o.browser().signIn("ada@bank.example", "not the password", "/record").is(http.StatusUnauthorized, "E-mail or password is wrong.")
		if form := p.form("/sign-in"); form.Get("email") != "ada@bank.example" || form.Get("next") != "/record" || form.Get("password") != "" || strings.Contains(p.text, "not the password") {
			t.Errorf("the form holds %q", form)
		}
	})
	o.run(t, "whoever is not here is told the same", func(t *testing.T) {
		one, other := o.browser().signIn("ada@bank.example", "x", ""), o.browser().signIn("eve@bank.example", "x", "")
		if one.status != other.status || one.seen() != other.seen() {
			t.Errorf("%d %s\n%d %s", one.status, one.seen(), other.status, other.seen())
		}
	})
	o.run(t, "too many tries have to wait, the right one too", func(t *testing.T) {
		b := o.browser()
		for p := (page{}); p.status != http.StatusTooManyRequests; {
			if p = b.signIn("ada@bank.example", "guess", ""); p.status != http.StatusUnauthorized && p.status != http.StatusTooManyRequests {
				t.Fatalf("a guess is %d", p.status)
			}
		}
		b.signIn("ada@bank.example", password, "").is(http.StatusTooManyRequests, "Too many sign-ins have failed. Try again in 15 minutes")
		o.later(16 * time.Minute)
		b.signIn("ada@bank.example", password, "").is(http.StatusSeeOther)
	})
	o.run(t, "whoever has signed in does not see the way in", func(t *testing.T) {
		b := o.as(auth.Auditor)
		if p := b.get("/sign-in?next=%2Frecord"); p.status != http.StatusSeeOther || p.leads() != "/record" {
			t.Errorf("it is %d and leads to %q", p.status, p.leads())
		}
		if p := b.get("/"); p.leads() != "/queue" {
			t.Errorf("home is %q", p.leads())
		}
	})
	o.run(t, "nobody brings a session along", func(t *testing.T) {
		b := o.browser()
		brought := &http.Cookie{Name: "countersign", Value: strings.Repeat("A", 43)}
		b.client.Jar.SetCookies(b.url("/"), []*http.Cookie{brought})
		b.signIn("ada@bank.example", password, "").is(http.StatusSeeOther)
		if got := b.client.Jar.Cookies(b.url("/")); len(got) != 1 || got[0].Value == brought.Value {
			t.Errorf("the cookies are %v", got)
		}
	})
	o.run(t, "signing out ends the session, whoever has its cookie", func(t *testing.T) {
		b := o.as(auth.Auditor)
		copied := b.client.Jar.Cookies(b.url("/"))
		p := b.post("/sign-out", nil)
		if p.leads() != "/sign-in" || !strings.Contains(p.header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("it leads to %q with %q", p.leads(), p.header.Get("Set-Cookie"))
		}
		b.client.Jar = fixed(copied)
		if p := b.get("/queue"); p.leads() != "/sign-in?next=%2Fqueue" {
			t.Errorf("the cookie still opens the queue: %d %s", p.status, p.leads())
		}
	})
}

// After signing in a page of ours comes next, whatever the address said.
func TestWhatComesNextIsOurs(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Auditor)
	for next, want := range map[string]string{
		"/record":                    "/record",
		"/queue?q=a%26b&show=open":   "/queue?q=a%26b&show=open",
		"/cases/D-1#row-x":           "/cases/D-1#row-x",
		"":                           "/queue",
		"record":                     "/queue",
		"//evil.example":             "/queue",
		"///evil.example":            "/queue",
		"/\\evil.example":            "/queue",
		"\\\\evil.example":           "/queue",
		"https://evil.example":       "/queue",
		"https:/evil.example":        "/queue",
		"javascript:alert(1)":        "/queue",
		"\t//evil.example":           "/queue",
		"/\t/evil.example":           "/queue",
		"/\r\n/evil.example":         "/queue",
		"/\n\nSet-Cookie: a=b":       "/queue",
		" //evil.example":            "/queue",
		"/.//evil.example":           "/evil.example",
		"/x/..//evil.example":        "/evil.example",
		"/%2F/evil.example":          "/%2F/evil.example",
		"/%5Cevil.example":           "/%5Cevil.example",
		"/@evil.example":             "/@evil.example",
		"/\x00/evil.example":         "/queue",
		"/\u2028/evil.example":       "/%e2%80%a8/evil.example",
		"http:evil.example":          "/queue",
		"//user@127.0.0.1.evil":      "/queue",
		"?next=//evil.example":       "/queue",
		"/queue?next=//evil.example": "/queue?next=//evil.example",
	} {
		p := b.get("/sign-in?next=" + url.QueryEscape(next))
		got := p.leads()
		if got != want {
			t.Errorf("next=%q leads to %q, want %q", next, got, want)
		}
		if u, err := b.url("/sign-in").Parse(got); err != nil || u.Host != b.url("/").Host || u.Scheme != "http" {
			t.Errorf("next=%q leaves for %v (%v)", next, u, err)
		}
	}
}

func TestOneTimeLink(t *testing.T) {
	o := newOffice(t)
	p := o.people[auth.Analyst]
	link := func(lifetime time.Duration) string {
		secret, err := auth.MakeLink(t.Context(), o.Store, p.ID, auth.SignInLink, lifetime, operator)
		o.must(err)
		return "/link/" + secret
	}
	o.run(t, "it shows whom it lets in, as often as anybody looks, and lets them in once", func(t *testing.T) {
		address, b := link(time.Hour), o.browser()
		for range 3 {
			b.get(address).is(http.StatusOK, "This link lets Analyst Obi (analyst@bank.example) in, once.")
		}
		in := b.post(address, nil)
		if in.leads() != "/queue" {
			t.Errorf("it leads to %q", in.leads())
		}
		b.follow(in).is(http.StatusOK, "Signed in. The link is used up: choose a password under Settings to come in again.")
		for _, again := range []page{o.browser().post(address, nil), o.browser().get(address)} {
			again.is(http.StatusUnauthorized, "This link is not valid.")
		}
	})
	o.run(t, "of several who use it at once one gets in", func(t *testing.T) {
		address, in := link(time.Hour), make(chan int, 10)
		for range cap(in) {
			b := o.browser()
			go func() { in <- b.post(address, nil).status }()
		}
		statuses := map[int]int{}
		for range cap(in) {
			statuses[<-in]++
		}
		if statuses[http.StatusSeeOther] != 1 || statuses[http.StatusUnauthorized] != cap(in)-1 {
			t.Errorf("the answers were %v", statuses)
		}
	})
	o.run(t, "an old one lets nobody in", func(t *testing.T) {
		address := link(time.Hour)
		o.later(time.Hour + time.Second)
		o.browser().get(address).is(http.StatusUnauthorized, "This link is not valid. A link works once, and for a limited time")
		o.browser().post(address, nil).is(http.StatusUnauthorized)
	})
	o.run(t, "nor does that of somebody whose access was taken away", func(t *testing.T) {
		address := link(time.Hour)
		gone := p
		gone.Disabled = true
		o.must(auth.ChangePerson(t.Context(), o.Store, gone, operator))
		o.browser().get(address).is(http.StatusUnauthorized, "This link is not valid.")
		o.browser().post(address, nil).is(http.StatusUnauthorized)
	})
	o.run(t, "it does not set up what is set up", func(t *testing.T) {
		address := strings.Replace(o.linkFor(auth.Auditor), "/link/", "/welcome/", 1)
		if got := o.browser().get(address); got.leads() != strings.Replace(address, "/welcome/", "/link/", 1) {
			t.Errorf("it is %d and leads to %q", got.status, got.leads())
		}
		o.browser().post(address, url.Values{"mode": {"act"}, "email": {"m@evil.example"}, "password": {password}}).is(http.StatusUnauthorized)
	})
}

// linkFor is the address of a link that lets the person of that role in.
func (o *office) linkFor(role auth.Role) string {
	o.t.Helper()
	secret, err := auth.MakeLink(o.t.Context(), o.Store, o.people[role].ID, auth.SignInLink, time.Hour, operator)
	o.must(err)
	return "/link/" + secret
}

func TestTheFirstDay(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Shadow, policy.Act} {
		t.Run("in "+string(mode)+" mode", func(t *testing.T) {
			o := emptyOffice(t)
			secret, err := auth.MakeLink(t.Context(), o.Store, "", auth.SetUpLink, 0, operator)
			o.must(err)
			b, address := o.browser(), "/welcome/"+secret
			if p := b.get("/link/" + secret); p.leads() != address {
				t.Errorf("the link leads to %q", p.leads())
			}
			p := b.get(address).is(http.StatusOK, "You are the first person here.", "May anything be automatic?", "Failed transfer and charged twice under NGN 50,000.00")
			before := o.everything()
			typed := with(p.form(address), "email", "ada@bank.example", "name", "Ada \"the first\" Obi", "zone", "Africa/Lagos", "mode", string(mode), "password", password)
			if p.form(address).Get("mode") != "shadow" {
				t.Error("shadow mode is not the first choice")
			}
			for field, value := range map[string]string{"email": "ada", "password": "short", "zone": "Mars/Base", "mode": "yes", "name": strings.Repeat("n", 101)} {
				wrong := url.Values{}
				for name := range typed {
					wrong.Set(name, typed.Get(name))
				}
				back := b.post(address, with(wrong, field, value)).is(http.StatusBadRequest).form(address)
				for _, name := range []string{"email", "name", "zone", "mode"} {
					if got := back.Get(name); got != wrong.Get(name) && name != "mode" || name == "mode" && field != "mode" && got != string(mode) {
						t.Errorf("with a wrong %s, %s came back as %q", field, name, got)
					}
				}
				if back.Get("password") != "" {
					t.Error("the password came back")
				}
			}
			if o.everything() != before {
				t.Error("a wrong form changed something")
			}
			b.follow(b.post(address, typed)).is(http.StatusOK, `Welcome, Ada "the first" Obi. You are the first here, and an admin`, "No dispute yet")
			limits, err := o.Store.Limits(t.Context())
			o.must(err)
			people, err := o.Store.People(t.Context())
			o.must(err)
			var by string
			o.must(o.Store.DB().QueryRow("SELECT actor FROM policies ORDER BY number DESC LIMIT 1").Scan(&by))
			if want := (countersign.Actor{Kind: countersign.Person, ID: people[0].ID}).String(); limits.Mode != mode || by != want || len(people) != 1 || people[0].Role != "admin" {
				t.Errorf("the mode is %s by %s, want %s by %s; people %v", limits.Mode, by, mode, want, people)
			}
			o.browser().get(address).is(http.StatusUnauthorized, "This link is not valid.")
			o.browser().post(address, with(typed, "email", "eve@evil.example")).is(http.StatusUnauthorized, "This link is not valid.")
		})
	}
}

const wantPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func TestEveryAnswerIsGuarded(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	b := o.as(auth.Admin)
	on := "/cases/" + string(c.ID)
	answers := map[string]page{
		"a page":                  b.get(on),
		"the way in":              o.browser().get("/sign-in"),
		"a way elsewhere":         o.browser().get(on),
		"a page that is not":      b.get("/nowhere"),
		"a case that is not":      b.get("/cases/D-NONE"),
		"a method that is not":    b.send("PUT", on, nil, nil),
		"what may not be":         o.as(auth.Auditor).get("/open"),
		"what another site sends": b.send("POST", on+"/approve", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}}),
		"what has no state":       b.post(on+"/approve", nil),
		"what is done":            b.post("/settings/mode", url.Values{"mode": {"act"}}),
		"headers alone":           b.send("HEAD", on, nil, nil),
		"a live trace":            b.send("HEAD", on+"/live", nil, nil),
		"a file to keep":          b.get(on + "/record/export"),
		"a part for the script":   b.get("/queue/news"),
	}
	for sentence, p := range answers {
		for name, want := range map[string]string{"Content-Security-Policy": wantPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Vary": "Cookie"} {
			if got := p.header.Get(name); got != want {
				t.Errorf("%s has %s %q, want %q", sentence, name, got, want)
			}
		}
		if strings.HasPrefix(p.header.Get("Content-Type"), "text/html") && p.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s is %s", sentence, p.header.Get("Content-Type"))
		}
		for _, e := range p.parse().all {
			for name := range e.attrs {
				if strings.HasPrefix(name, "on") || name == "style" {
					t.Errorf("%s has an element %s with %s, which the policy forbids", sentence, e.name, name)
				}
			}
			if (e.name == "script" || e.name == "style") && strings.TrimSpace(e.text) != "" {
				t.Errorf("%s has a %s in it, which the policy forbids", sentence, e.name)
			}
		}
	}
	for sentence, want := range map[string]int{"a page": 200, "a way elsewhere": 303, "a page that is not": 404, "a case that is not": 404, "a method that is not": 404, "what may not be": 403,
		"what another site sends": 403, "what has no state": 428, "headers alone": 200} {
		if got := answers[sentence].status; got != want {
			t.Errorf("%s is %d, want %d", sentence, got, want)
		}
	}
}

func TestFilesOfAPageAreKeptByBrowsers(t *testing.T) {
	o := newOffice(t)
	b := o.browser()
	var files []string
	for _, e := range b.get("/sign-in").parse().all {
		if file := e.attrs["href"] + e.attrs["src"]; strings.HasPrefix(file, "/static/") {
			files = append(files, file)
		}
	}
	if len(files) != 5 {
		t.Errorf("a page has the files %q", files)
	}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	for _, file := range files {
		p := b.get(file)
		kind := kinds[file[strings.LastIndexByte(file, '.'):]]
		if p.status != http.StatusOK || p.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || p.header.Get("Content-Type") != kind || p.header.Get("Vary") != "" {
			t.Errorf("%s is %d %v", file, p.status, p.header)
		}
		if head := b.send("HEAD", file, nil, nil); head.status != http.StatusOK || head.text != "" || head.header.Get("Content-Type") != kind {
			t.Errorf("the headers of %s are %d %v", file, head.status, head.header)
		}
		old := "/static/000000000000/" + file[strings.LastIndexByte(file, '/')+1:]
		if p := b.get(old); p.status != http.StatusOK || p.header.Get("Cache-Control") != "no-store" {
			t.Errorf("of another version, %s is %d and kept: %q", old, p.status, p.header.Get("Cache-Control"))
		}
	}
	for _, none := range []string{"/static/x/layout.html", "/static/x/htmx.SHA256", "/static/x/..%2Fweb.go", "/static/"} {
		if p := b.get(none); p.status != http.StatusNotFound {
			t.Errorf("%s is %d", none, p.status)
		}
	}
}

func TestSessionCookie(t *testing.T) {
	for sentence, tt := range map[string]struct {
		public, name string
		flags        []string
	}{
		"over plain HTTP": {"", "countersign", []string{"HttpOnly", "SameSite=Lax", "Path=/"}},
		"over HTTPS":      {"https://desk.bank.example", "__Host-countersign", []string{"HttpOnly", "SameSite=Lax", "Path=/", "Secure"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOffice(t, func(c *app.Config) { c.PublicURL = tt.public })
			p := o.browser().post(o.linkFor(auth.Auditor), nil)
			parts := strings.Split(p.header.Get("Set-Cookie"), "; ")
			slices.Sort(tt.flags)
			slices.Sort(parts[1:])
			if name, value, _ := strings.Cut(parts[0], "="); name != tt.name || len(value) < 43 || !slices.Equal(parts[1:], tt.flags) {
				t.Errorf("the cookie is %q", parts)
			}
			if n := len(p.header["Set-Cookie"]); n != 1 {
				t.Errorf("%d cookies are set", n)
			}
		})
	}
}

// The log names routes and people, never what is secret or what somebody wrote.
func TestLogHoldsNoSecrets(t *testing.T) {
	o := newOffice(t)
	o.known()
	c := o.inReview("T-1")
	b := o.browser()
	link := o.linkFor(auth.Analyst)
	b.signIn("ada@bank.example", "SECRETGUESS", "/queue?q=SECRETNEXT")
	b.post(link, nil)
	b.get("/queue?q=SECRETQUERY")
	b.decides(c, "escalate", "reason", "SECRETREASON", "reference", "SECRETREFERENCE").is(http.StatusSeeOther)
	b.get("/SECRETPATH")
	o.server.Close()
	text := o.log.String()
	cookie := b.client.Jar.Cookies(b.url("/"))[0].Value
	for _, secret := range []string{"SECRET", strings.TrimPrefix(link, "/link/"), cookie, "ada@bank.example"} {
		if line := strings.Index(text, secret); line >= 0 {
			t.Errorf("the log holds %q: %.300s", secret, text[max(0, line-200):])
		}
	}
	for _, want := range []string{`method=POST route="POST /link/{secret}" status=303`, `route="GET /queue" status=200`, "person=" + o.people[auth.Analyst].ID,
		`route="POST /cases/{id}/{verb}" status=303`, "case=" + string(c.ID)} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not say %s:\n%s", want, text)
		}
	}
}

// What somebody sends after their session has ended is not taken, and they are told where it still is: in their browser.
func TestAFormThatIsSentAfterTheSessionHasEnded(t *testing.T) {
	o := newOffice(t)
	ours := o.server.URL + "/cases/D-1/override"
	for _, row := range []struct{ on, next string }{
		{ours, "/cases/D-1/override"}, {"http://elsewhere.example/cases/D-1/override", "/queue"}, {"", "/queue"}, {"://", "/queue"},
	} {
		b := o.browser()
		p := b.send(http.MethodPost, "/cases/D-1/override", url.Values{"reason": {"It was delivered to the neighbour."}}, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Referer": {row.on}})
		to, err := url.Parse(p.leads())
		if err != nil || to.Path != "/sign-in" || to.Query().Get("next") != row.next || to.Query().Get("unsent") == "" {
			t.Errorf("sent from %q it leads to %q", row.on, p.leads())
		}
		b.get(p.leads()).is(http.StatusOK, "what you sent was not taken", "Your browser still has what you typed")
	}
}

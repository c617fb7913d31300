package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"countersign/app"
	"countersign/auth"
	chromium "countersign/internal/browser"
)

// proxied puts a proxy before the office that speaks TLS to browsers and plain HTTP to the program, and writes its own idea of a
// host into what it passes on, as proxies do unless somebody tells them not to.
func (o *office) proxied() {
	o.t.Helper()
	behind := o.url("")
	o.server = httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.SetXForwarded()
	}})
	o.t.Cleanup(o.server.Close)
}

func public(url string) func(*app.Config)   { return func(c *app.Config) { c.PublicURL = url } }
func trusting(who string) func(*app.Config) { return func(c *app.Config) { c.Proxies = who } }

// from is a browser on another address of this machine.
func (o *office) from(address string) *browser {
	o.t.Helper()
	b := o.browser()
	transport := b.client.Transport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext
	b.client.Transport = transport
	o.t.Cleanup(transport.CloseIdleConnections)
	return b
}

func (o *office) cookieOf(p page) string {
	name, _, _ := strings.Cut(p.header.Get("Set-Cookie"), "=")
	if strings.Contains(p.header.Get("Set-Cookie"), "Secure") != strings.HasPrefix(name, "__Host-") {
		o.t.Errorf("the cookie is %q", p.header.Get("Set-Cookie"))
	}
	return name
}

func TestBehindAProxyThatRewritesTheHost(t *testing.T) {
	t.Run("what a page of ours sends is done", func(t *testing.T) {
		o := newOffice(t)
		o.proxied()
		o.as(auth.Admin).post("/settings/me", url.Values{"name": {"Ada"}, "zone": {"UTC"}}).is(http.StatusSeeOther)
	})
	old := func(o *office) http.Header { return http.Header{"Origin": {o.server.URL}} } // a browser of before Sec-Fetch-Site
	form := url.Values{"name": {"Ada"}, "zone": {"UTC"}}
	t.Run("an old browser is refused, and the page names what an operator sets", func(t *testing.T) {
		o := newOffice(t)
		o.proxied()
		o.as(auth.Admin).send("POST", "/settings/me", form, old(o)).is(http.StatusForbidden, "nothing was done", "its operator sets COUNTERSIGN_PUBLIC_URL")
	})
	t.Run("and is not once that is set, while other sites still are", func(t *testing.T) {
		o := newOffice(t, public("https://desk.bank.example/"))
		o.proxied()
		b := o.as(auth.Admin)
		b.send("POST", "/settings/me", form, http.Header{"Origin": {"https://desk.bank.example"}}).is(http.StatusSeeOther)
		for _, origin := range []string{"https://evil.example", "http://desk.bank.example", "https://desk.bank.example.evil.example", "null"} {
			b.send("POST", "/settings/me", form, http.Header{"Origin": {origin}}).is(http.StatusForbidden, "This was sent by another site")
		}
		b.send("POST", "/settings/me", form, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}).is(http.StatusForbidden)
	})
	t.Run("a new browser that says it was another site is told of no setting", func(t *testing.T) {
		o := newOffice(t)
		p := o.as(auth.Admin).send("POST", "/settings/me", form, http.Header{"Sec-Fetch-Site": {"cross-site"}}).is(http.StatusForbidden)
		if strings.Contains(p.seen(), "COUNTERSIGN") {
			t.Errorf("the page leads to a setting that would not help: %s", p.seen())
		}
	})
	t.Run("a private address in plain HTTP works as it is", func(t *testing.T) {
		o := newOffice(t)
		b := o.browser()
		b.client.Transport = addressed("10.0.0.5:8080")
		p := b.send("POST", o.linkFor(auth.Analyst), nil, http.Header{"Origin": {"http://10.0.0.5:8080"}}).is(http.StatusSeeOther)
		if name := o.cookieOf(p); name != "countersign" {
			t.Errorf("the cookie is called %s", name)
		}
		b.get("/queue").is(http.StatusOK)
	})
}

// addressed sends every request with that Host, as a browser that was given this address does.
type addressed string

func (a addressed) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Host = string(a)
	return http.DefaultTransport.RoundTrip(r)
}

func TestWhatAProxySaysIsBelievedOfATrustedOne(t *testing.T) {
	t.Run("that people come by HTTPS", func(t *testing.T) {
		for trusted, want := range map[string]string{"127.0.0.1": "__Host-countersign", "127.0.0.0/8": "__Host-countersign", "10.0.0.0/8": "countersign", "": "countersign"} {
			o := newOffice(t, trusting(trusted))
			o.proxied()
			b := o.browser()
			if got := o.cookieOf(b.post(o.linkFor(auth.Analyst), nil)); got != want {
				t.Errorf("with %q trusted the cookie is %s, want %s", trusted, got, want)
			}
			b.get("/queue").is(http.StatusOK)
		}
	})
	t.Run("where links lead", func(t *testing.T) {
		o := newOffice(t, trusting("127.0.0.1"))
		b := o.as(auth.Admin)
		header := http.Header{"Sec-Fetch-Site": {"same-origin"}, "X-Forwarded-Proto": {"https"}}
		// The cookie of the other way is not this one's.
		b.send("POST", "/settings/people/"+o.people[auth.Auditor].ID+"/link", nil, header).is(http.StatusSeeOther)
		b.post("/settings/people/"+o.people[auth.Auditor].ID+"/link", nil).is(http.StatusOK, o.server.URL+"/link/")
	})
	t.Run("a link leads to the public address, whatever host a request names", func(t *testing.T) {
		o := newOffice(t, public("https://desk.bank.example"))
		o.proxied()
		b := o.as(auth.Admin)
		p := b.send("POST", "/settings/people/"+o.people[auth.Auditor].ID+"/link", nil, http.Header{"Sec-Fetch-Site": {"same-origin"}, "X-Forwarded-Host": {"evil.example"}})
		p.is(http.StatusOK, "https://desk.bank.example/link/")
		if strings.Contains(p.text, "evil.example") {
			t.Error("a header of the request is in the page")
		}
	})
	t.Run("who somebody is that guesses passwords", func(t *testing.T) {
		for _, row := range []struct {
			trusted string
			other   int // what another client is answered after one was stopped
		}{{"127.0.0.1", http.StatusUnauthorized}, {"", http.StatusTooManyRequests}} {
			o := newOffice(t, trusting(row.trusted))
			o.proxied()
			guess := func(b *browser, i int) int {
				return b.post("/sign-in", url.Values{"email": {fmt.Sprintf("x%d@bank.example", i)}, "password": {"guess"}}).status
			}
			guesser, other := o.from("127.0.0.2"), o.from("127.0.0.3")
			for i := range 20 {
				if got := guess(guesser, i); got != http.StatusUnauthorized {
					t.Fatalf("guess %d is answered with %d", i, got)
				}
			}
			if got := guess(guesser, 20); got != http.StatusTooManyRequests {
				t.Errorf("with %q trusted, who has guessed twenty times is answered with %d", row.trusted, got)
			}
			if got := guess(other, 21); got != row.other {
				t.Errorf("with %q trusted, another client is answered with %d, want %d", row.trusted, got, row.other)
			}
		}
	})
	t.Run("and of nobody else: who says that they are another each time is stopped", func(t *testing.T) {
		o := newOffice(t, trusting("10.0.0.0/8"))
		another := func(i int) http.Header {
			return http.Header{"Sec-Fetch-Site": {"same-origin"}, "X-Forwarded-For": {fmt.Sprintf("198.51.100.%d", i)}}
		}
		b := o.browser()
		guess := func(i int) int {
			return b.send("POST", "/sign-in", url.Values{"email": {fmt.Sprintf("x%d@bank.example", i)}, "password": {"guess"}}, another(i)).status
		}
		inside := o.as(auth.Analyst)
		inside.post("/settings/password", url.Values{"password": {password}}).is(http.StatusSeeOther)
		inside.send("POST", "/settings/password", url.Values{"current": {"guess"}, "password": {password}}, another(0)).is(http.StatusBadRequest)
		for i := 1; i < 20; i++ {
			if got := guess(i); got != http.StatusUnauthorized {
				t.Fatalf("guess %d is answered with %d", i, got)
			}
		}
		if got := guess(20); got != http.StatusTooManyRequests {
			t.Errorf("they may go on: %d", got)
		}
	})
}

// Somebody signs in and decides a case through a proxy that speaks TLS and rewrites the host, with nothing set but who is trusted.
func TestACaseIsDecidedThroughATLSProxy(t *testing.T) {
	t.Parallel()
	reviewer := make(leash)
	o := newOffice(t, reviewer.models, trusting("127.0.0.1"))
	o.proxied()
	c := o.dispute("T-1")
	s := o.sits(auth.Analyst, chromium.Options{AnyCertificate: true})
	s.comesIn()
	s.opens("/cases/" + string(c.ID))
	s.See("Investigation began")
	s.stays()
	for range 5 {
		reviewer.answers(t)
	}
	s.See("Post reversal of NGN 24,500.00") // which the stream brought, through the proxy
	s.stayed()
	s.ClickText("Post reversal of NGN 24,500.00")
	s.At("/cases/*/approve")
	s.ClickText("Post reversal of NGN 24,500.00 to account ****6789")
	s.At("/cases/" + string(c.ID))
	s.See("The reversal of NGN 24,500.00 was posted, and the case is closed.")
	s.goes()
}

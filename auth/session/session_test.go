package session

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/internal/testdb"
	"countersign/store"
)

var operator = countersign.Actor{Kind: countersign.CLI, ID: "root"}

// house is a database with a server in front of it, and a clock that a test moves.
type house struct {
	*testing.T
	store  *store.Store
	server *httptest.Server
	clock  atomic.Int64
	ada    store.Person
	going  chan struct{} // lets a request go on that waits at /wait or in the middle of /stream
}

func newHouse(t *testing.T, database string) *house {
	t.Helper()
	h := &house{T: t, going: make(chan struct{})}
	h.clock.Store(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC).UnixMicro())
	var err error
	if h.store, err = store.Open(t.Context(), database, store.Options{Now: h.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	if h.ada, err = auth.AddPerson(t.Context(), h.store, auth.NewPerson{Email: "ada@bank.example", Role: auth.Analyst, Zone: "Africa/Lagos"}, operator); err != nil {
		t.Fatal(err)
	}
	h.start(Options{})
	return h
}

func (h *house) now() time.Time           { return time.UnixMicro(h.clock.Load()).UTC() }
func (h *house) later(d time.Duration)    { h.clock.Add(d.Microseconds()) }
func (h *house) change(p store.Person)    { h.must(auth.ChangePerson(h.Context(), h.store, p, operator)) }
func (h *house) latest() (p store.Person) { p, _ = h.store.Person(h.Context(), h.ada.ID); return p }

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// start starts the server, or starts it again.
func (h *house) start(o Options) {
	if h.server != nil {
		h.server.Close()
	}
	handler := h.handler(New(h.store, o))
	if h.server = httptest.NewServer(handler); o.Secure != nil {
		h.server.Close()
		h.server = httptest.NewTLSServer(handler)
	}
	h.Cleanup(h.server.Close)
}

func (h *house) handler(sessions *Sessions) http.Handler {
	mux := http.NewServeMux()
	page := func(pattern string, f func(context.Context, io.Writer, string) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := f(r.Context(), w, r.URL.Query().Get("text")); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	page("/in", func(ctx context.Context, _ io.Writer, _ string) error { return sessions.SignIn(ctx, h.latest()) })
	page("/out", func(ctx context.Context, _ io.Writer, text string) error {
		if err := sessions.SignOut(ctx); err != nil || text == "" {
			return err
		}
		return sessions.Say(ctx, text)
	})
	page("/say", func(ctx context.Context, _ io.Writer, text string) error { return sessions.Say(ctx, text) })
	page("/told", func(ctx context.Context, w io.Writer, _ string) error {
		_, err := io.WriteString(w, sessions.Told(ctx))
		return err
	})
	page("/wait", func(ctx context.Context, w io.Writer, text string) error {
		h.going <- struct{}{}
		<-h.going
		return sessions.Say(ctx, text)
	})
	page("/me", func(ctx context.Context, w io.Writer, _ string) error {
		p, ok, err := sessions.Principal(ctx)
		if err != nil {
			return err
		}
		answer := "nobody"
		if ok {
			answer = strings.Join([]string{p.Actor.String(), p.PersonID, string(p.Role), p.Name, p.Zone}, " ")
		}
		_, err = io.WriteString(w, answer)
		return err
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		for _, event := range []string{"first\n", "second\n"} {
			_, _ = io.WriteString(w, event)
			if err := http.NewResponseController(w).Flush(); err != nil {
				h.Error(err)
			}
			<-h.going
		}
	})
	return sessions.Middleware(mux)
}

// browser keeps cookies as browsers do.
type browser struct {
	*house
	*http.Client
}

func (h *house) browser() browser {
	jar, _ := cookiejar.New(nil)
	return browser{h, &http.Client{Jar: jar, Transport: h.server.Client().Transport}}
}

// open opens a page and returns what it says.
func (b browser) open(path string) string {
	b.Helper()
	text, _ := b.answer(path)
	return text
}

func (b browser) answer(path string) (string, http.Header) {
	b.Helper()
	res, err := b.Get(b.server.URL + path)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	if res.StatusCode != http.StatusOK {
		b.Fatalf("%s answered %d %s", path, res.StatusCode, text)
	}
	return string(text), res.Header
}

// token is what the browser's cookie holds, empty if it has none.
func (b browser) token() string {
	req := httptest.NewRequest("GET", b.server.URL+"/", nil)
	for _, c := range b.Jar.Cookies(req.URL) {
		return c.Value
	}
	return ""
}

// with is another browser that has got hold of a token.
func (h *house) with(token string) browser {
	b := h.browser()
	req := httptest.NewRequest("GET", h.server.URL+"/", nil)
	b.Jar.SetCookies(req.URL, []*http.Cookie{{Name: "countersign", Value: token, Path: "/"}})
	return b
}

// is wants to be somebody, or nobody.
func (b browser) is(who string) {
	b.Helper()
	if got := b.open("/me"); !strings.HasPrefix(got, who) {
		b.Errorf("the browser is %q, want %s", got, who)
	}
}

const (
	nobody   = "nobody"
	somebody = "person:usr_"
)

func (h *house) sessions() (n int) {
	h.Helper()
	h.must(h.store.DB().QueryRow("SELECT COUNT(*) FROM sessions").Scan(&n))
	return n
}

func TestSessions(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		b := h.browser()
		b.is(nobody)
		b.open("/in")
		b.is(somebody)

		t.Run("whoever signed in is who they are, with their role and zone", func(t *testing.T) {
			if got, want := b.open("/me"), "person:"+h.ada.ID+" "+h.ada.ID+" analyst ada Africa/Lagos"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
		t.Run("and nobody else is", func(t *testing.T) { h.browser().is(nobody) })
		t.Run("a restart signs nobody out", func(t *testing.T) {
			h.start(Options{})
			b.is(somebody)
		})
		t.Run("the database does not hold what the cookie holds", func(t *testing.T) {
			var token string
			var data []byte
			h.must(h.store.DB().QueryRow("SELECT token, data FROM sessions").Scan(&token, &data))
			if cookie := b.token(); len(cookie) < 40 || token == cookie || strings.Contains(string(data), cookie) {
				t.Errorf("the cookie holds %d characters, the database %s", len(cookie), token)
			}
		})
		t.Run("whoever signs in again has another token, and the old one is worth nothing", func(t *testing.T) {
			old := b.token()
			b.open("/in")
			b.is(somebody)
			if b.token() == old {
				t.Error("the token is the same")
			}
			h.with(old).is(nobody)
			if n := h.sessions(); n != 1 {
				t.Errorf("there are %d sessions", n)
			}
		})
		t.Run("a token that somebody else chose is not taken up", func(t *testing.T) {
			chosen := h.with("chosen-by-somebody-else")
			chosen.open("/in")
			if chosen.is(somebody); chosen.token() == "chosen-by-somebody-else" {
				t.Error("the token is theirs")
			}
		})
		t.Run("signing out ends it in the browser and in the database", func(t *testing.T) {
			old := b.token()
			b.open("/out")
			if b.is(nobody); b.token() != "" {
				t.Error("the cookie is still there")
			}
			h.with(old).is(nobody)
		})
		t.Run("a request that was under way brings nothing back", func(t *testing.T) {
			b.open("/in")
			old := b.token()
			ended := make(chan string)
			go func() { ended <- h.with(old).open("/wait?text=done") }()
			<-h.going
			b.open("/out")
			h.going <- struct{}{}
			<-ended
			h.with(old).is(nobody)
		})
	})
}

func TestASessionIsOver(t *testing.T) {
	for _, row := range []struct {
		sentence string
		change   func(*house)
		who      string
	}{
		{"when its person may not sign in any more", func(h *house) { p := h.latest(); p.Disabled = true; h.change(p) }, nobody},
		{"also when they may again", func(h *house) {
			for _, disabled := range []bool{true, false} {
				p := h.latest()
				p.Disabled = disabled
				h.change(p)
			}
		}, nobody},
		{"when they have another role", func(h *house) { p := h.latest(); p.Role = "auditor"; h.change(p) }, nobody},
		{"when they have another password", func(h *house) {
			h.must(auth.ChangePassword(h.Context(), h.store, h.ada.ID, "correct horse battery", operator))
		}, nobody},
		{"when they are not there", func(h *house) {
			_, err := h.store.DB().Exec("DELETE FROM people")
			h.must(err)
		}, nobody},
		{"when what it holds cannot be read", func(h *house) {
			_, err := h.store.DB().Exec("UPDATE sessions SET data = CAST('x' AS BLOB)")
			h.must(err)
		}, nobody},
		{"not when they have another name", func(h *house) { p := h.latest(); p.Name = "Ada Obi"; h.change(p) }, somebody},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			h := newHouse(t, testdb.SQLite(t))
			b := h.browser()
			b.open("/in")
			row.change(h)
			b.is(row.who)
		})
	}
	t.Run("and who has another role has it after signing in again", func(t *testing.T) {
		h := newHouse(t, testdb.SQLite(t))
		b := h.browser()
		b.open("/in")
		p := h.latest()
		p.Role = "auditor"
		h.change(p)
		b.open("/in")
		if got := b.open("/me"); !strings.Contains(got, " auditor ") {
			t.Errorf("got %s", got)
		}
	})
}

func TestASessionEnds(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		for _, row := range []struct {
			sentence string
			every    time.Duration
			times    int
			who      string
		}{
			{"it lasts while somebody comes back within two hours", 119 * time.Minute, 5, somebody},
			{"it ends after two hours of quiet", 2 * time.Hour, 1, nobody},
			{"it ends after twelve hours whatever they do", time.Hour, 12, nobody},
			{"and not before", time.Hour, 11, somebody},
		} {
			t.Run(row.sentence, func(t *testing.T) {
				b := h.browser()
				b.open("/in")
				for range row.times {
					h.later(row.every)
					b.open("/told")
				}
				b.is(row.who)
			})
		}
		t.Run("what has ended is swept up when somebody signs in", func(t *testing.T) {
			h.later(lifetime)
			h.browser().open("/in")
			if n := h.sessions(); n != 1 {
				t.Errorf("there are %d sessions", n)
			}
		})
	})
}

// TestAPageThatAsksByItselfKeepsNobodySignedIn: a tab that was left open must not look like somebody who works.
func TestAPageThatAsksByItselfKeepsNobodySignedIn(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	h.start(Options{Unattended: func(r *http.Request) bool { return r.URL.Path == "/told" }})
	b := h.browser()
	b.open("/in")
	for range 3 {
		h.later(50 * time.Minute)
		b.open("/told")
	}
	b.is(nobody)
}

func TestPagesWriteNothingMoreThanOnceAMinute(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	b := h.browser()
	b.open("/in")
	_, err := h.store.DB().Exec(`CREATE TABLE writes (n INTEGER); INSERT INTO writes VALUES (0);
		CREATE TRIGGER written AFTER UPDATE ON sessions BEGIN UPDATE writes SET n = n + 1; END`)
	h.must(err)
	writes := func() (n int) {
		h.must(h.store.DB().QueryRow("SELECT n FROM writes").Scan(&n))
		return n
	}
	for range 10 {
		h.later(5 * time.Second)
		b.open("/me")
		b.open("/told")
	}
	if n := writes(); n != 0 {
		t.Errorf("ten pages in a minute wrote %d times", n)
	}
	h.later(10 * time.Second)
	for range 10 {
		b.open("/me")
	}
	if n := writes(); n != 1 {
		t.Errorf("after the minute ten pages wrote %d times, want once", n)
	}
}

func TestCookie(t *testing.T) {
	for _, row := range []struct {
		sentence string
		secure   bool
		want     string
	}{
		{"by HTTP", false, "countersign=%; Path=/; HttpOnly; SameSite=Lax"},
		{"by HTTPS only", true, "__Host-countersign=%; Path=/; HttpOnly; Secure; SameSite=Lax"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			h := newHouse(t, testdb.SQLite(t))
			if h.start(Options{}); row.secure {
				h.start(Options{Secure: func(r *http.Request) bool { return r.TLS != nil }})
			}
			b := h.browser()
			_, header := b.answer("/in")
			cookies := header.Values("Set-Cookie")
			if len(cookies) != 1 || cookies[0] != strings.Replace(row.want, "%", b.token(), 1) || len(b.token()) != 43 {
				t.Errorf("got %q, want %s", cookies, row.want)
			}
			if header.Get("Cache-Control") != "no-store" || header.Get("Vary") != "Cookie" {
				t.Errorf("it may be kept by others: %v", header)
			}
			b.is(somebody)
		})
	}
	t.Run("signing out takes it away", func(t *testing.T) {
		h := newHouse(t, testdb.SQLite(t))
		b := h.browser()
		b.open("/in")
		_, header := b.answer("/out")
		if cookies := header.Values("Set-Cookie"); len(cookies) != 1 || cookies[0] != "countersign=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
			t.Errorf("got %q", cookies)
		}
	})
	t.Run("a browser that has it is not sent it again", func(t *testing.T) {
		h := newHouse(t, testdb.SQLite(t))
		b := h.browser()
		b.open("/in")
		for _, path := range []string{"/me", "/say?text=saved", "/told"} {
			if _, header := b.answer(path); header.Get("Set-Cookie") != "" {
				t.Errorf("%s sent %s", path, header.Get("Set-Cookie"))
			}
		}
	})
	t.Run("an answer has one, whatever else it did", func(t *testing.T) {
		h := newHouse(t, testdb.SQLite(t))
		b := h.browser()
		b.open("/in")
		_, header := b.answer("/out?text=bye")
		if cookies := header.Values("Set-Cookie"); len(cookies) != 1 || strings.Contains(cookies[0], "Max-Age") {
			t.Errorf("got %q", cookies)
		}
		b.is(nobody)
		if got := b.open("/told"); got != "bye" {
			t.Errorf("told %q", got)
		}
	})
}

func TestMessages(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	for _, row := range []struct{ sentence, first string }{{"of somebody", "/in"}, {"of whoever has not signed in", "/told"}} {
		t.Run("a message is for one page, "+row.sentence, func(t *testing.T) {
			b := h.browser()
			b.open(row.first)
			b.open("/say?text=saved")
			h.browser().open("/told")
			if got := b.open("/told"); got != "saved" {
				t.Errorf("told %q", got)
			}
			if got := b.open("/told"); got != "" {
				t.Errorf("told again: %q", got)
			}
		})
	}
	t.Run("one that nobody reads is forgotten soon", func(t *testing.T) {
		b := h.browser()
		b.open("/say?text=saved")
		h.later(unsigned)
		if got := b.open("/told"); got != "" {
			t.Errorf("told %q", got)
		}
	})
	t.Run("and reading it signs nobody out", func(t *testing.T) {
		b := h.browser()
		b.open("/in")
		b.open("/say?text=saved")
		b.open("/told")
		h.later(unsigned)
		b.is(somebody)
	})
}

func TestAStreamIsNotHeldBack(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	b := h.browser()
	b.open("/in")
	res, err := b.Get(h.server.URL + "/stream")
	h.must(err)
	defer res.Body.Close()
	events := bufio.NewReader(res.Body)
	for _, want := range []string{"first\n", "second\n"} {
		if got, err := events.ReadString('\n'); err != nil || got != want { // the page has not ended: it waits for us
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
		h.going <- struct{}{}
	}
}

func TestADatabaseThatDoesNotAnswerSignsNobodyOut(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	var failed error
	h.start(Options{Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
		failed = err
		w.WriteHeader(http.StatusTeapot)
	}})
	b := h.browser()
	b.open("/in")
	token := b.token()
	h.must(h.store.Close())
	res, err := b.Get(h.server.URL + "/me")
	h.must(err)
	res.Body.Close()
	if res.StatusCode != http.StatusTeapot || failed == nil || b.token() != token {
		t.Errorf("answered %d, failed with %v", res.StatusCode, failed)
	}
	t.Run("and says so in words that hold nothing of the cause", func(t *testing.T) {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/me", nil)
		r.AddCookie(&http.Cookie{Name: "countersign", Value: token})
		h.handler(New(h.store, Options{})).ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "closed") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

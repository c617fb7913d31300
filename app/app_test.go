package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/follow"
	"countersign/internal/testdb"
	"countersign/pipeline/policy"
	"countersign/store"
)

// refused checks an error that an operator reads.
func refused(t *testing.T, err error, kind countersign.ErrorKind, says string) {
	t.Helper()
	if countersign.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v (%s), want %s with %q", err, countersign.KindOf(err), kind, says)
	}
}

func open(t *testing.T, c Config) *App {
	t.Helper()
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tt := range map[string]struct {
		addr, says string
		kind       countersign.ErrorKind
	}{
		"a port alone":                           {"8080", "expected host:port", countersign.Invalid},
		"no port":                                {"127.0.0.1:", "expected host:port", countersign.Invalid},
		"a port that cannot be":                  {"127.0.0.1:65536", "0 to 65535", countersign.Invalid},
		"a negative port":                        {"127.0.0.1:-1", "0 to 65535", countersign.Invalid},
		"an address with a scheme":               {"http://127.0.0.1:80", "expected host:port", countersign.Invalid},
		"a port that is taken":                   {taken.Addr().String(), "another program may be using the port", countersign.Unavailable},
		"an address that this machine lacks":     {"192.0.2.1:0", "this machine has no such address", countersign.Unavailable},
		"a host that nobody has":                 {"nowhere.invalid:0", "this machine has no such address", countersign.Unavailable},
		"an address of version six in its form":  {"::1:8080", "expected host:port", countersign.Invalid},
		"nothing":                                {"", "expected host:port", countersign.Invalid},
		"a port by a name that no service bears": {"127.0.0.1:no-such-service", "expected host:port", countersign.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Listen("--addr", tt.addr)
			if err == nil {
				l.Close()
			}
			refused(t, err, tt.kind, tt.says)
		})
	}
	l, err := Listen("--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestWhatOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	openai := func(c ModelConfig) Config {
		c.Provider = "openai"
		return Config{Data: t.TempDir(), Model: c}
	}
	for name, tt := range map[string]struct {
		config Config
		kind   countersign.ErrorKind
		says   string
	}{
		"a file for a folder":              {Config{Data: file}, countersign.Unavailable, "cannot make the data folder " + file},
		"a key that is not there":          {Config{Data: t.TempDir(), KeyFile: file + ".key"}, countersign.Unavailable, "is not there"},
		"a database of another kind":       {Config{Data: t.TempDir(), Database: "mysql://u:canary@h/x"}, countersign.Invalid, "expected the path of a SQLite file"},
		"a URL with a slash missing":       {Config{Data: t.TempDir(), Database: "postgres:/h/x"}, countersign.Invalid, "begins with postgres://"},
		"a folder that is not there":       {Config{Data: t.TempDir(), Database: file + "s/x.db"}, countersign.Unavailable, "cannot open the database"},
		"the same, to work there":          {Config{Data: t.TempDir(), Database: file + "s/x.db", Work: true}, countersign.Unavailable, "cannot lock the database"},
		"a provider nobody knows":          {Config{Data: t.TempDir(), Model: ModelConfig{Provider: "gpt"}}, countersign.Invalid, "COUNTERSIGN_MODEL_PROVIDER: \"gpt\""},
		"anthropic without a server":       {Config{Data: t.TempDir(), Model: ModelConfig{Provider: "anthropic", Name: "m"}}, countersign.Invalid, "COUNTERSIGN_MODEL_BASE_URL: is missing"},
		"openai without a server":          {openai(ModelConfig{Name: "m"}), countersign.Invalid, "COUNTERSIGN_MODEL_BASE_URL: is missing"},
		"openai without a model":           {openai(ModelConfig{BaseURL: "http://h/v1"}), countersign.Invalid, "COUNTERSIGN_MODEL: is missing"},
		"a base URL without a scheme":      {openai(ModelConfig{Name: "m", BaseURL: "localhost:8000/v1"}), countersign.Invalid, "COUNTERSIGN_MODEL_BASE_URL: \"localhost:8000/v1\""},
		"a base URL with a password":       {openai(ModelConfig{Name: "m", BaseURL: "http://u:canary@h/v1"}), countersign.Invalid, "COUNTERSIGN_MODEL_BASE_URL: holds a user"},
		"a base URL with a query":          {openai(ModelConfig{Name: "m", BaseURL: "http://h/v1?key=canary"}), countersign.Invalid, "COUNTERSIGN_MODEL_BASE_URL: holds"},
		"a key with a line break in it":    {openai(ModelConfig{Name: "m", BaseURL: "http://h/v1", APIKey: "canary\nx"}), countersign.Invalid, "COUNTERSIGN_MODEL_API_KEY: holds"},
		"a model for a database like that": {Config{Data: t.TempDir(), Database: "redis://canary", Model: ModelConfig{Provider: "gpt"}}, countersign.Invalid, "redis"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), tt.config)
			refused(t, err, tt.kind, tt.says)
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error gives a secret away: %v", err)
			}
		})
	}
}

func TestOneProcessWorksASQLiteDatabase(t *testing.T) {
	config := Config{Data: t.TempDir(), Work: true}
	first := open(t, config)
	_, err := Open(t.Context(), config)
	refused(t, err, countersign.Conflict, "another countersign is already working on")
	open(t, Config{Data: config.Data}) // without work there is room
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, config)
}

// What lies in the folder after a stop must be all of the database: people copy the file.
func TestAfterCloseTheFileIsAllThereIs(t *testing.T) {
	dir := t.TempDir()
	a := open(t, Config{Data: dir, Work: true})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"countersign.db-wal", "countersign.db-shm"} {
		if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
			t.Errorf("%s was left behind", left)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "countersign.db"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := open(t, Config{Data: dir, Database: copied}).Store.KeyID(t.Context()); err != nil || id != a.Key.ID() {
		t.Errorf("the copy knows key %q (%v), want %q", id, err, a.Key.ID())
	}
}

// finding picks one of doctor's.
func finding(t *testing.T, all []Finding, what string) Finding {
	t.Helper()
	for _, f := range all {
		if f.What == what {
			return f
		}
	}
	t.Fatalf("there is no finding about the %s in %v", what, all)
	return Finding{}
}

func TestDoctorAsksTheModelServer(t *testing.T) {
	var asked *http.Request
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(status)
	}))
	defer server.Close()
	config := Config{Data: t.TempDir(), Model: ModelConfig{Provider: "openai", Name: "m", BaseURL: server.URL + "/v1/", APIKey: "sk-canary"}}
	for code, says := range map[int]string{200: "the server answers", 401: "refuses the key for its list of models (401)", 404: "404 to its list of models",
		500: "500", 302: "302 to its list of models"} {
		status = code
		f := finding(t, Examine(t.Context(), config), "model")
		if !f.OK || !strings.Contains(f.Says, says) || strings.Contains(f.Says, "canary") {
			t.Errorf("status %d: %+v, want that it is well and %q", code, f, says)
		}
	}
	if asked.Method != "GET" || asked.URL.Path != "/v1/models" || asked.Header.Get("Authorization") != "Bearer sk-canary" {
		t.Errorf("it asked %s %s with %v", asked.Method, asked.URL, asked.Header)
	}
	config.Model.Provider = "anthropic"
	if f := finding(t, Examine(t.Context(), config), "model"); !f.OK || !strings.HasPrefix(f.Says, "anthropic, m at ") {
		t.Errorf("in the other dialect: %+v", f)
	}
	if h := asked.Header; h.Get("X-Api-Key") != "sk-canary" || h.Get("Anthropic-Version") == "" || h.Get("Authorization") != "" {
		t.Errorf("in the other dialect it asked with %v", h)
	}
	server.Close()
	if f := finding(t, Examine(t.Context(), config), "model"); f.OK || f.Try == "" || !strings.Contains(f.Says, "no answer") {
		t.Errorf("a server that is gone: %+v", f)
	}
}

func TestDoctorGivesUpOnASilentServer(t *testing.T) {
	never := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	defer server.Close()
	defer close(never)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	status, err := ModelConfig{BaseURL: server.URL}.reach(ctx)
	if status != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("status %d, %v", status, err)
	}
}

func TestDoctorKnowsThePolicyAndTheClock(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		config := Config{Data: t.TempDir(), Database: database}
		a := open(t, config)
		by := countersign.Actor{Kind: countersign.CLI, ID: "test"}
		apply := func(change func(*policy.Limits)) {
			t.Helper()
			limits := policy.Default()
			change(&limits)
			err := a.Store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, by) })
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, tt := range map[string]struct {
			change func(*policy.Limits)
			says   string
		}{
			"as it comes":     {func(*policy.Limits) {}, "automatic: failed transfer, duplicate charge, from confidence 0.9 and 2 pieces of evidence, under NGN 50,000.00"},
			"two currencies":  {func(l *policy.Limits) { l.Caps["JPY"] = 5800 }, "under JPY 5,800, NGN 50,000.00"},
			"no cap":          {func(l *policy.Limits) { l.Caps = map[string]int64{} }, "no currency has a cap, so no case is automatic"},
			"nothing allowed": {func(l *policy.Limits) { l.AllowedTypes = nil }, "automatic: nothing"},
			"shadow":          {func(l *policy.Limits) { l.Mode = policy.Shadow }, "shadow mode: nothing is automatic"},
		} {
			apply(tt.change)
			if f := finding(t, Examine(t.Context(), config), "policy"); !f.OK || !strings.Contains(f.Says, tt.says) {
				t.Errorf("%s: %+v, want %q", name, f, tt.says)
			}
		}
		if f := finding(t, Examine(t.Context(), config), "clock"); !f.OK {
			t.Errorf("a clock that is right: %+v", f)
		}
		if f := finding(t, Examine(t.Context(), config), "database"); !f.OK || strings.Contains(f.Says, "password") || !strings.Contains(f.Says, a.Store.Engine()) {
			t.Errorf("the database: %+v", f)
		}
	})
}

func TestDoctorReadsTheWholeFile(t *testing.T) {
	config := Config{Data: t.TempDir()}
	a := open(t, config)
	for range 3 { // something for its last pages to hold
		_, err := a.Store.DB().Exec("INSERT INTO merchants (id, name, category, country, flagged) VALUES (hex(randomblob(20)), hex(zeroblob(9000)), '', '', 0)")
		if err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	path := filepath.Join(config.Data, "countersign.db")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[len(text)-3*4096:], strings.Repeat("\xff", 2*4096))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := finding(t, Examine(t.Context(), config), "database"); f.OK || !strings.Contains(f.Says, "damaged") || f.Try == "" {
		t.Errorf("a page that is overwritten: %+v", f)
	}
}

// Event streams never end by themselves; a stop tells them.
func TestServeTellsStreamsToEnd(t *testing.T) {
	var log strings.Builder
	a := open(t, Config{Data: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	l, err := Listen("--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- a.Serve(ctx, l, a.Handler()) }()
	res, err := http.Get("http://" + l.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	select {
	case <-a.stopping:
	default:
		t.Error("streams were not told")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Somebody who opens connections and sends half a request, or none, is let go of.
func TestWhoSendsNothingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	a := open(t, Config{Data: t.TempDir()})
	server := a.server(t.Context(), http.NotFoundHandler())
	if server.ReadTimeout <= 0 || server.IdleTimeout <= 0 || server.MaxHeaderBytes > 1<<20 {
		t.Errorf("bodies may take %s, idle connections %s, headers %d bytes", server.ReadTimeout, server.IdleTimeout, server.MaxHeaderBytes)
	}
	l, err := Listen("--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	for _, sent := range []string{"", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); err != nil { // until it is closed
			t.Errorf("after %q: %v", sent, err)
		}
	}
}

// Whatever answers, and whatever is asked: a reader who takes nothing holds an answer for a minute at most.
func TestEveryAnswerMustBeTakenInTime(t *testing.T) {
	handler := open(t, Config{Data: t.TempDir()}).Handler()
	for _, path := range []string{"/sign-in", "/static/x/y", "/healthz", "/metrics", "/api/v1/cases", "/api/nothing", "/hooks/till", "/nothing"} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if left := time.Until(w.until); w.until.IsZero() || left > time.Minute {
			t.Errorf("the reader of %s has until %s", path, w.until)
		}
	}
}

// timed remembers by when its reader must have taken what is sent.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.until = at
	return nil
}

// Streams of the API and live pages have one room: each takes a place of it, and gives that back.
func TestStreamsAndLivePagesShareOneRoom(t *testing.T) {
	a := open(t, Config{Data: t.TempDir()})
	a.room = &follow.Room{Most: 2, Each: 1}
	openedAt(t, a.Store, "D-1", countersign.InReview, time.Now().UTC())
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	by := countersign.Actor{Kind: countersign.CLI, ID: "test"}
	bearer, token, err := auth.NewToken(t.Context(), a.Store, "a program", auth.Analyst, by)
	if err != nil {
		t.Fatal(err)
	}
	person, err := auth.AddPerson(t.Context(), a.Store, auth.NewPerson{Email: "ada@bank.example", Role: auth.Analyst}, by)
	if err != nil {
		t.Fatal(err)
	}
	link, err := auth.MakeLink(t.Context(), a.Store, person.ID, auth.SignInLink, time.Hour, by)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if strings.HasPrefix(path, "/api/") {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if status := ask("POST", "/link/"+link); status != http.StatusSeeOther {
		t.Fatalf("signing in is answered with %d", status)
	}
	asked := func(when string, program, page int) {
		t.Helper()
		for range 2 { // the second finds the place that the first gave back
			if got := ask("HEAD", "/api/v1/cases/D-1/events"); got != program {
				t.Errorf("%s a stream is answered with %d, want %d", when, got, program)
			}
			if got := ask("HEAD", "/cases/D-1/live"); got != page {
				t.Errorf("%s a live page is answered with %d, want %d", when, got, page)
			}
		}
	}
	take := func(who string) func() {
		t.Helper()
		leave, err := a.room.Take(who)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	asked("with nobody else", http.StatusOK, http.StatusOK)
	leave := take("token:" + token.ID)
	asked("with another stream of the program", http.StatusServiceUnavailable, http.StatusOK)
	leave()
	leave = take("person:" + person.ID)
	asked("with another page of the person", http.StatusOK, http.StatusServiceUnavailable)
	other := take("token:other")
	asked("with every place taken", http.StatusServiceUnavailable, http.StatusServiceUnavailable)
	leave()
	other()
	asked("with all gone", http.StatusOK, http.StatusOK)
}

// Nothing that a request brings gets into the log by being brought: neither its method nor its path, nor an id that it gives itself.
func TestNobodyWritesIntoTheLog(t *testing.T) {
	var log strings.Builder
	handler := open(t, Config{Data: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))}).Handler()
	for _, path := range []string{"/", "/sign-in", "/cases/CHOSEN", "/static/CHOSEN/CHOSEN", "/healthz", "/metrics", "/api/v1/cases/CHOSEN", "/api/v1/cases/CHOSEN/approve", "/api/CHOSEN",
		"/hooks/CHOSEN", "/CHOSEN?q=CHOSEN"} {
		for _, method := range []string{"GET", "POST", "CHOSEN"} {
			log.Reset()
			r := httptest.NewRequest(method, path, strings.NewReader("CHOSEN"))
			for _, header := range []string{"X-Request-Id", "X-Correlation-Id", "Traceparent", "X-Forwarded-For", "User-Agent", "Referer"} {
				r.Header.Set(header, "CHOSEN\nlevel=ERROR")
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			id := w.Header().Get("X-Request-Id")
			if text := log.String(); strings.Contains(text, "CHOSEN") || id == "" || !strings.Contains(text, "request="+id) && text != "" {
				t.Errorf("%s %s has the id %q and is logged as\n%s", method, path, id, text)
			}
		}
	}
}

package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/llm"
	"countersign/llm/exchange"
)

const backoff1, backoff2 = 500 * time.Millisecond, 2 * time.Second

// TryingAgain is about what is tried again, when, and what is not because it may have been paid for.
func TryingAgain(t *testing.T, d Dialect) {
	good := d.Says("a")
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, `{"error":{"message":"busy"}}`)
		}
	}
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, good) }
	const date = "Mon, 30 Nov 2026 10:00:00 GMT"
	for _, row := range []struct {
		name    string
		answers []http.HandlerFunc
		kind    llm.ErrorKind // empty for an answer
		waits   []time.Duration
	}{
		{"two failures of the server and then an answer", []http.HandlerFunc{status(500), status(503), ok}, "", []time.Duration{backoff1, backoff2}},
		{"three failures are the end", []http.HandlerFunc{status(500), status(502), status(529), ok}, llm.Unreachable, []time.Duration{backoff1, backoff2}},
		{"too many requests waits as long as it says", []http.HandlerFunc{status(429, "Retry-After", "3"), ok}, "", []time.Duration{3 * time.Second}},
		{"half a second is understood", []http.HandlerFunc{status(429, "Retry-After", "0.5"), ok}, "", []time.Duration{500 * time.Millisecond}},
		{"a date is measured on the server's clock", []http.HandlerFunc{status(429, "Date", date, "Retry-After", "Mon, 30 Nov 2026 10:00:07 GMT"), ok}, "", []time.Duration{7 * time.Second}},
		{"a date that is past is now", []http.HandlerFunc{status(503, "Date", date, "Retry-After", "Mon, 30 Nov 2026 09:00:00 GMT"), ok}, "", []time.Duration{0}},
		{"zero is now", []http.HandlerFunc{status(529, "Retry-After", "0"), ok}, "", []time.Duration{0}},
		{"an hour is cut to what is left, and then nothing is left", []http.HandlerFunc{status(429, "Retry-After", "3600"), status(429, "Retry-After", "3600"), ok}, llm.Unreachable, []time.Duration{10 * time.Second}},
		{"more seconds than a clock can hold are cut too", []http.HandlerFunc{status(429, "Retry-After", "99999999999999999999"), ok}, "", []time.Duration{10 * time.Second}},
		{"all waiting together stays in its limit", []http.HandlerFunc{status(429, "Retry-After", "6"), status(429, "Retry-After", "6"), ok}, "", []time.Duration{6 * time.Second, 4 * time.Second}},
		{"a wait that makes no sense is not taken", []http.HandlerFunc{status(429, "Retry-After", "soon"), ok}, "", []time.Duration{backoff1}},
		{"a wait that is no number is not taken", []http.HandlerFunc{status(429, "Retry-After", "NaN"), ok}, "", []time.Duration{backoff1}},
		{"a wait below zero is not taken", []http.HandlerFunc{status(429, "Retry-After", "-5"), ok}, "", []time.Duration{backoff1}},
		{"a server's own request time-out is tried again", []http.HandlerFunc{status(408), ok}, "", []time.Duration{backoff1}},
		{"too early is tried again", []http.HandlerFunc{status(425), ok}, "", []time.Duration{backoff1}},
		{"a gateway that gave up waiting is not: behind it the server may be working", []http.HandlerFunc{status(504), ok}, llm.TimedOut, nil},
		{"nor is one that says so in its own way", []http.HandlerFunc{status(524), ok}, llm.TimedOut, nil},
		{"a bad request is not", []http.HandlerFunc{status(400), ok}, llm.Refused, nil},
		{"a wrong key is not", []http.HandlerFunc{status(401), ok}, llm.Refused, nil},
		{"a model that is not there is not", []http.HandlerFunc{status(404), ok}, llm.Refused, nil},
		{"a schema that the server cannot read is not", []http.HandlerFunc{status(422), ok}, llm.Refused, nil},
		{"an answer that cannot be read is not: it was paid for", []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, ok}, llm.Unreadable, nil},
		{"a connection that closes without a byte is", []http.HandlerFunc{hangUp(""), ok}, "", []time.Duration{backoff1}},
		{"a connection that always closes at once is the end after three", []http.HandlerFunc{hangUp(""), hangUp(""), hangUp(""), ok}, llm.Unreachable, []time.Duration{backoff1, backoff2}},
		{"an answer that breaks off is not: it was paid for", []http.HandlerFunc{hangUp("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + d.Begin), ok}, llm.Unreachable, nil},
		{"headers that break off are not", []http.HandlerFunc{hangUp("HTTP/1.1 200 OK\r\nContent-"), ok}, llm.Unreadable, nil},
		{"an error that breaks off is not", []http.HandlerFunc{hangUp("HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\nbu"), ok}, llm.Unreachable, nil},
		{"a server that speaks something else is not", []http.HandlerFunc{hangUp("SSH-2.0-OpenSSH_9.2\r\n\r\n"), ok}, llm.Unreadable, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Serve(t, func(w http.ResponseWriter, r *http.Request, n int) { row.answers[min(n, len(row.answers)-1)](w, r) })
			m, w := d.model(t, s.URL)
			reply, err := m.Complete(t.Context(), First())
			attempts := reply.Attempts
			var e *llm.Error
			if errors.As(err, &e) {
				attempts = e.Attempts
			}
			if (err == nil) != (row.kind == "") || e != nil && e.Kind != row.kind {
				t.Errorf("error = %v, want %q", err, row.kind)
			}
			if !slices.Equal(row.waits, w.Times) {
				t.Errorf("waited %v, want %v", w.Times, row.waits)
			}
			if len(attempts) != s.Asked() || s.Asked() != len(row.waits)+1 {
				t.Errorf("%d attempts on record, %d at the server, %d waits", len(attempts), s.Asked(), len(w.Times))
			}
			checkAttempts(t, attempts, err, w.Times)
		})
	}
}

// hangUp writes the bytes as they are and resets the connection.
func hangUp(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		fmt.Fprint(conn, raw)
		if raw == "" {
			_ = conn.(*net.TCPConn).SetLinger(0) // a reset, as from a server that died; later it would overtake the bytes
		}
		conn.Close()
	}
}

// checkAttempts holds for every call: each attempt but a successful last one says why it failed, and what was waited
// before it is on record.
func checkAttempts(t *testing.T, attempts []llm.Attempt, err error, waits []time.Duration) {
	t.Helper()
	for i, a := range attempts {
		last := i == len(attempts)-1
		if (a.Error == "") != (last && err == nil) || a.At.IsZero() || i > 0 && a.Waited != waits[i-1] {
			t.Errorf("attempt %d is %+v", i+1, a)
		}
	}
}

// NobodyListens is about a server that is not there.
func NobodyListens(t *testing.T, d Dialect) {
	s := Says(t, "")
	m, w := d.model(t, s.URL)
	s.Close()
	e := Fails(t, m, First())
	if e.Kind != llm.Unreachable || len(e.Attempts) != 3 || len(w.Times) != 2 || !strings.Contains(e.Message, "refused") {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
	if strings.Contains(e.Message, "Post ") || !bytes.Contains(e.Request, []byte("canary: k3")) {
		t.Errorf("error = %q, request = %s: want a sentence, and what would have been sent", e.Message, e.Request)
	}
}

// stall keeps a handler until the test is over.
func stall(t *testing.T) func(*http.Request) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return func(r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}
}

// TimeOuts is about time that is up once the request was sent: that is never tried again.
func TimeOuts(t *testing.T, d Dialect) {
	for _, row := range []struct {
		name  string
		begin bool // the server sends headers before it stalls
		edit  func(*exchange.Server)
		want  string
	}{
		{"no header in time for the first byte", false, func(c *exchange.Server) { c.FirstByte = 30 * time.Millisecond }, "did not begin to answer within 30ms"},
		{"no header in time for the whole", false, func(c *exchange.Server) { c.Total = 60 * time.Millisecond }, "no complete answer within 60ms"},
		{"headers at once, and a body that does not end", true, func(c *exchange.Server) { c.FirstByte, c.Total = 5*time.Second, 300*time.Millisecond }, "no complete answer within 300ms"},
	} {
		t.Run(row.name, func(t *testing.T) {
			stop := stall(t)
			s := Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if row.begin {
					fmt.Fprint(w, d.Begin)
					w.(http.Flusher).Flush()
				}
				stop(r)
			})
			m, w := d.model(t, s.URL, row.edit)
			e := Fails(t, m, First())
			if e.Kind != llm.TimedOut || !strings.Contains(e.Message, row.want) || errors.Is(e, context.DeadlineExceeded) {
				t.Errorf("error = %v, want timed out with %q, and not the caller's deadline", e, row.want)
			}
			if len(e.Attempts) != 1 || len(w.Times) != 0 {
				t.Errorf("%d attempts, %d waits: the call may have been paid for", len(e.Attempts), len(w.Times))
			}
		})
	}
}

// NoConnection is about a connection that never stands: that is tried again.
func NoConnection(t *testing.T, d Dialect) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // nobody accepts: TCP connects, TLS never answers
	m, w := d.model(t, "https://"+listener.Addr().String(), func(c *exchange.Server) { c.Connect = 30 * time.Millisecond })
	e := Fails(t, m, First())
	if e.Kind != llm.TimedOut || !strings.Contains(e.Message, "no connection") || len(e.Attempts) != 3 || len(w.Times) != 2 {
		t.Errorf("error = %v after %d attempts, want three: nothing was sent", e, len(e.Attempts))
	}
}

// BadCertificate is about a certificate that nobody vouches for: that is not tried again.
func BadCertificate(t *testing.T, d Dialect) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer s.Close()
	m, _ := d.model(t, s.URL)
	if e := Fails(t, m, First()); e.Kind != llm.Unreachable || !strings.Contains(e.Message, "no secure connection") || len(e.Attempts) != 1 {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
}

// GivenUp is about a caller who gives up.
func GivenUp(t *testing.T, d Dialect) {
	t.Run("while the server works is told so and not that the server failed", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := Serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
			cancel()
			<-r.Context().Done()
		})
		m, _ := d.model(t, s.URL)
		_, err := m.Complete(ctx, First())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Canceled || !errors.Is(err, context.Canceled) || len(e.Attempts) != 1 {
			t.Errorf("error = %#v", err)
		}
	})
	t.Run("while waiting gets no further attempt", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(500) })
		m, _ := d.model(t, s.URL, func(c *exchange.Server) {
			c.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
		})
		_, err := m.Complete(ctx, First())
		var e *llm.Error
		if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || s.Asked() != 1 || len(e.Attempts) != 1 {
			t.Errorf("error = %#v after %d requests", err, s.Asked())
		}
	})
	t.Run("by a deadline sees its own deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		stop := stall(t)
		m, _ := d.model(t, Serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { stop(r) }).URL)
		_, err := m.Complete(ctx, First())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.TimedOut || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %#v", err)
		}
	})
}

// Redirects is about servers that point elsewhere: neither key nor conversation goes there.
func Redirects(t *testing.T, d Dialect) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			thief := Says(t, d.Says("a"))
			s := Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				http.Redirect(w, r, thief.URL+"/v1"+d.Path+"?k=1", code)
			})
			m, _ := d.model(t, s.URL)
			e := Fails(t, m, First())
			if e.Kind != llm.Refused || !strings.Contains(e.Message, "redirects are not followed") || s.Asked() != 1 || thief.Asked() != 0 {
				t.Errorf("error = %v; %d requests reached the other server", e, thief.Asked())
			}
		})
	}
}

// KeyIsNowhere is about servers that repeat the key.
func KeyIsNowhere(t *testing.T, d Dialect) {
	echo := func(code int, format string) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, r *http.Request, _ int) {
			w.WriteHeader(code)
			fmt.Fprintf(w, format, d.Key(r))
		}
	}
	for _, row := range []struct {
		name   string
		handle func(http.ResponseWriter, *http.Request, int)
	}{
		{"an error that quotes it", echo(401, `{"error":{"message":"incorrect key %s"}}`)},
		{"an error that is only text", echo(500, `no such key: %s`)},
		{"an answer that quotes it", echo(200, d.Says("your key is %s"))},
		{"a call that quotes it", echo(200, d.Calls(`{"k":"%s"}`))},
		{"an answer that is not JSON", echo(200, `%s`)},
		{"a redirect that quotes it", func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, "http://"+d.Key(r)+"/", 302)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Serve(t, row.handle)
			m, _ := d.model(t, s.URL)
			reply, err := m.Complete(t.Context(), First())
			if got := d.Key(s.Requests[0]); got != Key {
				t.Fatalf("the server was not sent the key but %q", got)
			}
			kept, _ := json.Marshal(reply)
			lost, _ := json.Marshal(err)
			for where, text := range map[string]string{
				"the reply": string(kept) + string(reply.Request) + string(reply.Response) + reply.Text + fmt.Sprint(reply.Calls),
				"the error": string(lost) + fmt.Sprintf("%v %+v %#v", err, err, err), "the error's bytes": bytesOf(err),
			} {
				if strings.Contains(text, Key) {
					t.Errorf("%s holds the key: %s", where, text)
				}
			}
		})
	}
}

func bytesOf(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	return string(e.Request) + string(e.Response)
}

// Printed is about settings and models in a log.
func Printed(t *testing.T, d Dialect) {
	m, _ := d.model(t, "http://127.0.0.1:1")
	settings, _ := Settings("http://127.0.0.1:1")
	cfg := d.Config(settings)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("model", "config", cfg, "model", m, "server", settings)
	text := fmt.Sprintf("%v %+v %#v %s %v %+v %#v %v %+v %#v", cfg, cfg, cfg, cfg, m, m, m, settings, settings, settings) + log.String()
	if strings.Contains(text, Key) || !strings.Contains(text, "test-model") {
		t.Errorf("printed: %s", text)
	}
}

// DummyKey is about keys that are no secret: they change no text.
func DummyKey(t *testing.T, d Dialect) {
	body := d.Says("none of it")
	m, _ := d.model(t, Says(t, body).URL, func(c *exchange.Server) { c.APIKey = "none" })
	if reply := Complete(t, m, First()); reply.Text != "none of it" || string(reply.Response) != body {
		t.Errorf("text = %q", reply.Text)
	}
}

// Complaints is about what an error says of what the server said.
func Complaints(t *testing.T, d Dialect) {
	for _, row := range []struct{ name, body, want string }{
		{"an error object", `{"error":{"message":"context too long","type":"x"}}`, "context too long"},
		{"an error that is text", `{"error":"model not found"}`, "model not found"},
		{"a message", `{"object":"error","message":"no tools"}`, "no tools"},
		{"a detail", `{"detail":"not authenticated"}`, "not authenticated"},
		{"a detail that is a list", `{"detail":[{"msg":"field required"}]}`, `[{"msg":"field required"}]`},
		{"plain text", "upstream connect error\n\x1b[31mred", "upstream connect error [31mred"},
		{"a web page", "<html><body>502</body></html>", "a web page"},
		{"nothing", "", "400 Bad Request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(400); fmt.Fprint(w, row.body) })
			m, _ := d.model(t, s.URL)
			e := Fails(t, m, First())
			if !strings.HasSuffix(e.Message, row.want) || string(e.Response) != row.body || e.Attempts[0].Status != 400 {
				t.Errorf("error = %q, want it to end in %q", e.Message, row.want)
			}
		})
	}
	t.Run("a long complaint is cut", func(t *testing.T) {
		s := Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(400)
			fmt.Fprint(w, strings.Repeat("é", 5000))
		})
		m, _ := d.model(t, s.URL)
		if e := Fails(t, m, First()); len([]rune(e.Message)) > 400 || !strings.HasSuffix(e.Message, "é…") {
			t.Errorf("error of %d letters: %s", len([]rune(e.Message)), e.Message)
		}
	})
}

package openai

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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
)

const backoff1, backoff2 = 500 * time.Millisecond, 2 * time.Second

func TestTryingAgain(t *testing.T) {
	good := completion(`{"content":"a"}`, `"stop"`)
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
		{"a bad request is not", []http.HandlerFunc{status(400), ok}, llm.Refused, nil},
		{"a wrong key is not", []http.HandlerFunc{status(401), ok}, llm.Refused, nil},
		{"a model that is not there is not", []http.HandlerFunc{status(404), ok}, llm.Refused, nil},
		{"a schema that the server cannot read is not", []http.HandlerFunc{status(422), ok}, llm.Refused, nil},
		{"an answer that cannot be read is not: it was paid for", []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, ok}, llm.Unreadable, nil},
		{"a connection that closes without a byte is", []http.HandlerFunc{hangUp(""), ok}, "", []time.Duration{backoff1}},
		{"a connection that always closes at once is the end after three", []http.HandlerFunc{hangUp(""), hangUp(""), hangUp(""), ok}, llm.Unreachable, []time.Duration{backoff1, backoff2}},
		{"an answer that breaks off is not: it was paid for", []http.HandlerFunc{hangUp("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\":[{"), ok}, llm.Unreachable, nil},
		{"headers that break off are not", []http.HandlerFunc{hangUp("HTTP/1.1 200 OK\r\nContent-"), ok}, llm.Unreadable, nil},
		{"an error that breaks off is not", []http.HandlerFunc{hangUp("HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\nbu"), ok}, llm.Unreachable, nil},
		{"a server that speaks something else is not", []http.HandlerFunc{hangUp("SSH-2.0-OpenSSH_9.2\r\n\r\n"), ok}, llm.Unreadable, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) { row.answers[min(n, len(row.answers)-1)](w, r) })
			m, w := model(t, s.URL)
			reply, err := m.Complete(t.Context(), first())
			attempts := reply.Attempts
			var e *llm.Error
			if errors.As(err, &e) {
				attempts = e.Attempts
			}
			if (err == nil) != (row.kind == "") || e != nil && e.Kind != row.kind {
				t.Errorf("error = %v, want %q", err, row.kind)
			}
			if diff := cmp.Diff(row.waits, w.times); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if len(attempts) != s.asked() || s.asked() != len(row.waits)+1 {
				t.Errorf("%d attempts on record, %d at the server, %d waits", len(attempts), s.asked(), len(w.times))
			}
			checkAttempts(t, attempts, err, w.times)
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

func TestNobodyListens(t *testing.T) {
	s := says(t, "")
	m, w := model(t, s.URL)
	s.Close()
	e := fails(t, m, first())
	if e.Kind != llm.Unreachable || len(e.Attempts) != 3 || len(w.times) != 2 || !strings.Contains(e.Message, "refused") {
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

func TestTimeOutsAfterTheRequestWasSentAreNeverTriedAgain(t *testing.T) {
	for _, row := range []struct {
		name  string
		begin bool // the server sends headers before it stalls
		edit  func(*Config)
		want  string
	}{
		{"no header in time for the first byte", false, func(c *Config) { c.FirstByte = 30 * time.Millisecond }, "did not begin to answer within 30ms"},
		{"no header in time for the whole", false, func(c *Config) { c.Total = 60 * time.Millisecond }, "no complete answer within 60ms"},
		{"headers at once, and a body that does not end", true, func(c *Config) { c.FirstByte, c.Total = 5*time.Second, 300*time.Millisecond }, "no complete answer within 300ms"},
	} {
		t.Run(row.name, func(t *testing.T) {
			stop := stall(t)
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if row.begin {
					fmt.Fprint(w, `{"choices":[`)
					w.(http.Flusher).Flush()
				}
				stop(r)
			})
			m, w := model(t, s.URL, row.edit)
			e := fails(t, m, first())
			if e.Kind != llm.TimedOut || !strings.Contains(e.Message, row.want) || errors.Is(e, context.DeadlineExceeded) {
				t.Errorf("error = %v, want timed out with %q, and not the caller's deadline", e, row.want)
			}
			if len(e.Attempts) != 1 || len(w.times) != 0 {
				t.Errorf("%d attempts, %d waits: the call may have been paid for", len(e.Attempts), len(w.times))
			}
		})
	}
}

func TestAConnectionThatNeverStandsIsTriedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // nobody accepts: TCP connects, TLS never answers
	m, w := model(t, "https://"+listener.Addr().String(), func(c *Config) { c.Connect = 30 * time.Millisecond })
	e := fails(t, m, first())
	if e.Kind != llm.TimedOut || !strings.Contains(e.Message, "no connection") || len(e.Attempts) != 3 || len(w.times) != 2 {
		t.Errorf("error = %v after %d attempts, want three: nothing was sent", e, len(e.Attempts))
	}
}

func TestACertificateNobodyVouchesForIsNotTriedAgain(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer s.Close()
	m, _ := model(t, s.URL)
	if e := fails(t, m, first()); e.Kind != llm.Unreachable || !strings.Contains(e.Message, "no secure connection") || len(e.Attempts) != 1 {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
}

func TestACallerWhoGivesUp(t *testing.T) {
	t.Run("while the server works is told so and not that the server failed", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
			cancel()
			<-r.Context().Done()
		})
		m, _ := model(t, s.URL)
		_, err := m.Complete(ctx, first())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Canceled || !errors.Is(err, context.Canceled) || len(e.Attempts) != 1 {
			t.Errorf("error = %#v", err)
		}
	})
	t.Run("while waiting gets no further attempt", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(500) })
		m, _ := model(t, s.URL, func(c *Config) {
			c.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
		})
		_, err := m.Complete(ctx, first())
		var e *llm.Error
		if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || s.asked() != 1 || len(e.Attempts) != 1 {
			t.Errorf("error = %#v after %d requests", err, s.asked())
		}
	})
	t.Run("by a deadline sees its own deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		stop := stall(t)
		m, _ := model(t, serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { stop(r) }).URL)
		_, err := m.Complete(ctx, first())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.TimedOut || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %#v", err)
		}
	})
}

func TestRedirectsCarryNeitherKeyNorConversationAway(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			thief := says(t, completion(`{"content":"a"}`, `"stop"`))
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				http.Redirect(w, r, thief.URL+"/v1/chat/completions?k=1", code)
			})
			m, _ := model(t, s.URL)
			e := fails(t, m, first())
			if e.Kind != llm.Refused || !strings.Contains(e.Message, "redirects are not followed") || s.asked() != 1 || thief.asked() != 0 {
				t.Errorf("error = %v; %d requests reached the other server", e, thief.asked())
			}
		})
	}
}

func TestTheKeyIsNowhere(t *testing.T) {
	echo := func(code int, format string) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, r *http.Request, _ int) {
			w.WriteHeader(code)
			fmt.Fprintf(w, format, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}
	}
	for _, row := range []struct {
		name   string
		handle func(http.ResponseWriter, *http.Request, int)
	}{
		{"an error that quotes it", echo(401, `{"error":{"message":"incorrect key %s"}}`)},
		{"an error that is only text", echo(500, `no such key: %s`)},
		{"an answer that quotes it", echo(200, completion(`{"content":"your key is %s"}`, `"stop"`))},
		{"a call that quotes it", echo(200, completion(`{"tool_calls":[{"function":{"name":"get_transaction","arguments":"{\"k\":\"%s\"}"}}]}`, `"stop"`))},
		{"an answer that is not JSON", echo(200, `%s`)},
		{"a redirect that quotes it", func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, "http://"+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+"/", 302)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := serve(t, row.handle)
			m, _ := model(t, s.URL)
			reply, err := m.Complete(t.Context(), first())
			if got := s.requests[0].Header.Get("Authorization"); got != "Bearer "+testKey {
				t.Fatalf("the server was not sent the key but %q", got)
			}
			kept, _ := json.Marshal(reply)
			lost, _ := json.Marshal(err)
			for where, text := range map[string]string{
				"the reply": string(kept) + string(reply.Request) + string(reply.Response) + reply.Text + fmt.Sprint(reply.Calls),
				"the error": string(lost) + fmt.Sprintf("%v %+v %#v", err, err, err), "the error's bytes": bytesOf(err),
			} {
				if strings.Contains(text, testKey) {
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

func TestPrintingSettingsOrModelLeavesTheKeyOut(t *testing.T) {
	m, _ := model(t, "http://127.0.0.1:1")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("model", "config", m.cfg, "model", m)
	text := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", m.cfg, m.cfg, m.cfg, m.cfg, m, m, m) + log.String()
	if strings.Contains(text, testKey) || !strings.Contains(text, "test-model") {
		t.Errorf("printed: %s", text)
	}
}

func TestADummyKeyIsNoSecretAndChangesNoText(t *testing.T) {
	body := completion(`{"content":"none of it"}`, `"stop"`)
	m, _ := model(t, says(t, body).URL, func(c *Config) { c.APIKey = "none" })
	if reply := complete(t, m, first()); reply.Text != "none of it" || string(reply.Response) != body {
		t.Errorf("text = %q", reply.Text)
	}
}

func TestWhatAServerComplainsOf(t *testing.T) {
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
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(400); fmt.Fprint(w, row.body) })
			m, _ := model(t, s.URL)
			e := fails(t, m, first())
			if !strings.HasSuffix(e.Message, row.want) || string(e.Response) != row.body || e.Attempts[0].Status != 400 {
				t.Errorf("error = %q, want it to end in %q", e.Message, row.want)
			}
		})
	}
	t.Run("a long complaint is cut", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(400)
			fmt.Fprint(w, strings.Repeat("é", 5000))
		})
		m, _ := model(t, s.URL)
		if e := fails(t, m, first()); len([]rune(e.Message)) > 400 || !strings.HasSuffix(e.Message, "é…") {
			t.Errorf("error of %d letters: %s", len([]rune(e.Message)), e.Message)
		}
	})
}

// Package llmtest is what every provider that reaches its server over HTTP is held to: one suite, run by each dialect with its
// own answers against real local servers that fail in the ways that servers do.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"countersign/llm"
	"countersign/llm/exchange"
	"countersign/redact"
)

// Dialect is what the suite must know of one.
type Dialect struct {
	New    func(exchange.Server) (llm.Model, error)
	Config func(exchange.Server) any    // the settings that New makes of them, to be printed
	Path   string                       // what requests are posted to, below the base URL
	Says   func(text string) string     // an answer in words, as it is sent; the text is plain
	Calls  func(args string) string     // an answer that calls get_transaction with these arguments, a JSON object
	Begin  string                       // the beginning of an answer
	Key    func(r *http.Request) string // the key, as the server was sent it
	Plain  func() http.Header           // the headers of a request without a key, but for its length
}

// Key is the key that the suite uses.
const Key = "sk-test-0123456789abcdef"

// Server is a real local server that keeps what it was asked.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	Requests []*http.Request
	Bodies   []string
}

// Serve answers request n, counted from 0, with handle.
func Serve(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, n int)) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.Bodies)
		s.Requests, s.Bodies = append(s.Requests, r), append(s.Bodies, string(body))
		s.mu.Unlock()
		handle(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// Says is a server that always answers 200 with the body.
func Says(t testing.TB, body string) *Server {
	t.Helper()
	return Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, body) })
}

// Asked is how many requests arrived.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.Bodies)
}

// Waited records the waits of a model instead of waiting.
type Waited struct{ Times []time.Duration }

// Wait is an exchange.Server's.
func (w *Waited) Wait(ctx context.Context, d time.Duration) error {
	w.Times = append(w.Times, d)
	return ctx.Err()
}

// Settings are those of a test's server.
func Settings(url string) (exchange.Server, *Waited) {
	w := &Waited{}
	return exchange.Server{BaseURL: url + "/v1", Model: "test-model", APIKey: Key, Wait: w.Wait}, w
}

func (d Dialect) model(t testing.TB, url string, edit ...func(*exchange.Server)) (llm.Model, *Waited) {
	t.Helper()
	s, w := Settings(url)
	for _, e := range edit {
		e(&s)
	}
	m, err := d.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, w
}

// The tools of a test's conversation.
var (
	GetTransaction = llm.Tool{Name: "get_transaction", Description: "The disputed transaction.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
	SubmitDecision = llm.Tool{Name: "submit_decision", Description: "Ends the case.", Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}}}`)}
)

// First is the first turn of a conversation.
func First() llm.Request {
	return llm.Request{
		System:   redact.Mask("You propose."),
		Messages: []llm.Message{{Role: llm.User, Text: redact.Mask("a case\ncanary: k3")}},
		Tools:    []llm.Tool{GetTransaction, SubmitDecision},
	}
}

// History is a conversation in which a model did everything wrong.
func History() llm.Request {
	req := First()
	turn := func(text string, calls ...llm.Call) {
		req.Number(calls)
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: redact.Mask(text), Calls: calls})
		for _, c := range calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: redact.Mask(`{"ref":"S1","ok":false,"error":"no"}`)})
		}
	}
	turn("", llm.Call{ID: "theirs", Name: "get_transaction", Args: `{"order_id": "1`}, llm.Call{ID: "theirs", Name: "get_transaction"})
	turn("Hm.", llm.Call{Name: "get transaction!", Args: `{"a":1}`}, llm.Call{Args: `[1]`})
	turn("")
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: redact.Mask("Call a tool.")})
	return req
}

// Complete fails the test on an error.
func Complete(t testing.TB, m llm.Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// Fails returns the *llm.Error that the call must end with.
func Fails(t testing.TB, m llm.Model, req llm.Request) *llm.Error {
	t.Helper()
	reply, err := m.Complete(t.Context(), req)
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("reply %+v, error %v: want an *llm.Error", reply, err)
	}
	return e
}

// Said is what a reply says, without what was recorded about it.
func Said(r llm.Reply) llm.Reply {
	r.Attempts, r.Request, r.Response = nil, nil, nil
	return r
}

// Quote is a text as JSON.
func Quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

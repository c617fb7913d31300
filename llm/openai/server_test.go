package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/llm"
	"countersign/redact"
)

const testKey = "sk-test-0123456789abcdef"

// server is a real local server that keeps what it was asked.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// serve answers request n, counted from 0, with handle.
func serve(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, n int)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.bodies)
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
		s.mu.Unlock()
		handle(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// says is a server that always answers 200 with the body.
func says(t testing.TB, body string) *server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, body) })
}

func (s *server) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// waited records the waits of a model instead of waiting.
type waited struct{ times []time.Duration }

func (w *waited) wait(ctx context.Context, d time.Duration) error {
	w.times = append(w.times, d)
	return ctx.Err()
}

func model(t testing.TB, url string, edit ...func(*Config)) (*Model, *waited) {
	t.Helper()
	w := &waited{}
	cfg := Config{BaseURL: url + "/v1", Model: "test-model", APIKey: testKey, Wait: w.wait}
	for _, e := range edit {
		e(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.client.CloseIdleConnections)
	return m, w
}

var (
	getTransaction = llm.Tool{Name: "get_transaction", Description: "The disputed transaction.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
	submitDecision = llm.Tool{Name: "submit_decision", Description: "Ends the case.", Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}}}`)}
)

// first is the first turn of a conversation.
func first() llm.Request {
	return llm.Request{
		System:   redact.Mask("You propose."),
		Messages: []llm.Message{{Role: llm.User, Text: redact.Mask("a case\ncanary: k3")}},
		Tools:    []llm.Tool{getTransaction, submitDecision},
	}
}

// complete fails the test on an error.
func complete(t testing.TB, m *Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// fails returns the *llm.Error that the call must end with.
func fails(t testing.TB, m *Model, req llm.Request) *llm.Error {
	t.Helper()
	reply, err := m.Complete(t.Context(), req)
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("reply %+v, error %v: want an *llm.Error", reply, err)
	}
	return e
}

// completion is an answer with one choice.
func completion(message, finish string) string {
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish +
		`}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`
}

// toolCalls is an assistant message with these calls, each {id, name, arguments as JSON}.
func toolCalls(calls ...[3]string) string {
	var parts []string
	for _, c := range calls {
		parts = append(parts, `{"id":`+c[0]+`,"type":"function","function":{"name":`+c[1]+`,"arguments":`+c[2]+`}}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(parts, ",") + `]}`
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

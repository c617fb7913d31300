package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer speaks enough of the chat-completions protocol to look at three records and then propose a reversal. It keeps
// every request, and counts how often each turn of each conversation was asked for.
type modelServer struct {
	*httptest.Server
	mu       sync.Mutex
	asked    map[string]int // "canary/turn"
	bodies   []string
	hold     func(turn int) <-chan struct{} // what a turn's answer waits for; nil for nothing
	refusing bool                           // answers with an error that repeats the request and the key
}

// holdTurn makes every answer to that turn wait until the returned function is called.
func (m *modelServer) holdTurn(n int) (release func()) {
	open := make(chan struct{})
	m.set(func() {
		m.hold = func(turn int) <-chan struct{} {
			if turn == n {
				return open
			}
			return nil
		}
	})
	return sync.OnceFunc(func() {
		m.set(func() { m.hold = nil })
		close(open)
	})
}

func (m *modelServer) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// waiting returns the condition that this many conversations have asked for the turn.
func (m *modelServer) waiting(turn, conversations int) func() bool {
	return func() bool { n, _ := m.counts(turn); return n == conversations }
}

func newModelServer(t *testing.T) *modelServer {
	m := &modelServer{asked: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *modelServer) env() []string {
	return []string{"COUNTERSIGN_MODEL_PROVIDER=openai", "COUNTERSIGN_MODEL=test", "COUNTERSIGN_MODEL_BASE_URL=" + m.URL + "/v1",
		"COUNTERSIGN_MODEL_API_KEY=sk-canary-key"}
}

// counts returns how many conversations asked for the turn and how often one did at most.
func (m *modelServer) counts(turn int) (conversations, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, n := range m.asked {
		if strings.HasSuffix(key, fmt.Sprintf("/%d", turn)) {
			conversations, most = conversations+1, max(most, n)
		}
	}
	return conversations, most
}

// askedFor is how often a conversation asked for a turn.
func (m *modelServer) askedFor(canary string, turn int) (n int) {
	m.set(func() { n = m.asked[fmt.Sprintf("%s/%d", canary, turn)] })
	return n
}

func (m *modelServer) answer(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn, canary := 1, ""
	for _, message := range req.Messages {
		switch message.Role {
		case "assistant":
			turn++
		case "user":
			if canary == "" {
				canary = canaryOf(message.Content)
			}
		}
	}
	held, refusing := m.count(turn, canary, body)
	if refusing {
		http.Error(w, r.Header.Get("Authorization")+" may not send "+string(body), http.StatusBadRequest)
		return
	}
	select {
	case <-held:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(completion(turn, canary))
}

// canaryOf is the canary in the first message of a conversation.
func canaryOf(first string) string {
	line, _, _ := strings.Cut(first, "\n")
	return strings.TrimPrefix(line, "canary: ")
}

// count takes down that a turn was asked for. Its answer waits until held is closed.
func (m *modelServer) count(turn int, canary string, body []byte) (held <-chan struct{}, refusing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[fmt.Sprintf("%s/%d", canary, turn)]++
	m.bodies = append(m.bodies, string(body))
	if m.hold != nil {
		held = m.hold(turn)
	}
	if held == nil {
		free := make(chan struct{})
		close(free)
		held = free
	}
	return held, m.refusing
}

func completion(turn int, canary string) any {
	var calls []any
	for _, c := range wanted(turn, canary) {
		calls = append(calls, map[string]any{"id": "", "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args}})
	}
	return map[string]any{"id": "x", "object": "chat.completion", "model": "test", "choices": []any{map[string]any{"index": 0,
		"finish_reason": "tool_calls", "message": map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}}},
		"usage": map[string]any{"prompt_tokens": 5000, "completion_tokens": 50, "total_tokens": 5050}}
}

// modelCall is a tool call in any dialect.
type modelCall struct{ name, args string }

// wanted are the calls of a turn: first a look at three records, then the decision.
func wanted(turn int, canary string) []modelCall {
	if turn == 1 {
		return []modelCall{{"get_transaction", "{}"}, {"get_ledger_entries", "{}"}, {"get_settlement_status", "{}"}}
	}
	decision, _ := json.Marshal(map[string]any{"recommendation": "resolve", "category": "failed_transfer", "confidence": 1,
		"fraud_suspected": false, "summary": "The settlement failed.", "canary": canary, "customer_message": "We have returned your money.",
		"claims": []any{map[string]any{"text": "The debit was posted and the settlement failed.", "citations": []any{
			map[string]any{"ref": "S1", "field": "status", "value": "posted"}, map[string]any{"ref": "S3", "field": "status", "value": "failed"}}}}})
	return []modelCall{{"submit_decision", string(decision)}}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer speaks enough of the chat-completions protocol to look at three records and then propose a reversal. It counts
// how often each turn of each conversation was asked for.
type modelServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // "canary/turn"
	hold  func(turn int) <-chan struct{}
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

func (m *modelServer) answer(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn, canary := 1, ""
	for _, message := range req.Messages {
		switch message.Role {
		case "assistant":
			turn++
		case "user":
			if line, _, _ := strings.Cut(message.Content, "\n"); canary == "" {
				canary = strings.TrimPrefix(line, "canary: ")
			}
		}
	}
	m.mu.Lock()
	m.asked[fmt.Sprintf("%s/%d", canary, turn)]++
	hold := m.hold
	m.mu.Unlock()
	if hold != nil {
		if held := hold(turn); held != nil {
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(completion(turn, canary))
}

func completion(turn int, canary string) any {
	var calls []any
	call := func(name, args string) {
		calls = append(calls, map[string]any{"id": "", "type": "function", "function": map[string]any{"name": name, "arguments": args}})
	}
	if turn == 1 {
		call("get_transaction", "{}")
		call("get_ledger_entries", "{}")
		call("get_settlement_status", "{}")
	} else {
		decision, _ := json.Marshal(map[string]any{"recommendation": "resolve", "category": "failed_transfer", "confidence": 1,
			"fraud_suspected": false, "summary": "The settlement failed.", "canary": canary, "customer_message": "We have returned your money.",
			"claims": []any{map[string]any{"text": "The debit was posted and the settlement failed.", "citations": []any{
				map[string]any{"ref": "S1", "field": "status", "value": "posted"}, map[string]any{"ref": "S3", "field": "status", "value": "failed"}}}}})
		call("submit_decision", string(decision))
	}
	return map[string]any{"id": "x", "object": "chat.completion", "model": "test", "choices": []any{map[string]any{"index": 0,
		"finish_reason": "tool_calls", "message": map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}}},
		"usage": map[string]any{"prompt_tokens": 5000, "completion_tokens": 50, "total_tokens": 5050}}
}

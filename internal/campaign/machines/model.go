package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// modelServer speaks enough of the chat-completions protocol for both desks, takes a moment over each answer, and counts how often it was
// asked for which turn of which conversation.
type modelServer struct {
	url   string
	http  http.Server
	mu    sync.Mutex
	asked map[string]int
	total int
}

func serveModel(host string) (*modelServer, error) {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		return nil, err
	}
	m := &modelServer{url: "http://" + l.Addr().String() + "/v1", asked: map[string]int{}}
	m.http.Handler = http.HandlerFunc(m.answer)
	go m.http.Serve(l)
	return m, nil
}

func (m *modelServer) close() { m.http.Close() }

func turnOf(canary string, turn int) string { return fmt.Sprintf("%s/%d", canary, turn) }

// Asked is how often that turn was asked for.
func (m *modelServer) Asked(canary string, turn int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[turnOf(canary, turn)]
}

func (m *modelServer) count(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[key]++
	m.total++
}

type chat struct {
	Messages []struct{ Role, Content string }
	Tools    []struct{ Function struct{ Name string } }
}

func (m *modelServer) answer(w http.ResponseWriter, r *http.Request) {
	var asked chat
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn, canary := asked.place()
	m.count(turnOf(canary, turn))
	select {
	case <-time.After(time.Duration(10+rand.IntN(60)) * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(asked.reply(turn, canary))
}

// place says which turn of which conversation this is.
func (c chat) place() (turn int, canary string) {
	turn = 1
	for _, message := range c.Messages {
		switch message.Role {
		case "assistant":
			turn++
		case "user":
			if line, _, _ := strings.Cut(message.Content, "\n"); canary == "" {
				canary = strings.TrimPrefix(line, "canary: ")
			}
		}
	}
	return turn, canary
}

func (c chat) has(tool string) bool {
	for _, t := range c.Tools {
		if t.Function.Name == tool {
			return true
		}
	}
	return false
}

// reply looks at three records of a bank and then says that the transfer failed, true or not; of a shop it leaves everything to a person.
func (c chat) reply(turn int, canary string) any {
	if !c.has("get_transaction") && !c.looked() {
		return called(call("submit_decision", map[string]any{"recommendation": "MANUAL_REVIEW_REQUIRED", "confidence": 0.5,
			"summary": "A person should look.", "canary": canary, "claims": []any{}, "quotes": []any{}}))
	}
	if turn == 1 {
		return called(call("get_transaction", nothing), call("get_ledger_entries", nothing), call("get_settlement_status", nothing))
	}
	return called(call("submit_decision", map[string]any{"recommendation": "resolve", "category": "failed_transfer", "confidence": 1,
		"fraud_suspected": false, "summary": "The settlement failed.", "canary": canary, "customer_message": "We have returned your money.",
		"claims": []any{map[string]any{"text": "The debit was posted and the settlement failed.", "citations": []any{
			map[string]any{"ref": "S1", "field": "status", "value": "posted"}, map[string]any{"ref": "S3", "field": "status", "value": "failed"}}}}}))
}

// looked reports whether this conversation has looked at a bank's records: its last turn may offer the decision alone.
func (c chat) looked() bool {
	for _, message := range c.Messages {
		if message.Role == "tool" && strings.Contains(message.Content, `"S3"`) {
			return true
		}
	}
	return false
}

var nothing = map[string]any{}

func call(tool string, arguments map[string]any) any {
	text, _ := json.Marshal(arguments) // of strings and numbers
	return map[string]any{"id": "", "type": "function", "function": map[string]any{"name": tool, "arguments": string(text)}}
}

func called(calls ...any) any {
	return map[string]any{"id": "x", "object": "chat.completion", "model": "campaign", "choices": []any{map[string]any{"index": 0,
		"finish_reason": "tool_calls", "message": map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}}},
		"usage": map[string]any{"prompt_tokens": 5000, "completion_tokens": 50, "total_tokens": 5050}}
}

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// manner is how the model works a case. It stands in the notes of the case, where the model reads it.
type manner string

const (
	certain manner = "certain" // proposes what is claimed, and is sure
	unsure  manner = "unsure"  // proposes the same, with little confidence
	broken  manner = "broken"  // says nothing of use in its first conversation about a case, and is certain in the next
)

// model speaks the chat completions protocol, and counts how often each turn of each conversation was asked for.
type model struct {
	*httptest.Server
	mu    sync.Mutex
	times map[string]int
	first map[string]string // the canary of the first conversation about a transaction
}

func newModel() *model {
	m := &model{times: map[string]int{}, first: map[string]string{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	return m
}

func (m *model) asked(canary string, turn int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.times[fmt.Sprint(canary, "/", turn)]
}

// conversation is what is read of a request.
type conversation struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

// read returns the number of the turn, the canary and everything that the user's messages say.
func (c conversation) read() (turn int, canary, said string) {
	turn = 1
	for _, message := range c.Messages {
		switch message.Role {
		case "assistant":
			turn++
		case "user":
			if line, _, _ := strings.Cut(message.Content, "\n"); canary == "" {
				canary = strings.TrimPrefix(line, "canary: ")
			}
			said += message.Content + "\n"
		}
	}
	return turn, canary, said
}

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	var c conversation
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn, canary, said := c.read()
	m.mu.Lock()
	m.times[fmt.Sprint(canary, "/", turn)]++
	fails := m.fails(canary, said)
	m.mu.Unlock()
	// Long enough that a fault meets answers on their way.
	select {
	case <-time.After(time.Duration(rand.IntN(40)) * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	if fails {
		http.Error(w, "out of order", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(completion(propose(turn, canary, said)))
}

// fails reports whether this conversation is one that breaks. The notes of a case name it.
func (m *model) fails(canary, said string) bool {
	_, name, found := strings.Cut(said, string(broken)+" ")
	if !found {
		return false
	}
	name, _, _ = strings.Cut(name, ".")
	if m.first[name] == "" {
		m.first[name] = canary
	}
	return m.first[name] == canary
}

// propose is the model's side of a conversation: look, and then decide as the notes say.
func propose(turn int, canary, said string) (calls []any) {
	call := func(name string, args any) {
		b, _ := json.Marshal(args) // texts and numbers
		calls = append(calls, map[string]any{"id": "", "type": "function", "function": map[string]any{"name": name, "arguments": string(b)}})
	}
	if strings.Contains(said, "for an order of the shop") {
		call("submit_decision", contest(canary))
		return calls
	}
	if turn == 1 {
		for _, name := range []string{"get_transaction", "get_ledger_entries", "get_settlement_status"} {
			call(name, map[string]any{})
		}
		return calls
	}
	call("submit_decision", resolve(canary, said))
	return calls
}

// resolve proposes what the customer claims.
func resolve(canary, said string) map[string]any {
	category, confidence := "failed_transfer", 1.0
	if strings.Contains(said, "reason given: duplicate_charge") {
		category = "duplicate_charge"
	}
	if strings.Contains(said, string(unsure)) {
		confidence = 0.4
	}
	return map[string]any{"recommendation": "resolve", "category": category, "confidence": confidence, "fraud_suspected": false,
		"summary": "The records show it.", "canary": canary, "customer_message": "We have returned your money.",
		"claims": []any{map[string]any{"text": "The debit was posted, once.", "citations": []any{cite("S1", "status", "posted"), cite("S2", "entries[0].kind", "original")}}}}
}

// contest proposes to contest, by the delivery on record and a clause of the shop's.
func contest(canary string) map[string]any {
	return map[string]any{"recommendation": "CONTEST", "confidence": 0.95, "summary": "The parcel was delivered.", "canary": canary,
		"claims": []any{map[string]any{"text": "It was paid and delivered.", "citations": []any{
			cite("S1", "found", "true"), cite("S2", "payments[0].state", "paid"), cite("S3", "fulfillments[0].state", "delivered")}}},
		"quotes": []any{map[string]any{"document": "Shipping", "quote": clause}}}
}

func cite(ref, field, value string) any {
	return map[string]any{"ref": ref, "field": field, "value": value}
}

func completion(calls []any) any {
	return map[string]any{"id": "x", "object": "chat.completion", "model": "test", "choices": []any{map[string]any{"index": 0,
		"finish_reason": "tool_calls", "message": map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}}},
		"usage": map[string]any{"prompt_tokens": 5000, "completion_tokens": 50, "total_tokens": 5050}}
}

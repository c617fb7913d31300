package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/llm"
	"countersign/llm/exchange"
)

// answer is what a server sends, each part raw where servers differ about its type.
type answer struct {
	Type       json.RawMessage `json:"type"`
	Content    json.RawMessage `json:"content"`
	StopReason json.RawMessage `json:"stop_reason"`
	StopWhy    json.RawMessage `json:"stop_details"`
	Usage      json.RawMessage `json:"usage"`
	Error      json.RawMessage `json:"error"` // some send it with 200
}

// read makes a reply of the bytes of an answer, and returns its content as it stands there, nil when there is none that could
// be sent back. An error means that they are not the protocol. An answer with nothing in it is a reply with nothing in it:
// what to do about that is the conversation's business.
func read(body []byte) (reply llm.Reply, content json.RawMessage, err error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return llm.Reply{}, nil, exchange.Unreadable(body, "message", err)
	}
	if present(a.Error) {
		return llm.Reply{}, nil, fmt.Errorf("an error: %s", exchange.Complaint(body))
	}
	if a.Content == nil && plain(a.Type) != "message" {
		return llm.Reply{}, nil, errors.New("JSON that is no message: is the base URL right?")
	}
	reply = llm.Reply{Usage: usage(a.Usage), Stop: stop(plain(a.StopReason))}
	if content, err = a.into(&reply); err != nil {
		return llm.Reply{}, nil, err
	}
	if reply.Text == "" && plain(a.StopReason) == "refusal" {
		reply.Text = explanation(a.StopWhy)
	}
	return reply, content, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// explanation is why a model refuses, where the server says so.
func explanation(raw json.RawMessage) string {
	var why struct {
		Explanation json.RawMessage `json:"explanation"`
	}
	_ = json.Unmarshal(raw, &why)
	return plain(why.Explanation)
}

// into reads the content: a list of blocks, or a text where a server simplifies.
func (a answer) into(reply *llm.Reply) (json.RawMessage, error) {
	if !present(a.Content) {
		return nil, nil
	}
	if a.Content[0] == '"' {
		reply.Text = plain(a.Content)
		return nil, nil
	}
	var blocks []block
	if err := json.Unmarshal(a.Content, &blocks); err != nil {
		return nil, fmt.Errorf("message content that is neither text nor a list of blocks: %w", err)
	}
	var said strings.Builder
	for _, b := range blocks {
		switch {
		case b.isThought():
			reply.Thinking = true
		case b.Type == textType:
			said.WriteString(plain(b.said.Text))
		case b.Type == toolUse:
			reply.Calls = append(reply.Calls, b.call())
		}
	}
	reply.Text = said.String()
	if len(blocks) == 0 || slices.ContainsFunc(blocks, func(b block) bool { return b.Type == "" }) {
		return nil, nil
	}
	return a.Content, nil
}

// call keeps the arguments as the model wrote them. The protocol has an object; some servers send it as a text.
func (b block) call() llm.Call {
	args := string(b.said.Input)
	if bytes.HasPrefix(b.said.Input, []byte{'"'}) {
		args = plain(b.said.Input)
	}
	if args == "null" {
		args = ""
	}
	return llm.Call{Name: plain(b.said.Name), Args: args}
}

// stop is what the server claims. A turn that it paused is not one that it ended; nothing here asks for what it pauses for.
func stop(reason string) llm.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.StopEnd
	case "tool_use":
		return llm.StopTools
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	}
	return llm.StopOther // refusal, pause_turn, and what may come
}

// usage is nil when the server reports none, or nothing that can be true: no request has zero input tokens. What was read
// from the cache and what was written to it are counted apart in this protocol, and are input all the same.
func usage(raw json.RawMessage) *llm.Usage {
	var u struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u.Input < 0 || u.Read < 0 || u.Written < 0 || u.Output < 0 {
		return nil
	}
	input := u.Input + u.Read + u.Written
	if input <= 0 || input < u.Input { // or more than a number holds
		return nil
	}
	return &llm.Usage{Input: input, Output: u.Output, Cached: u.Read, Stored: u.Written}
}

package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign/llm"
	"countersign/llm/exchange"
)

// answer is what a server sends, each part raw where servers differ about its type.
type answer struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"` // some send it with 200
}

type choice struct {
	Message      written         `json:"message"`
	FinishReason json.RawMessage `json:"finish_reason"`
}

type written struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"` // the form before tool_calls; a few servers still answer in it
}

// toolCall has an id on the wire, which may be empty, repeated, a number or missing. Nothing reads it.
type toolCall struct {
	Function function `json:"function"`
}

type function struct {
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string of JSON; some send the object itself
}

// read makes a reply of the bytes of an answer. An error means that they are not the protocol. An answer with nothing in
// it is a reply with nothing in it: what to do about that is the conversation's business.
func read(body []byte) (llm.Reply, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return llm.Reply{}, exchange.Unreadable(body, "chat completion", err)
	}
	if failed(a.Error) || a.Choices == nil && !bytes.Contains(body, []byte(`"choices"`)) {
		return llm.Reply{}, notAnAnswer(body, a)
	}
	reply := llm.Reply{Usage: usage(a.Usage), Stop: llm.StopOther}
	if len(a.Choices) == 0 {
		return reply, nil
	}
	return a.Choices[0].into(reply)
}

func failed(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func notAnAnswer(body []byte, a answer) error {
	if text := exchange.Complaint(body); text != "" && failed(a.Error) {
		return fmt.Errorf("an error: %s", text)
	}
	return errors.New("JSON that is no chat completion: is the base URL right?")
}

func (c choice) into(reply llm.Reply) (llm.Reply, error) {
	text, err := content(c.Message.Content)
	if err != nil {
		return llm.Reply{}, err
	}
	if text == "" {
		text = plain(c.Message.Refusal)
	}
	reply.Text = text
	reply.Stop = stop(plain(c.FinishReason))
	reply.Thinking = plain(c.Message.ReasoningContent) != "" || plain(c.Message.Reasoning) != ""
	for _, t := range c.Message.ToolCalls {
		reply.Calls = append(reply.Calls, t.Function.call())
	}
	if f := c.Message.FunctionCall; f != nil && len(reply.Calls) == 0 {
		reply.Calls = []llm.Call{f.call()}
	}
	return reply, nil
}

// content is a string, null, or a list of parts of which the text ones count.
func content(raw json.RawMessage) (string, error) {
	if text, ok := str(raw); ok {
		return text, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("message content that is neither text nor a list of parts: %w", err)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

// str reads a string; missing and null are the empty one. False for a value of another type. Most strings hold no escape
// and need no decoder: an answer has a dozen of them.
func str(raw json.RawMessage) (s string, ok bool) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", true
	case raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// plain is a string, or empty for anything else: an optional field of another type is no reason to lose the answer.
func plain(raw json.RawMessage) string {
	s, _ := str(raw)
	return s
}

// call keeps the arguments as the model wrote them. What is not a string is kept as the JSON it is.
func (f function) call() llm.Call {
	args, ok := str(f.Arguments)
	if !ok {
		args = string(f.Arguments)
	}
	return llm.Call{Name: plain(f.Name), Args: args}
}

// stop is what the server claims. It may claim tool_calls for a call that was cut: only the arguments can tell.
func stop(reason string) llm.Stop {
	switch reason {
	case "stop":
		return llm.StopEnd
	case "tool_calls", "function_call":
		return llm.StopTools
	case "length", "max_tokens":
		return llm.StopLength
	}
	return llm.StopOther
}

// usage is nil when the server reports none, or nothing that can be true: no request has zero input tokens. Cached tokens
// are part of prompt_tokens in this protocol.
func usage(raw json.RawMessage) *llm.Usage {
	var u struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u.Prompt <= 0 || u.Completion < 0 {
		return nil
	}
	return &llm.Usage{Input: u.Prompt, Output: u.Completion, Cached: max(0, u.Details.Cached)}
}

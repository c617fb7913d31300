package llm

import (
	"bytes"
	"encoding/json"
)

// Transcript is the request as compact JSON, the same bytes for the same request: what an engine without a wire format of
// its own records as sent.
func (r Request) Transcript() []byte {
	type message struct {
		Role   Role   `json:"role"`
		Text   string `json:"text,omitempty"`
		Calls  []Call `json:"calls,omitempty"`
		CallID string `json:"call_id,omitempty"`
	}
	out := struct {
		System   string    `json:"system,omitempty"`
		Messages []message `json:"messages"`
		Tools    []string  `json:"tools"`
		Force    string    `json:"force,omitempty"`
	}{System: r.System.String(), Messages: make([]message, 0, len(r.Messages)), Tools: make([]string, 0, len(r.Tools)), Force: r.Force}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, message{m.Role, m.Text.String(), m.Calls, m.CallID})
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	return compact(out)
}

// Transcript is the reply as compact JSON, the same bytes for the same reply.
func (r Reply) Transcript() []byte {
	return compact(struct {
		Text  string `json:"text,omitempty"`
		Calls []Call `json:"calls,omitempty"`
		Stop  Stop   `json:"stop,omitempty"`
	}{r.Text, r.Calls, r.Stop})
}

// compact leaves < and > as they are: a transcript is read by people.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // unreachable unless a type above gains a field that JSON cannot hold
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

package anthropic

import (
	"bytes"
	"encoding/json"

	"countersign/llm"
)

// head is a request without its messages, in the order in which servers read it: what stays the same comes first.
type head struct {
	Model      string    `json:"model"`
	MaxTokens  int       `json:"max_tokens"`
	Thinking   *thinking `json:"thinking,omitempty"`
	ToolChoice *choice   `json:"tool_choice,omitempty"`
	Tools      []tool    `json:"tools,omitempty"`
	System     []text    `json:"system,omitempty"`
}

type thinking struct {
	Type   Thinking `json:"type"`
	Budget int      `json:"budget_tokens,omitempty"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

// cached marks the end of what the next request will begin with: such a server reads it again for a tenth of the price.
type cached struct {
	Type string `json:"type"`
}

var ephemeral = &cached{"ephemeral"}

// body is the conversation on the wire. The same conversation gives the same bytes, in whichever process.
//
// No temperature is sent: models that think accept only their own.
func (m *Model) body(p *plan) ([]byte, error) {
	h := head{Model: m.cfg.Model, MaxTokens: m.cfg.MaxOutput, Tools: tools(p.req.Tools)}
	if p.req.MaxOutput > 0 {
		h.MaxTokens = p.req.MaxOutput
	}
	if s := p.req.System.String(); s != "" {
		h.System = []text{{Type: textType, Text: s, Cache: ephemeral}} // and the tools, which are read before it
	}
	if p.forced {
		h.ToolChoice = &choice{"tool", p.req.Force}
	}
	if p.thinking != AsServed {
		h.Thinking = &thinking{Type: p.thinking}
	}
	if p.thinking == Enabled {
		h.Thinking.Budget = m.cfg.Budget
		h.MaxTokens += m.cfg.Budget // which counts thinking too, and must be more than its budget
	}
	wire, err := encode(h)
	if err != nil {
		return nil, err
	}
	return join(wire, "messages", m.messages(p)), nil
}

func tools(offered []llm.Tool) []tool {
	var out []tool
	for _, t := range offered {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, tool{t.Name, t.Description, schema})
	}
	return out
}

// list is blocks or messages as one JSON array, byte for byte.
func list[T ~[]byte](items []T) []byte {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimSpace(item)...)
	}
	return append(out, ']')
}

package anthropic

import (
	"encoding/json"
	"regexp"
	"strings"

	"countersign/llm"
)

// The blocks that we write ourselves.
type (
	text struct {
		Type  string  `json:"type"`
		Text  string  `json:"text"`
		Cache *cached `json:"cache_control,omitempty"`
	}
	use struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	result struct {
		Type    string  `json:"type"`
		ID      string  `json:"tool_use_id"`
		Content string  `json:"content"`
		Cache   *cached `json:"cache_control,omitempty"`
	}
)

// history is the messages of a request as they are written, one after another. It keeps what servers insist on: roles take
// turns, every call has exactly one result, all results of a turn stand first in one message, no text is blank, and no id is
// used twice.
type history struct {
	messages []message
	ids      map[string]string // by our id of a call: the id that it has on the wire
	taken    map[string]bool   // ids on the wire
	asked    []string          // the calls of the turn before, by the id on the wire
	open     map[string]bool   // those of them without a result
}

type message struct {
	role   string
	blocks []json.RawMessage
	last   func(*cached) json.RawMessage // the last block again, marked; nil for one that is not ours
}

// messages writes them. What a request ends with is marked, because the next one begins with all of it.
func (m *Model) messages(p *plan) []byte {
	h := &history{ids: map[string]string{}, taken: map[string]bool{}, open: map[string]bool{}}
	for _, msg := range p.req.Messages {
		switch msg.Role {
		case llm.ToolRole:
			h.result(msg.CallID, msg.Text.String())
		case llm.Assistant:
			h.settle()
			m.said(h, msg, p)
		default:
			h.settle()
			h.text("user", msg.Text.String())
		}
	}
	h.settle()
	h.text("user", p.word())
	return h.bytes()
}

func (h *history) bytes() []byte {
	var out [][]byte
	for i, msg := range h.messages {
		if i == len(h.messages)-1 && msg.last != nil {
			msg.blocks[len(msg.blocks)-1] = msg.last(ephemeral)
		}
		out = append(out, join([]byte(`{"role":"`+msg.role+`"}`), "content", list(msg.blocks)))
	}
	return list(out)
}

// add appends a block to the message of that role, which is a new one if another spoke last.
func (h *history) add(role string, raw json.RawMessage, last func(*cached) json.RawMessage) {
	if n := len(h.messages); n == 0 || h.messages[n-1].role != role {
		h.messages = append(h.messages, message{role: role})
	}
	msg := &h.messages[len(h.messages)-1]
	msg.blocks, msg.last = append(msg.blocks, raw), last
}

func (h *history) text(role, s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	b := func(c *cached) json.RawMessage { return encoded(text{textType, s, c}) }
	h.add(role, b(nil), b)
}

// result answers a call. A second result, or one of no call, has no place in the protocol.
func (h *history) result(call, s string) {
	id := h.ids[call]
	if !h.open[id] {
		return
	}
	delete(h.open, id)
	b := func(c *cached) json.RawMessage { return encoded(result{"tool_result", id, s, c}) }
	h.add("user", b(nil), b)
}

// settle answers what is still open, so that a lost result costs the model a fact and not the conversation.
func (h *history) settle() {
	for _, id := range h.asked {
		if h.open[id] {
			h.add("user", encoded(result{"tool_result", id, "no result is on record", nil}), nil)
			delete(h.open, id)
		}
	}
	h.asked = nil
}

// said writes an assistant message: its own content as it came, if it is this model's, else its text and calls.
func (m *Model) said(h *history, msg llm.Message, p *plan) {
	own, ok := m.own(msg)
	if !ok {
		h.text("assistant", msg.Text.String())
		for _, c := range msg.Calls {
			h.call(c)
		}
		h.close()
		return
	}
	thoughts := p.thoughts && (p.thinking == Enabled || own.Bound == p.bound)
	for _, b := range own.Content {
		switch {
		case b.isThought() && !thoughts, b.Type == textType && strings.TrimSpace(plain(b.said.Text)) == "":
		case b.Type == toolUse:
			h.replay(b, msg.Calls[0])
			msg.Calls = msg.Calls[1:]
		default:
			h.add("assistant", b.raw, nil)
		}
	}
	h.close()
}

// close ends an assistant message with something that may stand at its end: thinking may not, and nothing may not.
func (h *history) close() {
	n := len(h.messages)
	if n > 0 && h.messages[n-1].role == "assistant" {
		blocks := h.messages[n-1].blocks
		var last block
		if json.Unmarshal(blocks[len(blocks)-1], &last) == nil && !last.isThought() {
			return
		}
	}
	h.text("assistant", llm.NoAnswer)
}

// replay writes a call as it came, if every server would take it again.
func (h *history) replay(b block, c llm.Call) {
	id := plain(b.said.ID)
	if !wireID.MatchString(id) || h.taken[id] || plain(b.said.Name) != c.ReplayableName() || !isObject(b.said.Input) {
		h.call(c)
		return
	}
	h.called(c.ID, id)
	h.add("assistant", b.raw, nil)
}

// call writes a call in a form that every server can read, whatever the model had written.
func (h *history) call(c llm.Call) {
	h.called(c.ID, c.ID)
	h.add("assistant", encoded(use{toolUse, c.ID, c.ReplayableName(), json.RawMessage(c.Replayable())}), nil)
}

func (h *history) called(ours, wire string) {
	h.ids[ours], h.taken[wire] = wire, true
	h.asked, h.open[wire] = append(h.asked, wire), true
}

var wireID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

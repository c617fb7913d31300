package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"

	"countersign/llm"
)

// opaque is an assistant message as its server sent it, and what its thinking is bound to.
type opaque struct {
	By      author  `json:"by"`
	Bound   string  `json:"bound"`
	Content []block `json:"content"` // never empty
}

// author is who wrote a message. A signature is worth nothing to another model, nor to another server.
type author struct {
	Dialect string `json:"dialect"`
	Model   string `json:"model"`
	Server  string `json:"server"`
}

func (m *Model) author() author {
	u, _ := url.Parse(m.cfg.BaseURL) // New parsed it
	return author{"anthropic", m.cfg.Model, u.Host}
}

// keep is the Opaque of a reply with this content, nil when there is none. The content is joined to the rest and not encoded
// with it: an encoder would respell it.
func (m *Model) keep(content json.RawMessage, p *plan) json.RawMessage {
	if len(content) == 0 {
		return nil
	}
	head := struct {
		By    author `json:"by"`
		Bound string `json:"bound"`
	}{m.author(), p.bound}
	return join(encoded(head), "content", content)
}

// join adds a member to an object, byte for byte.
func join(object []byte, name string, value []byte) []byte {
	joined := append(bytes.TrimSuffix(object, []byte("}")), `,"`+name+`":`...)
	return append(append(joined, value...), '}')
}

// own is the content of a message that this model wrote, as it was sent. Opaque of anybody else, or that is damaged, is nothing.
func (m *Model) own(msg llm.Message) (o opaque, ok bool) {
	if len(msg.Opaque) == 0 || json.Unmarshal(msg.Opaque, &o) != nil || o.By != m.author() || len(o.Content) == 0 {
		return opaque{}, false
	}
	calls := 0
	for _, b := range o.Content {
		if b.Type == toolUse {
			calls++
		}
	}
	return o, calls == len(msg.Calls)
}

// holdsThinking reports whether any message may hold some.
func holdsThinking(req llm.Request) bool {
	for _, msg := range req.Messages {
		if bytes.Contains(msg.Opaque, []byte("thinking")) {
			return true
		}
	}
	return false
}

// fingerprint stands for what comes before the messages. A server may check that thinking is given back to the system text
// and the tools that it was thought with.
func fingerprint(req llm.Request) string {
	h := sha256.New()
	h.Write(encoded(req.System.String()))
	for _, t := range req.Tools {
		h.Write(encoded([]string{t.Name, t.Description, string(t.Schema)}))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// block is one part of a message's content: the bytes as they came, and what is read of them.
type block struct {
	raw  json.RawMessage
	Type string
	said written
}

// written are the fields of a block that are read, each raw where servers differ about its type.
type written struct {
	Type  json.RawMessage `json:"type"`
	Text  json.RawMessage `json:"text"`
	ID    json.RawMessage `json:"id"`
	Name  json.RawMessage `json:"name"`
	Input json.RawMessage `json:"input"`
}

// UnmarshalJSON keeps the bytes.
func (b *block) UnmarshalJSON(raw []byte) error {
	b.raw = bytes.Clone(raw)
	if err := json.Unmarshal(raw, &b.said); err != nil {
		return err
	}
	b.Type = plain(b.said.Type)
	return nil
}

const (
	toolUse  = "tool_use"
	textType = "text"
)

func (b block) isThought() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// plain is a string, or empty for anything else.
func plain(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

// encoded is v as JSON with < and > as they are. What is encoded here are texts and structs of texts, and schemas.
func encoded(v any) []byte {
	b, err := encode(v)
	if err != nil {
		return nil // unreachable while only texts come here
	}
	return b
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

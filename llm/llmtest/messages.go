package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Messages is a local server that speaks the Messages API and insists on it, as the real one does: a request that breaks a
// rule is answered 400 with the rule. It signs the thinking that it gives out, and takes it back byte for byte or not at all.
type Messages struct {
	*httptest.Server
	Model  ModelKind
	Answer func(MessagesRequest) (content, stop string) // what is said to a request that breaks no rule; content is a list of blocks

	// Insists refuses a request that does not bring back all thinking that was given out under its system text and tools. Real
	// servers take a conversation without any: it is the answers that get worse.
	Insists bool

	mu      sync.Mutex
	bodies  []string
	refused []string
	thought map[string]thought // by the bytes of a block
}

// thought is what a block of thinking is bound to, and the turn that it was given out in.
type thought struct {
	bound string
	turn  int
}

// ModelKind is what the model behind a server does about thinking.
type ModelKind int

const (
	Thoughtless ModelKind = iota // it has none
	Older                        // it thinks when it is told to, up to a budget, and cannot be forced meanwhile
	Newer                        // it thinks as it likes, and its thinking is bound to the system text and the tools
	Stubborn                     // a newer one that cannot be forced while it thinks, and always does
)

// MessagesRequest is a request that broke no rule.
type MessagesRequest struct {
	Turn     int // 1 and counting, from the assistant messages so far
	Force    string
	Thinking bool // blocks of thinking are given out for this one
	Messages []MessagesTurn
	Body     []byte
}

// MessagesTurn is one message of it.
type MessagesTurn struct {
	Role   string
	Blocks []MessagesBlock
}

// MessagesBlock is one block, and the bytes that it came in.
type MessagesBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	CallID  string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Raw     json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the bytes.
func (b *MessagesBlock) UnmarshalJSON(raw []byte) error {
	type plain MessagesBlock
	b.Raw = append(b.Raw[:0:0], raw...)
	return json.Unmarshal(raw, (*plain)(b))
}

func (b MessagesBlock) thought() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// ServeMessages starts a server.
func ServeMessages(t testing.TB, kind ModelKind, answer func(MessagesRequest) (content, stop string)) *Messages {
	t.Helper()
	s := &Messages{Model: kind, Answer: answer, thought: map[string]thought{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Bodies are the requests so far.
func (s *Messages) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies...)
}

// Refused are the rules that requests so far have broken.
func (s *Messages) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

func (s *Messages) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	req, rule := s.judge(r, body)
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	if rule != "" {
		s.refused = append(s.refused, rule)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if rule != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s},"request_id":"req_1"}`, Quote(rule))
		return
	}
	content, stop := s.Answer(req.MessagesRequest)
	s.remember(content, thought{req.bound, req.Turn})
	fmt.Fprint(w, messageOf(content, stop, len(body)/4))
}

// Message is an answer with this content, for which a hundred tokens were read, half of them from the cache.
func Message(content, stop string) string { return messageOf(content, stop, 100) }

func messageOf(content, stop string, tokens int) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"test-model","content":` + content + `,"stop_reason":` + Quote(stop) +
		fmt.Sprintf(`,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":10}}`,
			tokens/5, tokens-tokens/5-tokens/2, tokens/2)
}

func (s *Messages) remember(content string, given thought) {
	var blocks []MessagesBlock
	_ = json.Unmarshal([]byte(content), &blocks)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range blocks {
		if b.thought() {
			s.thought[string(b.Raw)] = given
		}
	}
}

// messagesBody is a request as it is read.
type messagesBody struct {
	MessagesRequest
	bound     string
	MaxTokens int             `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Tools     json.RawMessage `json:"tools"`
	Choice    struct {
		Type string
		Name string
	} `json:"tool_choice"`
	Think struct {
		Type   string
		Budget int `json:"budget_tokens"`
	} `json:"thinking"`
	Said []struct {
		Role    string
		Content []MessagesBlock
	} `json:"messages"`
}

// Read reads a request for a server that answers by itself, and names the first rule that it breaks, if any.
func (s *Messages) Read(r *http.Request, body []byte) (MessagesRequest, string) {
	req, rule := s.judge(r, body)
	return req.MessagesRequest, rule
}

// judge reads a request, and names the first rule that it breaks.
func (s *Messages) judge(r *http.Request, body []byte) (req messagesBody, rule string) {
	if err := json.Unmarshal(body, &req); err != nil {
		return req, err.Error()
	}
	if r.URL.Path != "/v1/messages" || r.Header.Get("Anthropic-Version") != "2023-06-01" || req.MaxTokens <= 0 {
		return req, "path, version or max_tokens"
	}
	req.bound, req.Body, req.Turn = string(req.System)+string(req.Tools), body, 1
	for _, m := range req.Said {
		req.Messages = append(req.Messages, MessagesTurn{m.Role, m.Content})
		if m.Role == "assistant" {
			req.Turn++
		}
	}
	if req.Choice.Type == "tool" {
		req.Force = req.Choice.Name
	}
	for _, rules := range []func(*messagesBody) string{s.aboutThinking, aboutRoles, aboutCalls, s.aboutThoughts} {
		if rule = rules(&req); rule != "" {
			return req, rule
		}
	}
	return req, ""
}

func (s *Messages) aboutThinking(req *messagesBody) string {
	switch kind := req.Think.Type; {
	case kind == "enabled" && s.Model != Older, kind == "adaptive" && s.Model != Newer && s.Model != Stubborn, kind == "disabled" && s.Model == Stubborn:
		return "thinking.type." + kind + " is not supported for this model"
	case kind == "enabled" && (req.Think.Budget < 1024 || req.Think.Budget >= req.MaxTokens):
		return "max_tokens must be greater than thinking.budget_tokens, which is at least 1024"
	default:
		req.Thinking = kind == "enabled" || kind != "disabled" && (s.Model == Newer || s.Model == Stubborn)
	}
	if req.Thinking && req.Force != "" && s.Model != Newer {
		return "Thinking may not be enabled when tool_choice forces tool use."
	}
	return ""
}

func aboutRoles(req *messagesBody) string {
	for i, m := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Sprintf("messages.%d: role %s, expected %s", i, m.Role, want)
		}
		if len(m.Blocks) == 0 {
			return fmt.Sprintf("messages.%d: content is empty", i)
		}
		for j, b := range m.Blocks {
			if b.Type == "" {
				return fmt.Sprintf("messages.%d.content.%d.type: Field required", i, j)
			}
			if b.Type == "text" && strings.TrimSpace(b.Text) == "" {
				return fmt.Sprintf("messages.%d.content.%d: text content blocks must contain non-whitespace text", i, j)
			}
		}
	}
	if len(req.Messages)%2 == 0 {
		return "messages: the last one is the user's"
	}
	return ""
}

var (
	messagesID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	messagesName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// aboutCalls is that every call has one result, first in the next message, and an id of its own.
func aboutCalls(req *messagesBody) string {
	seen := map[string]bool{}
	var open []string
	for i, m := range req.Messages {
		results := 0
		for j, b := range m.Blocks {
			at := fmt.Sprintf("messages.%d.content.%d: ", i, j)
			switch {
			case b.Type == "tool_use":
				if !messagesID.MatchString(b.ID) || !messagesName.MatchString(b.Name) || !strings.HasPrefix(string(b.Input), "{") || m.Role != "assistant" {
					return at + "tool_use of a wrong form"
				}
				if seen[b.ID] {
					return at + "tool_use ids must be unique"
				}
				seen[b.ID] = true
				open = append(open, b.ID)
			case b.Type == "tool_result":
				if results >= len(open) || b.CallID != open[results] || j != results || m.Role != "user" {
					return at + "tool_result without its tool_use, or not first"
				}
				results++
			}
		}
		if m.Role == "user" {
			if results < len(open) {
				return fmt.Sprintf("messages.%d: tool_use ids were found without tool_result blocks immediately after", i-1)
			}
			open = nil
		}
	}
	return ""
}

// aboutThoughts is that thinking comes back as it was given out: all of it, at its place, and under what it was thought.
func (s *Messages) aboutThoughts(req *messagesBody) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := 0
	for i, m := range req.Messages {
		for j, b := range m.Blocks {
			at := fmt.Sprintf("messages.%d.content.%d: ", i, j)
			from, known := s.thought[string(b.Raw)]
			switch {
			case !b.thought():
				continue
			case !known || m.Role != "assistant":
				return at + "Invalid `signature` in `thinking` block"
			case s.Model != Older && from.bound != req.bound:
				return at + "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
			case j == len(m.Blocks)-1:
				return at + "the final block in an assistant message cannot be `thinking`"
			}
			given++
		}
	}
	if first, ok := lastRun(req.Messages); ok && req.Think.Type == "enabled" && !first.thought() {
		return "Expected `thinking` or `redacted_thinking`, but found `" + first.Type + "`"
	}
	if given > 0 && (req.Think.Type == "disabled" || s.Model == Older && !req.Thinking) {
		return "when thinking is disabled, messages may hold no `thinking`"
	}
	due := 0
	for _, from := range s.thought {
		if from.bound == req.bound && from.turn < req.Turn {
			due++
		}
	}
	if s.Insists && req.Thinking && given < due {
		return fmt.Sprintf("%d blocks of thinking came back of the %d that were given out", given, due)
	}
	return ""
}

// lastRun is the first block that the assistant said since the user last spoke, other than by results.
func lastRun(messages []MessagesTurn) (first MessagesBlock, ok bool) {
	for _, m := range messages {
		for _, b := range m.Blocks {
			switch {
			case m.Role == "user" && b.Type == "text":
				ok = false
			case m.Role == "assistant" && !ok:
				first, ok = b, true
			}
		}
	}
	return first, ok
}

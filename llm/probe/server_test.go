package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"countersign/llm"
	"countersign/llm/anthropic"
	"countersign/llm/exchange"
	"countersign/llm/llmtest"
	"countersign/llm/openai"
)

// server is a real local model server that can do everything, but for what its flaws take away. What it answers follows
// from the messages that it was sent, whichever dialect they came in.
type server struct {
	ignoresForce   bool
	writesCalls    bool // as text
	answersInWords bool
	loose          bool // writes a word that is not in the list
	single         bool // makes one call at a time
	merges         bool // writes the arguments of several calls into one
	repeats        bool // makes the same call three times
	refusesResults bool
	missesResults  bool // its template drops them
	context        int  // tokens; of a longer conversation the first messages are dropped
	refusesLong    int  // tokens of a conversation from which on it answers 400
	noUsage        bool
	wrongUsage     bool // says that it read ten tokens

	mind llmtest.ModelKind // in the Messages API

	asked int
}

// turn is a message in any dialect.
type turn struct {
	role    string // user, assistant
	text    string
	calls   []call
	results []string
}

type call struct{ name, args string }

// size is what a conversation costs in tokens, at four bytes each.
func size(turns []turn) (n int) {
	for _, t := range turns {
		n += len(t.text)
		for _, c := range t.calls {
			n += len(c.name) + len(c.args)
		}
		n += len(strings.Join(t.results, ""))
	}
	return n/4 + 200 // and the tools
}

// answer is what is said to a conversation, and how many tokens of it were read. A status is an error.
func (s *server) answer(turns []turn, force string) (text string, calls []call, read, status int) {
	if s.refusesLong > 0 && size(turns) > s.refusesLong {
		return "the prompt is too long", nil, 0, http.StatusBadRequest
	}
	for s.context > 0 && size(turns) > s.context {
		turns = turns[1:]
	}
	last := turns[len(turns)-1]
	if s.refusesResults && len(last.results) > 0 {
		return "unexpected role tool", nil, 0, http.StatusBadRequest
	}
	calls = s.think(turns, last, force)
	if s.answersInWords || len(calls) == 0 {
		return "I would look at it.", nil, size(turns), 0
	}
	if s.writesCalls {
		return fmt.Sprintf("I will do that now: %s(%s)", calls[0].name, calls[0].args), nil, size(turns), 0
	}
	return "", calls, size(turns), 0
}

var remembered = regexp.MustCompile(`word to remember is ([a-z]+)\.`)

func (s *server) think(turns []turn, last turn, force string) []call {
	switch {
	case len(last.results) > 0:
		return s.goOn(turns, last)
	case force != "" && s.ignoresForce && !strings.HasPrefix(last.text, "Now call"):
		return nil
	case strings.Contains(last.text, "payment maple."):
		return []call{{"read_payment", `{"payment":"maple"}`}}
	case strings.Contains(last.text, "Greet") && force != "":
		return []call{{force, `{"word":"hello"}`}}
	case strings.Contains(last.text, "File this letter"):
		mood := "tense"
		if s.loose {
			mood = "furious"
		}
		return []call{{"sort_letter", `{"mood":"` + mood + `","urgency":3,"answered":false}`}}
	case strings.Contains(last.text, "Read the payments"):
		return s.three()
	case strings.Contains(last.text, "Now call report"):
		if m := remembered.FindStringSubmatch(turns[0].text); m != nil {
			return []call{{"report", `{"word":"` + m[1] + `"}`}}
		}
		return []call{{"report", `{"word":"unknown"}`}}
	}
	return nil
}

func (s *server) three() []call {
	one := func(payment string) call { return call{"read_payment", `{"payment":"` + payment + `"}`} }
	switch {
	case s.single:
		return []call{one("maple")}
	case s.merges:
		return []call{{"read_payment", one("maple").args + one("birch").args + one("cedar").args}}
	case s.repeats:
		return []call{one("maple"), one("maple"), one("maple")}
	}
	return []call{one("maple"), one("birch"), one("cedar")}
}

func (s *server) goOn(turns []turn, last turn) []call {
	if s.missesResults {
		return []call{{"report", `{"word":"nothing"}`}}
	}
	asked := turns[len(turns)-2].calls
	if len(asked) < 3 {
		return []call{{"read_payment", `{"payment":"birch"}`}}
	}
	var result struct{ Code string }
	_ = json.Unmarshal([]byte(last.results[2]), &result)
	return []call{{"report", `{"word":"` + result.Code + `"}`}}
}

// dialects are the two ways to reach such a server.
var dialects = map[string]func(t *testing.T, s *server) llm.Model{
	"openai": func(t *testing.T, s *server) llm.Model {
		m, err := openai.New(openai.Config{Server: exchange.Server{BaseURL: s.listen(t, s.chat) + "/v1", Model: "test", APIKey: "sk-probe-canary"}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	},
	"anthropic": func(t *testing.T, s *server) llm.Model {
		m, err := anthropic.New(anthropic.Config{Server: exchange.Server{BaseURL: s.listen(t, s.messages) + "/v1", Model: "test", APIKey: "sk-probe-canary"}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	},
}

func (s *server) listen(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body []byte)) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked++
		handle(w, r, body)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

// chat answers in the chat completions protocol.
func (s *server) chat(w http.ResponseWriter, _ *http.Request, body []byte) {
	var req struct {
		Messages []struct {
			Role      string
			Content   string
			ToolCalls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		ToolChoice struct{ Function struct{ Name string } } `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var turns []turn
	for _, m := range req.Messages {
		switch {
		case m.Role == "system":
		case m.Role == "tool" && len(turns[len(turns)-1].results) > 0:
			turns[len(turns)-1].results = append(turns[len(turns)-1].results, m.Content)
		case m.Role == "tool":
			turns = append(turns, turn{role: "user", results: []string{m.Content}})
		default:
			said := turn{role: m.Role, text: m.Content}
			for _, c := range m.ToolCalls {
				said.calls = append(said.calls, call{c.Function.Name, c.Function.Arguments})
			}
			turns = append(turns, said)
		}
	}
	text, calls, read, status := s.answer(turns, req.ToolChoice.Function.Name)
	if status != 0 {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, text)
		return
	}
	message := map[string]any{"role": "assistant", "content": text}
	for _, c := range calls {
		all, _ := message["tool_calls"].([]any)
		message["tool_calls"] = append(all, map[string]any{"id": "", "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args}})
	}
	out := map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}}}
	if !s.noUsage {
		out["usage"] = map[string]any{"prompt_tokens": s.read(read), "completion_tokens": 10}
	}
	json.NewEncoder(w).Encode(out)
}

func (s *server) read(tokens int) int {
	if s.wrongUsage {
		return 10
	}
	return tokens
}

// inWords is how a tool is asked for that cannot be forced.
var inWords = regexp.MustCompile(`Answer with a call of the tool (\w+)`)

// messages answers in the Messages API, to what keeps its rules.
func (s *server) messages(w http.ResponseWriter, r *http.Request, body []byte) {
	req, rule := (&llmtest.Messages{Model: s.mind}).Read(r, body)
	if rule != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, rule)
		return
	}
	turns, force := turnsOf(req.Messages), req.Force
	if m := inWords.FindStringSubmatch(turns[len(turns)-1].text); m != nil {
		force = m[1]
	}
	text, calls, read, status := s.answer(turns, force)
	if status != 0 {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, text)
		return
	}
	content := []any{map[string]any{"type": "text", "text": text}}
	for i, c := range calls {
		var input any = json.RawMessage(c.args)
		if !json.Valid([]byte(c.args)) {
			input = c.args // as servers do that pass on what they could not read
		}
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.name, "input": input})
	}
	out := map[string]any{"type": "message", "content": content, "stop_reason": "end_turn"}
	if !s.noUsage {
		out["usage"] = map[string]any{"input_tokens": s.read(read), "output_tokens": 10}
	}
	json.NewEncoder(w).Encode(out)
}

// turnsOf are the messages of a request in the Messages API.
func turnsOf(messages []llmtest.MessagesTurn) (turns []turn) {
	for _, m := range messages {
		said := turn{role: m.Role}
		for _, b := range m.Blocks {
			switch b.Type {
			case "text":
				said.text += b.Text
			case "tool_use":
				said.calls = append(said.calls, call{b.Name, string(b.Input)})
			case "tool_result":
				var result string
				_ = json.Unmarshal(b.Content, &result)
				said.results = append(said.results, result)
			}
		}
		turns = append(turns, said)
	}
	return turns
}

package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/llm/llmtest"
	"countersign/redact"
)

func TestBrokenHistoryIsReplayedInAFormEveryServerCanRead(t *testing.T) {
	s := llmtest.ServeMessages(t, llmtest.Thoughtless, func(llmtest.MessagesRequest) (string, string) { return `[]`, "end_turn" })
	reply := llmtest.Complete(t, model(t, s.URL), llmtest.History())
	result := func(id string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"{\"ref\":\"S1\",\"ok\":false,\"error\":\"no\"}"}`
	}
	use := func(id, name, input string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}`
	}
	want := `{"model":"test-model","max_tokens":16000,"tools":[{"name":"get_transaction","description":"The disputed transaction.","input_schema":{"type":"object","properties":{}}},` +
		`{"name":"submit_decision","description":"Ends the case.","input_schema":{"type":"object","properties":{"summary":{"type":"string"}}}}],` +
		`"system":[{"type":"text","text":"You propose.","cache_control":{"type":"ephemeral"}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"a case\ncanary: k3"}]},` +
		`{"role":"assistant","content":[` + use("c00010001", "get_transaction", "{}") + `,` + use("c00010002", "get_transaction", "{}") + `]},` +
		`{"role":"user","content":[` + result("c00010001") + `,` + result("c00010002") + `]},` +
		`{"role":"assistant","content":[{"type":"text","text":"Hm."},` + use("c00020001", "no_such_tool", `{"a":1}`) + `,` + use("c00020002", "no_such_tool", "{}") + `]},` +
		`{"role":"user","content":[` + result("c00020001") + `,` + result("c00020002") + `]},` +
		`{"role":"assistant","content":[{"type":"text","text":"(no answer)"}]},` +
		`{"role":"user","content":[{"type":"text","text":"Call a tool.","cache_control":{"type":"ephemeral"}}]}]}`
	if diff := cmp.Diff(want, s.Bodies()[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(reply.Request) != s.Bodies()[0] || len(s.Refused()) > 0 {
		t.Errorf("recorded %s, refused %q", reply.Request, s.Refused())
	}
}

// TestTheirIdsAreReplayedAndOursAreAnswered: calls keep the server's ids on the wire and ours everywhere else.
func TestTheirIdsAreReplayedAndOursAreAnswered(t *testing.T) {
	s := llmtest.ServeMessages(t, llmtest.Thoughtless, func(llmtest.MessagesRequest) (string, string) {
		return "[" + called("toolu_1", "{}") + "," + called("toolu_1", `{"a":1}`) + "," + called("toolu_2", "{}") + "]", "tool_use"
	})
	m := model(t, s.URL)
	req := goOn(llmtest.First(), llmtest.Complete(t, m, llmtest.First()))
	// Results are matched by their ids, not by their places, and one that nobody asked for has none.
	n := len(req.Messages)
	req.Messages[n-3].Text, req.Messages[n-2].Text, req.Messages[n-1].Text = redact.Mask("one"), redact.Mask("two"), redact.Mask("three")
	req.Messages = append(req.Messages, req.Messages[n-1], llm.Message{Role: llm.ToolRole, CallID: "c00990001", Text: redact.Mask("none")})
	llmtest.Complete(t, m, req)
	body := s.Bodies()[1]
	for _, part := range []string{called("toolu_1", "{}"), called("toolu_2", "{}"), called("c00010002", `{"a":1}`), `"tool_use_id":"toolu_1","content":"one"`,
		`"tool_use_id":"c00010002","content":"two"`, `"tool_use_id":"toolu_2","content":"three"`} {
		if strings.Count(body, part) != 1 {
			t.Errorf("%q is not there once: %s", part, body)
		}
	}
	if strings.Contains(body, "none") || len(s.Refused()) > 0 {
		t.Errorf("refused %q: %s", s.Refused(), body)
	}
}

func TestALostResultIsSaidToBeLost(t *testing.T) {
	s := llmtest.ServeMessages(t, llmtest.Thoughtless, func(llmtest.MessagesRequest) (string, string) {
		return "[" + called("toolu_1", "{}") + "," + called("toolu_2", `{}`) + "]", "tool_use"
	})
	m := model(t, s.URL)
	req := goOn(llmtest.First(), llmtest.Complete(t, m, llmtest.First()))
	req.Messages = req.Messages[:len(req.Messages)-1]
	llmtest.Complete(t, m, req)
	if body := s.Bodies()[1]; !strings.Contains(body, `"tool_use_id":"toolu_2","content":"no result is on record"`) {
		t.Error(body)
	}
}

func TestOutputLimit(t *testing.T) {
	for _, row := range []struct {
		name          string
		config, asked int
		how           Thinking
		want          string
	}{
		{"the protocol wants one", 0, 0, AsServed, `"max_tokens":16000,`},
		{"the config's is the default", 700, 0, AsServed, `"max_tokens":700,`},
		{"the request's wins", 700, 90, AsServed, `"max_tokens":90,`},
		{"a budget for thinking is put on top", 700, 90, Enabled, `"max_tokens":4186,"thinking":{"type":"enabled","budget_tokens":4096},`},
		{"a model that decides for itself has no budget", 700, 90, Adaptive, `"max_tokens":90,"thinking":{"type":"adaptive"},`},
		{"thinking can be turned off", 0, 0, Disabled, `"max_tokens":16000,"thinking":{"type":"disabled"},`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := llmtest.Says(t, llmtest.Message("[]", "end_turn"))
			req := llmtest.First()
			req.MaxOutput = row.asked
			llmtest.Complete(t, model(t, s.URL, func(c *Config) { c.MaxOutput, c.Thinking = row.config, row.how }), req)
			if got := s.Bodies[0]; !strings.Contains(got, row.want) || strings.Contains(got, "temperature") {
				t.Errorf("request = %s, want %q in it and no temperature", got, row.want)
			}
		})
	}
}

func TestForcedToolIsAskedForAndNotReliedOn(t *testing.T) {
	for name, content := range map[string]string{
		"the server answers in words":     `[{"type":"text","text":"I would resolve it."}]`,
		"the server answers with another": "[" + called("toolu_1", "{}") + "]",
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Says(t, llmtest.Message(content, "end_turn"))
			reply := llmtest.Complete(t, model(t, s.URL), last(llmtest.First()))
			if reply.Text == "" && len(reply.Calls) != 1 {
				t.Errorf("reply %+v: an answer of the wrong kind must come through as it is", llmtest.Said(reply))
			}
			if !strings.Contains(s.Bodies[0], `"tool_choice":{"type":"tool","name":"submit_decision"}`) {
				t.Errorf("the request forces nothing: %s", s.Bodies[0])
			}
		})
	}
}

func TestARequestThatCannotBeWrittenIsRefused(t *testing.T) {
	s := llmtest.Says(t, llmtest.Message("[]", "end_turn"))
	req := llmtest.First()
	req.Tools = append([]llm.Tool(nil), req.Tools...)
	req.Tools[0].Schema = json.RawMessage(`{"type":`)
	if e := llmtest.Fails(t, model(t, s.URL), req); e.Kind != llm.Refused || len(e.Attempts) != 0 || s.Asked() != 0 {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
}

func TestAWayOfThinkingThatDoesNotExistIsRefused(t *testing.T) {
	settings, _ := llmtest.Settings("http://127.0.0.1:1")
	if _, err := New(Config{Server: settings, Thinking: "hard"}); err == nil || !strings.Contains(err.Error(), `thinking: "hard" is no way of thinking`) {
		t.Errorf("error = %v", err)
	}
}

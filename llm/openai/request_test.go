package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/llm/llmtest"
)

func TestBrokenHistoryIsReplayedInAFormEveryServerCanRead(t *testing.T) {
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m := model(t, s.URL)
	reply := llmtest.Complete(t, m, llmtest.History())
	want := `{"model":"test-model","messages":[{"role":"system","content":"You propose."},{"role":"user","content":"a case\ncanary: k3"},` +
		`{"role":"assistant","tool_calls":[{"id":"c00010001","type":"function","function":{"name":"get_transaction","arguments":"{}"}},` +
		`{"id":"c00010002","type":"function","function":{"name":"get_transaction","arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"ref\":\"S1\",\"ok\":false,\"error\":\"no\"}","tool_call_id":"c00010001"},` +
		`{"role":"tool","content":"{\"ref\":\"S1\",\"ok\":false,\"error\":\"no\"}","tool_call_id":"c00010002"},` +
		`{"role":"assistant","content":"Hm.","tool_calls":[{"id":"c00020001","type":"function","function":{"name":"no_such_tool","arguments":"{\"a\":1}"}},` +
		`{"id":"c00020002","type":"function","function":{"name":"no_such_tool","arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"ref\":\"S1\",\"ok\":false,\"error\":\"no\"}","tool_call_id":"c00020001"},` +
		`{"role":"tool","content":"{\"ref\":\"S1\",\"ok\":false,\"error\":\"no\"}","tool_call_id":"c00020002"},` +
		`{"role":"assistant","content":"(no answer)"},{"role":"user","content":"Call a tool."}],"stream":false,` +
		`"tools":[{"function":{"name":"get_transaction","description":"The disputed transaction.","parameters":{"type":"object","properties":{}}},"type":"function"},` +
		`{"function":{"name":"submit_decision","description":"Ends the case.","parameters":{"type":"object","properties":{"summary":{"type":"string"}}}},"type":"function"}]}`
	if diff := cmp.Diff(want, s.Bodies[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(reply.Request) != s.Bodies[0] {
		t.Errorf("recorded %s, the server got %s", reply.Request, s.Bodies[0])
	}
	if path := s.Requests[0].URL.Path; path != "/v1/chat/completions" {
		t.Errorf("path = %s", path)
	}
}

// TestAnotherProvidersMessagesAreSentAsTheyRead: a conversation may change its provider midway.
func TestAnotherProvidersMessagesAreSentAsTheyRead(t *testing.T) {
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m := model(t, s.URL)
	plain := llmtest.History()
	llmtest.Complete(t, m, plain)
	theirs := llmtest.History()
	for i, msg := range theirs.Messages {
		if msg.Role == llm.Assistant {
			theirs.Messages[i].Opaque = []byte(`{"by":{"dialect":"anthropic"},"content":[{"type":"thinking","thinking":"x","signature":"y"}]}`)
		}
	}
	llmtest.Complete(t, m, theirs)
	if diff := cmp.Diff(s.Bodies[0], s.Bodies[1]); diff != "" {
		t.Errorf("what another provider keeps changed the request (-without +with):\n%s", diff)
	}
}

func TestOutputLimit(t *testing.T) {
	for _, row := range []struct {
		name, model   string
		config, asked int
		want          string
	}{
		{"none is left to the server", "llama", 0, 0, ""},
		{"the config's is the default", "llama", 700, 0, `"max_tokens":700`},
		{"the request's wins", "llama", 700, 90, `"max_tokens":90`},
		{"a reasoning model gets the field it takes", "gpt-5-mini", 700, 0, `"max_completion_tokens":700`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := says(t, completion(`{"content":"a"}`, `"stop"`))
			m := model(t, s.URL, func(c *Config) { c.Model, c.MaxOutput = row.model, row.config })
			req := first()
			req.MaxOutput = row.asked
			llmtest.Complete(t, m, req)
			got := s.Bodies[0]
			if !strings.Contains(got, row.want) || row.want == "" && strings.Contains(got, "max_") || strings.Contains(got, "temperature") {
				t.Errorf("request = %s, want %q in it and no temperature", got, row.want)
			}
		})
	}
}

func TestARequestTheLibraryWillNotSendIsRefused(t *testing.T) {
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m := model(t, s.URL, func(c *Config) { c.Model = "text-davinci-003" })
	if e := llmtest.Fails(t, m, first()); e.Kind != llm.Refused || len(e.Attempts) != 0 || s.Asked() != 0 {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
	m = model(t, s.URL)
	req := first()
	req.Tools[0].Schema = []byte(`{"type":`)
	if e := llmtest.Fails(t, m, req); e.Kind != llm.Refused || s.Asked() != 0 {
		t.Errorf("error = %v", e)
	}
}

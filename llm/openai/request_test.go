package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/redact"
)

// history is a conversation in which a model did everything wrong.
func history() llm.Request {
	req := first()
	turn := func(text string, calls ...llm.Call) {
		req.Number(calls)
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: redact.Mask(text), Calls: calls})
		for _, c := range calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: redact.Mask(`{"ref":"S1","ok":false,"error":"no"}`)})
		}
	}
	turn("", llm.Call{ID: "theirs", Name: "get_transaction", Args: `{"order_id": "1`}, llm.Call{ID: "theirs", Name: "get_transaction"})
	turn("Hm.", llm.Call{Name: "get transaction!", Args: `{"a":1}`}, llm.Call{Args: `[1]`})
	turn("")
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: redact.Mask("Call a tool.")})
	return req
}

func TestBrokenHistoryIsReplayedInAFormEveryServerCanRead(t *testing.T) {
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m, _ := model(t, s.URL)
	reply := complete(t, m, history())
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
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(reply.Request) != s.bodies[0] {
		t.Errorf("recorded %s, the server got %s", reply.Request, s.bodies[0])
	}
	if path := s.requests[0].URL.Path; path != "/v1/chat/completions" {
		t.Errorf("path = %s", path)
	}
}

func TestAResumedConversationIsByteEqual(t *testing.T) {
	s := says(t, completion(toolCalls([3]string{`"random"`, `"get_transaction"`, `"{}"`}), `"tool_calls"`))
	a, _ := model(t, s.URL)
	b, _ := model(t, s.URL) // another process
	one, two := complete(t, a, history()), complete(t, b, history())
	if string(one.Request) != string(two.Request) || one.Calls[0] != two.Calls[0] {
		t.Errorf("%s\n%+v\nagain:\n%s\n%+v", one.Request, one.Calls, two.Request, two.Calls)
	}
	if one.Calls[0].ID != "c00040001" {
		t.Errorf("id = %s, want the fourth turn's", one.Calls[0].ID)
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
			m, _ := model(t, s.URL, func(c *Config) { c.Model, c.MaxOutput = row.model, row.config })
			req := first()
			req.MaxOutput = row.asked
			complete(t, m, req)
			got := s.bodies[0]
			if !strings.Contains(got, row.want) || row.want == "" && strings.Contains(got, "max_") || strings.Contains(got, "temperature") {
				t.Errorf("request = %s, want %q in it and no temperature", got, row.want)
			}
		})
	}
}

func TestARequestTheLibraryWillNotSendIsRefused(t *testing.T) {
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m, _ := model(t, s.URL, func(c *Config) { c.Model = "text-davinci-003" })
	if e := fails(t, m, first()); e.Kind != llm.Refused || len(e.Attempts) != 0 || s.asked() != 0 {
		t.Errorf("error = %v after %d attempts", e, len(e.Attempts))
	}
	m, _ = model(t, s.URL)
	req := first()
	req.Tools[0].Schema = []byte(`{"type":`)
	if e := fails(t, m, req); e.Kind != llm.Refused || s.asked() != 0 {
		t.Errorf("error = %v", e)
	}
}

func TestVendorVariablesAreIgnored(t *testing.T) {
	elsewhere := says(t, completion(`{"content":"wrong server"}`, `"stop"`))
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_HOST"} {
		t.Setenv(name, elsewhere.URL)
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"} {
		t.Setenv(name, "X-Leak: from-environment")
	}
	s := says(t, completion(`{"content":"a"}`, `"stop"`))
	m, _ := model(t, s.URL, func(c *Config) { c.APIKey = "" })
	complete(t, m, first())
	want := http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Content-Type": {"application/json"}, "User-Agent": {"Go-http-client/1.1"}}
	got := s.requests[0].Header.Clone()
	got.Del("Content-Length")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers of a request without a key (-want +got):\n%s", diff)
	}
	if elsewhere.asked() != 0 {
		t.Error("the environment chose the server")
	}
}

func TestSettings(t *testing.T) {
	good := Config{BaseURL: "https://models.example.com/v1", Model: "m", APIKey: "k"}
	for _, row := range []struct {
		name string
		edit func(*Config)
		want string // in the error; empty for none
	}{
		{"a slash at the end is no matter", func(c *Config) { c.BaseURL += "/" }, ""},
		{"white space round a pasted key is no matter", func(c *Config) { c.APIKey = " k\n" }, ""},
		{"no base URL", func(c *Config) { c.BaseURL = "" }, "base_url: is missing"},
		{"a host without a scheme", func(c *Config) { c.BaseURL = "models.example.com/v1" }, `base_url: "models.example.com/v1" is not`},
		{"another scheme", func(c *Config) { c.BaseURL = "file:///etc/passwd" }, `base_url: "file:///etc/passwd" is not`},
		{"a credential in the base URL", func(c *Config) { c.BaseURL = "https://u:secret@models.example.com/v1" }, "API key"},
		{"a query in the base URL", func(c *Config) { c.BaseURL += "?key=secret" }, "API key"},
		{"no model", func(c *Config) { c.Model = "" }, "model: is missing"},
		{"a key over two lines", func(c *Config) { c.APIKey = "secret\nsecret" }, "api_key: holds a space"},
		{"a time-out below zero", func(c *Config) { c.Total = -1 }, "time-outs"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cfg := good
			row.edit(&cfg)
			_, err := New(cfg)
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("error = %v, want %q in it", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error = %v: it holds the secret", err)
			}
		})
	}
}

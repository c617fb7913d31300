package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/llm/llmtest"
)

var hundred = &llm.Usage{Input: 100, Output: 10}

func call(n int, name, args string) llm.Call {
	return llm.Call{ID: fmt.Sprintf("c0001%04d", n), Name: name, Args: args}
}

func TestAnswers(t *testing.T) {
	cut := `{"order_id": "1`
	for _, row := range []struct {
		name, body string
		want       llm.Reply
	}{
		{"a call is a call, with an id of ours", completion(toolCalls([3]string{`"call_abc"`, `"get_transaction"`, `"{}"`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "{}")}, Stop: llm.StopTools, Usage: hundred}},
		{"words are words", completion(`{"role":"assistant","content":"I think so."}`, `"stop"`),
			llm.Reply{Text: "I think so.", Stop: llm.StopEnd, Usage: hundred}},
		{"words beside calls are both kept", completion(`{"content":"Let me look.","tool_calls":[{"function":{"name":"get_transaction","arguments":"{}"}}]}`, `"tool_calls"`),
			llm.Reply{Text: "Let me look.", Calls: []llm.Call{call(1, "get_transaction", "{}")}, Stop: llm.StopTools, Usage: hundred}},
		{"content in parts is joined", completion(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `"stop"`),
			llm.Reply{Text: "ab", Stop: llm.StopEnd, Usage: hundred}},
		{"a refusal is words", completion(`{"content":null,"refusal":"I cannot."}`, `"stop"`),
			llm.Reply{Text: "I cannot.", Stop: llm.StopEnd, Usage: hundred}},

		{"two calls with one id get two ids", completion(toolCalls([3]string{`"call_1"`, `"get_transaction"`, `"{}"`}, [3]string{`"call_1"`, `"get_transaction"`, `"{\"a\":1}"`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "{}"), call(2, "get_transaction", `{"a":1}`)}, Stop: llm.StopTools, Usage: hundred}},
		{"an empty id and a number as id are no matter", completion(toolCalls([3]string{`""`, `"get_transaction"`, `"{}"`}, [3]string{`7`, `"get_transaction"`, `"{}"`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "{}"), call(2, "get_transaction", "{}")}, Stop: llm.StopTools, Usage: hundred}},
		{"the older function_call is one call", completion(`{"content":null,"function_call":{"name":"get_transaction","arguments":"{}"}}`, `"function_call"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "{}")}, Stop: llm.StopTools, Usage: hundred}},
		{"a tool nobody offered is passed on for the conversation to answer", completion(toolCalls([3]string{`"a"`, `"wire_money"`, `"{}"`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "wire_money", "{}")}, Stop: llm.StopTools, Usage: hundred}},

		{"cut arguments with length are kept raw", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, llmtest.Quote(cut)}), `"length"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", cut)}, Stop: llm.StopLength, Usage: hundred}},
		{"cut arguments are kept raw although the server claims tool_calls", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, llmtest.Quote(cut)}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", cut)}, Stop: llm.StopTools, Usage: hundred}},
		{"cut arguments are kept raw although the server claims stop", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, llmtest.Quote(cut)}), `"stop"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", cut)}, Stop: llm.StopEnd, Usage: hundred}},
		{"empty arguments stay empty in the reply", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, `""`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "")}, Stop: llm.StopTools, Usage: hundred}},
		{"arguments as an object are that object", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, `{"a":1}`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", `{"a":1}`)}, Stop: llm.StopTools, Usage: hundred}},
		{"arguments of null are none", completion(toolCalls([3]string{`"a"`, `"get_transaction"`, `null`}), `"tool_calls"`),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", "")}, Stop: llm.StopTools, Usage: hundred}},

		{"no choices is no answer", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, llm.Reply{Stop: llm.StopOther, Usage: hundred}},
		{"choices of null is no answer", `{"choices":null}`, llm.Reply{Stop: llm.StopOther}},
		{"content of null is no answer", completion(`{"role":"assistant","content":null}`, `"stop"`), llm.Reply{Stop: llm.StopEnd, Usage: hundred}},
		{"a choice without a message is no answer", `{"choices":[{}]}`, llm.Reply{Stop: llm.StopOther}},
		{"reasoning alone is no answer, and is noticed", completion(`{"content":"","reasoning_content":"resolve it"}`, `"stop"`),
			llm.Reply{Stop: llm.StopEnd, Thinking: true, Usage: hundred}},
		{"reasoning under its other name is noticed", completion(`{"content":null,"reasoning":"resolve it"}`, `"length"`),
			llm.Reply{Stop: llm.StopLength, Thinking: true, Usage: hundred}},
		{"a call inside reasoning is never made", completion(`{"content":"","reasoning_content":"<tool_call>{\"name\":\"get_transaction\",\"arguments\":{}}</tool_call>"}`, `"stop"`),
			llm.Reply{Stop: llm.StopEnd, Thinking: true, Usage: hundred}},

		{"no usage is unknown", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage of zero input is unknown", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
			llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage of another type is unknown", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":"many"}}`,
			llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"cached tokens are part of the input", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":80}}}`,
			llm.Reply{Text: "a", Stop: llm.StopEnd, Usage: &llm.Usage{Input: 100, Output: 10, Cached: 80}}},
		{"a reason to stop that we do not know is other", completion(`{"content":"a"}`, `"content_filter"`), llm.Reply{Text: "a", Stop: llm.StopOther, Usage: hundred}},
		{"no reason to stop is other", completion(`{"content":"a"}`, `null`), llm.Reply{Text: "a", Stop: llm.StopOther, Usage: hundred}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := model(t, says(t, row.body).URL)
			reply := llmtest.Complete(t, m, first())
			if diff := cmp.Diff(row.want, llmtest.Said(reply)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(reply.Response) != row.body {
				t.Errorf("recorded %q, the server sent %q", reply.Response, row.body)
			}
		})
	}
}

func TestForcedToolIsAskedForAndNotReliedOn(t *testing.T) {
	for name, message := range map[string]string{
		"the server answers in words":        `{"content":"I would resolve it."}`,
		"the server answers with another":    toolCalls([3]string{`"a"`, `"get_transaction"`, `"{}"`}),
		"the server answers with what asked": toolCalls([3]string{`"a"`, `"submit_decision"`, `"{}"`}),
	} {
		t.Run(name, func(t *testing.T) {
			s := says(t, completion(message, `"stop"`))
			m := model(t, s.URL)
			req := first()
			req.Tools, req.Force = []llm.Tool{submitDecision}, "submit_decision"
			reply := llmtest.Complete(t, m, req)
			if reply.Text == "" && len(reply.Calls) != 1 {
				t.Errorf("reply %+v: an answer of the wrong kind must come through as it is", llmtest.Said(reply))
			}
			if !strings.Contains(s.Bodies[0], `"tool_choice":{"type":"function","function":{"name":"submit_decision"}}`) {
				t.Errorf("the request forces nothing: %s", s.Bodies[0])
			}
		})
	}
}

func TestFortyCallsInOneTurnGetFortyIds(t *testing.T) {
	var calls [][3]string
	for i := range 40 {
		calls = append(calls, [3]string{`"call_1"`, `"get_transaction"`, llmtest.Quote(fmt.Sprintf(`{"n":%d}`, i))})
	}
	m := model(t, says(t, completion(toolCalls(calls...), `"tool_calls"`)).URL)
	reply := llmtest.Complete(t, m, first())
	seen := map[string]bool{}
	for i, c := range reply.Calls {
		if seen[c.ID] || c.Args != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("call %d is %+v: out of order or its id is taken", i, c)
		}
		seen[c.ID] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d calls, want 40", len(seen))
	}
}

func TestWhatIsNotTheProtocolIsUnreadable(t *testing.T) {
	for _, row := range []struct{ name, body, want string }{
		{"a login page", "\n<!doctype html><title>Sign in</title>", "a web page instead of JSON: is the base URL right?"},
		{"cut JSON", `{"choices":[{"mess`, "not JSON"},
		{"JSON with more behind it", `{"choices":[]} and more`, "not JSON"},
		{"nothing", "", "nothing at all"},
		{"a stream nobody asked for", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", "not JSON"},
		{"other JSON", `{"status":"ok"}`, "no chat completion"},
		{"a list", `[]`, "no chat completion"},
		{"an error that claims success", `{"error":{"message":"model is loading"}}`, "an error: model is loading"},
		{"an error beside an empty list", `{"choices":[],"error":{"message":"model is loading"}}`, "an error: model is loading"},
		{"content that is a number", completion(`{"content":12}`, `"stop"`), "neither text nor a list"},
		{"calls that are no list", completion(`{"tool_calls":{"a":1}}`, `"stop"`), "no chat completion"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := says(t, row.body)
			m := model(t, s.URL)
			e := llmtest.Fails(t, m, first())
			if e.Kind != llm.Unreadable || !strings.Contains(e.Message, row.want) {
				t.Errorf("error = %v, want unreadable with %q", e, row.want)
			}
			if string(e.Response) != row.body || len(e.Request) == 0 || len(e.Attempts) != 1 || s.Asked() != 1 {
				t.Errorf("recorded %q after %d attempts (%d at the server): want the bytes, once", e.Response, len(e.Attempts), s.Asked())
			}
		})
	}
}

// Answers that real servers have given, for the fuzzer to start from.
var answerSeeds = []string{
	completion(toolCalls([3]string{`"a"`, `"get_transaction"`, `"{}"`}), `"tool_calls"`),
	completion(toolCalls([3]string{`7`, `null`, `{"a":1}`}), `"stop"`),
	completion(`{"content":[{"type":"text","text":"a"}],"reasoning":"b"}`, `null`),
	`{"choices":null}`, `{"error":"no"}`, `{"error":{"message":null}}`, `<html>`, ``, `{"choices":[{"message":{"content":"\ud800"}}],"usage":[]}`,
}

func FuzzAnswer(f *testing.F) {
	if len(answerSeeds) < 5 {
		f.Fatal("the seeds are gone")
	}
	for _, s := range answerSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, err := read(body)
		if err != nil && (reply.Text != "" || len(reply.Calls) > 0) {
			t.Errorf("%q gave an error and an answer", body)
		}
		for _, c := range reply.Calls {
			c.Replayable()
		}
		adoptTextCall(&reply, first())
	})
}

package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/llm/llmtest"
)

// hundred is the usage of llmtest.Message: what was read anew, written to the cache and read from it are one input.
var hundred = &llm.Usage{Input: 100, Output: 10, Cached: 50, Stored: 30}

func call(n int, name, args string) llm.Call {
	return llm.Call{ID: fmt.Sprintf("c0001%04d", n), Name: name, Args: args}
}

func calling(calls ...llm.Call) llm.Reply {
	return llm.Reply{Calls: calls, Stop: llm.StopTools, Usage: hundred}
}

func TestAnswers(t *testing.T) {
	bare := func(content, usage string) string {
		return `{"type":"message","content":` + content + `,"stop_reason":"end_turn"` + usage + `}`
	}
	one := call(1, "get_transaction", "{}")
	for _, row := range []struct {
		name, body string
		want       llm.Reply
	}{
		{"a call is a call, with an id of ours", llmtest.Message("["+called("toolu_1", "{}")+"]", "tool_use"), calling(one)},
		{"words are words", llmtest.Message(`[{"type":"text","text":"I think so."}]`, "end_turn"), llm.Reply{Text: "I think so.", Stop: llm.StopEnd, Usage: hundred}},
		{"words in blocks are joined", llmtest.Message(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "stop_sequence"),
			llm.Reply{Text: "ab", Stop: llm.StopEnd, Usage: hundred}},
		{"words beside calls are both kept", llmtest.Message(`[{"type":"text","text":"Let me look."},`+called("toolu_1", "{}")+"]", "tool_use"),
			llm.Reply{Text: "Let me look.", Calls: []llm.Call{one}, Stop: llm.StopTools, Usage: hundred}},
		{"content that is a text is that text", llmtest.Message(`"I think so."`, "end_turn"), llm.Reply{Text: "I think so.", Stop: llm.StopEnd, Usage: hundred}},

		{"two calls with one id get two ids", llmtest.Message("["+called("a", "{}")+","+called("a", `{"a":1}`)+"]", "tool_use"),
			calling(one, call(2, "get_transaction", `{"a":1}`))},
		{"an empty id and a number as id are no matter", llmtest.Message("["+called("", "{}")+`,{"type":"tool_use","id":7,"name":"get_transaction","input":{}}]`, "tool_use"),
			calling(one, call(2, "get_transaction", "{}"))},
		{"a tool nobody offered is passed on for the conversation to answer", llmtest.Message(`[{"type":"tool_use","id":"a","name":"wire_money","input":{}}]`, "tool_use"),
			calling(call(1, "wire_money", "{}"))},
		{"arguments are kept as they were written", llmtest.Message("["+called("a", `{ "a" : 1.0 }`)+"]", "tool_use"), calling(call(1, "get_transaction", `{ "a" : 1.0 }`))},
		{"arguments as a text are that text", llmtest.Message("["+called("a", `"{\"a\":1}"`)+"]", "tool_use"), calling(call(1, "get_transaction", `{"a":1}`))},
		{"cut arguments are kept raw", llmtest.Message("["+called("a", `"{\"order_id\": \"1"`)+"]", "max_tokens"),
			llm.Reply{Calls: []llm.Call{call(1, "get_transaction", `{"order_id": "1`)}, Stop: llm.StopLength, Usage: hundred}},
		{"arguments of null are none", llmtest.Message("["+called("a", "null")+"]", "tool_use"), calling(call(1, "get_transaction", ""))},
		{"no arguments are none", llmtest.Message(`[{"type":"tool_use","id":"a","name":"get_transaction"}]`, "tool_use"), calling(call(1, "get_transaction", ""))},

		{"an empty list is no answer", llmtest.Message("[]", "end_turn"), llm.Reply{Stop: llm.StopEnd, Usage: hundred}},
		{"content of null is no answer", llmtest.Message("null", "end_turn"), llm.Reply{Stop: llm.StopEnd, Usage: hundred}},
		{"a message without content is no answer", `{"type":"message"}`, llm.Reply{Stop: llm.StopOther}},
		{"thinking is never read as an answer", llmtest.Message(`[{"type":"thinking","thinking":"resolve it","signature":"s"}]`, "max_tokens"),
			llm.Reply{Thinking: true, Stop: llm.StopLength, Usage: hundred}},
		{"nor is what was redacted of it", llmtest.Message(`[{"type":"redacted_thinking","data":"x"}]`, "end_turn"), llm.Reply{Thinking: true, Stop: llm.StopEnd, Usage: hundred}},
		{"nor a call inside it", llmtest.Message(`[{"type":"thinking","thinking":"<tool_call>{\"name\":\"get_transaction\"}</tool_call>","signature":"s"}]`, "end_turn"),
			llm.Reply{Thinking: true, Stop: llm.StopEnd, Usage: hundred}},
		{"blocks of kinds to come are passed over", llmtest.Message(`[{"type":"hologram","beam":[1]},{"type":"text","text":"a"}]`, "end_turn"),
			llm.Reply{Text: "a", Stop: llm.StopEnd, Usage: hundred}},

		{"a refusal says why, where the server does", strings.Replace(llmtest.Message("[]", "refusal"), `"usage"`, `"stop_details":{"type":"refusal","explanation":"I will not."},"usage"`, 1),
			llm.Reply{Text: "I will not.", Stop: llm.StopOther, Usage: hundred}},
		{"a refusal without a word is no answer", llmtest.Message("[]", "refusal"), llm.Reply{Stop: llm.StopOther, Usage: hundred}},
		{"a turn that was paused is not ended", llmtest.Message(`[{"type":"text","text":"a"}]`, "pause_turn"), llm.Reply{Text: "a", Stop: llm.StopOther, Usage: hundred}},
		{"a full context is a cut", llmtest.Message(`[{"type":"text","text":"a"}]`, "model_context_window_exceeded"), llm.Reply{Text: "a", Stop: llm.StopLength, Usage: hundred}},
		{"a reason to stop that we do not know is other", llmtest.Message(`[{"type":"text","text":"a"}]`, "tired"), llm.Reply{Text: "a", Stop: llm.StopOther, Usage: hundred}},

		{"no usage is unknown", bare(`"a"`, ""), llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage of zero input is unknown", bare(`"a"`, `,"usage":{"input_tokens":0,"output_tokens":5}`), llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage below zero is unknown", bare(`"a"`, `,"usage":{"input_tokens":50,"cache_read_input_tokens":-1}`), llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage beyond all numbers is unknown", bare(`"a"`, `,"usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":1}`), llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"nor is it known where it goes round twice", bare(`"a"`, `,"usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807}`),
			llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage of another type is unknown", bare(`"a"`, `,"usage":{"input_tokens":"many"}`), llm.Reply{Text: "a", Stop: llm.StopEnd}},
		{"usage without a cache is whole", bare(`"a"`, `,"usage":{"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":null}`),
			llm.Reply{Text: "a", Stop: llm.StopEnd, Usage: &llm.Usage{Input: 7, Output: 2}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			reply := llmtest.Complete(t, model(t, llmtest.Says(t, row.body).URL), llmtest.First())
			got := llmtest.Said(reply)
			got.Opaque = nil
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if string(reply.Response) != row.body {
				t.Errorf("recorded %q, the server sent %q", reply.Response, row.body)
			}
		})
	}
}

func TestFortyCallsInOneTurnGetFortyIdsAndFortyResults(t *testing.T) {
	s := llmtest.ServeMessages(t, llmtest.Thoughtless, func(r llmtest.MessagesRequest) (string, string) {
		var calls []string
		for i := range 40 {
			calls = append(calls, called(fmt.Sprintf("toolu_%d_%d", r.Turn, i), fmt.Sprintf(`{"n":%d}`, i)))
		}
		return "[" + strings.Join(calls, ",") + "]", "tool_use"
	})
	m := model(t, s.URL)
	req := llmtest.First()
	for range 2 {
		reply := llmtest.Complete(t, m, req)
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
		req = goOn(req, reply)
	}
	llmtest.Complete(t, m, req)
}

func TestWhatIsNotTheProtocolIsUnreadable(t *testing.T) {
	for _, row := range []struct{ name, body, want string }{
		{"a login page", "\n<!doctype html><title>Sign in</title>", "a web page instead of JSON: is the base URL right?"},
		{"cut JSON", `{"content":[{"ty`, "not JSON"},
		{"JSON with more behind it", llmtest.Message("[]", "end_turn") + " and more", "not JSON"},
		{"nothing", "", "nothing at all"},
		{"a stream nobody asked for", "event: message_start\ndata: {}\n\n", "not JSON"},
		{"other JSON", `{"status":"ok"}`, "no message"},
		{"an answer in the other protocol", `{"choices":[{"message":{"content":"a"}}]}`, "no message"},
		{"a list", `[]`, "no message"},
		{"an error that claims success", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "an error: Overloaded"},
		{"an error beside a message", `{"type":"message","content":[],"error":{"message":"model is loading"}}`, "an error: model is loading"},
		{"content that is a number", llmtest.Message("12", "end_turn"), "neither text nor a list"},
		{"a block that is a number", llmtest.Message("[12]", "end_turn"), "neither text nor a list"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := llmtest.Says(t, row.body)
			e := llmtest.Fails(t, model(t, s.URL), llmtest.First())
			if e.Kind != llm.Unreadable || !strings.Contains(e.Message, row.want) {
				t.Errorf("error = %v, want unreadable with %q", e, row.want)
			}
			if string(e.Response) != row.body || len(e.Request) == 0 || len(e.Attempts) != 1 || s.Asked() != 1 {
				t.Errorf("recorded %q after %d attempts (%d at the server): want the bytes, once", e.Response, len(e.Attempts), s.Asked())
			}
		})
	}
}

// Answers that real servers have given or may give, for the fuzzer to start from.
var answerSeeds = []string{
	llmtest.Message("["+signed+","+redacted+","+words+","+called("toolu_1", `{"a":1}`)+"]", "tool_use"),
	llmtest.Message(`[{"type":"tool_use","id":7,"name":null,"input":"{"}]`, "max_tokens"),
	llmtest.Message(`"a"`, "refusal"), llmtest.Message(`[null,{"type":"text","text":"\ud800"}]`, "x"),
	`{"type":"message"}`, `{"type":"error","error":{"message":null}}`, `{"content":[{"type":"thinking"}],"usage":[],"stop_details":1}`, `<html>`, ``,
}

// FuzzAnswer: whatever a server sends, what was read of it can be kept, and be sent back as the messages of a request.
func FuzzAnswer(f *testing.F) {
	if len(answerSeeds) < 5 {
		f.Fatal("the seeds are gone")
	}
	for _, s := range answerSeeds {
		f.Add([]byte(s))
	}
	m := model(f, "http://127.0.0.1:1")
	f.Fuzz(func(t *testing.T, body []byte) {
		req := llmtest.First()
		reply, err := m.read(body, m.plan(req))
		if err != nil {
			if reply.Text != "" || len(reply.Calls) > 0 || reply.Opaque != nil {
				t.Errorf("%q gave an error and an answer", body)
			}
			return
		}
		if len(reply.Opaque) > 0 && !json.Valid(reply.Opaque) {
			t.Errorf("%q is kept as %q", body, reply.Opaque)
		}
		wire, err := m.body(m.plan(nudged(req, reply)))
		if err != nil || !json.Valid(wire) {
			t.Errorf("%q is sent back as %q: %v", body, wire, err)
		}
	})
}

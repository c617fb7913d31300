package rulebook

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/redact"
)

// weather is a desk that this package has never heard of.
var weather = Playbook{
	Knows:        func(tools []llm.Tool) bool { return llm.Request{Tools: tools}.Offers("submit_forecast") },
	Ask:          []string{"get_wind", "get_rain", "get_snow"},
	DecisionTool: "submit_forecast",
	Decide: func(s Seen) (any, error) {
		var rain struct{ Millimetres int }
		if err := s.Results["get_rain"].Into(&rain); err != nil {
			return nil, err
		}
		if s.Results["get_wind"].OK {
			return nil, errors.New("I did not expect wind")
		}
		return map[string]any{"forecast": fmt.Sprint(rain.Millimetres, " mm"), "ref": s.Results["get_rain"].Ref, "canary": s.Canary}, nil
	},
}

func offer(names ...string) (tools []llm.Tool) {
	for _, n := range names {
		tools = append(tools, llm.Tool{Name: n})
	}
	return tools
}

func opening() llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: redact.Mask("Tomorrow in Lagos.\ncanary: k3-Z9")}},
		Tools:    offer("get_rain", "get_wind", "submit_forecast"),
	}
}

func complete(t *testing.T, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := New(weather).Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// answered appends the reply and a result for each of its calls.
func answered(req llm.Request, reply llm.Reply, results map[string]string) llm.Request {
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Calls: reply.Calls})
	for _, c := range reply.Calls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: redact.Mask(results[c.Name])})
	}
	return req
}

const (
	noWind = `{"ref":"S1","ok":false,"error":"no wind on record"}`
	rain   = `{"ref":"S2","ok":true,"result":{"millimetres":12}}`
)

func TestAsksEverythingOfferedAndThenDecides(t *testing.T) {
	req := opening()
	reply := complete(t, req)
	want := []llm.Call{{ID: "c00010001", Name: "get_wind", Args: "{}"}, {ID: "c00010002", Name: "get_rain", Args: "{}"}}
	if diff := cmp.Diff(want, reply.Calls); diff != "" {
		t.Errorf("first turn (-want +got):\n%s", diff)
	}
	reply = complete(t, answered(req, reply, map[string]string{"get_wind": noWind, "get_rain": rain}))
	want = []llm.Call{{ID: "c00020001", Name: "submit_forecast", Args: `{"canary":"k3-Z9","forecast":"12 mm","ref":"S2"}`}}
	if diff := cmp.Diff(want, reply.Calls); diff != "" {
		t.Errorf("second turn (-want +got):\n%s", diff)
	}
}

func TestNoProposal(t *testing.T) {
	for _, row := range []struct {
		name    string
		results map[string]string
		tools   []llm.Tool
		want    string
	}{
		{"a result that failed is named", map[string]string{"get_wind": noWind, "get_rain": `{"ref":"S2","ok":false,"error":"gauge is dry"}`}, nil, "I make no proposal: step S2 failed: gauge is dry."},
		{"a result that is not JSON is no result", map[string]string{"get_wind": noWind, "get_rain": `rain!`}, nil, "I make no proposal: the call gave no result."},
		{"a result of another form is no result", map[string]string{"get_wind": noWind, "get_rain": `{"ok":true,"ref":2,"result":{"millimetres":1}}`}, nil, "I make no proposal: the call gave no result."},
		{"a desk's own doubt is said", map[string]string{"get_wind": `{"ref":"S1","ok":true,"result":{}}`, "get_rain": rain}, nil, "I make no proposal: I did not expect wind."},
		{"tools that no playbook knows", map[string]string{}, offer("get_rain"), "I have no rules for this kind of case, so I make no proposal."},
	} {
		t.Run(row.name, func(t *testing.T) {
			req := answered(opening(), complete(t, opening()), row.results)
			if row.tools != nil {
				req.Tools = row.tools
			}
			if reply := complete(t, req); reply.Text != row.want || reply.Calls != nil {
				t.Errorf("reply = %q with %v, want %q", reply.Text, reply.Calls, row.want)
			}
		})
	}
}

func TestForcedDecisionIsMadeWithWhatThereIs(t *testing.T) {
	forced := func(req llm.Request) llm.Reply {
		req.Tools, req.Force = offer("submit_forecast"), "submit_forecast"
		return complete(t, req)
	}
	if reply := forced(opening()); reply.Text != "I make no proposal: the call gave no result." {
		t.Errorf("with nothing asked yet: %+v", reply)
	}
	req := answered(opening(), complete(t, opening()), map[string]string{"get_wind": noWind, "get_rain": rain})
	if reply := forced(req); len(reply.Calls) != 1 || reply.Calls[0].Name != "submit_forecast" {
		t.Errorf("with everything asked: %+v", reply)
	}
}

func TestEveryReplyIsRecordedAndTheSameAgain(t *testing.T) {
	one, two := complete(t, opening()), complete(t, opening())
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("the second time differs:\n%s", diff)
	}
	if !strings.Contains(string(one.Request), "canary: k3-Z9") || !strings.Contains(string(one.Response), "get_wind") {
		t.Errorf("recorded %s and %s", one.Request, one.Response)
	}
	if one.Usage == nil || one.Usage.Input < llm.Estimate(opening()) || one.Usage.Output == 0 {
		t.Errorf("usage = %+v: it must not look like a conversation that was cut", one.Usage)
	}
	if id := New().Identity(); id.Provider != "rulebook" || id.Name != "offline rules, no AI" {
		t.Errorf("identity = %+v", id)
	}
}

func TestCanary(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"the last line", "a case\ncanary: k3\n", "k3"},
		{"the first line", "canary: k3\na case", "k3"},
		{"a customer's own canary before ours is not it", "a case\ncanary: mine\nmore\ncanary: k3", "k3"},
		{"a customer's own canary after ours is not it", "canary: k3\na case\ncanary: mine", "k3"},
		{"a line end from elsewhere", "canary: k3\r\na case\r\n", "k3"},
		{"a sentence is no canary", "a case\ncanary: in a coal mine", ""},
		{"a line that only mentions one", "the canary: k3", ""},
		{"none", "a case", ""},
		{"nothing at all", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := canary(row.text); got != row.want {
				t.Errorf("canary of %q = %q, want %q", row.text, got, row.want)
			}
		})
	}
	nudged := opening()
	nudged.Messages = append(nudged.Messages, llm.Message{Role: llm.User, Text: redact.Mask("canary: other")})
	if got := read(nudged).Canary; got != "k3-Z9" {
		t.Errorf("canary after a nudge = %q, want the first message's", got)
	}
}

var resultSeeds = []string{noWind, rain, `{"ref":3}`, `[]`, ``, `{"ref":"S1","ok":true}`, `null`}

func FuzzResult(f *testing.F) {
	if len(resultSeeds) < 5 {
		f.Fatal("the seeds are gone")
	}
	for _, s := range resultSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var into struct{ Millimetres int }
		if r := result(text); r.Into(&into) == nil && !r.OK {
			t.Errorf("%q was read although it failed", text)
		}
	})
}

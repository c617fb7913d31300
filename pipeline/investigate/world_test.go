package investigate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/investigate/fence"
)

// modelFunc is a model that is one function. It is safe for concurrent use if the function is.
type modelFunc func(context.Context, llm.Request) (llm.Reply, error)

func (modelFunc) Identity() llm.Identity { return llm.Identity{Provider: "scripted", Name: "test"} }

func (f modelFunc) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) { return f(ctx, r) }

// line is one answer of a script.
type line struct {
	reply llm.Reply
	err   error
}

// script answers turn n with line n, and goes on with the last one: a model that has nothing else to say. Which turn it is
// follows from the request, so that a conversation that goes on meets the line it would have met.
func script(lines ...line) modelFunc {
	return func(_ context.Context, r llm.Request) (llm.Reply, error) {
		l := lines[min(r.Turn(), len(lines))-1]
		return filled(r, l.reply), l.err
	}
}

// filled gives a reply what a provider would: ids, exact bytes and, unless the line has its own, a believable usage.
func filled(r llm.Request, reply llm.Reply) llm.Reply {
	reply.Calls = append([]llm.Call(nil), reply.Calls...)
	r.Number(reply.Calls)
	reply.Request, reply.Response = r.Transcript(), reply.Transcript()
	if reply.Usage == nil {
		reply.Usage = &llm.Usage{Input: llm.Estimate(r), Output: 10}
	}
	if reply.Usage == noUsage {
		reply.Usage = nil
	}
	return reply
}

var noUsage = &llm.Usage{}

func say(text string) line { return line{reply: llm.Reply{Text: text, Stop: llm.StopEnd}} }

func calls(calls ...llm.Call) line { return line{reply: llm.Reply{Calls: calls, Stop: llm.StopTools}} }

func call(name, args string) llm.Call { return llm.Call{Name: name, Args: args} }

func fails(err error) line { return line{err: err} }

func (l line) stop(s llm.Stop) line { l.reply.Stop = s; return l }

func (l line) thinking() line { l.reply.Thinking = true; return l }

func (l line) usage(u *llm.Usage) line { l.reply.Usage = u; return l }

// good is a decision that nothing is wrong with.
const good = `{"recommendation":"resolve","category":"failed_transfer","confidence":0.93,"fraud_suspected":false,` +
	`"summary":"The transfer failed and was not given back.","canary":"blue-heron","customer_message":"We are giving it back.",` +
	`"claims":[{"text":"The settlement failed.","citations":[{"ref":"S1","field":"status","value":"failed"}]}]}`

var (
	decides   = calls(call("submit_decision", good))
	misquoted = call("submit_decision", strings.Replace(good, "0.93", `"0.93"`, 1))
	looks     = calls(call("get_settlement_status", `{}`))
)

// world is a desk of a few tools, and what happened to them.
type world struct {
	mu    sync.Mutex
	ran   []string
	turns []Turn
}

func (w *world) run(name string, answer func(json.RawMessage) (any, error)) Tool {
	schema := json.RawMessage(`{"type":"object","properties":{}}`)
	if name == "get_transaction" {
		schema = json.RawMessage(`{"type":"object","properties":{"transaction_id":{"type":"string"}}}`)
	}
	return Tool{llm.Tool{Name: name, Description: "reads " + name, Schema: schema},
		func(_ context.Context, args json.RawMessage) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ran = append(w.ran, name+string(args))
			return answer(args)
		}}
}

type transaction struct {
	ID   string      `json:"id"`
	Memo fence.Words `json:"memo"`
}

func (w *world) tools() []Tool {
	gives := func(v any, err error) func(json.RawMessage) (any, error) {
		return func(json.RawMessage) (any, error) { return v, err }
	}
	return []Tool{
		w.run("get_transaction", gives(transaction{"TX-9", "rent for May"}, nil)),
		w.run("get_settlement_status", gives(map[string]string{"status": "failed"}, nil)),
		w.run("get_customer_profile", gives(nil, errors.New("dial tcp 10.0.0.7:5432: refused"))),
		w.run("get_merchant_info", gives(nil, countersign.Errorf(countersign.NotFound, "the transaction names no merchant"))),
		w.run("get_device_and_location", func(json.RawMessage) (any, error) { panic("index out of range") }),
		w.run("get_ledger_entries", gives([]string{"not an object"}, nil)),
		w.run("get_customer_history", gives(nil, countersign.Errorf(countersign.Internal, "table customers is locked"))),
	}
}

var decisionTool = llm.Tool{Name: "submit_decision", Description: "ends the investigation", Schema: json.RawMessage(
	`{"type":"object","properties":{"recommendation":{},"category":{},"confidence":{},"fraud_suspected":{},"summary":{},` +
		`"canary":{},"customer_message":{},"claims":{}}}`)}

func bankBrief() Brief {
	return Brief{
		System:          "You investigate disputes.",
		Case:            "A customer disputes transaction TX-9.",
		Notes:           "I never got my money",
		Decision:        decisionTool,
		Recommendations: []string{"resolve", "escalate", "reject"},
		Categories: []string{"failed_transfer", "duplicate_charge", "unauthorised", "not_received", "wrong_amount",
			"other"},
		Escalation: "escalate",
	}
}

func (w *world) conversation(model llm.Model) Conversation {
	return Conversation{
		Model: model, Brief: bankBrief(), Tools: w.tools(), Fence: fence.New("q7f3"), Canary: "blue-heron",
		Now: func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) },
		Record: func(_ context.Context, turn Turn) error {
			w.turns = append(w.turns, turn)
			return nil
		},
	}
}

// run holds a conversation that must end with a proposal.
func run(t *testing.T, c Conversation) Outcome {
	t.Helper()
	o, err := Run(t.Context(), c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return o
}

// told are the requests that a model was sent, spelled out.
func listening(model modelFunc, told *[]llm.Request) modelFunc {
	return func(ctx context.Context, r llm.Request) (llm.Reply, error) {
		*told = append(*told, r)
		return model(ctx, r)
	}
}

// spelledOut is a request with everything in it, to compare byte for byte.
func spelledOut(r llm.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "system %q force %q max %d\n", r.System.String(), r.Force, r.MaxOutput)
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %q call %q opaque %q\n", m.Role, m.Text.String(), m.CallID, m.Opaque)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "  %q %q %q\n", c.ID, c.Name, c.Args)
		}
	}
	for _, tool := range r.Tools {
		fmt.Fprintf(&b, "tool %q %q %q\n", tool.Name, tool.Description, tool.Schema)
	}
	return b.String()
}

package investigate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/llm"
)

// anyReply draws what a model may answer: mostly nonsense, now and then something good.
func anyReply() *rapid.Generator[line] {
	names := []string{"get_transaction", "get_settlement_status", "get_customer_profile", "get_device_and_location",
		"get_ledger_entries", "submit_decision", "submit_decision", "send_money", "", "Submit_Decision", "<|im_end|>"}
	var args []string
	for _, d := range decisions {
		if len(d.args) < 2000 {
			args = append(args, d.args)
		}
	}
	args = append(args, "{}", "{}", "{}", `{"transaction_id":"TX-9"}`, "\xff\x00", good, good)
	return rapid.Custom(func(t *rapid.T) line {
		var l line
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 1, 2, 3, 20, 45}).Draw(t, "calls") {
			l.reply.Calls = append(l.reply.Calls, llm.Call{
				ID:   rapid.SampledFrom([]string{"", "call_1", "a", "b"}).Draw(t, "id"),
				Name: rapid.SampledFrom(names).Draw(t, "name"),
				Args: rapid.SampledFrom(args).Draw(t, "args"),
			})
		}
		l.reply.Text = rapid.SampledFrom([]string{"", " ", "hm", good, "\xff<|im_start|>system"}).Draw(t, "text")
		l.reply.Stop = rapid.SampledFrom([]llm.Stop{llm.StopTools, llm.StopEnd, llm.StopLength, llm.StopOther, "?"}).Draw(t, "stop")
		l.reply.Thinking = rapid.Bool().Draw(t, "thinking")
		l.reply.Opaque = rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{ "a":1}`), json.RawMessage("\xff")}).Draw(t, "opaque")
		l.reply.Usage = rapid.SampledFrom([]*llm.Usage{nil, noUsage, {Input: 3, Output: 1}, {Input: -7}, {Input: 150_000}}).Draw(t, "usage")
		l.err = rapid.SampledFrom([]error{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, errors.New("boom"),
			&llm.Error{Kind: llm.Unreachable}, &llm.Error{Kind: "novel"}}).Draw(t, "error")
		return l
	})
}

// TestWhateverAModelSays holds, for any answers at all, what the package promises, and that a crash at any turn changes
// none of it.
func TestWhateverAModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(anyReply(), 12, 12).Draw(rt, "replies")
		crash := rapid.IntRange(0, 9).Draw(rt, "crash after turn")
		keepIDs := rapid.Bool().Draw(rt, "the provider forgets the ids")
		model := func(ctx context.Context, r llm.Request) (llm.Reply, error) {
			reply, err := script(lines...)(ctx, r)
			if keepIDs {
				reply.Calls = lines[min(r.Turn(), len(lines))-1].reply.Calls
			}
			return reply, err
		}

		w, told := &world{}, []llm.Request{}
		o, err := Run(context.Background(), w.conversation(listening(model, &told)))
		if err != nil {
			rt.Fatalf("Run: %v", err)
		}
		if len(told) > 9 || o.Turns != len(told) {
			rt.Errorf("%d turns and %d model calls, want at most 9", o.Turns, len(told))
		}
		checkProposal(rt, o)
		checkSteps(rt, o, w.turns)
		checkRan(rt, w)
		for i, r := range told {
			checkRequest(rt, i+1, r)
		}

		again, retold := &world{}, []llm.Request{}
		c := again.conversation(listening(model, &retold))
		c.Past = stored(rt, w.turns[:min(crash, len(w.turns))])
		o2, err := Run(context.Background(), c)
		if err != nil {
			rt.Fatalf("Run again: %v", err)
		}
		if diff := cmp.Diff(o, o2); diff != "" {
			rt.Errorf("outcome after a crash at turn %d differs:\n%s", crash, diff)
		}
		for i, r := range retold {
			if want := told[len(c.Past)+i]; spelledOut(r) != spelledOut(want) {
				rt.Errorf("request %d after a crash at turn %d differs:\n%s", i, crash, cmp.Diff(spelledOut(want), spelledOut(r)))
			}
		}
	})
}

// checkRan holds what ran to the bounds: known tools only, sixteen in a turn, forty in a case.
func checkRan(t rapid.TB, w *world) {
	t.Helper()
	if len(w.ran) > DefaultBounds.CallsPerCase {
		t.Errorf("%d tools ran", len(w.ran))
	}
	known := w.tools()
	for _, ran := range w.ran {
		name, _, _ := strings.Cut(ran, "{")
		found := false
		for _, tool := range known {
			found = found || tool.Name == name
		}
		if !found {
			t.Errorf("%q ran", ran)
		}
	}
	for _, turn := range w.turns {
		worked := 0
		for _, step := range turn.Steps {
			if step.OK && step.Tool != "submit_decision" {
				worked++
			}
		}
		if worked > DefaultBounds.CallsPerTurn {
			t.Errorf("%d tools ran in turn %d", worked, turn.Number)
		}
	}
}

// checkRequest holds a request to what servers accept: roles that follow each other, every call answered once and in
// order, names and arguments that no server refuses, nothing that a chat template would read.
func checkRequest(t rapid.TB, number int, r llm.Request) {
	t.Helper()
	var open []string
	seen := map[string]bool{}
	last := llm.Role("")
	for i, m := range r.Messages {
		if m.Role == last && m.Role != llm.ToolRole || i == 0 && m.Role != llm.User {
			t.Errorf("request %d: message %d of %s follows %s", number, i, m.Role, last)
		}
		if m.Role == llm.ToolRole {
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("request %d: message %d answers %q, open are %q", number, i, m.CallID, open)
			}
			open = open[1:]
		} else if len(open) > 0 {
			t.Errorf("request %d: calls %q have no result", number, open)
		}
		for _, c := range m.Calls {
			if c.ID == "" || seen[fmt.Sprint(i, c.ID)] || !json.Valid([]byte(c.Args)) || c.Args[0] != '{' || c.Name == "" ||
				strings.Contains(c.Name+c.Args, "<|") {
				t.Errorf("request %d: call %+v", number, c)
			}
			seen[fmt.Sprint(i, c.ID)] = true
			open = append(open, c.ID)
		}
		if strings.Contains(m.Text.String(), "<|") {
			t.Errorf("request %d: message %d holds a control token: %q", number, i, m.Text)
		}
		if m.Role == llm.Assistant && m.Text.String() == "" && len(m.Calls) == 0 && m.Opaque == nil {
			t.Errorf("request %d: message %d is empty", number, i)
		}
		last = m.Role
	}
	if len(open) > 0 {
		t.Errorf("request %d: calls %q have no result", number, open)
	}
	if r.Messages[0].Text.String()[:8] != "canary: " {
		t.Errorf("request %d does not begin with the canary: %q", number, r.Messages[0].Text)
	}
}

package investigate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign"
	"countersign/llm"
)

// stored is turns as they come back from a database: through JSON, the steps as rows of their own.
func stored(t rapid.TB, turns []Turn) []Turn {
	t.Helper()
	var back []Turn
	for _, turn := range turns {
		row, err := json.Marshal(turn)
		if err != nil {
			t.Fatalf("turn %d cannot be stored: %v", turn.Number, err)
		}
		var again Turn
		if err := json.Unmarshal(row, &again); err != nil {
			t.Fatalf("turn %d cannot be read back: %v", turn.Number, err)
		}
		for _, step := range turn.Steps {
			row, err := json.Marshal(step)
			if err != nil {
				t.Fatalf("step %s cannot be stored: %v", step.Ref, err)
			}
			var s countersign.Step
			if err := json.Unmarshal(row, &s); err != nil {
				t.Fatalf("step %s cannot be read back: %v", step.Ref, err)
			}
			again.Steps = append(again.Steps, s)
		}
		back = append(back, again)
	}
	return back
}

// long is a conversation with something of everything in it, over all nine turns.
func long() modelFunc {
	odd := calls(call("get_transaction", `{"transaction_id": "1`), call("<|im_start|>", "\xff\x00"), call("get_device_and_location", ""))
	odd.reply.Text = "I read \xff \u2028 <b>&</b> and a card 4111 1111 1111 1111"
	odd.reply.Opaque = json.RawMessage(`[ {"type": "thinking", "signature":"a<b&c"} ]`)
	model := script(say("").thinking(), odd, looks.usage(noUsage), calls(misquoted, call("get_merchant_info", "{}")),
		looks, calls(call("get_transaction", ` { "transaction_id" : "<TX-9>" } `)), looks, looks, decides)
	return func(ctx context.Context, r llm.Request) (llm.Reply, error) {
		reply, err := model(ctx, r)
		reply.Response = append(reply.Response, 0xff, 0)
		return reply, err
	}
}

func TestAConversationGoesOnAsIfNothingHadHappened(t *testing.T) {
	whole, straight := &world{}, []llm.Request{}
	want := run(t, whole.conversation(listening(long(), &straight)))
	if want.Turns != 9 || want.Proposal.Failure != "" {
		t.Fatalf("%d turns, failure %q: %s", want.Turns, want.Proposal.Failure, want.Proposal.Summary)
	}
	for crash := 0; crash <= want.Turns; crash++ {
		t.Run(fmt.Sprintf("after turn %d", crash), func(t *testing.T) {
			before, told := &world{}, []llm.Request{}
			c := before.conversation(listening(long(), &told))
			record, gone := c.Record, errors.New("killed")
			c.Record = func(ctx context.Context, turn Turn) error {
				if turn.Number > crash {
					return gone
				}
				return record(ctx, turn)
			}
			if _, err := Run(t.Context(), c); crash < want.Turns && !errors.Is(err, gone) {
				t.Fatalf("not killed: %v", err)
			}
			told = told[:crash] // what was under way is asked for again
			after := &world{}
			c = after.conversation(listening(long(), &told))
			c.Past = stored(t, before.turns)
			got := run(t, c)

			if len(told) != want.Turns || len(after.turns) != want.Turns-crash {
				t.Fatalf("%d model calls and %d new turns, want %d and %d", len(told), len(after.turns), want.Turns, want.Turns-crash)
			}
			for i := range told {
				if diff := cmp.Diff(spelledOut(straight[i]), spelledOut(told[i])); diff != "" {
					t.Errorf("request %d differs (-whole +resumed):\n%s", i+1, diff)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcome differs (-whole +resumed):\n%s", diff)
			}
			if ran := len(before.ran) + len(after.ran); crash == want.Turns && ran != len(whole.ran) {
				t.Errorf("%d tools ran, want %d", ran, len(whole.ran))
			}
		})
	}
}

func TestAConversationThatEndedIsNotAskedForAgain(t *testing.T) {
	for name, model := range map[string]modelFunc{
		"by a decision":           script(looks, decides),
		"by a failure":            script(say("hm")),
		"by an unreachable model": script(looks, fails(&llm.Error{Kind: llm.Unreachable, Message: "503"})),
		"by a bound":              script(looks, looks.usage(&llm.Usage{Input: 1 << 40})),
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			want := run(t, w.conversation(model))
			again := &world{}
			c := again.conversation(modelFunc(func(context.Context, llm.Request) (llm.Reply, error) {
				t.Error("the model was called")
				return llm.Reply{}, nil
			}))
			c.Past = append(stored(t, w.turns), Turn{Number: 99, Text: "a turn after the end is not looked at"})
			got := run(t, c)
			got.Use.Provider, want.Use.Provider = "", ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcome differs (-first +again):\n%s", diff)
			}
			if len(again.turns) != 0 || len(again.ran) != 0 {
				t.Errorf("%d turns recorded and %d tools run again", len(again.turns), len(again.ran))
			}
		})
	}
}

func TestExactBytesComeBack(t *testing.T) {
	for _, b := range []string{"", `{"a":1}`, "\xff\xfe", "nul \x00 <&> \u2028", "base64:", "base64:aGk=", "base64:!"} {
		e := exact([]byte(b))
		row, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Exact
		if err := json.Unmarshal(row, &back); err != nil || string(back.Bytes()) != b {
			t.Errorf("%q came back as %q: %v", b, back.Bytes(), err)
		}
	}
	if damaged := Exact("base64:!"); string(damaged.Bytes()) != "base64:!" {
		t.Errorf("damaged text is read as %q", damaged.Bytes())
	}
}

func TestARecordThatLostARowDoesNotStopTheConversation(t *testing.T) {
	w := &world{}
	c := w.conversation(script(looks, looks, decides))
	c.Past = []Turn{{Number: 1, Calls: []llm.Call{{ID: "c00010001", Name: "get_transaction"}}}}
	if o := run(t, c); o.Proposal.Failure != "" || o.Turns != 3 {
		t.Errorf("failure %q after %d turns", o.Proposal.Failure, o.Turns)
	}
}

func TestADecisionThatCanNoLongerBeReadEndsWithAPerson(t *testing.T) {
	w := &world{}
	c := w.conversation(script(decides))
	c.Past = []Turn{{Number: 1, Calls: []llm.Call{{ID: "c00010001", Name: "submit_decision", Args: "{}"}},
		Steps: []countersign.Step{{Ref: "S1", OK: true, Tool: "submit_decision", Turn: 1}}}}
	if o := run(t, c); o.Proposal.Failure != countersign.NoDecision {
		t.Errorf("failure %q", o.Proposal.Failure)
	}
}

package scripted

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/llm"
	"countersign/redact"
)

// converse plays n turns as a conversation would: every answer is appended.
func converse(t *testing.T, m llm.Model, n int) (req llm.Request, replies []llm.Reply) {
	t.Helper()
	req.Messages = []llm.Message{{Role: llm.User, Text: redact.Mask("a case")}}
	for range n {
		reply, err := m.Complete(t.Context(), req)
		if err != nil {
			t.Error(err) // not Fatal: conversations run side by side
			return req, make([]llm.Reply, n)
		}
		replies = append(replies, reply)
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: redact.Mask(reply.Text), Calls: reply.Calls})
	}
	return req, replies
}

func TestScriptIsPlayedInOrderAndEndsUnreachable(t *testing.T) {
	m := New(Calls(Call("a", `{}`), Call("b", `{"x":`)), Say(""), Say("done"))
	req, replies := converse(t, m, 3)
	want := []llm.Call{{ID: "c00010001", Name: "a", Args: `{}`}, {ID: "c00010002", Name: "b", Args: `{"x":`}}
	if diff := cmp.Diff(want, replies[0].Calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if replies[1].Text != "" || replies[2].Text != "done" || replies[2].Stop != llm.StopEnd {
		t.Errorf("replies = %+v", replies)
	}
	var e *llm.Error
	if _, err := m.Complete(t.Context(), req); !errors.As(err, &e) || e.Kind != llm.Unreachable {
		t.Errorf("past the end: %v", err)
	}
}

func TestWhatAScriptLeavesOutIsFilledIn(t *testing.T) {
	_, replies := converse(t, New(Say("some words")), 1)
	r := replies[0]
	if string(r.Request) != `{"messages":[{"role":"user","text":"a case"}],"tools":[]}` || string(r.Response) != `{"text":"some words","stop":"end"}` {
		t.Errorf("recorded %s and %s", r.Request, r.Response)
	}
	if r.Usage == nil || r.Usage.Input != 14 || r.Usage.Output != 8 {
		t.Errorf("usage = %+v", r.Usage)
	}
	silent := Say("a")
	silent.Usage = NoUsage
	if _, replies := converse(t, New(silent), 1); replies[0].Usage != nil {
		t.Errorf("usage = %+v, want none", replies[0].Usage)
	}
}

func TestOneModelServesManyConversationsAtOnce(t *testing.T) {
	script := Calls(Call("a", `{}`))
	m := New(script, Say("done"))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, replies := converse(t, m, 2); len(replies[0].Calls) != 1 || replies[0].Calls[0].ID != "c00010001" || replies[1].Text != "done" {
				t.Errorf("replies = %+v", replies)
			}
		})
	}
	all.Wait()
	if script.Calls[0].ID != "" {
		t.Error("the script itself was numbered: conversations would write over each other")
	}
}

func TestFuncSeesTheTurnAndMayFail(t *testing.T) {
	m := Func(func(n int, req llm.Request) (llm.Reply, error) {
		if n == 1 {
			return llm.Reply{}, Fail(llm.TimedOut, "slow")
		}
		return Say(req.Messages[0].Text.String()), nil
	})
	req, replies := converse(t, m, 1)
	var e *llm.Error
	if _, err := m.Complete(t.Context(), req); replies[0].Text != "a case" || !errors.As(err, &e) || e.Kind != llm.TimedOut {
		t.Errorf("reply %q, then %v", replies[0].Text, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(ended, req); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller gave up: %v", err)
	}
}

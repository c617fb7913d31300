package investigate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign"
	"countersign/llm"
)

func TestRun(t *testing.T) {
	manyLooks := func(n int) line {
		var l line
		for range n {
			l.reply.Calls = append(l.reply.Calls, call("get_settlement_status", ""))
		}
		return l.stop(llm.StopTools)
	}
	bad := calls(misquoted)
	tests := []struct {
		name    string
		model   []line
		failure countersign.Failure // empty: the model's own proposal stands
		turns   int
		summary string   // a part of the proposal's summary
		notes   []string // a part of each turn's note, in order; shorter lists leave the rest unchecked
		ran     int      // tools that ran
	}{
		{"a model that looks and decides has its proposal taken",
			[]line{looks, decides}, "", 2, "was not given back", []string{"", ""}, 1},
		{"a model that decides at once has its proposal taken",
			[]line{decides}, "", 1, "", []string{""}, 0},
		{"prose is answered with one nudge",
			[]line{say("Let me think."), looks, decides}, "", 3, "", []string{"nudged: the reply was prose", "", ""}, 1},
		{"prose a second time ends with a person, also after a call in between",
			[]line{say("Let me think."), looks, say("It failed.")}, countersign.NoDecision, 3, "prose", nil, 1},
		{"an empty reply twice is no answer",
			[]line{say("")}, countersign.NoAnswer, 2, "the reply was empty", nil, 0},
		{"white space is an empty reply",
			[]line{say(" \n\t ")}, countersign.NoAnswer, 2, "the reply was empty", nil, 0},
		{"reasoning alone is no answer and is never read as one",
			[]line{say("").thinking()}, countersign.NoAnswer, 2, "only reasoning came", nil, 0},
		{"an output limit spent on reasoning is named",
			[]line{say("").thinking().stop(llm.StopLength)}, countersign.NoAnswer, 2, "spent on reasoning", nil, 0},
		{"an output limit reached without a word is named",
			[]line{say("").stop(llm.StopLength)}, countersign.NoAnswer, 2, "before anything was said", nil, 0},
		{"prose that was cut twice is a cut reply",
			[]line{say("I will now").stop(llm.StopLength)}, countersign.CutReply, 2, "cut off in its prose", nil, 0},
		{"a call written as text is prose, even when it would be a good decision",
			[]line{say(`<tool_call>{"name":"submit_decision","arguments":` + good + `}</tool_call>`)},
			countersign.NoDecision, 2, "", nil, 0},
		{"bare JSON is prose", []line{say(good)}, countersign.NoDecision, 2, "", nil, 0},
		{"a malformed decision goes back once and the corrected one is taken",
			[]line{looks, bad, decides}, "", 3, "", []string{"", "sent back: confidence: got the text", ""}, 1},
		{"a decision malformed twice ends with a person",
			[]line{bad}, countersign.MalformedTwice, 2, "confidence: got the text", nil, 0},
		{"a decision malformed twice with a look in between ends with a person",
			[]line{bad, looks, bad}, countersign.MalformedTwice, 3, "", nil, 1},
		{"a cut decision goes back once and the whole one is taken",
			[]line{calls(call("submit_decision", good[:70])), decides}, "", 2, "", []string{"sent back: the arguments were cut off"}, 0},
		{"a cut decision is named as cut although the server says that it is whole",
			[]line{calls(call("submit_decision", good[:70])).stop(llm.StopTools)}, countersign.CutReply, 2, "", nil, 0},
		{"a decision that looks whole is not, when the server stopped at the limit",
			[]line{decides.stop(llm.StopLength)}, countersign.CutReply, 2, "", nil, 0},
		{"a malformed decision that is then cut is a cut reply",
			[]line{bad, calls(call("submit_decision", good[:70]))}, countersign.CutReply, 2, "", nil, 0},
		{"two decisions in one turn are none",
			[]line{calls(call("submit_decision", good), call("submit_decision", good)), decides}, "", 2, "",
			[]string{"sent back: 2 decisions in one turn"}, 0},
		{"two decisions in one turn, twice, end with a person",
			[]line{calls(call("submit_decision", good), call("submit_decision", good))}, countersign.MalformedTwice, 2, "", nil, 0},
		{"calls beside a decision are not run",
			[]line{calls(call("get_settlement_status", ""), call("submit_decision", good), call("get_transaction", ""))},
			"", 1, "", nil, 0},
		{"calls beside a decision that goes back are run",
			[]line{calls(call("get_settlement_status", ""), misquoted), decides}, "", 2, "", nil, 1},
		{"calls beside a decision that is malformed for the second time are not run",
			[]line{bad, calls(call("get_settlement_status", ""), misquoted)}, countersign.MalformedTwice, 2, "", nil, 0},
		{"a model that never decides is asked once more for nothing but the decision",
			[]line{looks, looks, looks, looks, looks, looks, looks, looks, decides}, "", 9, "", nil, 8},
		{"another tool on the last turn is not run and ends with a person",
			[]line{looks}, countersign.NoDecision, 9, "only submit_decision was offered", nil, 8},
		{"prose on the last turn ends with a person, although nobody was nudged before",
			[]line{looks, looks, looks, looks, looks, looks, looks, looks, say("It failed.")}, countersign.NoDecision, 9, "prose", nil, 8},
		{"a decision malformed for the first time on the last turn ends with a person",
			[]line{looks, looks, looks, looks, looks, looks, looks, looks, bad}, countersign.NoDecision, 9, "confidence", nil, 8},
		{"a decision cut on the last turn is a cut reply",
			[]line{looks, looks, looks, looks, looks, looks, looks, looks, decides.stop(llm.StopLength)}, countersign.CutReply, 9, "", nil, 8},
		{"a decision malformed on the eighth turn may be corrected on the last",
			[]line{looks, looks, looks, looks, looks, looks, looks, bad, decides}, "", 9, "", nil, 7},
		{"forty calls in one turn: the first sixteen are answered",
			[]line{manyLooks(40), decides}, "", 2, "", nil, 16},
		{"the forty-first call of a case ends it",
			[]line{manyLooks(16), manyLooks(16), manyLooks(9)}, countersign.BudgetSpent, 3, "more than 40 tool calls", nil, 40},
		{"a decision in the turn of the forty-first call still stands",
			[]line{manyLooks(40), calls(call("get_settlement_status", ""), call("submit_decision", good))}, "", 2, "", nil, 16},
		{"unknown tools are not run, and are calls like any other",
			[]line{calls(call("send_money", `{"amount":1}`), call("", ""), call("Get_Transaction", ""), call("get_transaction ", "")),
				decides}, "", 2, "", nil, 0},
		{"tokens used up end with a person",
			[]line{looks, looks.usage(&llm.Usage{Input: 400_000}), decides}, countersign.BudgetSpent, 2, "tokens used", nil, 2},
		{"a server that counts below zero or beyond all numbers breaks nothing",
			[]line{looks.usage(&llm.Usage{Input: -1 << 63, Output: -5}), looks.usage(&llm.Usage{Input: 1<<63 - 1, Output: 1<<63 - 1})},
			countersign.BudgetSpent, 2, "", nil, 2},
		{"a server that cannot be reached ends with a person",
			[]line{looks, fails(&llm.Error{Kind: llm.Unreachable, Message: "503 three times"})}, countersign.Unreachable, 2, "503 three times", nil, 1},
		{"a server that refuses ends with a person",
			[]line{fails(&llm.Error{Kind: llm.Refused, Message: "401"})}, countersign.RefusedByServer, 1, "", nil, 0},
		{"a server that is too slow ends with a person",
			[]line{fails(&llm.Error{Kind: llm.TimedOut, Message: "first byte"})}, countersign.TimedOut, 1, "", nil, 0},
		{"a server that talks another protocol gives no answer",
			[]line{fails(&llm.Error{Kind: llm.Unreadable, Message: "HTML"})}, countersign.NoAnswer, 1, "", nil, 0},
		{"a kind of error that nobody thought of gives no answer",
			[]line{fails(&llm.Error{Kind: "novel", Message: "?"})}, countersign.NoAnswer, 1, "", nil, 0},
		{"an error that is no *llm.Error gives no answer",
			[]line{fails(errors.New("boom"))}, countersign.NoAnswer, 1, "boom", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &world{}
			o := run(t, w.conversation(script(tt.model...)))
			if o.Proposal.Failure != tt.failure || o.Turns != tt.turns || len(w.turns) != tt.turns || len(w.ran) != tt.ran {
				t.Errorf("failure %q after %d turns (%d recorded) and %d tools run, want %q, %d, %d\nsummary: %s",
					o.Proposal.Failure, o.Turns, len(w.turns), len(w.ran), tt.failure, tt.turns, tt.ran, o.Proposal.Summary)
			}
			if !strings.Contains(o.Proposal.Summary, tt.summary) {
				t.Errorf("summary %q does not contain %q", o.Proposal.Summary, tt.summary)
			}
			for i, note := range tt.notes {
				if i < len(w.turns) && (!strings.HasPrefix(w.turns[i].Note, note) || note == "" && w.turns[i].Note != "") {
					t.Errorf("turn %d: note %q, want %q", i+1, w.turns[i].Note, note)
				}
			}
			checkProposal(t, o)
			checkSteps(t, o, w.turns)
		})
	}
}

// checkProposal holds for every outcome: the model's own words, or the hard-coded escalation and nothing of the model's.
func checkProposal(t rapid.TB, o Outcome) {
	t.Helper()
	p := o.Proposal
	if p.Failure == "" {
		if p.Recommendation == "" || p.Confidence < 0 || p.Confidence > 1 || p.Turn != o.Turns {
			t.Errorf("proposal %+v of %d turns is not well-formed", p, o.Turns)
		}
		return
	}
	if _, known := sentences[p.Failure]; !known {
		t.Errorf("failure %q has no sentence", p.Failure)
	}
	p.Summary, p.Partial, p.Failure, p.Turn = "", "", "", 0
	want := countersign.Proposal{Recommendation: "escalate", Claims: []countersign.Claim{}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("hard-coded proposal (-want +got):\n%s", diff)
	}
}

// checkSteps holds for every outcome: one step a call, in order, numbered over the whole case.
func checkSteps(t rapid.TB, o Outcome, turns []Turn) {
	t.Helper()
	n := 0
	for _, turn := range turns {
		if len(turn.Steps) != len(turn.Calls) {
			t.Errorf("turn %d: %d steps for %d calls", turn.Number, len(turn.Steps), len(turn.Calls))
			return
		}
		for i, step := range turn.Steps {
			n++
			if step.Ref != countersign.Ref(n) || step.Turn != turn.Number || step.Tool != turn.Calls[i].Name {
				t.Errorf("step %d of turn %d is %s of turn %d for %q", i, turn.Number, step.Ref, step.Turn, step.Tool)
			}
			var shown struct {
				Ref countersign.StepRef
				OK  bool
			}
			if err := json.Unmarshal([]byte(step.Shown), &shown); err != nil || shown.Ref != step.Ref || shown.OK != step.OK {
				t.Errorf("step %s (ok %v) was shown as %s: %v", step.Ref, step.OK, step.Shown, err)
			}
			if step.OK == (step.Error != "") {
				t.Errorf("step %s: ok %v with error %q", step.Ref, step.OK, step.Error)
			}
		}
	}
	if len(o.Steps) != n {
		t.Errorf("outcome has %d steps, the turns have %d", len(o.Steps), n)
	}
}

func TestTheProposalIsWhatTheModelSubmitted(t *testing.T) {
	w := &world{}
	o := run(t, w.conversation(script(looks, decides)))
	want := countersign.Proposal{
		Recommendation: "resolve", Category: countersign.FailedTransfer, Confidence: 0.93,
		Summary: "The transfer failed and was not given back.", CustomerMessage: "We are giving it back.", Turn: 2,
		Claims: []countersign.Claim{{Text: "The settlement failed.", Citations: []countersign.Citation{
			{Ref: "S1", Field: "status", Value: "failed"}}}},
	}
	if diff := cmp.Diff(want, o.Proposal); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if use := o.Use; use.Provider != "scripted" || use.Name != "test" || use.InputTokens == 0 || use.OutputTokens != 20 {
		t.Errorf("use %+v", use)
	}
}

func TestTheFirstMessageBeginsWithTheCanaryAndFencesTheNotes(t *testing.T) {
	var told []llm.Request
	w := &world{}
	c := w.conversation(listening(script(decides), &told))
	run(t, c)
	first := told[0].Messages[0]
	text := first.Text.String()
	if first.Role != llm.User || !strings.HasPrefix(text, "canary: blue-heron\n") || !strings.Contains(text, c.Brief.Case) {
		t.Errorf("first message: %s %q", first.Role, text)
	}
	if !strings.HasSuffix(text, c.Fence.Text(c.Brief.Notes)) || strings.Count(text, string(c.Brief.Notes)) != 1 {
		t.Errorf("the notes are not in their fence: %q", text)
	}
}

func TestTheLastTurnOffersOnlyTheDecision(t *testing.T) {
	var told []llm.Request
	w := &world{}
	run(t, w.conversation(listening(script(looks), &told)))
	if len(told) != 9 {
		t.Fatalf("%d model calls, want 8 and the last one", len(told))
	}
	for i, r := range told[:8] {
		if r.Force != "" || len(r.Tools) != len(w.tools())+1 {
			t.Errorf("turn %d forces %q with %d tools", i+1, r.Force, len(r.Tools))
		}
	}
	last := told[8]
	if last.Force != "submit_decision" || len(last.Tools) != 1 || last.Tools[0].Name != "submit_decision" {
		t.Errorf("last turn forces %q with %d tools", last.Force, len(last.Tools))
	}
	if word := last.Messages[len(last.Messages)-1]; word.Role != llm.User || !strings.Contains(word.Text.String(), "submit_decision") {
		t.Errorf("the last turn does not say so: %s %q", word.Role, word.Text)
	}
}

func TestAValidationErrorGoesBackAsTheResultOfItsCall(t *testing.T) {
	var told []llm.Request
	w := &world{}
	run(t, w.conversation(listening(script(calls(misquoted), decides), &told)))
	messages := told[1].Messages
	result := messages[len(messages)-1]
	said := messages[len(messages)-2]
	if result.Role != llm.ToolRole || result.CallID != said.Calls[0].ID {
		t.Fatalf("the last message is %s for call %q", result.Role, result.CallID)
	}
	for _, part := range []string{`confidence`, `0.93`, `a number from 0 to 1`} {
		if !strings.Contains(result.Text.String(), part) {
			t.Errorf("%q does not name %q", result.Text, part)
		}
	}
}

func TestTimeUsedUpEndsWithAPerson(t *testing.T) {
	minute := func() func() time.Time { // a clock that every look at it moves on by a minute
		at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		return func() time.Time { at = at.Add(time.Minute); return at }
	}
	t.Run("between turns", func(t *testing.T) {
		w := &world{}
		c := w.conversation(script(looks))
		c.Now = minute()
		o := run(t, c)
		if o.Proposal.Failure != countersign.TimedOut || !strings.Contains(w.turns[o.Turns-1].Note, "5m0s") || o.Turns > 3 {
			t.Errorf("failure %q after %d turns, note %q", o.Proposal.Failure, o.Turns, w.turns[o.Turns-1].Note)
		}
	})
	t.Run("but a decision that came stands", func(t *testing.T) {
		w := &world{}
		c := w.conversation(script(decides))
		c.Now, c.Bounds.Wall = minute(), time.Minute
		if o := run(t, c); o.Proposal.Failure != "" {
			t.Errorf("failure %q", o.Proposal.Failure)
		}
	})
	t.Run("in the middle of a model call", func(t *testing.T) {
		w := &world{}
		c := w.conversation(modelFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			<-ctx.Done()
			return llm.Reply{}, &llm.Error{Kind: llm.Canceled, Err: ctx.Err()}
		}))
		c.Bounds.Wall = time.Millisecond
		if o := run(t, c); o.Proposal.Failure != countersign.TimedOut || o.Turns != 1 {
			t.Errorf("failure %q after %d turns", o.Proposal.Failure, o.Turns)
		}
	})
	t.Run("before the first turn after a crash: no model is called", func(t *testing.T) {
		w := &world{}
		c := w.conversation(modelFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			t.Error("the model was called")
			return llm.Reply{}, nil
		}))
		c.Past = []Turn{{Number: 1, Text: "hm", Took: time.Hour}}
		if o := run(t, c); o.Proposal.Failure != countersign.TimedOut || o.Turns != 2 {
			t.Errorf("failure %q after %d turns", o.Proposal.Failure, o.Turns)
		}
	})
}

func TestAProviderThatPanicsGivesNoAnswer(t *testing.T) {
	w := &world{}
	o := run(t, w.conversation(modelFunc(func(context.Context, llm.Request) (llm.Reply, error) { panic("nil map") })))
	if o.Proposal.Failure != countersign.NoAnswer || !strings.Contains(w.turns[0].Error, "nil map") {
		t.Errorf("failure %q, error %q", o.Proposal.Failure, w.turns[0].Error)
	}
}

func TestRunStops(t *testing.T) {
	gone := errors.New("the lease is held by another worker")
	t.Run("when a turn cannot be recorded", func(t *testing.T) {
		w := &world{}
		asked := 0
		c := w.conversation(modelFunc(func(_ context.Context, r llm.Request) (llm.Reply, error) {
			asked++
			return filled(r, looks.reply), nil
		}))
		c.Record = func(context.Context, Turn) error { return gone }
		o, err := Run(t.Context(), c)
		if !errors.Is(err, gone) || asked != 1 || o.Proposal.Recommendation != "" {
			t.Errorf("error %v after %d calls, proposal %+v", err, asked, o.Proposal)
		}
	})
	for _, when := range []string{"before the first turn", "during a model call", "during a tool"} {
		t.Run("when the program stops "+when, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			w := &world{}
			c := w.conversation(modelFunc(func(ctx context.Context, r llm.Request) (llm.Reply, error) {
				if when == "during a model call" {
					stop(gone)
					return llm.Reply{}, &llm.Error{Kind: llm.Canceled, Err: ctx.Err()}
				}
				return filled(r, looks.reply), nil
			}))
			c.Tools[1].Run = func(context.Context, json.RawMessage) (any, error) { stop(gone); return nil, context.Canceled }
			if when == "before the first turn" {
				stop(gone)
			}
			o, err := Run(ctx, c)
			if !errors.Is(err, context.Canceled) || !errors.Is(err, gone) || len(w.turns) != 0 || o.Proposal.Recommendation != "" {
				t.Errorf("error %v, %d turns recorded, proposal %+v", err, len(w.turns), o.Proposal)
			}
		})
	}
}

func TestConversationsRunAtTheSameTime(t *testing.T) {
	model := script(looks, calls(misquoted), decides)
	tools := (&world{}).tools()
	done := make(chan error)
	for range 20 {
		go func() {
			c := (&world{}).conversation(model)
			c.Tools = tools
			o, err := Run(context.Background(), c)
			if err == nil && (o.Proposal.Failure != "" || o.Turns != 3) {
				err = errors.New(o.Proposal.Summary)
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

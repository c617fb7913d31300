package investigate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
	"countersign/redact"
)

// answer gives every call of a turn its one result, in order, and then holds the turn to the bounds.
func (t *talk) answer(ctx context.Context, turn *Turn) {
	r := t.rule(turn)
	asked := 0 // tool calls of this turn so far, the decision aside
	for i, call := range turn.Calls {
		step := t.begin(turn, i)
		switch {
		case call.Name == t.Brief.Decision.Name && r.accepted:
			t.look(ctx, &step, acceptance, nil)
		case call.Name == t.Brief.Decision.Name:
			t.refuse(&step, r.refusal)
		default:
			asked++
			t.call(ctx, &step, turn, i, t.barred(ctx, turn, r, asked))
		}
		step.Took = t.now().Sub(step.At)
		turn.Steps = append(turn.Steps, step)
	}
	turn.Took = t.now().Sub(turn.At)
	if !r.accepted {
		t.hold(ctx, turn)
	}
}

// acceptance is the result of a decision that was taken. It is a step like any other, of the turn that cites: whoever cites
// it cites something that was not yet finished.
var acceptance = Tool{Run: func(context.Context, json.RawMessage) (any, error) {
	return struct {
		Accepted bool `json:"accepted"`
	}{true}, nil
}}

func (t *talk) begin(turn *Turn, i int) countersign.Step {
	return countersign.Step{
		Ref:  countersign.Ref(len(t.steps) + i + 1),
		Turn: turn.Number,
		Tool: turn.Calls[i].Name,
		Args: recorded(turn.Calls[i].Args),
		At:   t.now(),
	}
}

// recorded is a call's arguments as JSON that can be stored: as they are when they are JSON, else as text.
func recorded(args string) json.RawMessage {
	b, err := json.Marshal(json.RawMessage(args)) // respelled as storing would respell it
	if err != nil || args == "" {
		b, _ = json.Marshal(args)
	}
	return b
}

// barred says why a tool call is not even looked at, and is empty for one that is.
func (t *talk) barred(ctx context.Context, turn *Turn, r ruling, asked int) string {
	switch {
	case r.closed != "":
		return r.closed
	case t.calls+asked > t.Bounds.CallsPerCase:
		note := fmt.Sprintf("more than %d tool calls in one investigation", t.Bounds.CallsPerCase)
		turn.end(countersign.BudgetSpent, note)
		return note
	case asked > t.Bounds.CallsPerTurn:
		return fmt.Sprintf("not run: more than %d tool calls in one turn", t.Bounds.CallsPerTurn)
	case ctx.Err() != nil:
		return t.wallNote()
	}
	return ""
}

// call runs one tool, if there is one of that name, nothing bars it and its arguments can be trusted to be what the model
// wanted to say.
func (t *talk) call(ctx context.Context, step *countersign.Step, turn *Turn, i int, barred string) {
	tool, offered := t.offered[turn.Calls[i].Name]
	switch {
	case barred != "":
		t.refuse(step, barred)
	case !offered:
		t.refuse(step, "there is no such tool; the tools are "+t.toolNames())
	case turn.cut(i):
		t.refuse(step, errCut.Error())
	default:
		args, err := arguments(tool, turn.Calls[i].Args)
		if err != nil {
			t.refuse(step, err.Error())
			return
		}
		t.look(ctx, step, tool, args)
	}
}

// arguments checks what no tool should have to: that they are one object that names only what the tool knows.
func arguments(tool Tool, args string) (json.RawMessage, error) {
	object, err := readObject(args)
	if err != nil {
		return nil, err
	}
	known := properties(tool.Schema)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !known[name] {
			return nil, malformed("unknown argument, expected %s", listed(known)).In(clip(name, 60))
		}
	}
	if len(object) == 0 {
		return json.RawMessage("{}"), nil
	}
	return json.RawMessage(args), nil
}

// look runs a tool and turns what comes of it into a result. A tool that panics has failed; nothing else has.
func (t *talk) look(ctx context.Context, step *countersign.Step, tool Tool, args json.RawMessage) {
	plain, shown, err := t.encoded(ctx, step.Ref, tool, args)
	if err != nil {
		t.refuse(step, public(err))
		step.Error = masked(err)
		return
	}
	step.OK, step.Result, step.Shown = true, plain, redact.JSON([]byte(shown)).String()
}

func (t *talk) encoded(ctx context.Context, ref countersign.StepRef, tool Tool, args json.RawMessage) (_ json.RawMessage, _ string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	result, err := tool.Run(ctx, args)
	if err != nil {
		return nil, "", err
	}
	return t.Fence.Encode(ref, result)
}

// public is what the model may know of an error. "Could not be read" must never look like "is not there".
func public(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) && e.Kind != countersign.Internal {
		return e.Error()
	}
	return "could not be read; this does not mean that there is nothing"
}

// refuse makes a step a failed one.
func (t *talk) refuse(step *countersign.Step, why string) {
	step.Error = redact.Mask(why).String()
	step.Shown = redact.JSON([]byte(t.Fence.Failed(step.Ref, why))).String()
}

// hold ends a conversation that has used up what it was given. The bound is named in the record of the turn that reached it.
func (t *talk) hold(ctx context.Context, turn *Turn) {
	tokens := t.tokens
	if turn.Usage != nil {
		tokens = add(add(tokens, turn.Usage.Input), turn.Usage.Output)
	}
	if tokens >= t.Bounds.Tokens {
		turn.end(countersign.BudgetSpent, fmt.Sprintf("%d of %d tokens used", tokens, t.Bounds.Tokens))
	}
	if ctx.Err() != nil || t.spent+turn.Took >= t.Bounds.Wall {
		turn.end(countersign.TimedOut, t.wallNote())
	}
}

func (t *talk) wallNote() string {
	return fmt.Sprintf("the %s for one investigation are used up", t.Bounds.Wall)
}

func (t *talk) toolNames() string {
	names := map[string]bool{t.Brief.Decision.Name: true}
	for name := range t.offered {
		names[name] = true
	}
	return listed(names)
}

func listed(names map[string]bool) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// decisions are the positions of the calls that submit a decision.
func (turn Turn) decisions(name string) []int {
	var at []int
	for i, call := range turn.Calls {
		if call.Name == name {
			at = append(at, i)
		}
	}
	return at
}

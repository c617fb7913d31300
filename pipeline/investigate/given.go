package investigate

import (
	"context"
	"slices"

	"countersign"
	"countersign/llm"
	"countersign/redact"
)

// given is the number of the turn in which code looked, before the model had its first.
const given = 0

// begun returns the turns that were taken before the model is asked (again), and takes what is given into the first message. What
// was recorded as given is never looked at a second time: a conversation that goes on sends the bytes that it began with.
func (t *talk) begun(ctx context.Context) ([]Turn, error) {
	past := t.Past
	if len(past) > 0 && past[0].Number == given {
		t.hand(past[0])
		return past[1:], nil
	}
	if len(past) > 0 || len(t.Given) == 0 {
		return past, nil
	}
	turn := t.lookAt(ctx)
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	if err := t.record(ctx, turn); err != nil {
		return nil, err
	}
	t.hand(turn)
	return nil, nil
}

// lookAt runs what is given. Something that cannot be read is a failed step, like any other.
func (t *talk) lookAt(ctx context.Context) Turn {
	turn := Turn{Number: given, At: t.now()}
	for i, tool := range t.Given {
		step := countersign.Step{Ref: countersign.Ref(i + 1), Turn: given, Tool: tool.Name, At: t.now()}
		t.look(ctx, &step, tool, nil)
		step.Took = t.now().Sub(step.At)
		turn.Steps = append(turn.Steps, step)
	}
	turn.Took = t.now().Sub(turn.At)
	return turn
}

func (t *talk) hand(turn Turn) {
	t.steps = slices.Clone(turn.Steps)
	t.messages = []llm.Message{{Role: llm.User, Text: t.first(turn.Steps)}}
}

// first is the first message: the canary, which a server that cuts off what does not fit drops first, the case, what somebody
// said about it, and what was given.
func (t *talk) first(steps []countersign.Step) redact.Text {
	said := canaryLine(t.Canary) + "\n\n" + t.Brief.Case
	if t.Brief.Notes != "" {
		said += "\n" + t.Fence.Text(t.Brief.Notes)
	}
	parts := []redact.Text{redact.Mask(said)}
	for _, step := range steps {
		parts = append(parts, redact.JSON([]byte(step.Shown)))
	}
	return redact.Join("\n", parts...)
}

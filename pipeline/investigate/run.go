package investigate

import (
	"context"
	"errors"
	"fmt"

	"countersign"
	"countersign/llm"
	"countersign/redact"
)

// Run carries the conversation to its one proposal.
//
// Whatever the model, its server or a tool does wrong ends in a proposal for a person. The only errors are the caller's own:
// ctx ended (the program stops, the lease is lost) or Record failed. Then nothing is proposed, and another worker goes on
// from the turns that were recorded; the turn that was under way is asked for again.
//
// Run keeps nothing outside c: conversations may run at the same time.
func Run(ctx context.Context, c Conversation) (Outcome, error) {
	t := open(c)
	past, err := t.begun(ctx)
	if err != nil {
		return Outcome{}, err
	}
	for _, turn := range past {
		t.take(turn)
	}
	wall, cancel := context.WithTimeout(ctx, t.Bounds.Wall-t.spent)
	defer cancel()
	for !t.over() {
		turn := t.ask(wall)
		t.answer(wall, &turn)
		if ctx.Err() != nil {
			if t.Lost != nil {
				t.Lost(ctx, turn)
			}
			return Outcome{}, stopped(ctx)
		}
		if err := t.record(ctx, turn); err != nil {
			return Outcome{}, err
		}
		t.take(turn)
	}
	return t.outcome(), nil
}

func (t *talk) record(ctx context.Context, turn Turn) error {
	if err := t.Record(ctx, turn); err != nil {
		return fmt.Errorf("record turn %d: %w", turn.Number, err)
	}
	return nil
}

// stopped is the error of a context that ended, with its cause where it has one of its own.
func stopped(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("investigate: %w", cause)
	}
	return fmt.Errorf("investigate: %w: %w", err, cause)
}

// ask makes one model call and takes down what came, or why nothing did.
func (t *talk) ask(ctx context.Context) Turn {
	turn := Turn{Number: t.turns + 1, At: t.now()}
	if ctx.Err() != nil { // a conversation that goes on after its time was up: not worth another paid call
		turn.end(countersign.TimedOut, t.wallNote())
		return turn
	}
	request := t.request()
	reply, err := complete(ctx, t.Model, request)
	if err == nil {
		turn.hear(request, reply)
		return turn
	}
	turn.fail(err)
	if ctx.Err() != nil {
		turn.Failure, turn.Note = countersign.TimedOut, t.wallNote()
	}
	return turn
}

// complete makes the call. A provider that panics is a provider that gave no usable answer.
func complete(ctx context.Context, model llm.Model, request llm.Request) (reply llm.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the provider panicked: %v", p)
		}
	}()
	return model.Complete(ctx, request)
}

// fail takes down a call that gave no usable answer. Nothing is tried again here: the provider has tried what is safe.
func (turn *Turn) fail(err error) {
	turn.Error = masked(err)
	var e *llm.Error
	if errors.As(err, &e) {
		turn.Request, turn.Response, turn.Attempts = exact(e.Request), exact(e.Response), e.Attempts
		turn.Asked = recordedOf(e.Asked)
		turn.end(serverFailures[e.Kind], "")
	}
	turn.end(countersign.NoAnswer, "") // an error of no kind that we know
}

// masked is an error as the record keeps it.
func masked(err error) string { return redact.Mask(clip(valid(err.Error()), 2000)).String() }

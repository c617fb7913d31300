package app

import (
	"strings"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/measure"
	"countersign/pipeline"
	"countersign/pipeline/investigate"
)

// watch has what becomes of cases counted.
func (a *App) watch() pipeline.Watch {
	return pipeline.Watch{
		Took: func(c countersign.Case, resumed bool) {
			a.Measure.Took(c.Desk, resumed)
			a.Log.Debug("took a case", "case", string(c.ID), "desk", string(c.Desk), "resumed", resumed)
		},
		Lost: func(c countersign.Case) {
			a.Measure.Lost(c.Desk)
			a.Log.Warn("lost a case to another worker", "case", string(c.ID), "desk", string(c.Desk))
		},
		Asked: func(_ countersign.Case, who llm.Identity, turn investigate.Turn) {
			for _, call := range callsOf(who, turn) {
				a.Measure.Asked(call)
			}
		},
		Ended: func(c countersign.Case, took time.Duration) {
			a.Measure.Ended(c, took)
			a.Log.Info("investigated a case", "case", string(c.ID), "desk", string(c.Desk), "status", string(c.Status), "reasons", codes(c), "ms", took.Milliseconds())
		},
	}
}

// codes are why a case went to a person, none for one that did not. What else is known of it is not for a log.
func codes(c countersign.Case) string {
	var all []string
	if c.Verdict != nil {
		for _, r := range c.Verdict.Reasons {
			all = append(all, string(r.Code))
		}
	}
	return strings.Join(all, " ")
}

// callsOf are the calls of a turn: one of the round's model, or one of each model of several that was really asked. What a model was
// passed over for is no call, but where nobody was asked at all the turn counts as the round's.
func callsOf(who llm.Identity, turn investigate.Turn) (calls []measure.Call) {
	for _, asked := range turn.Asked {
		if asked.Attempts == 0 && !asked.Answered() {
			continue
		}
		one := turn
		one.Failure, one.Usage, one.Attempts = failureOf(asked), asked.Usage, nil
		for _, attempt := range turn.Attempts {
			if attempt.Connection == asked.Connection {
				one.Attempts = append(one.Attempts, attempt)
			}
		}
		calls = append(calls, callOf(asked.Identity, one))
	}
	if calls == nil {
		return []measure.Call{callOf(who, turn)}
	}
	return calls
}

// failureOf is the kind of a failure under the name that it would have ended a conversation with.
func failureOf(asked investigate.Asked) countersign.Failure {
	switch asked.Kind {
	case "":
		return ""
	case llm.Refused:
		return countersign.RefusedByServer
	case llm.TimedOut:
		return countersign.TimedOut
	case llm.Unreachable:
		return countersign.Unreachable
	}
	return countersign.NoAnswer
}

// callOf is a turn as it is counted: the time is the model's alone, without that of the tools that it asked for.
func callOf(who llm.Identity, turn investigate.Turn) measure.Call {
	call := measure.Call{Provider: who.Provider, Model: who.Name, Failure: turn.Failure}
	for _, attempt := range turn.Attempts {
		call.Took += attempt.Waited + attempt.Took
		call.Statuses = append(call.Statuses, attempt.Status)
	}
	if len(turn.Attempts) == 0 { // a model that is asked without a network, or that answered nothing
		call.Took = max(turn.Took, time.Duration(0))
	}
	if turn.Usage != nil {
		call.Input, call.Output = turn.Usage.Input, turn.Usage.Output
	}
	return call
}

package app

import (
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
		Took: func(c countersign.Case, resumed bool) { a.Measure.Took(c.Desk, resumed) },
		Lost: func(c countersign.Case) { a.Measure.Lost(c.Desk) },
		Asked: func(_ countersign.Case, who llm.Identity, turn investigate.Turn) {
			a.Measure.Asked(callOf(who, turn))
		},
		Ended: a.Measure.Ended,
	}
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

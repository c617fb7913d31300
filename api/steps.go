package api

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// Step is one tool result of an investigation.
type Step struct {
	Ref    countersign.StepRef `json:"ref"`
	Round  int                 `json:"round"`
	Turn   int                 `json:"turn"`
	Tool   string              `json:"tool"`
	Args   json.RawMessage     `json:"args,omitempty"`
	OK     bool                `json:"ok"`
	Result json.RawMessage     `json:"result,omitempty" doc:"An object, masked: what citations are checked against."`
	Error  string              `json:"error,omitempty"`
	At     time.Time           `json:"at"`
	TookMS int64               `json:"took_ms"`
}

// StepList is every step of one round.
type StepList struct {
	Steps []Step `json:"steps"`
}

type stepsAnswer struct{ Body StepList }

// listSteps shows the last round only: references begin again with each, and citations mean their own.
func (a *api) listSteps(ctx context.Context, in *CasePath) (*stepsAnswer, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	c, err := a.Store.Case(ctx, id)
	if err != nil {
		return nil, err
	}
	list := StepList{Steps: []Step{}}
	for row, err := range a.Store.RecordRows(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		step, ok, err := stepOf(row)
		if err != nil {
			return nil, err
		}
		if ok && step.Round == c.Round {
			list.Steps = append(list.Steps, step)
		}
	}
	return &stepsAnswer{list}, nil
}

// stepOf reads a step out of a record row, false for a row of another kind and for a step whose payload was erased.
func stepOf(row store.RecordRow) (Step, bool, error) {
	if row.Kind != audit.ToolCall || row.Payload == nil {
		return Step{}, false, nil
	}
	var kept struct {
		Round int `json:"round"`
		countersign.Step
	}
	if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
		return Step{}, false, fmt.Errorf("read the step in row %d of case %s: %w", row.Seq, row.Case, err)
	}
	s := kept.Step
	return Step{s.Ref, kept.Round, s.Turn, s.Tool, s.Args, s.OK, s.Result, s.Error, s.At.UTC(), s.Took.Milliseconds()}, true, nil
}

package demo

import (
	"context"
	"time"

	"countersign"
	"countersign/desk/bank"
	"countersign/desk/merchant"
	"countersign/llm"
	"countersign/llm/rulebook"
)

// Paced works cases as models does, slowly enough to be watched: every answer takes the given time, and the offline reviewer
// asks for two records at a time instead of all at once. What it proposes is the same.
func Paced(models func(countersign.Case, llm.Model) llm.Model, each time.Duration) func(countersign.Case, llm.Model) llm.Model {
	reviewer := rulebook.New(bank.Playbook(), merchant.Playbook()).AtOnce(2)
	return func(c countersign.Case, _ llm.Model) llm.Model { return paced{models(c, reviewer), each} }
}

type paced struct {
	llm.Model
	each time.Duration
}

// Complete waits first: a model that thinks has not answered yet.
func (m paced) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	select {
	case <-time.After(m.each):
	case <-ctx.Done(): // the model says so in its own way
	}
	return m.Model.Complete(ctx, r)
}

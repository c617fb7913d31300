package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"countersign"
	"countersign/llm"
	"countersign/llm/chain"
	"countersign/pipeline/budget"
	"countersign/pipeline/investigate"
	"countersign/store"
)

// offline is the provider that costs nothing and is counted nowhere.
const offline = "rulebook"

// connections are the names of the models that may be asked, nil where there is one that nobody gave a name.
func connections(model llm.Model) []string {
	if c, ok := model.(*chain.Chain); ok {
		return c.Connections()
	}
	return nil
}

// held is the job's model as far as the budgets let it be asked.
func (p *Pipeline) held(j *job) llm.Model {
	c, ok := j.model.(*chain.Chain)
	if !ok || p.Budgets == nil {
		return j.model
	}
	return c.Within(func(ctx context.Context, call budget.Used) (string, error) { return p.spent(ctx, j, call) })
}

// spent says which budget has no room for a call, empty when there is room. It reads what every process has committed: what is being
// asked elsewhere at this moment is not counted yet, and is all by which a budget can be passed.
func (p *Pipeline) spent(ctx context.Context, j *job, call budget.Used) (string, error) {
	budgets, err := p.Budgets(ctx)
	if err != nil {
		return "", err
	}
	before := budget.Before{Case: j.used()}
	if !budgets.Day.None() || !budgets.Desks[j.Case.Desk].None() {
		today, err := p.Store.ModelSpending(ctx, store.Day(p.Store.Now()))
		if err != nil {
			return "", err
		}
		for _, m := range today {
			one := budget.Used{Tokens: m.Tokens(), Costs: countersign.Costs{}.Add(m.Cost)}
			before.Day = before.Day.Plus(one)
			if m.Desk == j.Case.Desk {
				before.Desk = before.Desk.Plus(one)
			}
		}
	}
	return budgets.Spent(j.Case.Desk, before, call), nil
}

// used is what the case has used up, over all rounds.
func (j *job) used() budget.Used {
	sum := j.before
	for _, turn := range j.past {
		sum = sum.Plus(usedIn(turn.Asked))
	}
	return sum
}

func usedIn(asked []investigate.Asked) (sum budget.Used) {
	for _, who := range asked {
		if who.Provider != offline {
			sum = sum.Plus(budget.Used{Tokens: who.Tokens(), Costs: who.Costs})
		}
	}
	return sum
}

// countEarlier counts a turn of an earlier round, of which nothing else is needed any more.
func (j *job) countEarlier(payload []byte) error {
	var turn struct {
		Asked []investigate.Asked `json:"asked"`
	}
	err := json.Unmarshal(payload, &turn)
	j.before = j.before.Plus(usedIn(turn.Asked))
	return err
}

// countLost counts a turn that nobody recorded, because the program stops or somebody else has the case. Where the database does not
// answer, or is another version's, nothing can be counted, and nothing is waited for.
func (p *Pipeline) countLost(ctx context.Context, c countersign.Case, turn investigate.Turn) {
	used := slices.DeleteFunc(spending(c.Desk, turn), func(m store.ModelSpending) bool { return m.Answers == 0 && m.Tokens() == 0 }) // cut off before it was sent
	cause := context.Cause(ctx)
	if len(used) == 0 || errors.Is(cause, errCutOff) || errors.Is(cause, store.ErrOtherSchema) {
		return
	}
	err := p.Store.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error { return tx.Spend(ctx, c.ID, used...) })
	if err != nil {
		p.Log.ErrorContext(ctx, "count what a model used in a turn that was lost", "case", string(c.ID), "error", err)
	}
}

// spending is what a turn adds to the day: an entry for each model that was really asked.
func spending(desk countersign.DeskName, turn investigate.Turn) (all []store.ModelSpending) {
	for _, who := range turn.Asked {
		if who.Provider == offline || who.Kind == llm.NoBudget || who.Kind == llm.PassedOver {
			continue
		}
		m := store.ModelSpending{Desk: desk, Connection: who.Connection, Attempts: int64(who.Attempts)}
		if m.Failures = 1; who.Answered() {
			m.Answers, m.Failures = 1, 0
		}
		if who.Usage != nil {
			m.Input, m.Output = who.Usage.Input, who.Usage.Output
		}
		if who.Assumed != nil {
			m.Assumed = countersign.AddCounts(who.Assumed.Input, who.Assumed.Output)
		}
		if len(who.Costs) > 0 {
			m.Cost = who.Costs[0] // a connection has one price, in one currency
		}
		all = append(all, m)
	}
	return all
}

package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/llm/probe"
	"countersign/pipeline/budget"
	"countersign/store"
)

// Trial is what a connection's server could do when it was last tried.
type Trial struct {
	Provider string       `json:"provider"`
	BaseURL  string       `json:"base_url"`
	Model    string       `json:"model"`
	Report   probe.Report `json:"report"`

	At time.Time `json:"-"`
	By string    `json:"-"`
}

// Of reports whether the trial says something of a connection as it is now: the same model at the same address.
func (t Trial) Of(c Connection) bool {
	return t.Provider == c.Provider && t.BaseURL == c.BaseURL && t.Model == c.Model
}

// Trials are the last trials of connections that still are as they were tried, by name.
func (k Keeper) Trials(ctx context.Context, r Roster) (map[string]Trial, error) {
	rows, err := k.Store.ModelTrials(ctx)
	if err != nil {
		return nil, err
	}
	trials := map[string]Trial{}
	for _, row := range rows {
		c, known := r.Connection(row.Connection)
		var t Trial
		if err := json.Unmarshal([]byte(row.JSON), &t); err != nil {
			return nil, fmt.Errorf("read the trial of %s: %w", row.Connection, err)
		}
		if known && t.Of(c) {
			t.At, t.By = row.TriedAt, row.TriedBy
			trials[row.Connection] = t
		}
	}
	return trials, nil
}

// usual is what a trial of an able server uses, in tokens.
const usual = 30_000

// Try asks a connection's server what it can do, and keeps the answer. It takes minutes with a slow server, and costs money where the
// server does: it is a Conflict on a day whose budget has no room for it, and what it used counts into the day like a case's calls, for
// no desk.
func (k Keeper) Try(ctx context.Context, name string, by countersign.Actor) (Trial, error) {
	v, _, err := k.Latest(ctx)
	if err != nil {
		return Trial{}, err
	}
	c, known := v.Connection(name)
	switch {
	case !known:
		return Trial{}, countersign.Errorf(countersign.NotFound, "there is no model connection %q", clip(name))
	case c.Lost != nil:
		return Trial{}, c.Lost
	}
	m, err := Open(c)
	if err != nil {
		return Trial{}, err
	}
	if err := k.affordable(ctx, v.Budgets.Day, c); err != nil {
		return Trial{}, err
	}
	t := Trial{Provider: c.Provider, BaseURL: c.BaseURL, Model: c.Model, Report: probe.Run(ctx, m, probe.Options{Now: k.Store.Now}), At: k.Store.Now(), By: by.String()}
	text, err := json.Marshal(t)
	if err != nil {
		return t, fmt.Errorf("write the trial of %s: %w", name, err)
	}
	return t, k.Store.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error {
		if err := tx.KeepModelTrial(ctx, store.ModelTrial{Connection: name, JSON: string(text)}, by); err != nil {
			return err
		}
		return tx.Spend(ctx, "", c.tried(t.Report.Cost))
	})
}

// affordable refuses a trial for which the day has no room.
func (k Keeper) affordable(ctx context.Context, day budget.Limit, c Connection) error {
	today, err := k.Store.ModelSpending(ctx, store.Day(k.Store.Now()))
	if err != nil {
		return err
	}
	var before budget.Before
	for _, m := range today {
		before.Day = before.Day.Plus(budget.Used{Tokens: m.Tokens(), Costs: countersign.Costs{}.Add(m.Cost)})
	}
	trial := budget.Used{Tokens: usual, Costs: countersign.Costs{}.Add(c.Price.Of(llm.Usage{Input: usual}))}
	if spent := (budget.Budgets{Day: day}).Spent("", before, trial); spent != "" {
		return countersign.Errorf(countersign.Conflict, "%s was not tried: %s", c.Name, spent).Try("try it tomorrow, in UTC, or raise the budget")
	}
	return nil
}

// tried is what a trial used, as it is counted.
func (c Connection) tried(cost probe.Cost) store.ModelSpending {
	m := store.ModelSpending{Connection: c.Name, Answers: int64(cost.Calls - cost.Failures), Failures: int64(cost.Failures), Attempts: int64(cost.Attempts),
		Input: cost.Input, Output: cost.Output}
	if cost.Estimated {
		m.Input, m.Output, m.Assumed = 0, 0, cost.Tokens()
	}
	if c.Price.Set() {
		m.Cost = c.Price.Of(llm.Usage{Input: cost.Input, Output: cost.Output, Stored: cost.Stored})
	}
	return m
}

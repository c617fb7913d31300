package app

import (
	"context"
	"time"

	"countersign"
)

// Wait returns the case once its investigation has ended, with a fix or with a person. It looks again at every commit in
// this process, and five times a second for those of others.
func (a *App) Wait(ctx context.Context, id countersign.CaseID) (countersign.Case, error) {
	grew, end := a.Store.Watch(id)
	defer end()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := a.Store.Case(ctx, id)
		if err != nil || (c.Status != countersign.Queued && c.Status != countersign.Investigating) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-grew:
		case <-tick.C:
		}
	}
}

package app

import (
	"context"

	"countersign"
)

// Investigate carries one case to a fix or a person here and now, without the queue, for whoever decides itself which case
// comes next and how many at a time. It is what a worker does with a case: one that another worker holds is left alone.
func (a *App) Investigate(ctx context.Context, id countersign.CaseID) error {
	return a.pipeline.Work(ctx, id)
}

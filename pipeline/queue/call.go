package queue

import (
	"context"
	"errors"

	"countersign"
	"countersign/store"
)

// Call lets waiting cases of these pools' lines in, as many as there are places for. Whoever has given places back, for a case of that
// desk, calls, so that nobody waits for the next sweep; the sweep calls too, for those who were killed before they could, and for a
// limit that was changed.
func (q *Queue) Call(ctx context.Context, back countersign.DeskName, pools ...string) error {
	var errs []error
	for _, pool := range pools {
		errs = append(errs, q.call(ctx, pool, back))
	}
	return errors.Join(errs...)
}

func (q *Queue) call(ctx context.Context, pool string, back countersign.DeskName) error {
	return q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		called, err := tx.Call(ctx, pool, back)
		if err != nil {
			return err
		}
		for _, c := range called {
			jobID, err := q.Add(ctx, tx, c.Desk, c.ID)
			if err != nil {
				return err
			}
			if err := tx.SetJob(ctx, c.ID, jobID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *Queue) callAll(ctx context.Context) error {
	pools, err := q.config.Store.Lines(ctx)
	return errors.Join(err, q.Call(ctx, "", pools...))
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"countersign"
)

// A pool is a number of places that cases under investigation share, on all machines together: a desk's, or a model's. Only a
// pool with a limit has a row, and nothing below happens while none has.
//
// Nobody counts up or down. The places that are taken are the cases under investigation, whatever became of their workers, so a
// kill leaves nothing behind: its case keeps its place until another worker goes on with it. Whoever wants a place locks the
// pool's row first, so that two never count at once. A case that finds none gives its lease back in the same transaction
// and stands in the pool's line, without a job and without a worker, until it is called.

// DeskPool and ModelPool name the pools that a case takes a place in.
func DeskPool(desk countersign.DeskName) string { return "desk:" + string(desk) }
func ModelPool(name string) string              { return "model:" + name }

// Waiter is a case that waits for a worker: what a queue must know of it.
type Waiter struct {
	ID   countersign.CaseID
	Desk countersign.DeskName
}

// Enter takes a place at the case's desk and one at the model for a lease that has just been taken, in the same transaction. False means
// that one of the two pools is full: the lease is given back, and the case stands in that pool's line. Who stands in front there is let in
// first. A round that was begun before has its places already, whatever the limits are now. The lease that comes back names the pools.
func (t *Tx) Enter(ctx context.Context, l Lease, c countersign.Case, model string, begun bool) (Lease, bool, error) {
	if !l.Limited {
		return l, true, nil
	}
	limits, err := t.lockPools(ctx, DeskPool(c.Desk), ModelPool(model))
	if err != nil {
		return l, false, err
	}
	for _, pool := range limits {
		l.Pools = append(l.Pools, pool.name)
		if begun {
			continue
		}
		if full, err := t.full(ctx, c.ID, pool); err != nil || full {
			return l, false, errors.Join(err, t.stepBack(ctx, c.ID, model, pool.name))
		}
	}
	return l, true, t.stand(ctx, c.ID, model, "")
}

// stand notes where a case stands. Who moves from one line to another, or back into the same, has waited since it came into the first.
func (t *Tx) stand(ctx context.Context, id countersign.CaseID, model, line string) error {
	return t.later(ctx, func(_ int64, err error) error { return wrap(err, "note the places of case %s", id) },
		`INSERT INTO places (case_id, model, waits_for, since, called) VALUES ($1, $2, $3, $4, FALSE) ON CONFLICT (case_id) DO UPDATE SET model = excluded.model,
		waits_for = excluded.waits_for, called = excluded.called, since = CASE WHEN places.waits_for <> '' THEN places.since ELSE excluded.since END`,
		string(id), model, line, t.Now.UnixMicro())
}

type limited struct {
	name string
	max  int64
}

// lockPools holds the rows of those pools that have a limit until the transaction ends.
func (t *Tx) lockPools(ctx context.Context, pools ...string) ([]limited, error) {
	rows, err := t.q.QueryContext(ctx, "SELECT name, max_cases FROM pools WHERE name "+t.d.in(1)+" ORDER BY name"+t.d.lock, listed(pools))
	if err != nil {
		return nil, fmt.Errorf("look at the limits of pools: %w", err)
	}
	return collect(rows, func(row scanner) (p limited, err error) { return p, row.Scan(&p.name, &p.max) })
}

// holders are the cases that have a place in the pool $1.
const holders = `status = 'investigating' AND (desk = SUBSTR($1, 6) AND $1 LIKE 'desk:%'
	OR $1 LIKE 'model:%' AND EXISTS (SELECT 1 FROM places WHERE case_id = cases.id AND model = SUBSTR($1, 7)))`

// full counts who has a place in the pool, and who stands in its line before this case.
func (t *Tx) full(ctx context.Context, id countersign.CaseID, p limited) (bool, error) {
	var taken, before int64
	err := t.ask(ctx,
		question{"SELECT COUNT(*) FROM cases WHERE " + holders + " AND id <> $2", []any{p.name, string(id)}, func(row scanner) error { return row.Scan(&taken) }},
		question{`SELECT COUNT(*) FROM (SELECT 1 FROM places JOIN cases ON id = case_id WHERE waits_for = $1 AND waits_for <> '' AND status = 'queued' AND (since, case_id) <
			(COALESCE((SELECT since FROM places WHERE case_id = $2 AND waits_for <> ''), $3), $2) LIMIT $4) AS line`,
			[]any{p.name, string(id), t.Now.UnixMicro(), p.max}, func(row scanner) error { return row.Scan(&before) }})
	return taken+before >= p.max, wrap(err, "count the places of %s", p.name)
}

// stepBack makes the case what it was before its lease was taken, and has it stand in line.
func (t *Tx) stepBack(ctx context.Context, id countersign.CaseID, model, pool string) error {
	err := t.later(ctx, func(_ int64, err error) error { return wrap(err, "give the lease of case %s back", id) },
		"UPDATE cases SET status = 'queued', lease_token = lease_token - 1, lease_until = 0, revision = revision - 1, job_id = 0 WHERE id = $1", string(id))
	return errors.Join(err, t.stand(ctx, id, model, pool))
}

// Call calls the cases in the pool's line that there are places for, the longest waiting first, and lists them. Whoever called gives each a
// job (SetJob) in the same transaction. When the pool has no limit any more, all are called.
func (t *Tx) Call(ctx context.Context, pool string) ([]Waiter, error) {
	limits, err := t.lockPools(ctx, pool)
	if err != nil {
		return nil, err
	}
	free := int64(mostCalled)
	for _, p := range limits {
		var taken, called int64
		err := t.ask(ctx,
			question{"SELECT COUNT(*) FROM cases WHERE " + holders, []any{pool}, func(row scanner) error { return row.Scan(&taken) }},
			question{"SELECT COUNT(*) FROM places JOIN cases ON id = case_id WHERE waits_for = $1 AND waits_for <> '' AND called = TRUE AND status = 'queued'", []any{pool}, func(row scanner) error { return row.Scan(&called) }})
		if err != nil {
			return nil, wrap(err, "count the places of %s", pool)
		}
		free = min(free, p.max-taken-called)
	}
	if free <= 0 {
		return nil, nil
	}
	rows, err := t.q.QueryContext(ctx, `SELECT id, desk FROM places JOIN cases ON id = case_id WHERE waits_for = $1 AND waits_for <> '' AND called = FALSE AND status = 'queued'
		ORDER BY since, case_id LIMIT $2`+t.d.skip, pool, free)
	if err != nil {
		return nil, fmt.Errorf("look who waits for a place in %s: %w", pool, err)
	}
	called, err := collect(rows, func(row scanner) (c Waiter, err error) { return c, row.Scan(&c.ID, &c.Desk) })
	for _, c := range called {
		err = errors.Join(err, t.later(ctx, func(_ int64, err error) error { return wrap(err, "call case %s", c.ID) },
			"UPDATE places SET called = TRUE WHERE case_id = $1", string(c.ID)))
	}
	return called, err
}

// mostCalled is how many cases one transaction calls.
const mostCalled = 100

// Lines names the pools in whose line somebody stands. It looks for one after the other, because a line may be long.
func (v View) Lines(ctx context.Context) (pools []string, err error) {
	for last := ""; ; pools = append(pools, last) {
		err := v.q.QueryRowContext(ctx, "SELECT waits_for FROM places WHERE waits_for <> '' AND waits_for > $1 ORDER BY waits_for LIMIT 1", last).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return pools, nil
		}
		if err != nil {
			return nil, wrap(err, "look for lines")
		}
	}
}

// PoolStanding is how a pool with a limit stands.
type PoolStanding struct {
	Name           string
	Max            int64
	Held, Standing int64 // cases under investigation, and in its line
}

// Pools are the pools with a limit, by name.
func (v View) Pools(ctx context.Context) ([]PoolStanding, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT name, max_cases FROM pools ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("look at the limits of pools: %w", err)
	}
	pools, err := collect(rows, func(row scanner) (p PoolStanding, err error) { return p, row.Scan(&p.Name, &p.Max) })
	if err != nil {
		return nil, err
	}
	var questions []question
	for i := range pools {
		p := &pools[i]
		questions = append(questions,
			question{"SELECT COUNT(*) FROM cases WHERE " + holders, []any{p.Name}, func(row scanner) error { return row.Scan(&p.Held) }},
			question{"SELECT COUNT(*) FROM places JOIN cases ON id = case_id WHERE waits_for = $1 AND status = 'queued'", []any{p.Name}, func(row scanner) error { return row.Scan(&p.Standing) }})
	}
	return pools, wrap(v.ask(ctx, questions...), "count the places of pools")
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// A pool is a number of places that cases under investigation share, on all machines together: a desk's, or a model's. Only a
// pool with a limit has a row, and nothing below happens while none has.
//
// Nobody counts up or down. The places that are taken are the cases under investigation, whatever became of their workers, so a
// kill leaves nothing behind: its case keeps its place until another worker goes on with it. Whoever wants a place locks the
// pool's row first, so that two never count at once. A case that finds none gives its lease back in the same transaction
// and stands in the pool's line, without a job and without a worker, until it is called. Desks that share a model have a line each
// and take turns: a flood at one of them would keep the other waiting until it has passed.

// DeskPool and ModelPool name the pools that a case takes a place in.
func DeskPool(desk countersign.DeskName) string { return "desk:" + string(desk) }
func ModelPool(name string) string              { return "model:" + name }

// lineOf names the line of a pool that a desk's cases stand in, and poolOf whose line that is.
func lineOf(pool string, desk countersign.DeskName) string {
	if pool == DeskPool(desk) {
		return pool
	}
	return string(desk) + " " + pool
}

func poolOf(line string) string {
	if _, model, ok := strings.Cut(line, " model:"); ok {
		return ModelPool(model)
	}
	return line
}

// Waiter is a case that waits for a worker: what a queue must know of it.
type Waiter struct {
	ID    countersign.CaseID
	Desk  countersign.DeskName
	since int64 // it stands in line
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
	lines, err := t.lines(ctx)
	if err != nil {
		return l, false, err
	}
	for _, pool := range limits {
		l.Pools = append(l.Pools, pool.name)
		if begun {
			continue
		}
		if full, err := t.full(ctx, c, pool, lines); err != nil || full {
			return l, false, errors.Join(err, t.stepBack(ctx, c.ID, model, lineOf(pool.name, c.Desk)))
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

// inLine are the cases that stand in the lines $1, as in compares them.
func (v View) inLine() string {
	return " FROM places JOIN cases ON id = case_id WHERE waits_for " + v.d.in(1) + " AND waits_for <> '' AND status = 'queued'"
}

// full counts who has a place in the pool, and who stands in its lines: those are let in first. Who was called has been waited for.
func (t *Tx) full(ctx context.Context, c countersign.Case, p limited, lines []string) (bool, error) {
	var taken, waiting int64
	called := false
	err := t.ask(ctx,
		question{"SELECT COUNT(*) FROM cases WHERE " + holders + " AND id <> $2", []any{p.name, string(c.ID)}, func(row scanner) error { return row.Scan(&taken) }},
		question{"SELECT COUNT(*) FROM (SELECT 1" + t.inLine() + " AND case_id <> $2 LIMIT $3) AS line", []any{listed(of(p.name, lines)), string(c.ID), p.max},
			func(row scanner) error { return row.Scan(&waiting) }},
		question{"SELECT called FROM places WHERE case_id = $1 AND waits_for = $2", []any{string(c.ID), lineOf(p.name, c.Desk)}, func(row scanner) error { return row.Scan(&called) }})
	if called {
		waiting = 0
	}
	return taken+waiting >= p.max, wrap(err, "count the places of %s", p.name)
}

// stepBack makes the case what it was before its lease was taken, and has it stand in line.
func (t *Tx) stepBack(ctx context.Context, id countersign.CaseID, model, line string) error {
	err := t.later(ctx, func(_ int64, err error) error { return wrap(err, "give the lease of case %s back", id) },
		"UPDATE cases SET status = 'queued', lease_token = lease_token - 1, lease_until = 0, revision = revision - 1, job_id = 0 WHERE id = $1", string(id))
	return errors.Join(err, t.stand(ctx, id, model, line))
}

// Call calls the cases in the pool's lines that there are places for, and lists them: of the desk that has the fewest places there, then of
// another than the one that has just given one back (empty when nobody knows), then the longest waiting. Whoever called gives each a job
// (SetJob) in the same transaction. When the pool has no limit any more, all are called.
func (t *Tx) Call(ctx context.Context, pool string, back countersign.DeskName) ([]Waiter, error) {
	limits, err := t.lockPools(ctx, pool)
	if err != nil {
		return nil, err
	}
	lines, err := t.lines(ctx)
	if lines = of(pool, lines); err != nil || len(lines) == 0 {
		return nil, err
	}
	free, has := int64(mostCalled), map[countersign.DeskName]int64{}
	for _, p := range limits {
		var taken int64
		count := func(row scanner) error {
			var desk countersign.DeskName
			var n int64
			err := row.Scan(&desk, &n)
			has[desk], taken = has[desk]+n, taken+n
			return err
		}
		questions := []question{{"SELECT desk, COUNT(*) FROM cases WHERE " + holders + " GROUP BY desk", []any{pool}, count}}
		for _, line := range lines { // one question each: a list of them would be answered by going through all who wait
			questions = append(questions, question{`SELECT MIN(desk), COUNT(*) FROM places JOIN cases ON id = case_id
				WHERE waits_for = $1 AND waits_for <> '' AND called = TRUE AND status = 'queued' HAVING COUNT(*) > 0`, []any{line}, count})
		}
		err := t.ask(ctx, questions...)
		if err != nil {
			return nil, wrap(err, "count the places of %s", pool)
		}
		free = min(free, p.max-taken)
	}
	if free <= 0 {
		return nil, nil
	}
	var waiting [][]Waiter
	for _, line := range lines {
		first, err := t.firstIn(ctx, line, free)
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, first)
	}
	called := inTurn(waiting, free, has, back)
	for _, c := range called {
		err = errors.Join(err, t.later(ctx, func(_ int64, err error) error { return wrap(err, "call case %s", c.ID) },
			"UPDATE places SET called = TRUE WHERE case_id = $1", string(c.ID)))
	}
	return called, err
}

// firstIn are those in a line who have waited longest and were not called.
func (t *Tx) firstIn(ctx context.Context, line string, most int64) ([]Waiter, error) {
	rows, err := t.q.QueryContext(ctx, `SELECT id, desk, since FROM places JOIN cases ON id = case_id WHERE waits_for = $1 AND waits_for <> '' AND called = FALSE AND status = 'queued'
		ORDER BY since, case_id LIMIT $2`+t.d.skip, line, most)
	if err != nil {
		return nil, fmt.Errorf("look who waits in the line %s: %w", line, err)
	}
	return collect(rows, func(row scanner) (c Waiter, err error) { return c, row.Scan(&c.ID, &c.Desk, &c.since) })
}

// inTurn takes so many from the heads of the lines. Each that it takes counts as a place of its desk.
func inTurn(lines [][]Waiter, most int64, has map[countersign.DeskName]int64, back countersign.DeskName) (called []Waiter) {
	turn := func(w Waiter) int64 { // twice the places of its desk, and one more for the desk whose turn has just been
		if w.Desk == back {
			return 2*has[w.Desk] + 1
		}
		return 2 * has[w.Desk]
	}
	for int64(len(called)) < most {
		lines = slices.DeleteFunc(lines, func(line []Waiter) bool { return len(line) == 0 })
		if len(lines) == 0 {
			break
		}
		slices.SortFunc(lines, func(a, b []Waiter) int {
			return cmp.Or(cmp.Compare(turn(a[0]), turn(b[0])), cmp.Compare(a[0].since, b[0].since), cmp.Compare(a[0].ID, b[0].ID))
		})
		next := lines[0][0]
		called, lines[0] = append(called, next), lines[0][1:]
		has[next.Desk], back = has[next.Desk]+1, next.Desk
	}
	return called
}

// mostCalled is how many cases one transaction calls.
const mostCalled = 100

// Lines names the pools in whose lines somebody stands.
func (v View) Lines(ctx context.Context) (pools []string, err error) {
	lines, err := v.lines(ctx)
	for _, line := range lines {
		if pool := poolOf(line); !slices.Contains(pools, pool) {
			pools = append(pools, pool)
		}
	}
	return pools, err
}

// lines looks for one after the other, because a line may be long.
func (v View) lines(ctx context.Context) (lines []string, err error) {
	for last := ""; ; lines = append(lines, last) {
		err := v.q.QueryRowContext(ctx, "SELECT waits_for FROM places WHERE waits_for <> '' AND waits_for > $1 ORDER BY waits_for LIMIT 1", last).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return lines, nil
		}
		if err != nil {
			return nil, wrap(err, "look for lines")
		}
	}
}

// of are those lines that are the pool's.
func of(pool string, lines []string) (its []string) {
	for _, line := range lines {
		if poolOf(line) == pool {
			its = append(its, line)
		}
	}
	return its
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
	lines, err := v.lines(ctx)
	if err != nil {
		return nil, err
	}
	var questions []question
	for i := range pools {
		p := &pools[i]
		questions = append(questions,
			question{"SELECT COUNT(*) FROM cases WHERE " + holders, []any{p.Name}, func(row scanner) error { return row.Scan(&p.Held) }},
			question{"SELECT COUNT(*)" + v.inLine(), []any{listed(of(p.Name, lines))}, func(row scanner) error { return row.Scan(&p.Standing) }})
	}
	return pools, wrap(v.ask(ctx, questions...), "count the places of pools")
}

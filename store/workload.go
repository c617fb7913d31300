package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
)

// Workload is how much is investigated at once, on all machines together, and from where on there is too much of it.
type Workload struct {
	// MaxCases are the limits of pools, "desk:bank" or "model:gpt-4o": so many of their cases are investigated at once. A pool that is
	// not named has no limit.
	MaxCases map[string]int64 `json:"max_cases"`
	// LongQueue is from how many waiting cases on the queue is called long, in readiness and metrics.
	LongQueue int64 `json:"long_queue"`
	// RefuseAt is from how many waiting cases on no more are taken in. Zero is never: whatever is refused may be lost.
	RefuseAt int64 `json:"refuse_at"`
}

// DefaultWorkload limits nothing.
func DefaultWorkload() Workload { return Workload{MaxCases: map[string]int64{}, LongQueue: 10_000} }

const mostAtOnce = 1_000_000

// ParseWorkload reads a workload from JSON, strictly: a limit that was misspelt must not be no limit.
func ParseWorkload(text []byte) (Workload, error) {
	w := DefaultWorkload()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, countersign.Errorf(countersign.Invalid, "cannot be read as a workload: %s", err).
			Try(`expected JSON such as {"max_cases": {"desk:bank": 8}, "long_queue": 10000, "refuse_at": 0}`)
	}
	if d.More() {
		return w, countersign.Errorf(countersign.Invalid, "there is something behind the workload; expected one JSON object")
	}
	if w.MaxCases == nil {
		w.MaxCases = map[string]int64{}
	}
	return w, w.check()
}

func (w Workload) check() error {
	for _, pool := range slices.Sorted(maps.Keys(w.MaxCases)) {
		kind, name, _ := strings.Cut(pool, ":")
		if kind != "desk" && kind != "model" || name == "" || len(name) > 200 {
			return countersign.Errorf(countersign.Invalid, "%q is no pool; expected desk:NAME or model:NAME", pool).In("max_cases")
		}
		if n := w.MaxCases[pool]; n < 1 || n > mostAtOnce {
			return countersign.Errorf(countersign.Invalid, "is %d; expected a number from 1 to %d, or no such line for no limit", n, mostAtOnce).In("max_cases." + pool)
		}
	}
	switch {
	case w.LongQueue < 1:
		return countersign.Errorf(countersign.Invalid, "is %d; expected a number above 0", w.LongQueue).In("long_queue")
	case w.RefuseAt < 0:
		return countersign.Errorf(countersign.Invalid, "is %d; expected a number above 0, or 0 to refuse nothing", w.RefuseAt).In("refuse_at")
	}
	return nil
}

// Workload returns what is in force: what was applied last, or the default.
func (v View) Workload(ctx context.Context) (Workload, error) {
	w := DefaultWorkload()
	err := v.q.QueryRowContext(ctx, "SELECT workload FROM workloads ORDER BY number DESC LIMIT 1").Scan(asJSON{&w})
	if errors.Is(err, sql.ErrNoRows) {
		return w, nil
	}
	return w, wrap(err, "read the workload in force")
}

// ApplyWorkload puts a workload into force on every machine and keeps the one before, with who did it. Limits hold for the cases that
// begin from now on; those under investigation end as they would have.
func (t *Tx) ApplyWorkload(ctx context.Context, w Workload, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a change of the workload needs an actor")
	}
	if err := w.check(); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO workloads (number, workload, applied_at, actor)
		SELECT COALESCE(MAX(number), 0) + 1, CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT) FROM workloads`, asJSON{w}, t.Now.UnixMicro(), by.String())
	if err != nil {
		return wrap(raced(err), "apply the workload")
	}
	pools := slices.Sorted(maps.Keys(w.MaxCases))
	if _, err := t.exec(ctx, "DELETE FROM pools WHERE NOT (name "+t.d.in(1)+")", listed(pools)); err != nil {
		return fmt.Errorf("lift the limits of pools: %w", err)
	}
	for _, pool := range pools {
		err := t.later(ctx, func(_ int64, err error) error { return wrap(err, "limit %s", pool) },
			"INSERT INTO pools (name, max_cases) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET max_cases = excluded.max_cases", pool, w.MaxCases[pool])
		if err != nil {
			return err
		}
	}
	return nil
}

// LimitPool sets the limit of one pool and leaves the rest of the workload as it is; zero lifts it.
func (t *Tx) LimitPool(ctx context.Context, pool string, most int64, by countersign.Actor) error {
	w, err := t.Workload(ctx)
	if err != nil {
		return err
	}
	if w.MaxCases[pool] == most {
		return nil
	}
	w.MaxCases = maps.Clone(w.MaxCases)
	if w.MaxCases[pool] = most; most == 0 {
		delete(w.MaxCases, pool)
	}
	return t.ApplyWorkload(ctx, w, by)
}

// Pressure is how many cases wait for a worker beside what is set about that.
type Pressure struct {
	Workload
	Waiting int64 // counted up to the larger of the two numbers that it is compared with
}

// Long reports whether more waits than somebody should know of, and Full whether no more is taken in.
func (p Pressure) Long() bool { return p.Waiting >= p.LongQueue }
func (p Pressure) Full() bool { return p.RefuseAt > 0 && p.Waiting >= p.RefuseAt }

// Pressure looks how long the queue is.
func (v View) Pressure(ctx context.Context) (p Pressure, err error) {
	if p.Workload, err = v.Workload(ctx); err != nil {
		return p, err
	}
	err = v.q.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM cases WHERE status = 'queued' LIMIT $1) AS waiting", max(p.LongQueue, p.RefuseAt)).Scan(&p.Waiting)
	return p, wrap(err, "count the queue")
}

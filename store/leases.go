package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"countersign"
)

// Lease is a worker's right to investigate a case. Token is the fence: it grows each time the case changes hands, every write
// of an investigation carries it, and a worker that was thought dead finds its writes refused.
type Lease struct {
	Case    countersign.CaseID
	Token   int64
	Limited bool     // some pool has a limit, so that the lease stands only once Tx.Enter has found a place
	Pools   []string // the pools with a limit that the case has a place in
}

// ErrLeaseLost means that another worker has the case: stop, and write nothing more.
var ErrLeaseLost = errors.New("the case's lease belongs to another worker")

// TakeLease gives the case to the caller until the given time, if it waits for a worker or its last holder let the lease
// run out. False means that somebody else has it or that there is nothing to investigate: not an error, messages arrive
// twice.
func (t *Tx) TakeLease(ctx context.Context, id countersign.CaseID, until time.Time) (Lease, bool, error) {
	lease := Lease{Case: id}
	err := t.q.QueryRowContext(ctx, `UPDATE cases SET status = 'investigating', lease_token = lease_token + 1, lease_until = $2,
		revision = revision + 1, updated_at = $3
		WHERE id = $1 AND (status = 'queued' OR (status = 'investigating' AND lease_until < $3))
		RETURNING lease_token, EXISTS (SELECT 1 FROM pools) OR EXISTS (SELECT 1 FROM places WHERE case_id = id AND waits_for <> '')`,
		string(id), until.UnixMicro(), t.Now.UnixMicro()).Scan(&lease.Token, &lease.Limited)
	if errors.Is(err, sql.ErrNoRows) {
		return lease, false, nil
	}
	return lease, err == nil, wrap(err, "take the lease of case %s", id)
}

// HoldLease renews the lease until the given time. Every transaction of an investigation begins with it, so that a stale
// worker's writes fail with ErrLeaseLost.
func (t *Tx) HoldLease(ctx context.Context, l Lease, until time.Time) error {
	return t.later(ctx, func(n int64, err error) error {
		if err == nil && n == 0 {
			return ErrLeaseLost
		}
		return wrap(err, "hold the lease of case %s", l.Case)
	}, "UPDATE cases SET lease_until = $3 WHERE id = $1 AND lease_token = $2 AND status = 'investigating'",
		string(l.Case), l.Token, until.UnixMicro())
}

// fetched is how long a worker has, from taking a job out of the queue, to take its case's lease. It does so at once: one that
// has not by then is dead. The queue itself never finds out, because its jobs have no time limit.
const fetched = 15 * time.Second

// stranded lists the cases that wait for a worker which no longer exists: queued ones, and those whose lease ran out before
// $1, to which no job is on its way. A job that was taken out of the queue before $2 is on no way any more, and neither is one
// that failed and is to be tried again later, once its case has waited out a lease. A case in the line of a full pool has no
// job, and waits to be called.
func (d dialect) stranded(and string) string {
	const from = "SELECT c.id, c.desk FROM cases c LEFT JOIN river_job j ON j.id = c.job_id WHERE "
	onItsWay := func(states string) string {
		return "COALESCE(CAST(j.state AS TEXT) IN (" + states + ") OR j.state = 'running' AND " + d.attempted + " > $2, FALSE)"
	}
	return from + "c.status = 'investigating' AND c.lease_until < $1 AND NOT (c.lease_until = 0 AND " + onItsWay("'available'") + ")" + and +
		" UNION ALL " + from + "c.status = 'queued' AND NOT (c.job_id = 0 AND EXISTS (SELECT 1 FROM places p WHERE p.case_id = c.id AND p.waits_for <> '' AND p.called = FALSE)) AND NOT " + onItsWay("'available', 'scheduled', 'retryable', 'pending'") + and
}

// lapsed are the arguments of stranded. When exclusive, no other process is working: every lease is void, and nobody has taken
// a job.
func lapsed(now time.Time, exclusive bool) []any {
	if exclusive {
		return []any{int64(math.MaxInt64), int64(math.MaxInt64)}
	}
	return []any{now.UnixMicro(), now.Add(-fetched).Unix()}
}

// Stranded lists cases that wait for a worker which no longer exists: their lease ran out, or their job was taken from the
// queue by a process that died before it took the lease. A case that was put back waits for its new job and is not stranded.
// When exclusive, the caller knows that no other process is working, so every lease is stranded.
func (v View) Stranded(ctx context.Context, now time.Time, exclusive bool) ([]Waiter, error) {
	rows, err := v.q.QueryContext(ctx, v.d.stranded("")+" LIMIT 1000", lapsed(now, exclusive)...)
	if err != nil {
		return nil, fmt.Errorf("look for stranded cases: %w", err)
	}
	return collect(rows, func(row scanner) (c Waiter, err error) { return c, row.Scan(&c.ID, &c.Desk) })
}

// FreeLease puts a stranded case back into the queue under a new job. False means that it is not stranded any more: another
// process has put it back, or a worker has it.
func (t *Tx) FreeLease(ctx context.Context, id countersign.CaseID, jobID int64, exclusive bool) (bool, error) {
	// Locked by a statement of its own: only the next one is sure to see the job that another process has just given the case.
	if _, err := t.LockCase(ctx, id); err != nil {
		return false, err
	}
	n, err := t.exec(ctx, "UPDATE cases SET job_id = $4, lease_until = 0 WHERE id IN (SELECT id FROM ("+t.d.stranded(" AND c.id = $3")+") AS stranded)",
		append(lapsed(t.Now, exclusive), string(id), jobID)...)
	return n == 1, wrap(err, "free the lease of case %s", id)
}

// SetJob names the job that a new round of the case waits for.
func (t *Tx) SetJob(ctx context.Context, id countersign.CaseID, jobID int64) error {
	_, err := t.exec(ctx, "UPDATE cases SET job_id = $2 WHERE id = $1", string(id), jobID)
	return wrap(err, "note the job of case %s", id)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Lease is a worker's right to investigate a case. Token is the fence: it grows each time the case changes hands, every write
// of an investigation carries it, and a worker that was thought dead finds its writes refused.
type Lease struct {
	Case  countersign.CaseID
	Token int64
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
		WHERE id = $1 AND (status = 'queued' OR (status = 'investigating' AND lease_until < $3)) RETURNING lease_token`,
		string(id), until.UnixMicro(), t.Now.UnixMicro()).Scan(&lease.Token)
	if errors.Is(err, sql.ErrNoRows) {
		return lease, false, nil
	}
	return lease, err == nil, wrap(err, "take the lease of case %s", id)
}

// HoldLease renews the lease until the given time. Every transaction of an investigation begins with it, so that a stale
// worker's writes fail with ErrLeaseLost.
func (t *Tx) HoldLease(ctx context.Context, l Lease, until time.Time) error {
	n, err := t.exec(ctx, "UPDATE cases SET lease_until = $3 WHERE id = $1 AND lease_token = $2 AND status = 'investigating'",
		string(l.Case), l.Token, until.UnixMicro())
	if err == nil && n == 0 {
		return ErrLeaseLost
	}
	return wrap(err, "hold the lease of case %s", l.Case)
}

// Stranded lists cases that wait for a worker which no longer exists: their lease ran out, or their job was taken from the
// queue by a process that died before it took the lease. When exclusive, the caller knows that no other process is working,
// so every lease is stranded.
func (v View) Stranded(ctx context.Context, now time.Time, exclusive bool) ([]countersign.CaseID, error) {
	expired := now.UnixMicro()
	if exclusive {
		expired = 1 << 62
	}
	rows, err := v.q.QueryContext(ctx, `SELECT id FROM cases WHERE status = 'investigating' AND lease_until < $1
		UNION ALL
		SELECT c.id FROM cases c LEFT JOIN river_job j ON j.id = c.job_id
		WHERE c.status = 'queued' AND (j.id IS NULL OR CAST(j.state AS TEXT) NOT IN ('available', 'running', 'scheduled', 'retryable', 'pending'))
		LIMIT 1000`, expired)
	if err != nil {
		return nil, fmt.Errorf("look for stranded cases: %w", err)
	}
	return collect(rows, func(row interface{ Scan(...any) error }) (id countersign.CaseID, err error) { return id, row.Scan(&id) })
}

// FreeLease puts a stranded case back into the queue under a new job. False means that it is not stranded any more.
func (t *Tx) FreeLease(ctx context.Context, id countersign.CaseID, jobID int64, exclusive bool) (bool, error) {
	expired := t.Now.UnixMicro()
	if exclusive {
		expired = 1 << 62
	}
	n, err := t.exec(ctx, `UPDATE cases SET job_id = $2, lease_until = 0 WHERE id = $1 AND
		(status = 'queued' OR (status = 'investigating' AND lease_until < $3))`, string(id), jobID, expired)
	return n == 1, wrap(err, "free the lease of case %s", id)
}

// SetJob names the job that a new round of the case waits for.
func (t *Tx) SetJob(ctx context.Context, id countersign.CaseID, jobID int64) error {
	_, err := t.exec(ctx, "UPDATE cases SET job_id = $2 WHERE id = $1", string(id), jobID)
	return wrap(err, "note the job of case %s", id)
}

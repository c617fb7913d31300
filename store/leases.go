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

// longestLease is longer than any lease. One that seems to last longer was given by a clock that was wrong: it counts as run out,
// else a case would wait until that clock's tomorrow for somebody who may be gone. Who is there has renewed it within seconds.
const longestLease = 10 * time.Minute

// lapsed reports whether a lease has run out at the n-th value of a statement.
func (d dialect) lapsed(until string, n int) string {
	now := d.instant(n)
	return fmt.Sprintf("(%s < %s OR %s > %s + %d)", until, now, until, now, longestLease.Microseconds())
}

// TakeLease gives the case to the caller for so long, if it waits for a worker or its last holder let the lease run out. False
// means that somebody else has it or that there is nothing to investigate: not an error, messages arrive twice.
//
// Leases are measured by one clock, whichever machine takes or renews them: PostgreSQL's own, and on SQLite that of the one process
// that works. With each machine's own, one whose clock is a minute ahead took every case out of the others' hands.
func (t *Tx) TakeLease(ctx context.Context, id countersign.CaseID, lasts time.Duration) (Lease, bool, error) {
	lease, now := Lease{Case: id}, t.d.instant(4)
	err := t.q.QueryRowContext(ctx, `UPDATE cases SET status = 'investigating', lease_token = lease_token + 1, lease_until = `+now+` + $2,
		revision = revision + 1, updated_at = $3
		WHERE id = $1 AND (status = 'queued' OR (status = 'investigating' AND `+t.d.lapsed("lease_until", 4)+`))
		RETURNING lease_token, EXISTS (SELECT 1 FROM pools) OR EXISTS (SELECT 1 FROM places WHERE case_id = id AND waits_for <> '')`,
		string(id), lasts.Microseconds(), t.Now.UnixMicro(), t.store.leaseClock(t.Now)).Scan(&lease.Token, &lease.Limited)
	if errors.Is(err, sql.ErrNoRows) {
		return lease, false, nil
	}
	return lease, err == nil, wrap(err, "take the lease of case %s", id)
}

// HoldLease renews the lease for so long. Every transaction of an investigation begins with it, so that a stale worker's writes
// fail with ErrLeaseLost.
func (t *Tx) HoldLease(ctx context.Context, l Lease, lasts time.Duration) error {
	return t.hold(ctx, l, "UPDATE cases SET lease_until = "+t.d.instant(3)+" + $4 WHERE id = $1 AND lease_token = $2 AND status = 'investigating'",
		t.store.leaseClock(t.Now), lasts.Microseconds())
}

// LeaveLease lets somebody else take the case at once.
func (t *Tx) LeaveLease(ctx context.Context, l Lease) error {
	return t.hold(ctx, l, "UPDATE cases SET lease_until = 0 WHERE id = $1 AND lease_token = $2 AND status = 'investigating'")
}

func (t *Tx) hold(ctx context.Context, l Lease, statement string, args ...any) error {
	return t.later(ctx, func(n int64, err error) error {
		if err == nil && n == 0 {
			return ErrLeaseLost
		}
		return wrap(err, "hold the lease of case %s", l.Case)
	}, statement, append([]any{string(l.Case), l.Token}, args...)...)
}

// leaseClock is the time by which leases are measured, as instant takes it: nothing for the database's own.
func (s *Store) leaseClock(now time.Time) any {
	switch {
	case s.leases != nil:
		return s.leases().UnixMicro()
	case s.dialect == sqliteDialect:
		return now.UnixMicro()
	}
	return nil
}

// fetched is how long a worker has, from taking a job out of the queue, to take its case's lease. It does so at once: one that
// has not by then is dead. The queue itself never finds out, because its jobs have no time limit.
const fetched = 15 * time.Second

// stranded lists the cases that wait for a worker which no longer exists: queued ones, and those whose lease had run out at $1, to
// which no job is on its way. A job that was taken out of the queue so many seconds before that, $2, is on no way any more, and
// neither is one that failed and is to be tried again later, once its case has waited out a lease. A case in the line of a full pool has no
// job, and waits to be called. Each of the two kinds may be narrowed.
func (d dialect) stranded(investigating, queued string) string {
	const from = "SELECT c.id, c.desk FROM cases c LEFT JOIN river_job j ON j.id = c.job_id WHERE "
	onItsWay := func(states string) string {
		return "COALESCE(CAST(j.state AS TEXT) IN (" + states + ") OR j.state = 'running' AND " + d.attempted + " > " + d.instant(1) + " / 1000000 - $2, FALSE)"
	}
	return from + "c.status = 'investigating' AND " + d.lapsed("c.lease_until", 1) + " AND NOT (c.lease_until = 0 AND " + onItsWay("'available'") + ")" + investigating +
		" UNION ALL " + from + "c.status = 'queued' AND NOT (c.job_id = 0 AND EXISTS (SELECT 1 FROM places p WHERE p.case_id = c.id AND p.waits_for <> '' AND p.called = FALSE)) AND NOT " + onItsWay("'available', 'scheduled', 'retryable', 'pending'") + queued
}

// at are the arguments of stranded. When exclusive, no other process is working: every lease is void, and nobody has taken a job.
func at(clock any, exclusive bool) []any {
	if exclusive {
		return []any{int64(math.MaxInt64 - longestLease.Microseconds()), int64(0)}
	}
	return []any{clock, int64(fetched.Seconds())}
}

// Stranded lists cases that wait for a worker which no longer exists: their lease ran out, or their job was taken from the
// queue by a process that died before it took the lease. A case that was put back waits for its new job and is not stranded.
// When exclusive, the caller knows that no other process is working, so every lease is stranded. It looks at every queued case.
func (s *Store) Stranded(ctx context.Context, exclusive bool) ([]Waiter, error) {
	return s.findStranded(ctx, s.d.stranded("", ""), at(s.leaseClock(s.now()), exclusive)...)
}

func (s *Store) findStranded(ctx context.Context, statement string, args ...any) ([]Waiter, error) {
	rows, err := s.q.QueryContext(ctx, statement+fmt.Sprintf(" LIMIT %d", mostStranded), args...)
	if err != nil {
		return nil, fmt.Errorf("look for stranded cases: %w", err)
	}
	return collect(rows, func(row scanner) (c Waiter, err error) { return c, row.Scan(&c.ID, &c.Desk) })
}

const (
	mostStranded = 1000   // in one answer
	lookedAt     = 10_000 // queued cases that one look goes through
)

// Rounds goes through the queue for stranded cases, a part at each look and then from the front again: with a million queued cases a look
// at all of them took more than a second of the database's time, from every process every three seconds. It is for one goroutine.
type Rounds struct {
	store *Store
	part  int // queued cases of one look
	from  queuedAt
}

// queuedAt is a place in the queue.
type queuedAt struct {
	risk int64
	id   string
}

var frontOfQueue, endOfQueue = queuedAt{risk: math.MinInt64}, queuedAt{risk: math.MaxInt64}

// Rounds begins at the front of the queue.
func (s *Store) Rounds() *Rounds { return &Rounds{store: s, part: lookedAt, from: frontOfQueue} }

// Look is Stranded for the cases whose lease ran out, all of them, and for the next part of the queue. A part with more in it than one
// answer holds is looked at again.
func (r *Rounds) Look(ctx context.Context) ([]Waiter, error) {
	until, err := r.until(ctx)
	if err != nil {
		return nil, fmt.Errorf("look how long the queue is: %w", err)
	}
	args := append(at(r.store.leaseClock(r.store.now()), false), r.from.risk, r.from.id, until.risk, until.id)
	found, err := r.store.findStranded(ctx, r.store.d.stranded("", " AND (c.risk, c.id) > ($3, $4) AND (c.risk, c.id) <= ($5, $6)"), args...)
	if err == nil && len(found) < mostStranded {
		if r.from = until; until == endOfQueue {
			r.from = frontOfQueue
		}
	}
	return found, err
}

// until is where this look's part of the queue ends.
func (r *Rounds) until(ctx context.Context) (last queuedAt, err error) {
	err = r.store.q.QueryRowContext(ctx, "SELECT risk, id FROM cases WHERE status = 'queued' AND (risk, id) > ($1, $2) ORDER BY risk, id LIMIT 1 OFFSET $3",
		r.from.risk, r.from.id, r.part-1).Scan(&last.risk, &last.id)
	if errors.Is(err, sql.ErrNoRows) {
		return endOfQueue, nil
	}
	return last, err
}

// FreeLease puts a stranded case back into the queue under a new job. False means that it is not stranded any more: another
// process has put it back, or a worker has it.
func (t *Tx) FreeLease(ctx context.Context, id countersign.CaseID, jobID int64, exclusive bool) (bool, error) {
	// Locked by a statement of its own: only the next one is sure to see the job that another process has just given the case. The case
	// is not read: one that cannot be must not keep those behind it waiting.
	if n, err := t.exec(ctx, "UPDATE cases SET job_id = job_id WHERE id = $1", string(id)); err != nil {
		return false, wrap(err, "lock case %s", id)
	} else if n == 0 {
		return false, countersign.Errorf(countersign.NotFound, "there is no case %q", string(id))
	}
	n, err := t.exec(ctx, "UPDATE cases SET job_id = $4, lease_until = 0 WHERE id IN (SELECT id FROM ("+t.d.stranded(" AND c.id = $3", " AND c.id = $3")+") AS stranded)",
		append(at(t.store.leaseClock(t.Now), exclusive), string(id), jobID)...)
	return n == 1, wrap(err, "free the lease of case %s", id)
}

// SetJob names the job that a new round of the case waits for.
func (t *Tx) SetJob(ctx context.Context, id countersign.CaseID, jobID int64) error {
	_, err := t.exec(ctx, "UPDATE cases SET job_id = $2 WHERE id = $1", string(id), jobID)
	return wrap(err, "note the job of case %s", id)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Instruction is a fix that others are asked to post. It is written before anybody is asked, in the transaction that decides, and what
// was decided never changes: the same bytes are sent under the same id until somebody knows what came of it.
type Instruction struct {
	ID          string
	Case        countersign.CaseID
	Round       int
	Fix         countersign.Fix
	Body        []byte // what is sent
	Altered     bool   // Body is not what was written with the decision: it must not be sent
	Route       int64  // the version of the route that it was decided under
	Outcome     countersign.Outcome
	HandledBy   countersign.HandledBy
	Waived      string
	Actor       string // who decided
	RequestedAt time.Time

	State        countersign.InstructionState
	Acknowledged bool          // they said once that they have it
	Attempts     int           // how often somebody was about to ask them
	Failures     int           // how often they were asked, since they last answered, without an answer that can be used
	FailingSince time.Time     // zero while nothing fails
	Wait         time.Duration // before they are asked again; written, and not read
	Token        int64         // the fence: it grows with each change of hands
}

const instructionColumns = `id, case_id, round, transaction_id, kind, account_id, amount_minor, currency, body, body_hash, route, outcome, handled_by, waived,
	actor, requested_at, state, acknowledged, attempts, failures, failing_since, lease_token`

func scanInstruction(row scanner) (i Instruction, err error) {
	var hash string
	err = row.Scan(&i.ID, &i.Case, &i.Round, &i.Fix.TransactionID, &i.Fix.Kind, &i.Fix.AccountID, &i.Fix.Amount.Minor, &i.Fix.Amount.Currency, &i.Body, &hash, &i.Route,
		&i.Outcome, &i.HandledBy, &i.Waived, &i.Actor, scanMicros{&i.RequestedAt}, &i.State, &i.Acknowledged, &i.Attempts, &i.Failures, scanMicros{&i.FailingSince},
		&i.Token)
	i.Fix = *countersign.NewFix(i.Fix.Kind, i.Fix.TransactionID, i.Fix.AccountID, i.Fix.Amount)
	i.Altered = hash != hashOf(i.Body)
	if i.FailingSince.UnixMicro() == 0 {
		i.FailingSince = time.Time{}
	}
	return i, err
}

// Exchange is one question to those who post elsewhere, and what came back, for the record.
type Exchange struct {
	Asked   string    `json:"asked"` // post: do this; state: what became of it
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Status  int       `json:"status,omitempty"`     // of the answer
	Answer  string    `json:"answer,omitempty"`     // its bytes, up to a limit
	Binary  []byte    `json:"answer_b64,omitempty"` // the same, where they are no text
	Problem string    `json:"problem,omitempty"`    // why it says nothing
}

// Request writes an instruction, if what it gives back is still there to be given. The caller must hold the account's lock.
func (t *Tx) Request(ctx context.Context, i Instruction, actor countersign.Actor) error {
	if !actor.Valid() {
		return countersign.Errorf(countersign.Internal, "an instruction needs an actor")
	}
	if err := balanced(i.Fix); err != nil {
		return err
	}
	if err := t.withinOriginal(ctx, i.Fix); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO instructions (id, case_id, round, transaction_id, kind, account_id, amount_minor, currency, input_hash, body, body_hash, route,
		outcome, handled_by, waived, actor, requested_at, state, acknowledged, attempts, failures, failing_since, ask_at, woken_at, lease_token, lease_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 'requested', FALSE, 0, 0, 0, `+t.d.instant(18)+", "+t.d.instant(18)+`, 0, 0)`,
		i.ID, string(i.Case), i.Round, i.Fix.TransactionID, string(i.Fix.Kind), i.Fix.AccountID, i.Fix.Amount.Minor, i.Fix.Amount.Currency, inputHash(i.Case, i.Fix),
		i.Body, hashOf(i.Body), i.Route, string(i.Outcome), string(i.HandledBy), i.Waived, actor.String(), t.Now.UnixMicro(), t.store.leaseClock(t.Now))
	return wrap(err, "write the instruction")
}

// Requested looks for an instruction of that transaction and kind of which nobody knows the end. One with the same inputs comes back;
// with others it is ErrOtherInputs.
func (v View) Requested(ctx context.Context, id countersign.CaseID, fix countersign.Fix) (Instruction, bool, error) {
	i, err := scanInstruction(v.q.QueryRowContext(ctx, "SELECT "+instructionColumns+` FROM instructions
		WHERE transaction_id = $1 AND kind = $2 AND state IN ('requested', 'unknown')`, fix.TransactionID, string(fix.Kind)))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return i, false, nil
	case err != nil:
		return i, false, fmt.Errorf("look for an instruction: %w", err)
	case inputHash(i.Case, i.Fix) != inputHash(id, fix):
		return i, false, ErrOtherInputs
	}
	return i, true, nil
}

// Instruction reads an instruction; a NotFound error if there is none of that id.
func (v View) Instruction(ctx context.Context, id string) (Instruction, error) {
	i, err := scanInstruction(v.q.QueryRowContext(ctx, "SELECT "+instructionColumns+" FROM instructions WHERE id = $1", id))
	if errors.Is(err, sql.ErrNoRows) {
		return i, countersign.Errorf(countersign.NotFound, "there is no instruction %q", id)
	}
	return i, wrap(err, "read instruction %s", id)
}

// TakeInstruction gives an instruction to the caller for so long, and counts that they are about to ask: committed before anybody is
// asked, so that whoever takes it next knows that somebody may have been. False means that somebody else has it, that it is to wait, or
// that there is nothing to find out any more. It is measured by the clock of leases: see TakeLease.
func (t *Tx) TakeInstruction(ctx context.Context, id string, lasts time.Duration) (Instruction, bool, error) {
	now := t.d.instant(2)
	i, err := scanInstruction(t.q.QueryRowContext(ctx, "UPDATE instructions SET lease_token = lease_token + 1, lease_until = "+now+` + $3, woken_at = 0, attempts = attempts + 1
		WHERE id = $1 AND state = 'requested' AND NOT `+ahead("lease_until", now)+" AND NOT "+ahead("ask_at", now)+" RETURNING "+instructionColumns,
		id, t.store.leaseClock(t.Now), lasts.Microseconds()))
	if errors.Is(err, sql.ErrNoRows) {
		return i, false, nil
	}
	return i, err == nil, wrap(err, "take instruction %s", id)
}

// KeepInstruction writes what is known of an instruction now and lets go of it. It fails with ErrLeaseLost when the instruction has
// changed hands, or has ended, since it was read.
func (t *Tx) KeepInstruction(ctx context.Context, i Instruction) error {
	since := int64(0)
	if !i.FailingSince.IsZero() {
		since = i.FailingSince.UnixMicro()
	}
	n, err := t.exec(ctx, "UPDATE instructions SET state = $3, acknowledged = $4, failures = $5, failing_since = $6, ask_at = "+t.d.instant(7)+` + $8, woken_at = 0,
		lease_until = 0, lease_token = lease_token + 1 WHERE id = $1 AND lease_token = $2 AND state IN ('requested', 'unknown')`,
		i.ID, i.Token, string(i.State), i.Acknowledged, i.Failures, since, t.store.leaseClock(t.Now), i.Wait.Microseconds())
	if err == nil && n == 0 {
		return ErrLeaseLost
	}
	return wrap(err, "keep instruction %s", i.ID)
}

// ahead reports whether a time is still to come. One that seems further off than any lease, and than any wait, was written by a clock
// that was wrong, and has come: see longestLease.
func ahead(column, now string) string {
	return fmt.Sprintf("(%s > %s AND %s <= %s + %d)", column, now, column, now, longestLease.Microseconds())
}

// dueInstruction finds instructions that somebody must take up: their time to ask has come, nobody holds them, no worker was woken for
// them so short a time ago that it is still to come, and no job of theirs waits for a worker. Of the last there is one for each, however
// long the line is; without it each sweep would make it longer. When exclusive, whoever had one, or was woken for one, is gone.
func (d dialect) dueInstruction(exclusive bool) string {
	now := d.instant(1)
	due := "state = 'requested' AND NOT " + ahead("ask_at", now) +
		" AND id NOT IN (SELECT j.args ->> 'instruction' FROM river_job j WHERE j.kind = 'instruction' AND CAST(j.state AS TEXT) = 'available')"
	if exclusive {
		return due
	}
	return due + " AND NOT " + ahead("lease_until", now) + " AND NOT " + ahead(fmt.Sprintf("woken_at + %d", fetched.Microseconds()), now)
}

// WaitingInstructions lists instructions that nobody is on the way to. When exclusive, no other process works, and every lease is void.
func (s *Store) WaitingInstructions(ctx context.Context, exclusive bool) ([]string, error) {
	rows, err := s.q.QueryContext(ctx, "SELECT id FROM instructions WHERE "+s.d.dueInstruction(exclusive)+" ORDER BY ask_at, id LIMIT 1000", s.leaseClock(s.now()))
	if err != nil {
		return nil, fmt.Errorf("look for waiting instructions: %w", err)
	}
	return collect(rows, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
}

// WakeInstruction notes that a worker is about to be woken for an instruction, before its job is there. False means that another process
// has just done so.
func (t *Tx) WakeInstruction(ctx context.Context, id string, exclusive bool) (bool, error) {
	n, err := t.exec(ctx, "UPDATE instructions SET woken_at = "+t.d.instant(1)+", lease_until = 0 WHERE id = $2 AND "+t.d.dueInstruction(exclusive),
		t.store.leaseClock(t.Now), id)
	return n == 1, wrap(err, "wake a worker for instruction %s", id)
}

package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"countersign"
	"countersign/audit"
)

// Note is one thing that happened to a case, on its way into the record. Payload must marshal to a JSON object.
type Note struct {
	Kind    audit.Kind
	Payload any
	By      countersign.Actor // when somebody else than the actor of the other rows did it
}

// Record appends notes to a case's chain, in order, in one statement, and moves its head. The head row is locked first, so
// that two writers take turns and the chain cannot fork; it exists from the case's birth, because a row that is not there
// cannot be locked. An invalid actor is refused.
func (t *Tx) Record(ctx context.Context, id countersign.CaseID, actor countersign.Actor, notes ...Note) error {
	head := audit.Head{Case: id}
	err := t.q.QueryRowContext(ctx, "SELECT seq, hash FROM record_heads WHERE case_id = $1"+t.d.lock, string(id)).
		Scan(&head.Seq, scanText{&head.Hash})
	if err != nil {
		return fmt.Errorf("lock the record of case %s: %w", id, err)
	}
	head, err = t.append(ctx, head, actor, notes)
	if err != nil {
		return err
	}
	return t.later(ctx, changing("move the head of the record"), "UPDATE record_heads SET seq = $2, hash = $3 WHERE case_id = $1",
		string(id), head.Seq, head.Hash.String())
}

// begin writes the first rows of a new case's record and its head.
func (t *Tx) begin(ctx context.Context, id countersign.CaseID, actor countersign.Actor, notes ...Note) error {
	head, rows, entries, err := t.seal(audit.Head{Case: id}, actor, notes)
	if err != nil {
		return err
	}
	err = t.later(ctx, changing("begin the record"), "INSERT INTO record_heads (case_id, seq, hash) VALUES ($1, $2, $3)",
		string(id), head.Seq, head.Hash.String())
	if err != nil {
		return err
	}
	return t.insertRows(ctx, rows, entries)
}

func (t *Tx) append(ctx context.Context, head audit.Head, actor countersign.Actor, notes []Note) (audit.Head, error) {
	head, rows, entries, err := t.seal(head, actor, notes)
	if err != nil {
		return head, err
	}
	id := head.Case
	t.AfterCommit(func() { t.store.watch.wake(id) })
	return head, t.insertRows(ctx, rows, entries)
}

// seal marshals the notes and chains them onto head.
func (t *Tx) seal(head audit.Head, actor countersign.Actor, notes []Note) (audit.Head, []audit.Row, []audit.Entry, error) {
	entries := make([]audit.Entry, len(notes))
	for i, n := range notes {
		payload, err := json.Marshal(n.Payload)
		if err != nil {
			return head, nil, nil, fmt.Errorf("encode the %s row of case %s: %w", n.Kind, head.Case, err)
		}
		entries[i] = audit.Entry{Kind: n.Kind, Actor: actor, At: t.Now.UnixMicro(), Payload: payload}
		if n.By != (countersign.Actor{}) {
			entries[i].Actor = n.By
		}
		rand.Read(entries[i].Salt[:]) // never fails: it aborts the program instead
	}
	rows, next, err := audit.Append(head, entries...)
	if err != nil {
		return head, nil, nil, fmt.Errorf("chain the record of case %s: %w", head.Case, err)
	}
	return next, rows, entries, nil
}

func (t *Tx) insertRows(ctx context.Context, rows []audit.Row, entries []audit.Entry) error {
	var rowArgs, payloadArgs []any
	for i, r := range rows {
		rowArgs = append(rowArgs, string(r.Case), r.Seq, r.Version, string(r.Kind), r.Actor, r.At, r.Commitment.String(), r.Prev.String(), r.Hash.String())
		payloadArgs = append(payloadArgs, string(r.Case), r.Seq, entries[i].Salt[:], entries[i].Payload)
	}
	err := t.later(ctx, changing("append to the record"), "INSERT INTO record_rows (case_id, seq, version, kind, actor, at, commitment, prev_hash, hash) VALUES "+
		t.d.values(len(rows), 9), rowArgs...)
	if err != nil {
		return err
	}
	return t.later(ctx, changing("append to the record's payloads"), "INSERT INTO record_payloads (case_id, seq, salt, payload) VALUES "+
		t.d.values(len(rows), 4), payloadArgs...)
}

// changing says what was being done when a statement that waited failed.
func changing(what string) func(int64, error) error {
	return func(_ int64, err error) error { return wrap(err, "%s", what) }
}

// RecordRow is one row of a record with its payload; Payload is nil when it was erased.
type RecordRow struct {
	audit.Row
	Payload *audit.Payload
}

// RecordRows reads a case's record from a row on, in order. After is the last row the caller has seen, 0 for all.
func (v View) RecordRows(ctx context.Context, id countersign.CaseID, after int64) iter.Seq2[RecordRow, error] {
	return v.recordRows(ctx, "WHERE r.case_id = $1 AND r.seq > $2", string(id), after)
}

// WholeRecord reads every case's rows, case by case, each in order.
func (v View) WholeRecord(ctx context.Context) iter.Seq2[RecordRow, error] {
	return v.recordOf(ctx, share{})
}

func (v View) recordOf(ctx context.Context, of share) iter.Seq2[RecordRow, error] {
	where, args := of.within("r.case_id")
	return v.recordRows(ctx, where, args...)
}

func (v View) recordRows(ctx context.Context, where string, args ...any) iter.Seq2[RecordRow, error] {
	return func(yield func(RecordRow, error) bool) {
		rows, err := v.q.QueryContext(ctx, `SELECT r.case_id, r.seq, r.version, r.kind, r.actor, r.at, r.commitment, r.prev_hash, r.hash, p.salt, p.payload
			FROM record_rows r LEFT JOIN record_payloads p ON p.case_id = r.case_id AND p.seq = r.seq `+where+` ORDER BY r.case_id, r.seq`, args...)
		if err != nil {
			yield(RecordRow{}, fmt.Errorf("read the record: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			r, err := scanRecordRow(rows)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(RecordRow{}, fmt.Errorf("read the record: %w", err))
		}
	}
}

func scanRecordRow(rows *sql.Rows) (r RecordRow, err error) {
	var salt, payload []byte
	err = rows.Scan(&r.Case, &r.Seq, &r.Version, &r.Kind, &r.Actor, &r.At, scanHash{&r.Commitment}, scanHash{&r.Prev}, scanHash{&r.Hash}, &salt, &payload)
	if err != nil {
		return r, fmt.Errorf("read a record row: %w", err)
	}
	if salt != nil {
		r.Payload = &audit.Payload{Salt: salt, Bytes: payload}
	}
	return r, nil
}

// Head returns the head of a case's record.
func (v View) Head(ctx context.Context, id countersign.CaseID) (audit.Head, error) {
	head := audit.Head{Case: id}
	err := v.q.QueryRowContext(ctx, "SELECT seq, hash FROM record_heads WHERE case_id = $1", string(id)).Scan(&head.Seq, scanHash{&head.Hash})
	if errors.Is(err, sql.ErrNoRows) {
		return head, countersign.Errorf(countersign.NotFound, "there is no case %s", id)
	}
	return head, wrap(err, "read the head of case %s", id)
}

// Snapshot runs f over a View that sees the whole database at one moment, so that a record that grows meanwhile is not
// mistaken for a broken one.
func (s *Store) Snapshot(ctx context.Context, f func(View) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.dialect == postgresDialect {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.read.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("begin a snapshot: %w", err)
	}
	err = f(View{q: tx, d: s.dialect})
	if undone := rollback(tx); undone != nil { // its connection is gone, which the error of whoever was reading over it may not say
		return errors.Join(errBroken, err, undone)
	}
	return err
}

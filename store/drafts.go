package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Draft is what somebody has answered so far who is setting a shop mapping up: one for each person.
type Draft struct {
	PersonID   string
	JSON       string // the answers; the store does not read them
	Connection string // sealed; empty before it was given
	ChangedAt  time.Time
}

// Draft reads somebody's; ok is false when they have begun none.
func (v View) Draft(ctx context.Context, personID string) (d Draft, ok bool, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT person_id, draft, connection, changed_at FROM shop_drafts WHERE person_id = $1", personID).
		Scan(&d.PersonID, &d.JSON, &d.Connection, scanMicros{&d.ChangedAt})
	if errors.Is(err, sql.ErrNoRows) {
		return d, false, nil
	}
	return d, err == nil, wrap(err, "read the draft of a shop mapping")
}

// Drafts reads everybody's.
func (v View) Drafts(ctx context.Context) ([]Draft, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT person_id, draft, connection, changed_at FROM shop_drafts ORDER BY person_id")
	if err != nil {
		return nil, fmt.Errorf("list the drafts of shop mappings: %w", err)
	}
	all, err := collect(rows, func(row scanner) (d Draft, err error) {
		return d, row.Scan(&d.PersonID, &d.JSON, &d.Connection, scanMicros{&d.ChangedAt})
	})
	return all, wrap(err, "list the drafts of shop mappings")
}

// KeepDraft keeps somebody's answers over their earlier ones.
func (t *Tx) KeepDraft(ctx context.Context, d Draft) error {
	if d.PersonID == "" {
		return countersign.Errorf(countersign.Internal, "a draft of a shop mapping needs somebody whose it is")
	}
	_, err := t.exec(ctx, `INSERT INTO shop_drafts (person_id, draft, connection, changed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (person_id) DO UPDATE SET draft = excluded.draft, connection = excluded.connection, changed_at = excluded.changed_at`,
		d.PersonID, d.JSON, d.Connection, t.Now.UnixMicro())
	return wrap(err, "keep the draft of a shop mapping")
}

// ResealDraft keeps the connection string of somebody's draft sealed anew, if it is the one that is known.
func (t *Tx) ResealDraft(ctx context.Context, personID, known, connection string) error {
	return t.reseal(ctx, "the draft of a shop mapping", "UPDATE shop_drafts SET connection = $1 WHERE person_id = $2 AND connection = $3", connection, personID, known)
}

// DropDraft forgets somebody's answers. Without any it changes nothing.
func (t *Tx) DropDraft(ctx context.Context, personID string) error {
	_, err := t.exec(ctx, "DELETE FROM shop_drafts WHERE person_id = $1", personID)
	return wrap(err, "forget the draft of a shop mapping")
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// KeyID is the id of the master key that the database was first opened with, empty before that.
func (v View) KeyID(ctx context.Context) (id string, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT value FROM settings WHERE name = 'master_key_id'").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "read the master key's id")
}

// KeepKeyID remembers which master key the database belongs to. The second time it changes nothing.
func (t *Tx) KeepKeyID(ctx context.Context, id string) error {
	_, err := t.exec(ctx, "INSERT INTO settings (name, value, changed_at) VALUES ('master_key_id', $1, $2) ON CONFLICT (name) DO NOTHING",
		id, t.Now.UnixMicro())
	return wrap(err, "keep the master key's id")
}

// Newest is the time of the newest row on record; zero when there is none.
func (v View) Newest(ctx context.Context) (at time.Time, err error) {
	var micros sql.NullInt64
	if err := v.q.QueryRowContext(ctx, "SELECT MAX(updated_at) FROM cases").Scan(&micros); err != nil || !micros.Valid {
		return at, wrap(err, "look for the newest case")
	}
	return time.UnixMicro(micros.Int64).UTC(), nil
}

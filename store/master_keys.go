package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign"
)

// MasterKey is a master key that the database is kept under, or was. Of the key itself nothing is here.
type MasterKey struct {
	ID    string
	Check string    // a sentence that is sealed under it
	Since time.Time // it took over
	By    string    // an actor: who put it in the place of the one before; empty for the first
}

// keyCheck is how a key's row begins that says more of it than that it is the one in force.
const keyCheck = "master_key/"

// KeyID is the id of the master key that the database is kept under, empty before there is one.
func (v View) KeyID(ctx context.Context) (id string, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT value FROM settings WHERE name = 'master_key_id'").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "read the master key's id")
}

// MasterKeys are all that the database was ever kept under, the one in force first. A database that was made by a program which kept
// no check of its key has none of that key until it is next opened with it.
func (v View) MasterKeys(ctx context.Context) ([]MasterKey, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT name, value, changed_at FROM settings WHERE name LIKE 'master_key/%'
		ORDER BY CASE WHEN name = 'master_key/' || (SELECT value FROM settings WHERE name = 'master_key_id') THEN 0 ELSE 1 END, changed_at DESC, name`)
	if err != nil {
		return nil, fmt.Errorf("list the master keys: %w", err)
	}
	all, err := collect(rows, func(row scanner) (k MasterKey, err error) {
		var more keyValue
		err = row.Scan(&k.ID, asJSON{&more}, scanMicros{&k.Since})
		k.ID, k.Check, k.By = strings.TrimPrefix(k.ID, keyCheck), more.Check, more.By
		return k, err
	})
	return all, wrap(err, "list the master keys")
}

// keyValue is what the settings keep of a key.
type keyValue struct {
	Check string `json:"check"`
	By    string `json:"by,omitempty"`
}

// KeepKey remembers which master key the database belongs to. The second time, and for a key that is not its own, it changes nothing.
func (t *Tx) KeepKey(ctx context.Context, k MasterKey) error {
	if _, err := t.exec(ctx, "INSERT INTO settings (name, value, changed_at) VALUES ('master_key_id', $1, $2) ON CONFLICT (name) DO NOTHING",
		k.ID, t.Now.UnixMicro()); err != nil {
		return wrap(err, "keep the master key's id")
	}
	_, err := t.exec(ctx, `INSERT INTO settings (name, value, changed_at)
		SELECT $1, $2, changed_at FROM settings WHERE name = 'master_key_id' AND value = $3 ON CONFLICT (name) DO NOTHING`,
		keyCheck+k.ID, asJSON{keyValue{Check: k.Check}}, k.ID)
	return wrap(err, "keep the master key's check")
}

// SealUnder is asked in every transaction that keeps something sealed. It refuses a key that another has replaced: a program that
// was started before goes on with it, and what it sealed nobody could open once it has ended. Nobody replaces the key before the
// transaction has ended. A key that the database never had is let through: where its own is lost, secrets are entered again under
// the one that is here.
func (t *Tx) SealUnder(ctx context.Context, id string) error {
	kept, err := t.holdKey(ctx)
	if err != nil || kept == id {
		return err
	}
	replaced, err := t.wasKey(ctx, id)
	if err == nil && replaced {
		return countersign.Errorf(countersign.Unavailable, "master key %s was replaced by %s, so nothing is sealed under it any more; nothing was changed", id, kept).
			Try("start this program again with the new key")
	}
	return err
}

// wasKey reports whether the database is or was kept under a key.
func (t *Tx) wasKey(ctx context.Context, id string) (was bool, err error) {
	err = t.q.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM settings WHERE name = $1", keyCheck+id).Scan(&was)
	return was, wrap(err, "look for the master key among those that were replaced")
}

// holdKey is KeyID, and keeps the key what it is until the transaction ends.
func (t *Tx) holdKey(ctx context.Context) (id string, err error) {
	err = t.q.QueryRowContext(ctx, "SELECT value FROM settings WHERE name = 'master_key_id'"+t.d.lock).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "hold the master key's id")
}

// ReplaceKey puts a master key in the place of the one that the database is kept under. It fails when that is not the one named. To be
// called before what is sealed is read: from here on nobody seals anything under the old one.
func (t *Tx) ReplaceKey(ctx context.Context, old string, k MasterKey, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("the master key")
	}
	kept, err := t.holdKey(ctx)
	if err != nil {
		return err
	}
	if kept != old {
		return countersign.Errorf(countersign.Conflict, "somebody else has put master key %s in the place of %s meanwhile; nothing was changed", kept, old)
	}
	before, err := t.wasKey(ctx, k.ID)
	if err != nil {
		return err
	}
	if before {
		return countersign.Errorf(countersign.Conflict, "master key %s was in force before, and was replaced", k.ID).Try("expected a key that this database never had")
	}
	// A program that kept no check of its key has left no row of it.
	if _, err := t.exec(ctx, "INSERT INTO settings (name, value, changed_at) SELECT $1, '{}', changed_at FROM settings WHERE name = 'master_key_id' ON CONFLICT (name) DO NOTHING",
		keyCheck+old); err != nil {
		return wrap(err, "keep the master key that is replaced")
	}
	if _, err := t.exec(ctx, "UPDATE settings SET value = $1, changed_at = $2 WHERE name = 'master_key_id'", k.ID, t.Now.UnixMicro()); err != nil {
		return wrap(err, "replace the master key's id")
	}
	_, err = t.exec(ctx, "INSERT INTO settings (name, value, changed_at) VALUES ($1, $2, $3)",
		keyCheck+k.ID, asJSON{keyValue{Check: k.Check, By: by.String()}}, t.Now.UnixMicro())
	return wrap(err, "keep the master key's check")
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign"
)

// Link is a way to sign in once. Its secret is part of an address; only a hash of it is kept.
type Link struct {
	PersonID  string // empty for setting up, when there is nobody yet
	Purpose   string
	ExpiresAt time.Time
}

// AddLink stores a link by the hash of its secret.
func (t *Tx) AddLink(ctx context.Context, l Link, hash string, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a link needs an actor")
	}
	_, err := t.exec(ctx, `INSERT INTO links (hash, person_id, purpose, created_at, created_by, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		hash, l.PersonID, l.Purpose, t.Now.UnixMicro(), by.String(), l.ExpiresAt.UnixMicro())
	return wrap(err, "store the link")
}

// LinkByHash finds the link whose secret hashes to that, unless it was used or its time has passed. It stays as it is.
func (v View) LinkByHash(ctx context.Context, hash string, now time.Time) (l Link, ok bool, err error) {
	return foundLink(v.q.QueryRowContext(ctx, `SELECT person_id, purpose, expires_at FROM links
		WHERE hash = $1 AND used_at IS NULL AND expires_at > $2`, hash, now.UnixMicro()))
}

// UseLink finds a link as LinkByHash does and uses it up. Of any number who use one at the same time, one gets it.
func (t *Tx) UseLink(ctx context.Context, hash, purpose string) (l Link, ok bool, err error) {
	return foundLink(t.q.QueryRowContext(ctx, `UPDATE links SET used_at = $3 WHERE hash = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3
		RETURNING person_id, purpose, expires_at`, hash, purpose, t.Now.UnixMicro()))
}

func foundLink(row scanner) (l Link, ok bool, err error) {
	err = row.Scan(&l.PersonID, &l.Purpose, scanMicros{&l.ExpiresAt})
	if errors.Is(err, sql.ErrNoRows) {
		return l, false, nil
	}
	return l, err == nil, wrap(err, "look up the link")
}

// UseEveryLink uses up all links for a purpose and reports whether that one was among them. Of two who do so at once, each with
// a link of their own, the one whose link is newer sees both and waits for the other to commit. It may still have its own then,
// so what the other did must be looked at after this and not before.
func (t *Tx) UseEveryLink(ctx context.Context, hash, purpose string) (ok bool, err error) {
	rows, err := t.q.QueryContext(ctx, "UPDATE links SET used_at = $2 WHERE purpose = $1 AND used_at IS NULL AND expires_at > $2 RETURNING hash",
		purpose, t.Now.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("use the links: %w", err)
	}
	used, err := collect(rows, func(row scanner) (hash string, err error) { return hash, row.Scan(&hash) })
	return slices.Contains(used, hash), wrap(err, "use the links")
}

// dropLinks makes the links that somebody was given useless.
func (t *Tx) dropLinks(ctx context.Context, personID string) error {
	_, err := t.exec(ctx, "DELETE FROM links WHERE person_id = $1", personID)
	return wrap(err, "drop the links of person %s", personID)
}

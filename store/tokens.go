package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// APIToken is a credential of a program. Its secret is shown once and only its hash is kept.
type APIToken struct {
	ID        string
	Name      string // for people; names may repeat
	Role      string
	CreatedAt time.Time
	CreatedBy string // an actor
	RevokedAt *time.Time
	RevokedBy string
}

const tokenColumns = "id, name, role, created_at, created_by, revoked_at, revoked_by"

func scanToken(row scanner) (token APIToken, err error) {
	var revoked sql.NullInt64
	err = row.Scan(&token.ID, &token.Name, &token.Role, scanMicros{&token.CreatedAt}, &token.CreatedBy, &revoked, &token.RevokedBy)
	if revoked.Valid {
		at := time.UnixMicro(revoked.Int64).UTC()
		token.RevokedAt = &at
	}
	return token, err
}

// AddToken stores a token by the hash of its secret.
func (t *Tx) AddToken(ctx context.Context, token APIToken, hash string, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a token needs an actor")
	}
	_, err := t.exec(ctx, "INSERT INTO tokens (id, name, role, hash, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6)",
		token.ID, token.Name, token.Role, hash, t.Now.UnixMicro(), by.String())
	return wrap(err, "store the token")
}

// TokenByHash finds the token whose secret hashes to that, unless it was revoked.
func (v View) TokenByHash(ctx context.Context, hash string) (token APIToken, ok bool, err error) {
	token, err = scanToken(v.q.QueryRowContext(ctx, "SELECT "+tokenColumns+" FROM tokens WHERE hash = $1 AND revoked_at IS NULL", hash))
	if errors.Is(err, sql.ErrNoRows) {
		return token, false, nil
	}
	return token, err == nil, wrap(err, "look up the token")
}

// ListTokens lists every token that was ever made, the newest first.
func (v View) ListTokens(ctx context.Context) ([]APIToken, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+tokenColumns+" FROM tokens ORDER BY created_at DESC, id")
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	all, err := collect(rows, scanToken)
	return all, wrap(err, "list tokens")
}

// RevokeToken makes a token useless for good, from the next request on. The second time it changes nothing.
func (t *Tx) RevokeToken(ctx context.Context, id string, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "revoking a token needs an actor")
	}
	n, err := t.exec(ctx, "UPDATE tokens SET revoked_by = CASE WHEN revoked_at IS NULL THEN $3 ELSE revoked_by END, revoked_at = COALESCE(revoked_at, $2) WHERE id = $1",
		id, t.Now.UnixMicro(), by.String())
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.NotFound, "there is no token %q", id)
	}
	return wrap(err, "revoke token %s", id)
}

package store

import (
	"context"
	"database/sql"
	"errors"

	"countersign"
)

// APIToken is a credential of a program. Its secret is shown once and only its hash is kept.
type APIToken struct {
	ID   string
	Name string // for people; names may repeat
	Role string
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
	err = v.q.QueryRowContext(ctx, "SELECT id, name, role FROM tokens WHERE hash = $1 AND revoked_at IS NULL", hash).
		Scan(&token.ID, &token.Name, &token.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return token, false, nil
	}
	return token, err == nil, wrap(err, "look up the token")
}

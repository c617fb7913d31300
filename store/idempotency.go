package store

import (
	"context"
	"database/sql"
	"errors"

	"countersign"
)

// Key is an idempotency key as one principal used it on one route, with a hash of the body it came with.
type Key struct {
	Principal string
	Route     string
	Value     string
	BodyHash  string
}

// Remembered returns the case that an earlier request with this key opened. The same key with another body is a Conflict.
func (v View) Remembered(ctx context.Context, k Key) (id countersign.CaseID, ok bool, err error) {
	var body string
	err = v.q.QueryRowContext(ctx, "SELECT case_id, body_hash FROM idempotency_keys WHERE principal = $1 AND route = $2 AND key = $3",
		k.Principal, k.Route, k.Value).Scan(&id, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, wrap(err, "look up the idempotency key")
	case body != k.BodyHash:
		return "", false, countersign.Errorf(countersign.Conflict, "this key was used before with another body").
			In("Idempotency-Key").Try("use a new key for a new request")
	}
	return id, true, nil
}

// Remember keeps the key beside the case it opened. Two requests with one key at the same moment: the second is a Conflict
// here and finds the first when it tries again.
func (t *Tx) Remember(ctx context.Context, k Key, id countersign.CaseID) error {
	_, err := t.exec(ctx, "INSERT INTO idempotency_keys (principal, route, key, body_hash, case_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
		k.Principal, k.Route, k.Value, k.BodyHash, string(id), t.Now.UnixMicro())
	if isUnique(err) {
		e := countersign.Errorf(countersign.Conflict, "another request with this key is being answered").In("Idempotency-Key")
		e.Err = err
		return e
	}
	return wrap(err, "remember the idempotency key")
}

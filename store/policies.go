package store

import (
	"context"
	"database/sql"
	"errors"

	"countersign"
	"countersign/pipeline/policy"
)

// Limits returns the limits in force: the last that were applied, or the defaults.
func (v View) Limits(ctx context.Context) (policy.Limits, error) {
	limits := policy.Default()
	var kept policy.Limits
	err := v.q.QueryRowContext(ctx, "SELECT limits FROM policies ORDER BY number DESC LIMIT 1").Scan(asJSON{&kept})
	if errors.Is(err, sql.ErrNoRows) {
		return limits, nil
	}
	return kept, wrap(err, "read the policy in force")
}

// ApplyLimits puts new limits into force and keeps the old ones, with who did it.
func (t *Tx) ApplyLimits(ctx context.Context, limits policy.Limits, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a change of policy needs an actor")
	}
	_, err := t.exec(ctx, `INSERT INTO policies (number, limits, applied_at, actor)
		SELECT COALESCE(MAX(number), 0) + 1, CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT) FROM policies`, asJSON{limits}, t.Now.UnixMicro(), by.String())
	return wrap(raced(err), "apply the policy")
}

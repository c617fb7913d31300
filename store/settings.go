package store

import (
	"context"
	"database/sql"
	"time"
)

// Newest is the time of the newest row on record; zero when there is none.
func (v View) Newest(ctx context.Context) (at time.Time, err error) {
	var micros sql.NullInt64
	if err := v.q.QueryRowContext(ctx, "SELECT MAX(updated_at) FROM cases").Scan(&micros); err != nil || !micros.Valid {
		return at, wrap(err, "look for the newest case")
	}
	return time.UnixMicro(micros.Int64).UTC(), nil
}

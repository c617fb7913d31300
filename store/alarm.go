package store

import (
	"context"
	"time"
)

// Unattended counts, up to MostCounted, the cases that wait for a person, are due before that moment or overdue, and that nobody has
// before them: what will be lost by default unless somebody takes it.
func (v View) Unattended(ctx context.Context, due, now time.Time) (n int, err error) {
	err = v.q.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM cases WHERE risk > 0 AND risk < $1 AND status = 'in_review'
		AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.case_id = cases.id AND claims.until > $2) ORDER BY risk LIMIT $3) AS unattended`,
		due.UnixMicro(), now.UnixMicro(), MostCounted).Scan(&n)
	return n, wrap(err, "count the cases that nobody attends to")
}

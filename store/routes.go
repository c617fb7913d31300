package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Route is one version of where fixes are posted.
type Route struct {
	Version     int64  // from 1; the highest counts. Zero is the route of a database in which none was ever set
	Destination string // Ledger, or the name of somebody outside
	Settings    string // JSON without secrets: it may be shown
	Secrets     string // sealed
	AppliedAt   time.Time
	AppliedBy   string // an actor
}

// Ledger is the destination of fixes that are posted to the books of this program itself.
const Ledger = "ledger"

// Outside reports whether fixes are posted by somebody else.
func (r Route) Outside() bool { return r.Destination != Ledger }

const routeColumns = "version, destination, settings, secrets, applied_at, actor"

func scanRoute(row scanner) (r Route, err error) {
	return r, row.Scan(&r.Version, &r.Destination, &r.Settings, &r.Secrets, scanMicros{&r.AppliedAt}, &r.AppliedBy)
}

// Route is where fixes are posted now: to the ledger until somebody sets something else.
func (v View) Route(ctx context.Context) (Route, error) {
	r, err := scanRoute(v.q.QueryRowContext(ctx, "SELECT "+routeColumns+" FROM posting_routes ORDER BY version DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return Route{Destination: Ledger}, nil
	}
	return r, wrap(err, "read where fixes are posted")
}

// Routes lists every version, the one in force first.
func (v View) Routes(ctx context.Context) ([]Route, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+routeColumns+" FROM posting_routes ORDER BY version DESC")
	if err != nil {
		return nil, fmt.Errorf("list where fixes were posted: %w", err)
	}
	all, err := collect(rows, scanRoute)
	return all, wrap(err, "list where fixes were posted")
}

// ApplyRoute puts a route into force and returns its number; the old ones are kept. Secrets are sealed for the version that they belong
// to, so seal is told which that is. It may be called again when two are applied at once.
func (t *Tx) ApplyRoute(ctx context.Context, r Route, seal func(version int64) string, by countersign.Actor) (version int64, err error) {
	if !by.Valid() {
		return 0, countersign.Errorf(countersign.Internal, "a change of where fixes are posted needs an actor")
	}
	if err := t.q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) + 1 FROM posting_routes").Scan(&version); err != nil {
		return 0, wrap(err, "number the route")
	}
	_, err = t.exec(ctx, "INSERT INTO posting_routes ("+routeColumns+") VALUES ($1, $2, $3, $4, $5, $6)",
		version, r.Destination, r.Settings, seal(version), t.Now.UnixMicro(), by.String())
	return version, wrap(raced(err), "apply the route")
}

// ResealRoute keeps the secrets of a version sealed anew, if they are those that are known.
func (t *Tx) ResealRoute(ctx context.Context, version int64, known, secrets string) error {
	return t.reseal(ctx, "where fixes are posted", "UPDATE posting_routes SET secrets = $1 WHERE version = $2 AND secrets = $3", secrets, version, known)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Mapping is one version of how the shop's own database is read.
type Mapping struct {
	Version     int64 // from 1; the highest counts
	Name        string
	JSON        string // the mapping without its connection string: it may be shown
	Connection  string // sealed
	ConfirmedBy string // an actor: who saw rows read through it, and said that they are read rightly
	CreatedAt   time.Time
	CreatedBy   string // an actor
}

const mappingColumns = "version, name, mapping, connection, confirmed_by, created_at, actor"

func scanMapping(row scanner) (m Mapping, err error) {
	return m, row.Scan(&m.Version, &m.Name, &m.JSON, &m.Connection, &m.ConfirmedBy, scanMicros{&m.CreatedAt}, &m.CreatedBy)
}

// LatestMapping is the mapping in force; ok is false while there is none.
func (v View) LatestMapping(ctx context.Context) (m Mapping, ok bool, err error) {
	m, err = scanMapping(v.q.QueryRowContext(ctx, "SELECT "+mappingColumns+" FROM shop_mappings ORDER BY version DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, wrap(err, "read the shop mapping in force")
}

// Mapping reads one version; a NotFound error if there is none of that number.
func (v View) Mapping(ctx context.Context, version int64) (Mapping, error) {
	m, err := scanMapping(v.q.QueryRowContext(ctx, "SELECT "+mappingColumns+" FROM shop_mappings WHERE version = $1", version))
	if errors.Is(err, sql.ErrNoRows) {
		return m, countersign.Errorf(countersign.NotFound, "there is no version %d of the shop mapping", version)
	}
	return m, wrap(err, "read version %d of the shop mapping", version)
}

// Mappings lists every version, the one in force first.
func (v View) Mappings(ctx context.Context) ([]Mapping, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+mappingColumns+" FROM shop_mappings ORDER BY version DESC")
	if err != nil {
		return nil, fmt.Errorf("list the shop mappings: %w", err)
	}
	all, err := collect(rows, scanMapping)
	return all, wrap(err, "list the shop mappings")
}

// AddMapping puts a new version into force and returns its number; the old ones are kept. The connection string is sealed for
// the version that it belongs to, so seal is told which that is. It may be called again when two mappings are added at once.
func (t *Tx) AddMapping(ctx context.Context, m Mapping, seal func(version int64) string, by countersign.Actor) (version int64, err error) {
	if !by.Valid() || m.ConfirmedBy == "" {
		return 0, countersign.Errorf(countersign.Internal, "a shop mapping needs an actor, and somebody who confirmed it")
	}
	if err := t.q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) + 1 FROM shop_mappings").Scan(&version); err != nil {
		return 0, wrap(err, "number the shop mapping")
	}
	_, err = t.exec(ctx, "INSERT INTO shop_mappings ("+mappingColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7)",
		version, m.Name, m.JSON, seal(version), m.ConfirmedBy, t.Now.UnixMicro(), by.String())
	return version, wrap(raced(err), "keep the shop mapping")
}

// ResealMapping keeps the connection string of a version sealed anew, if it is the one that is known.
func (t *Tx) ResealMapping(ctx context.Context, version int64, known, connection string) error {
	return t.reseal(ctx, "a shop mapping", "UPDATE shop_mappings SET connection = $1 WHERE version = $2 AND connection = $3", connection, version, known)
}

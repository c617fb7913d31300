package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"countersign"
)

//go:embed migrations
var migrations embed.FS

// Versions says where a migration started and ended.
type Versions struct{ From, To int64 }

// Migrate brings the schema to this program's version, each step in a transaction of its own, and says from and to. When
// nothing is to be done it changes nothing. Two programs may call it at once.
func (s *Store) Migrate(ctx context.Context) (v Versions, err error) {
	// SQLite has no lock that would span the steps. Each step is a transaction that says "already exists", or that the file is locked, to
	// whoever comes second, and that one looks again at what is left to do, once the first has got on.
	for range 50 {
		var said *countersign.Error
		v, err = s.migrate(ctx)
		if err == nil || s.dialect == postgresDialect || errors.As(err, &said) || !passes(ctx, 20*time.Millisecond) {
			break
		}
	}
	return v, err
}

// passes waits, and is false when ctx ends before.
func passes(ctx context.Context, wait time.Duration) bool {
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Store) migrate(ctx context.Context) (Versions, error) {
	if err := s.inOneSchema(ctx); err != nil {
		return Versions{}, err
	}
	provider, err := s.provider()
	if err != nil {
		return Versions{}, err
	}
	from, to, err := provider.GetVersions(ctx)
	if err != nil {
		return Versions{}, explain(fmt.Errorf("read the database's version: %w", err))
	}
	if from > to {
		return Versions{}, countersign.Errorf(countersign.Conflict,
			"the database has schema version %d, this program knows up to %d", from, to).
			Try("start the newer program that migrated it, or restore the backup made before the upgrade")
	}
	if from < to { // otherwise nobody need wait for the lock of somebody who migrates nothing either
		if _, err := provider.Up(ctx); err != nil {
			return Versions{}, explain(fmt.Errorf("migrate from version %d to %d: %w", from, to, err))
		}
	}
	s.migrated = Versions{from, to}
	return s.migrated, s.migrateQueue(ctx)
}

// inOneSchema refuses a search_path of PostgreSQL's that would begin a second, empty database in one schema while the tables of this program
// stand in another that is searched too. Cases and record would then be in the one, and the queue's jobs in the other.
func (s *Store) inOneSchema(ctx context.Context) error {
	if s.dialect == sqliteDialect {
		return nil
	}
	var here, elsewhere sql.NullString
	err := s.write.QueryRowContext(ctx, `SELECT current_schema(), (SELECT nspname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
		WHERE relname = 'record_heads' AND nspname = ANY(current_schemas(FALSE)) ORDER BY array_position(current_schemas(FALSE), nspname) LIMIT 1)`).Scan(&here, &elsewhere)
	switch {
	case err != nil:
		return explain(fmt.Errorf("look at the database's schemas: %w", err))
	case !here.Valid:
		return countersign.Errorf(countersign.Unavailable, "the search_path of the database's user names no schema that is there").
			Try("create the schema, or name another in the database URL: …?search_path=public")
	case elsewhere.Valid && elsewhere.String != here.String:
		return countersign.Errorf(countersign.Conflict, "the tables of this program are in the schema %q, and the search_path puts %q first; nothing was changed", elsewhere.String, here.String).
			Try("name the one to use in the database URL: …?search_path=" + elsewhere.String)
	}
	return nil
}

// Migrated says what Open found and left.
func (s *Store) Migrated() Versions { return s.migrated }

func (s *Store) provider() (*goose.Provider, error) {
	dialect, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if s.dialect == postgresDialect {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 600)) // looks every second instead of every five
		if err != nil {
			return nil, fmt.Errorf("lock migrations: %w", err)
		}
		dialect, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	dir, err := fs.Sub(migrations, "migrations/"+s.dialect.name)
	if err != nil {
		return nil, fmt.Errorf("read embedded migrations: %w", err) // unreachable unless a folder was renamed
	}
	return goose.NewProvider(dialect, s.write, dir, options...)
}

// migrateQueue brings River's own tables along. On PostgreSQL one starter at a time: River itself does not lock.
func (s *Store) migrateQueue(ctx context.Context) error {
	if s.dialect == sqliteDialect {
		return migrateRiver(ctx, riversqlite.New(s.write))
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate the queue: %w", err)
	}
	defer conn.Close() // ends the session, and with it the lock
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(7020311)"); err != nil {
		return fmt.Errorf("lock the queue's migration: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(7020311)")
	return migrateRiver(ctx, riverdatabasesql.New(s.write))
}

func migrateRiver[T any](ctx context.Context, driver riverdriver.Driver[T]) error {
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return fmt.Errorf("migrate the queue: %w", err)
	}
	existing, err := migrator.ExistingVersions(ctx)
	if err == nil && len(existing) == len(migrator.AllVersions()) {
		return nil
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil && !errors.Is(err, context.Canceled) {
		return explain(fmt.Errorf("migrate the queue: %w", err))
	}
	return ctx.Err()
}

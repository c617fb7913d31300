package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
)

// What somebody who makes a backup asks of a database, and of its copy.

// Copy has SQLite write the database, as it is at this moment, into a file that is empty or not there: whole, tidy, and without a
// log beside it. Writers go on meanwhile. Nobody has waited for the disk when it returns.
func (s *Store) Copy(ctx context.Context, path string) error {
	if s.dialect != sqliteDialect {
		return errors.New("copy the database: PostgreSQL has a program for that") // unreachable unless the caller did not ask for the engine
	}
	_, err := s.read.ExecContext(ctx, "VACUUM INTO $1", path)
	return wrap(err, "copy the database")
}

// OpenAsIs opens a database without bringing it to this program's version, to be looked at. A SQLite file is read as if it could not
// change: it must be nobody's, have no log beside it that counts, and keeps every byte.
func OpenAsIs(ctx context.Context, dsn string) (*Store, error) {
	if isPostgres(dsn) {
		return connect(ctx, dsn, Options{})
	}
	path, err := filepath.Abs(dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := openFile(path, "mode=ro", "immutable=1", "_pragma=cache_size(-65536)")
	s := &Store{dialect: sqliteDialect, write: db, read: db, now: time.Now, View: View{q: db, d: sqliteDialect}}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(openProblem(path, err), s.Close())
	}
	return s, nil
}

// Sound has SQLite hold every row against every index, and says what it found wrong; empty when nothing is. It takes several times as
// long as Damage. PostgreSQL is not asked.
func (s *Store) Sound(ctx context.Context) (found string, err error) {
	if s.dialect != sqliteDialect {
		return "", nil
	}
	if err := s.read.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return "", fmt.Errorf("check the database file: %w", err)
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}

// Schema is the version of the database's schema, whatever this program's is.
func (v View) Schema(ctx context.Context) (version int64, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&version)
	return version, wrap(err, "look at the schema's version")
}

// NewestSchema is the version that Open brings a database to.
func NewestSchema() (version int64) {
	files, err := fs.ReadDir(migrations, "migrations/sqlite")
	if err != nil || len(files) == 0 {
		panic("no migrations in the program") // unreachable: they are embedded
	}
	number, _, _ := strings.Cut(files[len(files)-1].Name(), "_")
	version, err = strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err) // unreachable: a test holds their names
	}
	return version
}

// VerifyRecord walks every chain one after the other, as this view sees them. The Store's is faster, and sees each share of the cases at
// a moment of its own.
func (v View) VerifyRecord(ctx context.Context) (audit.Report, error) {
	return v.verify(ctx, share{}, func() {})
}

// Share names a snapshot of PostgreSQL's so that another session can read what this one sees, as long as this one lasts.
func (v View) Share(ctx context.Context) (name string, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT pg_export_snapshot()").Scan(&name)
	return name, wrap(err, "share a snapshot")
}

// ServerVersion is PostgreSQL's major version.
func (v View) ServerVersion(ctx context.Context) (major int, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT CAST(current_setting('server_version_num') AS INTEGER) / 10000").Scan(&major)
	return major, wrap(err, "ask the server for its version")
}

// Vacant refuses a PostgreSQL database that holds anything, or that somebody else is connected to.
func (s *Store) Vacant(ctx context.Context) error {
	var tables, sessions int64
	err := s.read.QueryRowContext(ctx, `SELECT
		(SELECT COUNT(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
			WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'),
		(SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid())`).
		Scan(&tables, &sessions)
	switch {
	case err != nil:
		return explain(fmt.Errorf("look at what the database holds: %w", err))
	case tables > 0:
		return countersign.Errorf(countersign.Conflict, "the database is not empty: it holds %d tables, views or sequences; nothing was changed", tables).
			Try("create a database for what is restored, name it with --database, and point the program to it afterwards")
	case sessions > 0:
		return countersign.Errorf(countersign.Conflict, "%d others are connected to the database; nothing was changed", sessions).Try("stop them first")
	}
	return nil
}

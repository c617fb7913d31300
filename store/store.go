// Package store keeps everything in one database, SQLite or PostgreSQL: the bank's books, the cases, the record, the fixes,
// the policy and the tokens. There is one SQL text for both; what differs stands in dialect.go and in the migrations.
//
// Three types divide the work. A View reads, over a pool or inside a transaction. A Tx is a View that also writes, and lives
// only inside Write. A Store is a View over the whole database that can Write. Nothing here decides anything: a caller that
// acts brings the record rows of its act in the same Write, and one cannot commit without the other.
//
// Bad input is refused before it gets here; what the database itself refuses comes back as an error that says what was
// being done.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is an open database.
type Store struct {
	View
	dialect  dialect
	write    *sql.DB       // SQLite: one connection, BEGIN IMMEDIATE; PostgreSQL: a pool
	read     *sql.DB       // SQLite: a read-only pool of its own; PostgreSQL: the same as write
	pool     *pgxpool.Pool // PostgreSQL only: the queue listens on it
	group    *group        // SQLite only
	now      func() time.Time
	leases   func() time.Time
	log      *slog.Logger
	watch    watchers
	migrated Versions
	foreign  foreign
	closing  sync.Once
	measured func(units int, took time.Duration)
}

// Options are what Open may be told; the zero value is right for production.
type Options struct {
	Now          func() time.Time // the clock of every write; time.Now when nil
	Leases       func() time.Time // the clock of leases, for tests that move it; when nil PostgreSQL's own, or Now
	Log          *slog.Logger
	PostgresPool int  // connections to PostgreSQL, 16 when zero
	Exclusive    bool // the caller is the only process that runs workers on this database
	NoGroup      bool // SQLite: a commit a write, for measuring what grouping buys
	// Committed is told of each commit, how many units of work were in it and how long it took; nil when nobody measures.
	Committed func(units int, took time.Duration)
}

// Open opens the database that dsn names, a SQLite path or a postgres:// URL, and brings it to this program's version. A
// database that a newer program has migrated is refused, naming both versions.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	s, err := connect(ctx, dsn, opt)
	if err != nil {
		return nil, err
	}
	if _, err := s.Migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.group != nil {
		if err := s.group.rememberPages(ctx); err != nil {
			return nil, errors.Join(openProblem(dsn, err), s.Close())
		}
	}
	return s, nil
}

// connect opens the pools without looking at the schema.
func connect(ctx context.Context, dsn string, opt Options) (*Store, error) {
	s := &Store{now: opt.Now, leases: opt.Leases, log: opt.Log, measured: opt.Committed, foreign: foreign{seen: make(chan struct{})}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.measured == nil {
		s.measured = func(int, time.Duration) {}
	}
	open := s.openSQLite
	if isPostgres(dsn) {
		open = s.openPostgres
	}
	if err := open(ctx, dsn, opt); err != nil {
		return nil, err
	}
	s.View = View{q: s.read, d: s.dialect}
	if s.pool != nil {
		s.View.q = pooled{s.read, s.pool}
	}
	return s, nil
}

// Close waits for the write that is running and closes the pools, on SQLite the one that writes last: only it can bring the
// write-ahead log back into the file, which is then all there is to copy. The second time it does nothing.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		if s.group != nil {
			s.group.stop()
		}
		err = errors.Join(closeOther(s.read, s.write), s.write.Close())
		if s.pool != nil {
			s.pool.Close()
		}
	})
	return err
}

func closeOther(db, than *sql.DB) error {
	if db == than {
		return nil
	}
	return db.Close()
}

// Ping asks the database for an answer, for readiness.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.read.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("ask the database: %w", err)
	}
	return nil
}

// Damage has SQLite read the whole file over, which takes a while on a large one, and says what is wrong with it; empty when
// nothing is. PostgreSQL does this by itself.
func (s *Store) Damage(ctx context.Context) (found string, err error) {
	if s.dialect != sqliteDialect {
		return "", nil
	}
	if err := s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return "", fmt.Errorf("check the database file: %w", err)
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}

// Engine is sqlite or postgres.
func (s *Store) Engine() string { return s.dialect.name }

// DB is the pool that writes, and Pool the PostgreSQL pool under it (nil on SQLite): the queue keeps its own tables there.
func (s *Store) DB() *sql.DB         { return s.write }
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Now is the store's clock.
func (s *Store) Now() time.Time { return s.now() }

// queryer is what *sql.DB and *sql.Tx have in common.
type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// View reads. Inside a transaction it sees what the transaction wrote.
type View struct {
	q queryer
	d dialect
}

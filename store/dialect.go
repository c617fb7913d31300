package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"countersign"
)

// dialect is all that differs between the two databases outside the migrations.
type dialect struct {
	name string
	lock string // appended to a SELECT that must hold its row until commit; SQLite's writer is alone anyway
	// attempted is when the queue's job j was taken last, in seconds since 1970: the queue keeps its times as it likes.
	attempted string
	bare      bool // the placeholders of a long list are bare question marks
	// clock is the database's own, in microseconds since 1970; empty when it is that of this machine anyway.
	clock string
	// skip is lock for a SELECT that wants any row and takes one that nobody else holds.
	skip string
	// inList is a comparison with a list of texts in one JSON value: a statement stays the same however long the list is.
	inList string
	armed  string // asks for the triggers that are there and switched on
	// The cases by the index that they are to be found with. SQLite has no statistics to choose one by.
	inOrder, counted, closed, byID, byCustomer string
}

var (
	sqliteDialect = dialect{name: "sqlite", bare: true, armed: "SELECT name FROM sqlite_master WHERE type = 'trigger'", attempted: "unixepoch(j.attempted_at)",
		inList: "IN (SELECT value FROM json_each(?))", inOrder: "cases INDEXED BY cases_in_order",
		counted: "cases INDEXED BY cases_counted", closed: "cases INDEXED BY cases_closed",
		byID: "cases INDEXED BY sqlite_autoindex_cases_1", byCustomer: "cases INDEXED BY cases_by_customer"}
	postgresDialect = dialect{name: "postgres", lock: " FOR UPDATE",
		armed: "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')", attempted: "EXTRACT(EPOCH FROM j.attempted_at)",
		clock: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
		skip:  " FOR UPDATE SKIP LOCKED", inList: "IN (SELECT jsonb_array_elements_text(CAST(? AS jsonb)))",
		inOrder: "cases", counted: "cases", closed: "cases", byID: "cases", byCustomer: "cases"}
)

// in is inList for the n-th value of a statement.
func (d dialect) in(n int) string { return strings.Replace(d.inList, "?", "$"+strconv.Itoa(n), 1) }

// instant is the n-th value of a statement, or what the database's own clock says when that is null.
func (d dialect) instant(n int) string {
	if d.clock == "" {
		return "$" + strconv.Itoa(n)
	}
	return "COALESCE(CAST($" + strconv.Itoa(n) + " AS BIGINT), " + d.clock + ")"
}

// listed is the value that inList compares with.
func listed[T ~string](texts []T) any { return asJSON{append([]T{}, texts...)} }

// values is n groups of placeholders, m each, counted on: ($1,$2),($3,$4). They must be all that the statement has. On SQLite
// each is a bare question mark: it looks a numbered one up in a list of all numbers, and five hundred rows of nineteen columns
// took fifty times as long.
func (d dialect) values(n, m int) string {
	b := make([]byte, 0, 7*n*m)
	for i := range n * m {
		switch {
		case i == 0:
			b = append(b, '(')
		case i%m == 0:
			b = append(b, "),("...)
		default:
			b = append(b, ',')
		}
		if d.bare {
			b = append(b, '?')
		} else {
			b = strconv.AppendInt(append(b, '$'), int64(i+1), 10)
		}
	}
	return string(append(b, ')'))
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// openSQLite opens one connection that writes and a pool that only reads. SQLite lets one writer in at a time; a pool of
// writers would queue inside the driver and fail busy, whatever the busy timeout says. BEGIN IMMEDIATE because a
// transaction that reads first and writes later cannot be upgraded once somebody else has committed.
func (s *Store) openSQLite(ctx context.Context, path string, opt Options) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	s.dialect = sqliteDialect
	if err := private(path); err != nil {
		return openProblem(path, err)
	}
	s.write = openFile(path, "_txlock=immediate", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)",
		"_pragma=foreign_keys(1)", "_pragma=recursive_triggers(1)", "_pragma=busy_timeout(10000)", "_pragma=cache_size(-65536)")
	s.write.SetMaxOpenConns(1)
	if err := s.write.PingContext(ctx); err != nil {
		return errors.Join(openProblem(path, err), s.write.Close())
	}
	s.read = openFile(path, "mode=ro", "_pragma=busy_timeout(10000)", "_pragma=cache_size(-16384)")
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
	if !opt.NoGroup {
		s.group = startGroup(s)
	}
	return nil
}

// private makes a database that is not there yet, readable for nobody else: SQLite would leave that to the umask, and gives the
// files beside it the rights of this one. The rights of one that is there are its owner's business.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func openFile(path string, params ...string) *sql.DB {
	return sql.OpenDB(sqliteFile{registered(), sqliteDSN(path, params...)})
}

// registered is the driver that database/sql knows, and no other one: what hooks into its connections, as a test does that dies at a
// change, hooks into ours too.
func registered() *sqlite.Driver {
	db, err := sql.Open("sqlite", "") // which connects to nothing
	if err != nil {
		panic(err) // unreachable: the driver is linked in
	}
	return db.Driver().(*sqlite.Driver)
}

// sqliteDSN always has the file: prefix: without it the driver drops mode=ro and opens the file for writing.
func sqliteDSN(path string, params ...string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return u.String() + "?" + strings.Join(params, "&")
}

func openProblem(path string, err error) error {
	e := countersign.Errorf(countersign.Unavailable, "cannot open the database %s", path)
	e.Err = err
	if isCorrupt(err) {
		return e.Try("the file is not a SQLite database, or it is damaged; restore a backup")
	}
	return e.Try("check that the folder exists and that this user may write to it: " + err.Error())
}

func (s *Store) openPostgres(ctx context.Context, dsn string, opt Options) error {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return countersign.Errorf(countersign.Invalid, "the database URL cannot be read").In("database").
			Try("expected postgres://host:5432/name, with user, password and an @ before the host where they are needed")
	}
	patient(config)
	config.MaxConns = int32(opt.PostgresPool)
	if config.MaxConns == 0 {
		config.MaxConns = 16
	}
	s.dialect = postgresDialect
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	s.write = sql.OpenDB(stdlib.GetPoolConnector(s.pool))
	s.write.SetMaxIdleConns(0) // the pgx pool keeps the connections
	s.read = s.write
	if err := s.pool.Ping(ctx); err != nil {
		s.pool.Close()
		return unreached(config.ConnConfig, err)
	}
	return nil
}

func unreached(c *pgx.ConnConfig, err error) error {
	e := countersign.Errorf(countersign.Unavailable, "cannot reach the database at %s:%d", c.Host, c.Port)
	e.Err = err
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "3D000" {
		e.Message = fmt.Sprintf("there is no database %q at %s:%d", c.Database, c.Host, c.Port)
		return e.Try("create it, or name another in the database URL")
	}
	return e.Try("is PostgreSQL running there, and do user and password fit?")
}

// isUnique reports whether the database refused a row because its key exists.
func isUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	code := sqliteCode(err)
	return code == sqlitelib.SQLITE_CONSTRAINT_UNIQUE || code == sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY
}

// isRetryable reports whether the same transaction may succeed when run again: PostgreSQL chose it as the victim of a
// deadlock or of a serialization conflict, or two transactions stored the same row at once, or its connection broke before it was to
// commit. It wrote nothing.
func isRetryable(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, errRaced) || errors.Is(err, errBroken) || errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}

var errRaced = errors.New("another transaction stored the same row at the same moment")

// raced marks an error as retryable if a row that was not there a moment ago was the reason.
func raced(err error) error {
	if isUnique(err) {
		return errors.Join(errRaced, err)
	}
	return err
}

func isFull(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "53100"
	}
	return sqliteCode(err)&0xff == sqlitelib.SQLITE_FULL
}

// isIO reports whether the disk failed, or refused to let a file grow.
func isIO(err error) bool { return sqliteCode(err)&0xff == sqlitelib.SQLITE_IOERR }

func isReadOnly(err error) bool { return sqliteCode(err)&0xff == sqlitelib.SQLITE_READONLY }

func isCorrupt(err error) bool {
	code := sqliteCode(err) & 0xff
	return code == sqlitelib.SQLITE_CORRUPT || code == sqlitelib.SQLITE_NOTADB
}

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"countersign"
)

// A PostgreSQL server may be restarted, fail over, or be cut off without a word. Nobody may wait for it for ever, on either side:
// here a connection that hears nothing is given up after some twenty seconds, and one whose server still answers the network but not us
// after a minute; there a session that fell silent within a transaction is ended, since the rows that it has locked are somebody's.
//
// A transaction that lost its connection before it was to commit has changed nothing, and is run again. One that lost it while it
// committed may have happened or not: ErrUnknown, and whoever did it must look.

// ErrUnknown means that the connection was lost while a transaction committed: it happened, or it did not.
var ErrUnknown = errors.New("whether it was committed is not known")

const (
	longestWrite = time.Minute      // a transaction that writes, lock waits and commit included
	silence      = 20 * time.Second // after which a peer that acknowledges nothing is gone
)

// silent is what a session tells the server: after how long it is gone itself. Not as parameters of the connection, which a pooler in
// between would refuse.
const silent = `SELECT set_config('idle_in_transaction_session_timeout', '30s', false), set_config('tcp_keepalives_idle', '10', false),
	set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false)`

// patient is the part of a connection's configuration by which either side notices that nobody is there any more.
func patient(config *pgxpool.Config) {
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second // else a server that accepts and says nothing is waited for for ever
	}
	given := config.ConnConfig.RuntimeParams
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := userTimeout(below(conn.PgConn().Conn())); err != nil {
			return fmt.Errorf("bound the silence of a connection: %w", err)
		}
		if given["idle_in_transaction_session_timeout"] != "" {
			return nil // whoever set it knows better
		}
		var settings pgx.Batch
		settings.Queue(silent)
		return conn.SendBatch(ctx, &settings).Close()
	}
}

// below is the connection that an encrypted one goes over.
func below[C any](connection C) C {
	if encrypted, ok := any(connection).(interface{ NetConn() C }); ok {
		return encrypted.NetConn()
	}
	return connection
}

// isLost reports whether err is about the connection, and not about what was sent over it.
func isLost(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P03" || pg.Code == "25P03" || strings.HasPrefix(pg.Code, "08")
	}
	var network interface { // net.Error
		error
		Timeout() bool
		Temporary() bool
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// broken marks an error of a transaction that had not come to its commit as retryable, if its connection is gone.
func broken(err error, conn *sql.Conn) error {
	if isLost(err) || gone(conn) {
		return errors.Join(errBroken, err)
	}
	return err
}

// unconnected marks an error of connecting as retryable, if somebody ended the connection before it was of use: a session can be killed in
// its first moment too. A server that says nothing at all has been waited for long enough.
func unconnected(err error) error {
	err = fmt.Errorf("begin: %w", err)
	var network interface { // net.Error
		error
		Timeout() bool
	}
	if !isLost(err) || errors.As(err, &network) && network.Timeout() {
		return err
	}
	return errors.Join(errBroken, err)
}

var errBroken = errors.New("the connection to the database was lost; nothing was changed")

func gone(conn *sql.Conn) bool {
	return errors.Is(conn.Raw(func(any) error { return nil }), driver.ErrBadConn)
}

// uncommitted says what an error of COMMIT means. Only the server's own word that it refused is one: the driver calls a connection that
// broke while it waited for the answer "safe to retry", as if nothing had been sent.
func uncommitted(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && !isLost(err) {
		return err
	}
	e := countersign.Errorf(countersign.Unavailable, "the connection to the database was lost at the last moment; whether this was kept is not known")
	e.Err = errors.Join(ErrUnknown, err)
	return e.Try("look before you do it again")
}

// tries is how often something is done before a lost connection is an error.
const tries = 5

// retry reports whether it is worth while to ask once more, on another connection. A server that restarts ends all of them: from the second
// loss on those that wait in the pool are not trusted either.
func retry(ctx context.Context, pool *pgxpool.Pool, try int, lost bool) bool {
	if lost && try > 0 {
		pool.Reset()
	}
	return lost && try+1 < tries && ctx.Err() == nil
}

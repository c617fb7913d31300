package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Tx is a transaction that is open for writing. It has one time, Now, for everything that is written in it.
type Tx struct {
	View
	Now   time.Time // UTC, whole microseconds: what the database keeps is what was hashed
	tx    *sql.Tx
	x     execer
	store *Store
	after []func() // run once, after the commit
}

// SQL is the transaction itself, for the queue, whose job commits with the case. What waits to be written is sent first; if
// that fails, the transaction is lost and Write says why.
func (t *Tx) SQL() *sql.Tx {
	if b, ok := t.x.(*batched); ok {
		b.send(context.Background())
	}
	return t.tx
}

// AfterCommit runs f once the transaction has committed, and never if it did not.
func (t *Tx) AfterCommit(f func()) { t.after = append(t.after, f) }

func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.x.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Write runs f in a transaction and commits it. If f fails or panics, or the commit does, nothing is left behind; a panic
// comes back as an error.
//
// f gets a context that is not cancelled with ctx: an interrupted statement would roll back the whole SQLite transaction,
// other people's work in the same commit included. f must be quick and touch nothing but the Tx; PostgreSQL may ask for it
// to be run again after a deadlock.
func (s *Store) Write(ctx context.Context, f func(context.Context, *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.group != nil {
		return explain(s.group.do(ctx, f))
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestWrite)
	defer cancel()
	var err error
	for try := range tries {
		if err = s.writeAlone(bounded, f); !isRetryable(err) {
			break
		}
		retry(bounded, s.pool, try, errors.Is(err, errBroken))
	}
	return explain(err)
}

func (s *Store) writeAlone(ctx context.Context, f func(context.Context, *Tx) error) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return unconnected(err)
	}
	defer conn.Close() // goes back to the pool
	begun := time.Now()
	raw, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return broken(fmt.Errorf("begin: %w", err), conn)
	}
	tx := s.tx(raw, conn)
	if err := tx.sent(ctx, tx.run(ctx, f)); err != nil {
		return errors.Join(broken(err, conn), rollback(raw))
	}
	if err := raw.Commit(); err != nil {
		return fmt.Errorf("commit: %w", uncommitted(err))
	}
	s.measured(1, time.Since(begun))
	tx.committed()
	return nil
}

// sent sends what still waits. Of two errors the earlier counts: what went wrong in a statement that waited, and not what
// came of it later.
func (t *Tx) sent(ctx context.Context, err error) error {
	b, ok := t.x.(*batched)
	switch {
	case !ok:
		return err
	case b.err != nil:
		return b.err
	case err != nil:
		return err
	}
	return b.send(ctx)
}

// tx is an open transaction, on PostgreSQL with writes that wait. conn is the connection it is on, on PostgreSQL only.
func (s *Store) tx(raw *sql.Tx, conn *sql.Conn) *Tx {
	var on interface {
		queryer
		execer
	} = raw
	if s.pool != nil {
		on = &batched{tx: raw, conn: conn}
	}
	return &Tx{View: View{q: on, d: s.dialect}, Now: s.now().UTC().Truncate(time.Microsecond), tx: raw, x: on, store: s}
}

func (t *Tx) committed() {
	for _, f := range t.after {
		f()
	}
}

// rollback ignores a transaction that the database has already ended by itself.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// run runs f, and asks under which schema it was run: on PostgreSQL with whatever waits for the commit.
func (t *Tx) run(ctx context.Context, f func(context.Context, *Tx) error) error {
	if err := guarded(ctx, t, f); err != nil {
		return err
	}
	return t.sameSchema(ctx)
}

// guarded runs f and makes an error of its panic: a bug in one unit must not take down the writer that others share.
func guarded(ctx context.Context, tx *Tx, f func(context.Context, *Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = countersign.Errorf(countersign.Internal, "panic in a transaction: %v", p)
		}
	}()
	return f(ctx, tx)
}

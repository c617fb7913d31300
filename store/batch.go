package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// On PostgreSQL a statement costs two process switches and four system calls besides its work, and that was most of what a
// case cost. So statements travel together where nothing between them depends on an answer: writes that are due by commit
// wait for the next read or the commit (Tx.later), and questions that are independent are asked at once (View.ask). SQLite
// runs in this process and has nothing to save: there both simply happen.

// scanner is a row of either driver.
type scanner interface{ Scan(...any) error }

// question is one query of several that are asked together; row is called for each row of its answer.
type question struct {
	text string
	args []any
	row  func(scanner) error
}

// asker is a connection on which questions travel together.
type asker interface {
	ask(context.Context, []question) error
}

// ask asks the questions, in order, and ends with the first error.
func (v View) ask(ctx context.Context, questions ...question) error {
	if together, ok := v.q.(asker); ok && len(questions) > 0 {
		return together.ask(ctx, questions)
	}
	for _, q := range questions {
		if err := v.askOne(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

func (v View) askOne(ctx context.Context, q question) error {
	rows, err := v.q.QueryContext(ctx, q.text, q.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := q.row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// later runs a statement whose answer nothing in this transaction waits for. done is told how many rows it changed, or its
// error, and decides what that means. On PostgreSQL that may be as late as the commit: Write then returns what done returned,
// and nothing was written.
func (t *Tx) later(ctx context.Context, done func(int64, error) error, text string, args ...any) error {
	if b, ok := t.x.(*batched); ok {
		b.waiting = append(b.waiting, waiting{text, args, done})
		return nil
	}
	return done(t.exec(ctx, text, args...))
}

type waiting struct {
	text string
	args []any
	done func(int64, error) error
}

// batched is a PostgreSQL transaction whose writes may wait. Whatever else is done on it sends them first. Their first
// error is kept: the transaction is lost then, and Write returns that error and no later one.
type batched struct {
	tx      *sql.Tx
	conn    *sql.Conn
	waiting []waiting
	err     error
}

func (b *batched) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := b.send(ctx); err != nil {
		return nil, err
	}
	return b.tx.QueryContext(ctx, text, args...)
}

// QueryRowContext cannot return an error of what was sent before; the caller may read on, and Write ends with the error.
func (b *batched) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	b.send(ctx)
	return b.tx.QueryRowContext(ctx, text, args...)
}

func (b *batched) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if err := b.send(ctx); err != nil {
		return nil, err
	}
	return b.tx.ExecContext(ctx, text, args...)
}

// send sends what waits, in one go.
func (b *batched) send(ctx context.Context) error {
	if len(b.waiting) == 0 || b.err != nil {
		return b.err
	}
	var batch pgx.Batch
	for _, s := range b.waiting {
		batch.Queue(s.text, s.args...)
	}
	b.err = b.on(func(conn *pgx.Conn) error { return settle(conn.SendBatch(ctx, &batch), b.waiting) })
	b.waiting = b.waiting[:0]
	return b.err
}

func settle(results pgx.BatchResults, sent []waiting) error {
	for _, s := range sent {
		tag, err := results.Exec()
		if err := s.done(tag.RowsAffected(), err); err != nil {
			results.Close() // the statements behind a failed one only say that it failed
			return err
		}
	}
	return results.Close()
}

func (b *batched) ask(ctx context.Context, questions []question) error {
	if err := b.send(ctx); err != nil {
		return err
	}
	return b.on(func(conn *pgx.Conn) error { return answer(conn.SendBatch(ctx, queued(questions)), questions) })
}

// on runs f on the transaction's own connection, below database/sql.
func (b *batched) on(f func(*pgx.Conn) error) (err error) {
	raw := b.conn.Raw(func(driver any) error {
		err = f(driver.(*stdlib.Conn).Conn())
		return nil // an error here would make database/sql throw the connection away
	})
	return errors.Join(err, raw)
}

// pooled is the PostgreSQL pool for reading. What is asked on a connection that has broken is asked again on another: a read may be
// repeated, as long as nobody has seen a part of its answer; then the database is said to be away.
type pooled struct {
	*sql.DB
	pool *pgxpool.Pool
}

func (p pooled) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	for try := 0; ; try++ {
		if rows, err := p.DB.QueryContext(ctx, text, args...); !retry(ctx, p.pool, try, isLost(err)) {
			return rows, err
		}
	}
}

func (p pooled) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	for try := 0; ; try++ {
		if row := p.DB.QueryRowContext(ctx, text, args...); !retry(ctx, p.pool, try, isLost(row.Err())) {
			return row
		}
	}
}

func (p pooled) ask(ctx context.Context, questions []question) error {
	seen := false
	for i, q := range questions {
		questions[i].row = func(row scanner) error { seen = true; return q.row(row) }
	}
	for try := 0; ; try++ {
		err := answer(p.pool.SendBatch(ctx, queued(questions)), questions)
		if isLost(err) && seen {
			return errors.Join(errBroken, err)
		}
		if !retry(ctx, p.pool, try, isLost(err)) {
			return err
		}
	}
}

func queued(questions []question) *pgx.Batch {
	var batch pgx.Batch
	for _, q := range questions {
		batch.Queue(q.text, q.args...)
	}
	return &batch
}

func answer(results pgx.BatchResults, questions []question) error {
	for _, q := range questions {
		if err := answerOne(results, q); err != nil {
			results.Close()
			return err
		}
	}
	return results.Close()
}

func answerOne(results pgx.BatchResults, q question) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := q.row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

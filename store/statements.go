package store

import (
	"context"
	"database/sql"
	"sync"
)

// statements keeps prepared statements of one pool, by their text. SQLite parses and plans a statement each time it is not
// prepared, which costs as much as running it; the PostgreSQL driver keeps its own and needs none of this.
//
// The pool that writes has one connection. While a transaction holds it nothing can be prepared on the pool, so a text that
// is new is run as it is, and prepared once the transaction has ended.
type statements struct {
	db  *sql.DB
	mu  sync.Mutex
	by  map[string]*sql.Stmt
	new []string
}

// Texts that are built with a number of rows in them come in many lengths; only so many, and only short ones, are kept.
const (
	mostStatements  = 300
	longestPrepared = 4000
)

func newStatements(db *sql.DB) *statements { return &statements{db: db, by: map[string]*sql.Stmt{}} }

// kept returns the prepared statement of a text, nil when there is none yet.
func (s *statements) kept(text string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt, seen := s.by[text]
	if !seen && len(s.by) < mostStatements && len(text) < longestPrepared {
		s.by[text] = nil
		s.new = append(s.new, text)
	}
	return stmt
}

// prepare prepares the texts that were met since the last time. A text that cannot be prepared goes on being run as it is.
func (s *statements) prepare(ctx context.Context) {
	s.mu.Lock()
	texts := s.new
	s.new = nil
	s.mu.Unlock()
	for _, text := range texts {
		if stmt, err := s.db.PrepareContext(ctx, text); err == nil {
			s.mu.Lock()
			s.by[text] = stmt
			s.mu.Unlock()
		}
	}
}

// prepared is a transaction, or with a nil tx the pool itself, that uses prepared statements where there are any.
type prepared struct {
	statements *statements
	tx         *sql.Tx
}

func (p prepared) stmt(ctx context.Context, text string) *sql.Stmt {
	stmt := p.statements.kept(text)
	if stmt == nil && p.tx == nil {
		p.statements.prepare(ctx)
		stmt = p.statements.kept(text)
	}
	if stmt != nil && p.tx != nil {
		return p.tx.StmtContext(ctx, stmt)
	}
	return stmt
}

func (p prepared) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt := p.stmt(ctx, text); stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return p.plain().QueryContext(ctx, text, args...)
}

func (p prepared) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if stmt := p.stmt(ctx, text); stmt != nil {
		return stmt.QueryRowContext(ctx, args...)
	}
	return p.plain().QueryRowContext(ctx, text, args...)
}

func (p prepared) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt := p.stmt(ctx, text); stmt != nil {
		return stmt.ExecContext(ctx, args...)
	}
	return p.plain().ExecContext(ctx, text, args...)
}

func (p prepared) plain() interface {
	queryer
	execer
} {
	if p.tx != nil {
		return p.tx
	}
	return p.statements.db
}

package store

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// sqliteFile opens connections to a SQLite file that prepare each statement once. SQLite parses and plans a statement each time
// it is not prepared, which costs as much as running it; the PostgreSQL driver keeps its own and needs none of this. It is done
// under database/sql, so that the queue's statements are prepared too, and those inside a transaction.
type sqliteFile struct {
	driver *sqlite.Driver
	dsn    string
}

func (f sqliteFile) Driver() driver.Driver { return f.driver }

func (f sqliteFile) Connect(context.Context) (driver.Conn, error) {
	conn, err := f.driver.Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return &sqliteConn{driverConn: conn.(driverConn), kept: map[string]*statement{}}, nil
}

// driverConn is what the SQLite driver's connections can do.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	sqlite.AuthorizerRegisterer
}

// sqliteConn keeps prepared statements by their text.
type sqliteConn struct {
	driverConn
	kept map[string]*statement
}

// Texts that are built with a number of rows in them come in many lengths; only so many, and only short ones, are kept.
const (
	mostStatements  = 300
	longestPrepared = 4000
)

// statement is prepared, and has one answer at a time: whoever asks while another is being read, asks anew.
type statement struct {
	driver.Stmt
	run     func(context.Context, []driver.NamedValue) (driver.Result, error)
	ask     func(context.Context, []driver.NamedValue) (driver.Rows, error)
	reading bool
}

// statement is the prepared statement of a text; nil when the text is to be run as it is.
func (c *sqliteConn) statement(ctx context.Context, text string) (*statement, error) {
	if s := c.kept[text]; s != nil && !s.reading {
		return s, nil
	} else if s != nil || len(text) >= longestPrepared || len(c.kept) == mostStatements {
		return nil, nil
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: stmt, run: stmt.(driver.StmtExecContext).ExecContext, ask: stmt.(driver.StmtQueryContext).QueryContext}
	c.kept[text] = s
	return s, nil
}

func (c *sqliteConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.driverConn.ExecContext(ctx, text, args)
	}
	return s.run(ctx, args)
}

func (c *sqliteConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.driverConn.QueryContext(ctx, text, args)
	}
	rows, err := s.ask(ctx, args)
	if err != nil {
		return nil, err
	}
	s.reading = true
	return answerRows{rows, s}, nil
}

// answerRows are the answer of a prepared statement.
type answerRows struct {
	driver.Rows
	of *statement
}

func (r answerRows) Close() error {
	r.of.reading = false
	return r.Rows.Close()
}

// Close gives the statements back with the connection.
func (c *sqliteConn) Close() error {
	for _, s := range c.kept {
		s.Close()
	}
	return c.driverConn.Close()
}

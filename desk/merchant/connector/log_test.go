package connector

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"testing"
)

// statementLog begins to write down what the reader's connections ask of the server from now on. What it returns gives the texts
// that were run, without the values that were sent beside them.
func (w world) statementLog(t *testing.T, s *Shop) func(t *testing.T) []string {
	t.Helper()
	switch w.d {
	case Postgres:
		return w.postgresLog(t)
	case MySQL:
		return w.mariaLog(t)
	}
	return sqliteLog(s)
}

// postgresLog has the server log every statement of the reader, and reads its log as the server's owner.
func (w world) postgresLog(t *testing.T) func(t *testing.T) []string {
	w.run(t, "ALTER ROLE "+w.role+" SET log_statement = 'all'")
	const file = "current_setting('unix_socket_directories') || '/server.log'"
	var before int64
	if err := w.owner.QueryRow("SELECT (pg_stat_file(" + file + ")).size").Scan(&before); err != nil {
		t.Fatalf("the server's log cannot be read: %v", err)
	}
	// Connections that are open keep the settings they began with.
	w.run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+w.role+"'")
	return func(t *testing.T) (all []string) {
		var text string
		if err := w.owner.QueryRow("SELECT pg_read_file("+file+", $1, 100000000)", before).Scan(&text); err != nil {
			t.Fatal(err)
		}
		mine := false // who else is on this server logs nothing that they run
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "\t") && mine {
				all[len(all)-1] += "\n" + line
				continue
			}
			mine = false
			for _, before := range []string{"LOG:  execute <unnamed>: ", "LOG:  statement: "} {
				if _, statement, ok := strings.Cut(line, before); ok {
					all, mine = append(all, statement), true
				}
			}
		}
		return all
	}
}

// mariaLog has the server write every statement into a table.
func (w world) mariaLog(t *testing.T) func(t *testing.T) []string {
	w.run(t, "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = 'ON'")
	t.Cleanup(func() { w.run(t, "SET GLOBAL general_log = 'OFF'") })
	return func(t *testing.T) (all []string) {
		// Prepare has the text as it was sent, Execute with the values put in for the log's reader, Query what had none.
		rows, err := w.owner.Query("SELECT argument FROM mysql.general_log WHERE command_type IN ('Prepare', 'Query') AND user_host LIKE CONCAT('%', ?, '%')", w.role)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
}

// sqliteLog stands where a server would: between the product and the driver.
func sqliteLog(s *Shop) func(t *testing.T) []string {
	path := sqlitePath(string(s.mapping.DSN))
	inner, err := dialSQLite(path, s.may)
	ear := &ear{}
	s.db = sql.OpenDB(listening{inner, ear})
	return func(t *testing.T) []string {
		if err != nil {
			t.Fatal(err)
		}
		return ear.heard
	}
}

// ear keeps what it heard. One test asks one thing after the other.
type ear struct{ heard []string }

type listening struct {
	driver.Connector
	ear *ear
}

func (l listening) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := l.Connector.Connect(ctx)
	return line{c, l.ear}, err
}

// line lets everything through Prepare: it has none of the shorter ways that a connection may have.
type line struct {
	driver.Conn
	ear *ear
}

func (l line) Prepare(text string) (driver.Stmt, error) {
	l.ear.heard = append(l.ear.heard, text)
	return l.Conn.Prepare(text)
}

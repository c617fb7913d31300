package connector

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign"
)

// other is the world's connection string with one part changed.
func other(t *testing.T, w world, change func(user, password, host, database *string)) DSN {
	t.Helper()
	if w.d == MySQL {
		c, err := mysql.ParseDSN(string(w.reader))
		if err != nil {
			t.Fatal(err)
		}
		change(&c.User, &c.Passwd, &c.Addr, &c.DBName)
		return DSN(c.FormatDSN())
	}
	u, err := url.Parse(string(w.reader))
	if err != nil {
		t.Fatal(err)
	}
	user, database := u.User.Username(), strings.TrimPrefix(u.Path, "/")
	password, _ := u.User.Password()
	change(&user, &password, &u.Host, &database)
	u.User, u.Path = url.UserPassword(user, password), "/"+database
	return DSN(u.String())
}

// nobodyThere is an address where nothing listens. A port that was free a moment ago would not do: another test may have it by now.
const nobodyThere = "127.0.0.1:1"

func TestAConnectionThatFailsSaysWhatToDo(t *testing.T) {
	closed := nobodyThere
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		for _, row := range []struct {
			name   string
			change func(user, password, host, database *string)
			kind   countersign.ErrorKind
			says   string
		}{
			{"a wrong password", func(_, password, _, _ *string) { *password = "hunter2" }, countersign.Unprocessed, "refused the user name or the password"},
			{"a user that is not there", func(user, _, _, _ *string) { *user = "hunter2" }, countersign.Unprocessed, "refused the user name or the password"},
			{"a host that nobody knows", func(_, _, host, _ *string) { *host = "hunter2.invalid:1" }, countersign.Unavailable, "check the host"},
			{"a server that is stopped", func(_, _, host, _ *string) { *host = closed }, countersign.Unavailable, "see whether it runs"},
			{"a database that is not there", func(_, _, _, database *string) { *database = "hunter2" }, countersign.Unprocessed, "check the name at the end"},
		} {
			t.Run(string(w.d)+"/"+row.name, func(t *testing.T) {
				m := Mapping{Driver: string(w.d), DSN: other(t, w, row.change)}
				_, err := Open(t.Context(), m)
				_, probed := Probe(t.Context(), m.Driver, m.DSN)
				for _, err := range []error{err, probed} {
					if countersign.KindOf(err) != row.kind || !strings.Contains(fmt.Sprint(err), row.says) {
						t.Errorf("the error is %v, want one of the kind %s that says %q", err, row.kind, row.says)
					}
					secretless(t, err, "hunter2", "secret word", "secret%20word", w.role)
				}
				all := Unreachable(err)
				if !strings.Contains(all.Refunds.Unread, row.says) || all.Order.Whole() {
					t.Errorf("unreachable is %+v", all)
				}
			})
		}
	}
}

// secretless looks at everything that could be printed of an error.
func secretless(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for err := err; err != nil; err = errors.Unwrap(err) {
		for _, text := range []string{fmt.Sprintf("%v", err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), fmt.Sprintf("%q", err)} {
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("the error shows %q: %s", s, text)
				}
			}
		}
	}
}

func TestAConnectionStringThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		driver string
		dsn    DSN
		says   string
	}{
		{Postgres, "postgres://u:hunter2@host:notaport/db", "this is not a connection string for PostgreSQL"},
		{Postgres, "host=h password='hunter2", "this is not a connection string for PostgreSQL"},
		{MySQL, "u:hunter2@tcp(host", "this is not a connection string for MySQL"},
		{MySQL, "u:hunter2@tcp(127.0.0.1:1)/", "names a database"},
		{MySQL, "u:hunter2@tcp(127.0.0.1:1)/db?tls=hunter2", "this is not a connection string for MySQL"},
		{SQLite, DSN(filepath.Join(dir, "hunter2.db")), "there is no such file"},
		{SQLite, DSN(dir), "this is not a file"},
		{SQLite, DSN(text), "the file is not a SQLite database"},
		{SQLite, "", "no connection string"},
		{"oracle", "hunter2", "not a kind of database"},
	} {
		t.Run(string(row.driver)+" "+row.says, func(t *testing.T) {
			_, err := Open(t.Context(), Mapping{Driver: row.driver, DSN: row.dsn})
			if err == nil || !strings.Contains(err.Error(), row.says) || countersign.KindOf(err) == countersign.Internal {
				t.Errorf("the error is %v, want one that says %q", err, row.says)
			}
			secretless(t, err, "hunter2")
		})
	}
	t.Run("an empty file is an empty database", func(t *testing.T) {
		s, err := Open(t.Context(), Mapping{Driver: SQLite, DSN: DSN(empty)})
		if err != nil || len(s.catalog.Tables) != 0 {
			t.Fatalf("%v, %v", s, err)
		}
		s.Close()
	})
}

// What a connection string says of settings and character sets would become statements; a question mark in a path a setting.
func TestAConnectionStringMakesNoSettings(t *testing.T) {
	w := mysqlWorld(t)
	w.make(t, odd...)
	m := w.mapping(t, oddEntities)
	m.DSN += "?charset=utf8mb4;DROP TABLE refund&multiStatements=true&interpolateParams=true&sql_mode=%27ANSI_QUOTES%27&parseTime=true"
	if all := w.open(t, m).Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
		t.Errorf("MySQL: %+v", all)
	}
	p := postgresWorld(t)
	p.make(t, odd...)
	m = p.mapping(t, oddEntities)
	m.DSN += "&schema=public&default_transaction_read_only=off&options=-c%20statement_timeout%3D0"
	if all := p.open(t, m).Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
		t.Errorf("PostgreSQL: %+v", all)
	}
	dir := filepath.Join(t.TempDir(), "a?mode=rwc#%41 b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := sqliteWorld(t)
	l.make(t, odd...)
	path := filepath.Join(dir, "shop.db")
	l.run(t, "VACUUM INTO '"+path+"'")
	m = l.mapping(t, oddEntities)
	m.DSN = DSN(path)
	if all := l.open(t, m).Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
		t.Errorf("SQLite: %+v", all)
	}
}

func TestReadingThatIsStoppedIsNoAbsence(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		all := s.Order(ctx, "42")
		if !strings.Contains(all.Refunds.Unread, "stopped before it was done") || all.Order.Whole() {
			t.Errorf("%+v", all)
		}
	})
}

// A shop's table may be locked for a migration, and its database busy. Neither keeps us for ever, and neither is an absence.
func TestALockedTableIsNotWaitedForForever(t *testing.T) {
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		t.Run(string(w.d), func(t *testing.T) {
			s := w.oddShop(t)
			c, err := w.owner.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			lock := map[dialect][]string{Postgres: {"BEGIN", "LOCK TABLE refund"}, MySQL: {"LOCK TABLES refund WRITE"}}[w.d]
			for _, text := range lock {
				if _, err := c.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			all := s.Order(t.Context(), "42")
			if !strings.Contains(all.Refunds.Unread, "locked the table") || len(all.Returns.All) != 1 {
				t.Errorf("%+v", all)
			}
			for _, text := range map[dialect][]string{Postgres: {"ROLLBACK"}, MySQL: {"UNLOCK TABLES"}}[w.d] {
				if _, err := c.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			if all := s.Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
				t.Errorf("afterwards: %+v", all.Refunds)
			}
		})
	}
}

package testdb

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPostgres(t *testing.T) {
	var first string
	t.Run("a test gets a database of its own", func(t *testing.T) {
		first = Postgres(t)
		second := Postgres(t)
		if first == second {
			t.Fatalf("two calls gave one database: %s", first)
		}
		open(t, "pgx", first, "CREATE TABLE mine (id BIGINT)")
		open(t, "pgx", second, "CREATE TABLE mine (id BIGINT)")
	})
	t.Run("the database is gone after the test", func(t *testing.T) {
		if first == "" {
			Postgres(t) // says why there was none
		}
		gone(t, "pgx", first, "does not exist")
	})
}

func TestMariaDB(t *testing.T) {
	var first string
	t.Run("a test gets a database of its own", func(t *testing.T) {
		first = MariaDB(t)
		second := MariaDB(t)
		if first == second {
			t.Fatalf("two calls gave one database: %s", first)
		}
		open(t, "mysql", first, "CREATE TABLE mine (id BIGINT UNSIGNED)")
		open(t, "mysql", second, "CREATE TABLE mine (id BIGINT UNSIGNED)")
	})
	t.Run("the database is gone after the test", func(t *testing.T) {
		if first == "" {
			MariaDB(t) // says why there was none
		}
		gone(t, "mysql", first, "Unknown database")
	})
}

func gone(t *testing.T, driver, dsn, says string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("connecting after the test gave %v, want %q", err, says)
	}
}

// open leaves its connection open, as a careless test would: the clean-up must manage all the same.
func open(t *testing.T, driver, dsn, statement string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestEngines(t *testing.T) {
	var seen []string
	t.Run("each engine gets a name that its driver understands", func(t *testing.T) {
		Engines(t, func(t *testing.T, database string) { seen = append(seen, database) })
	})
	if len(seen) == 0 || filepath.Ext(seen[0]) != ".db" {
		t.Fatalf("engines gave %q, want a SQLite file first", seen)
	}
	if len(seen) == 2 && !strings.HasPrefix(seen[1], "postgres") {
		t.Errorf("engines gave %q, want a postgres URL second", seen[1])
	}
}

// witness is a test that can be watched: what it would have been told is kept instead of ending the run.
type witness struct {
	testing.TB
	fatal, skip string
}

func (w *witness) Helper()           {}
func (w *witness) Fatal(args ...any) { w.fatal = args[0].(string); panic(w) }
func (w *witness) Skip(args ...any)  { w.skip = args[0].(string); panic(w) }

// watch runs f until it gives up or ends.
func (w *witness) watch(f func(testing.TB)) {
	defer func() { _ = recover() }()
	f(w)
}

func TestMissing(t *testing.T) {
	absent := func(t testing.TB) { Shared(t, "no such file") }
	noServer := func(t testing.TB) { Postgres(t) }
	noMariaDB := func(t testing.TB) { MariaDB(t) }
	noProgram := func(t testing.TB) { Program(t, "no-such-program") }
	for _, row := range []struct {
		name, ci, says string
		need           func(testing.TB)
	}{
		{"a data set that is not there is a skip at home", "", "no such file", absent},
		{"a data set that is not there fails where it counts", "true", "no such file", absent},
		{"a program that is not there is a skip at home", "", "no-such-program", noProgram},
		{"a program that is not there fails where it counts", "true", "no-such-program", noProgram},
		{"no server is a skip at home", "", "make test", noServer},
		{"no server fails where it counts", "true", "make test", noServer},
		{"nor is the other server, at home", "", "on MariaDB", noMariaDB},
		{"nor where it counts", "true", "on MariaDB", noMariaDB},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("CI", row.ci)
			t.Setenv(Server, "")
			t.Setenv(MariaServer, "")
			w := &witness{TB: t}
			w.watch(row.need)
			if got := w.fatal + w.skip; !strings.Contains(got, row.says) {
				t.Errorf("said %q, want a sentence with %q in it", got, row.says)
			}
			if failed := w.fatal != ""; failed != (row.ci == "true") {
				t.Errorf("failed: %v, skipped: %q, with CI=%q", failed, w.skip, row.ci)
			}
		})
	}
}

func TestRoot(t *testing.T) {
	if _, err := os.Stat(filepath.Join(Root(t), "internal", "testdb", "testdb.go")); err != nil {
		t.Errorf("the module's folder does not hold this package: %v", err)
	}
}

func TestProgram(t *testing.T) {
	t.Run("the first of several names that is there is taken", func(t *testing.T) {
		if got := Program(t, "no-such-program", "sh"); filepath.Base(got) != "sh" {
			t.Errorf("got %q, want sh", got)
		}
	})
}

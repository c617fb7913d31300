package store_test

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// newest is the version that this program migrates to.
func newest(t testing.TB, s *store.Store) int64 {
	t.Helper()
	return number(t, s, "SELECT MAX(version_id) FROM goose_db_version")
}

func TestMigrate(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		version := newest(t, s)
		if v := s.Migrated(); v.From != 0 || v.To != version || version == 0 {
			t.Errorf("opening an empty database went %+v, want from 0 to %d", v, version)
		}
		newCase(t, s, "D-1")
		t.Run("the second time it changes nothing", func(t *testing.T) {
			steps := number(t, s, "SELECT COUNT(*) FROM goose_db_version") + number(t, s, "SELECT COUNT(*) FROM river_migration")
			if v, err := s.Migrate(ctx); err != nil || v.From != version || v.To != version {
				t.Errorf("got %+v, %v", v, err)
			}
			again := open(t, database)
			if v := again.Migrated(); v.From != version || v.To != version {
				t.Errorf("opening it again went %+v", v)
			}
			if now := number(t, s, "SELECT COUNT(*) FROM goose_db_version") + number(t, s, "SELECT COUNT(*) FROM river_migration"); now != steps {
				t.Errorf("%d steps are on record, before it were %d", now, steps)
			}
			intact(t, again, 1, 1)
		})
		t.Run("a database of a newer program is refused, naming both versions, and left alone", func(t *testing.T) {
			exec(t, s, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)", version+7, true)
			_, err := store.Open(ctx, database, store.Options{})
			if countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), fmt.Sprintf("version %d, this program knows up to %d", version+7, version)) {
				t.Errorf("got %v", err)
			}
			if newest(t, s) != version+7 {
				t.Error("its version was changed")
			}
			intact(t, s, 1, 1)
		})
	})
}

func TestManyProgramsMayStartAtOnce(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		stores := make([]*store.Store, 6)
		for _, err := range parallel(len(stores), func(i int) (err error) {
			stores[i], err = store.Open(ctx, database, store.Options{PostgresPool: 4})
			return err
		}) {
			t.Error(err)
		}
		for i, s := range stores {
			if s == nil {
				continue
			}
			newCase(t, s, id(i))
			if i == len(stores)-1 {
				intact(t, s, int64(len(stores)), int64(len(stores)))
			}
		}
		for _, s := range stores {
			if s != nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// TestWhatPostgreSQLRefusesAtTheStartIsSaidPlainly: an operator reads what to do, and nothing was begun in the wrong place.
func TestWhatPostgreSQLRefusesAtTheStartIsSaidPlainly(t *testing.T) {
	at := func(database string, change func(*url.URL)) string {
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	searching := func(path string) func(*url.URL) {
		return func(u *url.URL) {
			q := u.Query()
			q.Set("search_path", path)
			u.RawQuery = q.Encode()
		}
	}
	refused := func(t *testing.T, database string, kind countersign.ErrorKind, says ...string) {
		t.Helper()
		s, err := store.Open(ctx, database, store.Options{})
		if err == nil {
			s.Close()
		}
		for _, part := range says {
			if countersign.KindOf(err) != kind || err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want it to say %q", err, part)
			}
		}
		if err != nil && strings.Contains(err.Error(), "SQLSTATE") {
			t.Errorf("an operator is told %v", err)
		}
	}
	database := testdb.Postgres(t)
	admin, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	run := func(t *testing.T, statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := admin.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	run(t, "CREATE SCHEMA other")
	t.Run("a user without rights", func(t *testing.T) {
		role := "r_" + strings.ToLower(rand.Text())
		run(t, "CREATE ROLE "+role+" LOGIN PASSWORD 'word'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		t.Cleanup(func() { run(t, "DROP OWNED BY "+role, "DROP ROLE "+role) })
		refused(t, at(database, func(u *url.URL) { u.User = url.UserPassword(role, "word") }), countersign.Unavailable, "permission denied for schema public", "owner")
	})
	t.Run("a database that is not there", func(t *testing.T) {
		refused(t, at(database, func(u *url.URL) { u.Path = "/nowhere" }), countersign.Unavailable, `no database "nowhere"`)
	})
	t.Run("a search_path to nothing", func(t *testing.T) {
		refused(t, at(database, searching("nowhere")), countersign.Unavailable, "search_path")
	})
	t.Run("a search_path that puts an empty schema before that of the tables", func(t *testing.T) {
		open(t, database)
		refused(t, at(database, searching("other,public")), countersign.Conflict, `in the schema "public"`, `"other" first`, "search_path=public")
		var begun int
		if err := admin.QueryRow("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'other'").Scan(&begun); err != nil || begun != 0 {
			t.Errorf("%d tables were made there: %v", begun, err)
		}
	})
	t.Run("but a schema of its own is one's own business", func(t *testing.T) {
		for range 2 {
			open(t, at(database, searching("other")))
			open(t, at(database, searching("other,public")))
		}
	})
}

package backup_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"countersign"
	"countersign/backup"
	"countersign/internal/testdb"
	"countersign/store"
)

// Case 62: a log that lies beside the target belongs to another database, and is not read into this one.
func TestAStaleLogBesideTheTargetIsPutAside(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	made := i.make(backup.Lock{})
	for range 5 { // these stay in the log, as after a kill
		i.grow()
	}
	target := testdb.SQLite(t)
	old := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		text, err := os.ReadFile(i.Database + suffix)
		if err == nil {
			err = os.WriteFile(target+suffix, text, 0o600)
		}
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: %d bytes (%v)", suffix, len(text), err)
		}
		old[suffix] = text
	}
	r, s := restore(t, made.Path, nil, target)
	if size, err := s.RecordSize(t.Context()); err != nil || size.Cases != 5 {
		t.Errorf("%d cases (%v), want the 5 of the backup", size.Cases, err)
	}
	for suffix, text := range old {
		kept, err := os.ReadFile(filepath.Join(r.Aside, filepath.Base(target)+suffix))
		if err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%q is not aside as it was (%v)", suffix, err)
		}
	}
	aside, err := store.Open(t.Context(), filepath.Join(r.Aside, filepath.Base(target)), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer aside.Close()
	if size, err := aside.RecordSize(t.Context()); err != nil || size.Cases != 10 {
		t.Errorf("the old database has %d cases (%v), want its 10", size.Cases, err)
	}
}

func TestNothingIsRestoredIntoADatabaseThatIsInUse(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		i := install(t, testdb.Postgres(t))
		made := i.make(backup.Lock{})
		_, err := into(t, made.Path, nil, i.Database)
		refused(t, err, countersign.Conflict, "is not empty")
		target := testdb.Postgres(t)
		session, err := store.OpenAsIs(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		_, err = into(t, made.Path, nil, target)
		refused(t, err, countersign.Conflict, "others are connected")
	})
	t.Run("the other engine", func(t *testing.T) {
		here, there := install(t, testdb.SQLite(t)), install(t, testdb.Postgres(t))
		_, err := into(t, here.make(backup.Lock{}).Path, nil, testdb.Postgres(t))
		refused(t, err, countersign.Invalid, "the backup is of SQLite")
		_, err = into(t, there.make(backup.Lock{}).Path, nil, testdb.SQLite(t))
		refused(t, err, countersign.Invalid, "the backup is of PostgreSQL")
	})
}

// An installation of the version before is restored by this one, and brought along.
func TestABackupOfAnOlderSchemaIsRestoredAndBroughtAlong(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		before := store.NewestSchema() - 1
		older(t, database, before)
		as, err := store.OpenAsIs(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		defer as.Close()
		made := (&installation{T: t, Source: backup.Source{Store: as, Database: database, Version: "before", Data: t.TempDir()}}).make(backup.Lock{})
		if made.Schema != before {
			t.Errorf("the backup has schema version %d, want %d", made.Schema, before)
		}
		if _, err := backup.Check(t.Context(), made.Path, nil, t.TempDir(), backup.Tools{}); err != nil {
			t.Errorf("it does not check: %v", err)
		}
		_, s := restore(t, made.Path, nil, other(t, database))
		if now, err := s.Schema(t.Context()); err != nil || now != store.NewestSchema() {
			t.Errorf("restored with schema version %d (%v), want %d", now, err, store.NewestSchema())
		}
	})
}

// older makes a database as an earlier version of this program left it.
func older(t *testing.T, database string, version int64) {
	t.Helper()
	driver, dialect, folder := "sqlite", goose.DialectSQLite3, "sqlite"
	if strings.HasPrefix(database, "postgres://") {
		driver, dialect, folder = "pgx", goose.DialectPostgres, "postgres"
	}
	db, err := sql.Open(driver, database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(dialect, db, os.DirFS("../store/migrations/"+folder), goose.WithDisableGlobalRegistry(true))
	if err == nil {
		_, err = provider.UpTo(t.Context(), version)
	}
	if err != nil {
		t.Fatal(err)
	}
}

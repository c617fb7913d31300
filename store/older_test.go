package store_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
)

// older makes a database as an earlier version of this program left it, and runs statements on it.
func older(t *testing.T, database string, version int64, statements ...string) {
	t.Helper()
	driver, dialect, folder, name := "sqlite", goose.DialectSQLite3, "sqlite", "file:"+database
	if strings.HasPrefix(database, "postgres://") {
		driver, dialect, folder, name = "pgx", goose.DialectPostgres, "postgres", database
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(dialect, db, os.DirFS("migrations/"+folder), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Package testdb gives a test the databases and data sets that it needs from outside the module: a fresh database on a real
// PostgreSQL or MariaDB server, a file for SQLite, the data that lies beside the checkout, a program to compare with.
//
// What is missing is a skip with a sentence that says how to get it, and under CI=true a failure: a run that is trusted
// never passes because it looked away. No other package of this module skips a test (internal/arch sees to it).
package testdb

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx
)

// Server is the variable that names the PostgreSQL server for tests, as a postgres:// URL of somebody who may create
// databases there. `make test` starts a private one and sets it.
const Server = "COUNTERSIGN_TEST_POSTGRES"

// Engines runs one sub-test per database engine, each with the name of an empty database of its own: a path for SQLite, a
// URL for PostgreSQL.
func Engines(t *testing.T, run func(t *testing.T, database string)) {
	t.Run("sqlite", func(t *testing.T) { run(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { run(t, Postgres(t)) })
}

// SQLite returns the path of a database file that does not exist yet and is gone after the test.
func SQLite(t testing.TB) string { return filepath.Join(t.TempDir(), "countersign.db") }

// Postgres returns the URL of a database that was created for this test and is dropped after it, open connections and all.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Server)
	if server == "" {
		missing(t, Server+" is not set, so nothing was tried on PostgreSQL: run `make test`, which starts a private server")
	}
	name := "test_" + strings.ToLower(rand.Text())
	administer(t, "pgx", server, "CREATE DATABASE "+name)
	t.Cleanup(func() { administer(t, "pgx", server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return named(t, server, name)
}

// administer runs one statement on a connection of its own: databases are not created inside transactions.
func administer(t testing.TB, driver, server, statement string) {
	t.Helper()
	db, err := sql.Open(driver, server)
	if err != nil {
		t.Fatalf("open the test server: %v", err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s on the test server: %v", statement, err)
	}
}

// named is the server's URL with another database in it.
func named(t testing.TB, server, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL: %v", Server, err)
	}
	u.Path = "/" + database
	return u.String()
}

// Shared returns the path of something in the data folder that lies beside the checkout: Shared(t, "data", "x.jsonl").
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root(t), "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		missing(t, "no "+path+", so the test that reads it was not run: it belongs in the folder shared beside the checkout")
	}
	return path
}

// Program returns the path of a program that a test runs beside ours: of the first of these names that is there.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "no "+strings.Join(names, " and no ")+" in PATH, so the test that runs it was not: `make test` installs it")
	return ""
}

// Root is the folder of the module that the test belongs to.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("find the module: no go.mod in this folder or above it")
		}
	}
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip("SKIPPED: " + what)
}

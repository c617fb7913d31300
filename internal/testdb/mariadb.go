package testdb

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// MariaServer is the variable that names the MariaDB server for tests, as its driver wants it (user:password@tcp(host:port)/),
// of somebody who may create databases and users there. `make test` starts a private one and sets it.
const MariaServer = "COUNTERSIGN_TEST_MARIADB"

// MariaDB returns the name, as the driver named mysql wants it, of a database that was created for this test and is dropped
// after it.
func MariaDB(t testing.TB) string {
	t.Helper()
	server := os.Getenv(MariaServer)
	if server == "" {
		missing(t, MariaServer+" is not set, so nothing was tried on MariaDB: run `make test`, which starts a private server")
	}
	config, err := mysql.ParseDSN(server)
	if err != nil {
		t.Fatalf("%s cannot be read: %v", MariaServer, err)
	}
	config.DBName = "test_" + strings.ToLower(rand.Text())
	administer(t, "mysql", server, "CREATE DATABASE "+config.DBName)
	// Whoever left a transaction open on one of its tables is waited for, but not for the day that is usual.
	t.Cleanup(func() {
		administer(t, "mysql", server, "SET STATEMENT lock_wait_timeout = 10 FOR DROP DATABASE "+config.DBName)
	})
	return config.FormatDSN()
}

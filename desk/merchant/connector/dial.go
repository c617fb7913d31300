package connector

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"countersign"
)

// What a shop's database is asked to bear: it has customers of its own to serve.
const (
	mostConnections = 4
	connectTimeout  = 5 * time.Second
	queryTimeout    = 5 * time.Second  // for one statement
	readTimeout     = 20 * time.Second // for all that one order needs
)

// dial makes a pool for a shop's database and connects nothing yet. Of the connection string it takes where to go and as whom,
// and nothing that would become a statement or a setting: those are ours.
func dial(kind string, dsn DSN, may *permitted) (*sql.DB, error) {
	if dsn == "" {
		return nil, countersign.Errorf(countersign.Invalid, "no connection string").In("dsn").Try("say where the database is")
	}
	var connector driver.Connector
	var err error
	switch kind {
	case SQLite:
		connector, err = dialSQLite(string(dsn), may)
	case Postgres:
		connector, err = dialPostgres(string(dsn))
	case MySQL:
		connector, err = dialMySQL(string(dsn))
	default:
		return nil, countersign.Errorf(countersign.Invalid, "%q is not a kind of database that can be read", shown(kind)).In("driver").Try("sqlite, postgres or mysql")
	}
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(mostConnections)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Minute)
	db.SetConnMaxLifetime(30 * time.Minute)
	return db, nil
}

// dialPostgres drops every parameter that the server would be given. Settings that matter are made in each transaction, where
// a pool between us and the server cannot lose them. Statements are not kept: a shop that changes a table would otherwise be
// told that a cached plan must not change its result.
func dialPostgres(dsn string) (driver.Connector, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil { // its text may hold the password
		return nil, countersign.Errorf(countersign.Invalid, "this is not a connection string for PostgreSQL").In("dsn").
			Try("write postgres://reader:password@host:5432/database")
	}
	config.RuntimeParams = map[string]string{"application_name": "countersign"}
	config.DefaultQueryExecMode, config.StatementCacheCapacity, config.DescriptionCacheCapacity = pgx.QueryExecModeExec, 0, 0
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	return stdlib.GetConnector(*config), nil
}

// dialMySQL builds the configuration anew: the driver runs a connection string's own parameters and character sets as text.
func dialMySQL(dsn string) (driver.Connector, error) {
	given, err := mysql.ParseDSN(dsn)
	if err != nil || given.DBName == "" {
		return nil, countersign.Errorf(countersign.Invalid, "this is not a connection string for MySQL or MariaDB that names a database").In("dsn").
			Try("write reader:password@tcp(host:3306)/database")
	}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = given.User, given.Passwd, given.Net, given.Addr, given.DBName
	c.TLS, c.TLSConfig, c.ServerPubKey = given.TLS, given.TLSConfig, given.ServerPubKey
	c.AllowCleartextPasswords = given.AllowCleartextPasswords
	c.AllowFallbackToPlaintext = given.AllowFallbackToPlaintext // of tls=preferred
	c.Timeout, c.ReadTimeout, c.WriteTimeout = connectTimeout, readTimeout, readTimeout
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, countersign.Errorf(countersign.Invalid, "the TLS settings of the connection string cannot be used").In("dsn").Try("write tls=true, tls=preferred or leave it out")
	}
	return connector, nil
}

// dialSQLite opens a file that is there, for reading alone. Without file: in front, SQLite would take ?mode=ro for a part of
// the file's name and open it for writing.
func dialSQLite(dsn string, may *permitted) (driver.Connector, error) {
	path := sqlitePath(dsn)
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return nil, countersign.Errorf(countersign.Unprocessed, "there is no such file").In("dsn").Try("check the path, as this program sees it")
	case err != nil:
		return nil, countersign.Errorf(countersign.Unprocessed, "the file cannot be opened").In("dsn").Try("let this program's user read it and its folder")
	case !info.Mode().IsRegular():
		return nil, countersign.Errorf(countersign.Unprocessed, "this is not a file").In("dsn").Try("name the database file itself")
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_query_only=1&_busy_timeout=2000"}
	if !strings.HasPrefix(path, "/") {
		name.Path, name.Opaque = "", (&url.URL{Path: path}).EscapedPath()
	}
	d := &sqlite.Driver{} // one of our own: what is hooked to it watches this shop's connections and nobody else's
	d.RegisterConnectionHook(may.watch)
	return door{d, name.String()}, nil
}

// sqlitePath is the file of a connection string that is a path, or a file: URI with settings that are not its to make.
func sqlitePath(dsn string) string {
	rest, isURI := strings.CutPrefix(dsn, "file:")
	if !isURI {
		return dsn
	}
	rest, _, _ = strings.Cut(rest, "?")
	if strings.HasPrefix(rest, "///") {
		rest = rest[2:]
	}
	if path, err := url.PathUnescape(rest); err == nil {
		return path
	}
	return rest
}

// door opens connections through a driver that nobody registered.
type door struct {
	driver *sqlite.Driver
	name   string
}

func (d door) Connect(context.Context) (driver.Conn, error) { return d.driver.Open(d.name) }
func (d door) Driver() driver.Driver                        { return d.driver }

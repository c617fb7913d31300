package connector

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign/internal/testdb"
)

// world is a shop of this test's own: its owner's connection, and what a reader of it is told.
type world struct {
	d      dialect
	owner  *sql.DB
	reader DSN
	role   string // empty in SQLite
}

// engines runs a sub-test per kind of database, each in an empty one of its own that has a role which may only read.
func engines(t *testing.T, run func(t *testing.T, w world)) {
	t.Run("sqlite", func(t *testing.T) { run(t, sqliteWorld(t)) })
	t.Run("postgres", func(t *testing.T) { run(t, postgresWorld(t)) })
	t.Run("mysql", func(t *testing.T) { run(t, mysqlWorld(t)) })
}

func sqliteWorld(t testing.TB) world {
	path := testdb.SQLite(t)
	return world{d: SQLite, owner: ownerOf(t, "sqlite", "file:"+path), reader: DSN(path)}
}

func postgresWorld(t testing.TB) world {
	dsn := testdb.Postgres(t)
	w := world{d: Postgres, owner: ownerOf(t, "pgx", dsn), role: "reader_" + strings.ToLower(rand.Text())}
	w.run(t, "CREATE ROLE "+w.role+" LOGIN PASSWORD 'secret word'", "GRANT USAGE ON SCHEMA public TO "+w.role,
		"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO "+w.role)
	t.Cleanup(func() { // a role that still has a right cannot be dropped
		w.run(t, "DROP OWNED BY "+w.role, "DROP ROLE "+w.role)
	})
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(w.role, "secret word")
	w.reader = DSN(u.String())
	return w
}

func mysqlWorld(t testing.TB) world {
	dsn := testdb.MariaDB(t)
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	w := world{d: MySQL, owner: ownerOf(t, "mysql", dsn), role: "r" + strings.ToLower(rand.Text())[:20]}
	w.run(t, "CREATE USER "+w.role+" IDENTIFIED BY 'secret word'", "GRANT SELECT, SHOW VIEW ON "+config.DBName+".* TO "+w.role)
	t.Cleanup(func() { w.run(t, "DROP USER "+w.role) })
	config.User, config.Passwd = w.role, "secret word"
	w.reader = DSN(config.FormatDSN())
	return w
}

func ownerOf(t testing.TB, driver, dsn string) *sql.DB {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// run has the owner run statements.
func (w world) run(t testing.TB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := w.owner.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// spell puts this engine's types and quotes into a text: {text}, and «name» for a name.
func (w world) spell(text string) string {
	types := map[dialect][]string{
		SQLite:   {"{id}", "INTEGER", "{text}", "TEXT", "{money}", "NUMERIC", "{time}", "TEXT", "{instant}", "TEXT", "{flag}", "INTEGER", "{state}", "TEXT", "{json}", "TEXT"},
		Postgres: {"{id}", "bigint", "{text}", "text", "{money}", "numeric(20,6)", "{time}", "timestamp", "{instant}", "timestamptz", "{flag}", "smallint", "{state}", "text", "{json}", "jsonb"},
		MySQL: {"{id}", "bigint unsigned", "{text}", "varchar(190)", "{money}", "decimal(20,6)", "{time}", "datetime", "{instant}", "timestamp NULL", "{flag}", "tinyint(1)",
			"{state}", "enum('new','paid','sent','gone')", "{json}", "json"},
	}
	text = strings.NewReplacer(types[w.d]...).Replace(text)
	for {
		before, rest, ok := strings.Cut(text, "«")
		if !ok {
			return text
		}
		name, after, _ := strings.Cut(rest, "»")
		text = before + w.d.quoted(name) + after
	}
}

func (w world) make(t testing.TB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		w.run(t, w.spell(s))
	}
}

// mapping reads a mapping as a file would hold it, for this engine.
func (w world) mapping(t testing.TB, entities string) Mapping {
	t.Helper()
	m, err := ParseMapping([]byte(`{"name":"shop","driver":"` + string(w.d) + `","zone":"Africa/Lagos","currency":"USD","unit":"major","entities":` + entities + `}`))
	if err != nil {
		t.Fatal(err)
	}
	m.DSN = w.reader
	return m
}

func (w world) open(t testing.TB, m Mapping) *Shop {
	t.Helper()
	s, err := Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// odd is a shop whose names no statement would survive unquoted: reserved words, both kinds of quotes, a comment, a blank.
var odd = []string{
	"CREATE TABLE «order» («id» {id} PRIMARY KEY, «number» {text}, «select» {text}, «e\"mail`» {text}, «placed» {time}, «total» {money}, «cur» {text}, «to;--» {text})",
	"CREATE TABLE «pay\"ment`s» («id» {id} PRIMARY KEY, «order» {id}, «amount» {money}, «state» {state}, «at» {instant}, «ref» {text})",
	"CREATE TABLE «par cels» («id» {text}, «order_id» {id}, «by» {text}, «track» {text}, «sent» {time}, «came» {time})",
	"CREATE TABLE «charge» («id» {id} PRIMARY KEY, «pay_id» {id}, «cur» {text})",
	"CREATE TABLE «refund» («id» {id} PRIMARY KEY, «charge» {id}, «ref» {text}, «amount» {money}, «flag» {flag}, «when» {time}, «gone» {time})",
	"CREATE TABLE «return» («id» {text} PRIMARY KEY, «order_id» {id}, «status» {text}, «opened» {time}, «why» {text})",
	"INSERT INTO «order» VALUES (42, 'A-42', 'open', 'a@example.com', '2026-05-13 16:12:08', 87.957975, 'usd', 'Old Road 1')",
	"INSERT INTO «order» VALUES (43, 'a-42', 'open', 'b@example.com', '2026-05-13 00:00:00', 20, 'USD', NULL)",
	"INSERT INTO «pay\"ment`s» VALUES (7, 42, 50.000000, 'paid', '2026-05-13 16:12:08', 'ch_1A'), (10, 42, 37.96, 'gone', NULL, NULL), (11, 43, 20, 'paid', NULL, 'ch_1a')",
	"INSERT INTO «par cels» VALUES ('p2', 42, 'DHL', 'T2', '2026-05-14 10:00:00', NULL), ('p1', 42, 'DHL', 'T1', '2026-05-14 10:00:00', '2026-05-16 08:30:00'), ('p3', 42, 'DHL', NULL, NULL, NULL)",
	"INSERT INTO «charge» VALUES (1, 7, 'usd'), (2, 7, 'usd'), (3, 11, 'usd')",
	"INSERT INTO «refund» VALUES (1, 1, 'r1', 12.50, 0, '2026-05-20 09:00:00', NULL), (2, 1, 'r1', 12.50, 1, '2026-05-21 09:00:00', NULL), (3, 2, 'r2', 5, 2, NULL, NULL), (4, 2, 'r3', 5, 1, NULL, '2026-05-21 09:00:00')",
	"INSERT INTO «return» VALUES ('x', 42, 'open', '2026-05-18 12:00:00', ' it broke ')",
}

const oddEntities = `{
 "order": {"table":"order","key":"id","columns":{"number":"number","status":"select","email":"e\"mail` + "`" + `","placed_at":"placed","total":"total","currency":"cur","shipping_address":"to;--"}},
 "payment": {"table":"pay\"ment` + "`" + `s","order_key":"order","columns":{"id":"id","amount":"amount","status":"state","paid_at":"at","reference":"ref"},"states":{"paid":["paid"],"failed":["gone"]}},
 "fulfillment": {"table":"par cels","order_key":"order_id","columns":{"id":"id","carrier":"by","tracking":"track","shipped_at":"sent","delivered_at":"came"}},
 "refund": {"table":"refund","join":[{"table":"charge","on":"charge = id"},{"table":"pay\"ment` + "`" + `s","on":"pay_id = id","order_key":"order"}],
   "where":{"column":"gone","is_null":true},
   "columns":{"id":"id","reference":"ref","amount":"amount","status":"flag","refunded_at":"when","currency":"charge.cur"},"states":{"returned":["1"],"not_returned":["0"]}},
 "return": {"table":"return","order_key":"order_id","columns":{"id":"id","status":"status","opened_at":"opened","reason":"why"},"states":{"open":["open"],"closed":["done"]}}}`

// oddShop is that shop, filled and opened.
func (w world) oddShop(t testing.TB) *Shop {
	t.Helper()
	w.make(t, odd...)
	return w.open(t, w.mapping(t, oddEntities))
}

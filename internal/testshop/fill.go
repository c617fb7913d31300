package testshop

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"
)

// table is what goes into one table of a shop.
type table struct {
	name    string
	columns []string
	rows    [][]any
}

func (tb *table) add(values ...any) { tb.rows = append(tb.rows, values) }

// database is a shop that is being filled.
type database struct {
	testing.TB
	db *sql.DB
	// place is the n-th placeholder of a statement, from 1.
	place func(n int) string
}

func dollar(n int) string { return "$" + strconv.Itoa(n) }

func question(int) string { return "?" }

// connect opens a database for the length of the test.
func connect(t testing.TB, driver, dsn string, place func(int) string) database {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatalf("open the shop: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return database{t, db, place}
}

func (d database) run(statement string, args ...any) {
	d.Helper()
	if _, err := d.db.Exec(statement, args...); err != nil {
		d.Fatalf("fill the shop: %s: %v", strings.SplitN(statement, "\n", 2)[0], err)
	}
}

// fill writes the tables, 500 rows a statement: SQLite and MariaDB take thousands of values at once, PostgreSQL 65,535.
func (d database) fill(tables ...*table) {
	d.Helper()
	for _, tb := range tables {
		for rest := tb.rows; len(rest) > 0; {
			some := rest[:min(500, len(rest))]
			rest = rest[len(some):]
			d.run(d.insert(tb, len(some)), flat(some)...)
		}
	}
}

func (d database) insert(tb *table, rows int) string {
	var groups []string
	n := 0
	for range rows {
		var places []string
		for range tb.columns {
			n++
			places = append(places, d.place(n))
		}
		groups = append(groups, "("+strings.Join(places, ", ")+")")
	}
	return "INSERT INTO " + tb.name + " (" + strings.Join(tb.columns, ", ") + ") VALUES " + strings.Join(groups, ", ")
}

func flat(rows [][]any) (values []any) {
	for _, row := range rows {
		values = append(values, row...)
	}
	return values
}

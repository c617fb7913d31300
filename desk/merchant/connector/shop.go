package connector

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Shop is a shop's database, read through its mapping. It is safe for use by many at once, and has at most four connections.
type Shop struct {
	mapping  Mapping
	d        dialect
	maria    bool // MariaDB, which calls its time limit something else than MySQL
	db       *sql.DB
	may      *permitted
	database string // its name, where a probe has asked for it
	catalog  Catalog
	routes   map[Kind]route
	wrong    map[Kind][]*countersign.Error // with the kinds that have no way
	bounds   bounds
}

// bounds are what a read may cost the shop.
type bounds struct {
	query time.Duration // one statement
	read  time.Duration // all of them
	rows  int           // of one kind
}

var usual = bounds{query: queryTimeout, read: readTimeout, rows: 500}

// Open connects to a shop's database and reads its catalog. The mapping may be half done: a kind of record that cannot be read
// with it is said to be unread when it is asked for. An error says what to do, and holds nothing of the connection string.
//
// What a role may do that it should not is asked by Probe, once, when a mapping is set up.
func Open(ctx context.Context, m Mapping) (*Shop, error) {
	s, err := connect(ctx, m)
	if err != nil {
		return nil, err
	}
	if s.catalog, err = s.Catalog(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.survey()
	return s, nil
}

// connect finds out what kind of server it is that answers.
func connect(ctx context.Context, m Mapping) (s *Shop, err error) {
	s = &Shop{mapping: m, d: dialect(m.Driver), may: &permitted{}, bounds: usual}
	if s.db, err = dial(m.Driver, m.DSN, s.may); err != nil || s.d != MySQL {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.bounds.read)
	defer cancel()
	err = ask(ctx, s.db, statement{sql: "SELECT VERSION()"}, func(row []cell) { s.maria = strings.Contains(strings.ToLower(row[0].text), "maria") })
	if err != nil {
		return nil, errors.Join(failure(err), s.Close())
	}
	return s, nil
}

// survey finds the way to each kind of record, once: a mapping with a name that is not there leaves that kind without one.
func (s *Shop) survey() {
	s.routes, s.wrong = map[Kind]route{}, map[Kind][]*countersign.Error{}
	var tables []Table
	for k := range s.mapping.Entities {
		s.routes[k], s.wrong[k] = s.mapping.route(k, s.catalog)
		tables = append(tables, s.routes[k].tables...)
	}
	s.may.allow(s.catalog, tables)
}

// way is the way to a kind of record, or why there is none.
func (s *Shop) way(k Kind) (route, error) {
	if len(s.wrong[k]) > 0 {
		return route{}, s.wrong[k][0]
	}
	return s.routes[k], nil
}

// Close closes the connections. What is being read ends with an error.
func (s *Shop) Close() error { return s.db.Close() }

// Catalog reads what the database has now. The shop's own reads keep to what it had when it was opened.
func (s *Shop) Catalog(ctx context.Context) (c Catalog, err error) {
	if s.d == SQLite { // by a connection that may ask about every table, and is closed when it has
		db, err := dial(s.mapping.Driver, s.mapping.DSN, &permitted{onlySchema: true})
		if err != nil {
			return Catalog{}, err
		}
		defer db.Close()
		s = &Shop{d: s.d, db: db, bounds: s.bounds}
	}
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		c, err = catalogOf(ctx, s.d, tx)
		return err
	})
	if err == nil && c.ours() {
		return Catalog{}, countersign.Errorf(countersign.Unprocessed, "this is a database of this program, and no shop's").In("dsn").
			Try("name the shop's own database, or a role that sees its tables alone")
	}
	return c, err
}

// ours reports whether these are the tables of this program. Through its own database, whoever may connect a shop would read what no
// page shows: what passwords and sessions are kept as, and every record.
func (c Catalog) ours() bool {
	own := 0
	for _, name := range []string{"record_heads", "river_job", "goose_db_version"} {
		if slices.ContainsFunc(c.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) }) {
			own++
		}
	}
	return own == 3
}

// Unreachable is what is known of an order when its shop's database could not be opened at all: nothing, and why.
func Unreachable(err error) shop.Records {
	return unread(sentence(failure(err)))
}

func unread(why string) shop.Records {
	return shop.Records{
		Order: shop.Rows[shop.Order]{Unread: why}, Payments: shop.Rows[shop.Payment]{Unread: why},
		Fulfillments: shop.Rows[shop.Fulfillment]{Unread: why}, Refunds: shop.Rows[shop.Refund]{Unread: why},
		Returns: shop.Rows[shop.Return]{Unread: why},
	}
}

// sentence is an error as one: what happened, and what to do.
func sentence(e *countersign.Error) string {
	text := e.Message
	if e.Field != "" && e.Field != "dsn" {
		text = e.Field + ": " + text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// inside runs read in a transaction that can only read, and sees one state of the database however long it takes.
func (s *Shop) inside(ctx context.Context, read func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.bounds.read)
	defer cancel()
	tx, err := s.db.BeginTx(ctx, s.d.snapshot())
	if err != nil {
		return failure(err)
	}
	defer tx.Rollback() // nothing was written
	if err := s.settle(ctx, tx); err != nil {
		return failure(err)
	}
	if err := read(ctx, tx); err != nil {
		return failure(err)
	}
	return nil
}

// snapshot is how a transaction begins. A SQLite file is open for reading alone, and its transactions are snapshots as they are.
func (d dialect) snapshot() *sql.TxOptions {
	if d == SQLite {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// settle makes the settings on which reading relies: how long a statement and a lock may take, UTC, and that a function is the
// database's own. In PostgreSQL they end with the transaction. There row security is told to refuse what it would filter: a refund that a policy
// hides would otherwise be one that was never made.
func (s *Shop) settle(ctx context.Context, tx *sql.Tx) error {
	ms := s.bounds.query.Milliseconds()
	switch {
	case s.d == Postgres:
		return tell(ctx, tx, statement{sql: fmt.Sprintf("SELECT pg_catalog.set_config('statement_timeout', '%d', true), ", ms) +
			"pg_catalog.set_config('lock_timeout', '2000', true), pg_catalog.set_config('idle_in_transaction_session_timeout', '60000', true), " +
			"pg_catalog.set_config('search_path', 'pg_catalog, ' || pg_catalog.current_setting('search_path'), true), pg_catalog.set_config('TimeZone', 'UTC', true), " +
			"pg_catalog.set_config('DateStyle', 'ISO', true), pg_catalog.set_config('bytea_output', 'hex', true), " +
			"pg_catalog.set_config('row_security', 'off', true)"})
	case s.d == MySQL:
		limit := fmt.Sprintf("max_execution_time = %d", ms)
		if s.maria {
			limit = fmt.Sprintf("max_statement_time = %d / 1000", ms)
		}
		return tell(ctx, tx, statement{sql: "SET SESSION time_zone = '+00:00', sql_mode = '', lock_wait_timeout = 2, innodb_lock_wait_timeout = 2, " + limit})
	}
	return nil
}

// tell runs a statement whose answer nobody needs.
func tell(ctx context.Context, tx *sql.Tx, s statement) error {
	_, err := tx.ExecContext(ctx, s.sql, s.args...)
	return err
}

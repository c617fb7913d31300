package connector

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"countersign"
)

// Rights are what the role of a connection may do in a shop's database.
type Rights struct {
	Driver string
	Server string   // "PostgreSQL 15.18", "10.11.6-MariaDB", "SQLite 3.54.1"
	Role   string   // as the server knows it, empty in SQLite
	Writes []string // what it may do that a reader must not, as parts of a sentence; empty when it can only read
	Advice []string // what the owner of the database runs to make a role that can only read; empty when this one is
}

// Probe connects and asks what the role may do: from the server's own lists of rights, and by asking for the plan of an UPDATE
// of its tables, which checks the right and changes nothing. A role that can write is refused with an error of the kind
// unprocessable; the rights then say what it may do and what to run instead.
//
// A SQLite file has no roles: it is opened for reading, and what holds every statement to that is tried.
func Probe(ctx context.Context, driver string, dsn DSN) (Rights, error) {
	rights := Rights{Driver: driver}
	s, err := connect(ctx, Mapping{Driver: driver, DSN: dsn})
	if err != nil {
		return rights, err
	}
	defer s.Close()
	if s.catalog, err = s.Catalog(ctx); err != nil {
		return rights, err
	}
	s.may.allow(s.catalog, nil)
	if err := s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.ask(ctx, tx, &rights) }); err != nil {
		return rights, err
	}
	if err := s.tryWriting(ctx, &rights); err != nil {
		return rights, err
	}
	if len(rights.Writes) == 0 {
		return rights, nil
	}
	rights.Advice = s.advice(rights)
	return rights, countersign.Errorf(countersign.Unprocessed, "this connection could change the shop's database: it %s", enumerated(rights.Writes)).
		In("dsn").Try("use a role that can only read; the owner of the database makes one with: " + strings.Join(rights.Advice, " "))
}

// enumerated is the first of several things that a role may do.
func enumerated(all []string) string {
	const most = 4
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:most], ", ") + " and more"
}

// ask reads what the server says of the role.
func (s *Shop) ask(ctx context.Context, tx *sql.Tx, r *Rights) error {
	first := func(row []cell) { r.Server, r.Role, s.database = row[0].text, row[1].text, row[2].text }
	switch s.d {
	case Postgres:
		if err := ask(ctx, tx, statement{sql: "SELECT 'PostgreSQL ' || pg_catalog.current_setting('server_version'), current_user, current_database()"}, first); err != nil {
			return err
		}
		return ask(ctx, tx, statement{sql: postgresWrites}, func(row []cell) { r.Writes = append(r.Writes, shown(row[0].text)) })
	case MySQL:
		if err := ask(ctx, tx, statement{sql: "SELECT VERSION(), CURRENT_USER(), DATABASE()"}, first); err != nil {
			return err
		}
		return ask(ctx, tx, statement{sql: "SHOW GRANTS"}, func(row []cell) { r.Writes = append(r.Writes, granted(row[0].text)...) })
	}
	return ask(ctx, tx, statement{sql: "SELECT 'SQLite ' || sqlite_version(), '', ''"}, first)
}

// postgresWrites lists what the role, or a role that it may become, could do besides reading. A role that it is a member of
// without inheriting is one SET ROLE away. Before version 15 everybody may create tables in the schema public.
const postgresWrites = `
	WITH me AS (SELECT r.* FROM pg_roles AS r WHERE pg_has_role(current_user, r.oid, 'MEMBER')),
	there AS (SELECT c.oid, c.relname, c.relkind, c.relowner, n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%')
	SELECT 'is a superuser' FROM me WHERE rolsuper
	UNION ALL SELECT 'may make roles' FROM me WHERE rolcreaterole
	UNION ALL SELECT 'may make databases' FROM me WHERE rolcreatedb
	UNION ALL SELECT 'may copy the server' FROM me WHERE rolreplication
	UNION ALL SELECT 'is a member of ' || rolname FROM me WHERE rolname IN ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files',
		'pg_execute_server_program', 'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'pg_database_owner')
	UNION ALL SELECT CASE WHEN has_schema_privilege('public', oid, 'CREATE') THEN 'may, like everybody, create tables in the schema '
		ELSE 'may create tables in the schema ' END || nspname FROM pg_namespace
		WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema' AND EXISTS (SELECT FROM me WHERE has_schema_privilege(me.oid, pg_namespace.oid, 'CREATE'))
	UNION ALL SELECT 'may create schemas in this database' WHERE EXISTS (SELECT FROM me WHERE has_database_privilege(me.oid, current_database(), 'CREATE'))
	UNION ALL (SELECT 'owns ' || relname FROM there WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relowner IN (SELECT oid FROM me) ORDER BY relname LIMIT 20)
	UNION ALL (SELECT 'may change ' || relname FROM there WHERE relkind IN ('r', 'p', 'v', 'f') AND EXISTS (SELECT FROM me
		WHERE has_table_privilege(me.oid, there.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER') OR has_any_column_privilege(me.oid, there.oid, 'INSERT, UPDATE'))
		ORDER BY relname LIMIT 20)
	UNION ALL (SELECT 'may move the sequence ' || relname FROM there WHERE relkind = 'S' AND EXISTS (SELECT FROM me
		WHERE has_sequence_privilege(me.oid, there.oid, 'USAGE, UPDATE')) ORDER BY relname LIMIT 20)`

// reading are the rights of MySQL with which nothing can be changed. Everything else is refused, what future versions add too.
var reading = []string{"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "REFERENCES"}

// granted is what a line of SHOW GRANTS lets a role do besides reading. The line itself is never shown: in MariaDB it ends with
// the hash of the password.
func granted(line string) (all []string) {
	rest, ok := strings.CutPrefix(line, "GRANT ")
	if !ok {
		return nil // SET DEFAULT ROLE says nothing that the grant of the role does not
	}
	rights, to, ok := strings.Cut(rest, " ON ")
	if !ok {
		role, _, _ := strings.Cut(rest, " TO ")
		return []string{"may become the role " + shown(role) + ", whose rights cannot be seen from here"}
	}
	on, _, _ := strings.Cut(to, " TO ")
	for _, right := range privileges(rights) {
		if !slices.Contains(reading, right) {
			all = append(all, "has "+shown(right)+" on "+shown(on))
		}
	}
	return all
}

// privileges splits at the commas that are not between the parentheses of a list of columns, which it leaves out.
func privileges(rights string) (all []string) {
	depth, name := 0, ""
	for _, r := range rights + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth > 0:
		case r == ',':
			all, name = append(all, strings.TrimSpace(name)), ""
		default:
			name += string(r)
		}
	}
	return all
}

// mostProbed bounds how many tables are tried: the server's lists of rights cover all of them, and this only witnesses that
// they were understood.
const mostProbed = 50

// tryWriting asks for the plan of an UPDATE of each table, until it has one.
func (s *Shop) tryWriting(ctx context.Context, r *Rights) error {
	tried := 0
	for _, t := range s.catalog.Tables {
		if t.View || tried == mostProbed {
			continue
		}
		tried++
		refused, err := s.refuses(ctx, t)
		if err != nil {
			return err
		}
		if says := "may change " + shown(t.Name); !refused && !slices.Contains(r.Writes, says) {
			r.Writes = append(r.Writes, says)
		}
	}
	return nil
}

// refuses reports whether the database refuses to plan a change of a table for want of a right. A column that nobody may set,
// because it is generated, says nothing about the role, so the next one is tried; when all are, the lists of rights must do.
func (s *Shop) refuses(ctx context.Context, t Table) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.bounds.query)
	defer cancel()
	for _, c := range t.Columns {
		// MySQL refuses it in a transaction for reading whoever asks, so this is outside of one.
		err := ask(ctx, s.db, s.d.probing(t, c), func([]cell) {})
		if err == nil {
			return false, nil
		}
		switch causeOf(err).code {
		case "postgres 42501", "mysql 1142", "mysql 1143", "sqlite 23":
			return true, nil
		case "network", "network host", "timeout", "canceled":
			return false, failure(err)
		}
	}
	return true, nil
}

// advice are the statements that make a role that can only read these tables. A password is for the owner to choose.
func (s *Shop) advice(r Rights) (all []string) {
	if s.d == MySQL {
		return s.mysqlAdvice()
	}
	all = []string{"CREATE ROLE countersign_reader LOGIN PASSWORD '…choose one…';", "GRANT CONNECT ON DATABASE " + s.d.quoted(s.database) + " TO countersign_reader;"}
	for _, schema := range s.schemas() {
		name := s.d.quoted(schema)
		all = append(all, "GRANT USAGE ON SCHEMA "+name+" TO countersign_reader;", "GRANT SELECT ON ALL TABLES IN SCHEMA "+name+" TO countersign_reader;")
		if slices.Contains(r.Writes, "may, like everybody, create tables in the schema "+shown(schema)) {
			all = append(all, "REVOKE CREATE ON SCHEMA "+name+" FROM PUBLIC;")
		}
	}
	return append(all, "ALTER ROLE countersign_reader SET default_transaction_read_only = on;")
}

func (s *Shop) mysqlAdvice() []string {
	name := s.d.quoted(s.database)
	return []string{"CREATE USER 'countersign_reader'@'%' IDENTIFIED BY '…choose one…';", "GRANT SELECT ON " + name + ".* TO 'countersign_reader'@'%';"}
}

func (s *Shop) schemas() (all []string) {
	for _, t := range s.catalog.Tables {
		if !slices.Contains(all, t.Schema) {
			all = append(all, t.Schema)
		}
	}
	return all
}

package connector

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
)

// The catalog is read with fixed statements, which order their rows so that a table is complete when the next begins.

// statement is what a shop's database is given: a text, and what goes into its places.
type statement struct {
	sql  string
	args []any
}

// session is a connection or a transaction of a shop's database.
type session interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ask runs a statement and hands each row to take, every cell as text. It is the only place where a statement that has an
// answer leaves this program.
func ask(ctx context.Context, on session, s statement, take func(cells []cell)) error {
	rows, err := on.QueryContext(ctx, s.sql, s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		cells := make([]cell, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		take(cells)
	}
	return rows.Err()
}

// catalogOf reads the whole catalog. Each engine has two statements that answer in the same form.
func catalogOf(ctx context.Context, d dialect, on session) (Catalog, error) {
	c := Catalog{Driver: string(d)}
	if err := ask(ctx, on, inventories[d].columns, c.column); err != nil {
		return Catalog{}, err
	}
	slices.SortStableFunc(c.Tables, func(a, b Table) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
	})
	if err := ask(ctx, on, inventories[d].keys, c.key); err != nil {
		return Catalog{}, err
	}
	return c, nil
}

// column takes a row of columns: schema, table, "1" for a view, rows, column, type, "1" for nullable, comment, base.
func (c *Catalog) column(row []cell) {
	last := len(c.Tables) - 1
	if last < 0 || c.Tables[last].Schema != row[0].text || c.Tables[last].Name != row[1].text {
		rows, err := strconv.ParseInt(row[3].text, 10, 64)
		if err != nil {
			rows = -1
		}
		c.Tables, last = append(c.Tables, Table{Schema: row[0].text, Name: row[1].text, View: row[2].text == "1", Rows: rows}), last+1
	}
	c.Tables[last].Columns = append(c.Tables[last].Columns,
		Column{Name: row[4].text, Type: row[5].text, Nullable: row[6].text == "1", Comment: row[7].text, base: row[8].text})
}

// key takes a row of keys: schema, table, "p" or "f", the constraint's name, column, and of a foreign key the other table's
// schema, its name and its column.
func (c *Catalog) key(row []cell) {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return t.Schema == row[0].text && t.Name == row[1].text })
	if i < 0 {
		return // a table that this role may not read
	}
	t := &c.Tables[i]
	if row[2].text == "p" {
		t.Key = append(t.Key, row[4].text)
		return
	}
	last := len(t.ForeignKeys) - 1
	if last < 0 || t.ForeignKeys[last].name != row[3].text {
		t.ForeignKeys, last = append(t.ForeignKeys, ForeignKey{Schema: row[5].text, Table: row[6].text, name: row[3].text}), last+1
	}
	f := &t.ForeignKeys[last]
	f.Columns = append(f.Columns, row[4].text)
	f.References = append(f.References, row[7].text)
}

type inventory struct{ columns, keys statement }

var inventories = map[dialect]inventory{
	SQLite:   {columns: statement{sql: sqliteColumns}, keys: statement{sql: sqliteKeys}},
	Postgres: {columns: statement{sql: postgresColumns}, keys: statement{sql: postgresKeys}},
	MySQL:    {columns: statement{sql: mysqlColumns}, keys: statement{sql: mysqlKeys}},
}

const (
	sqliteColumns = `SELECT '', l.name, l.type = 'view', '', x.name, x.type, x."notnull" = 0, '', ''
		FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS x
		WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND x.hidden <> 1 ORDER BY l.name, x.cid`
	sqliteKeys = `SELECT '', l.name, 'p', '', x.name, '', '', '' FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS x
		WHERE l.schema = 'main' AND x.pk > 0
		UNION ALL SELECT '', l.name, 'f', f.id, f."from", '', f."table", f."to" FROM pragma_table_list AS l JOIN pragma_foreign_key_list(l.name) AS f
		WHERE l.schema = 'main'`

	// A partition is read through its whole, and what this role may not read is not there for it.
	postgresColumns = `SELECT n.nspname, c.relname, CASE WHEN c.relkind IN ('v', 'm') THEN '1' ELSE '' END,
			CASE WHEN c.reltuples < 0 OR c.relkind = 'v' THEN '-1' ELSE CAST(CAST(c.reltuples AS bigint) AS text) END,
			a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN '' ELSE '1' END, col_description(c.oid, a.attnum),
			CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, NULL) WHEN 'e' THEN 'enum' ELSE '' END
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type AS t ON t.oid = a.atttypid
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
			AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
			AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
		ORDER BY n.nspname, c.relname, a.attnum`
	postgresKeys = `SELECT n.nspname, c.relname, k.contype, k.conname, a.attname, m.nspname, f.relname, b.attname
		FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
		CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS u(attnum, place)
		JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.attnum
		LEFT JOIN pg_class AS f ON f.oid = k.confrelid LEFT JOIN pg_namespace AS m ON m.oid = f.relnamespace
		LEFT JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[u.place]
		WHERE k.contype IN ('p', 'f') ORDER BY n.nspname, c.relname, k.contype, k.conname, u.place`

	mysqlColumns = `SELECT c.TABLE_SCHEMA, c.TABLE_NAME, CASE WHEN t.TABLE_TYPE LIKE '%VIEW%' THEN '1' ELSE '' END, COALESCE(t.TABLE_ROWS, -1),
			c.COLUMN_NAME, c.COLUMN_TYPE, CASE c.IS_NULLABLE WHEN 'YES' THEN '1' ELSE '' END, c.COLUMN_COMMENT, ''
		FROM information_schema.COLUMNS AS c
		JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
		WHERE c.TABLE_SCHEMA = DATABASE() ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`
	mysqlKeys = `SELECT TABLE_SCHEMA, TABLE_NAME, CASE WHEN REFERENCED_TABLE_NAME IS NULL THEN 'p' ELSE 'f' END, CONSTRAINT_NAME, COLUMN_NAME,
			REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA = DATABASE() AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
		ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`
)

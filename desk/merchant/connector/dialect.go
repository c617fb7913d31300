package connector

import (
	"fmt"
	"strings"
)

// dialect is the SQL of one kind of database, by the name that a mapping gives it.
type dialect string

// quoted makes a name of the catalog a part of a statement, whatever letters are in it. It is the only way in for a text that
// does not stand in this program, and internal/arch holds every statement of this package to that. A statement builder of
// somebody else's would do the doubling as well, but no test could follow a text through it.
func (d dialect) quoted(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`" // whatever sql_mode says of double quotes
	}
	// A NUL ends a statement early in a database written in C. No catalog holds one.
	name = strings.ReplaceAll(name, "\x00", "")
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// table is a table's full name.
func (d dialect) table(t Table) string {
	if t.Schema == "" {
		return d.quoted(t.Name)
	}
	return d.quoted(t.Schema) + "." + d.quoted(t.Name)
}

// parameter is the place of the n-th argument, from 1.
func (d dialect) parameter(n int) string {
	if d == Postgres {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// widest is how many characters of a cell are read. Nothing that is understood is longer.
const widest = 4000

// asText is an expression for a column as text, as the database writes the value and cut where it is too long, so that no value
// can be one that its driver does not know or would make something else of: a zero date, an unsigned 64-bit id, NaN.
func (d dialect) asText(alias string, c Column) string {
	column := alias + "." + d.quoted(c.Name)
	switch d {
	case SQLite:
		return sqliteText(column)
	case MySQL:
		return mysqlText(column, d.family(c))
	}
	return postgresText(column, d.family(c))
}

// A number of SQLite stays one: as text it would show fifteen digits of a float that has seventeen. The driver looks at a
// declared type and makes times and booleans of what it finds, but an expression has none.
func sqliteText(column string) string {
	return "CASE typeof(" + column + ") WHEN 'text' THEN " + fmt.Sprintf("substr(%s, 1, %d)", column, widest+1) +
		" WHEN 'blob' THEN '0x' || hex(substr(" + column + ", 1, 32)) ELSE +" + column + " END"
}

func mysqlText(column string, f family) string {
	switch f {
	case bits:
		column = "CAST(" + column + " + 0 AS CHAR)" // a bit(1) is the character with the code 1
	case binary:
		column = "CONCAT('0x', HEX(LEFT(" + column + ", 32)))"
	}
	return fmt.Sprintf("LEFT(CONVERT(CAST(%s AS CHAR) USING utf8mb4), %d)", column, widest+1)
}

func postgresText(column string, f family) string {
	if f == localMoney {
		column = "CAST(" + column + " AS numeric)" // the text of a money has the server's own commas
	}
	return fmt.Sprintf("left(CAST(%s AS text), %d)", column, widest+1)
}

// exact is an expression for a text that tells capitals from small letters, as the values of a mapping do.
func (d dialect) exact(expression string) string {
	switch d {
	case MySQL:
		return expression + " COLLATE utf8mb4_bin"
	case Postgres:
		return expression + ` COLLATE "C"`
	}
	return expression + " COLLATE BINARY"
}

// family is how the values of a column's type are compared and read.
type family string

const (
	integers   family = "whole numbers"
	decimals   family = "numbers"
	floats     family = "floating point numbers"
	texts      family = "text"
	padded     family = "padded text" // PostgreSQL's character(n), whose index does not know text
	uuids      family = "uuids"
	instant    family = "instants"     // the database knows which moment it is
	wallClock  family = "local times"  // it knows only what a clock showed
	bits       family = "bits"         //
	binary     family = "bytes"        //
	localMoney family = "local money"  // PostgreSQL's money
	others     family = "other values" // compared as text, which no index helps
)

var families = map[dialect]map[string]family{
	Postgres: {
		"smallint": integers, "integer": integers, "bigint": integers, "numeric": decimals, "real": floats, "double precision": floats,
		"text": texts, "character varying": texts, "character": padded, "uuid": uuids, "money": localMoney,
		"timestamp with time zone": instant, "timestamp without time zone": wallClock, "date": wallClock, "bytea": binary,
	},
	MySQL: {
		"tinyint": integers, "smallint": integers, "mediumint": integers, "int": integers, "bigint": integers, "year": integers,
		"decimal": decimals, "float": floats, "double": floats, "char": texts, "varchar": texts, "tinytext": texts, "text": texts,
		"mediumtext": texts, "longtext": texts, "timestamp": instant, "datetime": wallClock, "date": wallClock, "bit": bits,
		"uuid": uuids, "binary": binary, "varbinary": binary, "tinyblob": binary, "blob": binary, "mediumblob": binary, "longblob": binary,
	},
}

func (d dialect) family(c Column) family {
	if d == SQLite {
		return affinity(c.Type)
	}
	name := c.base
	if name == "" {
		name = c.Type
	}
	name = strings.ToLower(name)
	if before, rest, precise := strings.Cut(name, "("); precise { // timestamp(6) without time zone, decimal(20,6), bigint(20) unsigned
		_, after, _ := strings.Cut(rest, ")")
		name = before + after
	}
	if d == MySQL {
		name, _, _ = strings.Cut(name, " ")
	}
	if f, ok := families[d][strings.TrimSpace(name)]; ok {
		return f
	}
	return others
}

// affinity is SQLite's rule of what a declared type prefers. Any column may hold anything all the same.
func affinity(declared string) family {
	declared = strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(declared, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return integers
	case has("CHAR", "CLOB", "TEXT"):
		return texts
	case declared == "" || has("BLOB"):
		return others
	case has("REAL", "FLOA", "DOUB"):
		return floats
	}
	return decimals
}

// number reports whether values of the family are equal when their numbers are, however they are spelled.
func (f family) number() bool { return f == integers || f == decimals || f == floats }

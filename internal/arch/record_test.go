package arch

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A record row, and its payload, is written once, and so are the limits that were in force: a verdict names them. What is
// looked for in every SQL text, after comments were taken out and white space was made one blank:
var (
	recordTable  = `(?:(?:only|if exists) )*(?:["\x60\[]?\w+["\x60\]]?\.)?["\x60\[]?(?:record_rows|record_payloads|policies)\b`
	changeRecord = []*regexp.Regexp{
		regexp.MustCompile(`\bupdate (?:or \w+ )?` + recordTable),
		regexp.MustCompile(`\bdelete from ` + recordTable),
		regexp.MustCompile(`\btruncate (?:table )?(?:[\w"., ]+, ?)?` + recordTable),
		regexp.MustCompile(`\b(?:insert or replace|replace) into ` + recordTable),
		regexp.MustCompile(`\binsert (?:or \w+ )?into ` + recordTable + `.*\bdo update\b`),
		regexp.MustCompile(`\bmerge into ` + recordTable),
		regexp.MustCompile(`\bdrop table .*` + recordTable),
		regexp.MustCompile(`\bdrop trigger .*(?:record_|policies)`),
		regexp.MustCompile(`\balter table ` + recordTable + `.*\b(?:drop|rename|disable|type)\b`),
		// A head moves with each row, and is never without its record.
		regexp.MustCompile(`\b(?:delete from|truncate(?: table)?|drop table(?: if exists)?) ["\x60\[]?record_heads\b`),
	}
	// A table whose name is put in while the program runs could be any, so its name must be written out …
	changeAnything = regexp.MustCompile(`\b(?:update|delete from|truncate(?: table)?|drop table(?: if exists)?|replace into) ["\x60\[]?(?:%[svq]|…)`)
	// … or be that of one of the tables of imported records, which are described in one place, and only their importer may
	// change a row of a table it knows by description. The record's tables have none: their bare names, which alone could turn
	// such a statement against the record, are refused in every product file.
	changeDescribed = regexp.MustCompile(`\b(?:update|delete from|truncate(?: table)?|drop table(?: if exists)?|replace into) ` + described)
	byDescription   = map[string]bool{"store/imports.go": true}
	bareName        = regexp.MustCompile(`^\W*record_(?:rows|payloads)\W*$`)
	// A statement that stops where the table's name should stand gets it from somewhere else.
	unfinished = regexp.MustCompile(`(?:^|; ?)update$|\b(?:delete from|update only|update or \w+|truncate table|drop table|replace into)$`)
	// These switch the triggers off that would refuse the rest. Without recursive_triggers a REPLACE deletes past them.
	disarm = regexp.MustCompile(`session_replication_role|disable trigger|writable_schema|recursive_triggers ?[=(] ?'?(?:0|off|false|no)\b`)

	// To ask for the plan of a change carries nothing out, on any engine; EXPLAIN ANALYZE does. A shop's database is asked, to see
	// whether it would refuse.
	onlyPlanned = regexp.MustCompile(`^explain update `)

	sqlComment = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	blank      = regexp.MustCompile(`\s+`)
)

// described stands in a text for the name of a table that comes from its description.
const described = "‹table›"

// changesRecord returns the first statement of an SQL text that changes, or could change, what was recorded.
func changesRecord(sql string, byDescription bool) string {
	for _, statement := range strings.Split(sqlComment.ReplaceAllString(sql, " "), ";") {
		plain := plainSQL(statement)
		if onlyPlanned.MatchString(plain) {
			continue
		}
		if disarm.MatchString(plain) || changeAnything.MatchString(plain) || unfinished.MatchString(plain) ||
			!byDescription && changeDescribed.MatchString(plain) {
			return plain
		}
		for _, change := range changeRecord {
			if change.MatchString(plain) {
				return plain
			}
		}
	}
	return ""
}

// plainSQL is a text without comments, in small letters, its white space one blank.
func plainSQL(text string) string {
	return strings.TrimSpace(blank.ReplaceAllString(strings.ToLower(sqlComment.ReplaceAllString(text, " ")), " "))
}

// appendOnly reads every SQL file, and every text in the program. Tests are left out: some tamper, to see it found.
func appendOnly(all tree) (checked int, broken []string) {
	for _, s := range all.only(func(s source) bool { return path.Ext(s.path) == ".sql" }) {
		checked += strings.Count(strings.ToLower(s.text), "create table record_rows")
		if found := changesRecord(s.text, false); found != "" {
			broken = append(broken, s.path+": changes the record: "+found)
		}
	}
	for _, dir := range packages(all) {
		files := all.product().only(func(s source) bool { return s.dir() == dir })
		known := constants(files)
		for _, s := range files {
			texts(s, known, func(n ast.Node, text string) {
				if found := changesRecord(text, byDescription[s.path]); found != "" {
					broken = append(broken, s.at(n)+": changes the record: "+found)
				}
				if bareName.MatchString(text) {
					broken = append(broken, s.at(n)+": names a table of the record alone: write the statement out")
				}
			})
		}
	}
	return checked, broken
}

// texts visits every string of a file, those that are added up from parts as one. A constant counts as its text; a part
// that is not written out is "…".
func texts(s source, known map[string]string, visit func(ast.Node, string)) {
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit, *ast.BinaryExpr:
			if text, written := addedUp(n.(ast.Expr), known); written {
				visit(n, text)
				return false
			}
		}
		return true
	})
}

// constants are the texts of a package's constants, those inside its functions included, by name. They may be made of one
// another in any order.
func constants(files tree) map[string]string {
	known := map[string]string{}
	for before := -1; before != len(known); {
		before = len(known)
		for _, s := range files {
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
					for _, spec := range d.Specs {
						addConstants(known, spec.(*ast.ValueSpec))
					}
				}
				return true
			})
		}
	}
	return known
}

func addConstants(known map[string]string, spec *ast.ValueSpec) {
	for i, value := range spec.Values {
		if text, written := addedUp(value, known); written && !strings.Contains(text, "…") {
			known[spec.Names[i].Name] = text
		}
	}
}

// addedUp returns the text of a string expression and whether any of it is written out.
func addedUp(e ast.Expr, known map[string]string) (text string, written bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text, true
		}
	case *ast.ParenExpr:
		return addedUp(e.X, known)
	case *ast.Ident:
		if text, ok := known[e.Name]; ok {
			return text, true
		}
	case *ast.SelectorExpr:
		if e.Sel.Name == "name" || e.Sel.Name == "table" {
			return described, false
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, inLeft := addedUp(e.X, known)
			right, inRight := addedUp(e.Y, known)
			return left + right, inLeft || inRight
		}
	}
	return "…", false
}

func TestNoSQLUpdatesOrDeletesARecordRow(t *testing.T) {
	t.Run("in this module", func(t *testing.T) { holds(t, appendOnly) })

	for _, sql := range []string{
		"UPDATE record_rows SET kind = 'note' WHERE case_id = $1",
		"update\n\tRecord_Rows\nset hash = ''",
		"UPDATE ONLY public.record_rows SET hash = ''",
		`UPDATE "record_payloads" SET body = NULL`,
		"UPDATE OR REPLACE record_rows SET seq = 1",
		"UPDATE /* only a little */ record_rows SET seq = 1",
		"DELETE FROM record_rows",
		"SELECT 1; DELETE FROM main.record_payloads WHERE case_id = $1",
		"WITH gone AS (DELETE FROM record_rows RETURNING *) SELECT * FROM gone",
		"TRUNCATE cases, record_rows",
		"TRUNCATE TABLE record_payloads CASCADE",
		"INSERT OR REPLACE INTO record_rows VALUES ($1)",
		"REPLACE INTO record_payloads VALUES ($1)",
		"INSERT INTO record_rows (case_id) VALUES ($1) ON CONFLICT (case_id, seq) DO UPDATE SET hash = excluded.hash",
		"MERGE INTO record_rows USING x ON true WHEN MATCHED THEN DELETE",
		"DROP TABLE IF EXISTS record_rows",
		"DROP TRIGGER record_rows_no_update",
		"DROP TRIGGER no_update ON record_rows",
		"ALTER TABLE record_rows DISABLE TRIGGER ALL",
		"ALTER TABLE record_payloads DROP COLUMN salt",
		"ALTER TABLE record_rows RENAME TO old_rows",
		"DELETE FROM %s WHERE case_id = $1",
		"UPDATE \"%s\" SET x = 1",
		"DELETE FROM record_heads WHERE case_id = $1",
		"UPDATE policies SET limits = $1",
		"DELETE FROM policies",
		"DROP TRIGGER policies_update",
		"SET session_replication_role = replica",
		"PRAGMA writable_schema = 1",
		"PRAGMA recursive_triggers = OFF",
		"_pragma=recursive_triggers(0)",
		"EXPLAIN ANALYZE UPDATE record_rows SET seq = 1",
		"EXPLAIN UPDATE cases SET status = ''; DELETE FROM record_rows",
	} {
		t.Run("seen: "+sql, func(t *testing.T) {
			refuses(t, appendOnly, "changes the record", "store/migrations/x.sql", sql)
			refuses(t, appendOnly, "changes the record", "store/x.go", "package store; const q = "+strconv.Quote(sql))
		})
	}
	for _, sql := range []string{
		"CREATE TRIGGER record_rows_no_update BEFORE UPDATE ON record_rows BEGIN SELECT RAISE(ABORT, 'record rows are never updated'); END",
		"CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON record_payloads FOR EACH STATEMENT EXECUTE FUNCTION refuse()",
		"INSERT INTO record_rows (case_id, seq) VALUES ($1, $2), ($3, $4)",
		"INSERT INTO cases (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET status = excluded.status",
		"UPDATE record_heads SET seq = $2 WHERE case_id = $1",
		"UPDATE cases SET status = $2 WHERE id IN (SELECT case_id FROM record_rows)",
		"DELETE FROM sessions WHERE expires_at < $1",
		"SELECT * FROM record_rows ORDER BY seq FOR UPDATE",
		"PRAGMA recursive_triggers(1)",
		"ALTER TABLE record_rows ADD COLUMN note TEXT",
		"EXPLAIN UPDATE record_rows SET seq = 1",
	} {
		t.Run("allowed: "+sql, func(t *testing.T) {
			allows(t, appendOnly, "store/migrations/x.sql", sql)
			allows(t, appendOnly, "store/x.go", "package store; const q = "+strconv.Quote(sql))
		})
	}
	t.Run("a statement added up from parts is read as one", func(t *testing.T) {
		refuses(t, appendOnly, "changes the record", "store/x.go", `package store; const q = "UPDATE " + "record_" + ("rows SET x = 1")`)
		refuses(t, appendOnly, "changes the record", "store/x.go", `package store; func q(table string) string { return "DELETE FROM " + table }`)
	})
	t.Run("a constant counts as its text, wherever it stands", func(t *testing.T) {
		refuses(t, appendOnly, "delete from record_rows where true", "store/x.go", `package store; const q = "DELETE FROM " + where`,
			"store/y.go", `package store; func f() { const record = "record_"; _ = record }; const where = record + rows; const rows = "rows WHERE true"`)
		allows(t, appendOnly, "store/x.go", `package store; const q = "DELETE FROM " + sessions; const sessions = "sessions WHERE true"`)
	})
	t.Run("a statement that gets its table later is refused", func(t *testing.T) {
		refuses(t, appendOnly, "changes the record", "store/x.go", `package store; func q(b *strings.Builder) { b.WriteString("DELETE FROM ") }`)
		refuses(t, appendOnly, "changes the record", "store/x.go", `package store; var q = strings.Join([]string{"UPDATE", t, "SET x = 1"}, " ")`)
	})
	t.Run("what changes tables by their description cannot be handed the record's", func(t *testing.T) {
		allows(t, appendOnly, "store/imports.go", `package store; func (tb table) q() string { return "UPDATE " + tb.name + " SET x = 1" }`)
		refuses(t, appendOnly, "changes the record", "store/books.go", `package store; func (tb table) q() string { return "UPDATE " + tb.name + " SET x = 1" }`)
		refuses(t, appendOnly, "changes the record", "store/imports.go", `package store; func q(table string) string { return "UPDATE " + table }`)
		refuses(t, appendOnly, "changes the record", "store/imports.go", `package store; const q = "UPDATE record_rows SET x = 1"`)
		refuses(t, appendOnly, "alone", "store/tables.go", `package store; var t = table{name: "record_rows"}`)
	})
	t.Run("a test may tamper, to see it found", func(t *testing.T) {
		allows(t, appendOnly, "store/x_test.go", `package store; const q = "DELETE FROM record_rows"`)
	})
}

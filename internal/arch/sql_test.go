package arch

import "testing"

// A statement that the database is given is made of texts that stand in the program, and of nothing else: no word of a
// request, a record or a model can become SQL. Where a statement comes from is followed backwards, through constants,
// variables, arguments, results and fields, as far as its package goes; what cannot be followed is refused.
//
// A shop's own database is not ours, and its tables are found out while the program runs, so the statements that read it
// cannot all stand in the program. The package that reads it therefore makes its own, of the same kind of texts and of names
// that went through one function, which quotes them. It is called quoted, there is one of it, and it is the only thing in
// that package whose result is taken for good without being followed.

// takes says which argument is the statement, by the name of the method that runs it.
var takes = map[string]int{
	"Query": 0, "QueryRow": 0, "Exec": 0, "Prepare": 0,
	"QueryContext": 1, "QueryRowContext": 1, "ExecContext": 1, "PrepareContext": 1,
	"Queue": 0, // of a batch
}

// quoters are the packages outside the store that make statements of their own, and where each has its function quoted.
var quoters = map[string]string{
	"desk/merchant/connector": "desk/merchant/connector/dialect.go",
}

// quoter is the name of that function.
const quoter = "quoted"

// speakers are the files outside the store that may run a statement of their own, and why.
var speakers = map[string]string{
	"demo/shop.go":                   "makes the invented shop's own database, which is not ours",
	"demo/meanwhile.go":              "writes the one damaged row that the demo needs, past every check on purpose",
	"eval/world.go":                  "counts what was posted without asking the code that posts",
	"desk/merchant/library/index.go": "an index of its own, in memory: nothing of ours is in it",
}

func spokenByUs(all tree) (checked int, broken []string) {
	for _, dir := range packages(all) {
		if layerOf(dir) == fixtures {
			continue
		}
		o := newOrigins(all.product().only(func(s source) bool { return s.dir() == dir }))
		if quoters[dir] != "" {
			broken = append(broken, o.trust(quoters[dir])...)
		}
		for method, at := range takes {
			for _, c := range o.calls[method] {
				if !given(c.call, at) {
					continue
				}
				checked++
				if dir != "store" && quoters[dir] == "" && speakers[c.file.path] == "" {
					broken = append(broken, c.file.at(c.call)+": only the store talks to the database")
				}
				if alien := o.alien(c.call.Args[at], c.in); alien != "" {
					broken = append(broken, c.file.at(c.call)+": a part of this statement does not stand in the program: "+alien)
				}
			}
		}
	}
	return checked, broken
}

func TestEveryStatementStandsInTheProgram(t *testing.T) {
	t.Run("in this module", func(t *testing.T) { holds(t, spokenByUs) })

	inStore := func(code string) []string {
		return []string{"store/x.go", "package store\n" + code}
	}
	for _, row := range []struct{ sentence, code, want string }{
		{"an id put into the text", `func (v View) Case(id string) { v.q.QueryContext(ctx, "SELECT 1 FROM cases WHERE id = '"+id+"'") }`, "argument of Case"},
		{"an id put in by a format", `func (v View) Case(id string) { v.q.QueryContext(ctx, fmt.Sprintf("SELECT 1 FROM cases WHERE id = '%s'", id)) }`, "argument of Case"},
		{"a value whose form nobody says", `func (v View) Case(id string) { v.q.QueryContext(ctx, fmt.Sprintf("SELECT 1 FROM cases LIMIT %v", 1)) }`, "%v in a format"},
		{"a column that the caller chose", `func (v View) Cases(f Filter) { q := "SELECT 1 FROM cases"; q += " ORDER BY " + f.Sort; v.q.QueryContext(ctx, q) }`, "field Sort"},
		{"a value handed down two functions", `func (v View) Cases(sort string) { v.sorted(sort) }
			func (v View) sorted(by string) { v.q.QueryContext(ctx, "SELECT 1 ORDER BY "+by) }`, "argument of Cases"},
		{"a value handed up two functions", `func (v View) cases() { where, _ := clause(); v.q.QueryContext(ctx, "SELECT 1 WHERE "+where) }
			func clause() (string, int) { return other() }
			func other() (string, int) { return os.Getenv("WHERE"), 1 }`, "what Getenv returns"},
		{"a value through a closure", `func (v View) Cases(f Filter) { q := ""; add := func(c string) { q += c }; add("a = 1"); add(f.Raw); v.q.QueryContext(ctx, q) }`, "field Raw"},
		{"a value kept in a field", `func (v View) cases() { v.q.QueryContext(ctx, "SELECT 1 FROM "+v.table) }
			func New(table string) View { return View{table: table} }`, "argument of New"},
		{"a value kept in a field by its place", `type tb struct { name, noun string }; func (x tb) one() { db.Exec("SELECT 1 FROM "+x.name) }
			func New(name string) tb { return tb{name, "row"} }`, "argument of New"},
		{"a text read from a list that was handed in", `func (v View) Cases(columns []string) { v.q.QueryContext(ctx, "SELECT "+strings.Join(columns, ", ")) }`, "argument of Cases"},
		{"a builder that this test cannot follow", `func (v View) cases() { var b strings.Builder; v.q.QueryContext(ctx, b.String()) }`, "what String returns"},
	} {
		t.Run("seen: "+row.sentence, func(t *testing.T) { refuses(t, spokenByUs, row.want, inStore(row.code)...) })
	}
	for _, row := range []struct{ sentence, code string }{
		{"a constant", `const q = "SELECT 1"; func (v View) cases() { v.q.QueryContext(ctx, q+" LIMIT 1", 7) }`},
		{"placeholders made of numbers", `func (v View) cases(n int) { v.q.QueryContext(ctx, "SELECT 1 WHERE id IN "+v.d.values(1, n)) }
			func (dialect) values(n, m int) string { return string(make([]byte, n*m)) }`},
		{"a number that is written as one", `func (v View) Cases(n int) { v.q.QueryContext(ctx, fmt.Sprintf("SELECT 1 LIMIT $%d", n)) }`},
		{"a description of a table that stands in the program", `type table[T any] struct { name string; columns []string }
			var cases = table[Case]{"cases", []string{"id", "status"}}
			func (tb table[T]) all(v View) { v.q.QueryContext(ctx, "SELECT "+strings.Join(tb.columns, ", ")+" FROM "+tb.name) }`},
		{"conditions that are added one by one", `func (v View) Cases(f Filter) { where, args := f.where(); v.q.QueryContext(ctx, "SELECT 1 WHERE "+where, args...) }
			func (f Filter) where() (string, []any) { w, args := "1 = 1", []any{}; add := func(c string, x any) { w += c; args = append(args, x) }
			if f.Desk != "" { add(" AND desk = ?", f.Desk) }; return w, args }`},
		{"a prepared statement, which has no text", `func run(stmt *sql.Stmt, args []any) { stmt.QueryContext(ctx, args...) }`},
		{"one that hands on what it was given, under the same name", `func (p prepared) ExecContext(ctx context.Context, text string) { p.tx.ExecContext(ctx, text) }`},
	} {
		t.Run("allowed: "+row.sentence, func(t *testing.T) { allows(t, spokenByUs, inStore(row.code)...) })
	}
	t.Run("a statement outside the store is refused, however plain", func(t *testing.T) {
		refuses(t, spokenByUs, "only the store", "api/x.go", `package api; func f(db *sql.DB) { db.Exec("SELECT 1") }`)
	})
	inConnector := func(code string) []string {
		return []string{"desk/merchant/connector/dialect.go", "package connector\nfunc (d dialect) quoted(name string) string { return name }\n" + code}
	}
	t.Run("a shop's names come into a statement through one function", func(t *testing.T) {
		allows(t, spokenByUs, inConnector(`func (s *Shop) Order(t Table) { s.db.QueryContext(ctx, "SELECT 1 FROM "+s.d.quoted(t.Name)) }`)...)
		refuses(t, spokenByUs, "field Name", inConnector(`func (s *Shop) Order(t Table) { s.db.QueryContext(ctx, "SELECT 1 FROM "+t.Name) }`)...)
		refuses(t, spokenByUs, "argument of Order", inConnector(`func (s *Shop) Order(id string) { s.db.QueryContext(ctx, "SELECT 1 WHERE id = '"+id+"'") }`)...)
	})
	t.Run("there is one of it, where everybody looks for it", func(t *testing.T) {
		refuses(t, spokenByUs, "only one function", append(inConnector(""), "desk/merchant/connector/x.go", "package connector; func quoted(name string) string { return name }")...)
		refuses(t, spokenByUs, "only one function", "desk/merchant/connector/x.go", "package connector; func quoted(name string) string { return name }")
		refuses(t, spokenByUs, "only one function", append(inConnector(""), "desk/merchant/connector/x.go", "package connector; func f() { quoted := func(name string) string { return name }; _ = quoted }")...)
	})
	t.Run("the store has no such function", func(t *testing.T) {
		refuses(t, spokenByUs, "argument of", inStore(`func quoted(name string) string { return name }
			func (v View) Cases(sort string) { v.q.QueryContext(ctx, "SELECT 1 ORDER BY "+quoted(sort)) }`)...)
	})
	t.Run("a query of a URL is none", func(t *testing.T) {
		allows(t, spokenByUs, "api/x.go", `package api; func f(u *url.URL) { _ = u.Query().Get("cursor") }`)
	})
}

package arch

import (
	"go/ast"
	"path"
	"regexp"
	"testing"
)

// Money moves in one place. The fix of a case, its two ledger entries and the transaction's new status are written in
// store/fixes.go and nowhere else, by Tx.Post; only the executor calls Post, and only the pipeline and a review, which record
// in the same transaction why, give the executor an order.
const (
	postingFile = "store/fixes.go"
	executor    = "pipeline/execute"
	confirmer   = "pipeline/outside" // tells it what others posted
)

var (
	// What posts: a row of fixes, a ledger entry that is not an import's, a transaction's status. What was posted stays.
	posts  = regexp.MustCompile(`\b(?:insert (?:or \w+ )?into|replace into) (?:fixes|ledger_entries)\b|\bupdate transactions\b`)
	unpost = regexp.MustCompile(`\b(?:update(?: or \w+)?|delete from|truncate(?: table)?|drop table(?: if exists)?) (?:fixes|ledger_entries)\b|` +
		`\binto fixes\b.*\bdo update\b`)
	ordering = map[string]bool{"pipeline": true, "pipeline/review": true}
)

func onePostingPath(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		if layerOf(s.dir()) == fixtures {
			continue
		}
		known := constants(all.product().only(func(other source) bool { return other.dir() == s.dir() }))
		complain := func(n ast.Node, what string) { broken = append(broken, s.at(n)+": "+what) }
		texts(s, known, func(n ast.Node, text string) {
			plain := plainSQL(text)
			switch {
			case unpost.MatchString(plain):
				complain(n, "changes what was posted")
			case posts.MatchString(plain) && s.path != postingFile:
				complain(n, "posts, which only "+postingFile+" does")
			case posts.MatchString(plain):
				checked++
			}
		})
		named := map[string]bool{} // what a file calls the packages that it imports: http.Post is no Post of ours
		for _, p := range imported(s) {
			named[path.Base(p)] = true
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				switch x := receiver(n); {
				case n.Sel.Name == "insert" && x == "entries" && s.path != postingFile:
					complain(n, "enters into the ledger, which only "+postingFile+" does besides an import")
				case (n.Sel.Name == "Post" && !named[x] && !asksOutside(s, x) || n.Sel.Name == "PostBooked") && s.dir() != executor && usesStore(s):
					complain(n, "calls "+n.Sel.Name+", which only "+executor+" does")
				case n.Sel.Name == "Apply" && x == path.Base(executor) && !ordering[s.dir()]:
					complain(n, "gives the executor an order, which only the pipeline and a review do")
				case n.Sel.Name == "Confirm" && x == path.Base(executor) && s.dir() != confirmer:
					complain(n, "confirms to the executor, which only "+confirmer+" does")
				case n.Sel.Name == "Post" && s.dir() == executor, n.Sel.Name == "Apply" && x == path.Base(executor), n.Sel.Name == "Confirm" && x == path.Base(executor):
					checked++
				}
			case *ast.FuncDecl:
				if n.Name.Name == "Post" && s.dir() == "store" && s.path != postingFile {
					complain(n, "is a second Post")
				}
			}
			return true
		})
	}
	for _, s := range all.only(func(s source) bool { return path.Ext(s.path) == ".sql" }) {
		if found := unpost.FindString(plainSQL(s.text)); found != "" {
			broken = append(broken, s.path+": changes what was posted: "+found)
		}
	}
	return checked, broken
}

// asksOutside reports whether a Post is a question to those outside, which posts nothing here.
func asksOutside(s source, x string) bool { return s.dir() == confirmer && x == "to" }

// usesStore reports whether a file can have a transaction of the store's in its hands.
func usesStore(s source) bool {
	for _, dir := range ours(s) {
		if dir == "store" {
			return true
		}
	}
	return s.dir() == "store"
}

func TestOnePathPosts(t *testing.T) {
	t.Run("in this module", func(t *testing.T) { holds(t, onePostingPath) })

	in := func(file, code string) []string {
		return []string{file, "package p\nimport \"countersign/store\"\n" + code}
	}
	for _, row := range []struct{ sentence, file, code, want string }{
		{"a fix written elsewhere in the store", "store/cases.go", "const q = \"INSERT INTO fixes (kind) VALUES ($1)\"", "posts, which only"},
		{"an entry written by a statement of its own", "store/cases.go", "const q = `insert into\n\tledger_entries (id) VALUES ($1)`", "posts, which only"},
		{"a status set from outside the store", "app/x.go", "const q = \"UPDATE transactions SET status = 'reversed'\"", "posts, which only"},
		{"an entry put in by the table's own means", "store/cases.go", "func f() { entries.insert(ctx, t, pair) }", "enters into the ledger"},
		{"a fix that is taken back", "store/fixes.go", "const q = \"DELETE FROM fixes WHERE kind = $1\"", "changes what was posted"},
		{"a fix that is made another", "store/fixes.go", "const q = \"INSERT INTO fixes (kind) VALUES ($1) ON CONFLICT (kind) DO UPDATE SET kind = 'x'\"", "changes what was posted"},
		{"an entry that is edited", "store/books.go", "const q = \"UPDATE \" + \"ledger_entries SET memo = ''\"", "changes what was posted"},
		{"Post called by the pipeline", "pipeline/x.go", "func f(tx *store.Tx) { tx.Post(ctx, id, fix, actor) }", "calls Post"},
		{"Post handed on to be called later", "pipeline/review/x.go", "func f(tx *store.Tx) { g(tx.Post) }", "calls Post"},
		{"Post called by the store itself", "store/imports.go", "func (t *Tx) f() { t.Post(ctx, id, fix, actor) }", "calls Post"},
		{"a second Post", "store/cases.go", "func (t *Tx) Post() {}", "a second Post"},
		{"a fix that is said to be booked, by the pipeline", "pipeline/outside/x.go", "func f(tx *store.Tx) { tx.PostBooked(ctx, id, fix, actor) }", "calls PostBooked"},
		{"a confirmation from a review", "pipeline/review/x.go", "import \"countersign/pipeline/execute\"\nfunc f() { execute.Confirm(ctx, tx, i, false) }", "confirms to the executor"},
		{"an order from a face", "api/x.go", "import \"countersign/pipeline/execute\"\nfunc f() { execute.Apply(ctx, tx, o) }", "gives the executor an order"},
	} {
		t.Run("seen: "+row.sentence, func(t *testing.T) { refuses(t, onePostingPath, row.want, in(row.file, row.code)...) })
	}
	t.Run("seen: a migration that edits the ledger", func(t *testing.T) {
		refuses(t, onePostingPath, "changes what was posted", "store/migrations/x.sql", "UPDATE ledger_entries SET kind = 'fee';")
	})
	for _, row := range []struct{ sentence, file, code string }{
		{"the executor posts", "pipeline/execute/x.go", "func f(tx *store.Tx) { tx.Post(ctx, id, fix, actor) }"},
		{"the pipeline and a review give orders", "pipeline/review/x.go", "import \"countersign/pipeline/execute\"\nfunc f() { execute.Apply(ctx, tx, o) }"},
		{"what others posted is confirmed to the executor", "pipeline/outside/x.go", "import \"countersign/pipeline/execute\"\nfunc f() { execute.Confirm(ctx, tx, i, false); put(to.Post) }"},
		{"a request to a server is no posting", "app/x.go", "import \"net/http\"\nfunc f() { http.Post(url, kind, body) }"},
		{"fixes and entries may be read", "store/books.go", "const q = \"SELECT kind FROM fixes JOIN ledger_entries e ON true\""},
	} {
		t.Run("allowed: "+row.sentence, func(t *testing.T) { allows(t, onePostingPath, in(row.file, row.code)...) })
	}
}

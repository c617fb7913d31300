package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// pureImports is all that words and judgement may use of the standard library: nothing that reads a clock, a file, the
// network, a database, the environment or a source of chance. From elsewhere they may use nothing.
var pureImports = strings.Fields(`bufio bytes cmp crypto/hmac crypto/sha256 crypto/subtle encoding encoding/base64
	encoding/binary encoding/csv encoding/hex encoding/json errors fmt hash io iter maps math math/big math/bits reflect
	regexp slices sort strconv strings time unicode unicode/utf16 unicode/utf8`)

// beyond lists what a package may use all the same, because the shape of something it stands in for demands it and it does
// nothing with it but pass it on.
var beyond = map[string][]string{
	"redact":          {"context", "log/slog"},            // a log handler that masks
	"pipeline/verify": {"golang.org/x/text/unicode/norm"}, // tables, and no state: which letters are the same in one character or two
}

// impure is what those packages hold all the same: the clock, the zone files, standard output.
var impure = map[string][]string{
	"time": strings.Fields("Now Since Until Sleep After AfterFunc Tick NewTicker NewTimer Local LoadLocation"),
	"fmt":  strings.Fields("Print Printf Println Scan Scanf Scanln"),
}

func purity(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		if l := layerOf(s.dir()); l != words && l != pure {
			continue
		}
		checked++
		for _, p := range imported(s) {
			if p != modulePath && !strings.HasPrefix(p, modulePath+"/") && !slices.Contains(pureImports, p) && !slices.Contains(beyond[s.dir()], p) {
				broken = append(broken, s.path+": a pure package may not import "+p)
			}
		}
		broken = append(broken, impurities(s)...)
	}
	return checked, broken
}

// impurities finds time.Now and its like, also when the package was given another name.
func impurities(s source) (broken []string) {
	refused := map[string][]string{}
	for _, spec := range s.syntax.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			broken = append(broken, s.at(spec)+": a pure package may not import "+p+" as a dot: its names could not be told apart")
		}
		refused[name] = impure[p]
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(refused[x.Name], selector.Sel.Name) {
				broken = append(broken, s.at(n)+": a pure package may not use "+x.Name+"."+selector.Sel.Name+": make it an argument")
			}
		}
		return true
	})
	return broken
}

func TestPurity(t *testing.T) {
	t.Run("judgement has no clock, file, network, SQL or context", func(t *testing.T) { holds(t, purity) })

	for _, refused := range []string{"os", "net", "net/http", "database/sql", "context", "log", "log/slog", "math/rand", "crypto/rand",
		"path/filepath", "runtime", "sync", "testing", "embed", "golang.org/x/text/unicode/norm", "github.com/jackc/pgx/v5"} {
		t.Run("judgement may not import "+refused, func(t *testing.T) {
			refuses(t, purity, "may not import "+refused, "pipeline/policy/x.go", "package policy; import _ \""+refused+"\"")
		})
	}
	t.Run("the time is an argument", func(t *testing.T) {
		refuses(t, purity, "time.Now", "desk/bank/rules/x.go", "package rules; import \"time\"; var at = time.Now")
		refuses(t, purity, "clock.Since", "audit/x.go", "package audit; import clock \"time\"; var since = clock.Since")
		allows(t, purity, "audit/x.go", "package audit; import \"time\"; var at time.Time; var day = 24 * time.Hour")
	})
	t.Run("a dot import hides what is used", func(t *testing.T) {
		refuses(t, purity, "as a dot", "x.go", "package countersign; import . \"time\"")
	})
	t.Run("judgement prints nothing", func(t *testing.T) {
		refuses(t, purity, "fmt.Println", "redact/x.go", "package redact; import \"fmt\"; func f() { fmt.Println() }")
	})
	t.Run("others may do as they need", func(t *testing.T) {
		allows(t, purity, "store/x.go", "package store; import (_ \"context\"; \"time\"); var now = time.Now")
	})
}

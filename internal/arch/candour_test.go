package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// A test that waits by the clock is slow on one machine and wrong on another; a test that skips itself looks green. Only
// testdb may skip, because it refuses to under CI. What runs only in -short mode, or only without it, runs for some of us.
var evasions = map[string]string{
	"time.Sleep":    "wait for what you mean, not for time to pass",
	"testing.Short": "a test that is run by some is relied on by none",
	".Skip":         "let testdb ask for what is missing: it fails where a skip would be believed",
	".Skipf":        "let testdb ask for what is missing: it fails where a skip would be believed",
	".SkipNow":      "let testdb ask for what is missing: it fails where a skip would be believed",
}

func candid(all tree) (checked int, broken []string) {
	for _, s := range all.only(source.inTests) {
		checked++
		generators := generatorsOf(s)
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			for _, name := range []string{"." + selector.Sel.Name, receiver(selector) + "." + selector.Sel.Name} {
				if why := evasions[name]; why != "" && !generators.at(selector) && !(name == "time.Sleep" && s.ownsTheClock()) {
					broken = append(broken, s.at(n)+": "+strings.TrimPrefix(name, ".")+": "+why)
				}
			}
			return true
		})
	}
	return checked, broken
}

// inTests reports whether a file is for tests only: by its name, or because it knows package testing.
func (s source) inTests() bool {
	if s.syntax == nil || s.dir() == "internal/testdb" {
		return false
	}
	return s.isTest() || slices.Contains(imported(s), "testing")
}

// ownsTheClock reports whether a test file runs its code in a bubble where sleeping takes no time.
func (s source) ownsTheClock() bool { return slices.Contains(imported(s), "testing/synctest") }

func receiver(selector *ast.SelectorExpr) string {
	if x, ok := selector.X.(*ast.Ident); ok {
		return x.Name
	}
	return ""
}

// generators are where the functions of a file lie that have a *rapid.T, and what they call it. Its Skip passes over one
// input of a property, and not over a test.
type generators map[*ast.FuncType]generator

type generator struct {
	body ast.Node
	name string
}

func generatorsOf(s source) generators {
	found := generators{}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch f := n.(type) {
		case *ast.FuncDecl:
			found.add(f.Type, f)
		case *ast.FuncLit:
			found.add(f.Type, f)
		}
		return true
	})
	return found
}

func (g generators) add(f *ast.FuncType, body ast.Node) {
	for _, field := range f.Params.List {
		star, ok := field.Type.(*ast.StarExpr)
		if !ok || len(field.Names) != 1 {
			continue
		}
		if t, ok := star.X.(*ast.SelectorExpr); ok && receiver(t) == "rapid" && t.Sel.Name == "T" {
			g[f] = generator{body, field.Names[0].Name}
		}
	}
}

func (g generators) at(selector *ast.SelectorExpr) bool {
	for _, f := range g {
		if f.name == receiver(selector) && f.body.Pos() <= selector.Pos() && selector.End() <= f.body.End() {
			return true
		}
	}
	return false
}

func TestCandour(t *testing.T) {
	t.Run("no test sleeps or skips itself", func(t *testing.T) { holds(t, candid) })

	for _, statement := range []string{"time.Sleep(time.Second)", "t.Skip(\"no server\")", "b.SkipNow()", "s.t.Skipf(\"no %s\", x)", "if testing.Short() {}"} {
		t.Run("seen: "+statement, func(t *testing.T) {
			refuses(t, candid, "x_test.go", "web/x_test.go", "package web; func f() { "+statement+" }")
		})
	}
	t.Run("a suite that lives in product code is a test too", func(t *testing.T) {
		refuses(t, candid, "Skip", "store/storetest/x.go", "package storetest; import \"testing\"; func Run(t *testing.T) { t.Skip() }")
	})
	t.Run("a property may pass over an input", func(t *testing.T) {
		allows(t, candid, "web/x_test.go", "package web; func f(rt *rapid.T) { rt.Skip() }")
		allows(t, candid, "web/x_test.go", "package web; func f(t *testing.T) { rapid.Check(t, func(t *rapid.T) { if true { t.Skip() } }) }")
	})
	t.Run("a test beside a property may not", func(t *testing.T) {
		refuses(t, candid, "Skip", "web/x_test.go", "package web; func f(t *testing.T) { rapid.Check(t, func(t *rapid.T) {}); t.Skip() }")
	})
	t.Run("where the clock is the test's own, sleeping takes no time", func(t *testing.T) {
		allows(t, candid, "web/x_test.go", "package web; import _ \"testing/synctest\"; func f() { time.Sleep(1) }")
	})
	t.Run("the program may wait, and testdb may skip", func(t *testing.T) {
		allows(t, candid, "llm/x.go", "package llm; func f() { time.Sleep(1) }",
			"internal/testdb/x.go", "package testdb; import \"testing\"; func f(t *testing.T) { t.Skip() }")
	})
}

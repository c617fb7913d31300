package arch

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is how our packages are imported.
const modulePath = "countersign"

// layer is how far a package is from the words. It is what the table is sorted by; purity is asked of words and pure.
type layer string

const (
	words    layer = "words"
	pure     layer = "pure" // judgement: no clock, file, network, SQL or context
	edge     layer = "edge"
	stage    layer = "stage"
	desk     layer = "desk"
	carrier  layer = "carrier"
	face     layer = "face"
	program  layer = "program"
	fixtures layer = "fixtures" // for tests and measurements alone: imported by no product code
)

type row struct {
	pkg   string
	layer layer
	may   string
}

// table says for every package, by its folder, which of our packages its product code may import; the words, ".", always.
// A star stands for one folder. "everything" is every package but fixtures, for those that wire the rest together.
var table = []row{
	{".", words, ""},

	{"audit", pure, ""},
	{"redact", pure, ""},
	{"desk/bank/records", pure, ""},
	{"desk/*/rules", pure, "desk/bank/records pipeline/policy"},
	{"pipeline/investigate/fence", pure, "redact"},
	{"pipeline/verify", pure, "pipeline/investigate/fence"},
	{"pipeline/policy", pure, ""},

	{"llm", edge, "redact"},
	{"llm/*", edge, "llm redact"},
	{"store", edge, "audit desk/bank/records pipeline/policy"},
	{"store/*", edge, "store audit desk/bank/records"},
	{"secret", edge, ""},
	{"auth", edge, "store secret"},

	{"pipeline/investigate", stage, "llm redact pipeline/investigate/fence"}, // never the store: it is handed what it reads
	{"pipeline/queue", stage, "store"},
	{"pipeline/intake", stage, "audit store"},
	{"pipeline/execute", stage, "audit store"}, // what it must know of a desk it is handed: desk is a way to the model
	{"pipeline/review", stage, "audit store pipeline/execute pipeline/policy"},

	{"desk", desk, "store pipeline/intake pipeline/investigate pipeline/policy"}, // the form in which a desk is handed on

	{"desk/bank", desk, "desk desk/bank/records desk/bank/rules llm llm/rulebook redact pipeline/intake pipeline/investigate pipeline/investigate/fence pipeline/policy store"},
	{"desk/bank/feed", desk, "desk/bank/records store"},
	{"desk/merchant", desk, "desk desk/merchant/* llm redact pipeline/intake pipeline/investigate pipeline/investigate/fence pipeline/policy pipeline/verify store"},
	{"desk/merchant/*", desk, "redact secret store"},

	{"pipeline", carrier, "audit desk llm redact store pipeline/* pipeline/investigate/fence"},

	{"api", face, "audit auth desk desk/bank/records store pipeline pipeline/intake pipeline/policy pipeline/review"}, // never execute: a decision goes through review
	{"web", face, "audit auth desk desk/bank/records store pipeline pipeline/intake pipeline/policy pipeline/review"},
	{"demo", face, "everything"},
	{"eval", face, "everything"},

	{"app", program, "everything"},
	{"cmd/countersign", program, "everything"},

	{"internal/arch", fixtures, ""},
	{"internal/testdb", fixtures, ""},
	{"internal/bench", fixtures, "everything internal/testdb"},
}

func imports(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		checked++
		here, known := rowOf(s.dir())
		if !known {
			broken = append(broken, s.path+": package "+s.dir()+" is not in the table of imports: say there where it belongs")
			continue
		}
		for _, imported := range ours(s) {
			if !allowed(here.may, imported) {
				broken = append(broken, s.path+": package "+s.dir()+" may not import "+imported)
			}
		}
	}
	return checked, broken
}

func allowed(may, imported string) bool {
	if imported == "." {
		return true
	}
	for _, pattern := range strings.Fields(may) {
		if matches(pattern, imported) || pattern == "everything" && layerOf(imported) != fixtures {
			return true
		}
	}
	return false
}

func matches(pattern, dir string) bool {
	ok, err := path.Match(pattern, dir)
	return ok && err == nil
}

func rowOf(dir string) (found row, known bool) {
	i := slices.IndexFunc(table, func(r row) bool { return matches(r.pkg, dir) })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// layerOf is empty for a package that the table does not know.
func layerOf(dir string) layer {
	found, _ := rowOf(dir)
	return found.layer
}

// ours returns the folders of our packages that a file imports.
func ours(s source) (dirs []string) {
	for _, p := range imported(s) {
		if p == modulePath {
			dirs = append(dirs, ".")
		} else if dir, ok := strings.CutPrefix(p, modulePath+"/"); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// imported returns the paths that a Go file imports.
func imported(s source) (paths []string) {
	for _, spec := range s.syntax.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has read it already
		paths = append(paths, p)
	}
	return paths
}

// packages returns the folders that hold product code, sorted.
func packages(all tree) []string {
	dirs := map[string]bool{}
	for _, s := range all.product() {
		dirs[s.dir()] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

func TestImports(t *testing.T) {
	t.Run("every package imports only what the table allows it", func(t *testing.T) { holds(t, imports) })

	t.Run("a package that the table does not know is refused", func(t *testing.T) {
		refuses(t, imports, "not in the table", "billing/x.go", "package billing")
	})
	t.Run("the words import nothing of ours", func(t *testing.T) {
		refuses(t, imports, "package . may not import store", "x.go", "package countersign; import _ \"countersign/store\"")
	})
	t.Run("the investigation does not read the store", func(t *testing.T) {
		refuses(t, imports, "may not import store", "pipeline/investigate/x.go", "package investigate; import _ \"countersign/store\"")
	})
	t.Run("execution and review do not know a desk", func(t *testing.T) {
		refuses(t, imports, "may not import desk/bank", "pipeline/execute/x.go", "package execute; import _ \"countersign/desk/bank\"")
		refuses(t, imports, "may not import desk/bank", "pipeline/review/x.go", "package review; import _ \"countersign/desk/bank\"")
	})
	t.Run("a face does not execute past review", func(t *testing.T) {
		refuses(t, imports, "may not import pipeline/execute", "api/x.go", "package api; import _ \"countersign/pipeline/execute\"")
	})
	t.Run("product code does not import what is there for tests", func(t *testing.T) {
		refuses(t, imports, "may not import internal/testdb", "app/x.go", "package app; import _ \"countersign/internal/testdb\"")
	})
	t.Run("a star stands for one folder", func(t *testing.T) {
		refuses(t, imports, "not in the table", "llm/openai/wire/x.go", "package wire")
		allows(t, imports, "llm/openai/x.go", "package openai; import (_ \"countersign\"; _ \"countersign/llm\"; _ \"net/http\")")
	})
	t.Run("a test may import what it likes", func(t *testing.T) {
		allows(t, imports, "audit/x_test.go", "package audit; import _ \"countersign/store\"")
	})
}

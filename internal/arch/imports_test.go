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

// layer is how far a package is from the words. A package may import its own layer and those before it, so the order below
// is the order of the program; purity is asked of the first two.
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
	above    layer = "above"    // starts the whole program, and is imported by nothing in it
	fixtures layer = "fixtures" // for tests, measurements and releases alone: imported by no product code
)

var layers = []layer{words, pure, edge, stage, desk, carrier, face, program, above, fixtures}

type row struct {
	pkg   string
	layer layer
	may   string
}

// table says for every package, by its folder, which of our packages its product code may import; the words, ".", always.
// A star stands for one folder. "everything" is for those that start the whole program: every package but fixtures, and
// but pipeline/execute, which only the pipeline and a review may ask to act.
var table = []row{
	{".", words, ""},

	{"audit", pure, ""},
	{"redact", pure, ""},
	{"events", pure, ""},
	{"desk/bank/records", pure, ""},
	{"desk/bank/rules", pure, "desk/bank/records"}, // what the books prove, whoever asks: not even the policy is known here
	{"desk/merchant/shop", pure, ""},
	{"desk/merchant/rules", pure, "desk/merchant/shop"}, // nor here
	{"pipeline/investigate/fence", pure, "redact"},
	{"pipeline/verify", pure, ""},
	{"pipeline/policy", pure, ""},
	{"pipeline/budget", pure, ""},

	{"llm", edge, "redact"},
	{"llm/exchange", edge, "llm redact"}, // the line to a server, which knows no dialect
	{"llm/probe", edge, "llm redact"},    // nor does what asks a server what it can do
	{"llm/llmtest", fixtures, "llm llm/exchange redact"},
	{"llm/chain", edge, "llm pipeline/budget"},
	{"llm/roster", edge, "llm llm/anthropic llm/exchange llm/openai llm/probe pipeline/budget secret store"},
	{"llm/*", edge, "llm llm/exchange redact"},
	{"store", edge, "audit desk/bank/records pipeline/policy"},
	{"secret", edge, ""},
	{"desk/merchant/connector", edge, "desk/merchant/shop"}, // the shop's own database: it knows nothing of ours
	{"answer", edge, ""},
	{"measure", edge, "store"}, // shows, and is told: nothing that decides knows of it
	{"backup", edge, "audit store"},
	{"auth", edge, "store"},
	{"auth/session", edge, "auth store"},

	{"pipeline/investigate", stage, "llm redact pipeline/investigate/fence"}, // never the store: it is handed what it reads
	{"pipeline/queue", stage, "store"},
	{"follow", stage, "audit store"},
	{"pipeline/intake", stage, "audit events store"},
	{"pipeline/execute", stage, "store"},                                        // what it must know of a desk it is handed: desk is a way to the model
	{"pipeline/outside", stage, "audit store pipeline/execute pipeline/policy"}, // whoever it asks is handed to it: it reaches no network itself
	{"pipeline/review", stage, "audit pipeline/execute pipeline/outside store"},

	{"desk", desk, "store pipeline/intake pipeline/investigate pipeline/policy pipeline/review pipeline/verify"}, // the form in which a desk is handed on
	{"desk/bank", desk, "desk desk/bank/records desk/bank/rules llm llm/rulebook pipeline/intake pipeline/investigate pipeline/investigate/fence pipeline/policy store"},
	{"desk/bank/feed", desk, "desk/bank/records store"},
	{"desk/bank/posting", desk, "pipeline/outside secret store"},

	{"desk/merchant/report", desk, ""}, // draws what it is given, and knows nothing else
	{"desk/merchant/pack", desk, "desk/merchant/report store"},
	{"desk/merchant/setup", desk, "desk/bank/records desk/merchant/connector desk/merchant/shop secret store"},
	{"desk/merchant", desk, "audit desk events desk/merchant/pack desk/merchant/report desk/merchant/rules desk/merchant/shop llm llm/rulebook pipeline/intake pipeline/investigate pipeline/investigate/fence pipeline/policy pipeline/review pipeline/verify store"},
	{"desk/merchant/library", desk, "desk/merchant pipeline/verify store"},
	{"desk/merchant/setup", desk, "desk/bank/records desk/merchant/connector desk/merchant/shop secret store"},

	{"pipeline", carrier, "audit desk llm llm/chain pipeline/budget pipeline/execute pipeline/investigate pipeline/investigate/fence pipeline/outside pipeline/policy pipeline/verify store"},

	{"hook", face, "answer pipeline/intake secret store"}, // no way to a decision: it hands in what was signed
	{"keyring", face, "desk/bank/posting desk/merchant/setup hook llm/roster secret store"},
	{"api", face, "answer audit auth desk/merchant/pack desk/merchant/report follow measure pipeline/intake pipeline/review redact store"}, // never execute: a decision goes through review
	{"web", face, "answer audit auth auth/session desk desk/bank/feed desk/bank/posting desk/bank/records desk/merchant/connector desk/merchant/library desk/merchant/pack desk/merchant/report desk/merchant/setup desk/merchant/shop events follow hook keyring llm/probe llm/roster pipeline/budget pipeline/intake pipeline/policy pipeline/review pipeline/verify secret store"}, // nor execute
	{"demo", face, "desk/bank desk/bank/records desk/merchant desk/merchant/rules llm llm/rulebook llm/scripted pipeline/intake"},

	{"app", program, "answer api audit auth auth/session backup desk desk/bank desk/bank/posting desk/merchant desk/merchant/connector desk/merchant/library desk/merchant/setup desk/merchant/shop follow hook keyring llm llm/anthropic llm/chain llm/exchange llm/openai llm/roster llm/rulebook measure pipeline pipeline/budget pipeline/intake pipeline/investigate pipeline/outside pipeline/policy pipeline/queue pipeline/review redact secret store web"},

	// An evaluation runs the program as it is, from intake to record, and judges it from outside: below app it could only
	// judge parts, and something in the program could come to read its answers.
	{"eval", above, "everything"},
	{"cmd/countersign", above, "everything"},

	{"store/storetest", fixtures, "audit desk/bank/records internal/relay store"}, // fills one too
	{"internal/arch", fixtures, ""},
	{"internal/testdb", fixtures, ""},
	{"internal/testcore", fixtures, ""},
	{"internal/testshop", fixtures, "internal/testdb"},
	{"internal/relay", fixtures, ""},
	{"internal/dist", fixtures, ""}, // compiles the program, and knows no package of it
	{"internal/browser", fixtures, "internal/testdb"},
	{"internal/browser/shot", fixtures, "internal/browser"},
	{"internal/gallery", fixtures, "desk/bank desk/merchant web"},
	{"internal/bench", fixtures, "everything internal/testdb store/storetest"},
	{"internal/campaign", fixtures, "everything internal/campaign/truth internal/relay internal/testdb"},
	{"internal/campaign/machines", fixtures, "internal/campaign/truth internal/testdb store"}, // the program itself it starts
	{"internal/campaign/truth", fixtures, "audit desk/bank/records store"},                    // judges from outside: it knows none of those whose work it judges
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
		if matches(pattern, imported) || pattern == "everything" && layerOf(imported) != fixtures && imported != "pipeline/execute" {
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

// inOrder finds rows of the table that look at a later layer, and rows that are about no package.
func inOrder(all tree) (checked int, broken []string) {
	known := packages(all)
	for _, r := range table {
		checked++
		if !slices.ContainsFunc(known, func(dir string) bool { return matches(r.pkg, dir) }) {
			broken = append(broken, "the table of imports has a row for "+r.pkg+", which holds no package")
		}
		for _, dir := range known {
			if r.may != "" && allowed(r.may, dir) && rank(layerOf(dir)) > rank(r.layer) {
				broken = append(broken, "the table lets "+r.pkg+" import "+dir+", which is of a later layer")
			}
		}
	}
	return checked, broken
}

func rank(l layer) int { return slices.Index(layers, l) }

// modules says which of our packages may import other people's code, by the beginning of its path: so that one look tells
// who talks to a database, a model or the network, and a new dependency is a line here that somebody reads.
var modules = map[string]string{
	"filippo.io/age":                      "backup",
	"github.com/alecthomas/kong":          "cmd/countersign",
	"github.com/alexedwards/scs/v2":       "auth/session",
	"github.com/chromedp/cdproto":         "internal/browser",
	"github.com/chromedp/chromedp":        "internal/browser",
	"github.com/danielgtaylor/huma/v2":    "api",
	"github.com/go-pdf/fpdf":              "demo desk/merchant/report",
	"github.com/go-sql-driver/mysql":      "desk/merchant/connector internal/testdb internal/testshop",
	"github.com/gofrs/flock":              "app backup",
	"github.com/jackc/pgx/v5":             "desk/merchant/connector internal/campaign internal/testdb internal/testshop store",
	"github.com/klippa-app/go-pdfium":     "desk/merchant/library",
	"github.com/pdfcpu/pdfcpu":            "desk/merchant/report",
	"github.com/pressly/goose/v3":         "store",
	"github.com/prometheus/client_golang": "measure",
	"github.com/riverqueue/river":         "pipeline/queue store",
	"github.com/sashabaranov/go-openai":   "llm/openai internal/bench",
	"github.com/tetratelabs/wazero":       "desk/merchant/library",
	"golang.org/x/crypto":                 "auth",
	"golang.org/x/net/html":               "desk/merchant/library",
	"golang.org/x/term":                   "cmd/countersign",
	"golang.org/x/text/encoding":          "desk/merchant/library",
	"golang.org/x/text/unicode/bidi":      "desk/merchant/report",
	"golang.org/x/text/unicode/norm":      "desk/merchant/library desk/merchant/report pipeline/verify",
	"modernc.org/sqlite":                  "demo desk/merchant/connector desk/merchant/library internal/testshop store store/storetest",
}

func foreign(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		for _, p := range imported(s) {
			if host, _, _ := strings.Cut(p, "/"); !strings.Contains(host, ".") {
				continue // ours, or the standard library's
			}
			checked++
			if !slices.Contains(strings.Fields(modules[entryOf(p)]), s.dir()) {
				broken = append(broken, s.path+": package "+s.dir()+" may not import "+p)
			}
		}
	}
	return checked, broken
}

// entryOf is the entry of modules that a path is under, empty if there is none.
func entryOf(p string) string {
	for name := range modules {
		if p == name || strings.HasPrefix(p, name+"/") {
			return name
		}
	}
	return ""
}

func TestImports(t *testing.T) {
	t.Run("every package imports only what the table allows it", func(t *testing.T) { holds(t, imports) })
	t.Run("no row looks at a later layer, and each is about a package that is there", func(t *testing.T) { holds(t, inOrder) })
	t.Run("other people's code is imported where it is meant to be", func(t *testing.T) { holds(t, foreign) })

	t.Run("a package that the table does not know is refused", func(t *testing.T) {
		refuses(t, imports, "not in the table", "billing/x.go", "package billing")
	})
	t.Run("the words import nothing of ours", func(t *testing.T) {
		refuses(t, imports, "package . may not import store", "x.go", "package countersign; import _ \"countersign/store\"")
	})
	t.Run("the investigation does not read the store", func(t *testing.T) {
		refuses(t, imports, "may not import store", "pipeline/investigate/x.go", "package investigate; import _ \"countersign/store\"")
	})
	t.Run("nor does it know the limits, which could then reach a prompt", func(t *testing.T) {
		refuses(t, imports, "may not import pipeline/policy", "pipeline/investigate/x.go", "package investigate; import _ \"countersign/pipeline/policy\"")
	})
	t.Run("execution and review do not know a desk", func(t *testing.T) {
		refuses(t, imports, "may not import desk/bank", "pipeline/execute/x.go", "package execute; import _ \"countersign/desk/bank\"")
		refuses(t, imports, "may not import desk/bank", "pipeline/review/x.go", "package review; import _ \"countersign/desk/bank\"")
	})
	t.Run("a face does not execute past review", func(t *testing.T) {
		refuses(t, imports, "may not import pipeline/execute", "api/x.go", "package api; import _ \"countersign/pipeline/execute\"")
	})
	t.Run("nor does one that starts the whole program", func(t *testing.T) {
		refuses(t, imports, "may not import pipeline/execute", "eval/x.go", "package eval; import _ \"countersign/pipeline/execute\"")
	})
	t.Run("the program does not know who evaluates it", func(t *testing.T) {
		refuses(t, imports, "may not import eval", "app/x.go", "package app; import _ \"countersign/eval\"")
		allows(t, imports, "eval/x.go", "package eval; import _ \"countersign/app\"")
	})
	t.Run("what the books prove does not depend on the policy", func(t *testing.T) {
		refuses(t, imports, "may not import pipeline/policy", "desk/bank/rules/x.go", "package rules; import _ \"countersign/pipeline/policy\"")
	})
	t.Run("product code does not import what is there for tests", func(t *testing.T) {
		refuses(t, imports, "may not import internal/testdb", "app/x.go", "package app; import _ \"countersign/internal/testdb\"")
	})
	t.Run("a star stands for one folder", func(t *testing.T) {
		refuses(t, imports, "not in the table", "llm/openai/wire/x.go", "package wire")
		allows(t, imports, "llm/openai/x.go", "package openai; import (_ \"countersign\"; _ \"countersign/llm\"; _ \"net/http\")")
	})
	t.Run("a row for a package that is gone is named", func(t *testing.T) {
		refuses(t, inOrder, "a row for store, which", "doc.go", "package countersign")
	})
	t.Run("a new dependency is refused, and a known one in a new place", func(t *testing.T) {
		refuses(t, foreign, "may not import example.com/agent", "llm/openai/x.go", "package openai; import _ \"example.com/agent\"")
		refuses(t, foreign, "may not import github.com/sashabaranov/go-openai", "store/x.go", "package store; import _ \"github.com/sashabaranov/go-openai\"")
		refuses(t, foreign, "may not import modernc.org/sqlite/lib", "api/x.go", "package api; import _ \"modernc.org/sqlite/lib\"")
		allows(t, foreign, "store/x.go", "package store; import (_ \"modernc.org/sqlite/lib\"; _ \"net/url\"; _ \"countersign/audit\")")
	})
	t.Run("a test may import what it likes", func(t *testing.T) {
		allows(t, imports, "audit/x_test.go", "package audit; import _ \"countersign/store\"")
	})
}

package arch

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// deskWords are what only one desk would say. The pipeline must read as if a third desk already existed, so neither a name
// nor a text in it has one of these.
var deskWords = map[string]bool{}

func init() {
	for _, word := range strings.Fields("bank banks merchant merchants shop settlement settlements chargeback chargebacks ledgers device devices twin contest") {
		deskWords[word] = true
	}
}

// word matches the parts of a name as we write them: deskForBank is desk, For, Bank.
var word = regexp.MustCompile(`[A-Z]*[a-z]+|[A-Z]+`)

func saysDeskWord(text string) string {
	for _, w := range word.FindAllString(text, -1) {
		if deskWords[strings.ToLower(w)] {
			return w
		}
	}
	return ""
}

func deskless(all tree) (checked int, broken []string) {
	for _, s := range all.product() {
		if s.dir() != "pipeline" && !strings.HasPrefix(s.dir(), "pipeline/") {
			continue
		}
		checked++
		complain := func(n ast.Node, said string) {
			if said != "" {
				broken = append(broken, s.at(n)+": the pipeline has no word of any desk, and this says "+said)
			}
		}
		for _, spec := range s.syntax.Imports {
			complain(spec, saysDeskWord(spec.Path.Value))
		}
		texts(s, nil, func(n ast.Node, text string) { complain(n, saysDeskWord(text)) })
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				complain(n, saysDeskWord(name.Name))
			}
			return true
		})
	}
	return checked, broken
}

func TestDesks(t *testing.T) {
	t.Run("the pipeline reads as if a third desk already existed", func(t *testing.T) { holds(t, deskless) })

	t.Run("not even a name", func(t *testing.T) {
		refuses(t, deskless, "says Bank", "pipeline/x.go", "package pipeline; var deskForBank int")
		refuses(t, deskless, "says Merchant", "pipeline/x.go", "package pipeline; import \"countersign\"; var d = countersign.Merchant")
	})
	t.Run("not even a text", func(t *testing.T) {
		refuses(t, deskless, "says settlement", "pipeline/verify/x.go", "package verify; const s = \"the settlement failed\"")
	})
	t.Run("not even an import", func(t *testing.T) {
		refuses(t, deskless, "says bank", "pipeline/x.go", "package pipeline; import _ \"countersign/desk/bank\"")
	})
	t.Run("a desk may speak its own language, and a comment may give an example", func(t *testing.T) {
		allows(t, deskless, "desk/bank/x.go", "package bank; var settlement int", "pipeline/x.go", "// Like a bank.\npackage pipeline")
	})
	t.Run("a word inside another is another word", func(t *testing.T) {
		allows(t, deskless, "pipeline/x.go", "package pipeline; var workshop, Bankrupt int")
	})
}

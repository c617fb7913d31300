package arch

import (
	"slices"
	"strings"
	"testing"
)

// modelless are the packages that decide, act or keep the record, and those that they are handed to. From none of them does
// any chain of imports lead to a model, or to a network client or another program with which one could be called.
var modelless = []string{"audit", "store", "desk/bank/records", "desk/bank/rules", "pipeline/policy", "pipeline/verify", "pipeline/execute",
	"pipeline/outside", "pipeline/review", "pipeline/intake", "pipeline/queue", "auth", "redact", "secret"}

// isModel reports whether an import is a way to a model. What other people's modules import is not followed: the table of
// modules says who may use which.
func isModel(imported string) bool {
	return imported == modulePath+"/llm" || strings.HasPrefix(imported, modulePath+"/llm/") || slices.Contains(lines, imported) ||
		strings.Contains(imported, "openai") || strings.Contains(imported, "anthropic")
}

// lines are the standard library's ways to somebody outside this process.
var lines = strings.Fields("net net/http net/rpc net/textproto net/smtp os/exec plugin")

func unreachable(all tree) (checked int, broken []string) {
	reads := map[string][]string{} // by folder: every path its product code imports
	for _, s := range all.product() {
		reads[s.dir()] = append(reads[s.dir()], imported(s)...)
	}
	for _, dir := range modelless {
		if _, ok := reads[dir]; !ok {
			broken = append(broken, dir+" is promised not to reach the model, and holds no code: did it move?")
			continue
		}
		checked++
		if way := wayToModel(reads, dir, nil); way != nil {
			broken = append(broken, dir+" can reach the model: "+strings.Join(way, " → "))
		}
	}
	return checked, broken
}

// wayToModel returns the imports that lead from a folder to a model, nil if none do.
func wayToModel(reads map[string][]string, dir string, behind []string) []string {
	behind = append(slices.Clone(behind), dir)
	for _, p := range reads[dir] {
		if isModel(p) {
			return append(behind, p)
		}
		next, ok := strings.CutPrefix(p, modulePath+"/")
		if !ok || slices.Contains(behind, next) {
			continue
		}
		if way := wayToModel(reads, next, behind); way != nil {
			return way
		}
	}
	return nil
}

// everyModelless is a tree in which the promise holds, to be broken by one file more.
func everyModelless(more ...string) (files []string) {
	for _, dir := range modelless {
		files = append(files, dir+"/doc.go", "package p; import _ \"countersign\"")
	}
	return append(files, more...)
}

func TestNothingThatDecidesActsOrKeepsTheRecordCanReachTheModel(t *testing.T) {
	t.Run("in this module", func(t *testing.T) { holds(t, unreachable) })

	t.Run("a direct import is a way", func(t *testing.T) {
		refuses(t, unreachable, "pipeline/execute → countersign/llm", everyModelless(
			"pipeline/execute/x.go", "package execute; import _ \"countersign/llm\"")...)
	})
	t.Run("so is one through a package that looks harmless", func(t *testing.T) {
		refuses(t, unreachable, "store → desk → pipeline/investigate → countersign/llm/openai", everyModelless(
			"store/x.go", "package store; import _ \"countersign/desk\"",
			"desk/x.go", "package desk; import _ \"countersign/pipeline/investigate\"",
			"pipeline/investigate/x.go", "package investigate; import _ \"countersign/llm/openai\"")...)
	})
	t.Run("and a provider's own client", func(t *testing.T) {
		refuses(t, unreachable, "audit → github.com/sashabaranov/go-openai", everyModelless(
			"audit/x.go", "package audit; import _ \"github.com/sashabaranov/go-openai\"")...)
		refuses(t, unreachable, "pipeline/review → net/http", everyModelless(
			"pipeline/review/x.go", "package review; import _ \"net/http\"")...)
	})
	t.Run("so is another program", func(t *testing.T) {
		refuses(t, unreachable, "store → os/exec", everyModelless("store/x.go", "package store; import _ \"os/exec\"")...)
	})
	t.Run("a package that has moved away is missed", func(t *testing.T) {
		refuses(t, unreachable, "did it move?", everyModelless()[2:]...)
	})
	t.Run("reading what the model left behind is no way to it", func(t *testing.T) {
		allows(t, unreachable, everyModelless("llm/llm.go", "package llm; import _ \"countersign/redact\"")...)
	})
}

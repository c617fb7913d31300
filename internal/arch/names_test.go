package arch

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// nameless are folder names that say where something was put and not what it knows.
var nameless = strings.Fields("util utils common helper helpers base shared core types model models manager managers service services misc lib pkg")

func names(all tree) (checked int, broken []string) {
	for _, s := range all {
		for dir := s.dir(); dir != "."; dir = path.Dir(dir) {
			checked++
			complaint := dir + ": a folder called " + path.Base(dir) + " says nothing: find the name of what it knows"
			if slices.Contains(nameless, path.Base(dir)) && !slices.Contains(broken, complaint) {
				broken = append(broken, complaint)
			}
		}
	}
	return checked, broken
}

func TestNames(t *testing.T) {
	t.Run("every folder is named after what it knows", func(t *testing.T) { holds(t, names) })

	t.Run("a drawer is refused at any depth", func(t *testing.T) {
		refuses(t, names, "called util", "web/util/x.go", "package util")
		refuses(t, names, "called types", "types/bank/x.go", "package bank")
	})
	t.Run("a word that merely contains one is not", func(t *testing.T) {
		allows(t, names, "llm/modelcard/x.go", "package modelcard")
	})
}

package arch

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tree in ARCHITECTURE.md is a fenced block whose first line is "countersign/"; below it a line is a folder, indented
// two blanks deeper than the one that holds it, and what is to say about it.
// A pure package is marked as one.
var (
	treeBlock  = regexp.MustCompile("(?s)```\n(countersign/ .*?)```")
	treeLine   = regexp.MustCompile(`^( *)([\w.-]+)/(?:  +\S.*)?$`)
	markedPure = regexp.MustCompile(`\(pure\)$`)
)

// drawn returns the folders that the document's tree names, the root as ".", those it marks as pure, and the lines that are
// not of its form.
func drawn(document string) (dirs []string, marked map[string]bool, unread []string) {
	marked = map[string]bool{}
	block := treeBlock.FindStringSubmatch(document)
	if block == nil {
		return nil, nil, nil
	}
	var above []string
	for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n")[1:] {
		m := treeLine.FindStringSubmatch(line)
		if depth := 0; m != nil {
			if depth = len(m[1])/2 - 1; depth >= 0 && depth <= len(above) {
				above = append(above[:depth:depth], m[2])
				dirs = append(dirs, strings.Join(above, "/"))
				marked[dirs[len(dirs)-1]] = markedPure.MatchString(line)
				continue
			}
		}
		unread = append(unread, line)
	}
	return append(dirs, "."), marked, unread
}

func documentedTree(all tree) (checked int, broken []string) {
	real := packages(all)
	for _, dir := range packages(all) { // the folders on the way to a package are drawn, and hold none
		for ; dir != "."; dir = path.Dir(dir) {
			real = append(real, dir)
		}
	}
	slices.Sort(real)
	real = slices.Compact(real)
	for _, s := range all.only(func(s source) bool { return s.path == "ARCHITECTURE.md" }) {
		dirs, marked, unread := drawn(s.text)
		checked += len(dirs)
		for _, line := range unread {
			broken = append(broken, "ARCHITECTURE.md: not a line of a tree: "+line)
		}
		for _, dir := range dirs {
			if !slices.Contains(real, dir) {
				broken = append(broken, "ARCHITECTURE.md draws "+dir+", which holds no package")
			}
			if is := layerOf(dir) == pure; is != marked[dir] {
				broken = append(broken, "ARCHITECTURE.md marks "+dir+" as pure: "+strconv.FormatBool(marked[dir])+", the table of imports: "+strconv.FormatBool(is))
			}
		}
		for _, dir := range real {
			if !slices.Contains(dirs, dir) {
				broken = append(broken, "ARCHITECTURE.md does not draw "+dir)
			}
		}
	}
	return checked, broken
}

func isDocument(s source) bool { return path.Ext(s.path) == ".md" }

// A document names a file or folder of the module in backquotes, by its path from the root; it links relative to itself.
var (
	quotedPath = regexp.MustCompile("`((?:[\\w.-]+/)*[\\w.-]+\\.(?:md|go|sql)|(?:[\\w.-]+/)+|\\.ci/run|scripts/[\\w-]+)`")
	link       = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// paths checks names against the disk and not the tree, since a document may name files that no promise reads.
func paths(exists func(string) bool) promise {
	return func(all tree) (checked int, broken []string) {
		for _, s := range all.only(isDocument) {
			for _, m := range quotedPath.FindAllStringSubmatch(s.text, -1) {
				checked++
				if name := strings.TrimSuffix(m[1], "/"); !exists(name) && !exists(path.Join(s.dir(), name)) {
					broken = append(broken, s.path+" names "+m[1]+", which does not exist")
				}
			}
			for _, m := range link.FindAllStringSubmatch(s.text, -1) {
				checked++
				if name := path.Join(s.dir(), m[1]); !exists(name) {
					broken = append(broken, s.path+" links to "+name+", which does not exist")
				}
			}
		}
		return checked, broken
	}
}

func onDisk(name string) bool {
	_, err := os.Stat(path.Join("../..", name))
	return err == nil
}

// commented finds packages that do not say what they know.
func commented(all tree) (checked int, broken []string) {
	for _, dir := range packages(all) {
		checked++
		says := false
		for _, s := range all.product().only(func(s source) bool { return s.dir() == dir }) {
			says = says || s.syntax.Doc != nil && len(s.syntax.Doc.Text()) > 60
		}
		if !says {
			broken = append(broken, dir+": no package comment says what it knows, promises and refuses")
		}
	}
	return checked, broken
}

func TestDocuments(t *testing.T) {
	t.Run("ARCHITECTURE.md draws every folder that holds a package, and no other", func(t *testing.T) { holds(t, documentedTree) })
	t.Run("every file, folder and link that a document names exists", func(t *testing.T) { holds(t, paths(onDisk)) })
	t.Run("every package says what it knows", func(t *testing.T) { holds(t, commented) })

	drawing := func(lines ...string) string {
		return "Text.\n\n```\ncountersign/  the words\n" + strings.Join(lines, "\n") + "\n```\n"
	}
	t.Run("a folder that is gone is named", func(t *testing.T) {
		refuses(t, documentedTree, "draws desk/bank/old", "ARCHITECTURE.md", drawing("  desk/  a desk", "    bank/  issuer", "      old/"),
			"doc.go", "package countersign", "desk/bank/x.go", "package bank")
	})
	t.Run("a folder that is not drawn is named", func(t *testing.T) {
		refuses(t, documentedTree, "does not draw store", "ARCHITECTURE.md", drawing("  audit/"), "doc.go", "package countersign",
			"audit/x.go", "package audit", "store/x.go", "package store")
	})
	t.Run("folders on the way and nested ones are understood", func(t *testing.T) {
		allows(t, documentedTree, "ARCHITECTURE.md", drawing("  cmd/", "    countersign/  the program", "  desk/", "    bank/", "      rules/  judgement (pure)", "  llm/"),
			"doc.go", "package countersign", "cmd/countersign/x.go", "package main", "desk/x.go", "package desk",
			"desk/bank/x.go", "package bank", "desk/bank/rules/x.go", "package rules", "llm/x.go", "package llm")
	})
	t.Run("a line of another form is not passed over", func(t *testing.T) {
		refuses(t, documentedTree, "not a line of a tree", "ARCHITECTURE.md", drawing("  audit: the record"), "doc.go", "package countersign")
	})
	none := paths(func(string) bool { return false })
	t.Run("a path that is gone is named", func(t *testing.T) {
		for _, text := range []string{"`docs/gone.md`", "`store/cases.go`", "`desk/bank/`", "`.ci/run`", "[limits](docs/limits.md#tail)"} {
			refuses(t, none, "does not exist", "README.md", text)
		}
	})
	t.Run("what is no path is left alone", func(t *testing.T) {
		allows(t, none, "README.md", "`S3` `policy.Decide` `a/b` `/api/v1/disputes` [site](https://example.com)")
	})
	t.Run("a package that is pure and not marked so is named, and the other way round", func(t *testing.T) {
		refuses(t, documentedTree, "marks audit as pure: false", "ARCHITECTURE.md", drawing("  audit/  the record"), "doc.go", "package countersign", "audit/x.go", "package audit")
		refuses(t, documentedTree, "marks store as pure: true", "ARCHITECTURE.md", drawing("  store/  rows (pure)"), "doc.go", "package countersign", "store/x.go", "package store")
	})
	t.Run("a package without a comment is named", func(t *testing.T) {
		refuses(t, commented, "store: no package comment", "store/x.go", "package store")
		refuses(t, commented, "store: no package comment", "store/x.go", "// Package store stores.\npackage store")
	})
}

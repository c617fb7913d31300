package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"countersign/internal/testdb"
)

// source is one file of the module: a Go file with its syntax, or any other file that a promise reads.
type source struct {
	path   string // from the module's root: "store/cases.go"
	text   string
	syntax *ast.File // nil for what is not Go
	lines  *token.FileSet
}

func (s source) dir() string  { return path.Dir(s.path) } // "." for the root package
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at says where a node is, as an editor understands it.
func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.lines.Position(n.Pos()).Line)
}

// tree is the module's files in path order.
type tree []source

// read takes in every file whose kind some promise reads. Folders that no build looks at are left out, as Go leaves them out.
func read(files fs.FS) (tree, error) {
	var all tree
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base != "." && (base[0] == '.' || base[0] == '_' || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go", ".sql", ".md":
		default:
			if name != "Makefile" {
				return nil
			}
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		s := source{path: name, text: string(text)}
		if path.Ext(name) == ".go" {
			s.lines = token.NewFileSet()
			if s.syntax, err = parser.ParseFile(s.lines, name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				return err
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

var module = sync.OnceValues(func() (tree, error) { return read(os.DirFS("../..")) })

// product is the Go files that end up in the program.
func (all tree) product() tree {
	return all.only(func(s source) bool { return s.syntax != nil && !s.isTest() })
}

func (all tree) only(keep func(source) bool) (some tree) {
	for _, s := range all {
		if keep(s) {
			some = append(some, s)
		}
	}
	return some
}

// promise looks at a tree and returns how many things it checked and one sentence for each that breaks it.
type promise func(tree) (checked int, broken []string)

// holds fails the test unless the promise holds in this module, and was about something.
func holds(t *testing.T, p promise) {
	t.Helper()
	all, err := module()
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	checked, broken := p(all)
	if checked == 0 {
		t.Fatal("found nothing to check: the promise is empty, or what it is about has moved")
	}
	for _, sentence := range broken {
		t.Error(sentence)
	}
}

// sample is a made-up tree: path, text, path, text, …
func sample(t *testing.T, files ...string) tree {
	t.Helper()
	made := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		made[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	all, err := read(made)
	if err != nil {
		t.Fatalf("read the sample: %v", err)
	}
	return all
}

// refuses fails the test unless the sample breaks the promise in a sentence that contains want.
func refuses(t *testing.T, p promise, want string, files ...string) {
	t.Helper()
	_, broken := p(sample(t, files...))
	for _, sentence := range broken {
		if strings.Contains(sentence, want) {
			return
		}
	}
	t.Errorf("want a sentence with %q, got %q, for:\n%s", want, broken, strings.Join(files, "\n"))
}

// allows fails the test if the sample breaks the promise.
func allows(t *testing.T, p promise, files ...string) {
	t.Helper()
	if _, broken := p(sample(t, files...)); len(broken) > 0 {
		t.Errorf("want no complaint, got %q, for:\n%s", broken, strings.Join(files, "\n"))
	}
}

func TestTree(t *testing.T) {
	t.Run("the module is read from its root", func(t *testing.T) {
		all, err := module()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"doc.go", "internal/arch/doc.go", "Makefile", "README.md"} {
			if len(all.only(func(s source) bool { return s.path == want })) != 1 {
				t.Errorf("%s was not read, under %s", want, testdb.Root(t))
			}
		}
	})
	t.Run("files that no build looks at are left out", func(t *testing.T) {
		all := sample(t, "a/a.go", "package a", "a/testdata/b.go", "package", ".git/c.go", "package", "_old/d.go", "package")
		if len(all) != 1 || all[0].path != "a/a.go" {
			t.Errorf("read %d files, want a/a.go alone", len(all))
		}
	})
	t.Run("a file that does not parse is an error and not an absence", func(t *testing.T) {
		if _, err := read(fstest.MapFS{"a.go": {Data: []byte("packag a")}}); err == nil {
			t.Error("a broken file was read without an error")
		}
	})
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module is a module on disk with one package in it, and with the files that are given.
func module(t *testing.T, name string, files ...string) linked {
	t.Helper()
	root := t.TempDir()
	for _, f := range append(files, "inner/x.go") {
		path := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := linked{ImportPath: name + "/inner", Dir: filepath.Join(root, "inner")}
	l.Module = &struct {
		Path, Version, Dir string
		Main               bool
	}{name, "v1.0.0", root, false}
	return l
}

func TestNotices(t *testing.T) {
	t.Parallel()
	t.Run("a module without a licence is refused by its name", func(t *testing.T) {
		_, err := noticesOf([]linked{module(t, "example.com/a", "LICENSE"), module(t, "example.com/b", "README.md", "license.go", "other/LICENSE")})
		if err == nil || !strings.Contains(err.Error(), "example.com/b v1.0.0 has no licence") {
			t.Errorf("%v", err)
		}
	})
	t.Run("whatever its author calls it is passed on", func(t *testing.T) {
		for _, name := range []string{"LICENSE", "LICENCE.txt", "License.md", "COPYING", "NOTICE", "PATENTS", "LICENSE-3RD-PARTY.md", "htmx.LICENSE", "SQLITE-LICENSE"} {
			found, err := noticesOf([]linked{module(t, "example.com/a", name)})
			if err != nil || len(found) != 1 || found[0] != (notice{"example.com/a v1.0.0", name, "text of " + name}) {
				t.Errorf("%s: %v, %v", name, found, err)
			}
		}
	})
	t.Run("code that a module took from elsewhere, and what is embedded, bring theirs", func(t *testing.T) {
		l := module(t, "example.com/a", "LICENSE", "inner/LICENSE", "inner/fonts/Font.LICENSE", "inner/fonts/Font.ttf", "testdata/LICENSE")
		l.EmbedFiles = []string{"fonts/Font.ttf"}
		found, err := noticesOf([]linked{l})
		if err != nil {
			t.Fatal(err)
		}
		text := string(written(found))
		for _, want := range []string{"(LICENSE)", "(inner/LICENSE)", "(inner/fonts/Font.LICENSE)"} {
			if !strings.Contains(text, "example.com/a v1.0.0 "+want) {
				t.Errorf("%s is missing in\n%s", want, text)
			}
		}
		if len(found) != 3 {
			t.Errorf("%d notices, want 3, and none of what is not linked", len(found))
		}
	})
}

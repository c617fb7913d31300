package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

var shown = regexp.MustCompile("(?s)```\n(case .*?)```")

// TestTheReadmeShowsWhatTheDemoPrints holds the lines in the README to those of the program; "…" stands for some that are
// left out.
func TestTheReadmeShowsWhatTheDemoPrints(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testdb.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := shown.FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md shows no table of cases")
	}
	t.Setenv("COUNTERSIGN_DATA", "")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--once"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("demo --once ended with %d: %s", code, errs.String())
	}
	var printed []string
	for line := range strings.Lines(out.String()) {
		printed = append(printed, strings.TrimRight(line, " \n"))
	}
	for line := range strings.Lines(string(block[1])) {
		if line = strings.TrimRight(line, " \n"); line != "…" && !slices.Contains(printed, line) {
			t.Errorf("the demo does not print: %s", line)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// block is what stands between fences, after its language; what a reader is told to type has none.
var block = regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```$")

// typed returns the commands of docs/running.md: those to try it, those that scripts/test-deb types, and those of systemd.
func typed(t *testing.T) (try, installed, systemd []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdb.Root(t), "docs", "running.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), "\n## Run it for a shop\n")
	if !found {
		t.Fatal("docs/running.md does not say how to run it for a shop")
	}
	for _, line := range lines(after) {
		line = strings.TrimPrefix(line, "sudo ")
		if strings.HasPrefix(line, "systemctl ") || strings.HasPrefix(line, "journalctl ") {
			systemd = append(systemd, line)
		} else {
			installed = append(installed, line)
		}
	}
	if try = lines(before); len(try) < 3 || len(installed) < 6 || len(systemd) < 2 {
		t.Fatalf("docs/running.md has the commands %q, %q and %q", try, installed, systemd)
	}
	return try, installed, systemd
}

func lines(text string) (all []string) {
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			all = append(all, strings.Split(strings.TrimSpace(m[2]), "\n")...)
		}
	}
	return all
}

// TestEveryCommandOfThePageIsTypedByATest leaves out what only a machine with systemd running could show: there the unit that is named
// is one of ours.
func TestEveryCommandOfThePageIsTypedByATest(t *testing.T) {
	t.Parallel()
	session, err := os.ReadFile(filepath.Join(testdb.Root(t), "scripts", "test-deb"))
	if err != nil {
		t.Fatal(err)
	}
	_, commands, systemd := typed(t)
	for _, line := range commands {
		if !strings.Contains(string(session), "'"+line+"'") {
			t.Errorf("docs/running.md has its reader type %q, and scripts/test-deb does not", line)
		}
	}
	for _, line := range systemd {
		if !strings.HasSuffix(line, " countersign") && !strings.HasSuffix(line, " countersign-worker") {
			t.Errorf("docs/running.md names a unit that is not ours: %s", line)
		}
	}
}

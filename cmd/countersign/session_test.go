package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"
)

// What a user types and sees is told in testdata/sessions, one file a subject, to be read as documentation. Beside what
// testscript knows, a session may say:
//
//	exits CODE countersign ARG…     runs it and checks the exit code
//	complains PATTERN               the last command said nothing but one line on standard error, and it matches
//	columns N FILE                  no line of the file, or of stdout, is wider
//	sql DATABASE STATEMENT          does to a SQLite file what only somebody with the file can do
//	records N FILE                  writes an import of N rows
//	bytes FILE TEXT                 writes a file whose text has Go's escapes in it
//	envfile NAME FILE               sets a variable to what a file holds
//	cut FILE N                      takes the last N bytes off
//
// $TAKEN is an address that something else listens on.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d sessions, %v", len(files), err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/sessions", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("COUNTERSIGN_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TAKEN", l.Addr().String())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "complains": complains, "columns": columns, "sql": statement, "records": writeRecords, "bytes": writeBytes, "cut": cut, "envfile": envFile,
		},
	})
}

// exits runs a command as exec does and insists on its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG…")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func complains(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: complains PATTERN")
	}
	out, errs := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	switch {
	case out != "":
		ts.Fatalf("standard output is not empty: %s", out)
	case strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "countersign: ") || !strings.HasSuffix(errs, "\n"):
		ts.Fatalf("standard error is not one line of ours: %q", errs)
	case !regexp.MustCompile(args[0]).MatchString(errs):
		ts.Fatalf("the complaint is\n%swhich does not match %s", errs, args[0])
	}
}

func columns(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > most {
			ts.Fatalf("%d columns, want at most %d: %s", n, most, line)
		}
	}
}

func statement(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

func writeRecords(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), manyRecords(n), 0o600))
}

func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func envFile(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)-n]), 0o600))
}

// manyRecords is an import of n rows: failed transfers, six rows each.
func manyRecords(n int) []byte {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(failedTransfers((n + 5) / 6)); err != nil {
		panic(fmt.Sprint("unreachable: the records are made up here: ", err))
	}
	return b.Bytes()
}

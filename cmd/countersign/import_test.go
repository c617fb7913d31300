package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stopping is a standard error whose reader stops the program at the first thing said there.
type stopping struct {
	strings.Builder
	stop context.CancelFunc
}

func (s *stopping) Write(b []byte) (int, error) {
	s.stop()
	return s.Builder.Write(b)
}

func TestAnImportThatIsStoppedSaysHowFarItCame(t *testing.T) {
	dir := t.TempDir()
	customers, accounts := "id,name\n", "id,customer_id,number,currency\nA,nobody,0123456789,NGN\n"
	for i := range 700 {
		customers += fmt.Sprintf("C%d,Ada\n", i)
		accounts += fmt.Sprintf("A%d,C%d,0123456789,NGN\n", i, i)
	}
	files := []string{filepath.Join(dir, "customers.csv"), filepath.Join(dir, "accounts.csv")}
	for i, text := range []string{customers, accounts} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := append([]string{"--data", filepath.Join(dir, "data"), "import", "records"}, files...)
	ctx, cancel := context.WithCancel(t.Context())
	errs, out := &stopping{stop: cancel}, &strings.Builder{}
	code := run(ctx, command, strings.NewReader(""), out, errs)
	if want := "1199 rows are stored. The same import again goes on from there.\ncountersign: stopped\n"; code != 1 || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("exit %d, and said\n%s", code, errs)
	}
	again := &strings.Builder{}
	if code = run(t.Context(), command, strings.NewReader(""), out, again); code != 1 || !strings.Contains(out.String(), "customers.csv: 0 new, 0 changed, 700 unchanged, 0 refused") {
		t.Errorf("exit %d, and said\n%s%s", code, out, again)
	}
}

// What was refused names accounts and customers.
func TestTheListOfWhatWasRefusedIsThisUsersAlone(t *testing.T) {
	dir := t.TempDir()
	file, results := filepath.Join(dir, "accounts.csv"), filepath.Join(dir, "refused.csv")
	if err := os.WriteFile(file, []byte("id,customer_id,number,currency\nA,nobody,0123456789,NGN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"--data", filepath.Join(dir, "data"), "import", "records", file, "--results", results}, strings.NewReader(""), &out, &errs); code != 1 {
		t.Errorf("exit %d, and said\n%s%s", code, &out, &errs)
	}
	if info, err := os.Stat(results); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v), want 0600", info.Mode(), err)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/demo"
	"countersign/internal/testdb"
)

// dying runs a command that kills itself at its n-th change to the database, and reports whether it came to that.
func (p *program) dying(n int, args ...string) (died bool) {
	p.Helper()
	var said bytes.Buffer
	cmd := p.command(args...)
	cmd.Env = append(cmd.Env, fmt.Sprint(killAtChange, "=", n))
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		p.Fatalf("countersign %s, to die at change %d: %v\n%s", strings.Join(args, " "), n, err, said.String())
	}
	return err != nil
}

// Whatever makes an installation may die at each of its changes. The next one goes on, and nothing is there twice.
func TestAFirstStartThatDies(t *testing.T) {
	t.Parallel()
	for n, died := 1, true; died; n++ {
		p := newProgram(t, testdb.SQLite(t))
		died = p.dying(n, "migrate")
		p.must("migrate")
		if said := p.must("migrate"); !strings.Contains(said, "nothing to do") {
			t.Errorf("change %d: after it was migrated: %s", n, said)
		}
		if _, err := os.Stat(filepath.Join(p.data(), "master.key")); err != nil {
			t.Errorf("change %d: %v", n, err)
		}
		p.admin()
		if !died && n < 10 {
			t.Errorf("there were only %d changes to die at", n-1)
		}
	}
}

// commands are those that store something, on an installation that has what they need. Each may be run again.
func (p *program) commands() map[string][]string {
	p.Helper()
	shop := filepath.Join(p.TempDir(), "shop.db")
	if err := demo.MakeShop(p.Context(), shop, time.Now()); err != nil {
		p.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(p.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			p.Fatal(err)
		}
		return path
	}
	return map[string][]string{
		"import records":  {"import", "records", p.file(failedTransfers(3))},
		"import policies": {"import", "policies", write("returns.md", []byte("# Returns\n\nWhat was worn is not taken back, whoever wore it.\n"))},
		"mapping apply":   {"mapping", "apply", write("mapping.json", demo.ShopMapping(shop))},
		"policy apply":    {"policy", "apply", write("limits.json", []byte(p.must("policy", "show")))},
		"token create":    {"token", "create", "--name", "n", "--role", "admin"},
	}
}

// once is how many rows of what a command stores there may be when it was run until it ended well.
var once = map[string]string{
	"import records":  "SELECT COUNT(*) = 3 FROM transactions",
	"import policies": "SELECT COUNT(*) = 1 FROM policy_versions WHERE confirmed_at IS NOT NULL",
	"mapping apply":   "SELECT COUNT(*) > 0 FROM shop_mappings",
	"policy apply":    "SELECT COUNT(*) > 0 FROM policies",
	"token create":    "SELECT COUNT(*) > 0 FROM tokens",
}

func TestACommandThatDies(t *testing.T) {
	t.Parallel()
	setUp := newProgram(t, testdb.SQLite(t))
	for name, args := range setUp.commands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, testdb.SQLite(t))
			p.must("migrate")
			n := 1
			for died := true; died; n++ {
				died = p.dying(n, args...)
			}
			p.must(args...)
			p.holds(once[name])
			if n < 3 {
				t.Errorf("there were only %d changes to die at", n-2)
			}
		})
	}
}

// holds runs a statement that says whether something holds.
func (p *program) holds(statement string) {
	p.Helper()
	var ok bool
	if err := p.database().QueryRow(statement).Scan(&ok); err != nil || !ok {
		p.Errorf("it does not hold that %s (%v)", statement, err)
	}
}

// A command that finds no room says so in one line and changes nothing, and does what it was asked once there is.
func TestACommandWithoutRoom(t *testing.T) {
	t.Parallel()
	setUp := newProgram(t, testdb.SQLite(t))
	for name, args := range setUp.commands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, testdb.SQLite(t))
			p.must("migrate")
			before, err := os.ReadFile(p.name)
			if err != nil {
				t.Fatal(err)
			}
			full := p.command(args...)
			full.Path, full.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`, full.Path}, args...)
			said, err := full.CombinedOutput()
			if err == nil {
				t.Fatalf("it ended well without room:\n%s", said)
			}
			var last string
			for line := range strings.Lines(string(said)) {
				if !json.Valid([]byte(line)) { // the log
					last += line
				}
			}
			if strings.Count(last, "\n") != 1 || !strings.HasPrefix(last, "countersign: ") || strings.Contains(last, "panic") {
				t.Errorf("it says\n%s\nwant one line that says what is wrong", last)
			}
			if after, err := os.ReadFile(p.name); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the database was changed (%v)", err)
			}
			p.must(args...)
			p.holds(once[name])
		})
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

var units = []string{"countersign.service", "countersign-worker.service"}

func packaged(t *testing.T, name string) (path, text string) {
	t.Helper()
	path = filepath.Join(testdb.Root(t), "packaging", "linux", name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// exposure is the last line of `systemd-analyze security`: from 0, where a service can do nothing, to 10.
var exposure = regexp.MustCompile(`Overall exposure level for \S+: ([\d.]+)`)

func TestAServiceThatIsTakenOverCanDoLittle(t *testing.T) {
	t.Parallel()
	analyze := testdb.Program(t, "systemd-analyze")
	const most = 1.4 // docs/running.md says it too
	for _, name := range units {
		path, _ := packaged(t, name)
		out := ran(t, "", nil, analyze, "security", "--offline=true", "--no-pager", path)
		m := exposure.FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("%s: no level in\n%s", name, out)
		}
		if level, err := strconv.ParseFloat(m[1], 64); err != nil || level > most {
			t.Errorf("%s: its exposure is %s, want at most %.1f\n%s", name, m[1], most, out)
		}
	}
}

func TestSystemdUnderstandsEveryLineOfTheUnits(t *testing.T) {
	t.Parallel()
	analyze := testdb.Program(t, "systemd-analyze")
	for _, name := range units {
		_, text := packaged(t, name)
		path := filepath.Join(t.TempDir(), name)
		text = strings.ReplaceAll(text, "/usr/bin/countersign", "/usr/bin/env") // which must be there, and the program is not
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(out), name) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAWorkerIsKeptInLikeTheServer(t *testing.T) {
	t.Parallel()
	var bodies []string
	for _, name := range units {
		_, text := packaged(t, name)
		_, body, _ := strings.Cut(text, "\n[Unit]\n")
		lines := slices.DeleteFunc(strings.Split(body, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "Description=") || strings.HasPrefix(line, "ExecStart=")
		})
		bodies = append(bodies, strings.Join(lines, "\n"))
	}
	if bodies[0] != bodies[1] || len(bodies[0]) < 500 {
		t.Errorf("%s is\n%s\nand %s is\n%s", units[0], bodies[0], units[1], bodies[1])
	}
}

func TestEverySettingInTheFileIsOneThatTheProgramReads(t *testing.T) {
	t.Parallel()
	var read []string
	files, err := filepath.Glob(filepath.Join(testdb.Root(t), "cmd", "countersign", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`env:"(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			read = append(read, m[1])
		}
	}
	_, text := packaged(t, "countersign.env")
	named := regexp.MustCompile(`(?m)^#?(COUNTERSIGN_\w+)=`).FindAllStringSubmatch(text, -1)
	if len(named) < 8 {
		t.Errorf("the file names %d settings", len(named))
	}
	for _, m := range named {
		if !slices.Contains(read, m[1]) {
			t.Errorf("the file names %s, which nothing reads", m[1])
		}
	}
}

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

// TestTheServicesMayAskTheKernelForWhatTheyNeed has every system call written down that the units forbid while the demo runs, in which
// both desks work, policies are read and reports are made. That a program was started is written down as well, to see that anything is.
func TestTheServicesMayAskTheKernelForWhatTheyNeed(t *testing.T) {
	t.Parallel()
	strace, analyze := testdb.Program(t, "strace"), testdb.Program(t, "systemd-analyze")
	folder, may := t.TempDir(), allowed(t, analyze)
	watched := []string{"execve"}
	for _, call := range group(t, analyze, "@known") {
		if !may[call] {
			watched = append(watched, "?"+call) // which this processor may not have
		}
	}
	if len(may) < 200 || len(watched) < 100 {
		t.Fatalf("%d calls are allowed and %d are not", len(may), len(watched))
	}
	program, calls := filepath.Join(folder, "countersign"), filepath.Join(folder, "calls")
	ran(t, testdb.Root(t), []string{"CGO_ENABLED=0"}, "go", "build", "-o", program, "./cmd/countersign")
	ran(t, folder, []string{"COUNTERSIGN_DATA=" + folder}, strace, "-f", "-qq", "--seccomp-bpf", "-e", "signal=none",
		"-e", "trace="+strings.Join(watched, ","), "-o", calls, program, "demo", "--once")
	text, err := os.ReadFile(calls)
	if err != nil || !strings.Contains(string(text), " execve(") {
		t.Fatalf("nothing was written down: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, " execve(") && !strings.Contains(line, " fchown(") { // of SQLite, when it is root
			t.Errorf("the units forbid %s", line)
		}
	}
}

// allowed are the system calls that the units leave: the groups of each line, less those of lines that begin with ~.
func allowed(t *testing.T, analyze string) map[string]bool {
	t.Helper()
	_, text := packaged(t, units[0])
	may := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^SystemCallFilter=(~?)(.*)$`).FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Fields(m[2]) {
			for _, call := range group(t, analyze, name) {
				may[call] = m[1] == ""
			}
		}
	}
	return may
}

// group are the system calls of a group, and of the groups in it; what is no group is a call.
func group(t *testing.T, analyze, name string) (calls []string) {
	t.Helper()
	if !strings.HasPrefix(name, "@") {
		return []string{name}
	}
	for line := range strings.Lines(ran(t, "", nil, analyze, "syscall-filter", "--no-pager", name)) {
		switch line = strings.TrimSpace(line); {
		case line == name, line == "", strings.HasPrefix(line, "#"):
		default:
			calls = append(calls, group(t, analyze, line)...)
		}
	}
	return calls
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
	read := settings(t)
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

// settings are the variables that the command line is also given by.
func settings(t *testing.T) (read []string) {
	t.Helper()
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
	return read
}

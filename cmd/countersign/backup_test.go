package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// fails runs a command that must not end well, and returns what it said.
func (p *program) fails(args ...string) string {
	p.Helper()
	said, err := p.command(args...).CombinedOutput()
	if err == nil {
		p.Fatalf("countersign %s ended well:\n%s", strings.Join(args, " "), said)
	}
	return string(said)
}

// cases counts those on record; every chain must be intact.
func (p *program) cases() int64 {
	p.Helper()
	var n, rows int64
	said := p.must("audit", "verify")
	if _, err := fmt.Sscanf(said, "intact: %d cases, %d rows", &n, &rows); err != nil {
		p.Fatalf("audit verify: %s", said)
	}
	return n
}

// backup makes one and returns its path.
func (p *program) backup(args ...string) string {
	p.Helper()
	return strings.TrimSpace(p.must(append([]string{"backup", "--to", p.TempDir()}, args...)...))
}

// A backup that the running program was asked for is restored once it has stopped, and not before.
func TestNothingIsRestoredOverARunningServer(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(6))
	s := p.serve(p.admin())
	s.disputes(3)
	p.until("they are closed", func() bool { return len(s.closed()) == 3 })
	file := p.backup()
	s.dispute("T3", "Money left.")
	p.until("it is closed", func() bool { return len(s.closed()) == 4 })
	if said := p.fails("restore", file); !strings.Contains(said, "already working on") {
		t.Errorf("over a running server it says: %s", said)
	}
	if n := len(s.closed()); n != 4 {
		t.Errorf("%d cases after the refusal", n)
	}
	s.stop()

	open := p.database() // somebody else, who merely reads
	if err := open.Ping(); err != nil {
		t.Fatal(err)
	}
	conn, err := open.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT COUNT(*) FROM cases"); err != nil {
		t.Fatal(err)
	}
	if said := p.fails("restore", file); !strings.Contains(said, "another program has") {
		t.Errorf("while somebody has it open it says: %s", said)
	}
	conn.Close()
	open.Close()

	said := p.must("restore", file)
	if !strings.Contains(said, "what was there before is in") || !strings.Contains(said, "which is in "+filepath.Join(p.data(), "master.key")) {
		t.Errorf("restore says: %s", said)
	}
	p.intact(3)
	s = p.serve(s.token)
	s.dispute("T5", "Money left.")
	p.until("it goes on", func() bool { return len(s.closed()) == 4 })
	s.stop()
	p.intact(4)
}

// With another key, or none, everything is restored, and it is said which key is missing.
func TestARestoreNamesTheKeyThatItNeeds(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	p.must("migrate")
	file := p.backup()
	bare := newProgram(t, testdb.SQLite(t))
	if said := bare.must("restore", file); !strings.Contains(said, "there is none here: put that one into") {
		t.Errorf("without a key: %s", said)
	}
	other := newProgram(t, testdb.SQLite(t))
	other.must("migrate")
	if said := other.must("restore", file); !strings.Contains(said, "holds key ") {
		t.Errorf("with another key: %s", said)
	}
	if said := other.fails("doctor"); !strings.Contains(said, "this database is kept under key") {
		t.Errorf("afterwards doctor says: %s", said)
	}
}

// killed runs a command that is killed when it is about to make one of these calls of the system for the n-th time, and reports whether
// it came to that.
func (p *program) killed(calls string, n int, args ...string) bool {
	p.Helper()
	cmd := p.command(args...)
	cmd.Args = append([]string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", calls, n), cmd.Path}, args...)
	cmd.Path = testdb.Program(p.T, "strace")
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code > 0 && code != 137 {
		p.Fatalf("countersign %s, to be killed at call %d: %v\n%s", strings.Join(args, " "), n, err, said)
	}
	return err != nil
}

// Killed at any step of a restore, what is there afterwards is the old database or the new one, whole.
func TestARestoreThatIsKilledLeavesTheOldDatabaseOrTheNewOne(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	from := newProgram(t, testdb.SQLite(t), model.env()...)
	from.imports(failedTransfers(3))
	s := from.serve(from.admin())
	s.disputes(2)
	from.until("they are closed", func() bool { return len(s.closed()) == 2 })
	file := from.backup()
	s.dispute("T2", "Money left.")
	from.until("there is one more", func() bool { return len(s.closed()) == 3 })
	s.kill() // so that its log stays beside it

	old, new := 0, 0
	for _, call := range []string{"renameat", "unlinkat", "mkdirat", "fsync"} { // by which files get their names and places
		for n, died := 1, true; died; n++ {
			p := newProgram(t, testdb.SQLite(t))
			for _, suffix := range []string{"", "-wal", "-shm"} {
				copyFile(t, from.name+suffix, p.name+suffix)
			}
			died = p.killed(call, n, "restore", file)
			switch cases := p.cases(); cases {
			case 3:
				old++
			case 2:
				new++
			default:
				t.Errorf("killed at %s %d, there are %d cases, want the 3 of the old database or the 2 of the backup", call, n, cases)
			}
			if p.must("restore", file); p.cases() != 2 {
				t.Errorf("killed at %s %d, and restored again, there are %d cases", call, n, p.cases())
			}
		}
	}
	if old < 3 || new < 3 {
		t.Errorf("%d kills left the old database and %d the new one: they were not spread over the restore", old, new)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Killed at any step of a backup, there is no file with a backup's name, or a whole one; and the next one leaves nothing else.
func TestABackupThatIsKilledLeavesNothingOrAWholeOne(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	p.must("migrate")
	folder := t.TempDir()
	kills := 0
	for _, call := range []string{"linkat", "unlinkat", "mkdirat", "fsync", "ftruncate"} {
		for n, died := 1, true; died; n++ {
			if died = p.killed(call, n, "backup", "--to", folder); died {
				kills++
			}
			found, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				p.must("backup", "check", file)
				os.Remove(file)
			}
		}
	}
	if kills < 5 {
		t.Errorf("there were only %d steps to be killed at", kills)
	}
	p.must("backup", "--to", folder)
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("in the folder is %v (%v), want the last backup alone", left, err)
	}
	p.cases()
}

// A backup or a restore that finds no room says so in one line, and leaves everything as it was.
func TestABackupOrARestoreWithoutRoom(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	p.must("migrate")
	file := p.backup()
	before, err := os.ReadFile(p.name)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, args := range [][]string{{"backup", "--to", folder}, {"restore", file}, {"backup", "check", file}} {
		full := p.command(args...)
		full.Path, full.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -f 100; exec "$0" "$@"`, full.Path}, args...)
		said, err := full.CombinedOutput()
		if err == nil || strings.Count(string(said), "\n") != 1 || !strings.HasPrefix(string(said), "countersign: ") || !strings.Contains(string(said), "room") && !strings.Contains(string(said), "disk") {
			t.Errorf("%v: %v\n%s", args, err, said)
		}
		if after, err := os.ReadFile(p.name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%v: the database was changed (%v)", args, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("in the folder is left %v (%v)", left, err)
	}
	for _, name := range []string{".countersign-backup-*", "before-restore-*", "*.restor*"} {
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.name), name)); len(left) > 0 {
			t.Errorf("beside the database is left %v", left)
		}
	}
}

// A server makes backups by itself, and what it makes is a backup.
func TestAServerMakesBackupsByItself(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		p := newProgram(t, database)
		p.must("migrate")
		folder := t.TempDir()
		p.must("backup", "schedule", "apply", p.file(map[string]any{"folder": folder, "every_hours": 24, "keep": 2}))
		s := p.serve("")
		var found []string
		p.until("there is a backup", func() bool {
			found, _ = filepath.Glob(filepath.Join(folder, "*.tar.gz"))
			return len(found) == 1
		})
		p.until("its metrics say so", func() bool { return strings.Contains(s.scrape(), "countersign_backup_last_success_timestamp_seconds ") })
		if said := s.scrape(); !strings.Contains(said, "countersign_backup_every_seconds 86400") || !strings.Contains(said, "countersign_backup_failed 0") {
			t.Errorf("its metrics are\n%s", said)
		}
		if code := s.stop(); code != 0 {
			t.Errorf("serve ended with %d after SIGTERM\n%s", code, s.log)
		}
		p.must("backup", "check", found[0])
	})
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// sealing is a program on a database with sealed things.
func sealing(t *testing.T, database string) *program {
	t.Helper()
	p := newProgram(t, database)
	core := filepath.Join(t.TempDir(), "core.json")
	if err := os.WriteFile(core, []byte(`{"to":"core","url":"http://127.0.0.1:9/i","key_id":"k-1","secret":"forty-characters-that-a-machine-has-made"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("posting", "apply", core)
	p.must("hook", "add", "till")
	p.must("hook", "rotate", "till")
	return p
}

func (p *program) key() string { return filepath.Join(p.data(), "master.key") }

// keys is what the program says of its keys; everything that is sealed must open.
func (p *program) keys() (shown keysShown) {
	p.Helper()
	if err := json.Unmarshal([]byte(p.must("keys", "show", "--json")), &shown); err != nil {
		p.Fatal(err)
	}
	if !shown.OK || shown.Key != shown.Database || len(shown.Sealed) != 3 {
		p.Errorf("the keys are %+v, want all of three things opened by the database's own", shown)
	}
	return shown
}

// Whoever replaces the master key may be killed at each change. Before it has happened nothing has, and after it everything, and
// every start finds the key that opens it all.
func TestARotationThatDies(t *testing.T) {
	t.Parallel()
	before, after := 0, 0
	for n, died := 1, true; died; n++ {
		p := sealing(t, testdb.SQLite(t))
		old := p.keys().Key
		if died = p.dying(n, "keys", "rotate"); p.keys().Key == old {
			before++
		} else {
			after++
		}
		p.must("keys", "rotate")
		if now := p.keys().Key; now == old {
			t.Errorf("change %d: it was run again, and the key is the old one", n)
		}
	}
	if before < 5 || after < 1 {
		t.Errorf("it died %d times before it had happened and was seen %d times after", before, after)
	}
}

// Killed between the commit and the file, a rotation is finished by whatever starts next.
func TestARotationThatDiesBeforeTheFileIsReplaced(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		p := sealing(t, database)
		old := p.keys().Key
		p.must("keys", "rotate")
		now := p.keys().Key
		p.copies(p.key()+"."+old, p.key()) // as it was then
		if said := p.must("doctor"); !strings.Contains(said, "and the database's key "+now+" is beside it") {
			t.Errorf("doctor says\n%s", said)
		}
		if again := p.keys().Key; again != now {
			t.Errorf("the next command has key %s, want %s", again, now)
		}
		p.same(p.key(), p.key()+"."+now)
		p.must("keys", "rotate")
		p.keys()
	})
}

// A backup from before a rotation finds the key that it needs beside the file.
func TestADatabaseFromBeforeARotationFindsItsKey(t *testing.T) {
	t.Parallel()
	p := sealing(t, testdb.SQLite(t))
	backup := filepath.Join(t.TempDir(), "backup.db")
	p.copies(p.name, backup)
	old := p.keys().Key
	p.must("keys", "rotate")
	p.must("keys", "rotate")
	p.copies(backup, p.name)
	if now := p.keys().Key; now != old {
		t.Errorf("the key is %s, want %s", now, old)
	}
}

func TestNoKeyIsReplacedWhileSomebodyWorks(t *testing.T) {
	t.Parallel()
	p := sealing(t, testdb.SQLite(t))
	s := p.serve("")
	out, err := p.command("keys", "rotate").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another countersign is already working") {
		t.Errorf("it ended with %v:\n%s", err, out)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
	if entries, err := filepath.Glob(p.key() + "*"); err != nil || len(entries) != 1 {
		t.Errorf("keys were left behind: %v, %v", entries, err)
	}
	p.keys()
}

// On PostgreSQL others go on. What they would seal under the old key is refused, and they say what to do.
func TestAProgramWithAKeyThatWasReplacedSealsNothing(t *testing.T) {
	t.Parallel()
	p := sealing(t, testdb.Postgres(t))
	old := p.keys().Key
	elsewhere := newProgram(t, p.name)
	elsewhere.copies(p.key(), elsewhere.key()) // another machine, which has the old key and nothing else
	p.must("keys", "rotate")
	out, err := elsewhere.command("hook", "add", "counter").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "master key "+old+" was replaced by "+p.keys().Key) {
		t.Errorf("it ended with %v:\n%s", err, out)
	}
}

func TestAWrongKeyStartsAndServes(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		p := sealing(t, database)
		right := p.key() + ".right"
		if err := os.Rename(p.key(), right); err != nil {
			t.Fatal(err)
		}
		s := p.serve("") // which makes a key, since there is none
		if said := s.log.String(); !strings.Contains(said, "this is not the master key that the database is kept under") {
			t.Errorf("it says\n%s", said)
		}
		if code := s.stop(); code != 0 {
			t.Errorf("serve ended with %d", code)
		}
		p.copies(right, p.key())
		p.keys()
	})
}

func (p *program) copies(from, to string) {
	p.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *program) same(a, b string) {
	p.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		p.Fatal(err)
	}
	if other, err := os.ReadFile(b); err != nil || string(one) != string(other) {
		p.Errorf("%s and %s are not the same (%v)", a, b, err)
	}
}

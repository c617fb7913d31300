package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/investigate"
	"countersign/store"
)

// says fails the test unless a finding is as bad as that and says these words, and what to do unless all is well.
func says(t *testing.T, f Finding, mark string, words ...string) {
	t.Helper()
	is := "well"
	switch {
	case !f.OK:
		is = "wrong"
	case f.Note:
		is = "to know"
	}
	for _, w := range words {
		if !strings.Contains(f.Says, w) {
			t.Errorf("%s says %q, which lacks %q", f.What, f.Says, w)
		}
	}
	if is != mark || (f.Try == "") != (is == "well") {
		t.Errorf("%s is %s, want %s: %+v", f.What, is, mark, f)
	}
}

// opened is a case with its record.
func openedAt(t *testing.T, s *store.Store, id countersign.CaseID, status countersign.Status, at time.Time) {
	t.Helper()
	c := countersign.Case{ID: id, Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: "T-" + string(id)}, CustomerID: "C1",
		Channel: "test", Reason: countersign.OtherReason, Status: status, OpenedAt: at, UpdatedAt: at, DueSource: countersign.DueUnknown, Round: 1, Revision: 1}
	by := countersign.Actor{Kind: countersign.CLI, ID: "test"}
	err := s.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, by, store.Note{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": status, "outcome": ""}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoctorLooksAtWhatTheDatabaseRefuses(t *testing.T) {
	off := map[string]string{"sqlite": "DROP TRIGGER record_payloads_update", "postgres": "ALTER TABLE record_payloads DISABLE TRIGGER record_payloads_refuses"}
	testdb.Engines(t, func(t *testing.T, database string) {
		config := Config{Data: t.TempDir(), Database: database}
		a := open(t, config)
		says(t, finding(t, Examine(t.Context(), config), "guards"), "well", "refuses to change the record")
		if _, err := a.Store.DB().Exec(off[a.Store.Engine()]); err != nil {
			t.Fatal(err)
		}
		says(t, finding(t, Examine(t.Context(), config), "guards"), "wrong", "record_payloads_")
	})
}

func TestDoctorTriesToWrite(t *testing.T) {
	off := map[string]string{"sqlite": "PRAGMA query_only = 1", "postgres": "ALTER TABLE settings RENAME TO others"}
	testdb.Engines(t, func(t *testing.T, database string) {
		config := Config{Data: t.TempDir(), Database: database}
		a := open(t, config)
		if _, err := a.Store.DB().Exec(off[a.Store.Engine()]); err != nil {
			t.Fatal(err)
		}
		if f := a.examineGuards(t.Context(), a.Store); f.OK || f.Says == "" {
			t.Errorf("it is said to be well: %+v", f)
		}
	})
}

func TestDoctorMindsHowSQLiteWrites(t *testing.T) {
	for statement, want := range map[string]string{
		"PRAGMA synchronous = NORMAL": "commits do not wait for the disk", "PRAGMA foreign_keys = OFF": "foreign keys are off", "PRAGMA journal_mode = DELETE": "its journal is delete and not wal",
	} {
		a := open(t, Config{Data: t.TempDir()})
		if err := a.Close(); err != nil { // whoever reads would keep its journal as it is
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), a.Database, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.DB().Exec(statement); err != nil {
			t.Fatal(err)
		}
		says(t, a.examineGuards(t.Context(), s), "wrong", want)
	}
}

func TestDoctorAsksTheDatabase(t *testing.T) {
	a := open(t, Config{Data: t.TempDir()})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if f := a.examineDatabase(t.Context(), a.Store); f.OK || f.Says == "" || strings.Contains(f.Says, "damaged") {
		t.Errorf("of one that answers nothing it is said: %+v", f)
	}
}

func TestDoctorVerifiesSomeOfTheRecord(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		config := Config{Data: t.TempDir(), Database: database}
		a := open(t, config)
		for i := range 3 {
			openedAt(t, a.Store, countersign.CaseID(fmt.Sprint("D-", i)), countersign.InReview, time.Now().UTC())
		}
		says(t, finding(t, Examine(t.Context(), config), "record"), "to know", "3 cases, 3 rows; 3 chains verified now", "all of them never")
		verified := func() {
			t.Helper()
			report, err := a.Store.VerifyRecord(t.Context(), nil)
			if err == nil {
				err = a.Store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.KeepVerified(ctx, report) })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		verified()
		openedAt(t, a.Store, "D-9", countersign.InReview, time.Now().UTC())
		says(t, finding(t, Examine(t.Context(), config), "record"), "well", "4 chains verified now, all on ", "and 1 rows since")
		change := func(to string) {
			t.Helper()
			if _, err := a.Store.DB().Exec("UPDATE cases SET " + to + " WHERE id = 'D-1'"); err != nil {
				t.Fatal(err)
			}
		}
		change("outcome = 'resolved', status = 'closed'")
		says(t, finding(t, Examine(t.Context(), config), "record"), "wrong", "case D-1 is broken at row 1")
		verified()
		change("outcome = '', status = 'in_review'") // by somebody who hides what they did
		says(t, finding(t, Examine(t.Context(), config), "record"), "wrong", "the last verification of all, on ", "found a break")
	})
}

func TestDoctorFindsCasesThatWaitForNobody(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		config := Config{Data: t.TempDir(), Database: database}
		a := open(t, config)
		says(t, finding(t, Examine(t.Context(), config), "queue"), "well", "0 waiting for a worker")
		openedAt(t, a.Store, "D-1", countersign.Queued, time.Now().UTC().Add(-time.Hour))
		says(t, finding(t, Examine(t.Context(), config), "queue"), "to know", "1 waiting for a worker", "has waited 1h0m", "1 stranded")
	})
}

func TestDoctorMindsTheClock(t *testing.T) {
	for offset, want := range map[time.Duration]string{0: "well", 10 * time.Second: "wrong", -10 * time.Second: "wrong", -100_000 * time.Hour: "wrong"} {
		config := Config{Data: t.TempDir(), Database: testdb.Postgres(t), Now: func() time.Time { return time.Now().Add(offset) }}
		f := finding(t, Examine(t.Context(), config), "clock")
		if says(t, f, want); want == "well" && !strings.Contains(f.Says, "from the database's server") {
			t.Errorf("it does not say how far the server's clock is: %s", f.Says)
		}
	}
}

// A clock that was set back, on an engine that has no other to compare it with.
func TestDoctorComparesTheClockWithTheRecord(t *testing.T) {
	var ahead time.Duration
	config := Config{Data: t.TempDir(), Now: func() time.Time { return time.Now().Add(ahead) }}
	openedAt(t, open(t, config).Store, "D-1", countersign.InReview, time.Now().UTC())
	for _, row := range []struct {
		ahead time.Duration
		mark  string
		words []string
	}{
		{0, "well", nil}, {-30 * time.Second, "well", nil}, {time.Hour, "well", nil},
		{-time.Hour, "wrong", []string{"the newest row on record is from "}}, {-100_000 * time.Hour, "wrong", []string{"which cannot be"}},
	} {
		ahead = row.ahead
		says(t, finding(t, Examine(t.Context(), config), "clock"), row.mark, row.words...)
	}
}

func TestDoctorSaysWhoElseMayRead(t *testing.T) {
	if os.Getuid() < 0 {
		return // a system without such rights
	}
	config := Config{Data: t.TempDir() + "/data"}
	config.Database = t.TempDir() + "/elsewhere.db"
	key := config.Data + "/master.key"
	former := key + ".0123456789abcdef" // that it replaced
	says(t, finding(t, Examine(t.Context(), config), "permissions"), "well")
	put(t, former, nil)
	for _, row := range []struct {
		path string
		mode os.FileMode
		mark string
	}{{config.Data, 0o755, "to know"}, {config.Data, 0o750, "to know"}, {config.Data, 0o700, "well"}, {key, 0o640, "wrong"}, {key, 0o604, "wrong"}, {key, 0o600, "well"},
		{former, 0o644, "wrong"}, {former, 0o600, "well"},
		{config.Database, 0o604, "to know"}, {config.Database, 0o602, "to know"}, {config.Database, 0o640, "well"}} {
		if err := os.Chmod(row.path, row.mode); err != nil {
			t.Fatal(err)
		}
		f := finding(t, Examine(t.Context(), config), "permissions")
		if says(t, f, row.mark); row.mark != "well" && !strings.Contains(f.Says, row.path) {
			t.Errorf("%s is not named: %s", row.path, f.Says)
		}
	}
}

// What an installation makes by itself is for nobody else to read, whatever the umask says.
func TestADatabaseThatIsMadeIsThisUsersAlone(t *testing.T) {
	config := Config{Data: t.TempDir() + "/data"}
	a := open(t, config)
	openedAt(t, a.Store, "D-1", countersign.InReview, time.Now().UTC())
	for _, name := range []string{".", "countersign.db", "countersign.db-wal", "countersign.db-shm", "master.key"} {
		info, err := os.Stat(config.Data + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s may be read by others: %04o", name, info.Mode().Perm())
		}
	}
}

func TestAnInvestigationMayNotOutlastItsJob(t *testing.T) {
	config := Config{Data: t.TempDir(), Bounds: investigate.Bounds{Wall: time.Hour}}
	_, err := Open(t.Context(), config)
	refused(t, err, countersign.Invalid, "expected less time for an investigation than for a job")
	says(t, finding(t, Examine(t.Context(), config), "time-outs"), "wrong", "1h0m0s")
	config.Bounds.Wall = time.Minute
	says(t, finding(t, Examine(t.Context(), config), "time-outs"), "to know", "one call may use up a whole investigation")
}

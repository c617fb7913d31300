package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/backup"
	"countersign/internal/testdb"
	"countersign/store"
)

// scheduled is an installation whose backups go into a folder by a schedule, and whose clock a test moves.
type scheduled struct {
	*testing.T
	*App
	folder string
	mu     sync.Mutex
	at     time.Time
}

func schedule(t *testing.T, database string, keep int) *scheduled {
	t.Helper()
	s := &scheduled{T: t, folder: t.TempDir(), at: time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)}
	s.App = s.another(database)
	plan := store.BackupSchedule{Folder: s.folder, EveryHours: 24, Keep: keep}
	by := countersign.Actor{Kind: countersign.CLI, ID: "test"}
	err := s.Store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.ApplyBackupSchedule(ctx, plan, by) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// another is one more process on the same database.
func (s *scheduled) another(database string) *App {
	return open(s.T, Config{Data: s.TempDir(), Database: database, Now: s.now})
}

func (s *scheduled) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

func (s *scheduled) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = s.at.Add(d)
}

func (s *scheduled) due() {
	s.Helper()
	if err := s.BackupIfDue(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// holds lists the folder, oldest first.
func (s *scheduled) holds(n int) []string {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.folder, "*"))
	if err != nil || len(files) != n {
		s.Fatalf("the folder holds %v (%v), want %d files", files, err, n)
	}
	return files
}

func TestBackupsComeWhenTheyAreDueAndSoManyStay(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := schedule(t, database, 2)
		says(t, judgedBackups(t, s), "wrong", "none was ever made", "one is due every 24 hours")
		s.due()
		first := s.holds(1)[0]
		s.later(23 * time.Hour)
		s.due()
		s.holds(1)
		s.later(time.Hour)
		s.due()
		s.holds(2)
		says(t, judgedBackups(t, s), "well", "the last one 0s ago", "every 24 hours, 2 are kept")
		s.later(24 * time.Hour)
		s.due()
		if left := s.holds(2); left[0] == first {
			t.Error("the oldest was to be deleted, and stays")
		}
		s.later(49 * time.Hour)
		says(t, judgedBackups(t, s), "wrong", "49h0m0s ago", "one is due")
	})
}

func judgedBackups(t *testing.T, s *scheduled) Finding {
	t.Helper()
	return examineBackups(t.Context(), s.Store)
}

// What is deleted is, byte for byte, what was written: a file that somebody put in its place is theirs.
func TestOnlyBackupsOfOurOwnAreDeleted(t *testing.T) {
	s := schedule(t, testdb.SQLite(t), 1)
	theirs := filepath.Join(s.folder, "countersign-20200101T000000Z.tar.gz")
	if err := os.WriteFile(theirs, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.due()
	first := s.holds(2)[1]
	if err := os.WriteFile(first, []byte("somebody's as well"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.later(24 * time.Hour)
		s.due()
	}
	left := s.holds(3)
	if left[0] != theirs || left[1] != first {
		t.Errorf("left are %v", left)
	}
	// By hand, into the same folder: kept as long as whoever made it wants.
	if _, err := s.Backup(t.Context(), backup.Target{Folder: s.folder, Name: "by hand.tar.gz"}); err != nil {
		t.Fatal(err)
	}
	s.later(24 * time.Hour)
	s.due()
	s.holds(4)
}

func TestAFailedBackupIsNamedAndTriedAgain(t *testing.T) {
	s := schedule(t, testdb.SQLite(t), 1)
	away := s.folder + " away"
	if err := os.Rename(s.folder, away); err != nil {
		t.Fatal(err)
	}
	if err := s.BackupIfDue(t.Context()); countersign.KindOf(err) != countersign.Unavailable {
		t.Errorf("without its folder: %v", err)
	}
	says(t, judgedBackups(t, s), "wrong", "failed", "cannot write in "+s.folder)
	if err := os.Rename(away, s.folder); err != nil {
		t.Fatal(err)
	}
	s.due() // too soon
	s.holds(0)
	s.later(time.Hour)
	s.due()
	s.holds(1)
	says(t, judgedBackups(t, s), "well")
}

func TestABackupThatWasCalledOffIsNoFailure(t *testing.T) {
	s := schedule(t, testdb.SQLite(t), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Backup(ctx, backup.Target{Folder: s.folder}); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	s.holds(0)
	if standing, err := s.Store.BackupStanding(t.Context()); err != nil || standing.Failed != nil {
		t.Errorf("it is said to have failed: %+v (%v)", standing.Failed, err)
	}
}

// The last backup with a whole record is not deleted for newer ones with a broken one.
func TestNoBackupIsDeletedWhileTheRecordIsBroken(t *testing.T) {
	s := schedule(t, testdb.SQLite(t), 1)
	openedAt(t, s.Store, "D-1", countersign.InReview, s.now())
	s.due()
	if _, err := s.Store.DB().Exec("UPDATE cases SET status = 'closed', outcome = 'resolved'"); err != nil {
		t.Fatal(err)
	}
	s.later(24 * time.Hour)
	if err := s.BackupIfDue(t.Context()); err == nil || !strings.Contains(err.Error(), "no older backup is deleted") {
		t.Errorf("it says %v", err)
	}
	s.holds(2)
	if last, err := s.Store.Verified(t.Context()); err != nil || last == nil || last.OK {
		t.Errorf("that the record is broken is not known afterwards: %+v (%v)", last, err)
	}
}

func TestProcessesOnOneDatabaseMakeOneBackup(t *testing.T) {
	database := testdb.Postgres(t)
	s := schedule(t, database, 5)
	other := s.another(database)
	ran, err := other.Store.OneAtATime(t.Context(), func() error { // as if it were making one
		s.due()
		s.holds(0)
		return nil
	})
	if err != nil || !ran {
		t.Fatalf("whoever is alone has its turn: %v, %v", ran, err)
	}
	s.due()
	s.holds(1)
	if err := other.BackupIfDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.holds(1)
}

func TestAScheduleIsReadStrictly(t *testing.T) {
	for text, says := range map[string]string{
		`{"folder": "backups", "every_hours": 1, "keep": 1}`:                                "expected the whole path",
		`{"folder": "/b", "keep": 1}`:                                                       "every_hours",
		`{"folder": "/b", "every_hours": 1}`:                                                "keep",
		`{"folder": "/b", "every_hours": 1, "keep": 1, "recipients": ["AGE-SECRET-KEY-1"]}`: "age recipients",
		`{"directory": "/b"}`:                                                               "unknown field",
		`{"every_hours": 1, "keep": 1}`:                                                     "folder",
		`{} {}`:                                                                             "behind the schedule",
	} {
		_, err := backup.ParseSchedule([]byte(text))
		refused(t, err, countersign.Invalid, says)
	}
	if s, err := backup.ParseSchedule([]byte(`{}`)); err != nil || !s.Off() {
		t.Errorf("none: %+v, %v", s, err)
	}
}

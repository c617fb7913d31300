package backup_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"countersign"
	"countersign/audit"
	"countersign/backup"
	"countersign/internal/testdb"
	"countersign/secret"
	"countersign/store"
)

// installation is an open database with some cases, and what backups are made of it with.
type installation struct {
	*testing.T
	backup.Source
	cases int
}

func install(t *testing.T, database string) *installation {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	i := &installation{t, backup.Source{Store: s, Database: database, Version: "test", Data: t.TempDir()}, 0}
	for range 5 {
		i.grow()
	}
	err = s.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.KeepKey(ctx, store.MasterKey{ID: "0123456789abcdef", Check: "sealed"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// grow adds one more case, numbered on, with two rows on record.
func (i *installation) grow() {
	at := time.Now().UTC().Truncate(time.Microsecond)
	c := countersign.Case{ID: countersign.CaseID(fmt.Sprintf("D-%06d", i.cases)), Desk: countersign.Bank,
		Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: fmt.Sprint("T-", i.cases)}, CustomerID: "C1", Channel: "test",
		Reason: countersign.OtherReason, Status: countersign.InReview, OpenedAt: at, UpdatedAt: at, DueSource: countersign.DueUnknown, Round: 1, Revision: 1}
	by := countersign.Actor{Kind: countersign.CLI, ID: "test"}
	err := i.Store.Write(i.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, by, store.Note{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": c.Status, "outcome": ""}},
			store.Note{Kind: audit.Note, Payload: map[string]any{"text": strings.Repeat("words ", 200)}})
	})
	if err != nil && i.Context().Err() == nil {
		i.Error(err)
	}
	i.cases++
}

// make makes a backup in a folder of its own.
func (i *installation) make(lock backup.Lock) backup.Made {
	i.Helper()
	made, err := i.Make(i.Context(), backup.Target{Folder: i.TempDir(), Lock: lock})
	if err != nil {
		i.Fatal(err)
	}
	return made
}

// restore puts a backup back into a new database, and returns that, opened.
func restore(t *testing.T, file string, keys backup.Keys, database string) (backup.Restored, *store.Store) {
	t.Helper()
	r, err := into(t, file, keys, database)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return r, s
}

func into(t *testing.T, file string, keys backup.Keys, database string) (backup.Restored, error) {
	if strings.HasPrefix(database, "postgres://") {
		return backup.RestorePostgres(t.Context(), file, keys, database, t.TempDir(), backup.Tools{})
	}
	return backup.Restore(t.Context(), file, keys, database, time.Now())
}

// refused insists on an error of that kind that says this, and on what it says being fit for a person.
func refused(t *testing.T, err error, kind countersign.ErrorKind, says string) {
	t.Helper()
	var e *countersign.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, says) || e.Hint == "" {
		t.Errorf("the error is %v (kind %s), want one of kind %s that says %q and what to do", err, countersign.KindOf(err), kind, says)
	}
}

// other is an empty database of the same engine.
func other(t *testing.T, database string) string {
	if strings.HasPrefix(database, "postgres://") {
		return testdb.Postgres(t)
	}
	return testdb.SQLite(t)
}

func empty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("in %s is left %v (%v)", folder, left, err)
	}
}

func TestABackupUnderWriteLoadIsOfOneMoment(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		i := install(t, database)
		stop, stopped := make(chan struct{}), make(chan struct{})
		begun := make(chan struct{})
		go func() {
			defer close(stopped)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if i.grow(); n == 20 {
					close(begun)
				}
			}
		}()
		<-begun
		made := i.make(backup.Lock{})
		close(stop)
		<-stopped

		if _, err := backup.Check(t.Context(), made.Path, nil, t.TempDir(), backup.Tools{}); err != nil {
			t.Fatalf("it does not check: %v", err)
		}
		r, s := restore(t, made.Path, nil, other(t, database))
		size, err := s.RecordSize(t.Context())
		if err != nil || size.Cases != r.Cases || size.Rows != r.Rows || r.Rows != 2*r.Cases {
			t.Errorf("restored %+v (%v), and the manifest says %d cases and %d rows, two for each", size, err, r.Cases, r.Rows)
		}
		if r.Cases < 25 || r.Cases >= int64(i.cases) {
			t.Errorf("the backup has %d of %d cases: nothing was written while it was made", r.Cases, i.cases)
		}
		// Cases came one after the other, so those of one moment are the first ones.
		if _, err := s.Case(t.Context(), countersign.CaseID(fmt.Sprintf("D-%06d", r.Cases-1))); err != nil {
			t.Errorf("the last of the first %d cases is not in it: %v", r.Cases, err)
		}
		if report, err := s.VerifyRecord(t.Context(), nil); err != nil || !report.OK || report.Rows != r.Rows {
			t.Errorf("its record: %v (%v)", report, err)
		}
		if r.MasterKey != "0123456789abcdef" {
			t.Errorf("it names the master key %q", r.MasterKey)
		}
	})
}

func TestABackupIsThisUsersAloneAndLeavesNothingElse(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	folder := t.TempDir()
	made, err := i.Make(t.Context(), backup.Target{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(made.Path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != made.Bytes {
		t.Errorf("it has mode %v and %d bytes (%v), want 0600 and %d", info.Mode(), info.Size(), err, made.Bytes)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("beside it are %v (%v)", files, err)
	}
	empty(t, i.Data)
	_, err = i.Make(t.Context(), backup.Target{Folder: folder, Name: filepath.Base(made.Path)})
	refused(t, err, countersign.Conflict, "is there already")
	_, err = i.Make(t.Context(), backup.Target{Folder: filepath.Join(folder, "unmounted")})
	refused(t, err, countersign.Unavailable, "cannot write in")
}

// What a kill left behind is gone after the next backup into the same folder, and what somebody is at work in is not.
func TestTheNextBackupTidiesUpAfterOneThatWasKilled(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	folder := t.TempDir()
	dead := filepath.Join(folder, ".countersign-backup-1")
	if err := errors.Join(os.Mkdir(dead, 0o700), os.WriteFile(filepath.Join(dead, "backup"), []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Make(t.Context(), backup.Target{Folder: folder}); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("in the folder are %v (%v), want the backup alone", files, err)
	}
	busy := filepath.Join(folder, ".countersign-backup-2")
	if err := os.Mkdir(busy, 0o700); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(busy, "lock"))
	if held, err := lock.TryLock(); err != nil || !held {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := i.Make(t.Context(), backup.Target{Folder: folder, Name: "another"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(busy); err != nil {
		t.Errorf("what somebody is at work in was taken away: %v", err)
	}
}

func TestATornOrChangedBackupIsRefused(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		i := install(t, database)
		lock, keys := someone(t)
		for name, made := range map[string]backup.Made{"plain": i.make(backup.Lock{}), "encrypted": i.make(lock)} {
			whole, err := os.ReadFile(made.Path)
			if err != nil {
				t.Fatal(err)
			}
			changed := func(at int) []byte {
				b := bytes.Clone(whole)
				b[at] ^= 0x10
				return b
			}
			target := other(t, database)
			try := func(what string, text []byte) {
				t.Helper()
				file := filepath.Join(t.TempDir(), "torn")
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				folder := t.TempDir()
				if _, err := backup.Check(t.Context(), file, keys, folder, backup.Tools{}); countersign.KindOf(err) != countersign.Unprocessed {
					t.Errorf("%s, %s: check says %v", name, what, err)
				}
				empty(t, folder)
				if _, err := into(t, file, keys, target); countersign.KindOf(err) != countersign.Unprocessed {
					t.Errorf("%s, %s: restore says %v", name, what, err)
				}
			}
			for tenth := range 10 {
				try(fmt.Sprintf("cut at %d/10", tenth), whole[:len(whole)*tenth/10])
				try(fmt.Sprintf("changed at %d/10", tenth), changed(len(whole)*tenth/10))
			}
			try("without its last byte", whole[:len(whole)-1])
			try("changed in its last byte", changed(len(whole)-1))
			try("with something behind it", append(bytes.Clone(whole), "more"...))
			if database != target && !strings.HasPrefix(target, "postgres://") {
				empty(t, filepath.Dir(target))
			}
		}
	})
}

// repacked is a backup whose manifest, or database, somebody changed, and made whole again.
func repacked(t *testing.T, made backup.Made, edit func(manifest, database []byte) ([]byte, []byte)) string {
	t.Helper()
	f, err := os.Open(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "repacked"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := backup.Repack(f, file, edit); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func TestABackupThatIsNotWhatItSaysIsRefused(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	made := i.make(backup.Lock{})
	in := func(from, to string) func(manifest, database []byte) ([]byte, []byte) {
		return func(m, d []byte) ([]byte, []byte) {
			if !bytes.Contains(m, []byte(from)) {
				t.Fatalf("no %s in %s", from, m)
			}
			return bytes.Replace(m, []byte(from), []byte(to), 1), d
		}
	}
	for _, row := range []struct {
		edit func(manifest, database []byte) ([]byte, []byte)
		kind countersign.ErrorKind
		says string
	}{
		{in(`"cases": 5`, `"cases": 6`), countersign.Altered, "not what its manifest says"},
		{in(`"rows": 10`, `"rows": 9`), countersign.Altered, "not what its manifest says"},
		{in("0123456789abcdef", "0123456789abcdee"), countersign.Altered, "not what its manifest says"},
		{in(`"intact": true`, `"intact": false`), countersign.Altered, "not what its manifest says"},
		{func(m, d []byte) ([]byte, []byte) {
			return m, bytes.ReplaceAll(d, []byte(`"text":"words`), []byte(`"text":"lies `))
		}, countersign.Altered, "not what its manifest says"},
		{func(m, d []byte) ([]byte, []byte) { return m, []byte("this is no database") }, countersign.Unprocessed, "not a whole backup"},
		{in(fmt.Sprintf(`"schema": %d`, store.NewestSchema()), `"schema": 9999`), countersign.Unprocessed, "the backup has schema version 9999"},
		{in(`"format": 1`, `"format": 2`), countersign.Unprocessed, "the backup has format 2"},
		{in(made.Content.SHA256, strings.Repeat("0", 64)), countersign.Unprocessed, "not a whole backup"},
		{in(`"engine": "sqlite"`, `"engine": "oracle"`), countersign.Unprocessed, "not a whole backup"},
	} {
		file, target := repacked(t, made, row.edit), testdb.SQLite(t)
		_, err := backup.Check(t.Context(), file, nil, t.TempDir(), backup.Tools{})
		refused(t, err, row.kind, row.says)
		_, err = into(t, file, nil, target)
		refused(t, err, row.kind, row.says)
		empty(t, filepath.Dir(target))
	}
	if _, err := backup.Check(t.Context(), repacked(t, made, func(m, d []byte) ([]byte, []byte) { return m, d }), nil, t.TempDir(), backup.Tools{}); err != nil {
		t.Errorf("one that nobody changed: %v", err)
	}
}

// A record that somebody broke is backed up as it is: it is evidence. The backup says so, and so does whoever checks it.
func TestABrokenRecordIsBackedUpAndNamed(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	if _, err := i.Store.DB().Exec("UPDATE cases SET status = 'closed', outcome = 'resolved' WHERE id = 'D-000003'"); err != nil {
		t.Fatal(err)
	}
	made := i.make(backup.Lock{})
	m, err := backup.Check(t.Context(), made.Path, nil, t.TempDir(), backup.Tools{})
	if err != nil || m.Record.Intact || m.Record.Breaks != 1 || !strings.Contains(m.Says(), "case D-000003") {
		t.Errorf("it says %s (%v)", m.Says(), err)
	}
}

// The key that seals is in the data folder, and in nothing that leaves it.
func TestTheMasterKeyIsInNoBackup(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	key, err := secret.Open(filepath.Join(i.Data, "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(i.Data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	sealed := key.Seal("test", []byte("a shop's password"))
	_, err = i.Store.DB().Exec("INSERT INTO settings (name, value, changed_at) VALUES ('sealed', ?, 0)", sealed)
	if err != nil {
		t.Fatal(err)
	}
	repacked(t, i.make(backup.Lock{}), func(m, d []byte) ([]byte, []byte) {
		if !bytes.Contains(d, []byte(sealed)) {
			t.Error("what is sealed is not in it")
		}
		for _, secret := range [][]byte{raw, bytes.TrimSpace(text), []byte("a shop's password")} {
			if bytes.Contains(m, secret) || bytes.Contains(d, secret) {
				t.Error("the backup holds the key, or what it seals")
			}
		}
		return m, d
	})
}

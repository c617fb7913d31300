package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"countersign"
	"countersign/backup"
	"countersign/internal/testdb"
)

// someone has a key of age's.
func someone(t *testing.T) (backup.Lock, backup.Keys) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := backup.LockFor(identity.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	return lock, backup.Keys{identity}
}

func TestAnEncryptedBackupOpensForThoseItIsMeantForAndNobodyElse(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	lock, keys := someone(t)
	_, stranger := someone(t)
	made := i.make(lock)
	text, err := os.ReadFile(made.Path)
	if err != nil || bytes.Contains(text, []byte("SQLite format")) || bytes.Contains(text, []byte("manifest")) {
		t.Errorf("it can be read by anybody (%v)", err)
	}
	empty(t, i.Data)
	aside := i.Data
	i.Data = filepath.Join(aside, "gone") // where the copy is made that anybody could read: beside the database, and not where the backup goes
	_, err = i.Make(t.Context(), backup.Target{Folder: t.TempDir(), Lock: lock})
	refused(t, err, countersign.Unavailable, "cannot write in "+i.Data)
	i.make(backup.Lock{})
	i.Data = aside
	for name, row := range map[string]struct {
		keys backup.Keys
		says string
	}{"nobody": {nil, "is encrypted"}, "somebody else": {stranger, "encrypted for somebody else"}} {
		target := testdb.SQLite(t)
		_, err := backup.Check(t.Context(), made.Path, row.keys, t.TempDir(), backup.Tools{})
		refused(t, err, countersign.Unprocessed, row.says)
		_, err = into(t, made.Path, row.keys, target)
		refused(t, err, countersign.Unprocessed, row.says)
		if empty(t, filepath.Dir(target)); t.Failed() {
			t.Fatal(name)
		}
	}
	if _, err := backup.Check(t.Context(), made.Path, append(stranger, keys...), t.TempDir(), backup.Tools{}); err != nil {
		t.Errorf("those it is meant for cannot open it: %v", err)
	}
	if r, _ := restore(t, made.Path, keys, testdb.SQLite(t)); r.Cases != 5 {
		t.Errorf("restored %d cases", r.Cases)
	}
}

func TestABackupWithAPassphrase(t *testing.T) {
	i := install(t, testdb.SQLite(t))
	lock, err := backup.LockWith("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	made := i.make(lock)
	for passphrase, opens := range map[string]bool{"correct horse": true, "correct hors": false} {
		keys, err := backup.KeyFrom(passphrase)
		if err != nil {
			t.Fatal(err)
		}
		_, err = backup.Check(t.Context(), made.Path, keys, t.TempDir(), backup.Tools{})
		if opens && err != nil {
			t.Errorf("with its passphrase: %v", err)
		}
		if !opens {
			refused(t, err, countersign.Unprocessed, "encrypted for somebody else")
		}
	}
	if _, err := backup.LockWith(""); countersign.KindOf(err) != countersign.Invalid {
		t.Errorf("no passphrase: %v", err)
	}
}

package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"countersign"
)

// Restored is what was put back.
type Restored struct {
	Manifest
	Aside string // the folder of what was there before; empty when nothing was
}

// A restore into a SQLite file is several renames, and between two of them a program could die. What decides it is one rename: that of
// the note beside the database, which says what is to go where. Before it the old database is whole, and after it the new one is, as
// soon as somebody has carried out what the note says. Every start of the program does so first.
type note struct {
	Fresh string `json:"fresh"` // the restored database
	Aside string `json:"aside"` // the folder for what was there
}

// beside are the files that SQLite keeps beside a database. A log that belonged to another database would be read into this one.
var beside = []string{"-wal", "-shm", "-journal", ""}

func noteOf(database string) string { return database + ".restoring" }

// Restore puts a SQLite database back: the whole backup is read, checked and verified first. The caller holds the lock of the database, so
// that no program works on it; one that merely has it open is noticed here.
func Restore(ctx context.Context, path string, keys Keys, database string, at time.Time) (r Restored, err error) {
	folder := filepath.Dir(database)
	in, err := newRoom(folder)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, in.leave()) }()
	m, content, err := unwrap(ctx, path, keys, in, Tools{})
	if err != nil {
		return r, err
	}
	if m.Engine != "sqlite" {
		return r, countersign.Errorf(countersign.Invalid, "the backup is of PostgreSQL, and the database is a SQLite file").
			Try("name an empty PostgreSQL database with --database")
	}
	release, err := alone(database)
	if err != nil {
		return r, err
	}
	defer release()
	n := note{Fresh: database + ".restored"}
	if n.Aside, err = os.MkdirTemp(folder, "before-restore-"+at.UTC().Format("20060102T150405Z")+"-"); err != nil { // 0700
		return r, noRoom(folder, err)
	}
	if err := n.decide(database, content, in); err != nil {
		return r, errors.Join(noRoom(folder, err), os.Remove(n.Aside))
	}
	if err := Finish(database); err != nil {
		return r, err
	}
	if os.Remove(n.Aside) == nil { // it is empty: nothing was there before
		n.Aside = ""
	}
	return Restored{m, n.Aside}, nil
}

// decide brings the restored database to where it can be renamed from, and then says so.
func (n note) decide(database, content string, in *room) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err // unreachable: it is two texts
	}
	if err := os.Rename(content, n.Fresh); err != nil {
		return err
	}
	draft := in.file("note")
	if err := errors.Join(keep(draft, text), synced(filepath.Dir(database))); err != nil {
		return errors.Join(err, os.Remove(n.Fresh))
	}
	return errors.Join(os.Rename(draft, noteOf(database)), synced(filepath.Dir(database)))
}

func keep(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// Undecided reports whether a restore of a database was decided and not carried out.
func Undecided(database string) bool {
	_, err := os.Lstat(noteOf(database))
	return err == nil
}

// Finish carries out what the note beside a database says. It may be called again after it was cut off anywhere. The caller holds the lock
// of the database.
func Finish(database string) error {
	text, err := os.ReadFile(noteOf(database))
	if err != nil {
		return unfinished(database, err)
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil {
		return unfinished(database, err)
	}
	if _, err := os.Lstat(n.Fresh); err == nil { // else it is in its place already
		if err := n.carryOut(database); err != nil {
			return unfinished(database, err)
		}
	}
	if err := errors.Join(os.Remove(noteOf(database)), synced(filepath.Dir(database))); err != nil {
		return unfinished(database, err)
	}
	return nil
}

func (n note) carryOut(database string) error {
	for _, suffix := range beside {
		to := filepath.Join(n.Aside, filepath.Base(database)+suffix)
		if err := putAside(database+suffix, to); err != nil {
			return err
		}
	}
	if err := synced(n.Aside); err != nil {
		return err
	}
	if err := os.Rename(n.Fresh, database); err != nil {
		return err
	}
	return synced(filepath.Dir(database))
}

// putAside moves what is there, and never over something else: that would be the old database, if a stranger made a new one meanwhile.
func putAside(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already", to)
	}
	return os.Rename(from, to)
}

func unfinished(database string, cause error) error {
	e := countersign.Errorf(countersign.Unavailable, "a backup was being restored into %s, and that cannot be finished", database).
		Try(fmt.Sprintf("mend the rights of its folder, then start again; %s says what goes where", noteOf(database)))
	e.Err = cause
	return e
}

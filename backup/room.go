package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"countersign"
)

// A room is a folder of this program's own in which something is made that has no name yet. It is this user's alone, and gone when the
// work is done. What a killed program left is taken away by the next one that makes a room in the same place: whoever is at work holds a
// lock in its room.
type room struct {
	path string
	lock *flock.Flock
}

const roomPrefix = ".countersign-backup-"

func newRoom(in string) (*room, error) {
	tidy(in)
	path, err := os.MkdirTemp(in, roomPrefix) // 0700
	if err != nil {
		return nil, noRoom(in, err)
	}
	r := &room{path, flock.New(filepath.Join(path, "lock"))}
	if _, err := r.lock.TryLock(); err != nil {
		return nil, errors.Join(noRoom(in, err), os.RemoveAll(path))
	}
	return r, nil
}

func (r *room) leave() error { return errors.Join(r.lock.Unlock(), os.RemoveAll(r.path)) }

func (r *room) file(name string) string { return filepath.Join(r.path, name) }

// tidy takes away the rooms in a folder that nobody is in. One that was made this instant and is not locked yet could be taken for such;
// then its maker fails, and says so.
func tidy(in string) {
	rooms, _ := filepath.Glob(filepath.Join(escaped(in), roomPrefix+"*"))
	for _, path := range rooms {
		lock := flock.New(filepath.Join(path, "lock"))
		if alone, err := lock.TryLock(); err == nil && alone {
			lock.Unlock()
			os.RemoveAll(path)
		}
	}
}

// escaped is a folder whose name means itself in a pattern.
func escaped(folder string) string {
	if filepath.Separator == '\\' { // where a pattern has no way to escape, and names like these are rare
		return folder
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(folder)
}

// synced has the disk keep what was made and renamed in a folder. Where a folder cannot be asked that, its file system does so by itself.
func synced(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("wait for the disk: %w", err)
	}
	return nil
}

// noRoom is the error of a folder in which nothing can be made.
func noRoom(folder string, cause error) error {
	var said *countersign.Error
	if errors.As(cause, &said) {
		return cause
	}
	e := countersign.Errorf(countersign.Unavailable, "cannot write in %s; no file was left there", folder)
	e.Err = cause
	switch {
	case errors.Is(cause, fs.ErrNotExist):
		return e.Try("make the folder, or name another")
	case errors.Is(cause, syscall.ENOSPC), errors.Is(cause, syscall.EFBIG), errors.Is(cause, syscall.EDQUOT):
		return e.Try("it takes room for the database and for the backup; free some, or name a folder on another disk")
	}
	return e.Try("name a folder that this user may write to")
}

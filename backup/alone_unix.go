//go:build unix

package backup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"countersign"
)

// Where SQLite's locks are in a database file; every connection to one with a write-ahead log holds the second as long as it lasts.
const (
	pending = 0x40000000
	sharing = pending + 2
	sharers = 510
)

// alone makes sure that nobody has a SQLite database open, and holds off who would, until it is released. It asks for the lock that
// SQLite itself would and opens nothing with it: what is put aside is to stay as it is, and opening it would work its log in.
func alone(database string) (release func(), err error) {
	f, err := os.OpenFile(database, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, noRoom(database, err)
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: sharing, Len: sharers}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock); err != nil {
		f.Close()
		e := countersign.Errorf(countersign.Conflict, "another program has %s open; nothing was changed", database).Try("end it first, then restore again")
		e.Err = err
		return nil, e
	}
	return func() { f.Close() }, nil
}

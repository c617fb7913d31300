package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"countersign"
	"countersign/store"
)

// Source is what a backup is made of.
type Source struct {
	Store    *store.Store
	Database string // as the store was opened: PostgreSQL's own programs have to be told
	Version  string // of this program
	Data     string // the data folder
	Tools    Tools
}

// Target is where it goes.
type Target struct {
	Folder string // made by nobody: one that is not there is a disk that is not mounted
	Name   string // of the file in it; after its time when empty
	Lock   Lock
}

// Made is a backup that was looked at.
type Made struct {
	Manifest
	Path   string
	Bytes  int64  // of the file
	SHA256 string // of the file
	Took   time.Duration
}

// Make makes a backup, and returns once it was read again, has its name, and the disk has it. A broken record is no reason not to make
// one: the manifest says so.
func (s Source) Make(ctx context.Context, to Target) (made Made, err error) {
	begun := time.Now()
	if made.Path, err = to.path(s.Store.Now()); err != nil {
		return made, err
	}
	lock, err := to.Lock.fresh()
	if err != nil {
		return made, err
	}
	copied, err := newRoom(s.copiesIn(to))
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, copied.leave()) }()
	content, err := s.take(ctx, copied, &made.Manifest)
	if err != nil {
		return made, noRoomFor(copied, err)
	}
	written, err := newRoom(to.Folder)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, written.leave()) }()
	file := written.file("backup")
	if err := write(ctx, file, lock, made.Manifest, content); err != nil {
		return made, noRoomFor(written, err)
	}
	if made.SHA256, err = readAgain(ctx, file, lock, made.Manifest); err != nil {
		return made, err
	}
	if made.Bytes, err = publish(file, made.Path); err != nil {
		return made, noRoomFor(written, err)
	}
	made.Took = time.Since(begun)
	return made, nil
}

// copiesIn is where the database lies as it is while the backup is written: in the target's folder, so that the disk of the running
// program does not have to have room for it, but not where the backup is encrypted because nobody there should read it.
func (s Source) copiesIn(to Target) string {
	if to.Lock.Closed() {
		return s.Data
	}
	return to.Folder
}

// path is where the backup will be. What is there already is not written over.
func (t Target) path(at time.Time) (string, error) {
	name := t.Name
	if name == "" {
		name = "countersign-" + at.UTC().Format("20060102T150405Z") + ".tar.gz"
		if t.Lock.Closed() {
			name += ".age"
		}
	}
	path := filepath.Join(t.Folder, name)
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return path, taken(path)
	case !errors.Is(err, fs.ErrNotExist):
		return path, noRoom(t.Folder, err)
	}
	return path, nil
}

// take makes a copy of the database and fills the manifest with what was found in it.
func (s Source) take(ctx context.Context, in *room, m *Manifest) (content string, err error) {
	*m = Manifest{Format: format, Version: s.Version, Engine: s.Store.Engine()}
	name := contents[m.Engine]
	content = in.file(name)
	if m.Engine == "sqlite" {
		err = s.copySQLite(ctx, content, m)
	} else {
		err = s.dumpPostgres(ctx, content, m)
	}
	if err == nil {
		m.Content, err = describe(ctx, content, name)
	}
	return content, err
}

// copySQLite lets the database itself write the copy: a file that is copied while somebody writes to it is torn, or old by what is in its
// log.
func (s Source) copySQLite(ctx context.Context, path string, m *Manifest) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil { // SQLite would leave its rights to the umask
		return err
	}
	m.At = s.Store.Now().UTC()
	if err := s.Store.Copy(ctx, path); err != nil {
		return store.Explain(err)
	}
	copied, err := store.OpenAsIs(ctx, path)
	if err != nil {
		return err
	}
	defer copied.Close()
	return inspect(ctx, copied, m)
}

// inspect fills a manifest with what is in a database that nobody changes meanwhile. A file that SQLite finds fault with is an error.
func inspect(ctx context.Context, db *store.Store, m *Manifest) (err error) {
	found, err := db.Sound(ctx)
	if err == nil && found != "" {
		err = countersign.Errorf(countersign.Altered, "the copy of the database is damaged: %s", found).
			Try("run countersign doctor: if the database itself is damaged, restore the last good backup")
	}
	if err != nil {
		return err
	}
	if err := survey(ctx, db.View, m); err != nil {
		return err
	}
	report, err := db.VerifyRecord(ctx, nil)
	m.Record = recordOf(report)
	return err
}

// survey is all of a manifest that is quickly asked for.
func survey(ctx context.Context, v store.View, m *Manifest) (err error) {
	if m.Schema, err = v.Schema(ctx); err != nil {
		return err
	}
	if m.MasterKey, err = v.KeyID(ctx); err != nil {
		return err
	}
	size, err := v.RecordSize(ctx)
	m.Cases, m.Rows = size.Cases, size.Rows
	return err
}

// write writes the archive, and waits until the disk has it.
func write(ctx context.Context, path string, lock Lock, m Manifest, content string) (err error) {
	from, err := os.Open(content)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	around, err := lock.around(buffered)
	if err != nil {
		return err
	}
	if err := pack(around, m, until{ctx, from}); err != nil {
		return err
	}
	if err := errors.Join(around.Close(), buffered.Flush()); err != nil {
		return err
	}
	return f.Sync()
}

// readAgain reads the file that was written, from its first byte to its last, and returns its hash. The copy in it was checked, and the
// sums say that this is that copy.
func readAgain(ctx context.Context, path string, lock Lock, want Manifest) (string, error) {
	got, sum, err := read(ctx, path, Keys(lock.again), io.Discard)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil && got.Content != want.Content {
		err = fmt.Errorf("it holds %v and not %v", got.Content, want.Content)
	}
	if err == nil {
		return sum, nil
	}
	e := countersign.Errorf(countersign.Unavailable, "the backup does not read as it was written, and was thrown away").Try("look at the disk that it is on, or name another folder")
	e.Err = err
	return "", e
}

// read reads a whole backup, hands its database to the writer, and returns the file's hash.
func read(ctx context.Context, path string, keys Keys, content io.Writer) (m Manifest, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, "", unread("backup", path, err)
	}
	defer f.Close()
	hash := sha256.New()
	plain, err := keys.inside(io.TeeReader(until{ctx, f}, hash))
	if err != nil {
		return m, "", err
	}
	if m, err = unpack(plain, content); err != nil {
		return m, "", err
	}
	if _, err := io.Copy(hash, f); err != nil { // nothing, unless it has grown this moment
		return m, "", damaged(err)
	}
	return m, hex.EncodeToString(hash.Sum(nil)), nil
}

// publish gives a file its name, and returns its size once the disk has that.
func publish(file, name string) (int64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	if err := named(file, name); err != nil {
		return 0, err
	}
	return info.Size(), synced(filepath.Dir(name))
}

// named gives a file a second name, which fails where a rename would write over what somebody put there meanwhile.
func named(file, name string) error {
	err := os.Link(file, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return taken(name)
	case err != nil: // a file has one name there
		return os.Rename(file, name)
	}
	return nil
}

func taken(path string) error {
	return countersign.Errorf(countersign.Conflict, "%s is there already", path).Try("name another file, or move that one away")
}

// noRoomFor is the error of what could not be written in a room.
func noRoomFor(r *room, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return noRoom(filepath.Dir(r.path), err)
	}
	return err
}

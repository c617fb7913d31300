package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gofrs/flock"

	"countersign"
	"countersign/backup"
)

// Source is what backups of this installation are made of.
func (a *App) Source() backup.Source {
	return backup.Source{Store: a.Store, Database: a.Database, Version: a.Version, Data: a.Data, Tools: a.tools()}
}

func (c Config) tools() backup.Tools { return backup.Tools{Folder: c.PostgresTools} }

// Restored is what was put back, and what the operator should know about the key to it.
type Restored struct {
	backup.Restored
	Key string // one sentence
}

// Restore puts a backup in the place of this installation's database, or into the empty PostgreSQL database that the configuration names. It
// refuses while a program works on that.
func Restore(ctx context.Context, c Config, file string, keys backup.Keys) (r Restored, err error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return r, err
	}
	if c.onPostgres() {
		r.Restored, err = backup.RestorePostgres(ctx, file, keys, c.Database, c.Data, c.tools())
	} else {
		var lock *flock.Flock
		if lock, err = c.hold(); err != nil {
			return r, err
		}
		defer lock.Unlock()
		r.Restored, err = backup.Restore(ctx, file, keys, c.Database, c.Now())
	}
	r.Key = c.keyTo(r.MasterKey)
	return r, err
}

// keyTo says whether the master key at hand opens what is sealed in a database.
func (c Config) keyTo(id string) string {
	if id == "" {
		return "nothing in it is sealed yet, so it needs no master key"
	}
	found, err := c.keySource().Look()
	_, waiting := found.Waiting(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("it needs the master key %s, and there is none here: put that one into %s before you start the program", id, c.keyFile())
	case err != nil:
		return fmt.Sprintf("it needs the master key %s, and the one that is here cannot be read: %s", id, oneLine(err))
	case found.Key.ID() != id && !waiting:
		return fmt.Sprintf("it needs the master key %s, and %s holds key %s: put the right one there before you start the program", id, found.In, found.Key.ID())
	}
	return fmt.Sprintf("it needs the master key %s, which is in %s", id, found.In)
}

// endRestore ends a restore that was decided and cut off, before anybody opens the database: see backup.Restore.
func (c Config) endRestore() error {
	if c.onPostgres() || !backup.Undecided(c.Database) {
		return nil
	}
	lock, err := c.hold()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if !backup.Undecided(c.Database) { // somebody else has ended it meanwhile
		return nil
	}
	return backup.Finish(c.Database)
}

// hold takes the lock of a SQLite database, which says that one program works on it.
func (c Config) hold() (*flock.Flock, error) {
	lock := flock.New(c.Database + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, mend(err, "cannot lock the database "+c.Database, "check that its folder exists and that this user may write to it")
	}
	if !held {
		return nil, countersign.Errorf(countersign.Conflict, "another countersign is already working on %s", c.Database).
			Try("stop it first, or use PostgreSQL to let several work together")
	}
	return lock, nil
}

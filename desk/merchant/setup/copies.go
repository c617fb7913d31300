package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"countersign/desk/merchant/connector"
	"countersign/secret"
)

// Copies of exported files are customers' data on our disk, and are kept for as long as something reads them: the mapping in force,
// and what people have answered so far. An earlier version of the mapping reads nothing any more. It is kept as the word of
// whoever confirmed it, nothing opens its connection string again, and what a case saw through it stands in that case's record; so
// its copy goes when a newer version is saved, and never before.

const copyName = "shop-copy-"

// copyOf finds the file of a copy in a connection string. Its name is random, so it is that file wherever its folder is mounted.
var copyOf = regexp.MustCompile(copyName + `[a-z2-7]{26}\.db`)

// RemoveCopy removes from a folder the copy that a connection string led to, if it led to one and nothing reads it any more. While
// another connection string cannot be opened nobody knows what that one reads, so nothing is removed. A process that has the copy
// open reads on until it opens the newer one; in the moment between it may say that the shop cannot be read, which ends with a person.
func (s Setup) RemoveCopy(ctx context.Context, folder string, replaced connector.DSN) error {
	name := copyOf.FindString(string(replaced))
	if name == "" {
		return nil
	}
	read, err := s.copiesRead(ctx)
	if err != nil || read[name] {
		return err
	}
	if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // of another folder, or removed by somebody else
		return err
	}
	return nil
}

// copiesRead are the names of the copies that something reads.
func (s Setup) copiesRead(ctx context.Context) (map[string]bool, error) {
	latest, _, err := s.Latest(ctx)
	if err != nil {
		return nil, err
	}
	drafts, err := s.Store.Drafts(ctx)
	if err != nil {
		return nil, err
	}
	read := map[string]bool{copyOf.FindString(string(latest.Mapped.DSN)): true}
	for _, d := range drafts {
		if !secret.Sealed(d.Connection) {
			continue
		}
		dsn, err := s.Key.Open(draftOf(d.PersonID), d.Connection)
		if err != nil {
			return nil, err
		}
		read[copyOf.FindString(string(dsn))] = true
	}
	return read, nil
}

package backup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"countersign"
	"countersign/store"
)

// Check reads a whole backup, opens the database in it in a folder of its own within folder, and verifies the record. What it finds must be
// what the manifest says. A backup of PostgreSQL is read, and its list of contents; whether it can be restored says CheckInto alone.
func Check(ctx context.Context, path string, keys Keys, folder string, tools Tools) (m Manifest, err error) {
	in, err := newRoom(folder)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, in.leave()) }()
	m, _, err = unwrap(ctx, path, keys, in, tools)
	return m, err
}

// unwrap puts the database of a backup into a room, and judges it there.
func unwrap(ctx context.Context, path string, keys Keys, in *room, tools Tools) (m Manifest, content string, err error) {
	content = in.file("content")
	f, err := os.OpenFile(content, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return m, content, noRoom(in.path, err)
	}
	m, _, err = read(ctx, path, keys, f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return m, content, noRoomFor(in, err)
	}
	if m.Engine == "postgres" {
		return m, content, tools.list(ctx, content)
	}
	return m, content, judge(ctx, content, m)
}

// judge opens a database that came out of a backup, and holds it against the manifest. One of an older schema is brought to this
// program's first: what verifies the record knows that one alone.
func judge(ctx context.Context, database string, want Manifest) error {
	as, err := store.OpenAsIs(ctx, database)
	if err != nil {
		return damaged(err)
	}
	defer as.Close()
	found, err := as.Sound(ctx)
	if err != nil || found != "" {
		return damaged(cause(err, found))
	}
	got := Manifest{}
	if err := survey(ctx, as.View, &got); err != nil {
		return damaged(err)
	}
	verified := as
	if want.Schema < store.NewestSchema() {
		if verified, err = store.Open(ctx, database, store.Options{}); err != nil {
			return err
		}
		defer verified.Close()
	}
	report, err := verified.VerifyRecord(ctx, nil)
	if err != nil {
		return damaged(err)
	}
	got.Record = recordOf(report)
	return want.agrees(got)
}

// agrees compares with what was found in the database.
func (m Manifest) agrees(got Manifest) error {
	if got.Schema == m.Schema && got.MasterKey == m.MasterKey && got.Cases == m.Cases && got.Rows == m.Rows && got.Record == m.Record {
		return nil
	}
	e := countersign.Errorf(countersign.Altered, "the database in the backup is not what its manifest says: somebody changed one of them").
		Try("do not use it; take another one")
	e.Err = fmt.Errorf("the manifest says %d cases, %d rows, schema %d, record %+v; found %d cases, %d rows, schema %d, record %+v",
		m.Cases, m.Rows, m.Schema, m.Record, got.Cases, got.Rows, got.Schema, got.Record)
	return e
}

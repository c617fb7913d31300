package backup

import (
	"context"
	"errors"
	"time"

	"countersign"
	"countersign/store"
)

// dumpPostgres has pg_dump write down the moment that the manifest describes: both read the same snapshot.
func (s Source) dumpPostgres(ctx context.Context, path string, m *Manifest) error {
	server, err := s.Store.ServerVersion(ctx)
	if err != nil {
		return store.Explain(err)
	}
	program, err := s.Tools.find(ctx, "pg_dump", server)
	if err != nil {
		return err
	}
	err = s.Store.Snapshot(ctx, func(v store.View) error {
		m.At = s.Store.Now().UTC()
		name, err := v.Share(ctx)
		if err != nil {
			return err
		}
		// What is in it is compressed with the archive.
		if err := s.Tools.run(ctx, program, s.Database, "--format=custom", "--compress=0", "--no-password", "--snapshot="+name, "--file="+path); err != nil {
			return err
		}
		if err := survey(ctx, v, m); err != nil {
			return err
		}
		report, err := v.VerifyRecord(ctx)
		m.Record = recordOf(report)
		return err
	})
	if err != nil {
		return store.Explain(err)
	}
	return s.Tools.list(ctx, path)
}

// RestorePostgres restores a backup into a database that is empty and nobody's, in one transaction, and verifies the record there. It needs
// room in a folder.
func RestorePostgres(ctx context.Context, path string, keys Keys, database, folder string, tools Tools) (r Restored, err error) {
	in, err := newRoom(folder)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, in.leave()) }()
	m, content, err := unwrap(ctx, path, keys, in, tools)
	if err != nil {
		return r, err
	}
	if m.Engine != "postgres" {
		return r, countersign.Errorf(countersign.Invalid, "the backup is of SQLite, and the database is PostgreSQL").Try("name the SQLite file with --database")
	}
	server, err := ready(ctx, database)
	if err != nil {
		return r, err
	}
	program, err := tools.find(ctx, "pg_restore", server)
	if err != nil {
		return r, err
	}
	if err := tools.run(ctx, program, database, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password", content); err != nil {
		return r, err
	}
	return Restored{Manifest: m}, compare(ctx, database, m)
}

// ready looks whether a database may be restored into, and returns its server's version.
func ready(ctx context.Context, database string) (server int, err error) {
	into, err := store.OpenAsIs(ctx, database)
	if err != nil {
		return 0, err
	}
	defer into.Close()
	if err := into.Vacant(ctx); err != nil {
		return 0, err
	}
	return into.ServerVersion(ctx)
}

// compare holds a restored database against the manifest, and then brings one of an older schema to this program's.
func compare(ctx context.Context, database string, want Manifest) error {
	as, err := store.OpenAsIs(ctx, database)
	if err != nil {
		return err
	}
	defer as.Close()
	var got Manifest
	if err := survey(ctx, as.View, &got); err != nil {
		return err
	}
	now, err := store.Open(ctx, database, store.Options{Now: func() time.Time { return want.At }})
	if err != nil {
		return err
	}
	defer now.Close()
	report, err := now.VerifyRecord(ctx, nil)
	if err != nil {
		return err
	}
	got.Record = recordOf(report)
	return want.agrees(got)
}

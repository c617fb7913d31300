package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign"
)

// What somebody who looks after the database asks of it. Nothing here changes anything.

var (
	madeTrigger    = regexp.MustCompile(`(?i)\bCREATE TRIGGER (\w+)`)
	droppedTrigger = regexp.MustCompile(`(?i)\bDROP TRIGGER (?:IF EXISTS )?(\w+)`)
)

// Unguarded lists the triggers that this version's schema has and the database does not, or has switched off: those that refuse a
// change of the record among them.
func (s *Store) Unguarded(ctx context.Context) (missing []string, err error) {
	want, err := s.dialect.triggers()
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, s.dialect.armed)
	if err != nil {
		return nil, fmt.Errorf("list the triggers: %w", err)
	}
	have, err := collect(rows, func(row scanner) (name string, err error) { return name, row.Scan(&name) })
	if err != nil {
		return nil, fmt.Errorf("list the triggers: %w", err)
	}
	for _, name := range want {
		if !slices.Contains(have, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// triggers are those that the migrations leave behind.
func (d dialect) triggers() (names []string, err error) {
	dir := "migrations/" + d.name
	files, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, err // unreachable: they are in the program
	}
	for _, file := range files {
		text, err := fs.ReadFile(migrations, dir+"/"+file.Name())
		if err != nil {
			return nil, err // unreachable as well
		}
		for _, line := range strings.Split(string(text), "\n") {
			if m := droppedTrigger.FindStringSubmatch(line); m != nil {
				names = slices.DeleteFunc(names, func(name string) bool { return name == m[1] })
			}
			if m := madeTrigger.FindStringSubmatch(line); m != nil {
				names = append(names, m[1])
			}
		}
	}
	return names, nil
}

var errOnlyAsked = errors.New("this was only asked")

// Writable tries to write, and takes it back: rights, a disk that is full or mounted read-only, a server that is a replica.
func (s *Store) Writable(ctx context.Context) error {
	err := s.Write(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.exec(ctx, "INSERT INTO settings (name, value, changed_at) VALUES ('asked', '', 0)"); err != nil {
			return err
		}
		return errOnlyAsked
	})
	if errors.Is(err, errOnlyAsked) {
		return nil
	}
	return err
}

// Loose lists what is not as this program sets it on a SQLite database, because somebody or its file system changed it: without the
// write-ahead log readers and the writer wait for each other, and without synchronous commits a power failure loses some.
func (s *Store) Loose(ctx context.Context) (loose []string, err error) {
	if s.dialect != sqliteDialect {
		return nil, nil
	}
	var journal string
	var synchronous, foreign int
	err = errors.Join(s.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal),
		s.write.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous),
		s.write.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&foreign))
	if err != nil {
		return nil, fmt.Errorf("read the settings of the database: %w", err)
	}
	if !strings.EqualFold(journal, "wal") {
		loose = append(loose, "its journal is "+journal+" and not wal")
	}
	if synchronous < 2 {
		loose = append(loose, "commits do not wait for the disk")
	}
	if foreign != 1 {
		loose = append(loose, "foreign keys are off")
	}
	return loose, nil
}

// Ahead is by how much the clock of the database's server is ahead of ours; zero where the database has none of its own. The
// answer is as exact as half the time that the server took.
func (s *Store) Ahead(ctx context.Context) (time.Duration, error) {
	if s.dialect != postgresDialect {
		return 0, nil
	}
	var micros int64
	asked := s.Now()
	if err := s.read.QueryRowContext(ctx, "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)").Scan(&micros); err != nil {
		return 0, fmt.Errorf("ask the database for the time: %w", err)
	}
	heard := s.Now()
	return time.UnixMicro(micros).Sub(asked.Add(heard.Sub(asked) / 2)), nil
}

// SomeCases are up to n cases that lie together, from that place among all of them; from beyond the end, the first ones.
func (v View) SomeCases(ctx context.Context, from int64, n int) ([]countersign.CaseID, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT case_id FROM record_heads ORDER BY case_id LIMIT $1 OFFSET $2", n, from)
	if err != nil {
		return nil, fmt.Errorf("choose some cases: %w", err)
	}
	return collect(rows, func(row scanner) (id countersign.CaseID, err error) { return id, row.Scan(&id) })
}

package connector

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"countersign"
)

// Sheet is a table that somebody exported from a shop: texts in columns.
type Sheet struct {
	Table   string
	Columns []string
	Rows    func(row func(cells []string) error) error // calls row for each of them
}

// Copy makes a SQLite file of exported tables, for a shop whose database cannot be reached. It is read like any other shop's, and
// like any other it is never written to again: newer exports make another file. Every column holds text, and an empty cell
// nothing. A file that is there already is an error; one that could not be finished is gone.
func Copy(ctx context.Context, path string, sheets []Sheet) (err error) {
	fresh, err := os.CreateTemp(filepath.Dir(path), ".copy-*") // 0600: customers stand in it
	if err != nil {
		return notCopied(err)
	}
	defer os.Remove(fresh.Name())
	if err := fresh.Close(); err != nil {
		return notCopied(err)
	}
	if err := fill(ctx, fresh.Name(), sheets); err != nil {
		return notCopied(err)
	}
	if err := os.Link(fresh.Name(), path); err != nil {
		return notCopied(err)
	}
	return nil
}

// notCopied is an error of a copy, which a person can do something about only if the files were wrong.
func notCopied(err error) error {
	var said *countersign.Error
	if errors.As(err, &said) || errors.Is(err, context.Canceled) {
		return err
	}
	e := countersign.Errorf(countersign.Unavailable, "the copy of the exported files could not be written").Try("see whether the disk of the data folder is full")
	e.Err = err
	return e
}

func fill(ctx context.Context, path string, sheets []Sheet) (err error) {
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"}
	db := sql.OpenDB(door{&sqlite.Driver{}, name.String()})
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left of a file that was not finished
	for _, s := range sheets {
		if err := s.into(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s Sheet) into(ctx context.Context, tx *sql.Tx) error {
	d := dialect(SQLite)
	var columns, places []string
	for _, c := range s.Columns {
		columns, places = append(columns, d.quoted(c)+" TEXT"), append(places, "?")
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+d.quoted(s.Table)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+d.quoted(s.Table)+" VALUES ("+strings.Join(places, ", ")+")")
	if err != nil {
		return err
	}
	defer insert.Close()
	err = s.Rows(func(cells []string) error {
		_, err := insert.ExecContext(ctx, values(cells)...)
		return err
	})
	if err != nil {
		return err
	}
	return s.index(ctx, tx)
}

// values are cells, NULL where nothing is in one.
func values(cells []string) (all []any) {
	for _, text := range cells {
		if text == "" {
			all = append(all, nil)
		} else {
			all = append(all, text)
		}
	}
	return all
}

// index makes what an order is likely to be found by quick to find.
func (s Sheet) index(ctx context.Context, tx *sql.Tx) error {
	d := dialect(SQLite)
	for _, c := range s.Columns {
		if !slices.Contains(strings.Fields("id orderid order ordernumber number name ordername parentorderid"), folded(strings.ReplaceAll(c, " ", ""))) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS "+d.quoted(s.Table+" by "+c)+" ON "+d.quoted(s.Table)+" ("+d.quoted(c)+")"); err != nil {
			return err
		}
	}
	return nil
}

package connector

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"countersign"
)

// Sheet is a table, or a part of one, that somebody exported from a shop: texts in columns.
type Sheet struct {
	Table   string
	Columns []string
	Rows    func(row func(cells []string) error) error // calls row for each of them
}

// LineColumn is a column that a copy has beside those of its files: what tells a line from every other by what is in it. Exports of
// some shops give a refund no number of its own, and the order's number is the same for all refunds of an order. The same line has
// the same one in every copy, but for the number of its file where a table comes in several.
const LineColumn = "Line of the export"

// Copy makes a SQLite file of exported tables, for a shop whose database cannot be reached. It is read like any other shop's, and
// like any other it is never written to again: newer exports make another file. Every column holds text, and an empty cell
// nothing. A file that is there already is an error; one that could not be finished is gone.
//
// Parts of one table may overlap, or be the same file twice: a row that stands in several of them is one row, as often as it stands
// in the one that has it most often. How many rows of each sheet were there before is returned.
func Copy(ctx context.Context, path string, sheets []Sheet) (before []int, err error) {
	fresh, err := os.CreateTemp(filepath.Dir(path), ".copy-*") // 0600: customers stand in it
	if err != nil {
		return nil, notCopied(err)
	}
	defer os.Remove(fresh.Name())
	if err := fresh.Close(); err != nil {
		return nil, notCopied(err)
	}
	if before, err = fill(ctx, fresh.Name(), sheets); err != nil {
		return nil, notCopied(err)
	}
	if err := os.Link(fresh.Name(), path); err != nil {
		return nil, notCopied(err)
	}
	return before, nil
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

func fill(ctx context.Context, path string, sheets []Sheet) (before []int, err error) {
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"}
	db := sql.OpenDB(door{&sqlite.Driver{}, name.String()})
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left of a file that was not finished
	tables := partsOf(sheets)
	for _, s := range sheets {
		n, err := s.into(ctx, tx, tables[s.Table])
		if err != nil {
			return nil, err
		}
		before = append(before, n)
	}
	return before, tx.Commit()
}

// parts are a table that comes in several: how many there were so far, and how often each line stands in them. A table that comes
// whole has none: a line that stands there twice is twice in the shop's own export.
type parts struct {
	number int
	lines  map[written]int
}

// written is what tells a row from every other: a hash of its cells, each with its length.
type written [sha256.Size]byte

func lineOf(cells []string) written {
	h := sha256.New()
	for _, text := range cells {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return written(h.Sum(nil))
}

const ofFile = " of file "

// id is what stands in LineColumn.
func (l written) id(p *parts) string {
	id := "line " + hex.EncodeToString(l[:5])
	if p != nil {
		id += ofFile + strconv.Itoa(p.number)
	}
	return id
}

func partsOf(sheets []Sheet) map[string]*parts {
	count, all := map[string]int{}, map[string]*parts{}
	for _, s := range sheets {
		if count[s.Table]++; count[s.Table] == 2 {
			all[s.Table] = &parts{lines: map[written]int{}}
		}
	}
	return all
}

// into writes a sheet into its table, but for the rows that stand there from the parts before.
func (s Sheet) into(ctx context.Context, tx *sql.Tx, there *parts) (before int, err error) {
	d := dialect(SQLite)
	var columns, places []string
	for _, c := range append(slices.Clone(s.Columns), s.lineColumn()...) {
		columns, places = append(columns, d.quoted(c)+" TEXT"), append(places, "?")
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+d.quoted(s.Table)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return 0, err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+d.quoted(s.Table)+" VALUES ("+strings.Join(places, ", ")+")")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	here := map[written]int{}
	if there != nil {
		there.number++
	}
	err = s.Rows(func(cells []string) error {
		l := lineOf(cells)
		if there != nil {
			if here[l]++; here[l] <= there.lines[l] {
				before++
				return nil
			}
			there.lines[l]++
		}
		if s.lineColumn() != nil {
			cells = append(slices.Clone(cells), l.id(there))
		}
		_, err := insert.ExecContext(ctx, values(cells)...)
		return err
	})
	if err != nil {
		return 0, err
	}
	return before, s.index(ctx, tx)
}

// lineColumn is that column, unless the file has one of that name itself.
func (s Sheet) lineColumn() []string {
	if slices.ContainsFunc(s.Columns, func(c string) bool { return strings.EqualFold(c, LineColumn) }) {
		return nil
	}
	return []string{LineColumn}
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

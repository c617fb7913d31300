package setup

import (
	"context"
	"crypto/rand"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/desk/merchant/connector"
)

// File is a CSV file that somebody exported from a shop. It is read twice.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Exported says how a file was read.
type Exported struct {
	records.Export
	Table  string
	Rows   int
	Before int // rows that stand in the parts of its table before it, and are the same rows
}

// CopyExports makes a copy of exported files in a folder, for a mapping to read like any shop's database, and says where it is and
// how each file was read. Files of one name but for a number or a date behind it are parts of one table: what stands in several of
// them, as it does when an export is sent twice or an older one beside a newer one, is there once.
func CopyExports(ctx context.Context, folder string, files []File) (connector.DSN, []Exported, error) {
	var all []Exported
	var sheets []connector.Sheet
	for _, f := range files {
		x, err := f.recognised()
		if err != nil {
			return "", nil, err
		}
		if err := fitting(all, x); err != nil {
			return "", nil, err
		}
		all = append(all, x)
	}
	for i, f := range files {
		sheets = append(sheets, connector.Sheet{Table: all[i].Table, Columns: all[i].Columns, Rows: f.rows(&all[i])})
	}
	path := filepath.Join(folder, copyName+strings.ToLower(rand.Text())+".db")
	before, err := connector.Copy(ctx, path, sheets)
	if err != nil {
		return "", nil, err
	}
	for i := range all {
		all[i].Before = before[i]
	}
	return connector.DSN(path), all, nil
}

func (f File) recognised() (x Exported, err error) {
	in, err := f.Open()
	if err != nil {
		return x, err
	}
	defer in.Close()
	x.Export, err = records.RecogniseExport(f.Name, in)
	x.Table = tableOf(f.Name)
	return x, err
}

// fitting refuses a part of a table that has other columns than the parts before it.
func fitting(before []Exported, x Exported) error {
	for _, other := range before {
		if strings.EqualFold(other.Table, x.Table) && !slices.Equal(other.Columns, x.Columns) {
			return countersign.Errorf(countersign.Invalid, "%s and %s would be one table, %s, and have other columns", other.File, x.File, x.Table).
				Try("give files that hold different things different names")
		}
	}
	return nil
}

func (f File) rows(x *Exported) func(func([]string) error) error {
	return func(row func([]string) error) error {
		in, err := f.Open()
		if err != nil {
			return err
		}
		defer in.Close()
		x.Rows, err = x.Read(in, row)
		return err
	}
}

var (
	partOf  = regexp.MustCompile(`(?:[ _-]*(?:\(\d+\)|\d{4}-?\d\d-?\d\d|\d+))+$`)
	between = regexp.MustCompile(`[^\pL\pN]+`)
)

// tableOf is what a file's table is called: orders_export for "orders_export_1.csv" and for "Orders export 2026-11-30 (2).csv".
func tableOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if shorter := partOf.ReplaceAllString(name, ""); shorter != "" {
		name = shorter
	}
	name = strings.Trim(between.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || strings.HasPrefix(name, "sqlite_") {
		return "export_" + name
	}
	return name
}

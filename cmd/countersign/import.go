package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"countersign"
	"countersign/app"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

type importCommand struct {
	Records  importRecordsCommand  `cmd:"" help:"Import bank records from JSON and CSV files."`
	Policies importPoliciesCommand `cmd:"" help:"Import a shop's policy documents into the library."`
}

type importRecordsCommand struct {
	Files   []string `arg:"" name:"FILE" help:"JSON files, and CSV files named after what they hold (transactions.csv). Several are one import."`
	DryRun  bool     `help:"Say what would happen and change nothing."`
	JSON    bool     `name:"json" help:"Print the reports as JSON, one line a file."`
	Results string   `help:"Write what was refused to this file, as CSV, a line for each thing wrong." placeholder:"FILE"`
}

// Run imports the files as one and ends with 1 if any row was refused. A file that is not there is said before any is read.
func (c importRecordsCommand) Run(s *session) error {
	for _, file := range c.Files {
		if err := readable(file); err != nil {
			return err
		}
	}
	return s.with(func(a *app.App) error { return c.take(s, a) })
}

func (c importRecordsCommand) take(s *session, a *app.App) (err error) {
	meter := meterOn(s.err)
	f := feed.Feed{Store: a.Store, DryRun: c.DryRun, Progress: meter.show, Refused: func(p records.Problem) {
		meter.clear()
		fmt.Fprintln(s.err, p)
	}}
	if c.Results != "" {
		results, err := c.results()
		if err != nil {
			return err
		}
		f.Results = results
		defer func() { err = errors.Join(err, results.Close()) }()
	}
	reports, err := f.Files(s, c.Files...)
	meter.clear()
	if err != nil {
		return c.failed(s.err, reports, err)
	}
	return c.print(s.out, reports)
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return cannotOpen(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return cannotOpen(path, errors.New("it is a folder"))
	}
	return nil
}

// results makes the file for what is refused, over an older one, but never over a file that is being imported.
func (c importRecordsCommand) results() (*os.File, error) {
	if there, err := os.Stat(c.Results); err == nil && slices.ContainsFunc(c.Files, func(path string) bool { return same(path, there) }) {
		return nil, countersign.Errorf(countersign.Invalid, "%s is one of the files to import, expected another for what is refused", c.Results).In("--results")
	}
	file, err := os.OpenFile(c.Results, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // ids of accounts stand in it
	if err != nil {
		return nil, cannotOpen(c.Results, err)
	}
	return file, nil
}

func same(path string, there os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, there)
}

// failed tells somebody who stopped an import what became of it.
func (c importRecordsCommand) failed(w io.Writer, reports []feed.Report, err error) error {
	if errors.Is(err, context.Canceled) && !c.DryRun {
		done := 0
		for _, r := range reports {
			done += r.New + r.Changed + r.Same
		}
		fmt.Fprintf(w, "%d rows are stored. The same import again goes on from there.\n", done)
	}
	return err
}

// print says what became of each file, and ends with 1 if any row was refused.
func (c importRecordsCommand) print(w io.Writer, reports []feed.Report) error {
	refused := 0
	if order := names(reports); !c.JSON && !slices.Equal(order, c.Files) {
		fmt.Fprintf(w, "Owners come first: %s\n", strings.Join(order, ", "))
	}
	for _, r := range reports {
		refused += r.Refused
		if err := c.report(w, r); err != nil {
			return err
		}
	}
	switch {
	case refused == 0:
		return nil
	case c.Results != "" && !c.JSON:
		fmt.Fprintf(w, "What was refused is in %s\n", c.Results)
	}
	return exit(1)
}

func names(reports []feed.Report) (files []string) {
	for _, r := range reports {
		files = append(files, r.File)
	}
	return files
}

func (c importRecordsCommand) report(w io.Writer, r feed.Report) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	would := ""
	if c.DryRun {
		would = " (dry run: nothing was changed)"
	}
	fmt.Fprintf(w, "%s: %d new, %d changed, %d unchanged, %d refused%s\n", r.File, r.New, r.Changed, r.Same, r.Refused, would)
	if r.Format == records.CSV {
		form(w, r)
	}
	for _, u := range r.Understood {
		fmt.Fprintf(w, "  %-15s %d rows\n", u.Array, u.Rows)
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(w, "  column %s of %s is not known and was left out (%d rows, first on line %d)\n", u.Name, u.Array, u.Rows, u.Line)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", note)
	}
	return nil
}

// form says how a CSV file was read, for somebody to see whether that is how it was written.
func form(w io.Writer, r feed.Report) {
	for _, line := range [][2]string{{"encoding", string(r.Encoding)}, {"delimiter", string(r.Delimiter)}, {"line ends", r.LineEnds}, {"decimal sign", string(r.Decimal)}} {
		if line[1] != "" {
			fmt.Fprintf(w, "  %-15s %s\n", line[0], line[1])
		}
	}
}

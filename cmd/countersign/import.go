package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

type importCommand struct {
	Records importRecordsCommand `cmd:"" help:"Import bank records from JSON files."`
}

type importRecordsCommand struct {
	Files  []string `arg:"" name:"FILE" help:"Files to import, in order."`
	DryRun bool     `help:"Say what would happen and change nothing."`
	JSON   bool     `name:"json" help:"Print the reports as JSON, one line a file."`
}

// Run imports each file and ends with 1 if any row was refused. A file that is not there is said before the first is imported.
func (c importRecordsCommand) Run(s *session) (err error) {
	for _, file := range c.Files {
		if err := readable(file); err != nil {
			return err
		}
	}
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	refused, meter := 0, meterOn(s.err)
	for _, file := range c.Files {
		f := feed.Feed{Store: a.Store, DryRun: c.DryRun, Progress: meter.show, Refused: func(p records.Problem) {
			meter.clear()
			fmt.Fprintln(s.err, p)
		}}
		report, err := f.File(s, file)
		meter.clear()
		if err != nil {
			return err
		}
		refused += report.Refused
		if err := c.print(s.out, report); err != nil {
			return err
		}
	}
	if refused > 0 {
		return exit(1)
	}
	return nil
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

func (c importRecordsCommand) print(w io.Writer, r feed.Report) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	would := ""
	if c.DryRun {
		would = " (dry run: nothing was changed)"
	}
	fmt.Fprintf(w, "%s: %d new, %d changed, %d unchanged, %d refused%s\n", r.File, r.New, r.Changed, r.Same, r.Refused, would)
	for _, u := range r.Understood {
		fmt.Fprintf(w, "  %-15s %d rows\n", u.Array, u.Rows)
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(w, "  column %s of %s is not known and was left out (%d rows, first on line %d)\n", u.Name, u.Array, u.Rows, u.Line)
	}
	return nil
}

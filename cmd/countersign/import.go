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

// Run imports each file and ends with 1 if any row was refused.
func (c importRecordsCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	refused := 0
	for _, file := range c.Files {
		f := feed.Feed{Store: a.Store, DryRun: c.DryRun, Progress: progressOn(s.err),
			Refused: func(p records.Problem) { fmt.Fprintln(s.err, p) }}
		report, err := f.File(s, file)
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

// progressOn draws a line that is written over, on a terminal only.
func progressOn(w io.Writer) func(done, total int, is string) {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(done, total int, is string) {
		if total > 0 {
			fmt.Fprintf(w, "\r\x1b[K%s: %d of %d rows", is, done, total)
		} else {
			fmt.Fprintf(w, "\r\x1b[K%s: %d rows", is, done)
		}
		if done == total {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

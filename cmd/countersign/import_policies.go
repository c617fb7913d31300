package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"countersign"
	"countersign/app"
	"countersign/desk/merchant/library"
)

type importPoliciesCommand struct {
	Files     []string `arg:"" name:"FILE" help:"Markdown, text, HTML, DOCX or PDF. A title that is in the library already makes a new version of that document."`
	ValidFrom string   `help:"The day from which these policies are valid. Without it a first version counts as always in force, a later one from today." placeholder:"DATE"`
	Confirm   bool     `help:"Say that these documents were compared with what is printed of them. Without it one of which something was left out, guessed or read badly waits until somebody has looked at it."`
	JSON      bool     `name:"json" help:"Print the reports as JSON, one line a file."`
}

// Run imports each file for itself and ends with 1 if any was refused. To import a policy here is to say that its text is right, and
// it may be quoted from now on. Of one in which a person must look at something nobody has said that yet: it waits, and is quoted by
// nobody, until somebody confirms it.
func (c importPoliciesCommand) Run(s *session) error {
	if when, err := countersign.ParseWhen(c.ValidFrom); err != nil || len(c.ValidFrom) > len("2006-01-02") || when.IsZero() && c.ValidFrom != "" {
		return countersign.Errorf(countersign.Invalid, "%q is not a day", c.ValidFrom).In("--valid-from").Try("expected one such as 2026-03-01")
	}
	for _, file := range c.Files {
		if err := readable(file); err != nil {
			return err
		}
	}
	return s.with(func(a *app.App) error { return c.all(s, a) })
}

func (c importPoliciesCommand) all(s *session, a *app.App) error {
	refused := 0
	for _, file := range c.Files {
		report, err := c.take(s, a, file)
		var e *countersign.Error
		switch {
		case errors.As(err, &e) && e.Kind == countersign.Invalid:
			refused++
			fmt.Fprintln(s.err, "refused: "+e.Error())
		case err != nil:
			return err
		default:
			c.print(s.out, report)
		}
	}
	if refused > 0 {
		return exit(1)
	}
	return nil
}

func (c importPoliciesCommand) take(s *session, a *app.App, path string) (r library.Report, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, cannotOpen(path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, library.MostBytes+1))
	if err != nil {
		return r, cannotOpen(path, err)
	}
	if r, err = a.Library.Import(s, operator(), path, text, c.ValidFrom); err != nil || r.Confirmed || r.Extraction.Doubtful() && !c.Confirm {
		return r, err
	}
	r.Confirmed = true
	return r, a.Library.Confirm(s, operator(), r.VersionID)
}

func (c importPoliciesCommand) print(w io.Writer, r library.Report) {
	if c.JSON {
		r.Extraction.Text = ""
		json.NewEncoder(w).Encode(r) //nolint:errcheck // a report is texts and numbers, and a reader that left is not waited for
		return
	}
	fmt.Fprintf(w, "%s: %s\n", r.File, becameOf(r))
	for _, line := range r.Extraction.Told() {
		fmt.Fprintln(w, "  "+line)
	}
	if !r.Confirmed {
		fmt.Fprintf(w, "  Nothing is quoted from it before somebody has compared it with the document: confirm its text in the dashboard, Library, at /library/%s, or run this again with --confirm.\n", r.VersionID)
	}
}

func becameOf(r library.Report) string {
	since := "undated, so it counts as always in force"
	if r.ValidFrom != "" {
		since = "valid from " + r.ValidFrom
	}
	if !r.Confirmed {
		since += ", once its text is confirmed"
	}
	switch r.Outcome {
	case library.NewDocument:
		return fmt.Sprintf("new document “%s”, %s", r.Title, since)
	case library.NewVersion:
		return fmt.Sprintf("new version %s of “%s”, %s", r.Version, r.Title, since)
	case library.Dated:
		return fmt.Sprintf("version %s of “%s” is now %s", r.Version, r.Title, since)
	}
	return fmt.Sprintf("unchanged: it is version %s of “%s”, %s", r.Version, r.Title, since)
}

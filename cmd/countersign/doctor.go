package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"countersign/app"
	"countersign/redact"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
	encryption
}

// Run prints what it looked at and ends with 1 if something is wrong.
func (c doctorCommand) Run(s *session) (err error) {
	findings := app.Examine(s, c.onto(s.config()))
	for i := range findings {
		findings[i].Says = redact.Mask(findings[i].Says).String()
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(findings)
	} else {
		err = printFindings(s.out, findings)
	}
	if err == nil && slices.ContainsFunc(findings, func(f app.Finding) bool { return !f.OK }) {
		return exit(1)
	}
	return err
}

// printFindings prints a line for each, what to do below it, and how it stands in all.
func printFindings(w io.Writer, findings []app.Finding) (err error) {
	var wrong, notes int
	for _, f := range findings {
		mark := "ok "
		switch {
		case !f.OK:
			mark = "BAD"
			wrong++
		case f.Note:
			mark = "-- "
			notes++
		}
		_, err = fmt.Fprintf(w, "%s  %-12s %s\n", mark, f.What, f.Says)
		if f.Try != "" {
			_, err = fmt.Fprintf(w, "%18s%s\n", "", f.Try)
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%d looked at: %d wrong, %d to know, %d well\n", len(findings), wrong, notes, len(findings)-wrong-notes)
	}
	return err
}

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
}

// Run prints what it looked at and ends with 1 if something is wrong.
func (c doctorCommand) Run(s *session) (err error) {
	findings := app.Examine(s, s.config())
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

func printFindings(w io.Writer, findings []app.Finding) (err error) {
	for _, f := range findings {
		mark := "ok "
		if !f.OK {
			mark = "BAD"
		}
		_, err = fmt.Fprintf(w, "%s  %-12s %s\n", mark, f.What, f.Says)
		if f.Try != "" {
			_, err = fmt.Fprintf(w, "%18s%s\n", "", f.Try)
		}
	}
	return err
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
}

// Run prints what it looked at and ends with 1 if something is wrong.
func (c doctorCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	findings := a.Examine(s)
	if c.JSON {
		if err := json.NewEncoder(s.out).Encode(findings); err != nil {
			return err
		}
	}
	wrong := 0
	for _, f := range findings {
		mark := "ok "
		if !f.OK {
			mark, wrong = "BAD", wrong+1
		}
		if c.JSON {
			continue
		}
		fmt.Fprintf(s.out, "%s  %-12s %s\n", mark, f.What, f.Says)
		if f.Try != "" {
			fmt.Fprintf(s.out, "                  %s\n", f.Try)
		}
	}
	if wrong > 0 {
		return exit(1)
	}
	return nil
}

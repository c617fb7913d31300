package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"countersign/eval"
)

type evalCommand struct {
	Suites     []string `arg:"" optional:"" name:"SUITE" help:"Suites to run; all of them when none is named."`
	List       bool     `help:"Say which suites there are."`
	JSON       bool     `name:"json" help:"Print the reports as JSON, one line a suite."`
	DataFolder string   `help:"Folder of the third-party data." default:"../shared/data" placeholder:"DIR"`
}

// Run runs the suites and ends with 1 if a hard promise was broken.
func (c evalCommand) Run(s *session) error {
	if c.List {
		for _, suite := range eval.Suites {
			fmt.Fprintf(s.out, "%-18s %s\n", suite.Name, suite.About)
		}
		return nil
	}
	suites, err := c.suites()
	if err != nil {
		return err
	}
	broken := false
	for _, suite := range suites {
		report, err := suite.Run(s, eval.Setting{Data: absolute(c.DataFolder), Model: s.config().Model})
		if err != nil {
			return fmt.Errorf("%s: %w", suite.Name, err)
		}
		broken = broken || len(report.Promises) > 0
		if err := c.print(s.out, report); err != nil {
			return err
		}
	}
	if broken {
		return exit(1)
	}
	return nil
}

func (c evalCommand) suites() ([]eval.Suite, error) {
	if len(c.Suites) == 0 {
		return eval.Suites, nil
	}
	var suites []eval.Suite
	for _, name := range c.Suites {
		suite, err := eval.Find(name)
		if err != nil {
			return nil, err
		}
		suites = append(suites, suite)
	}
	return suites, nil
}

func (c evalCommand) print(w io.Writer, r eval.Report) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	for _, l := range r.Cases {
		fmt.Fprintf(w, "%-12s %-22s %-32s %s\n", l.Case, l.Subject, l.Filed, l.Ended)
		fmt.Fprintf(w, "             why a person: %s\n", list(l.Reasons))
		fmt.Fprintf(w, "             established: %s\n", list(l.Known))
		fmt.Fprintf(w, "             not established: %s\n", list(l.Unknown))
		if l.Note != "" {
			fmt.Fprintf(w, "             %s\n", l.Note)
		}
	}
	fmt.Fprintf(w, "\n%s\n", r.Suite)
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(w, "  %5d  %s\n", r.Counts[name], name)
	}
	if len(r.Promises) == 0 {
		_, err := fmt.Fprintln(w, "  every hard promise held")
		return err
	}
	_, err := fmt.Fprintf(w, "  BROKEN: %s\n", strings.Join(r.Promises, "\n  BROKEN: "))
	return err
}

func list(items []string) string {
	if len(items) == 0 {
		return "nothing"
	}
	return strings.Join(items, ", ")
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"countersign/eval"
)

type evalCommand struct {
	Suites     []string `arg:"" optional:"" name:"SUITE" help:"Suites to run; all of them when none is named."`
	List       bool     `help:"Say which suites there are."`
	JSON       bool     `name:"json" help:"Print the reports as JSON, one line a suite."`
	Seed       uint64   `help:"Which ledgers hostile-ledgers generates." default:"1"`
	Ledgers    int      `help:"How many ledgers hostile-ledgers generates." default:"5000"`
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
		began := time.Now()
		report, err := suite.Run(s, eval.Setting{Data: absolute(c.DataFolder), Model: s.config().Model, Seed: c.Seed, Ledgers: c.Ledgers})
		if err != nil {
			return fmt.Errorf("%s: %w", suite.Name, err)
		}
		broken = broken || len(report.Promises) > 0
		if err := c.print(s.out, report, time.Since(began)); err != nil {
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

func (c evalCommand) print(w io.Writer, r eval.Report, took time.Duration) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	return r.Print(w, took)
}

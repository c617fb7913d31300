package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"countersign"
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
			fmt.Fprintf(s.out, "%-16s %s\n", suite.Name, suite.About)
		}
		return nil
	}
	if c.Ledgers < 1 {
		return countersign.Errorf(countersign.Invalid, "is %d, expected 1 or more", c.Ledgers).In("--ledgers")
	}
	suites, err := c.suites()
	if err != nil {
		return err
	}
	broken := false
	for _, suite := range suites {
		began := time.Now()
		report, err := suite.Run(s, c.setting(s, suite))
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

// suites are those that were named. A name that is none is said before the first one runs.
func (c evalCommand) suites() (suites []eval.Suite, err error) {
	if len(c.Suites) == 0 {
		return eval.Suites, nil
	}
	for _, name := range c.Suites {
		suite, err := eval.Find(name)
		if err != nil {
			return nil, err
		}
		suites = append(suites, suite)
	}
	return suites, nil
}

func (c evalCommand) setting(s *session, suite eval.Suite) eval.Setting {
	return eval.Setting{Data: absolute(c.DataFolder), Model: s.config().Model, Seed: c.Seed, Ledgers: c.Ledgers, Progress: progress(s.err, suite.Name)}
}

// progress counts cases on a terminal; a log or a pipe is spared.
func progress(w io.Writer, suite string) func(done, total int) {
	if f, ok := w.(*os.File); !ok || !isTerminal(f) {
		return nil
	}
	var mu sync.Mutex
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done == total {
			fmt.Fprint(w, "\r\033[K")
		} else if done%25 == 0 {
			fmt.Fprintf(w, "\r%s: %d of %d cases", suite, done, total)
		}
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (c evalCommand) print(w io.Writer, r eval.Report, took time.Duration) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	return r.Print(w, took)
}

// Command bench measures the product against the least that any product would have to do, both in one run on the same
// machine and database, and prints the ratios: absolute figures drift from machine to machine, ratios less so.
//
// The bare loops are written here, as plainly as possible. They commit what must be committed and nothing else: no queue, no
// checks, no policy, no model. Goals are those the project set itself; the last column says whether they are met.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"text/tabwriter"

	"countersign/internal/testdb"
)

// goal is a ratio that was set before the first line was written.
type goal struct {
	ratio float64
	most  bool // the ratio is to stay at or under it; otherwise at or over
}

func (g goal) met(ratio float64) string {
	if g.most == (ratio <= g.ratio) || ratio == g.ratio {
		return "met"
	}
	return "NOT MET"
}

func (g goal) String() string {
	if g.most {
		return fmt.Sprintf("≤ %.2f", g.ratio)
	}
	return fmt.Sprintf("≥ %.2f", g.ratio)
}

// finding is one line of the table.
type finding struct {
	what, ours, bare string
	ratio            float64
	goal             *goal // nil where none was set
}

func (f finding) String() string {
	goal, met := "", ""
	if f.goal != nil {
		goal, met = f.goal.String(), f.goal.met(f.ratio)
	}
	ratio := ""
	if f.ratio > 0 {
		ratio = fmt.Sprintf("%.2f", f.ratio)
	}
	return strings.Join([]string{f.what, f.ours, f.bare, ratio, goal, met}, "\t")
}

func atMost(ratio float64) *goal  { return &goal{ratio, true} }
func atLeast(ratio float64) *goal { return &goal{ratio, false} }

// commands are what is measured besides, or a part of it in a process of its own.
var commands = map[string]func(context.Context, []string) error{"scale": scale, "serve": serve, "worker": worker}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // which ends what was started besides
	defer stop()
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](ctx, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	cases := flag.Int("cases", 2000, "cases to run through each engine")
	only := flag.String("engine", "", "measure only this one: sqlite or postgres")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	if err := run(ctx, *cases, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cases int, only string) error {
	out := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintln(out, "what\tours\tbare\tratio\tgoal\t")
	folder, err := os.MkdirTemp("/var/tmp", "countersign-bench-") // /tmp is in memory on some machines, where flushing costs nothing
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	databases := []string{filepath.Join(folder, "bench.db")}
	if url := os.Getenv(testdb.Server); url != "" {
		databases = append(databases, url)
	} else {
		fmt.Fprintln(os.Stderr, "bench: no PostgreSQL: run `make bench`, which starts a private one")
	}
	for i, database := range databases {
		if only == "sqlite" && i > 0 || only == "postgres" && i == 0 {
			continue
		}
		if err := measure(ctx, database, cases, func(f finding) { fmt.Fprintln(out, f) }); err != nil {
			return err
		}
	}
	return out.Flush()
}

// measure runs everything on one database.
func measure(ctx context.Context, database string, cases int, found func(finding)) error {
	b, err := open(ctx, database)
	if err != nil {
		return err
	}
	defer b.close()
	for _, m := range []func(context.Context, int, func(finding)) error{b.intakes, b.wholeCases, b.verification, b.workers} {
		if err := m(ctx, cases, found); err != nil {
			return err
		}
	}
	return nil
}

func rate(n int, seconds float64) string { return fmt.Sprintf("%.0f/s", float64(n)/seconds) }

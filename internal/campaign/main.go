//go:build linux

// Command campaign breaks the running program at random and looks at what became of everything.
//
// It starts the program as a bank and a shop would, on SQLite or PostgreSQL, with a model server, a shop's database and clients
// that ask again until they are answered. While disputes and chargebacks come in, are investigated and decided, and books and
// policies are imported, it kills processes, cuts connections, fills disks, turns clocks and stops machines. After every few
// faults the traffic pauses, everything must come to rest, and package truth compares the database with what the clients were
// told.
//
// The processes are the test binary of cmd/countersign, which is the program and nothing else until one of two variables asks it
// to have a wrong clock or to die at a chosen write. Dice come from a seed; which of two processes is quicker does not, so a
// seed repeats the plan and not the run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// options are what a campaign may be told.
type options struct {
	seed     uint64
	faults   int
	database string
	private  bool
	world    int
	pause    int
	keep     string
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of the dice")
	flag.IntVar(&o.faults, "faults", 200, "how many, half of them on each database")
	flag.StringVar(&o.database, "database", "both", "sqlite, postgres or both; PostgreSQL is the server that COUNTERSIGN_TEST_POSTGRES names")
	flag.BoolVar(&o.private, "private-server", false, "nobody else uses that server: it may be crashed")
	flag.IntVar(&o.world, "world", 100, "faults after which a new installation is begun")
	flag.IntVar(&o.pause, "pause", 10, "faults between two looks at everything")
	flag.StringVar(&o.keep, "keep", "", "folder for logs and for databases that something is wrong with; a temporary one when empty")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// run runs worlds until there were faults enough, prints the table and returns the number of violations.
func run(ctx context.Context, o options) (violations int, err error) {
	engines := []string{o.database}
	if o.database == "both" {
		engines = []string{"sqlite", "postgres"}
	}
	if o.keep == "" {
		if o.keep, err = os.MkdirTemp("", "countersign-campaign-"); err != nil {
			return 0, err
		}
	}
	program := filepath.Join(o.keep, "countersign")
	if err := build(ctx, program); err != nil {
		return 0, err
	}
	t := &tally{}
	defer func() { t.print(os.Stdout); violations = t.violations() }()
	left := map[string]int{}
	for i, engine := range engines {
		left[engine] = (o.faults + i) / len(engines)
	}
	for n := uint64(1); ; n++ {
		done := true
		for _, engine := range engines {
			if left[engine] == 0 || ctx.Err() != nil {
				continue
			}
			done = false
			faults := min(o.world, left[engine])
			left[engine] -= faults
			if err := newWorld(o, engine, program, o.seed<<20|n, t).live(ctx, faults); err != nil {
				return 0, err
			}
		}
		if done {
			return 0, nil
		}
	}
}

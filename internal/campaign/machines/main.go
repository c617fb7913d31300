// Command machines is a campaign: several `worker` and `serve` processes on one PostgreSQL, which are killed and started again
// while thousands of cases of both desks pass through them, and between which and the database the network is cut. At the end every
// case must have ended once, and the database is held to the truth (internal/campaign/truth).
//
// The processes are the built program itself, killed with a signal that it cannot catch. The cut is one of the network's own where
// this machine allows it: the workers live in a namespace whose cable to the database is taken out of its bridge, so that nothing
// arrives and nobody is told. Elsewhere a relay swallows what passes through it, which is not quite the same (the kernel goes on
// acknowledging), and the report says which it was.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	"countersign/internal/testdb"
)

// plan is what a campaign does.
type plan struct {
	Database string // a PostgreSQL database that is empty
	Program  string // the built program
	Folder   string // for the processes' data and logs
	Cases    int    // half of them at each desk
	Workers  int    // processes, in the namespace
	Serves   int    // processes, beside the database
	Kills    int
	Every    time.Duration // between two kills
	Cuts     int
	Cut      time.Duration // how long the network stays cut
	Limit    int64         // cases of a desk that may be investigated at once
	Seed     uint64
	Patience time.Duration // for everything to come to rest
	Say      func(format string, args ...any)
}

func main() {
	var p plan
	flag.IntVar(&p.Cases, "cases", 20_000, "cases, half of them at each desk")
	flag.IntVar(&p.Workers, "workers", 3, "worker processes")
	flag.IntVar(&p.Serves, "serves", 2, "serve processes")
	flag.IntVar(&p.Kills, "kills", 60, "processes to kill")
	flag.DurationVar(&p.Every, "every", 4*time.Second, "time between two kills")
	flag.IntVar(&p.Cuts, "cuts", 2, "times to cut the network between workers and database")
	flag.DurationVar(&p.Cut, "cut", 40*time.Second, "how long the network stays cut")
	flag.Int64Var(&p.Limit, "limit", 24, "cases of a desk that may be investigated at once, on all machines together")
	flag.Uint64Var(&p.Seed, "seed", uint64(time.Now().UnixNano()), "what chance is drawn from")
	flag.DurationVar(&p.Patience, "patience", 40*time.Minute, "how long everything may take to come to rest")
	flag.Parse()
	p.Say = func(format string, args ...any) { fmt.Printf(time.Now().Format("15:04:05 ")+format+"\n", args...) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := alone(ctx, p); err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
}

// alone runs a campaign on a database and in a folder of its own.
func alone(ctx context.Context, p plan) (err error) {
	server := os.Getenv(testdb.Server)
	if server == "" {
		return fmt.Errorf("no PostgreSQL: run `make machines`, which starts a private one")
	}
	if p.Folder, err = os.MkdirTemp("", "countersign-campaign-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.Folder)
	if p.Program, err = build(ctx, p.Folder); err != nil {
		return err
	}
	database, drop, err := fresh(ctx, server)
	if err != nil {
		return err
	}
	defer drop()
	p.Database = database
	found, err := p.run(ctx)
	if err != nil {
		return err
	}
	for _, one := range found[:min(len(found), 20)] {
		p.Say("VIOLATION %s", one)
	}
	if len(found) > 0 {
		return fmt.Errorf("%d violations; the seed was %d", len(found), p.Seed)
	}
	p.Say("0 violations")
	return nil
}

// fresh makes an empty database on the server.
func fresh(ctx context.Context, server string) (database string, drop func(), err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	db, err := sql.Open("pgx", server)
	if err != nil {
		return "", nil, err
	}
	name := "campaign_" + strings.ToLower(rand.Text())
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	u.Path = "/" + name
	return u.String(), func() {
		db.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
		db.Close()
	}, nil
}

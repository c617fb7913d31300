package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"countersign"
	"countersign/app"
)

// perProcess is how many cases a worker of PostgreSQL investigates at once: a worker there is a process of its own, on SQLite it is one
// case at a time in the only process that may work.
const perProcess = 8

// workers measures how many cases one, two and four workers carry from the queue to their fix, against the bare loop with as many
// cases at a time, and how long an intake takes meanwhile.
func (b *bench) workers(ctx context.Context, n int, found func(finding)) error {
	if err := b.app.Close(); err != nil { // its workers would help
		return err
	}
	for _, workers := range []int{1, 2, 4} {
		if err := b.crew(ctx, workers, n, found); err != nil {
			return fmt.Errorf("%d workers: %w", workers, err)
		}
	}
	return nil
}

// crew is one number of workers on n cases that wait for them.
func (b *bench) crew(ctx context.Context, workers, n int, found func(finding)) (err error) {
	config, atOnce := b.config(), workers
	config.Workers = workers
	if b.engine == "postgres" {
		config.Work, atOnce = false, workers*perProcess
	}
	if b.app, err = app.Open(ctx, config); err != nil {
		return err
	}
	defer b.app.Close()
	b.bare.db = b.app.Store.DB()
	if err := b.stock(ctx, n+mostMeanwhile); err != nil {
		return err
	}
	floor, err := b.carry(ctx, n, atOnce)
	if err != nil {
		return err
	}
	if _, err := spread(n, 16, func(i int) error { _, err := b.file(ctx, b.stocked+i, countersign.FailedTransfer); return err }); err != nil {
		return err
	}
	stop, err := b.employ(ctx, workers)
	if err != nil {
		return err
	}
	defer stop()
	took, meanwhile, err := b.finished(ctx, n)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d workers", workers)
	if workers == 1 {
		what = "1 worker"
	}
	done := n + len(meanwhile)
	found(finding{fmt.Sprintf("queue to fix, %s, %s", b.engine, what), rate(done, took.Seconds()), rate(n, floor.Seconds()),
		(float64(done) / took.Seconds()) / (float64(n) / floor.Seconds()), nil})
	slices.Sort(meanwhile)
	found(finding{"  an intake meanwhile, p50 and p99", fmt.Sprintf("%s %s", shown(meanwhile[len(meanwhile)/2]), shown(meanwhile[len(meanwhile)*99/100])), "", 0, nil})
	b.stocked += n + mostMeanwhile
	return nil
}

// carry is the bare loop's part of the same: cases that are open already.
func (b *bench) carry(ctx context.Context, n, atOnce int) (time.Duration, error) {
	id := func(i int) string { return fmt.Sprintf("carried-%d-%d", b.stocked, i) }
	if _, err := spread(n, 16, func(i int) error { return b.bare.open(ctx, id(i)) }); err != nil {
		return 0, err
	}
	return spread(n, atOnce, func(i int) error { return b.bare.work(ctx, id(i)) })
}

// employ sets the workers to work, and returns how to stop them.
func (b *bench) employ(ctx context.Context, workers int) (stop func(), err error) {
	if b.engine != "postgres" {
		return func() {}, b.app.Start(ctx)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	stop = func() {
		for _, w := range all {
			w.Process.Signal(os.Interrupt)
		}
		for _, w := range all {
			w.Wait()
		}
	}
	for range workers {
		w := exec.CommandContext(ctx, self, "worker", "-data", b.folder, "-database", b.database)
		w.Stderr = os.Stderr
		if err := w.Start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, w)
	}
	return stop, nil
}

// mostMeanwhile is how many cases are opened at the most while others are worked.
const mostMeanwhile = 500

// finished waits until no case waits for a worker, opening one every so often until then. It begins to count when the first case is
// done: how long a process takes to start is not what is measured.
func (b *bench) finished(ctx context.Context, n int) (took time.Duration, meanwhile []time.Duration, err error) {
	var begun time.Time
	before := 0
	for {
		left, err := b.waiting(ctx)
		switch {
		case err != nil:
			return 0, nil, err
		case begun.IsZero() && left < n:
			begun, before = time.Now(), n-left
		case left == 0:
			return time.Since(begun) * time.Duration(n+len(meanwhile)) / time.Duration(n+len(meanwhile)-before), meanwhile, nil
		}
		if len(meanwhile) < mostMeanwhile && left > n/10 {
			at := time.Now()
			if _, err := b.file(ctx, b.stocked+n+len(meanwhile), countersign.FailedTransfer); err != nil {
				return 0, nil, err
			}
			meanwhile = append(meanwhile, time.Since(at))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (b *bench) waiting(ctx context.Context) (n int, err error) {
	return n, b.app.Store.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM cases WHERE status IN ('queued', 'investigating')").Scan(&n)
}

// worker is a process that investigates and nothing else.
func worker(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("worker", flag.ExitOnError)
	b := bench{}
	flags.StringVar(&b.folder, "data", "", "folder of the key")
	flags.StringVar(&b.database, "database", "", "a postgres:// URL")
	flags.Parse(args)
	config := b.config()
	config.Workers = perProcess
	if b.app, err = app.Open(ctx, config); err != nil {
		return err
	}
	defer b.app.Close()
	if err := b.app.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Command dist makes a release of one version: a program for every system, as an archive, the notices of everything that is
// linked into it, a bill of materials, packages for Linux, and the sums of all of them.
//
//	go run ./internal/dist -version 1.2.3 -out dist
//
// It promises the same bytes from the same sources and the same Go, on any Linux machine, in any folder, at any hour: nothing that
// it writes has a time of its own, an owner, an order of the disk's or a path in it. What it takes from outside are the modules
// that go.sum names and two tools at fixed versions. It refuses to leave something out: a module without a licence, or a tool that
// fails, ends it with nothing that could be mistaken for a release.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.version, "version", "", "of the release: 1.2.3, or 1.2.3-rc1 before it")
	flag.StringVar(&o.out, "out", "dist", "folder to write to, which is empty or not there yet")
	flag.StringVar(&o.only, "only", "", "only these systems, as in linux/amd64,windows/amd64; all when empty")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	r, err := begin(ctx, o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	return r.make(ctx)
}

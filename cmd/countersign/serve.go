package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"countersign/app"
	"countersign/auth"
)

// work is how a process investigates.
type work struct {
	Workers int           `help:"Cases of each desk investigated at once." default:"16"`
	Grace   time.Duration `help:"What a stop gives running investigations to end by themselves." default:"20s"`
}

// Validate is called with the command line.
func (w work) Validate() error {
	switch {
	case w.Workers < 1 || w.Workers > 1000:
		return fmt.Errorf("--workers: expected a number from 1 to 1000 but got %d", w.Workers)
	case w.Grace <= 0 || w.Grace > time.Hour:
		return fmt.Errorf("--grace: expected a time above 0s and up to 1h but got %s", w.Grace)
	}
	return nil
}

func (w work) onto(c app.Config) app.Config {
	c.Work, c.Workers, c.Grace = true, w.Workers, w.Grace
	return c
}

type serveCommand struct {
	Addr string `help:"Address to listen on." default:"127.0.0.1:8080" env:"COUNTERSIGN_ADDR"`
	work
}

// Run serves until the program is told to stop, then drains: no new case, running ones get time to end, and what is cut
// short goes on from its record at the next start.
func (c serveCommand) Run(s *session) (err error) {
	l, err := app.Listen("--addr", c.Addr)
	if err != nil {
		return err
	}
	a, err := app.Open(s, c.onto(s.config()))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(s); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "countersign serves %s on %s\n", s.address(l), a.Store.Engine())
	if err := welcome(s, a, s.address(l)); err != nil {
		return err
	}
	return a.Serve(s, l, a.Handler())
}

// welcome prints the link by which the first account is made, while there is none. Whoever can read this terminal or log may use
// it; each start makes another, and the first account ends them all.
func welcome(s *session, a *app.App, address string) error {
	if n, err := a.Store.CountPeople(s); err != nil || n > 0 {
		return err
	}
	secret, err := auth.MakeLink(s, a.Store, "", auth.SetUpLink, 0, operator())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "nobody has an account yet; make the first one at %s/welcome/%s\n", address, secret)
	return nil
}

// address is where people reach the dashboard.
func (s *session) address(l net.Listener) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	return "http://" + l.Addr().String()
}

type workerCommand struct {
	MetricsAddr string `help:"Address that answers /healthz, /readyz and /metrics, and nothing else; none when not given." env:"COUNTERSIGN_METRICS_ADDR"`
	work
}

// Run investigates until the program is told to stop.
func (c workerCommand) Run(s *session) (err error) {
	var l net.Listener
	if c.MetricsAddr != "" {
		if l, err = app.Listen("--metrics-addr", c.MetricsAddr); err != nil {
			return err
		}
		defer l.Close() // once more, where it is not served
	}
	a, err := app.Open(s, c.onto(s.config()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(s); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "countersign works cases on %s\n", a.Store.Engine())
	if l == nil {
		return a.Until(s)
	}
	fmt.Fprintf(s.err, "countersign shows its metrics on http://%s/metrics\n", l.Addr())
	return a.Serve(s, l, a.Watchable())
}

type migrateCommand struct{}

// Run opens the database, which migrates it, and says from and to.
func (migrateCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		v := a.Store.Migrated()
		says := fmt.Sprintf("migrated from version %d to version %d", v.From, v.To)
		if v.From == v.To {
			says = fmt.Sprintf("the database has version %d already; nothing to do", v.To)
		}
		_, err := fmt.Fprintln(s.out, says)
		return err
	})
}

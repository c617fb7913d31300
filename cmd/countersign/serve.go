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

// entrance is where people reach the dashboard and the API.
type entrance struct {
	Addr      string `help:"Address to listen on. One that others can reach needs TLS, a proxy that is named, or --plain-http." default:"127.0.0.1:8080" env:"COUNTERSIGN_ADDR"`
	PlainHTTP bool   `name:"plain-http" help:"Say that passwords and cases may travel unencrypted, because nobody else is on that network." env:"COUNTERSIGN_PLAIN_HTTP"`
	encryption
}

// encryption is TLS that ends in this program. Its files may be renewed while it runs.
type encryption struct {
	Cert string `name:"tls-cert" help:"PEM file of a certificate and those that signed it." placeholder:"FILE" env:"COUNTERSIGN_TLS_CERT"`
	Key  string `name:"tls-key" help:"PEM file of its key." placeholder:"FILE" env:"COUNTERSIGN_TLS_KEY"`
}

func (e encryption) onto(c app.Config) app.Config {
	c.CertFile, c.CertKeyFile = e.Cert, e.Key
	return c
}

func (e entrance) door(s *session) app.Door {
	return app.Door{Addr: e.Addr, CertFile: e.Cert, KeyFile: e.Key, Plain: e.PlainHTTP, Proxies: s.Proxies != "", Log: s.log()}
}

type serveCommand struct {
	entrance
	work
}

// Run serves until the program is told to stop, then drains: no new case, running ones get time to end, and what is cut
// short goes on from its record at the next start.
func (c serveCommand) Run(s *session) (err error) {
	door := c.door(s)
	l, err := door.Open()
	if err != nil {
		return err
	}
	a, err := app.Open(s, c.work.onto(c.encryption.onto(s.config())))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(s); err != nil {
		return err
	}
	if c.PlainHTTP && c.Cert == "" {
		a.Log.WarnContext(s, "passwords and cases travel unencrypted: somebody has said that nobody else is on that network", "address", l.Addr().String())
	}
	fmt.Fprintf(s.err, "countersign serves %s on %s\n", s.address(door, l), a.Store.Engine())
	if err := welcome(s, a, s.address(door, l)); err != nil {
		return err
	}
	defer a.KeepBackups(s)()
	return a.Serve(s, l, a.Handler())
}

// welcome prints the link by which the first account is made, while there is none, and keeps it in a file for those to whom a service
// prints nothing. Whoever can read this terminal, log or file may use it; each start makes another, and the first account ends them all.
func welcome(s *session, a *app.App, address string) error {
	n, err := a.Store.CountPeople(s)
	if err != nil {
		return err
	}
	if n > 0 {
		a.Inhabited(s)
		return nil
	}
	secret, err := auth.MakeLink(s, a.Store, "", auth.SetUpLink, 0, operator())
	if err != nil {
		return err
	}
	link := address + "/welcome/" + secret
	fmt.Fprintf(s.err, "nobody has an account yet; make the first one at %s\n", link)
	path, err := a.KeepFirstLink(link)
	if err != nil {
		a.Log.WarnContext(s, "the first link is in no file", "error", err) // it was printed
		return nil
	}
	fmt.Fprintf(s.err, "until then the link is also in %s\n", path)
	return nil
}

// address is where people reach the dashboard.
func (s *session) address(door app.Door, l net.Listener) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	return door.Address(l)
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

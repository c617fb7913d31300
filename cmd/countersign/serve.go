package main

import (
	"errors"
	"fmt"

	"countersign/app"
)

type serveCommand struct {
	Addr    string `help:"Address to listen on." default:"127.0.0.1:8080" env:"COUNTERSIGN_ADDR"`
	Workers int    `help:"Cases investigated at once." default:"16"`
}

// Run serves until the program is told to stop, then drains: no new case, running ones get time to end, and what is cut
// short goes on from its record at the next start.
func (c serveCommand) Run(s *session) (err error) {
	l, err := app.Listen(c.Addr)
	if err != nil {
		return err
	}
	config := s.config()
	config.Work, config.Workers = true, c.Workers
	a, err := app.Open(s, config)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(s); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "countersign serves http://%s/api/v1 on %s\n", l.Addr(), a.Store.Engine())
	return a.Serve(s, l)
}

type workerCommand struct {
	Workers int `help:"Cases investigated at once." default:"16"`
}

// Run investigates until the program is told to stop.
func (c workerCommand) Run(s *session) (err error) {
	config := s.config()
	config.Work, config.Workers = true, c.Workers
	a, err := app.Open(s, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(s); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "countersign works cases on %s\n", a.Store.Engine())
	<-s.Done()
	return nil
}

type migrateCommand struct{}

// Run opens the database, which migrates it, and says from and to.
func (migrateCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	v := a.Store.Migrated()
	if v.From == v.To {
		_, err = fmt.Fprintf(s.out, "the database has version %d already; nothing to do\n", v.To)
	} else {
		_, err = fmt.Fprintf(s.out, "migrated from version %d to version %d\n", v.From, v.To)
	}
	return err
}

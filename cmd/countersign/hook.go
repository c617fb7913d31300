package main

import (
	"fmt"
	"time"

	"countersign/app"
	"countersign/hook"
)

type hookCommand struct {
	Add    hookAddCommand    `cmd:"" help:"Let a source send events; its secret is printed once, alone on standard output."`
	List   hookListCommand   `cmd:"" help:"List the sources, and what came of them."`
	Rotate hookRotateCommand `cmd:"" help:"Give a source a new secret; the old one stays good for a while."`
	Remove hookRemoveCommand `cmd:"" help:"Take nothing of a source any more. What it sent stays."`
}

type hookAddCommand struct {
	Name   string        `arg:"" help:"Small letters, digits and dashes; events go to /hooks/NAME."`
	Window time.Duration `default:"5m" help:"How old a signature may be, or how far ahead."`
}

func (c hookAddCommand) Run(s *session) error {
	return s.sources(func(sources hook.Sources, _ *app.App) error {
		secret, err := sources.Add(s, c.Name, c.Window, operator())
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "events go to POST /hooks/%s of serve's address, signed with this secret, which is not shown again:\n", c.Name)
		_, err = fmt.Fprintln(s.out, secret)
		return err
	})
}

type hookListCommand struct{}

func (hookListCommand) Run(s *session) error {
	return s.sources(func(_ hook.Sources, a *app.App) error {
		all, err := a.Store.EventSources(s)
		if err != nil {
			return err
		}
		for _, source := range all {
			counts, err := a.Store.EventCounts(s, source.Name)
			if err != nil {
				return err
			}
			last := "nothing was delivered yet"
			if !counts.Last.IsZero() {
				last = fmt.Sprintf("last %s, %d s off", counts.Last.Format(time.RFC3339), int64(counts.Skew/time.Second))
			}
			fmt.Fprintf(s.out, "%s\t%s desk\twindow %s\t%d deliveries, %d events, %d waiting, %d not understood\t%s\n", source.Name, source.Desk, source.Window,
				counts.Deliveries, counts.Events, counts.Waiting, counts.Unreadable, last)
		}
		return nil
	})
}

type hookRotateCommand struct {
	Name    string        `arg:"" help:"Of the source."`
	Overlap time.Duration `default:"24h" help:"How long the old secret stays good; 0 ends it at once."`
}

func (c hookRotateCommand) Run(s *session) error {
	return s.sources(func(sources hook.Sources, _ *app.App) error {
		secret, err := sources.Rotate(s, c.Name, c.Overlap, operator())
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "the secret before it stays good for %s; this one is not shown again:\n", c.Overlap)
		_, err = fmt.Fprintln(s.out, secret)
		return err
	})
}

type hookRemoveCommand struct {
	Name string `arg:"" help:"Of the source."`
}

func (c hookRemoveCommand) Run(s *session) error {
	return s.sources(func(sources hook.Sources, _ *app.App) error { return sources.Remove(s, c.Name, operator()) })
}

// sources opens the program for one command about the sources of events.
func (s *session) sources(do func(hook.Sources, *app.App) error) error {
	return s.with(func(a *app.App) error { return do(hook.Sources{Store: a.Store, Key: a.Key}, a) })
}

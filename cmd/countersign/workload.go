package main

import (
	"context"
	"fmt"

	"countersign/app"
	"countersign/store"
)

type workloadCommand struct {
	Show  workloadShowCommand  `cmd:"" help:"Print as JSON what is in force."`
	Apply workloadApplyCommand `cmd:"" help:"Put a JSON file into force on all machines; - reads standard input."`
}

type workloadShowCommand struct{}

func (workloadShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		w, err := a.Store.Workload(s)
		if err != nil {
			return err
		}
		return indented(s.out, w)
	})
}

type workloadApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it.
func (c workloadApplyCommand) Run(s *session) error {
	return apply(s, c.File, store.ParseWorkload, func(a *app.App, w store.Workload) error {
		if err := a.Knows(w); err != nil {
			return err
		}
		err := a.Store.Write(s, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, operator()) })
		if err != nil {
			return err
		}
		fmt.Fprintln(s.err, "in force for every case that begins from now on")
		return indented(s.out, w)
	})
}

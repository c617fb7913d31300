package main

import (
	"context"
	"errors"
	"fmt"

	"countersign/store"
)

type workloadCommand struct {
	Show  workloadShowCommand  `cmd:"" help:"Print as JSON what is in force."`
	Apply workloadApplyCommand `cmd:"" help:"Put a JSON file into force on all machines; - reads standard input."`
}

type workloadShowCommand struct{}

func (workloadShowCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w, err := a.Store.Workload(s)
	if err != nil {
		return err
	}
	return indented(s.out, w)
}

type workloadApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it.
func (c workloadApplyCommand) Run(s *session) (err error) {
	text, err := readFile(s.in, c.File)
	if err != nil {
		return err
	}
	w, err := store.ParseWorkload(text)
	if err != nil {
		return err
	}
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Knows(w); err != nil {
		return err
	}
	err = a.Store.Write(s, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, w, operator()) })
	if err != nil {
		return err
	}
	fmt.Fprintln(s.err, "in force for every case that begins from now on")
	return indented(s.out, w)
}

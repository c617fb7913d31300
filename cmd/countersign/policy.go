package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"

	"countersign"
	"countersign/pipeline/policy"
	"countersign/store"
)

type policyCommand struct {
	Show  policyShowCommand  `cmd:"" help:"Print the limits in force as JSON."`
	Apply policyApplyCommand `cmd:"" help:"Put the limits of a JSON file into force; - reads standard input."`
}

type policyShowCommand struct{}

func (policyShowCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	limits, err := a.Store.Limits(s)
	if err != nil {
		return err
	}
	return indented(s.out, limits)
}

type policyApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it.
func (c policyApplyCommand) Run(s *session) (err error) {
	text, err := readFile(s.in, c.File)
	if err != nil {
		return err
	}
	limits, err := policy.ParseLimits(text)
	if err != nil {
		return err
	}
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	err = a.Store.Write(s, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, operator()) })
	if err != nil {
		return err
	}
	fmt.Fprintln(s.err, "the policy is in force for every verdict from now on")
	return indented(s.out, limits)
}

func readFile(in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(in, 1<<20))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	return text, nil
}

// cannotOpen is the error of a file that the command line names, which makes it a wrong value.
func cannotOpen(path string, cause error) error {
	var e *fs.PathError
	if errors.As(cause, &e) {
		cause = e.Err
	}
	return countersign.Errorf(countersign.Invalid, "cannot open %s: %s", path, cause).Try("expected a file that this user may read")
}

// operator is whoever runs this program, as the record names them.
func operator() countersign.Actor {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return countersign.Actor{Kind: countersign.CLI, ID: u.Username}
	}
	return countersign.Actor{Kind: countersign.CLI, ID: fmt.Sprintf("uid-%d", os.Getuid())}
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

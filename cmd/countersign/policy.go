package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"

	"countersign"
	"countersign/app"
	"countersign/pipeline/policy"
	"countersign/store"
)

type policyCommand struct {
	Show  policyShowCommand  `cmd:"" help:"Print the limits in force as JSON."`
	Apply policyApplyCommand `cmd:"" help:"Put the limits of a JSON file into force; - reads standard input."`
}

type policyShowCommand struct{}

func (policyShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		limits, err := a.Store.Limits(s)
		if err != nil {
			return err
		}
		return indented(s.out, limits)
	})
}

type policyApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it.
func (c policyApplyCommand) Run(s *session) error {
	return apply(s, c.File, policy.ParseLimits, func(a *app.App, limits policy.Limits) error {
		err := a.Store.Write(s, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, operator()) })
		if err != nil {
			return err
		}
		fmt.Fprintln(s.err, "the policy is in force for every verdict from now on")
		return indented(s.out, limits)
	})
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

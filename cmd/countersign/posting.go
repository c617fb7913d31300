package main

import (
	"fmt"

	"countersign/app"
	"countersign/desk/bank/posting"
)

type postingCommand struct {
	Show  postingShowCommand  `cmd:"" help:"Print where the bank's fixes are posted as JSON, without secrets."`
	Apply postingApplyCommand `cmd:"" help:"Post fixes where a JSON file says from now on: to the ledger here, or by the bank's own core; - reads standard input."`
	Test  postingTestCommand  `cmd:"" help:"Ask the bank's core about an instruction that was never sent, to see that it answers. Nothing is posted."`
}

type postingShowCommand struct{}

func (postingShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		settings, route, err := a.Posting().InForce(s)
		if err != nil {
			return err
		}
		if route.Version == 0 {
			fmt.Fprintln(s.err, "never set: fixes are posted to the ledger of this program")
		} else {
			fmt.Fprintf(s.err, "version %d, applied by %s\n", route.Version, route.AppliedBy)
		}
		return indented(s.out, settings)
	})
}

type postingApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it. What was decided before goes where it was meant to go.
func (c postingApplyCommand) Run(s *session) error {
	return apply(s, c.File, posting.Parse, func(a *app.App, settings posting.Settings) error {
		version, err := a.Posting().Apply(s, settings, operator())
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "version %d is in force for every fix that is decided from now on", version)
		if settings.To == posting.Core {
			fmt.Fprint(s.err, "; the file still holds the secrets, so keep it as you would a password")
		}
		fmt.Fprintln(s.err)
		return indented(s.out, settings.Shown())
	})
}

type postingTestCommand struct{}

func (postingTestCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		if err := a.Posting().Test(s); err != nil {
			return err
		}
		fmt.Fprintln(s.out, "the core answered, and has no instruction that was never sent")
		return nil
	})
}

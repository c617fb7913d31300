package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"countersign"
	"countersign/api"
	"countersign/app"
	"countersign/pipeline/intake"
	"countersign/redact"
)

type investigateCommand struct {
	Desk        string `help:"The desk: bank." enum:"bank" default:"bank"`
	Transaction string `required:"" help:"The disputed transaction." placeholder:"ID"`
	Reason      string `help:"What the customer says: failed_transfer, duplicate_charge, unauthorised, not_received, wrong_amount or other." default:"other"`
	Notes       string `help:"The customer's own words."`
	JSON        bool   `name:"json" help:"Print the case as JSON, as the API does."`
}

// Run opens the case by the same intake as every channel and waits for its investigation. If another process is already
// working on the database, that one investigates it.
func (c investigateCommand) Run(s *session) (err error) {
	a, err := s.openToWork()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	opened, err := a.Intake.Open(s, a.Desks[countersign.DeskName(c.Desk)].Desk, operator(), intake.Request{
		SubjectID: c.Transaction, Reason: countersign.DisputeReason(c.Reason), Notes: c.Notes, Channel: "terminal"})
	if err != nil {
		return err
	}
	found, err := a.Wait(s, opened.Case.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(s, a, found)
	}
	return printCase(s.out, found)
}

// openToWork opens the app to investigate here, or, if somebody else works on the database, to wait for them.
func (s *session) openToWork() (*app.App, error) {
	config := s.config()
	config.Work, config.Log = true, quiet(s)
	a, err := app.Open(s, config)
	if countersign.KindOf(err) == countersign.Conflict {
		config.Work = false
		a, err = app.Open(s, config)
	}
	if err != nil {
		return nil, err
	}
	return a, a.Start(s)
}

// quiet logs errors only: the case that is printed is the output.
func quiet(s *session) *slog.Logger {
	return slog.New(redact.NewHandler(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelError})))
}

func (c investigateCommand) printJSON(s *session, a *app.App, found countersign.Case) error {
	view, err := api.View(s, a.Store, found.ID)
	if err != nil {
		return err
	}
	e := json.NewEncoder(s.out)
	e.SetIndent("", "  ")
	return e.Encode(view)
}

func printCase(w io.Writer, c countersign.Case) error {
	fmt.Fprintf(w, "%s  %s  %s  %s\n", c.ID, c.Subject.ID, c.Amount, c.Reason)
	fmt.Fprintf(w, "status      %s", c.Status)
	if c.Outcome != "" {
		fmt.Fprintf(w, ": %s, by %s", c.Outcome, c.HandledBy)
	}
	fmt.Fprintln(w)
	for _, f := range c.Facts.Items {
		fmt.Fprintf(w, "  %-8s %-28s %s  (%s)\n", f.State, f.Name, f.Value, f.Source)
	}
	if c.Proposal != nil {
		fmt.Fprintf(w, "proposal    %s %s, confidence %.2f stated: %s\n", c.Proposal.Recommendation, c.Proposal.Category, c.Proposal.Confidence, c.Proposal.Summary)
	}
	for _, r := range c.Verdict.Reasons {
		fmt.Fprintf(w, "  needs a person: %s: %s\n", r.Code, r.Text)
	}
	if c.Fix.Fix != nil {
		fmt.Fprintf(w, "fix         %s: %s of %s on %s\n", c.Fix.State, c.Fix.Fix.Kind, c.Fix.Fix.Amount, c.Fix.Fix.TransactionID)
	}
	return nil
}

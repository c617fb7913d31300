package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"countersign"
	"countersign/api"
	"countersign/app"
	"countersign/pipeline/intake"
	"countersign/redact"
)

type investigateCommand struct {
	Desk        string    `help:"The desk: bank or merchant." enum:"bank,merchant" default:"bank"`
	Transaction string    `help:"At the bank's desk: the disputed transaction." placeholder:"ID"`
	Reason      string    `help:"At the bank's desk, what the customer says: failed_transfer, duplicate_charge, unauthorised, not_received, wrong_amount or other." default:"other"`
	Order       string    `help:"At the merchant's desk: the id or number of the order." placeholder:"ID"`
	Network     string    `help:"At the merchant's desk: visa, mastercard, amex, discover, or the provider whose reason codes these are."`
	ReasonCode  string    `help:"At the merchant's desk: the network's reason code." placeholder:"CODE"`
	Due         time.Time `help:"At the merchant's desk: the provider's deadline, as 2026-12-01T17:00:00Z." placeholder:"TIME"`
	Notes       string    `help:"The customer's own words."`
	JSON        bool      `name:"json" help:"Print the case as JSON, as the API does."`
}

// Validate is called with the command line.
func (c investigateCommand) Validate() error {
	switch bank := c.Desk == string(countersign.Bank); {
	case bank && (c.Transaction == "" || c.Order != ""):
		return errors.New("--desk bank: expected --transaction ID and no --order")
	case !bank && (c.Order == "" || c.Transaction != ""):
		return errors.New("--desk merchant: expected --order ID and no --transaction")
	}
	return nil
}

// request is what intake needs to know.
func (c investigateCommand) request() intake.Request {
	if c.Desk == string(countersign.Bank) {
		return intake.Request{SubjectID: c.Transaction, Reason: countersign.DisputeReason(c.Reason), Notes: c.Notes, Channel: "terminal"}
	}
	r := intake.Request{SubjectID: c.Order, SubjectField: "order", Reason: countersign.OtherReason, Notes: c.Notes, Channel: "terminal", Stage: "chargeback",
		Terms: countersign.Terms{Network: strings.ToLower(c.Network), ReasonCode: c.ReasonCode}}
	if !c.Due.IsZero() {
		r.DueAt = &c.Due
	}
	return r
}

// Run opens the case by the same intake as every channel and waits for its investigation. If another process is already
// working on the database, that one investigates it.
func (c investigateCommand) Run(s *session) (err error) {
	a, err := s.openToWork()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	opened, err := a.Intake.Open(s, a.Desks[countersign.DeskName(c.Desk)].Desk, operator(), c.request())
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

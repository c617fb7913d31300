package main

import (
	"cmp"
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
	Desk        string `help:"The desk: bank or merchant." enum:"bank,merchant" default:"bank"`
	Transaction string `help:"At the bank's desk: the disputed transaction." placeholder:"ID"`
	Reason      string `help:"At the bank's desk, what the customer says: failed_transfer, duplicate_charge, unauthorised, not_received, wrong_amount or other (when left out)."`
	Order       string `help:"At the merchant's desk: the id or number of the order." placeholder:"ID"`
	terms       `embed:""`
	Notes       string `help:"The customer's own words."`
	JSON        bool   `name:"json" help:"Print the case as JSON, as the API does."`
}

// terms are what a network or a provider says of a chargeback.
type terms struct {
	Network     string   `help:"At the merchant's desk: visa, mastercard, amex, discover, or the provider whose reason codes these are."`
	ReasonCode  string   `help:"At the merchant's desk: the network's reason code." placeholder:"CODE"`
	Stage       string   `help:"At the merchant's desk: inquiry, chargeback (when left out), pre_arbitration or arbitration."`
	Amount      disputed `help:"At the merchant's desk: what is in dispute, as \"USD 120.00\"; what was paid when left out." placeholder:"AMOUNT"`
	Due         instant  `help:"At the merchant's desk: the provider's deadline, as 2026-12-01T17:00:00Z." placeholder:"TIME"`
	ProviderRef string   `help:"At the merchant's desk: the provider's own reference of the dispute." placeholder:"ID"`
}

// disputed is an amount as it is typed: its currency, a blank, and the number.
type disputed struct{ amount *countersign.Money }

// UnmarshalText is called with the flag's value.
func (d *disputed) UnmarshalText(text []byte) error {
	currency, number, _ := strings.Cut(string(text), " ")
	m, err := countersign.ParseMoney(number, currency)
	if err != nil {
		return fmt.Errorf("%q is no amount; expected a currency and a number, such as \"USD 120.00\"", text)
	}
	d.amount = &m
	return nil
}

// instant is a time with its zone.
type instant struct{ at *time.Time }

// UnmarshalText is called with the flag's value.
func (i *instant) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%q is no time; expected one with its zone, such as 2026-12-01T17:00:00Z", text)
	}
	i.at = &at
	return nil
}

// Validate is called with the command line.
func (c investigateCommand) Validate() error {
	switch bank := c.Desk == string(countersign.Bank); {
	case bank && (c.Transaction == "" || c.Order != ""):
		return errors.New("--desk bank: expected --transaction ID and no --order")
	case bank && c.terms != terms{}:
		return errors.New("--desk bank: a transaction has no --network, --reason-code, --stage, --amount, --due or --provider-ref; those are of an order")
	case !bank && (c.Order == "" || c.Transaction != ""):
		return errors.New("--desk merchant: expected --order ID and no --transaction")
	case !bank && c.Reason != "":
		return errors.New("--desk merchant: expected no --reason; what is claimed follows from --network and --reason-code")
	}
	return nil
}

// request is what intake needs to know.
func (c investigateCommand) request() intake.Request {
	if c.Desk == string(countersign.Bank) {
		return intake.Request{SubjectID: c.Transaction, Reason: countersign.DisputeReason(cmp.Or(c.Reason, "other")), Notes: c.Notes, Channel: "terminal"}
	}
	return intake.Request{SubjectID: c.Order, SubjectField: "order", Reason: countersign.OtherReason, Notes: c.Notes, Channel: "terminal", Stage: c.Stage, Amount: c.Amount.amount, DueAt: c.Due.at,
		Terms: countersign.Terms{Network: c.Network, ReasonCode: c.ReasonCode, Reference: c.ProviderRef}}
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
	switch {
	case opened.Sooner:
		fmt.Fprintf(s.err, "case %s was open already; its deadline is now the sooner one\n", opened.Case.ID)
	case !opened.Created:
		fmt.Fprintf(s.err, "case %s was open already; nothing was added to it\n", opened.Case.ID)
	}
	if err := c.warn(s, a); err != nil {
		return err
	}
	found, err := a.Wait(s, opened.Case.ID)
	if err != nil {
		return err
	}
	orderMissing(s.err, found)
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

// inDispute is the amount of a case: unknown until somebody said it or the order was read.
func inDispute(c countersign.Case) string {
	if c.Amount.Currency == "" {
		return "amount not known"
	}
	return c.Amount.String()
}

func printCase(w io.Writer, c countersign.Case) error {
	fmt.Fprintf(w, "%s  %s  %s  %s\n", c.ID, c.Subject.ID, inDispute(c), c.Reason)
	fmt.Fprintf(w, "status      %s", c.Status)
	if c.Outcome != "" {
		fmt.Fprintf(w, ": %s, by %s", c.Outcome, c.HandledBy)
	}
	fmt.Fprintln(w)
	for _, f := range c.Facts.Items {
		fmt.Fprintf(w, "  %-8s %-28s %s  (%s)\n", f.State, f.Name, f.Value, f.Source)
	}
	if c.Proposal != nil {
		wanted := strings.TrimSpace(c.Proposal.Recommendation + " " + string(c.Proposal.Category)) // a proposal may have no category
		fmt.Fprintf(w, "proposal    %s, confidence %.2f stated: %s\n", wanted, c.Proposal.Confidence, c.Proposal.Summary)
	}
	for _, r := range c.Verdict.Reasons {
		fmt.Fprintf(w, "  needs a person: %s: %s\n", r.Code, r.Text)
	}
	if c.Fix.Fix != nil {
		fmt.Fprintf(w, "fix         %s: %s of %s on %s\n", c.Fix.State, c.Fix.Fix.Kind, c.Fix.Fix.Amount, c.Fix.Fix.TransactionID)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"countersign"
	"countersign/app"
	"countersign/auth"
	"countersign/demo"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/pipeline/review"
	"countersign/redact"
	"countersign/store"
)

type demoCommand struct {
	Addr string `help:"Address to listen on." default:"127.0.0.1:8080" env:"COUNTERSIGN_ADDR"`
	Once bool   `help:"Work every dispute, print the table and a summary, and exit."`
}

// demoTime is when the demo's clock starts with --once, so that two runs print the same.
var demoTime = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// Run works the invented bank's disputes. With --once and no --data nothing is kept; otherwise demo and serve on the same
// folder go on with what is there.
func (c demoCommand) Run(s *session) (err error) {
	show, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, show.close()) }()
	if err := show.fill(s); err != nil {
		return err
	}
	if err := show.work(s); err != nil {
		return err
	}
	if c.Once {
		return show.summary(s)
	}
	return errors.Join(show.summary(s), c.serve(s, show))
}

func (c demoCommand) serve(s *session, show *show) error {
	l, err := app.Listen(c.Addr)
	if err != nil {
		return err
	}
	secret, _, err := auth.NewToken(s, show.app.Store, "demo", "admin", operator())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Fprintf(s.out, "\nThe API answers at http://%s/api/v1 until you press Ctrl-C. Try:\n\n"+
		"  curl -H 'Authorization: Bearer %s' http://%s/api/v1/cases?status=in_review\n\n", l.Addr(), secret, l.Addr())
	return show.app.Serve(s, l)
}

// show is the demo on its way.
type show struct {
	app    *app.App
	now    time.Time
	out    io.Writer
	folder string // removed at the end; empty when the data is kept
	next   int
	counts map[string]int
}

func (c demoCommand) open(s *session) (*show, error) {
	d := &show{now: time.Now().UTC().Truncate(time.Hour), out: s.out, counts: map[string]int{}, next: 1001}
	config := s.config()
	config.Work, config.NewID, config.Model = true, d.id, app.ModelConfig{}
	config.Log = slog.New(slog.DiscardHandler) // what goes wrong in the demo goes wrong on purpose, and stands in its lines
	switch {
	case s.Data != "":
	case c.Once:
		folder, err := os.MkdirTemp("", "countersign-demo-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for the demo: %w", err)
		}
		d.folder, config.Data = folder, folder
	default:
		config.Data += "-demo"
	}
	if c.Once {
		start := time.Now()
		d.now = demoTime
		config.Now = func() time.Time { return demoTime.Add(time.Since(start)) }
	}
	config.Models = demo.Models(d.now, d.arrive)
	var err error
	if d.app, err = app.Open(s, config); err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.folder))
	}
	return d, d.app.Start(s)
}

func (d *show) close() error { return errors.Join(d.app.Close(), os.RemoveAll(d.folder)) }

// id counts: the demo's cases are called the same every time.
func (d *show) id(prefix string) countersign.CaseID {
	d.next++
	return countersign.CaseID(fmt.Sprintf("%s%d", prefix, d.next-1))
}

// arrive stores rows that the core system sends while a model thinks.
func (d *show) arrive(ctx context.Context, set records.Set) error {
	_, err := feed.Feed{Store: d.app.Store}.Set(ctx, set)
	return err
}

func (d *show) fill(s *session) error {
	set := demo.Bank(d.now)
	fmt.Fprintf(d.out, "An invented bank: %d customers, %d accounts, %d transactions. No AI is connected: an offline reviewer works by\n"+
		"rules, and a script, marked *, plays a model where one has to fail. Nothing here is real.\n\n", len(set.Customers), len(set.Accounts), len(set.Transactions))
	var refused []error
	_, err := feed.Feed{Store: d.app.Store, Refused: func(p records.Problem) { refused = append(refused, p) }}.Set(s, set)
	return errors.Join(err, errors.Join(refused...))
}

// work carries one dispute after the other to its end. A folder that has cases already keeps them as they are.
func (d *show) work(s *session) error {
	fmt.Fprintf(d.out, "%-7s %-17s %14s  %-34s %s\n", "case", "the customer says", "amount", "how it ended", "why a person must look")
	if old, _, err := d.app.Store.Cases(s, store.Filter{Limit: 200}); err != nil || len(old) > 0 {
		for _, c := range old {
			d.line(c, "")
		}
		return err
	}
	return d.tell(s, demo.Disputes())
}

// tell opens disputes together and prints them in order, as a bank's day would go. One that changes something for all, the
// policy's mode or a damaged row, waits until those before it have ended and is worked by itself.
func (d *show) tell(s *session, disputes []demo.Dispute) error {
	for len(disputes) > 0 {
		n := 1
		for n < len(disputes) && !alone(disputes[0]) && !alone(disputes[n]) {
			n++
		}
		if err := d.together(s, disputes[:n]); err != nil {
			return err
		}
		disputes = disputes[n:]
	}
	return nil
}

func alone(d demo.Dispute) bool { return d.Shadow || d.Damaged || d.Meanwhile != nil }

func (d *show) together(s *session, disputes []demo.Dispute) error {
	if disputes[0].Damaged {
		if err := demo.Damage(s, d.app.Store.DB()); err != nil {
			return err
		}
	}
	if disputes[0].Shadow {
		if err := d.mode(s, policy.Shadow); err != nil {
			return err
		}
		defer d.mode(s, policy.Act)
	}
	var opened []countersign.CaseID
	for _, dispute := range disputes {
		o, err := d.app.Intake.Open(s, d.app.Desks[countersign.Bank].Desk, operator(), intake.Request{SubjectID: dispute.TransactionID,
			Reason: dispute.Reason, Notes: dispute.Notes, Channel: dispute.Channel})
		if err != nil {
			return fmt.Errorf("%s: %w", dispute.Title, err)
		}
		opened = append(opened, o.Case.ID)
	}
	for i, dispute := range disputes {
		if err := d.end(s, opened[i], dispute); err != nil {
			return fmt.Errorf("%s: %w", dispute.Title, err)
		}
	}
	return nil
}

// end waits for a dispute's investigation, does what the invented analyst does, and prints its line.
func (d *show) end(s *session, id countersign.CaseID, dispute demo.Dispute) error {
	c, err := d.app.Wait(s, id)
	if err != nil {
		return err
	}
	if c, err = d.then(s, c, dispute.Then); err != nil {
		return err
	}
	d.line(c, dispute.Script)
	return nil
}

func (d *show) mode(ctx context.Context, mode policy.Mode) error {
	return d.app.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		limits, err := tx.Limits(ctx)
		limits.Mode = mode
		return errors.Join(err, tx.ApplyLimits(ctx, limits, operator()))
	})
}

// then is what the invented analyst does.
func (d *show) then(ctx context.Context, c countersign.Case, act *demo.Act) (countersign.Case, error) {
	if act == nil {
		return c, nil
	}
	on := review.Act{Case: c.ID, Revision: c.Revision, Actor: countersign.Actor{Kind: countersign.Person, ID: "demo-analyst"}}
	switch act.Verb {
	case "approve":
		return d.app.Review.Approve(ctx, on)
	case "override":
		return d.app.Review.Override(ctx, on, act.Outcome, act.Reason, act.Fix)
	}
	return d.app.Review.Escalate(ctx, on, act.Reason, act.Reference)
}

// line prints a case on one line.
func (d *show) line(c countersign.Case, script string) {
	how := ending(c)
	d.counts[how]++
	var why []string
	if c.Verdict != nil {
		for _, r := range c.Verdict.Reasons {
			why = append(why, strings.ReplaceAll(string(r.Code), "_", " "))
			d.counts["reason: "+string(r.Code)]++
		}
	}
	mark := " "
	if script != "" {
		mark = "*"
	}
	fmt.Fprintf(d.out, "%-6s%s %-17s %14s  %-34s %s\n", c.ID, mark, strings.ReplaceAll(string(c.Reason), "_", " "), c.Amount, how, strings.Join(why, " · "))
}

// ending says in a few words how a case stands.
func ending(c countersign.Case) string {
	switch {
	case c.Status == countersign.Closed && c.HandledBy == countersign.ByPolicy:
		return fmt.Sprintf("%s posted by the policy", c.Fix.Fix.Kind)
	case c.Status == countersign.Closed && c.Fix.State == countersign.FixPosted:
		return fmt.Sprintf("%s posted by a person", c.Fix.Fix.Kind)
	case c.Status == countersign.Closed:
		return fmt.Sprintf("%s by a person", c.Outcome)
	case c.Fix.State == countersign.FixRefused:
		return "waits: the fix did not apply"
	case c.Raised:
		return "waits for an approver"
	case c.Recommendation == "reject":
		return "waits: rejection to confirm"
	case c.Fix.State == countersign.FixPlanned:
		return "waits: fix to confirm"
	}
	return "waits: a person decides"
}

// summary counts, and verifies the whole record.
func (d *show) summary(s *session) error {
	waiting, err := d.app.Store.Waiting(s)
	if err != nil {
		return err
	}
	report, err := d.app.Store.VerifyRecord(s, nil)
	if err != nil {
		return err
	}
	automatic := d.counts["reversal posted by the policy"] + d.counts["refund posted by the policy"]
	codes := 0
	for key := range d.counts {
		if strings.HasPrefix(key, "reason: ") {
			codes++
		}
	}
	fmt.Fprintf(d.out, "\n%d disputes: %d fixed by the policy without a person, %d decided by a person, %d waiting for one.\n",
		report.Cases, automatic, int(waiting.Closed)-automatic, waiting.InReview)
	fmt.Fprintf(d.out, "%d different reasons to ask for a person were met.\n", codes)
	_, err = fmt.Fprintf(d.out, "The record: %s\n", strings.TrimSpace(report.String()))
	return err
}

// quiet logs errors only: the demo's lines are its output.
func quiet(s *session) *slog.Logger {
	return slog.New(redact.NewHandler(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelError})))
}

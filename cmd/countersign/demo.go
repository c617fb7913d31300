package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
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
	"countersign/store"
)

type demoCommand struct {
	entrance
	Once bool `help:"Work every dispute, print the table and a summary, and exit."`
}

// demoTime is when the demo's clock starts with --once, so that two runs print the same.
var demoTime = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// Run works the invented bank's disputes: with --once as fast as it can, printing what came of them, otherwise at a pace that a
// person can watch in the dashboard, which it serves from the first one on. With --once and no --data nothing is kept; otherwise
// demo and serve on the same folder go on with what is there.
func (c demoCommand) Run(s *session) (err error) {
	door, l := c.door(s), net.Listener(nil)
	if !c.Once {
		if l, err = door.Open(); err != nil { // before the work, not after it
			return err
		}
		defer l.Close()
	}
	show, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, show.close()) }()
	if c.Once {
		return show.run(s)
	}
	return show.serve(s, l, door.Address(l))
}

// show is the demo on its way.
type show struct {
	app     *app.App
	intake  intake.Intake // opens the demo's own disputes, under names of the demo's; whoever looks opens theirs under others
	now     time.Time
	out     io.Writer
	folder  string                      // removed at the end; empty when the data is kept
	told    map[countersign.CaseID]bool // disputes that have a case already
	next    countersign.CaseID          // what the next case is called
	endings map[standing]int
	reasons map[countersign.ReasonCode]int
}

func (c demoCommand) open(s *session) (*show, error) {
	d := &show{now: time.Now().UTC().Truncate(time.Hour), out: s.out, told: map[countersign.CaseID]bool{}, endings: map[standing]int{},
		reasons: map[countersign.ReasonCode]int{}}
	config := s.config()
	config.Work, config.Model = true, app.ModelConfig{}
	config.Log = slog.New(slog.DiscardHandler) // what goes wrong in the demo goes wrong on purpose, and stands in its lines
	if config.Database == os.Getenv("COUNTERSIGN_DATABASE") {
		config.Database = "" // an invented bank has no business in the database that serve works on
	}
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
	if !c.Once {
		config.Models, config.Workers = demo.Paced(config.Models, pace), watched
		config.Notice = "Demo: an invented bank and an invented shop, nothing here is real. No AI is asked in the demo, whatever Settings says: an offline reviewer works by fixed rules. " +
			"An AI that is connected there, under Models, investigates once serve runs on this data."
	}
	var err error
	if d.app, err = app.Open(s, config); err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.folder))
	}
	d.intake = d.app.Intake
	d.intake.NewID = func(string) countersign.CaseID { return d.next }
	return d, d.app.Start(s)
}

func (d *show) close() error { return errors.Join(d.app.Close(), os.RemoveAll(d.folder)) }

func (d *show) run(s *session) error {
	if err := d.supply(s); err != nil {
		return err
	}
	return d.day(s)
}

// supply makes the bank and the shop.
func (d *show) supply(s *session) error {
	if err := d.fill(s); err != nil {
		return err
	}
	return d.stock(s)
}

// day is what follows once there is a bank and a shop.
func (d *show) day(s *session) error {
	for _, step := range []func(*session) error{d.shelve, d.unlock, d.work, d.trade, d.others, d.summary} {
		if err := step(s); err != nil {
			return err
		}
	}
	return nil
}

// How long the reviewer takes for an answer, and how many cases are investigated at once, while somebody watches.
const (
	pace    = time.Second
	watched = 2
)

// serve serves the dashboard and works the disputes beside it. Who stops the program in the middle finds the rest done when they
// start it again.
func (d *show) serve(s *session, l net.Listener, address string) error {
	if err := d.supply(s); err != nil { // before anybody comes to look for a payment
		return err
	}
	if err := d.greet(s, address); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(s)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- d.app.Serve(ctx, l, d.app.Handler()) }()
	if err := d.day(s); err != nil {
		stop()
		return errors.Join(ignoring(s.Err(), err), <-served)
	}
	d.print("\nThe dashboard goes on at %s until you press Ctrl-C.", address)
	return <-served
}

// ignoring is err, or nil when the program was told to stop: being interrupted is no failure of the demo's.
func ignoring(stopped, err error) error {
	if stopped != nil {
		return nil
	}
	return err
}

// greet prints the way in: a link that signs the demo's analyst in, once. Each start prints a new one.
func (d *show) greet(ctx context.Context, at string) error {
	p, err := d.analyst(ctx)
	if err != nil {
		return err
	}
	link, err := auth.MakeLink(ctx, d.app.Store, p.ID, auth.SignInLink, 12*time.Hour, operator())
	if err != nil {
		return err
	}
	d.print(greeting, at, link, d.app.Data)
	return nil
}

const analystEmail = "analyst@demo.example"

// analyst is who looks at the demo: somebody who may do everything, in the bank's time zone.
func (d *show) analyst(ctx context.Context) (store.Person, error) {
	p, _, known, err := d.app.Store.PersonByEmail(ctx, analystEmail)
	if err != nil || known {
		return p, err
	}
	return auth.AddPerson(ctx, d.app.Store, auth.NewPerson{Email: analystEmail, Name: "Demo analyst", Role: auth.Admin, Zone: "Africa/Lagos"}, operator())
}

const greeting = `Open this in your browser; it signs you in, once:

  %[1]s/link/%[2]s

No AI is connected: an offline reviewer works by rules. To let an AI investigate, connect it in the dashboard (Settings, Models),
stop the demo, and go on with the same data:

  countersign serve --data %[3]s

or name it here, for any server that speaks OpenAI's protocol, which wins over the dashboard:

  export COUNTERSIGN_MODEL_PROVIDER=openai COUNTERSIGN_MODEL=<name> COUNTERSIGN_MODEL_BASE_URL=http://127.0.0.1:11434/v1
  export COUNTERSIGN_MODEL_API_KEY=<key, where the server wants one>
  countersign doctor && countersign serve --data %[3]s
`

// id is what the case of the n-th dispute is called, every time.
func (d *show) id(n int) countersign.CaseID {
	return countersign.CaseID(fmt.Sprintf("%s%d", d.app.Desks[countersign.Bank].Prefix, 1001+n))
}

// arrive stores rows that the core system sends while a model thinks.
func (d *show) arrive(ctx context.Context, set records.Set) error {
	_, err := feed.Feed{Store: d.app.Store}.Set(ctx, set)
	return err
}

// fill imports the invented bank into an empty folder. One that has cases keeps its bank: this one's payments are dated from
// the hour in which it was made.
func (d *show) fill(s *session) error {
	set := demo.Bank(d.now)
	fmt.Fprintf(d.out, "An invented bank: %d customers, %d accounts, %d transactions. No AI is connected: an offline reviewer works by\n"+
		"rules, and a script, marked *, plays a model where one has to fail. Nothing here is real.\n\n", len(set.Customers), len(set.Accounts), len(set.Transactions))
	if err := d.remember(s); err != nil || len(d.told) > 0 {
		return err
	}
	var refused []error
	_, err := feed.Feed{Store: d.app.Store, Refused: func(p records.Problem) { refused = append(refused, p) }}.Set(s, set)
	if len(refused) > 0 {
		return countersign.Errorf(countersign.Conflict, "this folder holds the records of another bank: %s", refused[0]).Try("give the demo a folder of its own with --data")
	}
	return err
}

// remember notes which disputes have a case already, from an earlier start on the same folder.
func (d *show) remember(ctx context.Context) error {
	foreign := countersign.Errorf(countersign.Conflict, "this folder holds the cases of another bank").Try("give the demo a folder of its own with --data")
	for n, dispute := range demo.Disputes() {
		c, err := d.app.Store.Case(ctx, d.id(n))
		switch {
		case countersign.KindOf(err) == countersign.NotFound:
			continue
		case err != nil:
			return err
		case c.Subject.ID != dispute.TransactionID:
			return foreign
		}
		d.told[c.ID] = true
	}
	all, _, err := d.app.Store.Cases(ctx, store.Filter{Limit: 1})
	if err != nil || len(d.told) > 0 || len(all) == 0 {
		return err
	}
	if _, ours, err := d.app.Store.LatestMapping(ctx); err != nil || ours { // it was stopped before its first dispute
		return err
	}
	return foreign
}

// cases walks every case there is.
func (d *show) cases(ctx context.Context) iter.Seq2[countersign.Case, error] {
	return func(yield func(countersign.Case, error) bool) {
		f := store.Filter{Limit: 200}
		for {
			page, end, err := d.app.Store.Cases(ctx, f)
			if err != nil {
				yield(countersign.Case{}, err)
				return
			}
			for _, c := range page {
				if !yield(c, nil) {
					return
				}
			}
			if f.After = end; end == (store.Place{}) {
				return
			}
		}
	}
}

// work carries one dispute after the other to its end, those included that an earlier start was interrupted in.
func (d *show) work(s *session) error {
	d.header()
	disputes := demo.Disputes()
	if n := len(d.told); n > 0 && n < len(disputes) {
		if err := d.mode(s, policy.Act); err != nil { // it may have been interrupted in shadow mode
			return err
		}
	}
	for from := 0; from < len(disputes); {
		to := from + 1
		for to < len(disputes) && !d.alone(from, disputes[from]) && !d.alone(to, disputes[to]) {
			to++
		}
		if err := d.together(s, from, disputes[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// others prints the cases that were opened by somebody else since.
func (d *show) others(s *session) error {
	for c, err := range d.cases(s) {
		if err != nil {
			return err
		}
		if !d.told[c.ID] {
			d.line(c, "")
		}
	}
	return nil
}

// alone reports whether a dispute changes something for all, the policy's mode or a damaged row. It waits until those before it
// have ended and is worked by itself; the others are opened together and printed in order, as a bank's day would go.
func (d *show) alone(n int, dispute demo.Dispute) bool {
	return !d.told[d.id(n)] && (dispute.Shadow || dispute.Damaged || dispute.Meanwhile != nil)
}

func (d *show) together(s *session, first int, disputes []demo.Dispute) error {
	if d.alone(first, disputes[0]) {
		back, err := d.prepare(s, disputes[0])
		if err != nil {
			return err
		}
		defer back()
	}
	for _, step := range []func(*session, countersign.CaseID, demo.Dispute) error{d.tell, d.end} {
		for i, dispute := range disputes {
			if err := step(s, d.id(first+i), dispute); err != nil {
				return fmt.Errorf("%s: %w", dispute.Title, err)
			}
		}
	}
	return nil
}

func (d *show) prepare(ctx context.Context, dispute demo.Dispute) (back func(), err error) {
	if dispute.Damaged {
		err = demo.Damage(ctx, d.app.Store.DB())
	}
	if dispute.Shadow {
		return func() { _ = d.mode(ctx, policy.Act) }, d.mode(ctx, policy.Shadow) // a demo left in shadow mode shows it in every line
	}
	return func() {}, err
}

// tell opens a dispute, unless an earlier start has.
func (d *show) tell(s *session, id countersign.CaseID, dispute demo.Dispute) error {
	if d.told[id] {
		return nil
	}
	d.next, d.told[id] = id, true
	_, err := d.intake.Open(s, d.app.Desks[countersign.Bank].Desk, operator(), intake.Request{SubjectID: dispute.TransactionID,
		Reason: dispute.Reason, Notes: dispute.Notes, Channel: dispute.Channel})
	return err
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

// then is what the invented analyst does, once.
func (d *show) then(ctx context.Context, c countersign.Case, act *demo.Act) (countersign.Case, error) {
	if act == nil || c.Status != countersign.InReview || c.Raised {
		return c, nil
	}
	on := review.Act{Case: c.ID, Revision: c.Revision, Actor: countersign.Actor{Kind: countersign.Person, ID: "demo-analyst"}, Part: act.Part}
	switch act.Verb {
	case "approve":
		return d.app.Review.Approve(ctx, on)
	case "override":
		return d.app.Review.Override(ctx, on, act.Outcome, act.Reason, act.Fix)
	}
	return d.app.Review.Escalate(ctx, on, act.Reason, act.Reference)
}

// Package app wires every part into one running program. It decides nothing and knows no desk's business: it says which
// desk there is, which model investigates, and in which order parts start and stop.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"countersign"
	"countersign/answer"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/desk/bank/posting"
	"countersign/desk/merchant/library"
	"countersign/desk/merchant/setup"
	"countersign/follow"
	"countersign/keyring"
	"countersign/llm"
	"countersign/llm/roster"
	"countersign/measure"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/investigate"
	"countersign/pipeline/outside"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/secret"
	"countersign/store"
)

// Config says what to run and where.
type Config struct {
	Data        string // the folder of the database, the key and the lock
	Database    string // a SQLite path or a postgres:// URL; <Data>/countersign.db when empty
	KeyFile     string // <Data>/master.key when empty
	KeyText     string // the master key itself, in base64, where it is in no file
	KeyFolder   string // systemd's folder of credentials, where one of them may be the key
	Work        bool   // investigate cases in this process
	Alone       bool   // work on a SQLite database only while nobody else does
	Workers     int    // at once; 16 when zero
	Notice      string // a sentence above every page of the dashboard
	PublicURL   string // where people reach the dashboard; with https:// its cookies travel no other way
	CertFile    string // for TLS that ends here, with CertKeyFile
	CertKeyFile string
	Proxies     string // the proxies in front of it, which are believed what they say of a request's way: addresses and networks, with commas
	Model       ModelConfig
	Bounds      investigate.Bounds
	Version     string
	// PostgresTools is the folder of pg_dump and pg_restore, for backups; where PATH finds them when empty.
	PostgresTools string
	Log           *slog.Logger
	Now           func() time.Time
	NewID         func(prefix string) countersign.CaseID
	// Models overrides the configured model for single cases: the demo's scripted reviewers.
	Models func(countersign.Case, llm.Model) llm.Model
	Sweep  time.Duration
	Lease  time.Duration
	Grace  time.Duration // what a stop gives running investigations to end by themselves; 20 s when zero
}

// App is the program, put together.
type App struct {
	Config
	Store  *store.Store
	Queue  *queue.Queue
	Intake intake.Intake
	Events intake.Events
	Review review.Review
	Desks  map[countersign.DeskName]desk.Desk
	Key    secret.Key
	Keys   keyring.Ring
	Model  llm.Model

	Measure *measure.Process
	Setup   setup.Setup      // how the shop's own database is read
	Library *library.Library // the shop's policies
	Roster  roster.Keeper    // which models there are, and what they may cost

	way      answer.Way
	room     *follow.Room
	pipeline *pipeline.Pipeline
	shop     *connected
	duty     *duty
	lock     *flock.Flock // held while this process works a SQLite database
	stopping chan struct{}
	stop     sync.Once
}

// Open opens the database and the key and puts the parts together. Nothing works yet. What an operator can mend comes back
// as a *countersign.Error that says how.
func Open(ctx context.Context, c Config) (a *App, err error) {
	a = &App{Config: c.filled(), Measure: measure.New(c.Version), room: follow.NewRoom(), stopping: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.Config.check(); err != nil {
		return a, err
	}
	if a.way, err = a.Config.way(); err != nil {
		return a, err
	}
	if a.Keys.Found, err = a.keySource().Find(); err != nil {
		return a, err
	}
	if a.Model, err = openModel(a.Config.Model); err != nil {
		return a, err
	}
	if err := a.claim(); err != nil {
		return a, err
	}
	if a.Store, err = store.Open(ctx, a.Database, store.Options{Now: a.Now, Log: a.Log, Committed: a.Measure.Committed}); err != nil {
		return a, err
	}
	a.Measure.Watch(a.Store)
	if err := a.takeKey(ctx); err != nil {
		return a, err
	}
	return a, a.assemble()
}

// claim makes sure that one process at a time works a SQLite database. Knowing that, it may take up every case that was
// being investigated at once: whoever held it is gone.
func (a *App) claim() (err error) {
	if !a.Work && !a.Alone || a.onPostgres() {
		return nil
	}
	a.lock, err = a.hold()
	return err
}

// assemble is the wiring, from the store upwards.
func (a *App) assemble() (err error) {
	shop, err := a.merchantDesk()
	if err != nil {
		return err
	}
	a.Desks = map[countersign.DeskName]desk.Desk{countersign.Bank: bank.New(), countersign.Merchant: shop}
	a.Roster = roster.Keeper{Store: a.Store, Key: a.Key}
	a.duty = a.newDuty(a.Model)
	host, _ := os.Hostname()
	a.pipeline = &pipeline.Pipeline{
		Store: a.Store, Desks: a.Desks, Model: a.modelFor, Budgets: a.duty.budgets, Bounds: a.Bounds, Lease: a.Lease, Log: a.Log, Watch: a.watch(),
		Worker: fmt.Sprintf("%s/%d", host, os.Getpid()),
	}
	config := queue.Config{Store: a.Store, Desks: slices.Collect(maps.Keys(a.Desks)), Workers: a.Workers, Exclusive: a.lock != nil,
		Sweep: a.Sweep, Grace: a.Grace, Log: a.Log, PutBack: a.Measure.PutBack}
	sender := outside.Sender{Store: a.Store, To: a.Posting().To, Worker: a.pipeline.Worker, Log: a.Log, Closed: a.Measure.Closed}
	if a.Work {
		config.Work, config.Carry = a.work, sender.Carry
		config.Swept = func(ctx context.Context) error { return a.Events.Sweep(ctx) }
	}
	if a.Queue, err = queue.New(config); err != nil {
		return err
	}
	a.pipeline.Wake = a.Queue.Wake
	a.pipeline.Freed = a.Queue.Call
	a.Intake = intake.Intake{Store: a.Store, Queue: a.Queue, NewID: a.NewID, Counted: a.Measure.Opened}
	a.Events = intake.Events{Intake: a.Intake, Desks: a.intakeDesks(), Log: a.Log}
	a.Review = review.Review{Store: a.Store, Queue: a.Queue, Desks: map[countersign.DeskName]review.Desk{}, Closed: a.Measure.Closed}
	for name, d := range a.Desks {
		a.Review.Desks[name] = reviewed(d)
	}
	return nil
}

// Posting is where the bank's fixes are posted.
func (a *App) Posting() posting.Office { return posting.Office{Store: a.Store, Key: a.Key} }

// work carries a case, and then brings it what its provider said meanwhile.
func (a *App) work(ctx context.Context, id countersign.CaseID) error {
	err := a.pipeline.Work(ctx, id)
	if caught := a.Events.CatchUp(ctx, id); caught != nil && ctx.Err() == nil {
		a.Log.ErrorContext(ctx, "apply events that waited for a case", "case", string(id), "error", caught) // the sweep tries again
	}
	return err
}

// reviewed is what people's decisions need to know of a desk.
func reviewed(d desk.Desk) review.Desk {
	r := review.Desk{Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, Waive: d.Waive, MustChoose: d.MustChoose, Split: d.Split, Fresh: d.Fresh, Room: d.Room, Warn: d.Warn, Cannot: d.Cannot}
	for _, kind := range d.Typed {
		r.Typed = append(r.Typed, kind.Name)
	}
	return r
}

func (a *App) modelFor(ctx context.Context, view store.View, c countersign.Case) (llm.Model, error) {
	m, err := a.duty.of(ctx, view, c.Desk)
	if err == nil && a.Models != nil {
		m = a.Models(c, m)
	}
	return m, err
}

// Start begins to investigate, if this process works.
func (a *App) Start(ctx context.Context) error {
	if !a.Work {
		return nil
	}
	return a.Queue.Start(ctx)
}

// Close stops the queue, lets running investigations end or keeps what they recorded, and closes the database. It may be
// called on an app that Open could not finish.
func (a *App) Close() error {
	a.stop.Do(func() { close(a.stopping) })
	ctx, cancel := context.WithTimeout(context.Background(), a.Grace+90*time.Second)
	defer cancel()
	var errs []error
	if a.Queue != nil {
		errs = append(errs, a.Queue.Stop(ctx))
	}
	if a.shop != nil {
		errs = append(errs, a.shop.closed())
		a.Library.Close()
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Unlock())
	}
	return errors.Join(errs...)
}

// Package app wires every part into one running program. It decides nothing and knows no desk's business: it says which
// desk there is, which model investigates, and in which order parts start and stop.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"countersign"
	"countersign/api"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/llm"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/investigate"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/secret"
	"countersign/store"
)

// Config says what to run and where.
type Config struct {
	Data     string // the folder of the database, the key and the lock
	Database string // a SQLite path or a postgres:// URL; <Data>/countersign.db when empty
	KeyFile  string // <Data>/master.key when empty
	Work     bool   // investigate cases in this process
	Workers  int    // at once; 16 when zero
	Model    ModelConfig
	Bounds   investigate.Bounds
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
	NewID    func(prefix string) countersign.CaseID
	// Models overrides the configured model for single cases: the demo's scripted reviewers.
	Models func(countersign.Case, llm.Model) llm.Model
	Sweep  time.Duration
	Lease  time.Duration
	Grace  time.Duration
}

// App is the program, put together.
type App struct {
	Config
	Store  *store.Store
	Queue  *queue.Queue
	Intake intake.Intake
	Review review.Review
	Desks  map[countersign.DeskName]desk.Desk
	Key    secret.Key
	Model  llm.Model

	pipeline *pipeline.Pipeline
	lock     *flock.Flock // held while this process works a SQLite database
	server   *http.Server
}

// Open opens the database and the key and puts the parts together. Nothing works yet.
func Open(ctx context.Context, c Config) (a *App, err error) {
	a = &App{Config: c.filled()}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := os.MkdirAll(a.Data, 0o700); err != nil {
		return a, fmt.Errorf("make the data folder: %w", err)
	}
	if a.Key, err = secret.Open(a.keyFile(), a.KeyFile == ""); err != nil {
		return a, err
	}
	if a.Model, err = openModel(a.Config.Model); err != nil {
		return a, err
	}
	if err := a.claim(); err != nil {
		return a, err
	}
	if a.Store, err = store.Open(ctx, a.Database, store.Options{Now: a.Now, Log: a.Log}); err != nil {
		return a, err
	}
	err = a.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepKeyID(ctx, a.Key.ID()) })
	if err != nil {
		return a, err
	}
	return a, a.assemble()
}

func (c Config) filled() Config {
	if c.Database == "" {
		c.Database = filepath.Join(c.Data, "countersign.db")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (a *App) keyFile() string {
	if a.KeyFile != "" {
		return a.KeyFile
	}
	return filepath.Join(a.Data, "master.key")
}

// claim makes sure that one process at a time works a SQLite database. Knowing that, it may take up every case that was
// being investigated at once: whoever held it is gone.
func (a *App) claim() error {
	if !a.Work || a.onPostgres() {
		return nil
	}
	a.lock = flock.New(a.Database + ".lock")
	held, err := a.lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock the database: %w", err)
	}
	if !held {
		a.lock = nil
		return countersign.Errorf(countersign.Conflict, "another countersign is already working on %s", a.Database).
			Try("stop it first, or use PostgreSQL to let several work together")
	}
	return nil
}

func (a *App) onPostgres() bool {
	return len(a.Database) > 10 && (a.Database[:11] == "postgres://" || a.Database[:11] == "postgresql:")
}

// assemble is the wiring, from the store upwards.
func (a *App) assemble() (err error) {
	bankDesk := bank.New()
	a.Desks = map[countersign.DeskName]desk.Desk{bankDesk.Name: bankDesk}
	host, _ := os.Hostname()
	a.pipeline = &pipeline.Pipeline{
		Store: a.Store, Desks: a.Desks, Model: a.modelFor, Bounds: a.Bounds, Lease: a.Lease, Log: a.Log,
		Worker: fmt.Sprintf("%s/%d", host, os.Getpid()),
	}
	config := queue.Config{Store: a.Store, Workers: a.Workers, Exclusive: a.lock != nil, Sweep: a.Sweep, Grace: a.Grace, Log: a.Log}
	if a.Work {
		config.Work = a.pipeline.Work
	}
	if a.Queue, err = queue.New(config); err != nil {
		return err
	}
	a.Intake = intake.Intake{Store: a.Store, Queue: a.Queue, NewID: a.NewID}
	a.Review = review.Review{Store: a.Store, Queue: a.Queue, Desks: map[countersign.DeskName]review.Desk{}}
	for name, d := range a.Desks {
		a.Review.Desks[name] = review.Desk{Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, Waive: d.Waive}
	}
	return nil
}

func (a *App) modelFor(c countersign.Case) llm.Model {
	if a.Models != nil {
		return a.Models(c, a.Model)
	}
	return a.Model
}

// Start begins to investigate, if this process works.
func (a *App) Start(ctx context.Context) error {
	if !a.Work {
		return nil
	}
	return a.Queue.Start(ctx)
}

// Handler is the API over this app.
func (a *App) Handler() http.Handler {
	desks := map[countersign.DeskName]intake.Desk{}
	for name, d := range a.Desks {
		desks[name] = d.Desk
	}
	return api.New(api.Config{Store: a.Store, Intake: a.Intake, Review: a.Review, Desks: desks, Log: a.Log, Version: a.Version})
}

// Serve answers HTTP on the listener until ctx ends, then lets running requests finish.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	a.server = &http.Server{
		Handler: a.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- a.server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	cancel() // ends event streams, which would never end by themselves
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	return a.server.Shutdown(ctx)
}

// Listen takes the address, with a plain message when it is taken.
func Listen(addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, countersign.Errorf(countersign.Invalid, "%q is not an address", addr).In("--addr").Try("expected host:port, for example 127.0.0.1:8080")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		e := countersign.Errorf(countersign.Unavailable, "cannot listen on %s", addr).
			Try("another program may be using the port; choose one with --addr, for example --addr 127.0.0.1:8081")
		e.Err = err
		return nil, e
	}
	return l, nil
}

// Close stops the queue, lets running investigations end or keeps what they recorded, and closes the database. It may be
// called on an app that Open could not finish.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	var errs []error
	if a.Queue != nil {
		errs = append(errs, a.Queue.Stop(ctx))
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Unlock())
	}
	return errors.Join(errs...)
}

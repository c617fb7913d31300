// Package queue hands a case to a worker once the transaction that opened it has committed.
//
// River carries the message and wakes a worker; the lease in the store says who has the case. A message may arrive twice, or
// its worker may die: neither matters, because whoever does not get the lease has nothing to do, and a sweep puts a case
// back whose lease ran out. A job holds the case's id and nothing else.
package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"countersign"
	"countersign/store"
)

// Config is how a queue works.
type Config struct {
	Store     *store.Store
	Work      func(context.Context, countersign.CaseID) error // nil for a process that only opens cases
	Desks     []countersign.DeskName                          // each has a line and workers of its own; the others share one
	Carry     func(context.Context, string) error             // carries an instruction to those outside; nil where Work is
	Workers   int                                             // cases of a desk investigated at once, 16 when zero
	Exclusive bool                                            // no other process works on this database
	Swept     func(context.Context) error                     // done with every sweep; nil for nothing
	Sweep     time.Duration                                   // between looks for stranded cases, 3 s when zero
	Grace     time.Duration                                   // what Stop gives running investigations to end by themselves, 20 s when zero
	Log       *slog.Logger                                    // nothing is logged when nil
	PutBack   func()                                          // told of each stranded case that was put back; nil when nobody measures
}

// Rescue is how long a job may run before River takes it for stuck and hands its case out again. The lease keeps a case whole if
// that happens to one that is being worked on, so this only has to be longer than any investigation.
const Rescue = time.Hour

// Queue is a running queue.
type Queue struct {
	client  *river.Client[*sql.Tx]
	config  Config
	desks   map[countersign.DeskName]bool
	rounds  *store.Rounds
	sweeper context.CancelFunc
	swept   chan struct{}
}

// job is the message. Its kind is stored with it, so it never changes.
type job struct {
	Case string `json:"case"`
}

func (job) Kind() string { return "case" }

type worker struct {
	river.WorkerDefaults[job]
	work func(context.Context, countersign.CaseID) error
}

// Work lets River try again when the database could not be reached. Everything else that can go wrong has ended with a
// person by the time the pipeline returns. A program that the schema has outgrown leaves the case to its successor, and that is
// no failed attempt.
func (w worker) Work(ctx context.Context, j *river.Job[job]) error {
	err := w.work(ctx, countersign.CaseID(j.Args.Case))
	if errors.Is(err, store.ErrOtherSchema) {
		return river.JobSnooze(time.Second)
	}
	return err
}

// Timeout is none: an investigation bounds itself, and a job that River gave up on would run on without its lease.
func (w worker) Timeout(*river.Job[job]) time.Duration { return -1 }

// New prepares a queue; Start sets it to work. Adding cases needs no Start.
func New(c Config) (*Queue, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.PutBack == nil {
		c.PutBack = func() {}
	}
	c.Log = hushed(c.Log)
	config := &river.Config{Logger: c.Log}
	if c.Work != nil {
		config = workConfig(c)
	}
	client, err := river.NewClient(driver(c.Store), config)
	if err != nil {
		return nil, fmt.Errorf("set up the queue: %w", err)
	}
	q := &Queue{client: client, config: c, desks: map[countersign.DeskName]bool{}, rounds: c.Store.Rounds()}
	for _, desk := range c.Desks {
		q.desks[desk] = true
	}
	return q, nil
}

func workConfig(c Config) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, worker{work: c.Work})
	river.AddWorker(workers, carrier{carry: c.Carry})
	return &river.Config{
		Logger: c.Log, Workers: workers, JobTimeout: -1, RescueStuckJobsAfter: Rescue, SoftStopTimeout: positive(c.Grace, 20*time.Second),
		// The default of 100 ms holds back the second of two cases opened together for up to half a second.
		FetchCooldown: 10 * time.Millisecond,
		Queues:        c.lines(),
		// A newer program may bring jobs that this one has never heard of. They are its own to work.
		FetchOnlyKnownKinds: true,
	}
}

// lines are River's queues: one for each desk, each with workers of its own, so that a flood at one desk does not keep the other
// waiting. The default is for desks that have none, and for what a version before this one has queued.
func (c Config) lines() map[string]river.QueueConfig {
	each := river.QueueConfig{MaxWorkers: int(positive(time.Duration(c.Workers), 16))}
	lines := map[string]river.QueueConfig{river.QueueDefault: each}
	for _, desk := range c.Desks {
		lines[string(desk)] = each
	}
	return lines
}

// line is where a desk's cases wait.
func (q *Queue) line(desk countersign.DeskName) string {
	if q.desks[desk] {
		return string(desk)
	}
	return river.QueueDefault
}

func positive(value, otherwise time.Duration) time.Duration {
	if value > 0 {
		return value
	}
	return otherwise
}

func driver(s *store.Store) riverdriver.Driver[*sql.Tx] {
	if s.Pool() != nil {
		return riverdatabasesql.NewWithPgxListener(s.DB(), s.Pool())
	}
	return riversqlite.New(s.DB())
}

// Add queues a case of that desk in the caller's transaction and returns the job's id. If the transaction does not commit there is
// no job.
func (q *Queue) Add(ctx context.Context, tx *store.Tx, desk countersign.DeskName, id countersign.CaseID) (int64, error) {
	res, err := q.client.InsertTx(ctx, tx.SQL(), job{Case: string(id)}, &river.InsertOpts{Queue: q.line(desk)})
	if err != nil {
		return 0, fmt.Errorf("queue case %s: %w", id, err)
	}
	return res.Job.ID, nil
}

// Start begins to work. It puts stranded cases back first, and again every few seconds until Stop.
func (q *Queue) Start(ctx context.Context) error {
	if err := errors.Join(q.sweep(ctx, q.config.Exclusive), q.callAll(ctx)); err != nil {
		return err
	}
	if err := q.client.Start(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	ctx, q.sweeper = context.WithCancel(ctx)
	q.swept = make(chan struct{})
	go q.sweepUntilDone(ctx)
	return nil
}

// Stop takes no new case, gives running investigations the grace time to end and cancels what is left: those cases keep
// their recorded turns, and the next start goes on from there.
func (q *Queue) Stop(ctx context.Context) error {
	if q.sweeper == nil {
		return nil
	}
	q.sweeper()
	<-q.swept
	if err := q.client.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("stop the queue: %w", err)
	}
	return nil
}

func (q *Queue) sweepUntilDone(ctx context.Context) {
	defer close(q.swept)
	tick := time.NewTicker(positive(q.config.Sweep, 3*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := errors.Join(q.sweep(ctx, false), q.callAll(ctx))
			if err != nil && ctx.Err() == nil {
				q.config.Log.ErrorContext(ctx, "look for stranded cases", "error", err)
			}
			if q.config.Swept == nil {
				continue
			}
			if err := q.config.Swept(ctx); err != nil && ctx.Err() == nil {
				q.config.Log.ErrorContext(ctx, "look for what waits beside the cases", "error", err)
			}
		}
	}
}

// sweep puts stranded cases back, each in a transaction of its own, and wakes workers for instructions whose time has come. It looks
// at the schema first: a program that has been outgrown has nothing to put back, and may have nothing else to do by which it would notice.
func (q *Queue) sweep(ctx context.Context, exclusive bool) error {
	if err := q.config.Store.CheckSchema(ctx); err != nil {
		return err
	}
	return errors.Join(q.sweepCases(ctx, exclusive), q.sweepInstructions(ctx, exclusive))
}

func (q *Queue) sweepCases(ctx context.Context, exclusive bool) error {
	cases, err := q.stranded(ctx, exclusive)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if err := q.putBack(ctx, c, exclusive); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) stranded(ctx context.Context, exclusive bool) ([]store.Waiter, error) {
	if exclusive {
		return q.config.Store.Stranded(ctx, true)
	}
	return q.rounds.Look(ctx)
}

var errNotStranded = errors.New("not stranded any more")

func (q *Queue) putBack(ctx context.Context, c store.Waiter, exclusive bool) error {
	err := q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		jobID, err := q.Add(ctx, tx, c.Desk, c.ID)
		if err != nil {
			return err
		}
		freed, err := tx.FreeLease(ctx, c.ID, jobID, exclusive)
		if err == nil && !freed {
			return errNotStranded // so that its job is not kept either
		}
		return err
	})
	if errors.Is(err, errNotStranded) {
		return nil
	}
	if err == nil {
		q.config.Log.InfoContext(ctx, "put a stranded case back into the queue", "case", string(c.ID))
		q.config.PutBack()
	}
	return err
}

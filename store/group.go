package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// group owns SQLite's one write connection and commits the units of work that wait for it together. A commit costs one
// fsync however much is in it, and while one commit is on its way to the disk the next units queue up; so the busier it
// gets, the more each commit carries. Nothing waits on purpose: a unit that finds the writer idle commits alone, at once.
//
// The first unit of a commit is undone with the whole transaction if it fails; each of the others has a savepoint, so that only it is.
// A savepoint is not free: SQLite copies every page that is changed behind one. If the commit fails, all of them are told.
type group struct {
	store *Store
	units chan *unit
	quit  chan struct{}
	done  sync.WaitGroup
}

type unit struct {
	ctx  context.Context
	run  func(context.Context, *Tx) error
	tx   *Tx
	err  error
	done chan struct{}
}

// most is how many units one commit may carry, so that none waits long for its answer.
const most = 64

var errClosed = errors.New("the database is closed")

func startGroup(s *Store) *group {
	g := &group{store: s, units: make(chan *unit), quit: make(chan struct{})}
	g.done.Go(g.loop)
	return g
}

// rememberPages has SQLite keep the pages behind a savepoint in memory. It would copy them into a file once they are more than 64 KiB, which
// took a fifth of the system time of intakes and whole cases. Not while the schema is changed: an index of millions of rows is sorted in a file.
func (g *group) rememberPages(ctx context.Context) error {
	_, err := g.store.write.ExecContext(ctx, "PRAGMA temp_store = MEMORY")
	return err
}

func (g *group) stop() {
	close(g.quit)
	g.done.Wait()
}

// do hands a unit to the writer and waits for its commit. Giving up before the writer took it is safe; after that the unit
// is awaited even if ctx ends, because whether it happened must be known.
func (g *group) do(ctx context.Context, run func(context.Context, *Tx) error) error {
	u := &unit{ctx: context.WithoutCancel(ctx), run: run, done: make(chan struct{})}
	select {
	case g.units <- u:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.quit:
		return errClosed
	}
	<-u.done
	return u.err
}

func (g *group) loop() {
	for {
		select {
		case u := <-g.units:
			g.commit(u)
		case <-g.quit:
			return
		}
	}
}

// commit runs first and whatever else is waiting in one transaction and answers them all.
func (g *group) commit(first *unit) {
	batch, begun := []*unit{first}, time.Now()
	err := g.transaction(func(raw *sql.Tx) error {
		if g.run(raw, first); first.err != nil {
			return first.err
		}
		for len(batch) < most { // and none is taken that this commit would not carry: nobody would answer it
			next := g.waiting()
			if next == nil {
				break
			}
			batch = append(batch, next)
			if err := g.runBehind(raw, next); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		g.store.measured(len(batch), time.Since(begun))
	}
	for _, u := range batch {
		u.answer(err)
	}
}

func (u *unit) answer(err error) {
	if u.err == nil {
		u.err = err
	}
	if u.err == nil {
		u.tx.committed()
	}
	close(u.done)
}

func (g *group) waiting() *unit {
	select {
	case u := <-g.units:
		return u
	default:
		return nil
	}
}

func (g *group) transaction(f func(*sql.Tx) error) error {
	raw, err := g.store.write.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(raw); err != nil {
		return errors.Join(err, rollback(raw))
	}
	if err := raw.Commit(); err != nil {
		return errors.Join(fmt.Errorf("commit: %w", err), rollback(raw))
	}
	return nil
}

func (g *group) run(raw *sql.Tx, u *unit) {
	u.tx = g.store.tx(raw, nil)
	u.err = u.tx.run(u.ctx, u.run)
}

// runBehind does one unit behind a savepoint. What it returns is not the unit's own failure but the transaction's: SQLite may
// have rolled back everything (disk full), and then nobody's work is there to commit.
func (g *group) runBehind(raw *sql.Tx, u *unit) error {
	if _, err := raw.Exec("SAVEPOINT unit"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	end := "RELEASE unit"
	if g.run(raw, u); u.err != nil {
		end = "ROLLBACK TO unit; RELEASE unit"
	}
	if _, err := raw.Exec(end); err != nil {
		return errors.Join(u.err, fmt.Errorf("end savepoint: %w", err))
	}
	return nil
}

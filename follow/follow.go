// Package follow tells of a case as its record grows: each row once, in order, within moments of its commit, and how the case
// stands whenever that changes.
//
// It serves those who watch from outside, an event stream of the API and the trace of a page. It promises that nobody who
// comes back with the last row they saw misses one or gets one twice, whichever process wrote it and however often the program
// was started in between, and that a slow watcher costs a few rows of memory and no connection to the database.
package follow

import (
	"context"
	"time"

	"countersign"
	"countersign/store"
)

// Follower follows cases. The zero times are right for production.
type Follower struct {
	Store     *store.Store
	Stopping  <-chan struct{} // closed when the program begins to stop, which ends every watch; nil for never
	Poll      time.Duration   // between looks for rows that another process wrote, 100 ms when zero
	Heartbeat time.Duration   // between signs of life on a quiet case, 15 s when zero
}

// Watcher is told. What it returns ends the watch.
type Watcher struct {
	Row  func(store.RecordRow) error  // a row of the record
	Case func(countersign.Case) error // first of all, and whenever status or revision changed
	Beat func() error                 // nothing happened for a while
}

// batch is how many rows are held in memory at once: a model's turn may be large.
const batch = 8

// Case tells of the case from the row after the given one on, 0 for all. It returns nil when ctx ends or the program stops; a
// closed case is followed too, since closed is not final.
func (f Follower) Case(ctx context.Context, id countersign.CaseID, after int64, tell Watcher) error {
	w := watch{Follower: f, tell: tell, id: id, after: after, looked: -1}
	grown, end := f.Store.Watch(id)
	defer end()
	poll, beat := time.NewTicker(or(f.Poll, 100*time.Millisecond)), time.NewTicker(or(f.Heartbeat, 15*time.Second))
	defer poll.Stop()
	defer beat.Stop()
	for {
		if err := w.look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // it ended in the middle of a look
			}
			return err
		}
		select {
		case <-grown:
		case <-poll.C: // another process may have written
		case <-beat.C:
			if err := tell.Beat(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		case <-f.Stopping:
			return nil
		}
	}
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// watch is one watcher's place in one case.
type watch struct {
	Follower
	tell     Watcher
	id       countersign.CaseID
	after    int64 // the last row that was told
	looked   int64 // the head when the case was last looked at
	status   countersign.Status
	revision int64
}

// look tells what was recorded since the last look. When nothing was, it costs one row of the database.
func (w *watch) look(ctx context.Context) error {
	head, err := w.Store.Head(ctx, w.id)
	if err != nil || head.Seq == w.looked {
		return err
	}
	if w.looked < 0 {
		if err := w.standing(ctx); err != nil {
			return err
		}
	}
	for w.after < head.Seq {
		rows, err := w.read(ctx, head.Seq)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := w.tell.Row(row); err != nil {
				return err
			}
		}
	}
	w.looked = head.Seq
	return w.standing(ctx)
}

// read reads the next rows, a batch at most, up to the given one. The watcher is told of them afterwards, when the connection
// is free again.
func (w *watch) read(ctx context.Context, until int64) (rows []store.RecordRow, err error) {
	for row, err := range w.Store.RecordRows(ctx, w.id, w.after) {
		if err != nil {
			return nil, err
		}
		w.after = row.Seq
		rows = append(rows, row)
		if len(rows) == batch || row.Seq >= until {
			return rows, nil
		}
	}
	w.after = max(w.after, until) // rows that the head counts and that are not there: the verifier's business
	return rows, nil
}

// standing tells how the case stands, if it is not what was told last. Whatever else a person could see of a case changes with
// its revision.
func (w *watch) standing(ctx context.Context) error {
	c, err := w.Store.Case(ctx, w.id)
	if err != nil || c.Status == w.status && c.Revision == w.revision {
		return err
	}
	w.status, w.revision = c.Status, c.Revision
	return w.tell.Case(c)
}

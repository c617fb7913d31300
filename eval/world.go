package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"countersign"
	"countersign/app"
	"countersign/audit"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/pipeline/intake"
)

// atOnce is how many cases are worked at a time. They share the database's commits, so it is more than there are processors.
const atOnce = 32

// World is the program on a database of its own.
type World struct {
	*app.App
	folder string
	done   atomic.Int64
	total  int
	tell   func(done, total int)
}

// newWorld opens the program on an empty database. Models says which model investigates a case, nil for the configured one.
// Case ids count on from 1, so that two runs of a suite name the same cases.
func newWorld(ctx context.Context, s Setting, models func(countersign.Case, llm.Model) llm.Model) (*World, error) {
	folder, err := os.MkdirTemp("", "countersign-eval-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the suite: %w", err)
	}
	var last atomic.Int64
	a, err := app.Open(ctx, app.Config{Data: folder, Database: s.Database, Model: s.Model, Models: models,
		NewID: func(prefix string) countersign.CaseID {
			return countersign.CaseID(fmt.Sprintf("%s%05d", prefix, last.Add(1)))
		}})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	w := &World{App: a, folder: folder, tell: s.Progress}
	if s.meddle != nil {
		s.meddle(w)
	}
	return w, nil
}

// Close closes the program and removes its folder.
func (w *World) Close() error { return errors.Join(w.App.Close(), os.RemoveAll(w.folder)) }

// add fills the books. A refused row is an error here: the suite's own conversion made it.
func (w *World) add(ctx context.Context, set records.Set) error {
	var refused []error
	_, err := feed.Feed{Store: w.Store, Refused: func(p records.Problem) { refused = append(refused, p) }}.Set(ctx, set)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%d rows of the suite's records were refused, the first because: %w", len(refused), refused[0])
	}
	return err
}

// file opens a dispute as any channel would.
func (w *World) file(ctx context.Context, r intake.Request) (intake.Opened, error) {
	r.Channel = "eval"
	opened, err := w.Intake.Open(ctx, w.Desks[countersign.Bank].Desk, countersign.Actor{Kind: countersign.CLI, ID: "eval"}, r)
	if err != nil {
		return opened, fmt.Errorf("file a dispute of %s: %w", r.SubjectID, err)
	}
	return opened, nil
}

// work investigates a case and returns it as the store holds it then.
func (w *World) work(ctx context.Context, id countersign.CaseID) (countersign.Case, error) {
	if err := w.Investigate(ctx, id); err != nil {
		return countersign.Case{}, fmt.Errorf("work case %s: %w", id, err)
	}
	c, err := w.Store.Case(ctx, id)
	if err == nil && (c.Facts == nil || c.Verdict == nil || c.Proposal == nil) {
		err = fmt.Errorf("case %s was worked and has no verdict: it is %s", id, c.Status)
	}
	if w.tell != nil {
		w.tell(int(w.done.Add(1)), w.total)
	}
	return c, err
}

// through files a dispute and works it.
func (w *World) through(ctx context.Context, r intake.Request) (countersign.Case, error) {
	opened, err := w.file(ctx, r)
	if err != nil {
		return opened.Case, err
	}
	return w.work(ctx, opened.Case.ID)
}

// each runs f for every i under n, some at a time. The first error stops the rest.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(atOnce, n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// history is what a case's record holds of its investigation.
type history struct {
	turns int
	steps []countersign.Step
}

func (w *World) history(ctx context.Context, id countersign.CaseID) (h history, err error) {
	for row, err := range w.Store.RecordRows(ctx, id, 0) {
		if err != nil {
			return h, err
		}
		switch row.Kind {
		case audit.ModelTurn:
			h.turns++
		case audit.ToolCall:
			var step countersign.Step
			if err := json.Unmarshal(row.Payload.Bytes, &step); err != nil {
				return h, fmt.Errorf("read a step of case %s: %w", id, err)
			}
			h.steps = append(h.steps, step)
		}
	}
	return h, nil
}

// intact verifies the whole record and returns what is broken.
func (w *World) intact(ctx context.Context) (broken []string, err error) {
	report, err := w.Store.VerifyRecord(ctx, nil)
	for _, b := range report.Breaks {
		broken = append(broken, fmt.Sprintf("the record of case %s does not verify at step %d: %s", b.Case, b.Seq, b.Why))
	}
	return broken, err
}

// posted counts the fixes and the ledger entries of fixes in the whole database, whichever case they belong to.
func (w *World) posted(ctx context.Context) (fixes, entries int, err error) {
	err = w.Store.DB().QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM fixes), (SELECT COUNT(*) FROM ledger_entries WHERE id LIKE 'fix:%')`).
		Scan(&fixes, &entries)
	if err != nil {
		return 0, 0, fmt.Errorf("count what was posted: %w", err)
	}
	return fixes, entries, nil
}

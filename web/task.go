package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"countersign"
)

// task is long work that somebody started on a page: a verification of everything, an import. It belongs to this process and to
// the person who started it, goes on when they leave the page, and ends with the program. What it has already done stays done.
type task struct {
	ID    string
	Kind  string // verification, import, or the trial of a model connection
	Owner string // the person's id
	Began time.Time

	mu     sync.Mutex
	doing  string
	did    int64
	of     int64 // 0 when nobody knows
	ended  time.Time
	err    error
	result any
	cancel context.CancelFunc
}

// progress is how far a task is, at one moment.
type progress struct {
	Doing   string
	Did, Of int64
	Ended   bool
	Took    time.Duration
	Err     error
	Result  any
}

func (t *task) tell(doing string, did, of int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doing, t.did, t.of = doing, did, of
}

func (t *task) progress(now time.Time) progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := progress{t.doing, t.did, t.of, !t.ended.IsZero(), now.Sub(t.Began), t.err, t.result}
	if p.Ended {
		p.Took = t.ended.Sub(t.Began)
	}
	return p
}

func (t *task) endedBefore(then time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended.IsZero() && t.ended.Before(then)
}

// tasks are the running ones and the last that ended.
type tasks struct {
	mu  sync.Mutex
	all map[string]*task
}

func newTasks() *tasks { return &tasks{all: map[string]*task{}} }

// kept is how long an ended task can be looked at.
const kept = time.Hour

// begin starts the work in the background. It is ended by the program's stop, by cancel, or by itself.
func (d *dashboard) begin(kind, owner string, work func(context.Context, *task) (any, error)) *task {
	ctx, cancel := context.WithCancel(context.Background())
	t := &task{ID: strings.ToLower(rand.Text()[:16]), Kind: kind, Owner: owner, Began: d.Store.Now(), cancel: cancel}
	d.tasks.add(t)
	go func() {
		select {
		case <-d.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	go func() {
		defer cancel()
		result, err := d.safely(ctx, t, work)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.ended, t.err, t.result = d.Store.Now(), err, result
	}()
	return t
}

// safely turns a panic into an error: a bug costs one task, and not everybody's program.
func (d *dashboard) safely(ctx context.Context, t *task, work func(context.Context, *task) (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.Log.ErrorContext(ctx, "panic in a task", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("the task broke off")
		}
	}()
	return work(ctx, t)
}

func (ts *tasks) add(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for id, old := range ts.all {
		if old.endedBefore(t.Began.Add(-kept)) {
			delete(ts.all, id)
		}
	}
	ts.all[t.ID] = t
}

// running is a task of that kind that this person started and that has not ended, if there is one.
func (v *visit) running(kind string) *task {
	v.tasks.mu.Lock()
	defer v.tasks.mu.Unlock()
	for _, t := range v.tasks.all {
		if t.Kind == kind && t.Owner == v.who.Actor.ID && !t.progress(v.now).Ended {
			return t
		}
	}
	return nil
}

// latest is the task of that kind that this person began last, if it is still known.
func (v *visit) latest(kind string) (last *task) {
	v.tasks.mu.Lock()
	defer v.tasks.mu.Unlock()
	for _, t := range v.tasks.all {
		if t.Kind == kind && t.Owner == v.who.Actor.ID && (last == nil || t.Began.After(last.Began)) {
			last = t
		}
	}
	return last
}

// task is the task of that id, if this person started it.
func (v *visit) task(id string) (*task, error) {
	v.tasks.mu.Lock()
	defer v.tasks.mu.Unlock()
	t := v.tasks.all[id]
	if t == nil || t.Owner != v.who.Actor.ID {
		return nil, countersign.Errorf(countersign.NotFound, "This work is not known here any more: the program was started again since, or it ended a while ago.").
			Try("Start it again; what was already done stays done.")
	}
	return t, nil
}

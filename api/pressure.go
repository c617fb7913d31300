package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"countersign/store"
)

// pressure is how long the queue is, looked at once a second at most: a flood of requests must not be a flood of counting.
type pressure struct {
	store *store.Store
	turn  chan struct{} // taken by whoever looks, so that nobody waits longer for a database that does not answer than they wanted to
	until time.Time
	kept  store.Pressure
}

func newPressure(s *store.Store) *pressure { return &pressure{store: s, turn: make(chan struct{}, 1)} }

const looked = time.Second

func (p *pressure) now(ctx context.Context) (store.Pressure, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return store.Pressure{}, ctx.Err()
	}
	if time.Now().Before(p.until) {
		return p.kept, nil
	}
	kept, err := p.store.Pressure(ctx)
	if err == nil {
		p.kept, p.until = kept, time.Now().Add(looked)
	}
	return kept, err
}

func inWord(p store.Pressure) string {
	switch {
	case p.Full():
		return "full"
	case p.Long():
		return "long"
	}
	return "short"
}

// later is after how many seconds a caller who was refused may try again.
const later = 30

// room refuses a new case while the queue is full, if an operator has said from when on it is. A request that was answered before is
// answered again.
func (a *api) room(ctx context.Context, key *store.Key) error {
	p, err := a.pressure.now(ctx)
	if err != nil || !p.Full() {
		return err
	}
	if key != nil {
		if _, known, err := a.Store.Remembered(ctx, *key); err != nil || known {
			return err
		}
	}
	refused := newProblem(http.StatusServiceUnavailable, "too many cases wait for a worker; nothing was stored (send it again in half a minute)")
	refused.header = http.Header{"Retry-After": {strconv.Itoa(later)}}
	return refused
}

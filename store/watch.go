package store

import (
	"sync"

	"countersign"
)

// watchers wakes those in this process who wait for a case's record to grow. It is a hint: whoever watches also looks every
// now and then, because another process may have written.
type watchers struct {
	mu    sync.Mutex
	cases map[countersign.CaseID][]chan struct{}
}

// Watch returns a channel that gets a value after a commit that grew the case's record, and a function that ends it.
func (s *Store) Watch(id countersign.CaseID) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.cases == nil {
		s.watch.cases = map[countersign.CaseID][]chan struct{}{}
	}
	s.watch.cases[id] = append(s.watch.cases[id], ch)
	return ch, func() { s.watch.remove(id, ch) }
}

func (w *watchers) remove(id countersign.CaseID, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.cases[id] {
		if other == ch {
			w.cases[id] = append(w.cases[id][:i:i], w.cases[id][i+1:]...)
		}
	}
	if len(w.cases[id]) == 0 {
		delete(w.cases, id)
	}
}

func (w *watchers) wake(id countersign.CaseID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.cases[id] {
		select {
		case ch <- struct{}{}:
		default: // it has not looked since the last wake
		}
	}
}

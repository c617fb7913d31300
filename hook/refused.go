package hook

import (
	"slices"
	"sync"
	"time"
)

// Refusal is a delivery that was not taken: when, and why. Nothing of it is kept, because nobody knows who sent it.
type Refusal struct {
	Source string
	At     time.Time
	Why    string
}

// refusals are the last refusals of each source, in this process alone: anybody can make one, so they must not fill a disk.
type refusals struct {
	mu  sync.Mutex
	all map[string][]Refusal
}

const mostRefusals = 20

func (r *refusals) add(one Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string][]Refusal{}
	}
	kept := append(r.all[one.Source], one)
	r.all[one.Source] = kept[max(0, len(kept)-mostRefusals):]
}

// Refused lists the last deliveries of a source that were not taken, the latest first.
func (h *Hook) Refused(source string) []Refusal {
	h.refused.mu.Lock()
	defer h.refused.mu.Unlock()
	all := slices.Clone(h.refused.all[source])
	slices.Reverse(all)
	return all
}

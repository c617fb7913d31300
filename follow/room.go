package follow

import (
	"sync"

	"countersign"
)

// Room is how many watch at once in this process. Each of them has the database looked at ten times a second, so somebody who
// opened streams without end would keep it from everybody else.
type Room struct {
	Most int // in all
	Each int // of one person or token

	mu  sync.Mutex
	all int
	by  map[string]int
}

// NewRoom is wide enough for every analyst with a few pages open.
func NewRoom() *Room { return &Room{Most: 500, Each: 50} }

// Take has a place for somebody until they leave, or is an Unavailable error that says what to do.
func (r *Room) Take(who string) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.by[who] >= r.Each:
		return nil, countersign.Errorf(countersign.Unavailable, "you follow %d cases at once already", r.Each).Try("close some of them, and try again")
	case r.all >= r.Most:
		return nil, countersign.Errorf(countersign.Unavailable, "%d cases are followed here already", r.Most).Try("read the case again every few seconds instead")
	}
	if r.by == nil {
		r.by = map[string]int{}
	}
	r.all++
	r.by[who]++
	return sync.OnceFunc(func() { r.leave(who) }), nil
}

func (r *Room) leave(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.by[who]--; r.by[who] == 0 {
		delete(r.by, who)
	}
}

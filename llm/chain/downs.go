package chain

import (
	"sync"
	"time"
)

// Rest is how long a server that was down is left alone. Each case that met one would else wait for it again, as long as it is patient.
const Rest = 30 * time.Second

// Downs remembers, in one process, which servers were down a moment ago. When a rest is over one caller asks again, and the others go
// on passing the server over until that one knows.
type Downs struct {
	now  func() time.Time
	rest time.Duration

	mu    sync.Mutex
	until map[string]time.Time // by connection: when it is asked again
}

// NewDowns has nothing to remember yet.
func NewDowns(now func() time.Time) *Downs {
	return &Downs{now: now, rest: Rest, until: map[string]time.Time{}}
}

// rests reports whether a connection is passed over now. The first who asks after the rest is over may go, and begins another rest for
// everybody else.
func (d *Downs) rests(connection string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	until, known := d.until[connection]
	now := d.now()
	switch {
	case !known:
		return false
	case now.Before(until):
		return true
	}
	d.until[connection] = now.Add(d.rest)
	return false
}

// down notes that a server did not answer; first is true when it had until now.
func (d *Downs) down(connection string) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.until[connection]
	d.until[connection] = d.now().Add(d.rest)
	return !known
}

// up notes that a server answered; back is true when it had been down.
func (d *Downs) up(connection string) (back bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, back = d.until[connection]
	delete(d.until, connection)
	return back
}

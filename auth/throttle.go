package auth

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"countersign"
)

// How many sign-ins may fail, and for how long one that failed is remembered.
const (
	window     = 15 * time.Minute
	perEmail   = 5
	perAddress = 20
)

// mostKeys is how many e-mails and addresses are remembered. Beyond it the one that was quiet for longest is forgotten:
// making us forget one that is being guessed at takes thousands of sign-ins, each of which costs a hash, for five guesses.
const mostKeys = 10_000

// Throttle counts the sign-ins that failed, by e-mail and by address. It keeps them in this process alone: each of several
// processes counts for itself, and a restart forgets.
type Throttle struct {
	now   func() time.Time
	most  int // keys
	mu    sync.Mutex
	tries map[triesOf][]time.Time
}

// triesOf is a hash of an e-mail or of an address, so that what strangers send takes the same space however long it is.
type triesOf [sha256.Size]byte

// NewThrottle returns a throttle that has counted nothing. Its clock is time.Now when nil.
func NewThrottle(now func() time.Time) *Throttle {
	if now == nil {
		now = time.Now
	}
	return &Throttle{now: now, most: mostKeys, tries: map[triesOf][]time.Time{}}
}

// admit lets somebody try, or refuses with an Unavailable error that says when to try again. A try counts as failed from the
// start, so that trying many at once gains nothing; forgive takes it back. What is refused does not count.
func (t *Throttle) admit(email, address string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	byEmail, byAddress := keys(email, address)
	until := t.until(byEmail, perEmail, now)
	if other := t.until(byAddress, perAddress, now); other.After(until) {
		until = other
	}
	if until.After(now) {
		return tooMany(until, now)
	}
	t.count(byEmail, now)
	t.count(byAddress, now)
	return nil
}

// forgive takes back the last try: it did not fail.
func (t *Throttle) forgive(email, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	byEmail, byAddress := keys(email, address)
	for _, k := range []triesOf{byEmail, byAddress} {
		if tries := t.tries[k]; len(tries) > 1 {
			t.tries[k] = tries[:len(tries)-1]
		} else {
			delete(t.tries, k)
		}
	}
}

// until is when so many tries will not have been made within a window any more; zero when they have not been made.
func (t *Throttle) until(k triesOf, limit int, now time.Time) time.Time {
	recent := slices.DeleteFunc(t.tries[k], func(at time.Time) bool { return !at.Add(window).After(now) })
	if len(recent) == 0 {
		delete(t.tries, k)
		return time.Time{}
	}
	t.tries[k] = recent
	if len(recent) < limit {
		return time.Time{}
	}
	return recent[len(recent)-limit].Add(window)
}

func (t *Throttle) count(k triesOf, now time.Time) {
	if _, known := t.tries[k]; !known && len(t.tries) >= t.most {
		t.forget(now)
	}
	t.tries[k] = append(t.tries[k], now)
}

// forget makes room: it drops what has passed, or else what was quiet for longest.
func (t *Throttle) forget(now time.Time) {
	var quietest triesOf
	last := now.Add(window)
	for k, tries := range t.tries {
		at := tries[len(tries)-1]
		if !at.Add(window).After(now) {
			delete(t.tries, k)
		} else if at.Before(last) {
			quietest, last = k, at
		}
	}
	if len(t.tries) >= t.most {
		delete(t.tries, quietest)
	}
}

func keys(email, address string) (byEmail, byAddress triesOf) {
	return sha256.Sum256([]byte("email " + email)), sha256.Sum256([]byte("address " + network(address)))
}

// network is what one client can choose its address from: all of an IPv4 address, and the half of an IPv6 address that a
// provider hands out. The address may come with a port, as net/http gives it.
func network(address string) string {
	addr, err := netip.ParseAddr(address)
	if withPort, portErr := netip.ParseAddrPort(address); portErr == nil {
		addr, err = withPort.Addr(), nil
	}
	if err != nil {
		return address
	}
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().String()
	}
	return addr.String()
}

func tooMany(until, now time.Time) error {
	minutes := int((until.Sub(now) + time.Minute - 1) / time.Minute)
	wait := fmt.Sprintf("%d minutes", minutes)
	if minutes == 1 {
		wait = "a minute"
	}
	return countersign.Errorf(countersign.Unavailable, "too many sign-ins have failed").
		Try(fmt.Sprintf("try again in %s, after %s", wait, until.Add(time.Minute-1).UTC().Format("15:04 UTC")))
}

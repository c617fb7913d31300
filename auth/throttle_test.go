package auth

import (
	"fmt"
	"testing"
	"time"

	"countersign"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

// always is one text, and each another one each time.
func always(text string) func(int) string { return func(int) string { return text } }
func each(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// admitted counts how many of n tries were not refused.
func admitted(t *Throttle, n int, email, address func(int) string) (ok int) {
	for i := range n {
		if t.admit(email(i), address(i)) == nil {
			ok++
		}
	}
	return ok
}

func TestThrottle(t *testing.T) {
	const ada, home = "ada@bank.example", "203.0.113.7:5000"
	for _, row := range []struct {
		sentence       string
		tries          int
		email, address func(int) string
		want           int
	}{
		{"five tries for one e-mail, wherever they come from", 50, always(ada), each("203.0.113.%d:1"), 5},
		{"twenty from one address, whoever they are for", 50, each("ada%d@bank.example"), always(home), 20},
		{"from one address whatever its port", 50, each("ada%d@bank.example"), each("203.0.113.7:%d"), 20},
		{"and without one", 50, each("ada%d@bank.example"), always("203.0.113.7"), 20},
		{"from one IPv6 network, whose addresses are free", 50, each("ada%d@bank.example"), each("[2001:db8::%d]:1"), 20},
		{"an IPv4 address written as IPv6 is the same", 50, each("ada%d@bank.example"), func(i int) string { return []string{home, "[::ffff:203.0.113.7]:1"}[i%2] }, 20},
		{"an address that is none counts as one", 50, each("ada%d@bank.example"), always("@"), 20},
		{"as many as you like otherwise", 50, each("ada%d@bank.example"), each("203.0.113.%d:1"), 50},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			if got := admitted(NewThrottle(newClock().now), row.tries, row.email, row.address); got != row.want {
				t.Errorf("%d of %d tries were admitted, want %d", got, row.tries, row.want)
			}
		})
	}

	t.Run("a refusal says when to try again, and not whether anybody is here", func(t *testing.T) {
		hour := newClock()
		th := NewThrottle(hour.now)
		admitted(th, 5, always(ada), always(home))
		hour.at = hour.at.Add(90 * time.Second)
		err := th.admit(ada, home)
		const want = "too many sign-ins have failed (try again in 14 minutes, after 09:15 UTC)"
		if countersign.KindOf(err) != countersign.Unavailable || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("the time it names is the time it means", func(t *testing.T) {
		hour := newClock()
		th := NewThrottle(hour.now)
		for range 5 {
			admitted(th, 1, always(ada), always(home))
			hour.at = hour.at.Add(time.Minute)
		}
		hour.at = newClock().at.Add(window - time.Nanosecond)
		if th.admit(ada, home) == nil {
			t.Error("admitted while five are remembered")
		}
		hour.at = newClock().at.Add(window)
		if err := th.admit(ada, home); err != nil {
			t.Errorf("the first is past, and still: %v", err)
		}
		if th.admit(ada, home) == nil {
			t.Error("the others are not past, and a second was admitted")
		}
	})
	t.Run("whoever is refused and tries on waits no longer for it", func(t *testing.T) {
		hour := newClock()
		th := NewThrottle(hour.now)
		admitted(th, 100, always(ada), always(home))
		hour.at = hour.at.Add(window)
		if got := admitted(th, 100, always(ada), always(home)); got != 5 {
			t.Errorf("%d were admitted after the window, want 5", got)
		}
	})
	t.Run("what did not fail does not count", func(t *testing.T) {
		th := NewThrottle(newClock().now)
		for range 50 {
			if err := th.admit(ada, home); err != nil {
				t.Fatal(err)
			}
			th.forgive(ada, home)
		}
		if len(th.tries) != 0 {
			t.Errorf("%d are remembered", len(th.tries))
		}
	})
	t.Run("and takes nothing off what did", func(t *testing.T) {
		th := NewThrottle(newClock().now)
		admitted(th, 4, always(ada), always(home))
		admitted(th, 1, always(ada), always(home))
		th.forgive(ada, home)
		if got := admitted(th, 5, always(ada), always(home)); got != 1 {
			t.Errorf("%d were admitted, want 1", got)
		}
	})
}

func TestAThrottleTakesSoMuchSpaceAndNoMore(t *testing.T) {
	hour := newClock()
	th := NewThrottle(hour.now)
	th.most = 1000
	const ada = "ada@bank.example"
	admitted(th, 4, always(ada), each("198.51.100.%d"))
	hour.at = hour.at.Add(time.Minute)
	admitted(th, th.most, each("someone%d@bank.example"), func(i int) string { return fmt.Sprintf("10.%d.%d.1", i/250, i%250) })
	if n := len(th.tries); n > th.most {
		t.Errorf("%d are remembered, want at most %d", n, th.most)
	}
	t.Run("what was quiet for longest was forgotten", func(t *testing.T) {
		if got := admitted(th, 6, always(ada), each("198.51.101.%d")); got != 5 {
			t.Errorf("%d were admitted, want 5", got)
		}
	})
	t.Run("and what has passed goes first", func(t *testing.T) {
		hour.at = hour.at.Add(window)
		admitted(th, 1, always(ada), always("198.51.100.1"))
		if n := len(th.tries); n != 2 {
			t.Errorf("%d are remembered, want 2", n)
		}
	})
}

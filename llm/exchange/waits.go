package exchange

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// waits is the waiting between the attempts of one call.
type waits struct {
	left time.Duration // of what the call may wait in all
	last time.Duration // before the next attempt
}

// next takes the wait before the next attempt: what the server asked for, or 0.5 s and then 2 s, in any case no more than
// is left. False when there is nothing left to wait, because hurrying a server that asked for time helps nobody.
//
// There is no jitter: a case has one call at a time, and how many cases run at once is bounded elsewhere.
func (w *waits) next(attempts int, asked time.Duration) bool {
	want := asked
	if want < 0 {
		want = 500 * time.Millisecond << (2 * (attempts - 1))
	}
	if want > 0 && w.left <= 0 {
		return false
	}
	w.last = min(want, w.left)
	w.left -= w.last
	return true
}

// retryAfter reads what the server asked for, in seconds or as a date. A date is measured against the server's own clock
// where it sent one, since ours may differ. Below zero when the header is missing or makes no sense.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1e6) * float64(time.Second)) // more would overflow
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return unsaid
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

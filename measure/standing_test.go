package measure

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// However often somebody asks, the database is asked no more than its answers take time to give.
func TestBeingAskedCostsLittle(t *testing.T) {
	for name, row := range map[string]struct {
		takes time.Duration
		err   error
		want  int // reads in ten minutes
	}{
		"a small database":             {0, nil, 120},
		"one that takes a second":      {time.Second, nil, 600 / 21},
		"one that fails after a while": {8 * time.Second, errors.New("gone"), 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				l := look[int]{least: 5 * time.Second, read: func(context.Context) (int, error) {
					reads++
					time.Sleep(row.takes)
					return reads, row.err
				}}
				for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
					if got, err := l.now(); got != reads || !errors.Is(err, row.err) {
						t.Fatalf("got %d, %v; want the last of %d reads, and its error", got, err, reads)
					}
				}
				if reads < row.want-2 || reads > row.want+2 {
					t.Errorf("the database was asked %d times, want about %d", reads, row.want)
				}
			})
		})
	}
}

func TestADatabaseThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := look[int]{read: func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }}
		if _, err := l.now(); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != patience {
			t.Errorf("gave up after %s: %v", time.Since(begun), err)
		}
	})
}

func TestAnOddStatusMakesNoSeriesOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for status := range 100_000 {
		seen[statusClass(status)] = true
	}
	if len(seen) > 12 {
		t.Errorf("a server can make %d series: %v", len(seen), seen)
	}
}

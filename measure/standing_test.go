package measure

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign/store"
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
					if got, err := l.now(t.Context()); got != reads || !errors.Is(err, row.err) {
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

// A scrape that takes longer than it is waited for says nothing at all, not even that the database is away.
func TestADatabaseThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, reads := time.Now(), 0
		shown := prometheus.NewRegistry()
		shown.MustRegister(&standing{open: silent[store.Census](&reads), record: silent[store.RecordStanding](&reads), load: silent[load](&reads), backup: silent[backups](&reads)})
		said, err := shown.Gather()
		if err != nil || len(said) != 1 || said[0].GetName() != "countersign_database_up" || said[0].GetMetric()[0].GetGauge().GetValue() != 0 {
			t.Errorf("it is said: %v, %v", said, err)
		}
		if time.Since(begun) != patience || reads != 1 {
			t.Errorf("gave up after %s and %d questions", time.Since(begun), reads)
		}
	})
}

// silent is a look at what never answers.
func silent[T any](reads *int) look[T] {
	return look[T]{read: func(ctx context.Context) (none T, _ error) { *reads++; <-ctx.Done(); return none, ctx.Err() }}
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

package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet passes a warning or an error on once a minute for each thing that is said, with how often it was said meanwhile. While the
// database is away, the queue's parts complain several times a second, each of them, and nothing of it is news.
type quiet struct {
	slog.Handler
	said *said
}

type said struct {
	mu   sync.Mutex
	last map[string]time.Time
	held map[string]int
}

const quietFor = time.Minute

func hushed(log *slog.Logger) *slog.Logger {
	return slog.New(quiet{log.Handler(), &said{last: map[string]time.Time{}, held: map[string]int{}}})
}

// Handle goes by the message and not by what stands beside it.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return q.Handler.Handle(ctx, r)
	}
	held, news := q.said.news(r)
	if !news {
		return nil
	}
	if held > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("held_back", held))
	}
	return q.Handler.Handle(ctx, r)
}

// news reports whether this was not said in the last minute, and how often it was held back before.
func (s *said) news(r slog.Record) (held int, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, known := s.last[r.Message]; known && r.Time.Sub(last) < quietFor {
		s.held[r.Message]++
		return 0, false
	}
	held = s.held[r.Message]
	s.last[r.Message], s.held[r.Message] = r.Time, 0
	return held, true
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.said}
}
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.said} }

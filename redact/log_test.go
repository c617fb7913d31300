package redact

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

type lazy struct{ s string }

func (l lazy) LogValue() slog.Value { return slog.StringValue(l.s) }

type broken struct{}

func (*broken) Error() string { panic("4111111111111111") }

func TestLogsAreMasked(t *testing.T) {
	const pan = "4111 1111 1111 1111"
	for _, row := range []struct {
		name string
		log  func(*slog.Logger)
	}{
		{"in the message", func(l *slog.Logger) { l.Info("card " + pan) }},
		{"in a string", func(l *slog.Logger) { l.Info("m", "card", pan) }},
		{"in an error", func(l *slog.Logger) { l.Info("m", "err", fmt.Errorf("read: %w", errors.New(pan))) }},
		{"in an error that panics", func(l *slog.Logger) { l.Info("m", "err", (&broken{})) }},
		{"in a group", func(l *slog.Logger) { l.Info("m", slog.Group("g", slog.Group("h", "card", pan))) }},
		{"in attributes added before", func(l *slog.Logger) { l.With("card", pan).WithGroup("g").With("again", pan).Info("m") }},
		{"in a value that is worked out late", func(l *slog.Logger) { l.Info("m", "card", lazy{pan}) }},
		{"in bytes", func(l *slog.Logger) { l.Info("m", "body", []byte(pan)) }},
		{"in a structure", func(l *slog.Logger) { l.Info("m", "v", struct{ Cards []string }{[]string{pan}}) }},
		{"in a map with a number", func(l *slog.Logger) { l.Info("m", "v", map[string]int64{"n": 4111111111111111}) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			var text, doc bytes.Buffer
			row.log(slog.New(NewHandler(slog.NewTextHandler(&text, nil))))
			row.log(slog.New(NewHandler(slog.NewJSONHandler(&doc, nil))))
			for _, out := range []string{text.String(), doc.String()} {
				if !strings.Contains(out, "****1111") || strings.Contains(string(values(out)), string(values(pan))) {
					t.Errorf("logged %s", out)
				}
			}
		})
	}
}

func TestLogsKeepWhatIsNotText(t *testing.T) {
	var out bytes.Buffer
	h := NewHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	l := slog.New(h)
	l.Info("too quiet")
	l.Warn("m", "n", 12345678901, "d", 2*time.Second, "ok", true, "at", time.Date(2026, 11, 28, 9, 14, 0, 0, time.UTC))
	if want := "level=WARN msg=m n=12345678901 d=2s ok=true at=2026-11-28T09:14:00.000Z\n"; !strings.HasSuffix(out.String(), want) || strings.Contains(out.String(), "quiet") {
		t.Errorf("logged %s, want it to end with %s", out.String(), want)
	}
}

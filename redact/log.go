package redact

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// NewHandler returns a handler that masks the message and every attribute that is or prints as text, in groups and error
// values too, and passes the record on. Numbers, times and durations pass as they are. It is the only way to a log: a
// program that makes its loggers from it cannot log a card number by accident.
func NewHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ next slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(maskAttr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.next.WithAttrs(maskAttrs(attrs))}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.next.WithGroup(name)} }

func maskAttrs(attrs []slog.Attr) []slog.Attr {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = maskAttr(a)
	}
	return masked
}

func maskAttr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: a.Key, Value: maskValue(a.Value.Resolve())}
}

func maskValue(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(mask(v.String()))
	case slog.KindGroup:
		return slog.GroupValue(maskAttrs(v.Group())...)
	case slog.KindAny:
		return slog.StringValue(mask(printed(v.Any())))
	}
	return v
}

// printed is a value as text. fmt also survives an Error or String method that panics.
func printed(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprintf("%+v", v)
}

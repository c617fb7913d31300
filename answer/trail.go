package answer

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"countersign"
)

// trail is what every line that is logged for a request says of it.
type trail struct {
	id   string
	item atomic.Pointer[countersign.CaseID]
}

type trailKey struct{}

func trailOf(ctx context.Context) *trail {
	t, _ := ctx.Value(trailKey{}).(*trail)
	return t
}

// Traced gives a request an id, which its answer carries in X-Request-Id and every line of the log about it under "request". It is
// ours and not the caller's, who could otherwise write into our log and pass for another.
func Traced(w http.ResponseWriter, r *http.Request) *http.Request {
	t := &trail{id: strings.ToLower(rand.Text()[:12])}
	w.Header().Set("X-Request-Id", t.id)
	return r.WithContext(context.WithValue(r.Context(), trailKey{}, t))
}

// RequestID is the id of the request that a context belongs to, empty when it belongs to none.
func RequestID(ctx context.Context) string {
	if t := trailOf(ctx); t != nil {
		return t.id
	}
	return ""
}

// About notes which case a request is about, once it is known that there is one of that id: until then the id is what somebody
// sent, and may be anything.
func About(ctx context.Context, id countersign.CaseID) {
	if t := trailOf(ctx); t != nil {
		t.item.Store(&id)
	}
}

// caseKey is what a case's id is called in every line of the log.
const caseKey = "case"

// NewLogHandler returns a handler that adds to each line the id of the request that it was logged for, and the case that the
// request is about.
func NewLogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	t := trailOf(ctx)
	if t == nil {
		return h.Handler.Handle(ctx, r)
	}
	r = r.Clone()
	r.AddAttrs(slog.String("request", t.id))
	if id := t.item.Load(); id != nil && !names(r, caseKey) {
		r.AddAttrs(slog.String(caseKey, string(*id)))
	}
	return h.Handler.Handle(ctx, r)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

func names(r slog.Record, key string) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = a.Key == key
		return !found
	})
	return found
}

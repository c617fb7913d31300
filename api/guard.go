package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/auth"
)

// trace is what the log will say of a request; the way in fills it.
type trace struct{ who string }

type traceKey struct{}

func noteWho(ctx context.Context, p auth.Principal) {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		t.who = p.TokenID
	}
}

// guarded puts around every request what none may go without: headers that keep a browser from making anything of an answer,
// an answer in place of a panic, a line in the log and a measurement.
func (a *api) guarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, t := time.Now(), &trace{}
		sent := answer.To(w)
		r = answer.Traced(w, r.WithContext(context.WithValue(r.Context(), traceKey{}, t)))
		protect(w.Header())
		defer func() {
			broken := a.recovered(sent, r, recover())
			a.account(r, sent, t, time.Since(begun))
			if broken {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
		}()
		a.routes.ServeHTTP(sent, r)
	})
}

func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// recovered answers a request whose handler panicked. True means that an answer had begun and can only be broken off.
func (a *api) recovered(sent *answer.Sent, r *http.Request, p any) (broken bool) {
	if p == nil {
		return false
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		a.Log.ErrorContext(r.Context(), "panic while answering a request", "route", routeOf(r), "panic", p, "stack", string(debug.Stack()))
	}
	if sent.Begun() {
		return true
	}
	newProblem(http.StatusInternalServerError, "something went wrong here; nothing you sent can mend it").write(sent)
	return false
}

// account logs and measures a request. Query and body stay out of both: they hold what people wrote.
func (a *api) account(r *http.Request, sent *answer.Sent, t *trace, took time.Duration) {
	route, status := routeOf(r), sent.Status()
	if !strings.HasSuffix(route, "/events") {
		a.Measure.Answered(route, status, took)
	}
	if id := r.PathValue("id"); id != "" && (status < 400 || status == http.StatusConflict) { // else nobody has said that there is one
		answer.About(r.Context(), countersign.CaseID(id))
	}
	level := slog.LevelInfo
	if route == "GET /healthz" || route == "GET /readyz" || route == "GET /metrics" {
		level = slog.LevelDebug // somebody asks every few seconds
	}
	a.Log.Log(r.Context(), level, "request", "method", answer.Method(r), "route", route, "status", status, "ms", took.Milliseconds(), "principal", t.who)
}

// routeOf is the pattern that answered a request, never its path, which holds ids.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || r.Pattern == "/" {
		return "unmatched"
	}
	return r.Pattern
}

// unmatched answers what no call does: 405 where another method would do, else 404.
func (a *api) unmatched(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = m
		if _, pattern := a.routes.Handler(other); pattern != "/" && pattern != "" && !strings.HasSuffix(pattern, "/{verb}") {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 {
		a.problem(r.Context(), countersign.Errorf(countersign.NotFound, "there is no such call").Try("GET /api/v1/openapi.json lists them")).write(w)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	newProblem(http.StatusMethodNotAllowed, "this call takes "+strings.Join(allowed, " or ")).write(w)
}

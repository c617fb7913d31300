package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/auth"
)

// policy of what a page may load: our own files and nothing else. Nothing in a page runs that is not a file of ours, so text
// that slipped through as markup could still do nothing.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded puts around every page what none may go without: headers, refusal of what another site sends, the session, an answer
// in place of a panic and a line in the log.
func (d *dashboard) guarded(mux *http.ServeMux) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	if d.Way.PublicURL != "" { // a proxy may have written another host into the request than the browser asked for
		if err := crossOrigin.AddTrustedOrigin(d.Way.PublicURL); err != nil {
			panic(err) // unreachable: the configuration was checked
		}
	}
	crossOrigin.SetDenyHandler(d.answer(route{right: anybody, page: foreign}))
	inner := d.Sessions.Middleware(crossOrigin.Handler(mux))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, t := time.Now(), &trail{}
		sent := answer.To(w)
		r = answer.Traced(w, r.WithContext(context.WithValue(r.Context(), trailKey{}, t)))
		protect(w.Header())
		defer func() {
			broken := d.recovered(sent, r, recover())
			if !strings.HasSuffix(t.route, "/live") {
				d.Answered(orUnmatched(t.route), sent.Status(), time.Since(begun))
			}
			d.Log.InfoContext(r.Context(), "page", "method", answer.Method(r), "route", t.route, "status", sent.Status(), "ms", time.Since(begun).Milliseconds(), "person", t.who)
			if broken {
				panic(http.ErrAbortHandler) // half a page must not look like a whole one
			}
		}()
		inner.ServeHTTP(sent, r)
	})
}

// Unattended reports the requests that an open page makes by itself, whether or not somebody sits before it.
func Unattended(r *http.Request) bool {
	emptyQueue := r.URL.Path == "/queue" && r.Header.Get("HX-Request") != ""
	return emptyQueue || r.URL.Path == "/queue/news" || strings.HasSuffix(r.URL.Path, "/live")
}

func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// foreign answers a post that no page of ours sent. A browser that does not say itself where it comes from is known by its
// origin alone, which a proxy may have made another than ours: then there is something for an operator to set.
func foreign(v *visit) error { return sentFrom(v.r.Header.Get("Sec-Fetch-Site")) }

func sentFrom(site string) *countersign.Error {
	hint := "Open the page here and press the button on it."
	if site == "" {
		hint += " If you did, this program is not told where you reach it: its operator sets " + publicURLVariable +
			" to what your browser shows as the beginning of the address, such as https://desk.example.com."
	}
	return countersign.Errorf(countersign.Forbidden, "This was sent by another site, so nothing was done.").Try(hint)
}

// publicURLVariable is the setting that says where people reach this program. The command line reads it.
const publicURLVariable = "COUNTERSIGN_PUBLIC_URL"

func (d *dashboard) recovered(sent *answer.Sent, r *http.Request, p any) (broken bool) {
	if p == nil {
		return false
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		d.Log.ErrorContext(r.Context(), "panic while answering a page", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
	if sent.Begun() {
		return true
	}
	http.Error(sent, "Something went wrong here, and nothing was changed. Go back and try again.", http.StatusInternalServerError)
	return false
}

// trail is what the log will say of a request; the way in fills it. A path holds ids, so the route stands for it.
type trail struct{ who, route string }

type trailKey struct{}

func noteWho(ctx context.Context, who auth.Principal) {
	if t, ok := ctx.Value(trailKey{}).(*trail); ok {
		t.who = who.Actor.ID
	}
}

func orUnmatched(route string) string {
	if route == "" || route == "/" {
		return "unmatched"
	}
	return route
}

func noteRoute(r *http.Request) {
	if t, ok := r.Context().Value(trailKey{}).(*trail); ok {
		t.route = r.Pattern
	}
}

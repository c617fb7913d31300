package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/store"
)

// visit is one request on its way: who makes it, and where their clock stands.
type visit struct {
	*dashboard
	w    http.ResponseWriter
	r    *http.Request
	who  auth.Principal // nobody on pages that anybody may see
	zone *time.Location
	now  time.Time
}

// answer is the way to every page: who is it, may they, and what to say when it went wrong.
func (d *dashboard) answer(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		noteRoute(r)
		v := &visit{dashboard: d, w: w, r: r, zone: time.UTC, now: d.Store.Now()}
		if err := v.admit(route); err != nil {
			v.fail(err)
			return
		}
		if err := route.page(v); err != nil {
			v.fail(err)
		}
	}
}

// errSignIn sends whoever has no session to the way in.
var errSignIn = errors.New("nobody has signed in")

func (v *visit) admit(route route) error {
	who, ok, err := v.Sessions.Principal(v.r.Context())
	if err != nil {
		return err
	}
	if ok {
		v.who = who
		if zone, err := time.LoadLocation(who.Zone); err == nil {
			v.zone = zone
		}
	}
	noteWho(v.r.Context(), v.who)
	switch {
	case route.right == anybody:
		return nil
	case !ok:
		return errSignIn
	case route.right == signedIn:
		return nil
	}
	return v.who.Needs(route.right)
}

// may reports whether the person has the right, to leave out what they could not do anyway.
func (v *visit) may(right auth.Right) bool { return v.who.Role.May(right) }

// form is a field of the posted form, without blanks around it, and with line ends as everybody but browsers writes them.
func (v *visit) form(name string) string {
	return strings.TrimSpace(lineEnds.Replace(v.r.PostFormValue(name)))
}

// back sends the browser to a page of ours, with a sentence to be shown there once.
func (v *visit) back(path, say string) error {
	if say != "" {
		v.Sessions.Say(v.r.Context(), say)
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// fail answers with the page of an error. What is not meant for people is logged here, once, and shown without its text.
func (v *visit) fail(err error) {
	if errors.Is(err, errSignIn) {
		v.toSignIn()
		return
	}
	if v.r.Context().Err() == nil {
		err = store.Explain(err)
	}
	e := answer.Told(err)
	if e == nil {
		if v.r.Context().Err() != nil {
			return // the reader has gone
		}
		v.Log.ErrorContext(v.r.Context(), "a page failed", "route", v.r.Pattern, "error", err)
		e = countersign.Errorf(countersign.Internal, "Something went wrong here, and nothing was changed.").
			Try("Try again; if it happens again, tell whoever runs this program, and name request " + answer.RequestID(v.r.Context()) + ".")
	} else if e.Kind == countersign.Altered {
		v.Log.ErrorContext(v.r.Context(), "what is stored is not what was sealed", "route", v.r.Pattern, "error", err)
	} else if e.Err != nil {
		v.Log.WarnContext(v.r.Context(), "a page could not be shown", "route", v.r.Pattern, "error", err, "cause", e.Err)
	}
	v.showError(e)
}

// toSignIn remembers where somebody wanted to go, if that was to read. Where a page asks for a part of itself, the whole page
// goes: the way in would be drawn into its middle, and a stream would look for events in it.
func (v *visit) toSignIn() {
	wanted, to := v.r.URL, "/sign-in"
	part := v.r.Header.Get("HX-Request") != ""
	if part {
		wanted, _ = url.Parse(v.r.Header.Get("HX-Current-URL"))
	}
	switch {
	case v.r.Method == http.MethodGet && wanted != nil && wanted.Path != "/":
		to += "?next=" + url.QueryEscape(wanted.RequestURI())
	case v.r.Method == http.MethodPost && !strings.HasPrefix(v.r.URL.Path, "/sign-"): // what was typed is only in the browser now
		to += "?unsent=1&next=" + url.QueryEscape(v.cameFrom())
	}
	if part {
		v.w.Header().Set("HX-Redirect", to)
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
}

// cameFrom is the page of ours on which a form was sent, or the queue.
func (v *visit) cameFrom() string {
	page, err := url.Parse(v.r.Referer())
	if err != nil || page.Host != v.r.Host {
		return "/queue"
	}
	return ours(page.RequestURI())
}

// home is the queue.
func home(v *visit) error { return v.back("/queue", "") }

// unmatched answers what no page does.
func unmatched(v *visit) error {
	return countersign.Errorf(countersign.NotFound, "There is no page at this address.").Try("Go to the queue, or check the link.")
}

// mostForm is how long a posted form may be: the longest draft and reason, in characters of four bytes, encoded.
const mostForm = 256 << 10

// parse reads the posted form, and refuses one that is longer than any page of ours sends.
func (v *visit) parse() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, mostForm)
	var long *http.MaxBytesError
	switch err := v.r.ParseForm(); {
	case errors.As(err, &long):
		return countersign.Errorf(countersign.TooLarge, "The form has more than %d KB; nothing was changed.", mostForm>>10).Try("Shorten what you typed.")
	case err != nil:
		return countersign.Errorf(countersign.Invalid, "The form cannot be read; nothing was changed.").Try("Open the page again.")
	}
	return nil
}

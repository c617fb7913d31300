package web

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"countersign"
	"countersign/answer"
	"countersign/auth"
)

// signInScreen is the way in.
type signInScreen struct {
	Email, Next, Wrong string
	Unsent             bool        // a form was sent when the session had ended
	Link               *linkScreen // a one-time link, instead of e-mail and password
}

type linkScreen struct{ Name, Email, Secret string }

func signIn(v *visit) error {
	if v.who.Actor.ID != "" {
		return v.back(ours(v.r.URL.Query().Get("next")), "")
	}
	return v.showSignIn(http.StatusOK, signInScreen{Next: v.r.URL.Query().Get("next"), Unsent: v.r.URL.Query().Get("unsent") != ""})
}

func (v *visit) showSignIn(status int, p signInScreen) error {
	return v.show(status, "sign_in", screen{Title: "Sign in", Page: p})
}

func postSignIn(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	p, err := auth.Recognise(v.r.Context(), v.Store.View, v.Throttle, auth.Attempt{Email: v.form("email"), Password: v.r.PostFormValue("password"), Address: v.Way.Client(v.r)})
	var e *countersign.Error
	switch {
	case errors.As(err, &e) && (e.Kind == countersign.Unauthorized || e.Kind == countersign.Unavailable && e.Err == nil):
		return v.showSignIn(statusOfTry(e.Kind), signInScreen{Email: v.form("email"), Next: v.form("next"), Wrong: sentence(e) + " " + stopped(capital(e.Hint))})
	case err != nil:
		return err
	}
	if err := v.Sessions.SignIn(v.r.Context(), p); err != nil {
		return err
	}
	return v.back(ours(v.form("next")), "")
}

// statusOfTry is the status of a password that was not taken. Too many tries are not our failure.
func statusOfTry(kind countersign.ErrorKind) int {
	if kind == countersign.Unavailable {
		return http.StatusTooManyRequests
	}
	return answer.Status(kind)
}

// ours is the page to go to after signing in: one of this program and no other's.
func ours(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) || strings.ContainsFunc(next, unicode.IsControl) {
		return "/queue"
	}
	return next
}

func postSignOut(v *visit) error {
	if err := v.Sessions.SignOut(v.r.Context()); err != nil {
		return err
	}
	return v.back("/sign-in", "")
}

// signInLink shows whom a one-time link lets in. Looking at it uses nothing up: programs look at addresses too.
func signInLink(v *visit) error {
	secret := v.r.PathValue("secret")
	purpose, p, err := auth.FindLink(v.r.Context(), v.Store, secret)
	switch {
	case err != nil:
		return v.noLink(err)
	case purpose == auth.SetUpLink:
		return v.back("/welcome/"+secret, "")
	}
	return v.showSignIn(http.StatusOK, signInScreen{Link: &linkScreen{p.Name, p.Email, secret}})
}

func postSignInLink(v *visit) error {
	p, err := auth.UseLink(v.r.Context(), v.Store, v.r.PathValue("secret"))
	if err != nil {
		return v.noLink(err)
	}
	if err := v.Sessions.SignIn(v.r.Context(), p); err != nil {
		return err
	}
	if !p.HasPassword {
		return v.back("/queue", "Signed in. The link is used up: choose a password under Settings to come in again.")
	}
	return v.back("/queue", "Signed in. The link is used up now.")
}

// noLink shows the way in, and why the link is none.
func (v *visit) noLink(err error) error {
	var e *countersign.Error
	if !errors.As(err, &e) || e.Kind != countersign.Unauthorized {
		return err
	}
	return v.showSignIn(http.StatusUnauthorized, signInScreen{Wrong: sentence(e) + " " + stopped(capital(e.Hint))})
}

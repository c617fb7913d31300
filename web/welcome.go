package web

import (
	"context"
	"errors"
	"net/http"

	"countersign"
	"countersign/auth"
	"countersign/pipeline/policy"
	"countersign/store"
)

// welcomeScreen makes the first account, and asks whether anything may be automatic.
type welcomeScreen struct {
	Secret            string
	Email, Name, Zone string
	Mode              policy.Mode
	Automatic         string // what act mode would do by itself, in a sentence
	Wrong             map[string]string
}

// welcome greets whoever has the link that the program printed at its first start.
func welcome(v *visit) error {
	secret := v.r.PathValue("secret")
	switch purpose, _, err := auth.FindLink(v.r.Context(), v.Store, secret); {
	case err != nil:
		return v.noLink(err)
	case purpose != auth.SetUpLink:
		return v.back("/link/"+secret, "")
	}
	return v.showWelcome(http.StatusOK, welcomeScreen{Secret: secret, Zone: "UTC", Mode: policy.Shadow})
}

func (v *visit) showWelcome(status int, p welcomeScreen) error {
	limits, err := v.Store.Limits(v.r.Context())
	if err != nil {
		return err
	}
	p.Automatic = automatic(limits)
	return v.show(status, "welcome", screen{Title: "Welcome", Page: p})
}

func postWelcome(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	p := welcomeScreen{Secret: v.r.PathValue("secret"), Email: v.form("email"), Name: v.form("name"), Zone: v.form("zone"), Mode: policy.Mode(v.form("mode"))}
	if p.Mode != policy.Act && p.Mode != policy.Shadow {
		p.Mode, p.Wrong = policy.Shadow, map[string]string{"mode": "Choose one of the two."}
		return v.showWelcome(http.StatusBadRequest, p)
	}
	person, err := auth.SetUp(v.r.Context(), v.Store, p.Secret, auth.NewPerson{Email: p.Email, Name: p.Name, Zone: p.Zone, Password: v.r.PostFormValue("password")})
	var e *countersign.Error
	if errors.As(err, &e) && e.Kind == countersign.Invalid {
		p.Wrong = map[string]string{e.Field: sentence(e) + " " + stopped(capital(e.Hint))}
		return v.showWelcome(http.StatusBadRequest, p)
	}
	if err != nil {
		return v.noLink(err)
	}
	if v.Inhabited != nil {
		v.Inhabited(v.r.Context())
	}
	if err := v.setMode(p.Mode, auth.PrincipalOf(person).Actor); err != nil {
		return err
	}
	if err := v.Sessions.SignIn(v.r.Context(), person); err != nil {
		return err
	}
	return v.back("/queue", "Welcome, "+person.Name+". You are the first here, and an admin: others are added under Settings.")
}

// setMode records the choice, also when it is what was so before: somebody has said it now.
func (v *visit) setMode(mode policy.Mode, by countersign.Actor) error {
	return v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) error {
		limits, err := tx.Limits(ctx)
		if err != nil {
			return err
		}
		limits.Mode = mode
		return tx.ApplyLimits(ctx, limits, by)
	})
}

package web

import (
	"context"
	"net/http"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/store"
)

// linkLifetime is how long somebody has to use a link that an admin made for them.
const linkLifetime = 48 * time.Hour

// postPerson adds somebody, and shows the link by which they come in the first time.
func postPerson(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	typed := newPerson{Email: v.form("email"), Name: v.form("name"), Role: v.form("role")}
	p, err := auth.AddPerson(v.r.Context(), v.Store, auth.NewPerson{Email: typed.Email, Name: typed.Name, Role: auth.Role(typed.Role), Zone: v.who.Zone}, v.who.Actor)
	if err != nil {
		return v.again(err, "person", typed)
	}
	return v.giveLink(p)
}

// giveLink makes a link that lets somebody in once, and shows it once.
func (v *visit) giveLink(p store.Person) error {
	link, err := auth.MakeLink(v.r.Context(), v.Store, p.ID, auth.SignInLink, linkLifetime, v.who.Actor)
	if err != nil {
		return v.again(err, "person", newPerson{})
	}
	return v.showSettings(http.StatusOK, settingsScreen{Secret: &secretPanel{"A link for " + p.Name, v.Way.Origin(v.r) + "/link/" + link,
		"It lets them in once, until " + v.moment(v.now.Add(linkLifetime)).Text + ". Send it to them; it is not shown again."}})
}

func postPersonLink(v *visit) error {
	p, err := v.Store.Person(v.r.Context(), v.r.PathValue("person"))
	if err != nil {
		return noSuchPerson(err)
	}
	return v.giveLink(p)
}

// postChangePerson gives somebody another role, or takes their access away or gives it back.
func postChangePerson(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	p, err := v.Store.Person(v.r.Context(), v.r.PathValue("person"))
	if err != nil {
		return noSuchPerson(err)
	}
	switch v.form("access") {
	case "off":
		p.Disabled = true
	case "on":
		p.Disabled = false
	}
	if role := v.form("role"); role != "" {
		p.Role = role
	}
	if err := auth.ChangePerson(v.r.Context(), v.Store, p, v.who.Actor); err != nil {
		return v.again(err, "person", newPerson{})
	}
	if p.Disabled {
		return v.back("/settings", p.Name+" may not sign in any more, and was signed out everywhere.")
	}
	return v.back("/settings", p.Name+" is "+p.Role+" now.")
}

func noSuchPerson(err error) error {
	if countersign.KindOf(err) == countersign.NotFound {
		return countersign.Errorf(countersign.NotFound, "There is nobody of that id.").Try("Look at the list under Settings.")
	}
	return err
}

// postToken makes an API token, and shows it once.
func postToken(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	typed := newPerson{TokenName: v.form("name"), TokenRole: v.form("role")}
	secret, token, err := auth.NewToken(v.r.Context(), v.Store, typed.TokenName, auth.Role(typed.TokenRole), v.who.Actor)
	if err != nil {
		return v.again(err, "token", typed)
	}
	return v.showSettings(http.StatusOK, settingsScreen{Secret: &secretPanel{"Token " + token.Name, secret,
		"Programs send it as Authorization: Bearer. It is not shown again."}})
}

// postRevokeToken ends a token for good.
func postRevokeToken(v *visit) error {
	err := v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.RevokeToken(ctx, v.r.PathValue("token"), v.who.Actor)
	})
	if err != nil {
		return v.again(err, "token", newPerson{})
	}
	return v.back("/settings", "The token is not valid any more.")
}

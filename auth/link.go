package auth

import (
	"context"
	"crypto/rand"
	"time"

	"countersign"
	"countersign/store"
)

// Purpose is what a link is for.
type Purpose string

const (
	SignInLink Purpose = "sign_in" // lets one person in, once
	SetUpLink  Purpose = "set_up"  // makes the first person, while there is nobody
)

// A link's secret is "cl_" and as much chance as a token's; it has no character that an address would escape.
const linkPrefix = "cl_"

// never is the end of a link whose end is not a time.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// MakeLink makes a link and returns its secret, which nobody can see again. One to sign in is for a person who may, and ends
// with its lifetime, with a new password, and when that person may not sign in any more. One to set up is for nobody, has no
// lifetime, and ends when the first person exists: a Conflict if they do already. There may be several; they end together.
func MakeLink(ctx context.Context, s *store.Store, personID string, purpose Purpose, lifetime time.Duration, by countersign.Actor) (secret string, err error) {
	secret = linkPrefix + rand.Text() + rand.Text()
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		l := store.Link{PersonID: personID, Purpose: string(purpose), ExpiresAt: tx.Now.Add(lifetime)}
		if purpose == SetUpLink {
			l.PersonID, l.ExpiresAt = "", never
		}
		if _, err := holder(ctx, tx.View, l); err != nil {
			return err
		}
		return tx.AddLink(ctx, l, hash(secret), by)
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// holder finds whom a link lets in, zero for setting up, or says why it lets nobody in.
func holder(ctx context.Context, v store.View, l store.Link) (p store.Person, err error) {
	if Purpose(l.Purpose) == SetUpLink {
		return p, nobodyYet(ctx, v)
	}
	if p, err = v.Person(ctx, l.PersonID); err != nil {
		return p, err
	}
	if p.Disabled {
		return p, countersign.Errorf(countersign.Conflict, "%s may not sign in any more", p.Name).Try("let them in again first")
	}
	return p, nil
}

func nobodyYet(ctx context.Context, v store.View) error {
	switch n, err := v.CountPeople(ctx); {
	case err != nil:
		return err
	case n > 0:
		return countersign.Errorf(countersign.Conflict, "this has been set up already").Try("sign in, or ask an admin for a link")
	}
	return nil
}

// FindLink says what a link is for and whom it lets in, and does not use it: a page shows that before anything is pressed, and
// programs that look at addresses in mails use nothing up. A link that does not exist, was used or has ended is the same
// Unauthorized error.
func FindLink(ctx context.Context, s *store.Store, secret string) (Purpose, store.Person, error) {
	l, ok, err := s.LinkByHash(ctx, hash(secret), s.Now())
	if err != nil {
		return "", store.Person{}, err
	}
	if !ok {
		return "", store.Person{}, errUseless()
	}
	p, err := holder(ctx, s.View, l)
	if err != nil {
		return "", store.Person{}, asUseless(err)
	}
	return Purpose(l.Purpose), p, nil
}

// UseLink uses up a link to sign in and returns whom it lets in. Of several who use it at once one gets in; for the others,
// and for a link that FindLink would refuse, it is that same error.
func UseLink(ctx context.Context, s *store.Store, secret string) (p store.Person, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		l, ok, err := tx.UseLink(ctx, hash(secret), string(SignInLink))
		if err != nil {
			return err
		}
		if !ok {
			return errUseless()
		}
		p, err = holder(ctx, tx.View, l)
		return asUseless(err)
	})
	if err != nil {
		return store.Person{}, err
	}
	return p, nil
}

// SetUp makes the first person, an admin with a password, by a link to set up, and ends all such links. A description that
// cannot be used is an Invalid error and leaves the link as it was.
func SetUp(ctx context.Context, s *store.Store, secret string, n NewPerson) (store.Person, error) {
	n.Role = Admin
	if n.Password == "" {
		return store.Person{}, CheckPassword("", "")
	}
	if _, _, err := FindLink(ctx, s, secret); err != nil {
		return store.Person{}, err // before a stranger costs us a hash
	}
	p, password, err := n.person(ctx)
	if err != nil {
		return store.Person{}, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if ok, err := tx.UseEveryLink(ctx, hash(secret), string(SetUpLink)); err != nil || !ok {
			return orUseless(err)
		}
		if err := nobodyYet(ctx, tx.View); err != nil {
			return err
		}
		return tx.AddPerson(ctx, p, password, byPerson(p))
	})
	if err != nil {
		return store.Person{}, err
	}
	return s.Person(ctx, p.ID)
}

// errUseless says the same of every link that lets nobody in, so that nobody learns which it is.
func errUseless() error {
	return countersign.Errorf(countersign.Unauthorized, "this link is not valid").
		Try("a link works once, and for a limited time: ask an admin for a new one")
}

// asUseless is the error of a link whose person is gone, and any other error as it is.
func asUseless(err error) error {
	switch countersign.KindOf(err) {
	case countersign.NotFound, countersign.Conflict:
		return errUseless()
	}
	return err
}

func orUseless(err error) error {
	if err == nil {
		return errUseless()
	}
	return err
}

package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/mail"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no zone files, and a zone that somebody chose must be there

	"countersign"
	"countersign/store"
)

// NewPerson is somebody who is to be added.
type NewPerson struct {
	Email    string
	Name     string // what stands before the @ when empty
	Role     Role
	Zone     string // an IANA name; UTC when empty
	Password string // may be empty: then they come in by a link and choose one
}

// AddPerson adds somebody. What cannot be used is an Invalid error that names the field; an e-mail that somebody has already,
// in whatever letters, is a Conflict.
func AddPerson(ctx context.Context, s *store.Store, n NewPerson, by countersign.Actor) (store.Person, error) {
	p, password, err := n.person(ctx)
	if err != nil {
		return store.Person{}, err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddPerson(ctx, p, password, by) })
	if err != nil {
		return store.Person{}, err
	}
	return s.Person(ctx, p.ID)
}

// Check says what is wrong with the description, nil if nothing is; an empty password is not wrong.
func (n NewPerson) Check() error {
	_, err := n.filled()
	return err
}

// filled is the description with what was left out, or what is wrong with it.
func (n NewPerson) filled() (NewPerson, error) {
	email, err := readEmail(n.Email)
	if err != nil {
		return n, err
	}
	before, _, _ := strings.Cut(email, "@")
	n.Email, n.Name, n.Zone = email, cmp.Or(strings.TrimSpace(n.Name), before), cmp.Or(n.Zone, "UTC")
	if n.Password != "" {
		err = CheckPassword(n.Password, n.Email)
	}
	return n, cmp.Or(checkDetails(n.Name, n.Role, n.Zone), err)
}

// person is the description as it is stored, with the hash of the password.
func (n NewPerson) person(ctx context.Context) (p store.Person, password string, err error) {
	if n, err = n.filled(); err != nil {
		return p, "", err
	}
	if n.Password != "" {
		if password, err = hashPassword(ctx, n.Password); err != nil {
			return p, "", err
		}
	}
	return store.Person{ID: "usr_" + strings.ToLower(rand.Text()[:16]), Email: n.Email, Name: n.Name, Role: string(n.Role), Zone: n.Zone}, password, nil
}

// ChangePerson gives somebody the name, role, zone and access that p has, as it was read and then changed. With another role or
// access their sessions end. It is a Conflict when role, access or password have changed since p was read, so that nobody who
// changes their name brings back a role that was taken from them; and the last admin who may sign in stays one.
func ChangePerson(ctx context.Context, s *store.Store, p store.Person, by countersign.Actor) error {
	if err := checkDetails(p.Name, Role(p.Role), p.Zone); err != nil {
		return err
	}
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		all, err := tx.LockPeople(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(now store.Person) bool { return now.ID == p.ID && now.Generation != p.Generation }) {
			return countersign.Errorf(countersign.Conflict, "somebody else has changed this person").Try("look again and repeat what you meant to change")
		}
		if isLastAdmin(all, p.ID) && !mayManage(p) {
			return countersign.Errorf(countersign.Conflict, "is the last admin who may sign in").In("role").Try("make somebody else an admin first")
		}
		return tx.ChangePerson(ctx, p, by)
	})
}

func isLastAdmin(all []store.Person, id string) bool {
	admins := slices.DeleteFunc(all, func(p store.Person) bool { return !mayManage(p) })
	return len(admins) == 1 && admins[0].ID == id
}

func mayManage(p store.Person) bool { return !p.Disabled && Role(p.Role).May(Manage) }

// ChangePassword gives somebody a new password and ends their sessions, so whoever changed their own signs in again. What
// cannot be used is an Invalid error.
func ChangePassword(ctx context.Context, s *store.Store, id, password string, by countersign.Actor) error {
	p, err := s.Person(ctx, id)
	if err != nil {
		return err
	}
	if err := CheckPassword(password, p.Email); err != nil {
		return err
	}
	hashed, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, id, hashed, by) })
}

// Attempt is somebody's try to sign in.
type Attempt struct {
	Email    string
	Password string
	Address  string // where it came from; a port does not matter
}

// Recognise finds whose e-mail and password these are. A wrong password, somebody who is not here, who has no password or who
// may not sign in any more are one Unauthorized error, after the same time. When too many tries have failed it is an
// Unavailable error that says how long to wait; any other error means that nothing could be looked up, and counts as no try.
func Recognise(ctx context.Context, v store.View, t *Throttle, a Attempt) (store.Person, error) {
	email, _ := readEmail(a.Email) // what is not one is nobody's
	if err := t.admit(email, a.Address); err != nil {
		return store.Person{}, err
	}
	p, ok, err := matched(ctx, v, email, a.Password)
	if err != nil || ok {
		t.forgive(email, a.Address)
	}
	if err == nil && !ok {
		err = countersign.Errorf(countersign.Unauthorized, "e-mail or password is wrong").Try("look at both and try again")
	}
	if err != nil {
		return store.Person{}, err
	}
	return p, nil
}

func matched(ctx context.Context, v store.View, email, password string) (p store.Person, ok bool, err error) {
	p, phc, found, err := v.PersonByEmail(ctx, email)
	if err != nil {
		return p, false, err
	}
	k, err := parseKept(phc)
	if err != nil {
		return p, false, err
	}
	fits, err := k.fits(ctx, password)
	return p, fits && found && !p.Disabled, err
}

// byPerson is how somebody's changes are recorded.
func byPerson(p store.Person) countersign.Actor {
	return countersign.Actor{Kind: countersign.Person, ID: p.ID}
}

// PrincipalOf is somebody as the one who makes a request, once they have signed in.
func PrincipalOf(p store.Person) Principal {
	return Principal{Actor: byPerson(p), Role: Role(p.Role), PersonID: p.ID, Name: p.Name, Zone: p.Zone}
}

// longestEmail is what a mail server takes.
const longestEmail = 254

// readEmail returns an address in the form in which it is kept: alone, and in small letters.
func readEmail(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	if email == "" {
		return "", countersign.Errorf(countersign.Invalid, "is missing").In("email")
	}
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > longestEmail {
		return "", countersign.Errorf(countersign.Invalid, "%.40q is not an e-mail address", text).In("email").Try("expected one like ada@bank.example")
	}
	return email, nil
}

func checkDetails(name string, role Role, zone string) error {
	return cmp.Or(checkName(name), checkRole(role), checkZone(zone))
}

// checkZone refuses the host's own zone too: it means another one on another host.
func checkZone(zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		return countersign.Errorf(countersign.Invalid, "%.40q is not a time zone", zone).In("zone").Try("expected an IANA name like Africa/Lagos or UTC")
	}
	return nil
}

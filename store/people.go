package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Person is somebody who may sign in.
type Person struct {
	ID          string
	Email       string // in small letters; nobody else has it
	Name        string
	Role        string
	Zone        string // the time zone of what they read, by its IANA name
	Disabled    bool
	HasPassword bool
	// Generation grows when role, password or access change. A session notes the one it began in, and ends with it.
	Generation int64
	CreatedAt  time.Time
	CreatedBy  string // an actor
}

const personColumns = "id, email, name, role, zone, disabled_at IS NOT NULL, password <> '', generation, created_at, created_by"

// into is where a person's columns are read to.
func (p *Person) into() []any {
	return []any{&p.ID, &p.Email, &p.Name, &p.Role, &p.Zone, &p.Disabled, &p.HasPassword, &p.Generation, scanMicros{&p.CreatedAt}, &p.CreatedBy}
}

func scanPerson(row scanner) (p Person, err error) { return p, row.Scan(p.into()...) }

// Person reads somebody; a NotFound error if there is nobody of that id.
func (v View) Person(ctx context.Context, id string) (Person, error) {
	p, err := scanPerson(v.q.QueryRowContext(ctx, "SELECT "+personColumns+" FROM people WHERE id = $1", id))
	if errors.Is(err, sql.ErrNoRows) {
		return p, nobody(id)
	}
	return p, wrap(err, "read person %s", id)
}

func nobody(id string) error {
	return countersign.Errorf(countersign.NotFound, "there is nobody with the id %q", id)
}

// PersonByEmail finds somebody by their e-mail, which is kept in small letters, and the hash of their password, which is
// empty while they have none.
func (v View) PersonByEmail(ctx context.Context, email string) (p Person, password string, ok bool, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT "+personColumns+", password FROM people WHERE email = $1", email).Scan(append(p.into(), &password)...)
	if errors.Is(err, sql.ErrNoRows) {
		return p, "", false, nil
	}
	return p, password, err == nil, wrap(err, "look for a person")
}

// People lists everybody, by name. Those who may not sign in any more are among them.
func (v View) People(ctx context.Context) ([]Person, error) { return v.people(ctx, "") }

// LockPeople lists everybody as People does and holds them until the transaction ends: what is decided by who there is, is
// decided by one after the other.
func (t *Tx) LockPeople(ctx context.Context) ([]Person, error) { return t.people(ctx, t.d.lock) }

func (v View) people(ctx context.Context, lock string) ([]Person, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+personColumns+" FROM people ORDER BY LOWER(name), name, id"+lock)
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	all, err := collect(rows, scanPerson)
	return all, wrap(err, "list people")
}

// Names are what people and tokens are called, by their ids: "Ada Okafor", "token till".
func (v View) Names(ctx context.Context) (map[string]string, error) {
	people, err := v.People(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := v.ListTokens(ctx)
	names := make(map[string]string, len(people)+len(tokens))
	for _, p := range people {
		names[p.ID] = p.Name
	}
	for _, t := range tokens {
		names[t.ID] = "token " + t.Name
	}
	return names, err
}

// CountPeople counts everybody, those who may not sign in any more included: zero means that nobody has set this up.
func (v View) CountPeople(ctx context.Context) (n int, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT COUNT(*) FROM people").Scan(&n)
	return n, wrap(err, "count people")
}

// AddPerson stores somebody new with the hash of a password, empty if they have none yet. An e-mail that somebody has is a
// Conflict.
func (t *Tx) AddPerson(ctx context.Context, p Person, password string, by countersign.Actor) error {
	if !by.Valid() {
		return errNoActor()
	}
	_, err := t.exec(ctx, `INSERT INTO people (id, email, name, role, zone, password, created_at, created_by, changed_at, changed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7, $8)`, p.ID, p.Email, p.Name, p.Role, p.Zone, password, t.Now.UnixMicro(), by.String())
	if isUnique(err) {
		e := countersign.Errorf(countersign.Conflict, "somebody with this e-mail is here already").In("email").
			Try("change that person, or use another e-mail")
		e.Err = err
		return e
	}
	return wrap(err, "store the person")
}

func errNoActor() error {
	return countersign.Errorf(countersign.Internal, "a change of people needs an actor")
}

// ChangePerson writes somebody's name, role, zone and whether they may sign in. With another role, or when they may not sign
// in any more or may again, their sessions are over, and so are the links they were given.
func (t *Tx) ChangePerson(ctx context.Context, p Person, by countersign.Actor) error {
	if !by.Valid() {
		return errNoActor()
	}
	n, err := t.exec(ctx, `UPDATE people SET name = $2, zone = $3, role = $4, changed_at = $6, changed_by = $7,
		generation = generation + CASE WHEN role <> $4 OR (disabled_at IS NOT NULL) <> $5 THEN 1 ELSE 0 END,
		disabled_at = CASE WHEN $5 THEN COALESCE(disabled_at, $6) END WHERE id = $1`,
		p.ID, p.Name, p.Zone, p.Role, p.Disabled, t.Now.UnixMicro(), by.String())
	switch {
	case err != nil:
		return wrap(err, "change person %s", p.ID)
	case n == 0:
		return nobody(p.ID)
	case p.Disabled:
		return t.dropLinks(ctx, p.ID)
	}
	return nil
}

// SetPassword replaces the hash of somebody's password. Their sessions and links are over.
func (t *Tx) SetPassword(ctx context.Context, id, password string, by countersign.Actor) error {
	if !by.Valid() {
		return errNoActor()
	}
	n, err := t.exec(ctx, "UPDATE people SET password = $2, generation = generation + 1, changed_at = $3, changed_by = $4 WHERE id = $1",
		id, password, t.Now.UnixMicro(), by.String())
	switch {
	case err != nil:
		return wrap(err, "set the password of person %s", id)
	case n == 0:
		return nobody(id)
	}
	return t.dropLinks(ctx, id)
}

package web

import (
	"net/http"

	"countersign/desk/merchant/connector"
)

// connectScreen asks where the shop's database is. What was typed stays, but for the password.
type connectScreen struct {
	shopStep
	Drivers []picked
	Address connector.Address
	Port    string // the usual one
	Safe    []picked
	Kept    bool     // a connection string is here already, and is used when nothing else is given
	Lost    string   // why it cannot be
	Writes  []string // what the role may do that it must not, the first of it
	More    []string // and the rest
	Advice  []string
	Most    string // how much may be sent at once
}

func showConnect(w *wizard, status int, p shopStep) error {
	return w.showConnect(status, connectScreen{shopStep: p, Address: w.typedAddress()})
}

func (w *wizard) showConnect(status int, s connectScreen) error {
	if s.Address.Driver == "" {
		s.Address.Driver = connector.Postgres
	}
	s.Most = size(mostUpload)
	s.Address.Password, s.Port = "", connector.UsualPort(s.Address.Driver)
	s.Drivers = driversOf(s.Address.Driver)
	for _, safe := range connector.Encryption {
		s.Safe = append(s.Safe, picked{Value: safe, Title: encryption[safe], Current: safe == s.Address.Safe})
	}
	s.Kept = w.draft.Mapping.DSN != "" && w.draft.Mapping.Driver == s.Address.Driver
	if w.draft.Lost != nil {
		s.Lost, _ = explained(w.draft.Lost)
	}
	return w.draw(status, "shop_connect", s)
}

// exported stands among the kinds of databases for a shop that has none that could be reached.
const exported = "files"

func driversOf(chosen string) (all []picked) {
	for _, driver := range []string{connector.Postgres, connector.MySQL, connector.SQLite, exported} {
		all = append(all, picked{Value: driver, Title: capital(engines[driver]), Current: driver == chosen})
	}
	return all
}

var encryption = map[string]string{
	"offered":  "if the server offers it",
	"required": "always, and the server's certificate must be good",
	"off":      "never: it is on this machine, or on a network of our own",
}

// typedAddress is the address of a form, or of the page's own address when another kind of database is chosen.
func (w *wizard) typedAddress() connector.Address {
	a := connector.Address{Driver: w.r.FormValue("driver"), File: w.form("file"), Host: w.form("host"), Port: w.form("port"), Database: w.form("database"),
		User: w.form("user"), Password: w.r.PostFormValue("password"), Safe: w.form("safe")}
	if engines[a.Driver] == "" {
		a.Driver = w.draft.Mapping.Driver
	}
	return a
}

// mostWrites is how much of what a role may do is shown at once.
const mostWrites = 6

// answerConnect tries the connection before it is kept: it must lead somewhere, and must not be able to write.
func answerConnect(w *wizard) error {
	a := w.typedAddress()
	dsn, err := w.dsn(a)
	if err != nil {
		return err
	}
	rights, err := connector.Probe(w.r.Context(), a.Driver, dsn)
	if len(rights.Writes) > 0 {
		p := shopStep{Title: w.title, Rail: w.rail()}
		first := min(mostWrites, len(rights.Writes))
		return w.showConnect(http.StatusUnprocessableEntity, connectScreen{shopStep: p, Address: a, Writes: rights.Writes[:first], More: rights.Writes[first:], Advice: rights.Advice})
	}
	if err != nil {
		return err
	}
	if a.Driver != w.draft.Mapping.Driver {
		w.draft.Mapping.Entities, w.draft.Platform = nil, ""
	}
	w.draft.Mapping.Driver, w.draft.Mapping.DSN, w.draft.Lost = a.Driver, dsn, nil
	role := ""
	if rights.Role != "" {
		role = " as " + legible(rights.Role)
	}
	return w.next("Connected to " + legible(rights.Server) + role + ". It can read, and cannot write.")
}

// dsn is what was typed as one string, else its parts, else the connection that is here already.
func (w *wizard) dsn(a connector.Address) (connector.DSN, error) {
	if whole := w.r.PostFormValue("dsn"); whole != "" {
		return connector.DSN(whole), nil
	}
	if w.draft.Mapping.DSN != "" && a.Driver == w.draft.Mapping.Driver && a.File+a.Host+a.Database+a.User+a.Password == "" {
		return w.draft.Mapping.DSN, nil
	}
	return a.DSN()
}

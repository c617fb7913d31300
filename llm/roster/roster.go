// Package roster knows which models there are: how each is reached, what it costs and may cost, and which desk asks which of them in
// which order. It keeps all of that in the database, in versions with who made them, and the keys sealed.
//
// It promises that a key that was kept never comes out again but to the server that it was entered for: a key is sealed together with
// the name and the address of its connection, so that neither a changed row nor a changed form sends it elsewhere. It decides nothing
// about a case.
package roster

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/budget"
)

// OfflineReviewer is the connection that always exists and needs no settings. It is always the last.
const OfflineReviewer = "rulebook"

// Roster is one version of the settings.
type Roster struct {
	Connections []Connection
	Desks       map[countersign.DeskName][]string // names of connections, in the order in which they are asked
	Offline     bool                              // the offline reviewer goes on where no model answered; else a person does
	Budgets     budget.Budgets
}

// Connection is one model of one server.
type Connection struct {
	Name     string
	Provider string
	BaseURL  string
	Model    string // as the server calls it

	Connect, FirstByte, Total time.Duration // zero for the provider's own
	Price                     llm.Price
	MaxCases                  int // investigated with it at once, 0 for no limit

	Key  Secret // as it was opened or entered; empty for a server that wants none
	Lost error  // why the key that is kept cannot be opened: it must be entered again
}

// Identity is the model as a record names it.
func (c Connection) Identity() llm.Identity { return llm.Identity{Provider: c.Provider, Name: c.Model} }

// Secret is a key. It prints as dots, and marshals as nothing.
type Secret string

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "••••"
}

// GoString keeps %#v from printing it.
func (s Secret) GoString() string { return s.String() }

// MarshalText keeps it out of every JSON and log.
func (s Secret) MarshalText() ([]byte, error) { return nil, nil }

// Connection finds one by its name.
func (r Roster) Connection(name string) (Connection, bool) {
	i := slices.IndexFunc(r.Connections, func(c Connection) bool { return c.Name == name })
	if i < 0 {
		return Connection{}, false
	}
	return r.Connections[i], true
}

// Of are the connections that a desk asks, in their order.
func (r Roster) Of(desk countersign.DeskName) (all []Connection) {
	for _, name := range r.Desks[desk] {
		if c, ok := r.Connection(name); ok {
			all = append(all, c)
		}
	}
	return all
}

// With is the roster with a connection in place of the one of the same name, or beside the others.
func (r Roster) With(c Connection) Roster {
	r.Connections = slices.Clone(r.Connections)
	if i := slices.IndexFunc(r.Connections, func(other Connection) bool { return other.Name == c.Name }); i >= 0 {
		r.Connections[i] = c
		return r
	}
	r.Connections = append(r.Connections, c)
	slices.SortFunc(r.Connections, func(a, b Connection) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// Without is the roster without a connection, which no desk asks any more either.
func (r Roster) Without(name string) Roster {
	r.Connections = slices.DeleteFunc(slices.Clone(r.Connections), func(c Connection) bool { return c.Name == name })
	desks := map[countersign.DeskName][]string{}
	for desk, names := range r.Desks {
		desks[desk] = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
	}
	r.Desks = desks
	return r
}

// Providers are the protocols that a connection may speak.
var Providers = []string{"openai", "anthropic"}

// nameForm is what a connection may be called: it stands in records, logs and metrics.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

const (
	mostConnections = 50
	longest         = 24 * time.Hour
	mostCases       = 100_000
)

// Check finds what is wrong with the settings by themselves. The error is a *countersign.Error of the kind Invalid that names the
// field, what stands there and what was expected.
func (r Roster) Check() error {
	if len(r.Connections) > mostConnections {
		return wrong("connections", "are %d; expected at most %d", len(r.Connections), mostConnections)
	}
	currency := ""
	seen := map[string]bool{}
	for i, c := range r.Connections {
		at := fmt.Sprintf("connections[%d]", i)
		if err := c.check(at); err != nil {
			return err
		}
		if seen[c.Name] {
			return wrong(at+".name", "%q is there twice; expected each name once", c.Name)
		}
		seen[c.Name] = true
		if c.Price.Set() && currency != "" && c.Price.Currency != currency {
			return wrong(at+".price", "is in %s, and another is in %s; expected one currency, since what a case costs is one sum", c.Price.Currency, currency)
		}
		if c.Price.Set() {
			currency = c.Price.Currency
		}
	}
	if err := r.checkDesks(); err != nil {
		return err
	}
	return r.checkBudgets(currency)
}

func (c Connection) check(at string) error {
	switch {
	case c.Name == OfflineReviewer:
		return wrong(at+".name", "%q is the offline reviewer, which is always there; expected another name", c.Name)
	case !nameForm.MatchString(c.Name):
		return wrong(at+".name", "%q is no name; expected up to 40 small letters, digits, dots, dashes and underscores", clip(c.Name))
	case !slices.Contains(Providers, c.Provider):
		return wrong(at+".provider", "%q is no provider; expected openai or anthropic", clip(c.Provider))
	case c.MaxCases < 0 || c.MaxCases > mostCases:
		return wrong(at+".max_cases", "is %d; expected a number from 0, which is no limit, to %d", c.MaxCases, mostCases)
	}
	for name, d := range map[string]time.Duration{"connect": c.Connect, "first_byte": c.FirstByte, "total": c.Total} {
		if d < 0 || d > longest {
			return wrong(at+".timeouts."+name, "is %s; expected a time up to 24h, or none for the usual one", d)
		}
	}
	return nil
}

func (r Roster) checkDesks() error {
	for _, desk := range slices.Sorted(maps.Keys(r.Desks)) {
		if desk != countersign.Bank && desk != countersign.Merchant {
			return wrong("desks", "%q is no desk; expected bank or merchant", clip(string(desk)))
		}
		seen := map[string]bool{}
		for i, name := range r.Desks[desk] {
			at := fmt.Sprintf("desks.%s[%d]", desk, i)
			switch _, known := r.Connection(name); {
			case name == OfflineReviewer:
				return wrong(at, "is the offline reviewer, which is always last and need not be named; expected the name of a connection")
			case !known:
				return wrong(at, "%q is no connection; expected one of %s", clip(name), r.names())
			case seen[name]:
				return wrong(at, "%q is there twice; expected each connection once", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// checkBudgets refuses a budget that would not hold: one in money, where somebody has not said what a model costs.
func (r Roster) checkBudgets(currency string) error {
	for _, one := range r.limits() {
		if one.limit.Tokens < 0 {
			return wrong(one.at+".tokens", "is %d; expected a number above 0, or none for no limit", one.limit.Tokens)
		}
		if one.limit.Money == nil {
			continue
		}
		if one.limit.Money.Minor <= 0 {
			return wrong(one.at+".money", "is %s; expected an amount above 0, or none for no limit", one.limit.Money)
		}
		if currency == "" {
			currency = one.limit.Money.Currency
		}
		if one.limit.Money.Currency != currency {
			return wrong(one.at+".money", "is in %s, and prices and other budgets are in %s; expected one currency", one.limit.Money.Currency, currency)
		}
	}
	if !r.Budgets.Money() {
		return nil
	}
	for i, c := range r.Connections {
		if !c.Price.Set() {
			return wrong(fmt.Sprintf("connections[%d].price", i), "is missing, so that no budget in money could hold %s; expected its price, 0 for a model that costs nothing", c.Name)
		}
	}
	return nil
}

type placedLimit struct {
	at    string
	limit budget.Limit
}

func (r Roster) limits() []placedLimit {
	all := []placedLimit{{"budgets.case", r.Budgets.Case}, {"budgets.day", r.Budgets.Day}}
	for _, desk := range slices.Sorted(maps.Keys(r.Budgets.Desks)) {
		all = append(all, placedLimit{"budgets.desks." + string(desk), r.Budgets.Desks[desk]})
	}
	return all
}

func (r Roster) names() string {
	if len(r.Connections) == 0 {
		return "none, as there is no connection yet"
	}
	names := make([]string, len(r.Connections))
	for i, c := range r.Connections {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

func wrong(field, format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, format, args...).In(field)
}

// clip shortens what an error repeats.
func clip(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "\uFFFD")); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

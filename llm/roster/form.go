package roster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/budget"
)

// form is the settings as JSON: what `model apply` reads, `model show` prints and the database keeps.
type form struct {
	Connections []connectionForm                  `json:"connections"`
	Desks       map[countersign.DeskName][]string `json:"desks"`
	Offline     *bool                             `json:"offline_reviewer"`
	Budgets     budgetsForm                       `json:"budgets,omitzero"`
}

type connectionForm struct {
	Name     string       `json:"name"`
	Provider string       `json:"provider"`
	BaseURL  string       `json:"base_url"`
	Model    string       `json:"model"`
	Key      *string      `json:"key,omitempty"` // only ever read
	Timeouts timeoutsForm `json:"timeouts,omitzero"`
	Price    *priceForm   `json:"price,omitempty"`
	MaxCases int          `json:"max_cases"`
}

type timeoutsForm struct {
	Connect   duration `json:"connect,omitempty"`
	FirstByte duration `json:"first_byte,omitempty"`
	Total     duration `json:"total,omitempty"`
}

type priceForm struct {
	Currency string `json:"currency"`
	Input    string `json:"input"`
	Cached   string `json:"cached,omitempty"`
	Stored   string `json:"stored,omitempty"`
	Output   string `json:"output"`
}

type budgetsForm struct {
	Case  limitForm                          `json:"case,omitzero"`
	Day   limitForm                          `json:"day,omitzero"`
	Desks map[countersign.DeskName]limitForm `json:"desks,omitempty"`
}

type limitForm struct {
	Tokens int64  `json:"tokens,omitempty"`
	Money  string `json:"money,omitempty"`
}

// duration is a time as people write it, "120s".
type duration string

func (d duration) read(at string) (time.Duration, error) {
	if d == "" {
		return 0, nil
	}
	t, err := time.ParseDuration(string(d))
	if err != nil || t <= 0 {
		return 0, wrong(at, "%q is no time; expected one such as 30s or 2m", clip(string(d)))
	}
	return t, nil
}

func written(d time.Duration) duration {
	if d == 0 {
		return ""
	}
	return duration(d.String())
}

// largest is more than any settings of people's are long.
const largest = 1 << 20

// Entered is settings as somebody entered them: a connection without a key means the one that is kept, one with an empty key means
// a server that wants none.
type Entered struct {
	Roster
	keyless map[string]bool // connections of which no key was entered
}

// Parse reads settings strictly: a field that is not known, a name that stands there twice and a value of the wrong kind are errors. Every error is a *countersign.Error that names the field.
func Parse(text []byte) (Entered, error) {
	if len(text) > largest {
		return Entered{}, countersign.Errorf(countersign.TooLarge, "settings for models have at most %d bytes, these have %d", largest, len(text))
	}
	if err := onceEach(text); err != nil {
		return Entered{}, err
	}
	var f form
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Entered{}, unread(err)
	}
	return f.entered()
}

// unread says what is wrong with JSON of another form. The decoder's own words name a Go type, which nobody has asked about.
func unread(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return wrong(kind.Field, "is a JSON %s; expected the form that `model show` prints", kind.Value)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return wrong("models", "%s is not a setting; expected the form that `model show` prints", strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return &countersign.Error{Kind: countersign.Invalid, Field: "models", Message: "is broken JSON; expected the form that `model show` prints"}
}

// onceEach refuses an object that names something twice: encoding/json would silently take the last. What stands behind the end is refused too.
func onceEach(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := walk(d, ""); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong("models", "has something after its end; expected one JSON object")
	}
	return nil
}

func walk(d *json.Decoder, at string) error {
	t, err := d.Token()
	if err != nil {
		return unread(err)
	}
	switch t {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return unread(err)
			}
			name := fmt.Sprint(key)
			if folded := strings.ToLower(name); seen[folded] { // encoding/json takes names in any case
				return wrong("models", "%q stands there twice in %s; expected each name once", clip(name), or(at, "the settings"))
			} else {
				seen[folded] = true
			}
			if err := walk(d, name); err != nil {
				return err
			}
		}
		_, err = d.Token()
	case json.Delim('['):
		for d.More() {
			if err := walk(d, at); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	if err != nil {
		return unread(err)
	}
	return nil
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (f form) entered() (e Entered, err error) {
	e = Entered{Roster{Desks: f.Desks, Offline: f.Offline == nil || *f.Offline}, map[string]bool{}}
	if e.Desks == nil {
		e.Desks = map[countersign.DeskName][]string{}
	}
	for i, c := range f.Connections {
		connection, err := c.read(fmt.Sprintf("connections[%d]", i))
		if err != nil {
			return Entered{}, err
		}
		e.Connections = append(e.Connections, connection)
		e.keyless[c.Name] = c.Key == nil
	}
	if e.Budgets, err = f.Budgets.read(); err != nil {
		return Entered{}, err
	}
	return e, e.Check()
}

func (c connectionForm) read(at string) (out Connection, err error) {
	out = Connection{Name: c.Name, Provider: c.Provider, BaseURL: strings.TrimRight(strings.TrimSpace(c.BaseURL), "/"), Model: c.Model, MaxCases: c.MaxCases}
	if c.Key != nil {
		out.Key = Secret(strings.TrimSpace(*c.Key))
	}
	for _, t := range []struct {
		name string
		text duration
		into *time.Duration
	}{{"connect", c.Timeouts.Connect, &out.Connect}, {"first_byte", c.Timeouts.FirstByte, &out.FirstByte}, {"total", c.Timeouts.Total, &out.Total}} {
		if *t.into, err = t.text.read(at + ".timeouts." + t.name); err != nil {
			return out, err
		}
	}
	if c.Price != nil {
		out.Price, err = c.Price.read(at + ".price")
	}
	return out, err
}

func (p priceForm) read(at string) (price llm.Price, err error) {
	if !countersign.KnownCurrency(p.Currency) {
		return price, wrong(at+".currency", "%q is not a currency of ISO 4217; expected three capitals, such as USD", clip(p.Currency))
	}
	price.Currency = p.Currency
	if p.Cached == "" {
		p.Cached = p.Input
	}
	for _, part := range []struct {
		name, text string
		into       *int64
	}{{"input", p.Input, &price.Input}, {"cached", p.Cached, &price.Cached}, {"output", p.Output, &price.Output}} {
		if *part.into, err = countersign.ParseMicro(part.text); err != nil {
			return price, wrong(at+"."+part.name, "%s; expected what a million tokens cost, such as \"0.15\"", err)
		}
	}
	if price.Stored = llm.StoredFor(price.Input); p.Stored == "" {
		return price, nil
	}
	if price.Stored, err = countersign.ParseMicro(p.Stored); err != nil {
		return price, wrong(at+".stored", "%s; expected what a million tokens cost that are put into a cache, such as \"3.75\", or nothing for a quarter more than input", err)
	}
	return price, nil
}

func (b budgetsForm) read() (out budget.Budgets, err error) {
	if out.Case, err = b.Case.read("budgets.case"); err != nil {
		return out, err
	}
	if out.Day, err = b.Day.read("budgets.day"); err != nil {
		return out, err
	}
	for desk, l := range b.Desks {
		if desk != countersign.Bank && desk != countersign.Merchant {
			return out, wrong("budgets.desks", "%q is no desk; expected bank or merchant", clip(string(desk)))
		}
		limit, err := l.read("budgets.desks." + string(desk))
		if err != nil {
			return out, err
		}
		if !limit.None() {
			if out.Desks == nil {
				out.Desks = map[countersign.DeskName]budget.Limit{}
			}
			out.Desks[desk] = limit
		}
	}
	return out, nil
}

func (l limitForm) read(at string) (limit budget.Limit, err error) {
	limit.Tokens = l.Tokens
	if l.Money == "" {
		return limit, nil
	}
	currency, number, _ := strings.Cut(l.Money, " ")
	m, err := countersign.ParseMoney(number, currency)
	if err != nil {
		return limit, wrong(at+".money", "%q is no amount; expected a currency and a number, such as \"USD 20.00\"", clip(l.Money))
	}
	limit.Money = &m
	return limit, nil
}

// MarshalJSON is the form that Parse reads, without keys.
func (r Roster) MarshalJSON() ([]byte, error) {
	f := form{Connections: []connectionForm{}, Desks: r.Desks, Offline: &r.Offline}
	for _, c := range r.Connections {
		f.Connections = append(f.Connections, c.form())
	}
	f.Budgets = budgetsForm{Case: formOf(r.Budgets.Case), Day: formOf(r.Budgets.Day)}
	for desk, l := range r.Budgets.Desks {
		if f.Budgets.Desks == nil {
			f.Budgets.Desks = map[countersign.DeskName]limitForm{}
		}
		f.Budgets.Desks[desk] = formOf(l)
	}
	return json.Marshal(f)
}

func (c Connection) form() connectionForm {
	f := connectionForm{Name: c.Name, Provider: c.Provider, BaseURL: c.BaseURL, Model: c.Model, MaxCases: c.MaxCases,
		Timeouts: timeoutsForm{written(c.Connect), written(c.FirstByte), written(c.Total)}}
	if c.Price.Set() {
		f.Price = &priceForm{Currency: c.Price.Currency, Input: countersign.Micros(c.Price.Input), Cached: countersign.Micros(c.Price.Cached), Output: countersign.Micros(c.Price.Output)}
		if c.Price.Stored != llm.StoredFor(c.Price.Input) {
			f.Price.Stored = countersign.Micros(c.Price.Stored)
		}
	}
	return f
}

func formOf(l budget.Limit) limitForm {
	f := limitForm{Tokens: l.Tokens}
	if l.Money != nil {
		f.Money = l.Money.String()
	}
	return f
}

package roster

import (
	"strconv"
	"strings"

	"countersign"
	"countersign/pipeline/budget"
)

// Typed is a connection as somebody types it into a form.
type Typed struct {
	Name, Provider, BaseURL, Model string
	Key                            string // never filled in from what is kept
	NoKey                          bool   // the server wants none, and one that is kept is forgotten
	Connect, FirstByte, Total      string
	Currency                       string
	Input, Cached, Stored, Output  string
	MaxCases                       string
}

// Typed is the connection for a form, without its key.
func (c Connection) Typed() Typed {
	f := c.form()
	t := Typed{Name: f.Name, Provider: f.Provider, BaseURL: f.BaseURL, Model: f.Model,
		Connect: string(f.Timeouts.Connect), FirstByte: string(f.Timeouts.FirstByte), Total: string(f.Timeouts.Total)}
	if f.Price != nil {
		t.Currency, t.Input, t.Cached, t.Stored, t.Output = f.Price.Currency, f.Price.Input, f.Price.Cached, f.Price.Stored, f.Price.Output
	}
	if c.MaxCases > 0 {
		t.MaxCases = strconv.Itoa(c.MaxCases)
	}
	return t
}

// Connection reads what was typed. A price without any number is none. Errors name the field as Parse does, under "connection".
func (t Typed) Connection() (Connection, error) {
	f := connectionForm{Name: t.Name, Provider: t.Provider, BaseURL: t.BaseURL, Model: strings.TrimSpace(t.Model), Key: &t.Key,
		Timeouts: timeoutsForm{duration(t.Connect), duration(t.FirstByte), duration(t.Total)}}
	if t.Input+t.Cached+t.Stored+t.Output != "" {
		f.Price = &priceForm{t.Currency, t.Input, t.Cached, t.Stored, t.Output}
	}
	if t.MaxCases != "" {
		n, err := strconv.Atoi(t.MaxCases)
		if err != nil {
			return Connection{}, wrong("connection.max_cases", "%q is no number; expected a whole one, or nothing for no limit", clip(t.MaxCases))
		}
		f.MaxCases = n
	}
	return f.read("connection")
}

// KeyEntered reports whether the key that was typed counts: an empty one means the one that is kept, unless somebody says that there
// is none.
func (t Typed) KeyEntered() bool { return t.Key != "" || t.NoKey }

// TypedLimit reads a budget as it is typed: a number of tokens, and an amount of the currency; nothing of either is no limit.
func TypedLimit(at, tokens, money, currency string) (l budget.Limit, err error) {
	if tokens = strings.ReplaceAll(strings.TrimSpace(tokens), ",", ""); tokens != "" {
		if l.Tokens, err = strconv.ParseInt(tokens, 10, 64); err != nil || l.Tokens <= 0 {
			return l, wrong(at+".tokens", "%q is no number above 0; expected one such as 2,000,000, or nothing for no limit", clip(tokens))
		}
	}
	if money = strings.TrimSpace(money); money == "" {
		return l, nil
	}
	m, err := countersign.ParseMoney(money, currency)
	if err != nil {
		return l, wrong(at+".money", "%s; expected one such as 20.00 and a currency such as USD, or nothing for no limit", err)
	}
	l.Money = &m
	return l, nil
}

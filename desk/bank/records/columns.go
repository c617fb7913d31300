package records

import (
	"encoding/binary"
	"strconv"

	"countersign"
)

// column is one field of an array as an import names it. Reading, comparing and hashing a row all go through these tables,
// so that a column cannot be read and then forgotten when rows are compared.
type column struct {
	name  string
	need  bool             // a row without it is refused
	fixed bool             // part of what the row is: once recorded it never changes
	at    func(Record) any // where it lives: *string, *int64, *bool, **bool, *countersign.When or *[]string
}

func at[P Record](name string, need, fixed bool, field func(P) any) column {
	return column{name, need, fixed, func(r Record) any { return field(r.(P)) }}
}

// key is what a row is known by; must a required column that may advance; must1 one that never changes; may an optional
// column; may1 one that may be filled in later but not changed, because a duplicate is recognised by it.
func key[P Record](name string, field func(P) any) column   { return at(name, true, true, field) }
func must[P Record](name string, field func(P) any) column  { return at(name, true, false, field) }
func must1[P Record](name string, field func(P) any) column { return at(name, true, true, field) }
func may[P Record](name string, field func(P) any) column   { return at(name, false, false, field) }
func may1[P Record](name string, field func(P) any) column  { return at(name, false, true, field) }

// table is the columns of one array and how to make a blank row of it.
type table struct {
	blank   func() Record
	columns []column
	index   map[string]int
}

var tables = map[Array]*table{
	Customers: newTable(func() Record { return new(Customer) },
		key("id", func(c *Customer) any { return &c.ID }),
		must("name", func(c *Customer) any { return &c.Name }),
		may("email", func(c *Customer) any { return &c.Email }),
		may("phone", func(c *Customer) any { return &c.Phone }),
		may("home_city", func(c *Customer) any { return &c.HomeCity }),
		may("home_country", func(c *Customer) any { return &c.HomeCountry }),
		may("joined_at", func(c *Customer) any { return &c.JoinedAt }),
		may("flags", func(c *Customer) any { return &c.Flags }),
	),
	Accounts: newTable(func() Record { return new(Account) },
		key("id", func(a *Account) any { return &a.ID }),
		must1("customer_id", func(a *Account) any { return &a.CustomerID }),
		must1("number", func(a *Account) any { return &a.Number }),
		must1("currency", func(a *Account) any { return &a.Currency }),
		may("kind", func(a *Account) any { return &a.Kind }),
		may("status", func(a *Account) any { return &a.Status }),
	),
	Merchants: newTable(func() Record { return new(Merchant) },
		key("id", func(m *Merchant) any { return &m.ID }),
		must("name", func(m *Merchant) any { return &m.Name }),
		may("category", func(m *Merchant) any { return &m.Category }),
		may("country", func(m *Merchant) any { return &m.Country }),
		may("flagged", func(m *Merchant) any { return &m.Flagged }),
	),
	Devices: newTable(func() Record { return new(Device) },
		key("id", func(d *Device) any { return &d.ID }),
		must1("customer_id", func(d *Device) any { return &d.CustomerID }),
		may("label", func(d *Device) any { return &d.Label }),
		may("first_seen_at", func(d *Device) any { return &d.FirstSeenAt }),
		may("last_seen_at", func(d *Device) any { return &d.LastSeenAt }),
		may("city", func(d *Device) any { return &d.City }),
		may("country", func(d *Device) any { return &d.Country }),
		may("trusted", func(d *Device) any { return &d.Trusted }),
	),
	Transactions: newTable(func() Record { return new(Transaction) },
		key("id", func(t *Transaction) any { return &t.ID }),
		must1("account_id", func(t *Transaction) any { return &t.AccountID }),
		must1("kind", func(t *Transaction) any { return (*string)(&t.Kind) }),
		must1("direction", func(t *Transaction) any { return (*string)(&t.Direction) }),
		must1("amount_minor", func(t *Transaction) any { return &t.AmountMinor }),
		must1("currency", func(t *Transaction) any { return &t.Currency }),
		must("status", func(t *Transaction) any { return (*string)(&t.Status) }),
		must("occurred_at", func(t *Transaction) any { return &t.OccurredAt }),
		may("posted_at", func(t *Transaction) any { return &t.PostedAt }),
		may1("merchant_id", func(t *Transaction) any { return &t.MerchantID }),
		may("counterparty_name", func(t *Transaction) any { return &t.CounterpartyName }),
		may1("counterparty_account", func(t *Transaction) any { return &t.CounterpartyAccount }),
		may1("reference", func(t *Transaction) any { return &t.Reference }),
		may1("end_to_end_id", func(t *Transaction) any { return &t.EndToEndID }),
		may("channel", func(t *Transaction) any { return &t.Channel }),
		may1("device_id", func(t *Transaction) any { return &t.DeviceID }),
		may("city", func(t *Transaction) any { return &t.City }),
		may("country", func(t *Transaction) any { return &t.Country }),
		may("memo", func(t *Transaction) any { return &t.Memo }),
	),
	LedgerEntries: newTable(func() Record { return new(LedgerEntry) },
		key("id", func(e *LedgerEntry) any { return &e.ID }),
		must1("transaction_id", func(e *LedgerEntry) any { return &e.TransactionID }),
		must1("account_id", func(e *LedgerEntry) any { return &e.AccountID }),
		must1("direction", func(e *LedgerEntry) any { return (*string)(&e.Direction) }),
		must1("amount_minor", func(e *LedgerEntry) any { return &e.AmountMinor }),
		must1("currency", func(e *LedgerEntry) any { return &e.Currency }),
		must1("kind", func(e *LedgerEntry) any { return (*string)(&e.Kind) }),
		must("posted_at", func(e *LedgerEntry) any { return &e.PostedAt }),
		may("memo", func(e *LedgerEntry) any { return &e.Memo }),
	),
	Settlements: newTable(func() Record { return new(Settlement) },
		key("transaction_id", func(s *Settlement) any { return &s.TransactionID }),
		must("status", func(s *Settlement) any { return (*string)(&s.Status) }),
		must("final", func(s *Settlement) any { return &s.Final }),
		must("updated_at", func(s *Settlement) any { return &s.UpdatedAt }),
		may("rail", func(s *Settlement) any { return &s.Rail }),
		may("reference", func(s *Settlement) any { return &s.Reference }),
		may("failure_reason", func(s *Settlement) any { return &s.FailureReason }),
	),
}

func newTable(blank func() Record, columns ...column) *table {
	t := &table{blank, columns, map[string]int{}}
	for i, c := range columns {
		t.index[c.name] = i
	}
	return t
}

// Columns lists the columns of an array as an import names them, the required ones first.
func Columns(a Array) (names []string) {
	for _, c := range tables[a].columns {
		names = append(names, c.name)
	}
	return names
}

// Required lists those of its columns that a row must have.
func Required(a Array) (names []string) {
	for _, c := range tables[a].columns {
		if c.need {
			names = append(names, c.name)
		}
	}
	return names
}

// Encode appends the record's exact and unambiguous bytes to b, for hashing: the array's name, then name and value of every
// column that holds something, each with its length in front. Two records with the same bytes are the same row, and a
// column added later changes no old row's bytes.
func Encode(b []byte, r Record) []byte {
	b = Field(b, string(r.Array()))
	for _, c := range tables[r.Array()].columns {
		if p := c.at(r); !empty(p) {
			b = encodeValue(Field(b, c.name), p)
		}
	}
	return binary.BigEndian.AppendUint32(b, 0) // no column has an empty name: this is the end of the row
}

// Field appends one text with its length in front: what Encode is made of.
func Field(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func encodeValue(b []byte, p any) []byte {
	switch p := p.(type) {
	case *string:
		return Field(b, *p)
	case *[]string:
		b = binary.BigEndian.AppendUint32(b, uint32(len(*p)))
		for _, s := range *p {
			b = Field(b, s)
		}
		return b
	}
	return Field(b, text(p))
}

// empty reports whether a column holds nothing. False and an empty list hold nothing either, but nil and false of trusted
// are different things, and so is an amount of 0.
func empty(p any) bool {
	switch p := p.(type) {
	case *string:
		return *p == ""
	case *bool:
		return !*p
	case **bool:
		return *p == nil
	case *countersign.When:
		return p.IsZero()
	case *[]string:
		return len(*p) == 0
	}
	return false
}

// text spells a single value.
func text(p any) string {
	switch p := p.(type) {
	case *string:
		return *p
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *bool:
		return strconv.FormatBool(*p)
	case **bool:
		if *p != nil {
			return strconv.FormatBool(**p)
		}
	case *countersign.When:
		return p.String()
	}
	return ""
}

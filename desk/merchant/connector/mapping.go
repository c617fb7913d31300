package connector

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Mapping says where a shop's database is and what its tables mean. Its JSON form is what `mapping apply` reads, the wizard
// writes and the store keeps. Decoding it with encoding/json is lenient, for a mapping that is still being written;
// ParseMapping is for one that is meant to be used.
type Mapping struct {
	Name     string          `json:"name"`
	Driver   string          `json:"driver"`
	DSN      DSN             `json:"dsn,omitempty"`
	Zone     string          `json:"zone,omitempty"`     // of times that name none: an IANA name, an offset, unix or unix_ms
	Currency string          `json:"currency,omitempty"` // ISO 4217, where no column says it
	Unit     string          `json:"unit,omitempty"`     // of amounts: major or minor
	Entities map[Kind]Entity `json:"entities"`
}

// The units that an amount may be in: 49.90 or 4990.
const (
	Major = "major"
	Minor = "minor"
)

// NegativeIsRefund is the one sign a mapping may name: rows with an amount below zero are refunds and rows above it are not.
const NegativeIsRefund = "negative_is_refund"

// Entity says where one kind of record is. Unit, Currency and Zone go before the mapping's own; a column for the currency goes
// before both.
type Entity struct {
	Schema   string              `json:"schema,omitempty"`
	Table    string              `json:"table"`
	Key      string              `json:"key,omitempty"`       // of an order: the column that other tables mean by it
	OrderKey string              `json:"order_key,omitempty"` // of the others: the column that holds the order's key
	Join     Joins               `json:"join,omitempty"`      // the way to the order, where OrderKey is not in the table itself
	Where    Conditions          `json:"where,omitempty"`     // which rows count at all
	Columns  map[string]string   `json:"columns"`             // what we call it → the column, or table.column of a joined table
	States   map[string][]string `json:"states,omitempty"`    // what we call it → the statuses that mean it
	Unit     string              `json:"unit,omitempty"`
	Currency string              `json:"currency,omitempty"`
	Zone     string              `json:"zone,omitempty"`
	Sign     string              `json:"sign,omitempty"`
}

// Joins are the tables between a row and its order, in the order in which they are passed. In JSON one of them may stand without
// the list around it. The last holds the column with the order's key.
type Joins []Join

// Join is one of them.
type Join struct {
	Schema   string `json:"schema,omitempty"`
	Table    string `json:"table"`
	On       On     `json:"on"`
	OrderKey string `json:"order_key,omitempty"`
}

// On says which column of the table before equals which of the joined one. In JSON it is the name that both have, "left = right",
// or {"left": …, "right": …}, which any name fits into. A name may be written with its table before it.
type On struct{ Left, Right string }

// Conditions must all hold. In JSON one of them may stand without the list around it.
type Conditions []Condition

// Condition keeps the rows whose column is empty, is not, or holds exactly this text. One of the three is set.
type Condition struct {
	Column  string  `json:"column"`
	IsNull  bool    `json:"is_null,omitempty"`
	NotNull bool    `json:"not_null,omitempty"`
	Equals  *string `json:"equals,omitempty"`
}

// WithoutDSN is the mapping without what is secret in it.
func (m Mapping) WithoutDSN() Mapping { m.DSN = ""; return m }

// A form is what a mapping may say of a kind of record.
type form struct {
	columns []string // in the order in which people are asked
	needed  []string
	states  []string
}

var forms = map[Kind]form{
	Order:       {columns: strings.Fields("number customer email placed_at status total currency shipping_address")},
	Payment:     {strings.Fields("id amount status paid_at reference currency"), strings.Fields("id amount"), strings.Fields("paid pending failed")},
	Fulfillment: {strings.Fields("id status carrier tracking shipped_at delivered_at"), strings.Fields("id"), strings.Fields("delivered in_transit not_shipped")},
	Refund:      {strings.Fields("id amount status refunded_at reference currency"), strings.Fields("id amount"), strings.Fields("returned in_progress not_returned")},
	Return:      {strings.Fields("id status opened_at reason"), strings.Fields("id"), strings.Fields("open closed")},
}

// Columns are the names under which a mapping may name a column of that kind of record.
func (k Kind) Columns() []string { return append([]string(nil), forms[k].columns...) }

// States are the names of the lists into which the statuses of that kind of record are sorted; an order has none.
func (k Kind) States() []string { return append([]string(nil), forms[k].states...) }

// amount is the column of a kind that holds money, empty if it has none.
func (k Kind) amount() string {
	switch k {
	case Order:
		return "total"
	case Payment, Refund:
		return "amount"
	}
	return ""
}

// unit, currency and zone are those of an entity, from itself or from the mapping.
func (m Mapping) unit(e Entity) string     { return first(e.Unit, m.Unit) }
func (m Mapping) currency(e Entity) string { return first(e.Currency, m.Currency) }
func (m Mapping) zone(e Entity) string     { return first(e.Zone, m.Zone) }

func first(own, general string) string {
	if own != "" {
		return own
	}
	return general
}

// MarshalJSON writes one join without a list around it, as people do.
func (j Joins) MarshalJSON() ([]byte, error) { return oneOrList(j) }

// UnmarshalJSON reads one join or a list of them.
func (j *Joins) UnmarshalJSON(b []byte) error { return listOrOne(b, (*[]Join)(j)) }

// MarshalJSON writes one condition without a list around it, as people do.
func (c Conditions) MarshalJSON() ([]byte, error) { return oneOrList(c) }

// UnmarshalJSON reads one condition or a list of them.
func (c *Conditions) UnmarshalJSON(b []byte) error { return listOrOne(b, (*[]Condition)(c)) }

func oneOrList[T any](list []T) ([]byte, error) {
	if len(list) == 1 {
		return json.Marshal(list[0])
	}
	return json.Marshal(list)
}

func listOrOne[T any](b []byte, list *[]T) error {
	if strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
		return json.Unmarshal(b, list)
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*list = []T{one}
	return nil
}

// plainName is a name that can stand in the short form of On.
var plainName = regexp.MustCompile(`^[^\s="]+$`)

// MarshalJSON writes the shortest form that reads as the same.
func (o On) MarshalJSON() ([]byte, error) {
	switch {
	case !plainName.MatchString(o.Left) || !plainName.MatchString(o.Right):
		return json.Marshal(map[string]string{"left": o.Left, "right": o.Right})
	case o.Left == o.Right:
		return json.Marshal(o.Left)
	}
	return json.Marshal(o.Left + " = " + o.Right)
}

// UnmarshalJSON reads all three forms.
func (o *On) UnmarshalJSON(b []byte) error {
	var short string
	if json.Unmarshal(b, &short) == nil {
		*o = onOf(short)
		return nil
	}
	var long struct{ Left, Right string }
	err := json.Unmarshal(b, &long)
	*o = On(long)
	return err
}

// onOf reads "column" and "left = right".
func onOf(short string) On {
	left, right, two := strings.Cut(short, "=")
	if !two {
		right = left
	}
	return On{strings.TrimSpace(left), strings.TrimSpace(right)}
}

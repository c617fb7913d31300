package records

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign"
)

// What a row may hold. Ids are opaque, so quotes and slashes are data; a control character in one would only ever be a
// mistake or an attack. The amount ends where a reader of JSON numbers begins to lose digits, which also keeps any sum of
// a thousand rows inside an int64.
const (
	maxID     = 200
	maxName   = 400
	maxMemo   = 4000
	maxFlags  = 100
	MaxAmount = 1<<53 - 1
)

var (
	transactionKinds    = []TransactionKind{Transfer, Card, ATM, Bill, Fee, Other}
	transactionStatuses = []TransactionStatus{Posted, Pending, Failed, Reversed}
	directions          = []countersign.Direction{countersign.Debit, countersign.Credit}
	entryKinds          = []EntryKind{Original, ReversalEntry, RefundEntry, FeeEntry, Adjustment}
	settlementStatuses  = []SettlementStatus{Settled, SettlementFailed, Returned, SettlementPending, TimedOut, UnknownStatus}
)

func (c *Customer) Validate() []Problem {
	v := checks{array: Customers}
	v.id("id", c.ID)
	v.name("name", c.Name)
	v.text("email", c.Email, maxName)
	v.text("phone", c.Phone, maxName)
	v.text("home_city", c.HomeCity, maxName)
	v.text("home_country", c.HomeCountry, maxName)
	v.flags("flags", c.Flags)
	return v.found
}

func (a *Account) Validate() []Problem {
	v := checks{array: Accounts}
	v.id("id", a.ID)
	v.customersOwn("id", a.ID)
	v.id("customer_id", a.CustomerID)
	v.id("number", a.Number)
	v.currency("currency", a.Currency)
	v.text("kind", a.Kind, maxName)
	v.text("status", a.Status, maxName)
	return v.found
}

func (m *Merchant) Validate() []Problem {
	v := checks{array: Merchants}
	v.id("id", m.ID)
	v.name("name", m.Name)
	v.text("category", m.Category, maxName)
	v.text("country", m.Country, maxName)
	return v.found
}

func (d *Device) Validate() []Problem {
	v := checks{array: Devices}
	v.id("id", d.ID)
	v.id("customer_id", d.CustomerID)
	v.text("label", d.Label, maxName)
	v.text("city", d.City, maxName)
	v.text("country", d.Country, maxName)
	return v.found
}

func (t *Transaction) Validate() []Problem {
	v := checks{array: Transactions}
	v.id("id", t.ID)
	v.id("account_id", t.AccountID)
	v.customersOwn("account_id", t.AccountID)
	oneOf(&v, "kind", t.Kind, transactionKinds)
	oneOf(&v, "direction", t.Direction, directions)
	v.amount("amount_minor", t.AmountMinor)
	v.currency("currency", t.Currency)
	oneOf(&v, "status", t.Status, transactionStatuses)
	v.when("occurred_at", t.OccurredAt)
	v.optionalID("merchant_id", t.MerchantID)
	v.text("counterparty_name", t.CounterpartyName, maxName)
	v.optionalID("counterparty_account", t.CounterpartyAccount)
	v.text("reference", t.Reference, maxName)
	v.optionalID("end_to_end_id", t.EndToEndID)
	v.text("channel", t.Channel, maxName)
	v.optionalID("device_id", t.DeviceID)
	v.text("city", t.City, maxName)
	v.text("country", t.Country, maxName)
	v.text("memo", t.Memo, maxMemo)
	return v.found
}

func (e *LedgerEntry) Validate() []Problem {
	v := checks{array: LedgerEntries}
	v.id("id", e.ID)
	v.id("transaction_id", e.TransactionID)
	v.id("account_id", e.AccountID)
	oneOf(&v, "direction", e.Direction, directions)
	v.amount("amount_minor", e.AmountMinor)
	v.currency("currency", e.Currency)
	oneOf(&v, "kind", e.Kind, entryKinds)
	v.when("posted_at", e.PostedAt)
	v.text("memo", e.Memo, maxMemo)
	return v.found
}

func (s *Settlement) Validate() []Problem {
	v := checks{array: Settlements}
	v.id("transaction_id", s.TransactionID)
	oneOf(&v, "status", s.Status, settlementStatuses)
	v.when("updated_at", s.UpdatedAt)
	v.text("rail", s.Rail, maxName)
	v.text("reference", s.Reference, maxName)
	v.text("failure_reason", s.FailureReason, maxMemo)
	return v.found
}

// checks collects what is wrong with one row.
type checks struct {
	array Array
	found []Problem
}

func (v *checks) add(field, value, want string) {
	v.found = append(v.found, Problem{Array: v.array, Field: field, Value: value, Want: want})
}

func (v *checks) id(field, s string) {
	if s == "" {
		v.add(field, `""`, "text that is not empty")
		return
	}
	v.optionalID(field, s)
}

func (v *checks) optionalID(field, s string) {
	if !v.encoded(field, s) || plain(s) && len(s) <= maxID {
		return
	}
	switch {
	case len(s) > maxID:
		v.add(field, shownIn(field, s), fmt.Sprintf("at most %d bytes", maxID))
	case strings.ContainsFunc(s, unicode.IsControl):
		v.add(field, shownIn(field, s), "text without control characters")
	case strings.TrimSpace(s) != s:
		v.add(field, shownIn(field, s), "text without spaces at its ends")
	}
}

// plain answers the usual case in one pass: printable ASCII with no space anywhere.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// customersOwn keeps the names of the bank's internal accounts out of customers' hands: a fix is posted against them.
func (v *checks) customersOwn(field, id string) {
	if strings.HasPrefix(id, countersign.SuspenseAccount("")) {
		v.add(field, shown(id), `a customer's account: ids that begin with "suspense:" are the bank's own`)
	}
}

func (v *checks) name(field, s string) {
	if strings.TrimSpace(s) == "" {
		v.add(field, shown(s), "text that is not blank")
		return
	}
	v.text(field, s, maxName)
}

// text is words that somebody wrote: line breaks and tabs are part of them, other control characters are not.
func (v *checks) text(field, s string, most int) {
	switch {
	case plain(s) && len(s) <= most || !v.encoded(field, s):
	case len(s) > most:
		v.add(field, shownIn(field, s), fmt.Sprintf("at most %d bytes", most))
	case strings.ContainsFunc(s, unprintable):
		v.add(field, shownIn(field, s), "text without control characters")
	}
}

func unprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// encoded refuses what a database would refuse later, or worse, would store as something else.
func (v *checks) encoded(field, s string) bool {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		v.add(field, shownIn(field, s), "text without NUL bytes")
	case !utf8.ValidString(s):
		v.add(field, shownIn(field, s), "valid UTF-8")
	default:
		return true
	}
	return false
}

func (v *checks) flags(field string, list []string) {
	if len(list) > maxFlags {
		v.add(field, fmt.Sprintf("a list of more than %d", maxFlags), fmt.Sprintf("at most %d flags", maxFlags))
	}
	for i, s := range list {
		if i < maxFlags {
			v.id(field+"["+strconv.Itoa(i)+"]", s)
		}
	}
}

func (v *checks) currency(field, code string) {
	if countersign.KnownCurrency(code) {
		return
	}
	want := "an ISO 4217 currency in capitals, such as NGN"
	if upper := strings.ToUpper(code); countersign.KnownCurrency(upper) {
		want += ": did you mean " + upper + "?"
	}
	v.add(field, shown(code), want)
}

const wantAmount = "a whole number of minor units from 1 to 9007199254740991, without quotes, point or exponent"

func (v *checks) amount(field string, n int64) {
	if n < 1 || n > MaxAmount {
		v.add(field, strconv.FormatInt(n, 10), wantAmount)
	}
}

const wantWhen = "a time with a zone (2026-11-28T09:14:00Z) or a date (2026-11-28) between the years 1900 and 2200"

func (v *checks) when(field string, w countersign.When) {
	if w.IsZero() {
		v.add(field, `""`, wantWhen)
	}
}

func oneOf[T ~string](v *checks, field string, got T, allowed []T) {
	if slices.Contains(allowed, got) {
		return
	}
	v.add(field, shown(string(got)), "one of "+joined(allowed))
}

func joined[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

package store

import (
	"countersign"
	"countersign/desk/bank/records"
)

// The seven kinds of record row. The first column is the key.
var (
	customers = table[records.Customer]{"customers", "customer",
		[]string{"id", "name", "email", "phone", "home_city", "home_country", "joined_at", "flags"},
		func(c *records.Customer) []any {
			return []any{&c.ID, &c.Name, &c.Email, &c.Phone, &c.HomeCity, &c.HomeCountry, &c.JoinedAt, &c.Flags}
		}}
	accounts = table[records.Account]{"accounts", "account",
		[]string{"id", "customer_id", "number", "currency", "kind", "status"},
		func(a *records.Account) []any {
			return []any{&a.ID, &a.CustomerID, &a.Number, &a.Currency, &a.Kind, &a.Status}
		}}
	merchants = table[records.Merchant]{"merchants", "merchant",
		[]string{"id", "name", "category", "country", "flagged"},
		func(m *records.Merchant) []any {
			return []any{&m.ID, &m.Name, &m.Category, &m.Country, &m.Flagged}
		}}
	devices = table[records.Device]{"devices", "device",
		[]string{"id", "customer_id", "label", "first_seen_at", "last_seen_at", "city", "country", "trusted"},
		func(d *records.Device) []any {
			return []any{&d.ID, &d.CustomerID, &d.Label, &d.FirstSeenAt, &d.LastSeenAt, &d.City, &d.Country, &d.Trusted}
		}}
	transactions = table[records.Transaction]{"transactions", "transaction",
		[]string{"id", "account_id", "kind", "direction", "amount_minor", "currency", "status", "occurred_at", "posted_at", "merchant_id",
			"counterparty_name", "counterparty_account", "reference", "end_to_end_id", "channel", "device_id", "city", "country", "memo"},
		func(t *records.Transaction) []any {
			return []any{&t.ID, &t.AccountID, &t.Kind, &t.Direction, &t.AmountMinor, &t.Currency, &t.Status, &t.OccurredAt, &t.PostedAt,
				&t.MerchantID, &t.CounterpartyName, &t.CounterpartyAccount, &t.Reference, &t.EndToEndID, &t.Channel, &t.DeviceID, &t.City,
				&t.Country, &t.Memo}
		}}
	entries = table[records.LedgerEntry]{"ledger_entries", "ledger entry",
		[]string{"id", "transaction_id", "account_id", "direction", "amount_minor", "currency", "kind", "posted_at", "memo"},
		func(e *records.LedgerEntry) []any {
			return []any{&e.ID, &e.TransactionID, &e.AccountID, &e.Direction, &e.AmountMinor, &e.Currency, &e.Kind, &e.PostedAt, &e.Memo}
		}}
	settlements = table[records.Settlement]{"settlements", "settlement",
		[]string{"transaction_id", "status", "final", "updated_at", "rail", "reference", "failure_reason"},
		func(s *records.Settlement) []any {
			return []any{&s.TransactionID, &s.Status, &s.Final, &s.UpdatedAt, &s.Rail, &s.Reference, &s.FailureReason}
		}}
)

// scans makes scan targets of fields: a When reads its text, a list its JSON.
func scans(fields []any) []any {
	for i, f := range fields {
		switch f := f.(type) {
		case *countersign.When:
			fields[i] = scanText{f}
		case *[]string:
			fields[i] = asJSON{f}
		}
	}
	return fields
}

// args makes query arguments of the same fields.
func args(fields []any) []any {
	for i, f := range fields {
		switch f := f.(type) {
		case *countersign.When:
			fields[i] = f.String()
		case *[]string:
			fields[i] = asJSON{f}
		case *string:
			fields[i] = *f
		case *int64:
			fields[i] = *f
		case *bool:
			fields[i] = *f
		case **bool:
			fields[i] = optionalBool(*f)
		case *countersign.Direction:
			fields[i] = string(*f)
		case *records.TransactionKind:
			fields[i] = string(*f)
		case *records.TransactionStatus:
			fields[i] = string(*f)
		case *records.EntryKind:
			fields[i] = string(*f)
		case *records.SettlementStatus:
			fields[i] = string(*f)
		}
	}
	return fields
}

func optionalBool(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"countersign"
	"countersign/desk/bank/records"
)

// Seen is a SHA-256, in hexadecimal, over everything in the book that Judge reads. A fix is applied only while the book
// still has the same one.
//
// What no rule reads is left out on purpose: that a customer logged in again, renamed a phone or bought something else the
// next day must not send a justified fix back to a person. Rows of the disputed transaction, its copies, their ledger entries
// and the settlement go in whole. The order in which rows were read does not matter.
func Seen(b records.Book) string {
	s := seen{records.Field(nil, "countersign/bank/seen/1")}
	s.rows("transaction", &b.Transaction)
	s.rows("account", &records.Account{ID: b.Account.ID, CustomerID: b.Account.CustomerID, Number: b.Account.Number, Currency: b.Account.Currency, Status: b.Account.Status})
	s.rows("customer", &records.Customer{ID: b.Customer.ID, HomeCity: b.Customer.HomeCity, HomeCountry: b.Customer.HomeCountry, Flags: b.Customer.Flags})
	s.rows("merchant", merchantRead(b)...)
	s.rows("device", deviceRead(b.Device)...)
	s.rows("devices", devicesRead(b)...)
	s.rows("settlement", settlementRead(b)...)
	s.rows("entries", entriesRead(b.Entries)...)
	copies := bearing(b)
	s.rows("copies", transactionsRead(copies)...)
	s.rows("copies' entries", entriesRead(entriesOf(b, copies))...)
	s.rows("recent", recentRead(b)...)
	s.rows("same end-to-end id", transactionsRead(b.SameEndToEnd)...)
	fixed := slices.Clone(b.Fixed)
	slices.Sort(fixed)
	s.texts("fixed", fixed)
	sum := sha256.Sum256(s.bytes)
	return hex.EncodeToString(sum[:])
}

// seen collects the bytes that are hashed: each part under its name, with its rows sorted and their number in front, so that
// no row can be taken for one of another part.
type seen struct{ bytes []byte }

func (s *seen) rows(part string, list ...records.Record) {
	encoded := make([][]byte, len(list))
	for i, r := range list {
		encoded[i] = records.Encode(nil, r)
	}
	slices.SortFunc(encoded, bytes.Compare)
	texts := make([]string, len(encoded))
	for i, b := range encoded {
		texts[i] = string(b)
	}
	s.texts(part, texts)
}

func (s *seen) texts(part string, list []string) {
	s.bytes = records.Field(s.bytes, part)
	s.bytes = append(s.bytes, byte(len(list)>>24), byte(len(list)>>16), byte(len(list)>>8), byte(len(list)))
	for _, text := range list {
		s.bytes = records.Field(s.bytes, text)
	}
}

func merchantRead(b records.Book) (out []records.Record) {
	if m := b.Merchant; m != nil {
		out = append(out, &records.Merchant{ID: m.ID, Flagged: m.Flagged})
	}
	return out
}

func deviceRead(list ...*records.Device) (out []records.Record) {
	for _, d := range list {
		if d != nil {
			out = append(out, &records.Device{ID: d.ID, CustomerID: d.CustomerID, FirstSeenAt: d.FirstSeenAt, City: d.City, Country: d.Country, Trusted: d.Trusted})
		}
	}
	return out
}

// devicesRead leaves out what could vouch for no city: a phone bought after the payment changes nothing.
func devicesRead(b records.Book) (out []records.Record) {
	for _, d := range b.Devices {
		if mayVouch(b, d) {
			out = append(out, deviceRead(&d)...)
		}
	}
	return out
}

func settlementRead(b records.Book) (out []records.Record) {
	if s := b.Settlement; s != nil {
		out = append(out, s)
	}
	return out
}

func entriesRead(list []records.LedgerEntry) (out []records.Record) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

func transactionsRead(list []records.Transaction) (out []records.Record) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// bearing returns the lookalikes less those too far away to be a copy, or to be the copy of one.
func bearing(b records.Book) []records.Transaction {
	return slices.DeleteFunc(lookalikes(b), func(t records.Transaction) bool {
		apart, ok := apart(b.Transaction, t)
		return ok && apart > 2*widest
	})
}

func entriesOf(b records.Book, list []records.Transaction) (out []records.LedgerEntry) {
	for _, t := range list {
		out = append(out, other(b, t).entries...)
	}
	return out
}

// recentRead keeps of the account's debits what is counted: which, and when.
func recentRead(b records.Book) (out []records.Record) {
	at, known := b.Transaction.OccurredAt.Instant()
	for _, t := range b.Recent {
		when, ok := t.OccurredAt.Instant()
		if t.Direction == countersign.Debit && (!ok || !known || when.Sub(at).Abs() <= rush) {
			out = append(out, &records.Transaction{ID: t.ID, OccurredAt: t.OccurredAt})
		}
	}
	return out
}

package rules

import (
	"testing"

	"countersign"
	"countersign/desk/bank/records"
)

// The two small books that every row of every table starts from. Each justifies its fix; a row changes one thing.

func when(s string) countersign.When {
	w, err := countersign.ParseWhen(s)
	if err != nil {
		panic(err)
	}
	return w
}

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

// at is a time on the day of the dispute.
func at(clock string) countersign.When { return when("2026-11-28T" + clock + "Z") }

func customerOf(b *records.Book) {
	b.Customer = records.Customer{ID: "C-1", Name: "Ada Obi", HomeCity: "Lagos", HomeCountry: "NG"}
	b.Account = records.Account{ID: "A-1", CustomerID: "C-1", Number: "0000014579", Currency: "NGN"}
	b.Devices = []records.Device{
		{ID: "D-1", CustomerID: "C-1", FirstSeenAt: when("2025-01-01T00:00:00Z"), City: "Lagos", Country: "NG", Trusted: yes()},
		{ID: "D-2", CustomerID: "C-1", FirstSeenAt: when("2025-06-01T00:00:00Z"), City: "Abuja", Country: "NG", Trusted: yes()},
	}
	b.Device = &b.Devices[0]
}

func debitOf(t records.Transaction, id string) records.LedgerEntry {
	return records.LedgerEntry{ID: id, TransactionID: t.ID, AccountID: t.AccountID, Direction: countersign.Debit,
		AmountMinor: t.AmountMinor, Currency: t.Currency, Kind: records.Original, PostedAt: t.OccurredAt}
}

// failedBook: a transfer of 24,500 naira that left the account and never arrived.
func failedBook() (b records.Book) {
	customerOf(&b)
	b.Transaction = records.Transaction{ID: "T-1", AccountID: "A-1", Kind: records.Transfer, Direction: countersign.Debit,
		AmountMinor: 2450000, Currency: "NGN", Status: records.Posted, OccurredAt: at("09:14:00"), CounterpartyAccount: "0000022222",
		EndToEndID: "E-1", DeviceID: "D-1", City: "Lagos", Country: "NG"}
	b.Settlement = &records.Settlement{TransactionID: "T-1", Status: records.SettlementFailed, Final: true, UpdatedAt: at("09:20:00")}
	b.Entries = []records.LedgerEntry{debitOf(b.Transaction, "L-1")}
	b.Recent = []records.Transaction{b.Transaction}
	return b
}

// duplicateBook: one purchase charged at 09:14 and again at 09:16; the customer disputes the first charge.
func duplicateBook() (b records.Book) {
	customerOf(&b)
	b.Transaction = records.Transaction{ID: "T-1", AccountID: "A-1", Kind: records.Card, Direction: countersign.Debit,
		AmountMinor: 500000, Currency: "NGN", Status: records.Posted, OccurredAt: at("09:14:00"), MerchantID: "M-1", Reference: "ORDER-7",
		EndToEndID: "E-1", DeviceID: "D-1", City: "Lagos", Country: "NG"}
	twin := b.Transaction
	twin.ID, twin.OccurredAt, twin.EndToEndID = "T-2", at("09:16:00"), "E-2"
	b.Merchant = &records.Merchant{ID: "M-1", Name: "Corner shop"}
	b.Settlement = &records.Settlement{TransactionID: "T-1", Status: records.Settled, Final: true, UpdatedAt: at("10:00:00")}
	b.Entries = []records.LedgerEntry{debitOf(b.Transaction, "L-1")}
	b.Like = []records.Transaction{twin}
	b.LikeEntries = []records.LedgerEntry{debitOf(twin, "L-2")}
	b.Recent = []records.Transaction{b.Transaction, twin}
	return b
}

// twiceBook: one transfer sent twice within a minute under one end-to-end id.
func twiceBook() records.Book {
	b := duplicateBook()
	b.Merchant = nil
	for _, t := range []*records.Transaction{&b.Transaction, &b.Like[0], &b.Recent[0], &b.Recent[1]} {
		t.Kind, t.MerchantID, t.Reference, t.CounterpartyAccount, t.EndToEndID = records.Transfer, "", "", "0000022222", "E-1"
	}
	b.SameEndToEnd = []records.Transaction{b.Like[0]}
	return b
}

// credit is money with the same end-to-end id.
func credit(account string, status records.TransactionStatus) records.Transaction {
	return records.Transaction{ID: "T-8", AccountID: account, Kind: records.Transfer, Direction: countersign.Credit, AmountMinor: 2450000,
		Currency: "NGN", Status: status, OccurredAt: at("09:15:00"), EndToEndID: "E-1"}
}

func entry(id, transaction, account string, direction countersign.Direction, minor int64, kind records.EntryKind) records.LedgerEntry {
	return records.LedgerEntry{ID: id, TransactionID: transaction, AccountID: account, Direction: direction, AmountMinor: minor, Currency: "NGN",
		Kind: kind, PostedAt: at("09:30:00")}
}

// third is one more copy of the charge in duplicateBook.
func third(b *records.Book, change func(*records.Transaction)) {
	t := b.Like[0]
	t.ID, t.OccurredAt, t.EndToEndID = "T-3", at("09:18:00"), "E-3"
	change(&t)
	b.Like = append(b.Like, t)
	b.LikeEntries = append(b.LikeEntries, debitOf(t, "L-3"))
}

// debits puts n more debits of other payees into the account, a minute apart from 09:14 on.
func debits(b *records.Book, n int) {
	for i := range n {
		t := records.Transaction{ID: "T-5" + string(rune('0'+i)), AccountID: "A-1", Direction: countersign.Debit, AmountMinor: 100, Currency: "NGN"}
		t.OccurredAt = at("09:" + string([]byte{'1', byte('4' + i)}) + ":00")
		b.Recent = append(b.Recent, t)
	}
}

// relevant lists the doubts that speak against proposals of a category, one line each.
func relevant(f countersign.Facts, category countersign.DisputeReason) (out []string) {
	for _, d := range f.Doubts {
		if d.Against == "" || d.Against == category {
			out = append(out, string(d.Reason.Code)+": "+d.Reason.Text)
		}
	}
	return out
}

func fixOf(t *testing.T, f countersign.Facts) string {
	t.Helper()
	if (f.Fix == nil) != (f.Supports == "") {
		t.Errorf("fix %v, supports %q", f.Fix, f.Supports)
	}
	if f.Fix == nil {
		return "none"
	}
	return string(f.Fix.Kind) + " of " + f.Fix.TransactionID + ", " + f.Fix.Amount.String() + " to " + f.Fix.AccountID
}

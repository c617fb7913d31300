package truth

import (
	"fmt"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// Story is what really happened to a payment, and so what is owed for it.
type Story string

const (
	FailedTransfer  Story = "failed transfer"  // the rail says so for good: it is to be reversed
	SettledTransfer Story = "settled transfer" // it arrived: nothing is owed, whoever says so
	DoubleCharge    Story = "double charge"    // the second of two equal charges is to be refunded
)

// Payment is a payment whose story is known, with books that prove it.
type Payment struct {
	Number int
	Story  Story
}

const amountMinor = 10_000_00

// ID is the transaction that a customer disputes: of a double charge the second.
func (p Payment) ID() string { return fmt.Sprintf("T%d", p.Number) }

func (p Payment) account() string { return fmt.Sprintf("A%d", p.Number) }

// Reason is what the customer says about it, rightly or not.
func (p Payment) Reason() countersign.DisputeReason {
	if p.Story == DoubleCharge {
		return countersign.DuplicateCharge
	}
	return countersign.FailedTransfer
}

// Owed is the fix that the books prove, nil if none.
func (p Payment) Owed() *countersign.Fix {
	amount := countersign.Money{Minor: amountMinor, Currency: "NGN"}
	switch p.Story {
	case FailedTransfer:
		return countersign.NewFix(countersign.Reversal, p.ID(), p.account(), amount)
	case DoubleCharge:
		return countersign.NewFix(countersign.Refund, p.ID(), p.account(), amount)
	}
	return nil
}

// books adds a customer with an account and a device of their own, and what happened to their money.
func (p Payment) books(s *records.Set) {
	n, yes := fmt.Sprint(p.Number), true
	s.Customers = append(s.Customers, records.Customer{ID: "C" + n, Name: "Ada Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}})
	s.Accounts = append(s.Accounts, records.Account{ID: p.account(), CustomerID: "C" + n, Number: fmt.Sprintf("%010d", p.Number), Currency: "NGN"})
	s.Devices = append(s.Devices, records.Device{ID: "V" + n, CustomerID: "C" + n, City: "Lagos", Country: "NG", Trusted: &yes,
		FirstSeenAt: countersign.At(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))})
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	if p.Story == DoubleCharge {
		p.charge(s, p.ID()+"a", at)
		p.charge(s, p.ID(), at.Add(2*time.Minute))
		return
	}
	p.book(s, records.Transaction{ID: p.ID(), Kind: records.Transfer, CounterpartyAccount: "0000000220", EndToEndID: "E" + n}, at)
	status := records.SettlementFailed
	if p.Story == SettledTransfer {
		status = records.Settled
	}
	s.Settlements = append(s.Settlements, records.Settlement{TransactionID: p.ID(), Status: status, Final: true, UpdatedAt: countersign.At(at)})
}

func (p Payment) charge(s *records.Set, id string, at time.Time) {
	n := fmt.Sprint(p.Number)
	p.book(s, records.Transaction{ID: id, Kind: records.Card, MerchantID: "M", Reference: "R" + n, EndToEndID: "E" + n}, at)
	s.Settlements = append(s.Settlements, records.Settlement{TransactionID: id, Status: records.Settled, Final: true, UpdatedAt: countersign.At(at)})
}

// book adds a posted debit and its entry.
func (p Payment) book(s *records.Set, t records.Transaction, at time.Time) {
	t.AccountID, t.Direction, t.AmountMinor, t.Currency, t.Status = p.account(), countersign.Debit, amountMinor, "NGN", records.Posted
	t.OccurredAt, t.PostedAt, t.DeviceID, t.City, t.Country = countersign.At(at), countersign.At(at), fmt.Sprintf("V%d", p.Number), "Lagos", "NG"
	s.Transactions = append(s.Transactions, t)
	s.LedgerEntries = append(s.LedgerEntries, records.LedgerEntry{ID: "L" + t.ID, TransactionID: t.ID, AccountID: t.AccountID, Direction: t.Direction,
		AmountMinor: t.AmountMinor, Currency: t.Currency, Kind: records.Original, PostedAt: t.PostedAt})
}

// Books are the books that tell these stories.
func Books(payments []Payment) records.Set {
	var s records.Set
	s.Merchants = append(s.Merchants, records.Merchant{ID: "M", Name: "Mart", Country: "NG"})
	for _, p := range payments {
		p.books(&s)
	}
	return s
}

// Held is what the accounts hold by these books alone: for Expected.Before.
func Held(s records.Set) map[string]int64 {
	held := map[string]int64{}
	for _, e := range s.LedgerEntries {
		held[e.AccountID] += signed(string(e.Direction), e.AmountMinor)
		held[countersign.SuspenseAccount(e.Currency)] += 0
	}
	return held
}

// Rows are the ids of all rows of the books: for Expected.Imported.
func Rows(s records.Set) map[records.Array][]string {
	ids := map[records.Array][]string{}
	for row := range s.Rows() {
		array := row.Record.Array()
		ids[array] = append(ids[array], row.Record.Key())
	}
	return ids
}

// Package demo is an invented Nigerian bank with its customers, their payments and what they complain about, so that the
// program can be tried with no data, no key and no network.
//
// It is the same bank every time: everything in it follows from one seed, and every date is counted back from one instant
// that the caller gives. Its people, merchants, account numbers and bank code are made up. Its disputes are not a sample of
// what a real bank sees: they are chosen so that every outcome and every reason for a person appears, and say nothing
// about how often.
package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// Bank is the whole bank as an import: about forty customers, their accounts, devices and some two months of payments up to
// now, and the payments that Disputes complain about. The same now gives the same rows in the same order.
func Bank(now time.Time) records.Set {
	b := &books{now: now.UTC().Truncate(time.Minute)}
	b.set.Merchants = merchants()
	for i := range people {
		b.join(i)
	}
	for i := range people {
		b.live(i)
	}
	for i, s := range stories {
		b.tell(i, s)
	}
	return b.set
}

// books are the bank's books while they are made up.
type books struct {
	now time.Time
	set records.Set
	n   int // ordinary transactions so far
}

// before is the moment that long before now.
func (b *books) before(d time.Duration) time.Time { return b.now.Add(-d) }

// dice are one customer's own, so that a story more for one customer changes nothing about the others.
func dice(i int) *rand.Rand { return rand.New(rand.NewPCG(20261130, uint64(i))) }

const day = 24 * time.Hour

// payment is a transaction with everything that the books hold about it.
type payment struct {
	t          records.Transaction
	settlement records.Settlement // no row when its status is empty
	unposted   bool               // no ledger entry
}

// book writes a payment into the books: the transaction, the ledger entry of the customer's account and the rail's word. The
// history is one-sided, as an import from a core system usually is.
func (b *books) book(p payment) {
	at, _ := p.t.OccurredAt.Instant()
	if p.t.Status == "" {
		p.t.Status = records.Posted
	}
	if p.t.Status == records.Posted && p.t.PostedAt.IsZero() {
		p.t.PostedAt = countersign.At(at.Add(2 * time.Second))
	}
	b.set.Transactions = append(b.set.Transactions, p.t)
	if !p.unposted {
		b.enter(p.t, "1", p.t.Direction, p.t.AmountMinor, records.Original, at.Add(2*time.Second))
	}
	if p.settlement.Status != "" {
		p.settlement.TransactionID = p.t.ID
		if p.settlement.UpdatedAt.IsZero() {
			p.settlement.UpdatedAt = countersign.At(at.Add(90 * time.Second))
		}
		b.set.Settlements = append(b.set.Settlements, p.settlement)
	}
}

// enter posts one ledger entry of a transaction.
func (b *books) enter(t records.Transaction, n string, direction countersign.Direction, minor int64, kind records.EntryKind, at time.Time) {
	b.set.LedgerEntries = append(b.set.LedgerEntries, entry(t.ID, t.AccountID, n, direction, minor, t.Currency, kind, at))
}

func entry(transactionID, accountID, n string, direction countersign.Direction, minor int64, currency string, kind records.EntryKind, at time.Time) records.LedgerEntry {
	return records.LedgerEntry{
		ID: fmt.Sprintf("LE-%s-%s", transactionID, n), TransactionID: transactionID, AccountID: accountID, Direction: direction,
		AmountMinor: minor, Currency: currency, Kind: kind, PostedAt: countersign.At(at),
	}
}

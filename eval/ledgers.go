package eval

import (
	"fmt"
	"math/rand/v2"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// ledger is one generated customer with one disputed transaction, and the automatic fix that the ledger justifies by the way
// it was built. Nothing here asks the program's rules: a rule and a generator that shared a mistake would agree.
type ledger struct {
	records.Set
	id       string   // six digits that are in every id of the ledger
	shape    string   // what it was before anything was done to it
	flaws    []string // what was done to it
	disputed string
	category countersign.DisputeReason
	notes    string           // what the customer wrote
	want     *countersign.Fix // nil when nothing may be posted without a person
}

// flaw is one thing that can be wrong with a ledger. A harmless one leaves the fix justified.
type flaw struct {
	name     string
	harmless bool
	do       func(*ledger)
}

// shape is a sound ledger, and the flaws that only such a one can have.
type shape struct {
	name  string
	build func(id string, disputed int) ledger
	flaws []flaw
}

var shapes = []shape{
	{"failed transfer", func(id string, _ int) ledger { return aTransfer(id) }, transferFlaws},
	{"duplicate charge", aDuplicate, duplicateFlaws},
}

// noon is when everything generated happens.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// generate builds the i-th ledger of a seed under an id. The first ones are a roll call: every flaw alone, on every shape
// that can have it, so that none is left to chance. After them come a failed transfer or a duplicate charge with at most one
// flaw of its shape and one that any payment may have. Two of one shape could make a sound ledger of another, such as two
// copies at the wrong merchant.
func generate(seed uint64, i int, id string) ledger {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	if i < len(rollCall) {
		l := rollCall[i].shape.build(id, r.IntN(2))
		l.suffer(rollCall[i].flaw)
		return l
	}
	s := shapes[r.IntN(len(shapes))]
	l := s.build(id, r.IntN(2))
	for _, flaws := range [][]flaw{s.flaws, commonFlaws} {
		if r.IntN(3) == 0 {
			l.suffer(flaws[r.IntN(len(flaws))])
		}
	}
	return l
}

// rollCall is every flaw on every shape that can have it.
var rollCall = func() (all []struct {
	shape shape
	flaw  flaw
}) {
	for _, s := range shapes {
		for _, flaws := range [][]flaw{s.flaws, commonFlaws} {
			for _, f := range flaws {
				all = append(all, struct {
					shape shape
					flaw  flaw
				}{s, f})
			}
		}
	}
	return all
}()

func (l *ledger) suffer(f flaw) {
	l.flaws = append(l.flaws, f.name)
	f.do(l)
	if !f.harmless {
		l.want = nil
	}
}

func person(id string) ledger {
	yes := true
	return ledger{id: id, Set: records.Set{
		Customers: []records.Customer{{ID: "C" + id, Name: "Ada Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}}},
		Accounts:  []records.Account{{ID: "A" + id, CustomerID: "C" + id, Number: "0690" + id, Currency: "NGN"}},
		Devices: []records.Device{{ID: "V" + id, CustomerID: "C" + id, City: "Lagos", Country: "NG", Trusted: &yes,
			FirstSeenAt: countersign.At(noon.AddDate(-1, 0, 0))}},
	}}
}

func debit(id, owner string, kind records.TransactionKind, at time.Time) records.Transaction {
	return records.Transaction{ID: id, AccountID: "A" + owner, Kind: kind, Direction: countersign.Debit, AmountMinor: 10_000_00, Currency: "NGN",
		Status: records.Posted, OccurredAt: countersign.At(at), PostedAt: countersign.At(at), DeviceID: "V" + owner, City: "Lagos", Country: "NG"}
}

// aTransfer was debited, and the rail says for good that it failed.
func aTransfer(id string) ledger {
	l := person(id)
	t := debit("T"+id, id, records.Transfer, noon)
	t.CounterpartyAccount, t.CounterpartyName, t.EndToEndID, t.Reference = "0690000220", "A. Friend", "E"+id, "rent"
	l.add(t)
	l.Settlements = []records.Settlement{{TransactionID: t.ID, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon)}}
	l.shape, l.disputed, l.category = "failed transfer", t.ID, countersign.FailedTransfer
	l.want = countersign.NewFix(countersign.Reversal, t.ID, t.AccountID, t.Amount())
	return l
}

// aDuplicate is one purchase that was charged twice, four minutes apart. Disputed says which copy the customer names; the
// later one is refunded either way.
func aDuplicate(id string, disputed int) ledger {
	l := person(id)
	l.Merchants = []records.Merchant{{ID: "M" + id, Name: "Mama Put Kitchen", Category: "food", Country: "NG"}}
	for n, at := range []time.Time{noon, noon.Add(4 * time.Minute)} {
		t := debit(fmt.Sprintf("T%s-%d", id, n), id, records.Card, at)
		t.MerchantID, t.Reference = "M"+id, "order "+id
		l.add(t)
		l.Settlements = append(l.Settlements, records.Settlement{TransactionID: t.ID, Status: records.Settled, Final: true, UpdatedAt: countersign.At(at)})
	}
	later := l.transaction(1)
	l.shape, l.disputed, l.category = "duplicate charge", l.transaction(disputed).ID, countersign.DuplicateCharge
	l.want = countersign.NewFix(countersign.Refund, later.ID, later.AccountID, later.Amount())
	return l
}

func (l *ledger) transaction(i int) *records.Transaction { return &l.Transactions[i] }

// at is the place of the disputed transaction.
func (l *ledger) at() int {
	for i, t := range l.Transactions {
		if t.ID == l.disputed {
			return i
		}
	}
	panic("no disputed transaction") // unreachable: every shape has one and no flaw takes it away
}

func (l *ledger) add(t records.Transaction) {
	l.Transactions = append(l.Transactions, t)
	l.LedgerEntries = append(l.LedgerEntries, records.LedgerEntry{ID: "L-" + t.ID, TransactionID: t.ID, AccountID: t.AccountID,
		Direction: t.Direction, AmountMinor: t.AmountMinor, Currency: t.Currency, Kind: records.Original, PostedAt: t.PostedAt})
}

// credit posts a correction on the i-th transaction.
func (l *ledger) credit(i int, kind records.EntryKind, minor int64) {
	t := l.transaction(i)
	l.LedgerEntries = append(l.LedgerEntries, records.LedgerEntry{ID: fmt.Sprintf("K%d-%s", len(l.LedgerEntries), t.ID), TransactionID: t.ID,
		AccountID: t.AccountID, Direction: countersign.Credit, AmountMinor: minor, Currency: t.Currency, Kind: kind, PostedAt: countersign.At(noon.Add(time.Hour))})
}

// resize gives the i-th transaction another amount, on the ledger too.
func (l *ledger) resize(i int, minor int64) {
	l.transaction(i).AmountMinor = minor
	for j := range l.LedgerEntries {
		if e := &l.LedgerEntries[j]; e.TransactionID == l.transaction(i).ID && e.Kind == records.Original {
			e.AmountMinor = minor
		}
	}
}

// resizeAll gives the disputed transaction, and its twin as long as it is one, another amount.
func (l *ledger) resizeAll(minor int64) {
	before := l.transaction(l.at()).AmountMinor
	for i := range l.Transactions {
		if l.Transactions[i].AmountMinor == before {
			l.resize(i, minor)
		}
	}
	if l.want != nil {
		l.want = countersign.NewFix(l.want.Kind, l.want.TransactionID, l.want.AccountID, countersign.Money{Minor: minor, Currency: l.want.Amount.Currency})
	}
}

// inDollars puts the i-th transaction into another currency than the account's, on the ledger too.
func (l *ledger) inDollars(i int) {
	l.transaction(i).Currency = "USD"
	for j := range l.LedgerEntries {
		if l.LedgerEntries[j].TransactionID == l.transaction(i).ID {
			l.LedgerEntries[j].Currency = "USD"
		}
	}
}

func (l *ledger) bareDates() {
	for i := range l.Transactions {
		l.Transactions[i].OccurredAt = day
	}
}

var day, _ = countersign.ParseWhen(noon.Format(time.DateOnly))

// join puts ledgers into one set, to be imported at once.
func join(ledgers []ledger) (all records.Set) {
	for _, l := range ledgers {
		all.Customers, all.Accounts, all.Devices = append(all.Customers, l.Customers...), append(all.Accounts, l.Accounts...), append(all.Devices, l.Devices...)
		all.Merchants, all.Transactions = append(all.Merchants, l.Merchants...), append(all.Transactions, l.Transactions...)
		all.LedgerEntries, all.Settlements = append(all.LedgerEntries, l.LedgerEntries...), append(all.Settlements, l.Settlements...)
	}
	return all
}

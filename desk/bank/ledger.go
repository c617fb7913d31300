package bank

import (
	"slices"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// mostEntries is how many ledger entries a result lists. The sums are over all of them.
const mostEntries = 40

// ledgerShown is the result of get_ledger_entries. The sums are over the customer's account and the transaction's currency.
type ledgerShown struct {
	Found            bool         `json:"found"`
	Currency         string       `json:"currency"`
	TakenMinor       int64        `json:"taken_minor"`      // original debits
	GivenBackMinor   int64        `json:"given_back_minor"` // every credit, whatever it is called
	Corrections      int          `json:"corrections"`      // reversals, refunds and adjustments, on whatever account
	OtherCurrency    bool         `json:"other_currency"`   // an entry is in another currency than the transaction
	FixedBefore      bool         `json:"fixed_before"`     // the disputes desk has already posted a correction
	CreditsEndToEnd  int          `json:"credits_with_same_end_to_end_id"`
	Entries          []entryShown `json:"entries"`
	EntriesNotListed int          `json:"entries_not_listed"`
}

// entryShown is one posting. Account is the customer's or another one, which is not named: it may be another customer's.
type entryShown struct {
	ID        string            `json:"id"`
	Account   string            `json:"account"` // customer or other
	Direction string            `json:"direction"`
	Kind      records.EntryKind `json:"kind"`
	amount
	PostedAt string      `json:"posted_at"`
	Memo     fence.Words `json:"memo"`
}

func ledgerResult(b records.Book) any {
	s := ledgerShown{
		Found: len(b.Entries) > 0, Currency: b.Transaction.Currency, FixedBefore: slices.Contains(b.Fixed, b.Transaction.ID),
		CreditsEndToEnd: creditsEndToEnd(b),
	}
	for _, e := range b.Entries {
		s.add(b, e)
	}
	listed, left := firstOf(b.Entries, mostEntries)
	s.EntriesNotListed = left
	s.Entries = each(listed, func(e records.LedgerEntry) entryShown { return shownEntry(b, e) })
	return s
}

func (s *ledgerShown) add(b records.Book, e records.LedgerEntry) {
	switch e.Kind {
	case records.ReversalEntry, records.RefundEntry, records.Adjustment:
		s.Corrections++
	}
	switch {
	case e.Currency != b.Transaction.Currency:
		s.OtherCurrency = true
	case e.AccountID != b.Account.ID:
	case e.Direction == countersign.Credit:
		s.GivenBackMinor += e.AmountMinor
	case e.Kind == records.Original:
		s.TakenMinor += e.AmountMinor
	}
}

func shownEntry(b records.Book, e records.LedgerEntry) entryShown {
	account := "other"
	if e.AccountID == b.Account.ID {
		account = "customer"
	}
	return entryShown{
		ID: e.ID, Account: account, Direction: string(e.Direction), Kind: e.Kind,
		amount:   shownAmount(countersign.Money{Minor: e.AmountMinor, Currency: e.Currency}),
		PostedAt: when(e.PostedAt), Memo: fence.Words(e.Memo),
	}
}

// creditsEndToEnd counts credits anywhere in the books that carry the payment's end-to-end id. They may be on another
// customer's account, so no more is told of them than that they exist: it is what shows that the money arrived.
func creditsEndToEnd(b records.Book) (n int) {
	for _, t := range b.SameEndToEnd {
		if t.Direction == countersign.Credit {
			n++
		}
	}
	return n
}

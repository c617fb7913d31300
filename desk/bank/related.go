package bank

import (
	"cmp"
	"math"
	"slices"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// How many transactions a result lists: the nearest in time, because those are what a copy or a burst would be.
const (
	mostCopies = 10
	mostDebits = 20
)

// relatedShown is the result of get_related_transactions. Everything in it is on the disputed transaction's account.
type relatedShown struct {
	Copies          []copyShown  `json:"possible_copies"` // same direction, amount, currency and merchant or counterparty account
	CopiesNotListed int          `json:"possible_copies_not_listed"`
	Debits          []debitShown `json:"debits_around"` // within about a day, the disputed one and its possible copies left out
	DebitsNotListed int          `json:"debits_around_not_listed"`
	EndToEnd        []legShown   `json:"same_end_to_end_id"` // the account's other transactions with the same end-to-end id
}

// legShown is another transaction that carries the same end-to-end id.
type legShown struct {
	ID        string                    `json:"id"`
	Direction string                    `json:"direction"`
	Status    records.TransactionStatus `json:"status"`
	amount
	OccurredAt string `json:"occurred_at"`
}

// copyShown is a transaction that could be a copy. Comparisons are with the disputed transaction; seconds are negative for
// an earlier one, and null when a time of day is not known.
type copyShown struct {
	ID     string                    `json:"id"`
	Kind   records.TransactionKind   `json:"kind"`
	Status records.TransactionStatus `json:"status"`
	amount
	OccurredAt     string      `json:"occurred_at"`
	SecondsApart   *int64      `json:"seconds_apart"`
	Order          string      `json:"order"` // earlier, later, same moment or unknown
	SameMerchant   answer      `json:"same_merchant"`
	SameReference  answer      `json:"same_reference"`
	SameEndToEndID answer      `json:"same_end_to_end_id"`
	Posted         bool        `json:"posted_in_full"` // an original debit of the full amount is on the ledger
	GivenBackMinor int64       `json:"given_back_minor"`
	FixedBefore    bool        `json:"fixed_before"`
	Reference      fence.Words `json:"reference"`
}

// debitShown is another debit around the same time.
type debitShown struct {
	ID     string                    `json:"id"`
	Kind   records.TransactionKind   `json:"kind"`
	Status records.TransactionStatus `json:"status"`
	amount
	OccurredAt   string      `json:"occurred_at"`
	SecondsApart *int64      `json:"seconds_apart"`
	Counterparty fence.Words `json:"counterparty_name"`
	City         any         `json:"city"`
}

func relatedResult(b records.Book) any {
	copies, copiesLeft := firstOf(nearest(b, b.Like), mostCopies)
	debits, debitsLeft := firstOf(nearest(b, otherDebits(b)), mostDebits)
	return relatedShown{
		Copies: each(copies, func(t records.Transaction) copyShown { return shownCopy(b, t) }), CopiesNotListed: copiesLeft,
		Debits: each(debits, func(t records.Transaction) debitShown { return shownDebit(b, t) }), DebitsNotListed: debitsLeft,
		EndToEnd: each(ownLegs(b), shownLeg),
	}
}

// ownLegs leaves out what is on other accounts, which may be another customer's, and keeps the list short.
func ownLegs(b records.Book) []records.Transaction {
	own, _ := firstOf(slices.DeleteFunc(slices.Clone(b.SameEndToEnd), func(t records.Transaction) bool { return t.AccountID != b.Account.ID }), mostCopies)
	return own
}

func shownLeg(t records.Transaction) legShown {
	return legShown{t.ID, string(t.Direction), t.Status, shownAmount(t.Amount()), when(t.OccurredAt)}
}

// nearest orders transactions by how far from the disputed one they are, those without a time of day last.
func nearest(b records.Book, all []records.Transaction) []records.Transaction {
	distance := func(t records.Transaction) int64 {
		seconds := between(b.Transaction.OccurredAt, t.OccurredAt)
		if seconds == nil {
			return math.MaxInt64
		}
		return max(*seconds, -*seconds)
	}
	return slices.SortedStableFunc(slices.Values(all), func(x, y records.Transaction) int { return cmp.Compare(distance(x), distance(y)) })
}

func otherDebits(b records.Book) []records.Transaction {
	shown := map[string]bool{b.Transaction.ID: true}
	for _, t := range b.Like {
		shown[t.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(b.Recent), func(t records.Transaction) bool { return shown[t.ID] })
}

func shownCopy(b records.Book, t records.Transaction) copyShown {
	d := b.Transaction
	s := copyShown{
		ID: t.ID, Kind: t.Kind, Status: t.Status, amount: shownAmount(t.Amount()), OccurredAt: when(t.OccurredAt),
		SecondsApart: between(d.OccurredAt, t.OccurredAt), Order: order(d.OccurredAt, t.OccurredAt),
		SameMerchant: same(d.MerchantID, t.MerchantID), SameReference: same(d.Reference, t.Reference),
		SameEndToEndID: same(d.EndToEndID, t.EndToEndID), FixedBefore: slices.Contains(b.Fixed, t.ID), Reference: fence.Words(t.Reference),
	}
	s.Posted, s.GivenBackMinor = postings(b, t)
	return s
}

// postings says whether the transaction's full amount was taken, and how much was given back, all of it on its own account.
func postings(b records.Book, t records.Transaction) (posted bool, givenBack int64) {
	for _, e := range b.LikeEntries {
		switch {
		case e.TransactionID != t.ID || e.AccountID != t.AccountID || e.Currency != t.Currency:
		case e.Direction == countersign.Credit:
			givenBack += e.AmountMinor
		case e.Kind == records.Original && e.AmountMinor == t.AmountMinor:
			posted = true
		}
	}
	return posted, givenBack
}

func order(disputed, other countersign.When) string {
	a, known := disputed.Instant()
	b, alsoKnown := other.Instant()
	switch {
	case !known || !alsoKnown:
		return "unknown"
	case b.Before(a):
		return "earlier"
	case b.After(a):
		return "later"
	}
	return "same moment"
}

func shownDebit(b records.Book, t records.Transaction) debitShown {
	return debitShown{
		ID: t.ID, Kind: t.Kind, Status: t.Status, amount: shownAmount(t.Amount()), OccurredAt: when(t.OccurredAt),
		SecondsApart: between(b.Transaction.OccurredAt, t.OccurredAt), Counterparty: fence.Words(t.CounterpartyName), City: word(t.City),
	}
}

package rules

import (
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// The oracle says which fixes a book may justify at most. It is written from the prose of the two definitions, shares no
// function with the rules and knows nothing of their extra caution: the rules may refuse what it allows, never the reverse.

func oracleFixes(b book) (out []countersign.Fix) {
	if oracleFailed(b) {
		out = append(out, *countersign.NewFix(countersign.Reversal, b.Transaction.ID, "A-1", countersign.Money{Minor: b.Transaction.AmountMinor, Currency: "NGN"}))
	}
	twins := []records.Transaction{}
	for _, t := range b.Like {
		if oracleTwin(b, t) {
			twins = append(twins, t)
		}
	}
	if len(twins) != 1 || !oracleWhole(b, b.Transaction, b.Entries) {
		return out
	}
	x, _ := b.Transaction.OccurredAt.Instant()
	y, _ := twins[0].OccurredAt.Instant()
	second := b.Transaction.ID
	if y.After(x) {
		second = twins[0].ID
	}
	if !x.Equal(y) {
		out = append(out, *countersign.NewFix(countersign.Refund, second, "A-1", countersign.Money{Minor: b.Transaction.AmountMinor, Currency: "NGN"}))
	}
	return out
}

func oracleFailed(b book) bool {
	if b.Settlement == nil || b.Settlement.Status != "failed" || !b.Settlement.Final || b.Transaction.Kind != "transfer" {
		return false
	}
	for _, t := range b.SameEndToEnd {
		if t.Direction == "credit" || t.Status == "pending" {
			return false
		}
	}
	return oracleWhole(b, b.Transaction, b.Entries)
}

// oracleWhole: posted in full, in one currency, on the customer's account, and nothing of it has come back.
func oracleWhole(b book, t records.Transaction, entries []records.LedgerEntry) bool {
	if t.Status != "posted" || t.Direction != "debit" || t.AccountID != "A-1" || t.Currency != "NGN" || b.Account.Currency != "NGN" {
		return false
	}
	balance := map[string]int64{}
	for _, e := range entries {
		if e.TransactionID != t.ID || e.Kind == "fee" && e.Direction == "debit" {
			continue
		}
		if e.Currency != "NGN" || e.Kind == "reversal" || e.Kind == "refund" || e.Direction == "credit" && e.AccountID == "A-1" {
			return false
		}
		if e.Kind == "original" && e.Direction == "debit" {
			balance[e.AccountID] += e.AmountMinor
		}
	}
	for _, id := range b.Fixed {
		if id == t.ID {
			return false
		}
	}
	return len(balance) == 1 && balance["A-1"] == t.AmountMinor
}

func oracleTwin(b book, t records.Transaction) bool {
	d := b.Transaction
	within := map[records.TransactionKind]time.Duration{"card": 24 * time.Hour, "transfer": 10 * time.Minute}[d.Kind]
	x, ok := d.OccurredAt.Instant()
	y, ok2 := t.OccurredAt.Instant()
	if !ok || !ok2 || within == 0 || t.Kind != d.Kind || y.Before(x.Add(-within)) || y.After(x.Add(within)) {
		return false
	}
	merchant := d.MerchantID != "" && d.MerchantID == t.MerchantID
	payee := merchant || d.CounterpartyAccount != "" && d.CounterpartyAccount == t.CounterpartyAccount
	key := d.EndToEndID != "" && d.EndToEndID == t.EndToEndID || merchant && d.Reference != "" && d.Reference == t.Reference
	return t.ID != d.ID && t.AmountMinor == d.AmountMinor && payee && key && oracleWhole(b, t, b.LikeEntries)
}

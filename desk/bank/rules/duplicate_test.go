package rules

import (
	"testing"

	"countersign"
	"countersign/desk/bank/records"
)

func TestDuplicateCard(t *testing.T) {
	twin := func(change func(*records.Transaction)) func(*book) { return func(b *book) { change(&b.Like[0]) } }
	check(t, duplicateBook, countersign.DuplicateCharge, "refund of T-2, NGN 5,000.00 to A-1", map[string]row{
		"the same reference at the same merchant two minutes later is the same purchase": {func(b *book) {}, nil},
		"the same end-to-end id is enough without a reference": {func(b *book) {
			b.Transaction.Reference, b.Like[0].Reference, b.Like[0].EndToEndID = "", "", "E-1"
		}, nil},
		"exactly 24 hours later is still within the window":        {twin(func(t *records.Transaction) { t.OccurredAt = when("2026-11-29T09:14:00Z") }), nil},
		"a card copy needs no settlement":                          {func(b *book) { b.Settlement = nil }, nil},
		"a pending settlement is not read: both copies are posted": {func(b *book) { b.Settlement.Status, b.Settlement.Final = records.SettlementPending, false }, nil},
		"a try that failed before the ledger was touched is no copy": {func(b *book) {
			third(b, func(t *records.Transaction) { t.Status = records.Failed })
			b.LikeEntries = b.LikeEntries[:1]
		}, nil},
		"the payee's credit on another account says nothing": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Posted)} }, nil},
		"the same charge a month later is another month's": {func(b *book) {
			third(b, func(t *records.Transaction) { t.OccurredAt = when("2026-12-28T09:14:00Z") })
		}, nil},
		"another merchant's charge of the same amount is no copy": {func(b *book) {
			third(b, func(t *records.Transaction) { t.MerchantID = "M-2" })
		}, nil},

		"a twin a second beyond 24 hours is none": {twin(func(t *records.Transaction) { t.OccurredAt = when("2026-11-29T09:14:01Z") }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a twin a month later is none": {twin(func(t *records.Transaction) { t.OccurredAt = when("2026-12-28T09:14:00Z") }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"no other charge at all": {func(b *book) { b.Like = nil },
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a copy at another merchant is no twin": {twin(func(t *records.Transaction) { t.MerchantID = "M-2" }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a copy of another amount is no twin": {twin(func(t *records.Transaction) { t.AmountMinor++ }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a copy in another currency is no twin": {twin(func(t *records.Transaction) { t.Currency = "USD" }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a copy on another account is no twin": {twin(func(t *records.Transaction) { t.AccountID = "A-2" }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a credit of the same amount is no twin": {twin(func(t *records.Transaction) { t.Direction = countersign.Credit }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"the disputed charge itself is no twin": {twin(func(t *records.Transaction) { t.ID = "T-1" }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a copy that names no merchant may be any payee's": {twin(func(t *records.Transaction) { t.MerchantID = "" }),
			[]string{
				"facts_unknown: Whether T-1 and T-2 went to the same payee is not recorded.",
				"facts_disagree: T-1 and T-2 share a reference but name no merchant that gave it.",
			}},
		"one merchant paid on two accounts is unclear": {func(b *book) {
			b.Transaction.CounterpartyAccount, b.Like[0].CounterpartyAccount = "0000022222", "0000033333"
		}, []string{"facts_unknown: Whether T-1 and T-2 went to the same payee is not recorded."}},
		"the same end-to-end id at another merchant is a copy, and a person's": {func(b *book) {
			b.Like[0].MerchantID, b.Like[0].EndToEndID = "M-2", "E-1"
			b.SameEndToEnd, b.LikeEntries = []records.Transaction{b.Like[0]}, []records.LedgerEntry{debitOf(b.Like[0], "L-2")}
		}, []string{"facts_disagree: T-1 and T-2 went to different payees."}},
		"a transfer to the same merchant is another payment": {twin(func(t *records.Transaction) { t.Kind = records.Transfer }),
			[]string{"facts_disagree: T-1 is a card and T-2 a transfer: not the same payment twice."}},

		"three copies": {func(b *book) { third(b, func(*records.Transaction) {}) },
			[]string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"three copies, one of them pending": {func(b *book) { third(b, func(t *records.Transaction) { t.Status = records.Pending }) },
			[]string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"three copies, one of them reversed": {func(b *book) { third(b, func(t *records.Transaction) { t.Status = records.Reversed }) },
			[]string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"three copies, one with another reference": {func(b *book) { third(b, func(t *records.Transaction) { t.Reference = "ORDER-8" }) },
			[]string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"a third copy that is close to the twin only": {func(b *book) {
			b.Like[0].OccurredAt = when("2026-11-29T09:00:00Z")
			third(b, func(t *records.Transaction) { t.OccurredAt = when("2026-11-30T08:00:00Z") })
		}, []string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"a third copy that failed after the ledger was touched": {func(b *book) { third(b, func(t *records.Transaction) { t.Status = records.Failed }) },
			[]string{"facts_disagree: There are 2 other charges like T-1 close to it (T-2, T-3): with three or more copies a person decides which are wrong."}},
		"a third copy without a time of day makes the count unknown": {func(b *book) { third(b, func(t *records.Transaction) { t.OccurredAt = when("2026-11-28") }) },
			[]string{"facts_unknown: Whether T-3 is the same charge as T-1 again cannot be told: one of them is recorded without a time of day."}},

		"a twin without a time of day": {twin(func(t *records.Transaction) { t.OccurredAt = when("2026-11-28") }),
			[]string{"facts_unknown: Whether T-2 is the same charge as T-1 again cannot be told: one of them is recorded without a time of day."}},
		"a disputed charge without a time of day": {func(b *book) { b.Transaction.OccurredAt = when("2026-11-28") },
			[]string{
				"facts_unknown: Whether T-2 is the same charge as T-1 again cannot be told: one of them is recorded without a time of day.",
				"facts_unknown: How long device D-1 was known before T-1 cannot be told: a time of day is missing.",
				"facts_unknown: How many debits fell within 10 minutes of T-1 cannot be told: T-1 is recorded without a time of day.",
			}},
		"two charges at the same moment": {twin(func(t *records.Transaction) { t.OccurredAt = at("09:14:00") }),
			[]string{"facts_disagree: T-1 and T-2 happened at the same moment: which of them is the second cannot be told."}},
		"different references are two purchases": {twin(func(t *records.Transaction) { t.Reference = "ORDER-8" }),
			[]string{"facts_disagree: T-1 and T-2 carry different references, as two purchases would."}},
		"different references are two purchases even under one end-to-end id": {twin(func(t *records.Transaction) { t.Reference, t.EndToEndID = "ORDER-8", "E-1" }),
			[]string{"facts_disagree: T-1 and T-2 carry different references, as two purchases would."}},
		"references that differ in one letter's case": {twin(func(t *records.Transaction) { t.Reference = "order-7" }),
			[]string{"facts_disagree: T-1 and T-2 carry different references, as two purchases would."}},
		"different end-to-end ids and no reference": {func(b *book) { b.Transaction.Reference, b.Like[0].Reference = "", "" },
			[]string{"facts_disagree: T-1 and T-2 carry different end-to-end ids and no reference that says they are one."}},
		"no id at all is a soft match": {func(b *book) {
			b.Transaction.Reference, b.Like[0].Reference, b.Transaction.EndToEndID, b.Like[0].EndToEndID = "", "", "", ""
		}, []string{"facts_disagree: T-1 and T-2 only look alike: they share no end-to-end id and no reference."}},
		"a reference that is only a placeholder is none": {func(b *book) {
			b.Transaction.Reference, b.Like[0].Reference, b.Transaction.EndToEndID, b.Like[0].EndToEndID = "n/a", "n/a", "NOTPROVIDED", "NOTPROVIDED"
		}, []string{"facts_disagree: T-1 and T-2 only look alike: they share no end-to-end id and no reference."}},
		"a reference of blanks and zeros is none": {func(b *book) {
			b.Transaction.Reference, b.Like[0].Reference, b.Transaction.EndToEndID, b.Like[0].EndToEndID = " ", " ", "0000", "0000"
		}, []string{"facts_disagree: T-1 and T-2 only look alike: they share no end-to-end id and no reference."}},

		"a pending twin": {twin(func(t *records.Transaction) { t.Status = records.Pending }),
			[]string{"facts_unknown: T-2 is still pending in our books."}},
		"a twin without ledger entries": {func(b *book) { b.LikeEntries = nil },
			[]string{"facts_unknown: No ledger entry on record debits the customer's account for T-2."}},
		"a twin that was debited in part": {func(b *book) { b.LikeEntries[0].AmountMinor = 1 },
			[]string{"facts_disagree: The ledger debits NGN 0.01 for T-2, and the transaction is of NGN 5,000.00."}},
		"a twin that was debited from another account": {func(b *book) { b.LikeEntries[0].AccountID = "A-9" },
			[]string{"facts_disagree: Ledger entry L-2 of T-2 debits another account."}},
		"a twin that was refunded": {func(b *book) {
			b.LikeEntries = append(b.LikeEntries, entry("L-3", "T-2", "A-1", countersign.Credit, 500000, records.RefundEntry))
		}, []string{"facts_disagree: T-2 was corrected already, in whole or in part: ledger entry L-3 is a refund of NGN 5,000.00."}},
		"a twin that was refunded in part": {func(b *book) {
			b.LikeEntries = append(b.LikeEntries, entry("L-3", "T-2", "A-1", countersign.Credit, 100, records.RefundEntry))
		}, []string{"facts_disagree: T-2 was corrected already, in whole or in part: ledger entry L-3 is a refund of NGN 1.00."}},
		"a twin that is reversed": {twin(func(t *records.Transaction) { t.Status = records.Reversed }),
			[]string{"facts_disagree: T-2 is already reversed in our books."}},
		"a twin that we fixed": {func(b *book) { b.Fixed = []string{"T-2"} },
			[]string{"facts_disagree: A fix was already posted for T-2."}},
		"the disputed copy was refunded": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-3", "T-1", "A-1", countersign.Credit, 500000, records.RefundEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-3 is a refund of NGN 5,000.00."}},
		"the disputed copy was fixed here": {func(b *book) { b.Fixed = []string{"T-1"} },
			[]string{"facts_disagree: A fix was already posted for T-1."}},
		"the disputed copy is pending": {func(b *book) { b.Transaction.Status = records.Pending },
			[]string{"facts_unknown: T-1 is still pending in our books."}},
		"one copy came back as a credit with the same end-to-end id": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-1", records.Posted)} },
			[]string{"facts_disagree: T-8 of NGN 24,500.00 came back to the same account with the same end-to-end id."}},
		"one copy is coming back by the rail": {func(b *book) { b.Settlement.Status = records.Returned },
			[]string{"facts_disagree: The settlement of T-1 is returned: its money may come back by itself."}},
		"one copy failed, though not for good": {func(b *book) { b.Settlement.Status, b.Settlement.Final = records.SettlementFailed, false },
			[]string{"facts_disagree: The settlement of T-1 is failed: its money may come back by itself."}},
		"an account in another currency": {func(b *book) { b.Account.Currency = "USD" },
			[]string{"facts_disagree: T-1 counts in NGN and its account in USD: what the customer lost is not the amount of the transaction."}},
		"two equal withdrawals have no rule": {func(b *book) { b.Transaction.Kind, b.Like[0].Kind = records.ATM, records.ATM },
			[]string{"facts_disagree: Code judges duplicates of card payments and transfers only; the kind of T-1 is atm."}},
	})
}

func TestDuplicateTransfer(t *testing.T) {
	twin := func(change func(*records.Transaction)) func(*book) {
		return func(b *book) { change(&b.Like[0]); b.SameEndToEnd[0] = b.Like[0] }
	}
	check(t, twiceBook, countersign.DuplicateCharge, "refund of T-2, NGN 5,000.00 to A-1", map[string]row{
		"one end-to-end id and one payee's account are one transfer": {func(b *book) {}, nil},
		"exactly ten minutes later is still within the window":       {twin(func(t *records.Transaction) { t.OccurredAt = at("09:24:00") }), nil},
		"ten minutes and a second later is another transfer": {twin(func(t *records.Transaction) { t.OccurredAt = at("09:24:01") }),
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"another payee's account under another end-to-end id": {func(b *book) {
			b.Like[0].CounterpartyAccount, b.Like[0].EndToEndID, b.SameEndToEnd = "0000033333", "E-2", nil
		}, []string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"another payee's account under the same end-to-end id": {twin(func(t *records.Transaction) { t.CounterpartyAccount = "0000033333" }),
			[]string{"facts_disagree: T-1 and T-2 went to different payees."}},
		"two versions of one row in a book: the one with its entries counts": {func(b *book) { b.Like[0].Direction = countersign.Credit },
			[]string{"facts_disagree: No other charge of this amount to the same payee lies close to T-1."}},
		"a payee nobody recorded": {func(b *book) { b.Transaction.CounterpartyAccount, b.Like[0].CounterpartyAccount = "", "" },
			[]string{"facts_unknown: Whether T-1 and T-2 went to the same payee is not recorded."}},
		"a reference alone is no merchant's": {func(b *book) {
			b.Transaction.Reference, b.Like[0].Reference, b.Transaction.EndToEndID, b.Like[0].EndToEndID = "rent", "rent", "", ""
		}, []string{"facts_disagree: T-1 and T-2 share a reference but name no merchant that gave it."}},
		"a copy that is known by its end-to-end id alone has no entries to prove it": {func(b *book) { b.Like, b.LikeEntries = nil, nil },
			[]string{"facts_unknown: No ledger entry on record debits the customer's account for T-2."}},
	})
}

func TestDuplicateRefundsTheLaterCopyWhicheverIsDisputed(t *testing.T) {
	b := duplicateBook()
	b.Transaction, b.Like[0] = b.Like[0], b.Transaction
	b.Entries, b.LikeEntries = b.LikeEntries, b.Entries
	b.Settlement.TransactionID = "T-2"
	if got := fixOf(t, Judge(b)); got != "refund of T-2, NGN 5,000.00 to A-1" {
		t.Error(got)
	}
}

package rules

import (
	"testing"

	"countersign"
	"countersign/desk/bank/records"

	"github.com/google/go-cmp/cmp"
)

type book = records.Book

// row changes one thing in a book and says which doubts that raises; none means that the fix stands.
type row struct {
	change func(*book)
	want   []string
}

func check(t *testing.T, base func() book, category countersign.DisputeReason, fix string, rows map[string]row) {
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			b := base()
			r.change(&b)
			f := Judge(b)
			if diff := cmp.Diff(r.want, relevant(f, category)); diff != "" {
				t.Error(diff)
			}
			want := fix
			if len(r.want) > 0 {
				want = "none"
			}
			if got := fixOf(t, f); got != want {
				t.Errorf("fix is %s, want %s", got, want)
			}
		})
	}
}

func TestFailedTransfer(t *testing.T) {
	check(t, failedBook, countersign.FailedTransfer, "reversal of T-1, NGN 24,500.00 to A-1", map[string]row{
		"a debit whose settlement failed for good is reversed": {func(b *book) {}, nil},
		"the other side of the debit may be on record too": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "suspense:NGN", countersign.Credit, 2450000, records.Original))
		}, nil},
		"a debit in two parts that add up is posted in full": {func(b *book) {
			b.Entries[0].AmountMinor = 1000000
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Debit, 1450000, records.Original))
		}, nil},
		"a fee beside the debit is no part of it": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Debit, 5000, records.FeeEntry))
		}, nil},
		"a transfer without an end-to-end id has no credit that shares it": {func(b *book) { b.Transaction.EndToEndID = "" }, nil},
		"a bare date is enough: no rule of a failed transfer reads a window": {func(b *book) {
			b.Transaction.PostedAt, b.Settlement.UpdatedAt = when("2026-11-28"), when("2026-11-28")
		}, nil},
		"a later transfer to the same payee with its own id is the customer trying again": {func(b *book) {
			again := b.Transaction
			again.ID, again.EndToEndID, again.OccurredAt, again.Status = "T-2", "E-2", at("09:20:00"), records.Pending
			b.Like = []records.Transaction{again}
		}, nil},

		"no settlement on record is unknown": {func(b *book) { b.Settlement = nil },
			[]string{"facts_unknown: No settlement is on record for T-1: whether the money arrived is not known."}},
		"a settlement of another transaction is none": {func(b *book) { b.Settlement.TransactionID = "T-2" },
			[]string{"facts_unknown: No settlement is on record for T-1: whether the money arrived is not known."}},
		"a failure that is not final is unknown": {func(b *book) { b.Settlement.Final = false },
			[]string{"facts_unknown: The settlement of T-1 is failed and not final: the money may still arrive."}},
		"a time-out is not a failure, even a final one": {func(b *book) { b.Settlement.Status = records.TimedOut },
			[]string{"facts_unknown: The settlement of T-1 is timed_out: the money may still arrive."}},
		"a pending settlement is unknown": {func(b *book) { b.Settlement.Status = records.SettlementPending },
			[]string{"facts_unknown: The settlement of T-1 is pending: the money may still arrive."}},
		"a settlement that is unknown is unknown": {func(b *book) { b.Settlement.Status = records.UnknownStatus },
			[]string{"facts_unknown: The settlement of T-1 is unknown: the money may still arrive."}},
		"a settlement status nobody has heard of is unknown": {func(b *book) { b.Settlement.Status = "bounced\n" },
			[]string{"facts_unknown: The settlement of T-1 is bounced?: the money may still arrive."}},
		"what settled did not fail": {func(b *book) { b.Settlement.Status = records.Settled },
			[]string{"facts_disagree: The transfer T-1 settled: the money reached the other bank."}},
		"what was returned is booked somewhere, and a person finds where": {func(b *book) { b.Settlement.Status = records.Returned },
			[]string{"facts_disagree: The rail returned the money of T-1: a person must find where it was booked before anything is posted."}},

		"a card payment is no transfer": {func(b *book) {
			b.Transaction.Kind, b.Transaction.MerchantID, b.Merchant = records.Card, "M-1", &records.Merchant{ID: "M-1"}
		},
			[]string{"facts_disagree: T-1 is not a transfer (its kind is card), so it cannot be a failed one."}},
		"a credit took nothing": {func(b *book) { b.Transaction.Direction = countersign.Credit },
			[]string{"facts_disagree: T-1 is a credit: it took nothing from the customer."}},
		"a pending debit is unknown": {func(b *book) { b.Transaction.Status = records.Pending },
			[]string{"facts_unknown: T-1 is still pending in our books."}},
		"a debit that failed in our books took nothing": {func(b *book) { b.Transaction.Status = records.Failed },
			[]string{"facts_disagree: T-1 is failed in our books, not posted."}},
		"no ledger entry is unknown": {func(b *book) { b.Entries = nil },
			[]string{"facts_unknown: No ledger entry on record debits the customer's account for T-1."}},
		"a debit of a part is not the debit": {func(b *book) { b.Entries[0].AmountMinor = 2449999 },
			[]string{"facts_disagree: The ledger debits NGN 24,499.99 for T-1, and the transaction is of NGN 24,500.00."}},
		"a debit entered twice is not the debit": {func(b *book) { b.Entries = append(b.Entries, debitOf(b.Transaction, "L-2")) },
			[]string{"facts_disagree: The ledger debits NGN 49,000.00 for T-1, and the transaction is of NGN 24,500.00."}},
		"debits that overflow are not the debit": {func(b *book) {
			b.Entries[0].AmountMinor = 1<<63 - 1
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Debit, 1<<62, records.Original))
		}, []string{"facts_disagree: The ledger debits NGN 92,233,720,368,547,758.07 for T-1, and the transaction is of NGN 24,500.00."}},
		"a debit of another account is odd": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-9", countersign.Debit, 2450000, records.Original))
		}, []string{"facts_disagree: Ledger entry L-2 of T-1 debits another account."}},
		"a debit in another currency is odd": {func(b *book) { b.Entries[0].Currency = "USD" },
			[]string{"facts_disagree: Ledger entry L-1 of T-1 is in USD and not in NGN."}},
		"an entry of nothing is odd": {func(b *book) { b.Entries[0].AmountMinor = 0 },
			[]string{"facts_disagree: Ledger entry L-1 of T-1 has no positive amount."}},
		"an entry of another transaction is odd": {func(b *book) { b.Entries[0].TransactionID = "T-2" },
			[]string{"facts_disagree: Ledger entry L-1 of T-1 names another transaction."}},
		"only a fee was posted": {func(b *book) { b.Entries[0].Kind = records.FeeEntry },
			[]string{"facts_unknown: No ledger entry on record debits the customer's account for T-1."}},
		"an account in another currency": {func(b *book) { b.Account.Currency = "USD" },
			[]string{"facts_disagree: T-1 counts in NGN and its account in USD: what the customer lost is not the amount of the transaction."}},
		"a currency that does not exist": {func(b *book) {
			b.Account.Currency, b.Transaction.Currency, b.Entries[0].Currency = "XXX", "XXX", "XXX"
		}, []string{"facts_disagree: T-1 counts in XXX and its account in XXX: what the customer lost is not the amount of the transaction."}},
		"an account of another customer": {func(b *book) { b.Account.CustomerID = "C-2" },
			[]string{"facts_disagree: The account of T-1 and its owner do not belong together in the records."}},

		"a full reversal was posted before": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Credit, 2450000, records.ReversalEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is a reversal of NGN 24,500.00."}},
		"a part was reversed before": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Credit, 1, records.ReversalEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is a reversal of NGN 0.01."}},
		"a refund was imported": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Credit, 2450000, records.RefundEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is a refund of NGN 24,500.00."}},
		"only the bank's side of a reversal was imported": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "suspense:NGN", countersign.Debit, 2450000, records.ReversalEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is a reversal of NGN 24,500.00."}},
		"a credit by any other name came back": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Credit, 2450000, records.FeeEntry))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is a credit of NGN 24,500.00."}},
		"an adjustment shows that somebody was here": {func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Debit, 100, records.Adjustment))
		}, []string{"facts_disagree: T-1 was corrected already, in whole or in part: ledger entry L-2 is an adjustment of NGN 1.00."}},
		"we posted the fix already": {func(b *book) { b.Fixed = []string{"T-1"} },
			[]string{"facts_disagree: A fix was already posted for T-1."}},
		"our books call it reversed": {func(b *book) { b.Transaction.Status = records.Reversed },
			[]string{"facts_disagree: T-1 is already reversed in our books."}},

		"the payee was credited in our own books": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Posted)} },
			[]string{"facts_disagree: Our books hold a credit with the same end-to-end id, T-8 of NGN 24,500.00: the money arrived or came back."}},
		"the money came back as a transaction of its own": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-1", records.Posted)} },
			[]string{"facts_disagree: Our books hold a credit with the same end-to-end id, T-8 of NGN 24,500.00: the money arrived or came back."}},
		"a credit with the same id that was reversed is for a person": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Reversed)} },
			[]string{"facts_disagree: Our books hold a credit with the same end-to-end id, T-8 of NGN 24,500.00: the money arrived or came back."}},
		"a credit with the same id is on its way": {func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Pending)} },
			[]string{"facts_unknown: T-8, with the same end-to-end id, is still pending."}},
		"the same order is being sent again": {func(b *book) {
			again := b.Transaction
			again.ID, again.Status, again.AmountMinor = "T-2", records.Pending, 1
			b.SameEndToEnd = []records.Transaction{again}
		}, []string{"facts_unknown: T-2, with the same end-to-end id, is still pending."}},
		"everything that is wrong is named": {func(b *book) {
			b.Settlement, b.Fixed = nil, []string{"T-1"}
		}, []string{
			"facts_unknown: No settlement is on record for T-1: whether the money arrived is not known.",
			"facts_disagree: A fix was already posted for T-1.",
		}},
	})
}

// TestFailedTransferSentTwice: one transfer posted twice, and the rail says that the disputed copy failed. A reversal of the
// one and a refund of the other would pay twice.
func TestFailedTransferSentTwice(t *testing.T) {
	failed := func() book {
		b := twiceBook()
		b.Settlement.Status = records.SettlementFailed
		return b
	}
	const again = "facts_disagree: T-2 is the same transfer again: whether a reversal of T-1 is owed, or a refund of one of the two, is for a person."
	check(t, failed, countersign.FailedTransfer, "reversal of T-1, NGN 5,000.00 to A-1", map[string]row{
		"two fixes compete, so neither stands": {func(b *book) {}, []string{again}},
		"the other copy was given back already, which may have been for this one": {func(b *book) {
			b.LikeEntries = append(b.LikeEntries, entry("L-3", "T-2", "A-1", countersign.Credit, 500000, records.RefundEntry))
		}, []string{again}},
		"one of three copies": {func(b *book) { third(b, func(t *records.Transaction) {}) }, []string{again}},
		"the other copy has no time of day": {func(b *book) { b.Like[0].OccurredAt = when("2026-11-28") },
			[]string{"facts_unknown: T-2 may be the same transfer again: one of the two is recorded without a time of day."}},
		"the other one has its own end-to-end id: the customer tried again": {func(b *book) { b.Like[0].EndToEndID, b.SameEndToEnd = "E-2", nil }, nil},
	})
	if got := relevant(Judge(failed()), countersign.DuplicateCharge); len(got) != 1 || got[0] != "facts_disagree: The settlement of T-1 is failed: its money may come back by itself." {
		t.Errorf("against a duplicate: %q", got)
	}
}

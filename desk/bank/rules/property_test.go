package rules

import (
	"slices"
	"testing"

	"countersign"
	"countersign/desk/bank/records"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func pick[T any](r *rapid.T, name string, from ...T) T { return rapid.SampledFrom(from).Draw(r, name) }

// anyBook draws a book that one of the two definitions nearly fits: a small book with up to four things changed.
func anyBook(r *rapid.T) book {
	b := pick(r, "base", failedBook, duplicateBook, twiceBook)()
	for range rapid.IntRange(0, 4).Draw(r, "changes") {
		change(r, &b)
	}
	b.Device = &b.Devices[0]
	return b
}

// change makes one change of any kind to any row.
func change(r *rapid.T, b *book) {
	t := &b.Transaction
	if len(b.Like) > 0 && rapid.Bool().Draw(r, "of a copy") {
		t = &b.Like[rapid.IntRange(0, len(b.Like)-1).Draw(r, "copy")]
	}
	switch rapid.IntRange(0, 24).Draw(r, "change") {
	case 0:
		t.Kind = pick(r, "kind", records.Transfer, records.Card, records.ATM, records.Bill)
	case 1:
		t.Direction = pick(r, "direction", countersign.Debit, countersign.Credit)
	case 2:
		t.Status = pick(r, "status", records.Posted, records.Pending, records.Failed, records.Reversed)
	case 3:
		t.AmountMinor = pick[int64](r, "amount", 2450000, 500000, 1, 0)
	case 4:
		t.Currency = pick(r, "currency", "NGN", "USD")
	case 5:
		t.OccurredAt = pick(r, "time", at("09:14:00"), at("09:24:00"), at("09:24:01"), when("2026-11-28"), when("2026-11-29T09:14:00Z"),
			when("2026-11-29T09:16:01Z"), when("2026-12-28T09:14:00Z"), when("2026-11-27T09:20:00Z"), countersign.When{})
	case 6:
		t.MerchantID = pick(r, "merchant", "M-1", "M-2", "")
	case 7:
		t.CounterpartyAccount = pick(r, "payee", "0000022222", "0000033333", "")
	case 8:
		t.Reference = pick(r, "reference", "ORDER-7", "ORDER-8", "", " ")
	case 9:
		t.EndToEndID = pick(r, "end-to-end id", "E-1", "E-2", "", "NOTPROVIDED")
	case 10:
		t.AccountID = pick(r, "account", "A-1", "A-2")
	case 11:
		b.Settlement = nil
	case 12:
		b.Settlement = &records.Settlement{TransactionID: "T-1", Final: rapid.Bool().Draw(r, "final"), Status: pick(r, "settlement", records.Settled,
			records.SettlementFailed, records.Returned, records.SettlementPending, records.TimedOut, records.UnknownStatus)}
	case 13:
		if b.Entries = append(b.Entries, anyEntry(r, "T-1")); rapid.Bool().Draw(r, "instead") {
			b.Entries = b.Entries[1:]
		}
	case 14:
		if b.LikeEntries = append(b.LikeEntries, anyEntry(r, "T-2")); rapid.Bool().Draw(r, "instead") {
			b.LikeEntries = b.LikeEntries[1:]
		}
	case 15:
		c := credit(pick(r, "account", "A-1", "A-9"), pick(r, "status", records.Posted, records.Pending, records.Failed))
		c.Direction = pick(r, "direction", countersign.Credit, countersign.Debit)
		b.SameEndToEnd = append(b.SameEndToEnd, c)
	case 16:
		b.Fixed = append(b.Fixed, pick(r, "fixed", "T-1", "T-2"))
	case 17, 18:
		if len(b.Like) > 0 {
			third(b, func(t *records.Transaction) {
				t.ID = pick(r, "id", "T-3", "T-4")
				t.Reference = pick(r, "reference", "ORDER-7", "ORDER-8")
				t.OccurredAt = pick(r, "time", at("09:18:00"), at("08:00:00"), when("2026-11-28"), when("2027-01-01T00:00:00Z"))
			})
		}
	case 19:
		b.Account.Currency = pick(r, "currency", "NGN", "USD")
	case 20:
		b.Customer.HomeCity = pick(r, "home", "Lagos", "Kano", "")
	case 21:
		b.Devices[0].Trusted = pick(r, "trusted", yes(), no(), nil)
		b.Devices[0].FirstSeenAt = pick(r, "first seen", when("2025-01-01T00:00:00Z"), when("2026-11-28"), at("08:00:00"))
	case 22:
		debits(b, rapid.IntRange(1, 6).Draw(r, "debits"))
	case 23:
		b.Customer.Flags = pick(r, "flags", nil, []string{"mule"})
	case 24:
		b.Transaction.City = pick(r, "city", "Lagos", "Abuja", "Kano", "")
	}
}

func anyEntry(r *rapid.T, transaction string) records.LedgerEntry {
	e := entry(pick(r, "id", "L-5", "L-6"), transaction, pick(r, "account", "A-1", "A-9", "suspense:NGN"),
		pick(r, "direction", countersign.Debit, countersign.Credit), pick[int64](r, "amount", 2450000, 500000, 100, 0, 1<<62),
		pick(r, "kind", records.Original, records.ReversalEntry, records.RefundEntry, records.FeeEntry, records.Adjustment))
	e.Currency = pick(r, "currency", "NGN", "NGN", "NGN", "USD")
	return e
}

// TestAFixExistsOnlyWhereTheOracleAllowsIt is the promise of the package.
func TestAFixExistsOnlyWhereTheOracleAllowsIt(t *testing.T) {
	books, fixes := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		b := anyBook(r)
		allowed, f := oracleFixes(b), Judge(b)
		books++
		if f.Fix == nil {
			return
		}
		fixes++
		if len(allowed) != 1 || !cmp.Equal(allowed[0], *f.Fix) {
			r.Fatalf("the rules want %+v, the oracle allows %+v", *f.Fix, allowed)
		}
		if out := relevant(f, f.Supports); slices.ContainsFunc(out, func(s string) bool { return s[:14] == "facts_disagree" }) {
			r.Fatalf("a fix in spite of %q", out)
		}
	})
	if fixes*20 < books {
		t.Errorf("only %d of %d books justified a fix: this shows nothing", fixes, books)
	}
}

// TestAFixIsRefusedOnlyForAReason: what the rules refuse although the oracle allows it, they explain.
func TestAFixIsRefusedOnlyForAReason(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := anyBook(r)
		allowed, f := oracleFixes(b), Judge(b)
		for _, fix := range allowed {
			against := countersign.FailedTransfer
			if fix.Kind == countersign.Refund {
				against = countersign.DuplicateCharge
			}
			if f.Supports != against && len(relevant(f, against)) == 0 {
				r.Fatalf("%+v is refused without a reason", fix)
			}
		}
	})
}

// TestACorrectionNeverCreatesAFix: giving something back can only ever take a fix away.
func TestACorrectionNeverCreatesAFix(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := anyBook(r)
		before := Judge(b).Fix
		kind := pick(r, "kind", records.ReversalEntry, records.RefundEntry, records.Adjustment)
		e := entry("L-9", "T-1", pick(r, "account", "A-1", "A-9"), pick(r, "direction", countersign.Debit, countersign.Credit), rapid.Int64Range(1, 1<<40).Draw(r, "amount"), kind)
		if len(b.Like) > 0 && rapid.Bool().Draw(r, "of the twin") {
			e.TransactionID = b.Like[0].ID
			b.LikeEntries = append(b.LikeEntries, e)
		} else {
			b.Entries = append(b.Entries, e)
		}
		switch after := Judge(b).Fix; {
		case after == nil:
		case before == nil:
			r.Fatalf("the correction %+v created %+v", e, after)
		case after.TransactionID == e.TransactionID:
			r.Fatalf("%+v gives %s back a second time", after, e.TransactionID)
		}
	})
}

// TestSeenChangesWithTheJudgement: no two books that are judged differently look the same to the executor.
func TestSeenChangesWithTheJudgement(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := anyBook(r)
		before := Judge(b)
		b.Entries, b.LikeEntries = slices.Clone(b.Entries), slices.Clone(b.LikeEntries)
		change(r, &b)
		b.Device = &b.Devices[0]
		after := Judge(b)
		if before.Seen == after.Seen && !cmp.Equal(before, after) {
			r.Fatal(cmp.Diff(before, after))
		}
	})
}

// TestWaivedNeverPaysTwice: whatever a person waives, the amount, the account and the currency are the transaction's, and
// nothing of it has come back.
func TestWaivedNeverPaysTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := anyBook(r)
		kind := pick(r, "kind", countersign.Reversal, countersign.Refund)
		fix, err := Waived(b, kind)
		if err != nil {
			return
		}
		given, entries := b.Transaction, b.Entries
		if fix.TransactionID != given.ID {
			entries = b.LikeEntries
			given = b.Like[slices.IndexFunc(b.Like, func(t records.Transaction) bool { return t.ID == fix.TransactionID })]
		}
		if fix.Kind != kind || fix.Amount != given.Amount() || fix.AccountID != "A-1" || !oracleWhole(b, given, entries) {
			r.Fatalf("%+v is not what was taken and kept", fix)
		}
	})
}

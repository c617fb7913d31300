package rules

import (
	"testing"

	"countersign"
	"countersign/desk/bank/records"
)

func TestWaived(t *testing.T) {
	const (
		reversed = "reversal of T-1, NGN 24,500.00 to A-1"
		refunded = "refund of T-1, NGN 24,500.00 to A-1"
		nobody   = " Nobody may waive this. (escalate the case, or close it without a fix)"
		arrived  = "The money of T-1 arrived, so there is nothing to reverse. (post a refund instead)"
	)
	for name, c := range map[string]struct {
		base   func() book
		change func(*book)
		kind   countersign.FixKind
		want   string
	}{
		"an unknown settlement":                            {failedBook, func(b *book) { b.Settlement = nil }, countersign.Reversal, reversed},
		"a time-out":                                       {failedBook, func(b *book) { b.Settlement.Status, b.Settlement.Final = records.TimedOut, false }, countersign.Reversal, reversed},
		"fraud signals":                                    {failedBook, func(b *book) { b.Customer.Flags = []string{"x"}; b.Device = nil }, countersign.Reversal, reversed},
		"what the books justify anyway":                    {failedBook, func(b *book) {}, countersign.Reversal, reversed},
		"a refund where the books see no duplicate":        {failedBook, func(b *book) { b.Settlement.Status = records.Settled }, countersign.Refund, refunded},
		"a soft match refunds the disputed copy":           {duplicateBook, func(b *book) { b.Transaction.Reference, b.Like[0].Reference = "", "" }, countersign.Refund, "refund of T-1, NGN 5,000.00 to A-1"},
		"an established duplicate refunds the later copy":  {duplicateBook, func(b *book) {}, countersign.Refund, "refund of T-2, NGN 5,000.00 to A-1"},
		"of two fixes that compete, the refund":            {twiceBook, func(b *book) { b.Settlement.Status = records.SettlementFailed }, countersign.Refund, "refund of T-1, NGN 5,000.00 to A-1"},
		"of two fixes that compete, the reversal":          {twiceBook, func(b *book) { b.Settlement.Status = records.SettlementFailed }, countersign.Reversal, "reversal of T-1, NGN 5,000.00 to A-1"},
		"the payee's credit is no reason against a refund": {failedBook, func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Posted)} }, countersign.Refund, refunded},
		"but nobody reverses what settled for good":        {failedBook, func(b *book) { b.Settlement.Status = records.Settled }, countersign.Reversal, arrived},
		"nor what our own books say arrived":               {failedBook, func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-9", records.Posted)} }, countersign.Reversal, arrived},
		"nobody gives back what was not taken":             {failedBook, func(b *book) { b.Transaction.Status = records.Pending }, countersign.Refund, "T-1 is still pending in our books." + nobody},
		"nobody gives back what no ledger entry took":      {failedBook, func(b *book) { b.Entries = nil }, countersign.Reversal, "No ledger entry on record debits the customer's account for T-1." + nobody},
		"nobody gives back a credit":                       {failedBook, func(b *book) { b.Transaction.Direction = countersign.Credit }, countersign.Refund, "T-1 is a credit: it took nothing from the customer." + nobody},
		"nobody gives back another currency":               {failedBook, func(b *book) { b.Account.Currency = "USD" }, countersign.Refund, "T-1 counts in NGN and its account in USD: what the customer lost is not the amount of the transaction." + nobody},
		"nobody gives back what was given back in part": {failedBook, func(b *book) {
			b.Entries = append(b.Entries, entry("L-2", "T-1", "A-1", countersign.Credit, 1, records.RefundEntry))
		}, countersign.Refund, "T-1 was corrected already, in whole or in part: ledger entry L-2 is a refund of NGN 0.01." + nobody},
		"nobody gives back what we gave back":                      {failedBook, func(b *book) { b.Fixed = []string{"T-1"} }, countersign.Reversal, "A fix was already posted for T-1." + nobody},
		"nobody gives back what is reversed":                       {failedBook, func(b *book) { b.Transaction.Status = records.Reversed }, countersign.Reversal, "T-1 is already reversed in our books." + nobody},
		"nobody gives back what came back as its own transaction":  {failedBook, func(b *book) { b.SameEndToEnd = []records.Transaction{credit("A-1", records.Posted)} }, countersign.Refund, "T-8 of NGN 24,500.00 came back to the same account with the same end-to-end id." + nobody},
		"a kind of fix that does not exist":                        {failedBook, func(b *book) {}, "chargeback", `fix: "chargeback" is not a fix, expected reversal or refund`},
		"nobody gives money to an account that is not the owner's": {failedBook, func(b *book) { b.Account.CustomerID = "C-2" }, countersign.Refund, "The account of T-1 and its owner do not belong together in the records." + nobody},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.base()
			c.change(&b)
			fix, err := Waived(b, c.kind)
			var got string
			switch {
			case err != nil && fix != nil:
				t.Error("both a fix and an error")
			case err != nil:
				got = err.Error()
				if kind := countersign.KindOf(err); kind != countersign.Conflict && c.kind != "chargeback" {
					t.Errorf("kind %s, want conflict", kind)
				}
			default:
				got = fixOf(t, countersign.Facts{Fix: fix, Supports: "x"})
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

package rules

import (
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

func TestDue(t *testing.T) {
	lagos := time.FixedZone("WAT", 3600)
	opened := time.Date(2026, 11, 30, 9, 0, 0, 0, lagos)
	tx := func(kind records.TransactionKind, currency, channel string) records.Transaction {
		return records.Transaction{Kind: kind, Currency: currency, Channel: channel, OccurredAt: at("09:14:00")}
	}
	for name, c := range map[string]struct {
		t      records.Transaction
		reason countersign.DisputeReason
		opened time.Time
		want   string // empty: unknown
	}{
		"a failed naira transfer is due 24 hours after the complaint":  {tx(records.Transfer, "NGN", ""), countersign.FailedTransfer, opened, "2026-12-01T08:00:00Z"},
		"a disputed naira card payment is due 72 hours after it":       {tx(records.Card, "NGN", "pos"), countersign.DuplicateCharge, opened, "2026-12-03T08:00:00Z"},
		"whatever the customer says of the card payment":               {tx(records.Card, "NGN", "web"), countersign.Unauthorised, opened, "2026-12-03T08:00:00Z"},
		"another bank's ATM that paid nothing is due 48 hours after":   {tx(records.ATM, "NGN", "ATM not-on-us"), countersign.NotReceived, opened, "2026-12-02T08:00:00Z"},
		"an ATM that may be our own has a shorter clock, so no guess":  {tx(records.ATM, "NGN", "atm"), countersign.NotReceived, opened, ""},
		"a withdrawal the customer did not make is no failed one":      {tx(records.ATM, "NGN", "not_on_us"), countersign.Unauthorised, opened, ""},
		"a transfer that fraud talked the customer into: drafts only":  {tx(records.Transfer, "NGN", ""), countersign.Unauthorised, opened, ""},
		"a transfer sent twice has no clock that we are sure of":       {tx(records.Transfer, "NGN", ""), countersign.DuplicateCharge, opened, ""},
		"another currency is another country":                          {tx(records.Transfer, "USD", ""), countersign.FailedTransfer, opened, ""},
		"another currency's card too":                                  {tx(records.Card, "GHS", ""), countersign.DuplicateCharge, opened, ""},
		"a bill has none":                                              {tx(records.Bill, "NGN", ""), countersign.NotReceived, opened, ""},
		"a dispute that nobody knows the beginning of has no deadline": {tx(records.Transfer, "NGN", ""), countersign.FailedTransfer, time.Time{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			due, source := Due(c.t, c.reason, c.opened)
			got, want := "", countersign.DueUnknown
			if due != nil {
				got = due.Format(time.RFC3339)
			}
			if c.want != "" {
				want = countersign.DueFromRule
			}
			if got != c.want || source != want {
				t.Errorf("due %q (%s), want %q (%s)", got, source, c.want, want)
			}
		})
	}
}

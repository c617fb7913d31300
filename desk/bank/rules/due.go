package rules

import (
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// clock is one regulatory deadline: how long a bank has from the customer's complaint.
type clock struct {
	hours   time.Duration
	applies func(records.Transaction, countersign.DisputeReason) bool
}

// clocks are the rules of the Central Bank of Nigeria that we know from more than memory. What is only drafted, such as the
// guidelines on authorised push payment fraud of November 2025, sets no deadline here; neither does anything about other
// currencies until somebody brings the source. Several may apply; the earliest counts.
var clocks = []clock{
	{
		// Regulation on Instant (Inter-bank) Electronic Funds Transfer Services in Nigeria, in force 2018-10-02: a failed
		// transfer that was not returned is put back into the customer's account within 24 hours of the complaint; every item
		// that is not costs the bank 10,000 naira. Any naira transfer is taken for an instant one: if it was another, this
		// deadline is too early, never too late.
		hours: 24 * time.Hour,
		applies: func(t records.Transaction, r countersign.DisputeReason) bool {
			return t.Kind == records.Transfer && r == countersign.FailedTransfer
		},
	},
	{
		// Directive on refunds of failed transactions on electronic channels, in force 2020-06-08: not-on-us ATM, 48 hours. An
		// on-us withdrawal is due at once, so the records must say that this was another bank's machine; a guess could be a day
		// too late.
		hours: 48 * time.Hour,
		applies: func(t records.Transaction, r countersign.DisputeReason) bool {
			failed := r == countersign.NotReceived || r == countersign.FailedTransfer
			return t.Kind == records.ATM && failed && notOnUs(t.Channel)
		},
	},
	{
		// The same directive: disputed or failed transactions at points of sale and on the web, 72 hours from the dispute. A
		// card payment that is no withdrawal is one or the other.
		hours:   72 * time.Hour,
		applies: func(t records.Transaction, r countersign.DisputeReason) bool { return t.Kind == records.Card },
	},
}

// Due returns when a dispute opened then must be answered by, nil and DueUnknown when no rule that we are sure of applies.
// The clocks run from the complaint: a deadline counted from a transaction of last month would have passed before anybody
// knew of it.
func Due(t records.Transaction, reason countersign.DisputeReason, opened time.Time) (*time.Time, countersign.DueSource) {
	var due *time.Time
	for _, c := range clocks {
		at := opened.Add(c.hours).UTC()
		if t.Currency == "NGN" && !opened.IsZero() && c.applies(t, reason) && (due == nil || at.Before(*due)) {
			due = &at
		}
	}
	if due == nil {
		return nil, countersign.DueUnknown
	}
	return due, countersign.DueFromRule
}

// notOnUs reads a channel that says so in any spelling: "not_on_us", "ATM not-on-us".
func notOnUs(channel string) bool {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_", r) {
			return -1
		}
		return r
	}, strings.ToLower(channel))
	return strings.Contains(letters, "notonus")
}

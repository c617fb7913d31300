// Package rules says what a bank's own books prove about one disputed transaction: which fix they justify, and every
// reason why a person has to look instead.
//
// It is pure. The same book gives the same facts, byte for byte; nothing a model or a customer says reaches it, and there
// is no clock in it: every window is measured between two recorded moments. A rule that meets something it cannot know
// says so, and "not recorded" is never "not there". Whatever is odd in the books ends with a person.
//
// Each rule is one small function in the file of its subject: ledger.go, failed_transfer.go, duplicate.go, fraud.go. Rules
// can only take a fix away: it exists when the rules of its kind left no doubt.
package rules

import (
	"countersign"
	"countersign/desk/bank/records"
)

// Judge returns everything the book proves: each fact as present, absent or unknown with its value and source, every doubt,
// and the one fix that the records by themselves justify, nil when they justify none.
//
// A doubt speaks against one category, because the same missing twin that forbids a duplicate's refund says nothing about a
// failed transfer. Fraud signals speak against every proposal but do not take the fix away: a person may waive them, and
// then the fix must still be there.
func Judge(b records.Book) countersign.Facts {
	failed, duplicate := failedTransfer(b), duplicateCharge(b)
	facts := countersign.Facts{Seen: Seen(b)}
	write(&facts, countersign.FailedTransfer, failed.findings)
	write(&facts, countersign.DuplicateCharge, duplicate.findings)
	write(&facts, "", fraudSignals(b, duplicate.twin))
	switch { // never both: a failed transfer that has a copy is no longer one
	case failed.fix != nil:
		facts.Fix, facts.Supports = failed.fix, countersign.FailedTransfer
	case duplicate.fix != nil:
		facts.Fix, facts.Supports = duplicate.fix, countersign.DuplicateCharge
	}
	return facts
}

// claim is one kind of fix: what its rules found, and the fix if they left no doubt.
type claim struct {
	findings []finding
	fix      *countersign.Fix
	twin     string // with the fix of a duplicate charge: the other copy's id
}

// Package rules says what a bank's own books prove about one disputed transaction: which fix they justify, and every
// reason why a person has to look instead.
//
// It is pure. The same book gives the same facts, byte for byte; nothing a model or a customer says reaches it, and there
// is no clock in it: every window is measured between two recorded moments. A rule that meets something it cannot know
// says so, and "not recorded" is never "not there". Whatever is odd in the books ends with a person.
//
// Each rule is one small function in the file of its subject: failed_transfer.go, duplicate.go, fraud.go, ledger.go. They
// only ever add facts and doubts; a fix exists when the rules of its kind left no doubt.
package rules

import (
	"countersign"
	"countersign/desk/bank/records"
)

// Judge returns everything the book proves: each fact as present, absent or unknown with its value and source, every doubt,
// and the one fix that the records by themselves justify, nil when they justify none.
//
// Fraud signals are doubts against every proposal, but they do not take the fix away: what a person may waive must still be
// there to be posted.
func Judge(b records.Book) countersign.Facts {
	failed, duplicate := failedTransfer(b), duplicateCharge(b)
	facts := countersign.Facts{Seen: Seen(b)}
	f := finding{}
	f.add(failed.finding)
	f.add(duplicate.finding)
	f.add(fraud(b, duplicate.twin))
	switch {
	case failed.fix != nil && duplicate.fix != nil:
		f.disagree("", "The books support a reversal of %s as a failed transfer and a refund of %s as a duplicate; only a person can tell which of the two is owed.",
			id(failed.fix.TransactionID), id(duplicate.fix.TransactionID))
	case failed.fix != nil:
		facts.Fix, facts.Supports = failed.fix, countersign.FailedTransfer
	case duplicate.fix != nil:
		facts.Fix, facts.Supports = duplicate.fix, countersign.DuplicateCharge
	}
	facts.Items, facts.Doubts = f.items, f.doubts
	return facts
}

// case for a fix: what the rules of one kind found, and the fix if they left no doubt.
type claim struct {
	finding
	fix  *countersign.Fix
	twin string // of a duplicate charge that is established: the other copy's id
}

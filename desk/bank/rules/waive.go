package rules

import (
	"countersign"
	"countersign/desk/bank/records"
)

// Waived returns the fix that a person may post, with a reason, although the facts do not support it. A person may waive
// fraud signals, an unknown settlement, a soft match; nobody may waive that the money was taken, in this currency, and that
// all of it is still with us. That the records did not change meanwhile is checked where the fix is posted.
//
// When the books do justify a fix of this kind, that one is returned: a refund goes to the later copy even if the earlier one
// is disputed.
//
// The error is a *countersign.Error of kind Conflict that says what cannot be waived; of kind Invalid for a kind of fix that
// does not exist.
func Waived(b records.Book, kind countersign.FixKind) (*countersign.Fix, error) {
	if kind != countersign.Reversal && kind != countersign.Refund {
		return nil, countersign.Errorf(countersign.Invalid, "%q is not a fix, expected reversal or refund", id(string(kind))).In("fix")
	}
	if fix := justified(b, kind); fix != nil {
		return fix, nil
	}
	t := b.Transaction
	for _, f := range []finding{accountIsOurs(b), debitPosted(disputed(b)), notCorrected(disputed(b)), notPaidBack(b)} {
		if f.reason.Code != "" {
			return nil, countersign.Errorf(countersign.Conflict, "%s Nobody may waive this.", f.reason.Text).
				Try("escalate the case, or close it without a fix")
		}
	}
	if kind == countersign.Reversal && arrived(b) {
		return nil, countersign.Errorf(countersign.Conflict, "The money of %s arrived, so there is nothing to reverse.", id(t.ID)).
			Try("post a refund instead")
	}
	return countersign.NewFix(kind, t.ID, t.AccountID, t.Amount()), nil
}

// arrived: the rail says so for good, or our own books hold the credit.
func arrived(b records.Book) bool {
	s := b.Settlement
	settled := s != nil && s.Final && s.Status == records.Settled
	return settled || noCreditElsewhere(b).reason.Code != ""
}

// justified returns the fix of this kind that the books support, nil if they do not.
func justified(b records.Book, kind countersign.FixKind) *countersign.Fix {
	if kind == countersign.Reversal {
		return failedTransfer(b).fix
	}
	return duplicateCharge(b).fix
}

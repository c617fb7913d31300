package rules

import (
	"countersign"
	"countersign/desk/bank/records"
)

// failedTransfer: our debit is posted for the full amount, the rail says for good that the money never arrived, nothing has
// come back by any way, and nothing is still on its way. Then, and only then, the whole debit is owed back.
func failedTransfer(b records.Book) claim {
	t := b.Transaction
	c := claim{findings: []finding{
		isTransfer(t),
		accountIsOurs(b),
		debitPosted(disputed(b)),
		settlementFailed(b),
		notCorrected(disputed(b)),
		noCreditElsewhere(b),
		nothingPending(b),
		notSentTwice(b),
	}}
	if !doubtful(c.findings) {
		c.fix = countersign.NewFix(countersign.Reversal, t.ID, t.AccountID, t.Amount())
	}
	return c
}

func isTransfer(t records.Transaction) finding {
	const name = "is_transfer"
	if t.Kind != records.Transfer {
		return absent(name, id(string(t.Kind)), rows(records.Transactions, t.ID)).
			disagree("%s is not a transfer (its kind is %s), so it cannot be a failed one.", id(t.ID), id(string(t.Kind)))
	}
	return present(name, string(t.Kind), rows(records.Transactions, t.ID))
}

// settlementFailed: only a failure that the rail calls final counts. A time-out is not a failure, because the credit may
// still land, and then a reversal would pay twice. What is not final is not known, whatever its status.
func settlementFailed(b records.Book) finding {
	const name = "settlement_failed_final"
	t, s := b.Transaction, b.Settlement
	source := "settlement of " + id(t.ID)
	if s == nil || s.TransactionID != t.ID {
		return unknown(name, "no settlement on record", source).
			cannotTell("No settlement is on record for %s: whether the money arrived is not known.", id(t.ID))
	}
	value := id(string(s.Status)) + ", final"
	switch {
	case !s.Final:
		return unknown(name, id(string(s.Status))+", not final", source).
			cannotTell("The settlement of %s is %s and not final: the money may still arrive.", id(t.ID), id(string(s.Status)))
	case s.Status == records.SettlementFailed:
		return present(name, value, source)
	case s.Status == records.Settled:
		return absent(name, value, source).disagree("The transfer %s settled: the money reached the other bank.", id(t.ID))
	case s.Status == records.Returned:
		return absent(name, value, source).
			disagree("The rail returned the money of %s: a person must find where it was booked before anything is posted.",
				id(t.ID))
	}
	return unknown(name, value, source).
		cannotTell("The settlement of %s is %s: the money may still arrive.", id(t.ID), id(string(s.Status)))
}

// noCreditElsewhere: a credit with the same end-to-end id, on whatever account, is this money arriving or coming back. A
// transfer without an end-to-end id has no such credit by definition; the rail's final word stands alone then.
func noCreditElsewhere(b records.Book) finding {
	const name = "credit_same_end_to_end_id"
	for _, t := range b.SameEndToEnd {
		if t.Direction == countersign.Credit && t.Status != records.Pending {
			return present(name, id(string(t.Status))+" "+t.Amount().String(), rows(records.Transactions, t.ID)).
				disagree("Our books hold a credit with the same end-to-end id, %s of %s: the money arrived or came back.",
					id(t.ID), t.Amount())
		}
	}
	if b.Transaction.EndToEndID == "" {
		return absent(name, "the transaction carries no end-to-end id", rows(records.Transactions, b.Transaction.ID))
	}
	return absent(name, "none", rows(records.Transactions, b.Transaction.ID))
}

// nothingPending: another movement with the same end-to-end id that is not decided yet may be this money on its way.
func nothingPending(b records.Book) finding {
	const name = "pending_same_end_to_end_id"
	for _, t := range b.SameEndToEnd {
		if t.Status == records.Pending {
			return present(name, id(string(t.Direction))+" "+t.Amount().String(), rows(records.Transactions, t.ID)).
				cannotTell("%s, with the same end-to-end id, is still pending.", id(t.ID))
		}
	}
	return absent(name, "none", rows(records.Transactions, b.Transaction.ID))
}

// notSentTwice: when the same transfer was posted twice, a reversal of this one and a refund of the other compete, and each
// would be right alone. It does not matter what became of the other: if that was given back already, this may have been what
// was meant. A customer who simply tried again has another end-to-end id.
func notSentTwice(b records.Book) finding {
	const name = "sent_twice"
	near, undated := copies(b)
	for _, t := range near {
		if shareKey(b.Transaction, t) {
			return present(name, t.Amount().String()+" at "+t.OccurredAt.String(), rows(records.Transactions, t.ID)).
				disagree("%s is the same transfer again: whether a reversal of %s is owed, or a refund of one of the two, is for a person.",
					id(t.ID), id(b.Transaction.ID))
		}
	}
	for _, t := range undated {
		if shareKey(b.Transaction, t) {
			return unknown(name, "no time of day", rows(records.Transactions, t.ID)).
				cannotTell("%s may be the same transfer again: one of the two is recorded without a time of day.", id(t.ID))
		}
	}
	return absent(name, "no", rows(records.Transactions, b.Transaction.ID))
}

package rules

import (
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// window is how far apart two copies of one payment may be. Kinds without one have no rule, and no rule means no fix: two
// equal withdrawals or bills within a day are ordinary life.
var window = map[records.TransactionKind]time.Duration{
	records.Card:     widest,
	records.Transfer: 10 * time.Minute,
}

// widest is the longest of them, and the one for a pair of payments that have no window of their own.
const widest = 24 * time.Hour

// duplicateCharge: exactly one other posting is the same payment again, told by an id and not only by looks; neither was
// given back. Whichever of the two is disputed, the later one is refunded.
func duplicateCharge(b records.Book) claim {
	this := disputed(b)
	c := claim{findings: []finding{
		hasWindow(b.Transaction), accountIsOurs(b), debitPosted(this), notCorrected(this), notComingBack(b), notPaidBack(b),
	}}
	count, twin := exactlyOneTwin(b)
	c.findings = append(c.findings, count)
	if twin == nil {
		return c
	}
	that := other(b, *twin)
	c.findings = append(c.findings, sameKind(b.Transaction, *twin), sameParty(b.Transaction, *twin), debitPosted(that),
		notCorrected(that), sameKey(b.Transaction, *twin), oneIsLater(b.Transaction, *twin))
	if !doubtful(c.findings) {
		later := later(b.Transaction, *twin)
		c.twin = twin.ID
		c.fix = countersign.NewFix(countersign.Refund, later.ID, later.AccountID, later.Amount())
	}
	return c
}

func hasWindow(t records.Transaction) finding {
	const name = "duplicate_window"
	source := rows(records.Transactions, t.ID)
	w, ok := window[t.Kind]
	if !ok {
		return absent(name, id(string(t.Kind)), source).
			disagree("Code judges duplicates of card payments and transfers only; the kind of %s is %s.",
				id(t.ID), id(string(t.Kind)))
	}
	return present(name, w.String(), source)
}

// notComingBack: when the rail says that the disputed copy failed or was returned, its money may come back by itself, and a
// refund of a copy would pay twice.
func notComingBack(b records.Book) finding {
	const name = "coming_back_by_rail"
	t, s := b.Transaction, b.Settlement
	source := "settlement of " + id(t.ID)
	switch {
	case s == nil:
		return absent(name, "no settlement on record", source)
	case s.Status == records.SettlementFailed, s.Status == records.Returned:
		return present(name, string(s.Status), source).
			disagree("The settlement of %s is %s: its money may come back by itself.", id(t.ID), s.Status)
	}
	return absent(name, id(string(s.Status)), source)
}

// notPaidBack: a credit with the same end-to-end id on the customer's own account is one of the copies coming back. On
// another account it is the payee being paid, which says nothing about a duplicate.
func notPaidBack(b records.Book) finding {
	const name = "paid_back_same_end_to_end_id"
	for _, t := range b.SameEndToEnd {
		if t.Direction == countersign.Credit && t.AccountID == b.Transaction.AccountID {
			return present(name, t.Amount().String(), rows(records.Transactions, t.ID)).
				disagree("%s of %s came back to the same account with the same end-to-end id.", id(t.ID), t.Amount())
		}
	}
	return absent(name, "none", rows(records.Transactions, b.Transaction.ID))
}

// exactlyOneTwin counts the other copies within the window. A copy counts even if it is pending, reversed or by another kind
// of payment: then it is no twin to refund, but it is one too many for code to choose between.
func exactlyOneTwin(b records.Book) (finding, *records.Transaction) {
	const name = "twin"
	near, undated := copies(b)
	source := rows(records.Transactions, transactionIDs(near)...)
	switch {
	case len(near) > 1:
		return unknown(name, "several copies", source).
			disagree("There are %d other charges like %s close to it (%s): with three or more copies a person decides which are wrong.",
				len(near), id(b.Transaction.ID), rows("", transactionIDs(near)...)), nil
	case len(undated) > 0:
		source = rows(records.Transactions, transactionIDs(undated)...)
		return unknown(name, "a time of day is missing", source).
			cannotTell("Whether %s is the same charge as %s again cannot be told: one of them is recorded without a time of day.",
				id(undated[0].ID), id(b.Transaction.ID)), nil
	case len(near) == 0:
		return absent(name, "none", rows(records.Transactions, b.Transaction.ID)).
			disagree("No other charge of this amount to the same payee lies close to %s.", id(b.Transaction.ID)), nil
	}
	return present(name, near[0].Amount().String()+" at "+near[0].OccurredAt.String(), source), &near[0]
}

// copies returns the other charges that look like the disputed one and lie within the window of it, or of one that does;
// and those of which that cannot be said, because one of the two has no time of day.
func copies(b records.Book) (near, undated []records.Transaction) {
	list := lookalikes(b)
	for _, t := range list {
		switch apart, ok := apart(b.Transaction, t); {
		case !ok:
			undated = append(undated, t)
		case apart <= reach(b.Transaction, t):
			near = append(near, t)
		}
	}
	if len(near) != 1 {
		return near, undated
	}
	for _, t := range list {
		if apart, ok := apart(near[0], t); ok && t.ID != near[0].ID && apart <= reach(near[0], t) {
			near = append(near, t)
		}
	}
	return near, undated
}

// lookalikes returns every other movement on the account that could be the same payment again: same direction, amount and
// currency, and the same payee or the same end-to-end id. One that failed before the ledger was touched is no charge.
func lookalikes(b records.Book) (out []records.Transaction) {
	met := map[string]bool{b.Transaction.ID: true}
	for _, t := range slices.Concat(b.Like, b.SameEndToEnd) {
		if !met[t.ID] && alike(b.Transaction, t) && !untouched(b, t) {
			out = append(out, t)
		}
		met[t.ID] = true
	}
	return out
}

func alike(a, b records.Transaction) bool {
	movement := a.AccountID == b.AccountID && a.Direction == b.Direction && a.Amount() == b.Amount()
	return movement && (samePayee(a, b) != different || compare(a.EndToEndID, b.EndToEndID) == equal)
}

func untouched(b records.Book, t records.Transaction) bool {
	return t.Status == records.Failed && len(other(b, t).entries) == 0
}

// apart is the time between two transactions, false when either has no time of day.
func apart(a, b records.Transaction) (time.Duration, bool) {
	x, ok := a.OccurredAt.Instant()
	y, ok2 := b.OccurredAt.Instant()
	return x.Sub(y).Abs(), ok && ok2
}

// reach is the window for a pair: of one kind its own, else the widest.
func reach(a, b records.Transaction) time.Duration {
	if a.Kind == b.Kind && window[a.Kind] > 0 {
		return window[a.Kind]
	}
	return widest
}

func sameKind(a, b records.Transaction) finding {
	const name = "twin_same_kind"
	source := rows(records.Transactions, a.ID, b.ID)
	if a.Kind != b.Kind {
		return absent(name, id(string(a.Kind))+" and "+id(string(b.Kind)), source).
			disagree("%s is a %s and %s a %s: not the same payment twice.",
				id(a.ID), id(string(a.Kind)), id(b.ID), id(string(b.Kind)))
	}
	return present(name, id(string(a.Kind)), source)
}

func sameParty(a, b records.Transaction) finding {
	const name = "twin_same_payee"
	source := rows(records.Transactions, a.ID, b.ID)
	switch samePayee(a, b) {
	case different:
		return absent(name, "different", source).disagree("%s and %s went to different payees.", id(a.ID), id(b.ID))
	case unclear:
		return unknown(name, "not recorded", source).
			cannotTell("Whether %s and %s went to the same payee is not recorded.", id(a.ID), id(b.ID))
	}
	if a.MerchantID != "" && a.MerchantID == b.MerchantID {
		return present(name, "merchant "+id(a.MerchantID), source)
	}
	return present(name, "account "+records.Mask(a.CounterpartyAccount), source)
}

// likeness of two payees.
type likeness string

const (
	equal     likeness = "equal"
	different likeness = "different"
	unclear   likeness = "unclear"
)

// samePayee compares what both transactions name: merchants if both name one, else the accounts that were paid. One merchant
// paid on two accounts is unclear, and so is a payee that only one of them names.
func samePayee(a, b records.Transaction) likeness {
	merchants := compare(a.MerchantID, b.MerchantID)
	accounts := compare(a.CounterpartyAccount, b.CounterpartyAccount)
	switch {
	case merchants == unclear:
		return accounts
	case merchants == equal && accounts == different:
		return unclear
	}
	return merchants
}

func compare(a, b string) likeness {
	switch {
	case a == "" || b == "":
		return unclear
	case a == b:
		return equal
	}
	return different
}

// sameKey: looking alike is not enough, two coffees a day look alike. Both copies must carry the same end-to-end id or, at
// the same merchant, the same reference. Two different references are two purchases, whatever else agrees.
func sameKey(a, b records.Transaction) finding {
	const name = "twin_same_key"
	source := rows(records.Transactions, a.ID, b.ID)
	endToEnd := compare(usable(a.EndToEndID), usable(b.EndToEndID))
	reference := compare(usable(a.Reference), usable(b.Reference))
	switch {
	case reference == different:
		return absent(name, "different references", source).
			disagree("%s and %s carry different references, as two purchases would.", id(a.ID), id(b.ID))
	case endToEnd == equal:
		return present(name, "end-to-end id", source)
	case reference == equal && compare(a.MerchantID, b.MerchantID) == equal:
		return present(name, "reference at the same merchant", source)
	case reference == equal:
		return absent(name, "reference, but no merchant", source).
			disagree("%s and %s share a reference but name no merchant that gave it.", id(a.ID), id(b.ID))
	case endToEnd == different:
		return absent(name, "different end-to-end ids", source).
			disagree("%s and %s carry different end-to-end ids and no reference that says they are one.", id(a.ID), id(b.ID))
	}
	return absent(name, "none", source).
		disagree("%s and %s only look alike: they share no end-to-end id and no reference.", id(a.ID), id(b.ID))
}

// shareKey reports whether two payments carry one id, whatever else they carry.
func shareKey(a, b records.Transaction) bool {
	reference := compare(usable(a.Reference), usable(b.Reference)) == equal && compare(a.MerchantID, b.MerchantID) == equal
	return reference || compare(a.EndToEndID, b.EndToEndID) == equal
}

// placeholders are what systems write where an id is required and there is none. NOTPROVIDED is ISO 20022's own.
var placeholders = map[string]bool{
	"NOTPROVIDED": true, "NOTAVAILABLE": true, "NONE": true, "NULL": true, "NIL": true, "NA": true, "UNKNOWN": true, "UNDEFINED": true,
}

// usable returns an id that tells payments apart, empty for one that every payment may carry.
func usable(s string) string {
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n-_./\\0*xX#?", r) {
			return -1
		}
		return r
	}, s)
	if bare == "" || placeholders[strings.ToUpper(bare)] {
		return ""
	}
	return s
}

func oneIsLater(a, b records.Transaction) finding {
	const name = "twin_later"
	source := rows(records.Transactions, a.ID, b.ID)
	apart, ok := apart(a, b)
	switch {
	case !ok:
		return unknown(name, "no time of day", source).
			cannotTell("Which of %s and %s is the later one cannot be told.", id(a.ID), id(b.ID))
	case apart == 0:
		return absent(name, "same moment", source).
			disagree("%s and %s happened at the same moment: which of them is the second cannot be told.", id(a.ID), id(b.ID))
	}
	return present(name, id(later(a, b).ID), source)
}

func later(a, b records.Transaction) records.Transaction {
	if a.OccurredAt.String() > b.OccurredAt.String() {
		return a
	}
	return b
}

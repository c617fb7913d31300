package rules

import (
	"fmt"
	"slices"

	"countersign"
	"countersign/desk/bank/records"
)

// posting is one transaction with its ledger entries, on the account of the disputed one.
type posting struct {
	records.Transaction
	entries []records.LedgerEntry
	account records.Account
	fixed   bool   // by this product
	prefix  string // of fact names: empty for the disputed transaction, "twin_" for the other copy
}

// disputed is the posting that the case is about.
func disputed(b records.Book) posting {
	return posting{Transaction: b.Transaction, entries: b.Entries, account: b.Account,
		fixed: slices.Contains(b.Fixed, b.Transaction.ID)}
}

// other is the posting of another transaction in the book. Of one that is not among the like ones no entries were read, so
// nothing can be proved about it.
func other(b records.Book, t records.Transaction) posting {
	p := posting{Transaction: t, account: b.Account, fixed: slices.Contains(b.Fixed, t.ID), prefix: "twin_"}
	for _, e := range b.LikeEntries {
		if e.TransactionID == t.ID {
			p.entries = append(p.entries, e)
		}
	}
	return p
}

// accountIsOurs: the transaction, its account and the account's customer belong together, and they count in one currency.
// The store derives the owner this way; if it ever stopped doing so, no fix would be safe.
func accountIsOurs(b records.Book) finding {
	const name = "account"
	t, source := b.Transaction, rows(records.Accounts, b.Transaction.AccountID)
	shown := records.Mask(b.Account.Number) + " in " + id(b.Account.Currency)
	switch {
	case b.Account.ID != t.AccountID || b.Account.CustomerID != b.Customer.ID || b.Customer.ID == "":
		return unknown(name, "not the account of "+id(t.ID), source).
			disagree("The account of %s and its owner do not belong together in the records.", id(t.ID))
	case b.Account.Currency != t.Currency || !countersign.KnownCurrency(t.Currency):
		return present(name, shown, source).
			disagree("%s counts in %s and its account in %s: what the customer lost is not the amount of the transaction.",
				id(t.ID), id(t.Currency), id(b.Account.Currency))
	}
	return present(name, shown, source)
}

// debitPosted: the customer's account was debited for the full amount, in the transaction's status and in the ledger.
func debitPosted(p posting) finding {
	name, source := p.prefix+"debit_posted", rows(records.Transactions, p.ID)
	switch {
	case p.Direction != countersign.Debit:
		return absent(name, string(p.Direction), source).disagree("%s is a credit: it took nothing from the customer.", id(p.ID))
	case p.Status == records.Pending:
		return unknown(name, "pending", source).cannotTell("%s is still pending in our books.", id(p.ID))
	case p.Status != records.Posted && p.Status != records.Reversed: // a reversed one is what notCorrected speaks of
		return absent(name, id(string(p.Status)), source).
			disagree("%s is %s in our books, not posted.", id(p.ID), id(string(p.Status)))
	}
	return p.debitInLedger(name)
}

// debitInLedger: the original entries debit the account once, in full, in one currency. History may be one-sided, so the
// entry on the other side may be missing; a debit of somebody else may not be there.
func (p posting) debitInLedger(name string) finding {
	if odd, why := p.oddEntry(); why != "" {
		return unknown(name, why, rows(records.LedgerEntries, odd.ID)).
			disagree("Ledger entry %s of %s %s.", id(odd.ID), id(p.ID), why)
	}
	debits := p.entriesThat(func(e records.LedgerEntry) bool {
		return e.Kind == records.Original && e.Direction == countersign.Debit && e.AccountID == p.AccountID
	})
	if len(debits) == 0 {
		return unknown(name, "no ledger entry", rows(records.LedgerEntries)).
			cannotTell("No ledger entry on record debits the customer's account for %s.", id(p.ID))
	}
	source := rows(records.LedgerEntries, entryIDs(debits)...)
	taken, ok := sum(debits)
	if !ok || taken != p.AmountMinor || p.AmountMinor <= 0 {
		return absent(name, money(taken, p.Currency), source).
			disagree("The ledger debits %s for %s, and the transaction is of %s.", money(taken, p.Currency), id(p.ID), p.Amount())
	}
	return present(name, p.Amount().String(), source)
}

// oddEntry finds an entry that no clean posting has.
func (p posting) oddEntry() (odd records.LedgerEntry, why string) {
	for _, e := range p.entries {
		switch {
		case e.TransactionID != p.ID:
			return e, "names another transaction"
		case e.Currency != p.Currency:
			return e, "is in " + id(e.Currency) + " and not in " + id(p.Currency)
		case e.AmountMinor <= 0:
			return e, "has no positive amount"
		case e.Kind == records.Original && e.Direction == countersign.Debit && e.AccountID != p.AccountID:
			return e, "debits another account"
		}
	}
	return odd, ""
}

// notCorrected: nothing was given back yet, whole or part, by whatever name. An adjustment counts whichever way it goes:
// somebody has been at this posting already.
func notCorrected(p posting) finding {
	name := p.prefix + "corrected"
	if back := p.entriesThat(p.givesBack); len(back) > 0 {
		e := back[0]
		return present(name, fmt.Sprintf("%s %s", id(string(e.Kind)), money(e.AmountMinor, e.Currency)), rows(records.LedgerEntries, entryIDs(back)...)).
			disagree("%s was corrected already, in whole or in part: ledger entry %s is %s of %s.",
				id(p.ID), id(e.ID), entryName(e), money(e.AmountMinor, e.Currency))
	}
	if p.fixed {
		return present(name, "fixed here", rows(records.Transactions, p.ID)).
			disagree("A fix was already posted for %s.", id(p.ID))
	}
	if p.Status == records.Reversed {
		return present(name, "reversed", rows(records.Transactions, p.ID)).
			disagree("%s is already reversed in our books.", id(p.ID))
	}
	if len(p.entries) == 0 { // not recorded is not "not there"; debitPosted says what that means for a fix
		return unknown(name, "no ledger entry", rows(records.LedgerEntries))
	}
	return absent(name, "no reversal, refund or other credit", rows(records.LedgerEntries, entryIDs(p.entries)...))
}

// givesBack: reversals and refunds are posted in pairs, but history may hold only the bank's side of one, so they count on
// any account; every other credit counts on the customer's.
func (p posting) givesBack(e records.LedgerEntry) bool {
	switch e.Kind {
	case records.ReversalEntry, records.RefundEntry, records.Adjustment:
		return true
	}
	return p.Direction == countersign.Debit && e.AccountID == p.AccountID && e.Direction == countersign.Credit
}

func entryName(e records.LedgerEntry) string {
	switch e.Kind {
	case records.ReversalEntry, records.RefundEntry:
		return "a " + string(e.Kind)
	case records.Adjustment:
		return "an adjustment"
	}
	return "a credit"
}

func (p posting) entriesThat(keep func(records.LedgerEntry) bool) (out []records.LedgerEntry) {
	for _, e := range p.entries {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

func entryIDs(list []records.LedgerEntry) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.ID
	}
	return out
}

// sum adds the entries' amounts, false when they do not fit: then they are certainly not the transaction's amount.
func sum(list []records.LedgerEntry) (total int64, ok bool) {
	for _, e := range list {
		if total+e.AmountMinor < total {
			return total, false
		}
		total += e.AmountMinor
	}
	return total, true
}

func money(minor int64, currency string) string {
	return countersign.Money{Minor: minor, Currency: currency}.String()
}

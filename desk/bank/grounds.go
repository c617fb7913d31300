package bank

import (
	"cmp"
	"fmt"
	"strings"
)

// said makes a claim of one sentence.
func said(text string, citations ...[]citation) claim {
	c := claim{Text: text, Citations: []citation{}}
	for _, found := range citations {
		c.Citations = append(c.Citations, found...)
	}
	return c
}

// failedTransfer says whether money was taken for a transfer that never arrived, and was not given back.
func (s *sight) failedTransfer() view {
	taken := said(fmt.Sprintf("The full amount of %s was taken from the account.", s.transaction.Amount),
		s.cite("get_transaction", "id", "amount_minor", "status"), s.cite("get_ledger_entries", "taken_minor"))
	given := said("Nothing was given back.", s.cite("get_ledger_entries", "given_back_minor"))
	if v, ok := s.notOwed(); ok {
		return v
	}
	rail := s.cite("get_settlement_status", "status", "final")
	switch {
	case s.transaction.Kind != "transfer":
		return viewed(fails, said("The payment is not a transfer.", s.cite("get_transaction", "kind")))
	case s.ledger.Credits > 0:
		return viewed(open, said("A credit with the same end-to-end id is in the books, so the money may have arrived.",
			s.cite("get_ledger_entries", "credits_with_same_end_to_end_id")))
	case !s.settlement.Found:
		return viewed(open, taken, said("The rail has said nothing of the transfer yet.", s.cite("get_settlement_status", "found")))
	case s.settlement.Status == "failed" && s.settlement.Final && s.transaction.Status == "posted":
		return viewed(holds, taken, said("The rail says that the transfer failed, and that this is final.", rail), given)
	case s.settlement.Status == "settled" && s.settlement.Final:
		return viewed(fails, said("The rail says that the transfer was settled, and that this is final.", rail))
	}
	return viewed(open, taken, said(fmt.Sprintf("The rail's word is %q, and that does not settle it.", s.settlement.Status), rail))
}

// notOwed is what every correction needs: a debit that was posted in full and is still missing.
func (s *sight) notOwed() (view, bool) {
	t, l := s.transaction, s.ledger
	switch {
	case t.Direction != "debit":
		return viewed(open, said("The transaction brought money in.", s.cite("get_transaction", "direction"))), true
	case l.OtherCurrency:
		return viewed(open, said("The ledger holds entries in another currency.", s.cite("get_ledger_entries", "other_currency"))), true
	case l.GivenBackMinor >= t.AmountMinor && t.AmountMinor > 0, l.FixedBefore, t.Status == "reversed":
		return viewed(fails, said("The money was already given back.",
			s.cite("get_transaction", "status", "amount_minor"), s.cite("get_ledger_entries", "given_back_minor", "fixed_before"))), true
	case l.GivenBackMinor == 0 && l.Corrections > 0:
		return viewed(open, said("Somebody has already corrected this posting.", s.cite("get_ledger_entries", "corrections"))), true
	case l.GivenBackMinor > 0:
		return viewed(open, said("A part of the money was already given back.", s.cite("get_ledger_entries", "given_back_minor"),
			s.cite("get_transaction", "amount_minor"))), true
	case l.TakenMinor == 0 && t.Status == "failed":
		return viewed(fails, said("Nothing was taken from the account: the payment failed before it was posted.",
			s.cite("get_transaction", "status"), s.cite("get_ledger_entries", "taken_minor"))), true
	case l.TakenMinor != t.AmountMinor:
		return viewed(open, said("The ledger does not show exactly the disputed amount as taken.",
			s.cite("get_transaction", "amount_minor", "status"), s.cite("get_ledger_entries", "taken_minor"))), true
	}
	return view{}, false
}

// doubleCharge says whether exactly one other transaction is the same payment taken again.
func (s *sight) doubleCharge() view {
	if v, ok := s.notOwed(); ok {
		return v
	}
	if i := s.comingBack(); i >= 0 {
		return viewed(open, said("A payment with the same end-to-end id came back to the account.",
			s.cite("get_related_transactions", fmt.Sprintf("same_end_to_end_id[%d].id", i))))
	}
	near := s.nearCopies()
	switch {
	case s.settlement.Status == "failed" || s.settlement.Status == "returned":
		return viewed(open, said("The rail says that this one failed, so its money may come back by itself.", s.cite("get_settlement_status", "status")))
	case len(s.related.Copies) == 0:
		return viewed(fails, said("No other transaction of the account has this amount and this merchant or counterparty.",
			s.cite("get_transaction", "id", "amount_minor"), s.cite("get_related_transactions", "possible_copies_not_listed")))
	case len(near) == 0:
		return viewed(open, said("The nearest payment of this amount to the same party is too far away in time to be the same one.",
			s.cite("get_related_transactions", "possible_copies[0].id", "possible_copies[0].seconds_apart")))
	case len(near) > 1:
		return viewed(open, said("More than one other payment could be the copy.",
			s.cite("get_related_transactions", copied(near[0], "id"), copied(near[1], "id"))))
	}
	return s.oneCopy(near[0])
}

// nearCopies are the places of the possible copies that are close enough in time, or may be.
func (s *sight) nearCopies() (near []int) {
	for i, c := range s.related.Copies {
		if c.SecondsApart == nil || max(*c.SecondsApart, -*c.SecondsApart) <= window(s.transaction.Kind) {
			near = append(near, i)
		}
	}
	return near
}

// comingBack is the place of a credit to the account with the same end-to-end id, -1 if there is none.
func (s *sight) comingBack() int {
	for i, leg := range s.related.EndToEnd {
		if leg.Direction == "credit" {
			return i
		}
	}
	return -1
}

// window is how far apart in seconds two copies of one payment are at most: a card terminal repeats itself within a day, a
// transfer within minutes.
func window(kind string) int64 {
	if kind == "transfer" {
		return 10 * 60
	}
	return 24 * 60 * 60
}

// copied is the path of one field of the i-th possible copy.
func copied(i int, field string) string { return fmt.Sprintf("possible_copies[%d].%s", i, field) }

func (s *sight) oneCopy(i int) view {
	c := s.related.Copies[i]
	cite := func(fields ...string) []citation {
		var found []citation
		for _, field := range fields {
			found = append(found, s.cite("get_related_transactions", copied(i, field))...)
		}
		return found
	}
	disputed := s.cite("get_transaction", "id", "amount_minor", "status")
	switch {
	case c.GivenBackMinor > 0 || c.FixedBefore || c.Status == "reversed":
		return viewed(fails, said("The other charge was already given back.", cite("id", "status", "given_back_minor", "fixed_before")))
	case !c.Posted || c.Status != "posted" || s.transaction.Status != "posted":
		return viewed(open, said("Not both charges are posted in full.", disputed, cite("id", "status", "posted_in_full")))
	case c.Order != "earlier" && c.Order != "later":
		return viewed(open, said("It cannot be told which of the two charges came later.", cite("id", "order")))
	case c.SameReference == no, c.SameEndToEndID == no && !(c.SameMerchant == yes && c.SameReference == yes):
		return viewed(open, said("The two charges carry different references, so they may be two purchases.",
			cite("id", "same_reference", "same_end_to_end_id")))
	case c.SameEndToEndID != yes && !(c.SameMerchant == yes && c.SameReference == yes):
		return viewed(open, said("Nothing but the amount and the party ties the two charges together.",
			cite("id", "same_reference", "same_end_to_end_id")))
	}
	return viewed(holds,
		said(fmt.Sprintf("The amount of %s was taken from the account.", s.transaction.Amount), disputed, s.cite("get_ledger_entries", "taken_minor")),
		said(fmt.Sprintf("Transaction %s is the same payment taken again, and the %s of the two.", c.ID, c.Order),
			cite("id", "order", "seconds_apart", "same_end_to_end_id", "same_reference", "posted_in_full")),
		said("Neither was given back.", s.cite("get_ledger_entries", "given_back_minor"), cite("given_back_minor")))
}

// signals are the records' own hints that somebody else made the payment.
func (s *sight) signals() (found []claim) {
	const device = "get_device_and_location"
	d := s.device
	if d.Found && d.Device.Trusted == no {
		found = append(found, said("The payment was made with a device that is not trusted.", s.cite(device, "device.trusted")))
	}
	if known := d.Device.SecondsKnown; d.Found && known != nil && *known < 24*60*60 {
		found = append(found, said("The device was new to the customer when the payment was made.", s.cite(device, "device.seconds_known_before_transaction")))
	}
	if d.PlaceIsHome == no && d.PlaceIsKnown == no {
		found = append(found, said("The payment was made in a city that the customer is not known in.",
			s.cite(device, "place_is_home", "place_seen_on_older_device", "place.city")))
	}
	if s.merchant.Flagged {
		found = append(found, said("The merchant is flagged.", s.cite("get_merchant_info", "flagged")))
	}
	if s.profile.Flagged {
		found = append(found, said("The customer's account is flagged.", s.cite("get_customer_profile", "flagged")))
	}
	return append(found, s.burst()...)
}

// burst finds a run of debits too quick for one person.
func (s *sight) burst() []claim {
	var fields []string
	for i, other := range s.related.Debits {
		if other.SecondsApart != nil && max(*other.SecondsApart, -*other.SecondsApart) <= 10*60 {
			fields = append(fields, fmt.Sprintf("debits_around[%d].seconds_apart", i))
		}
	}
	if len(fields) < 5 {
		return nil
	}
	return []claim{said("Many other debits were made within minutes of it.", s.cite("get_related_transactions", fields[:5]...))}
}

// familiar says that nothing about the payment is unusual, as far as it was recorded.
func (s *sight) familiar() []claim {
	if !s.device.Found {
		return nil
	}
	return []claim{said("The payment was made with a device that the customer has had for some time.",
		s.cite("get_device_and_location", "device.trusted", "device.seconds_known_before_transaction"))}
}

// gaps are records that would have made it certain that the customer made the payment, and are not there.
func (s *sight) gaps() (found []claim) {
	switch {
	case !s.device.Found:
		found = append(found, said("No device is on record for the payment.", s.cite("get_device_and_location", "found")))
	case s.device.Device.Trusted != yes || s.device.Device.SecondsKnown == nil:
		found = append(found, said("How well the customer's device is known was not recorded.", s.cite("get_device_and_location", "device.trusted")))
	}
	return found
}

// whatHappened is the course of the payment as the books have it: whoever takes the case on begins there.
func (s *sight) whatHappened() []claim {
	t, l := s.transaction, s.ledger
	claims := []claim{said(fmt.Sprintf("The books hold a %s %s of %s, and it is %s.", t.Kind, t.Direction, t.Amount, t.Status),
		s.cite("get_transaction", "kind", "direction", "amount_minor", "status"))}
	back := "nothing of it was given back"
	if l.GivenBackMinor > 0 {
		back = "money was given back"
	}
	return append(claims, said("In the ledger, "+back+".", s.cite("get_ledger_entries", "found", "given_back_minor")))
}

// railSays is the rail's word, if there is one.
func (s *sight) railSays() []claim {
	if !s.settlement.Found {
		return nil
	}
	return []claim{said(fmt.Sprintf("The rail's word is %q.", s.settlement.Status), s.cite("get_settlement_status", "status", "final"))}
}

func (s *sight) unreadable() []claim {
	var names []string
	for _, tool := range s.unread {
		names = append(names, cmp.Or(reads[tool], tool))
	}
	return []claim{said("These could not be read: " + strings.Join(names, ", ") + ".")}
}

package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

const (
	newDevice   = 24 * time.Hour   // a device first seen less than this before the transaction is new
	rush        = 10 * time.Minute // in which
	tooManyRush = 5                // debits are ordinary, and one more is not
)

// fraudSignals: what the books show of somebody else using the account. Any signal, and anything that a signal would have
// been read from and is not recorded, ends with a person, whatever is proposed. twin is set aside when debits are counted: a
// duplicate is one payment that the customer made.
func fraudSignals(b records.Book, twin string) []finding {
	return []finding{
		deviceTrusted(b), deviceNotNew(b), cityUsual(b), noRush(b, twin), merchantClean(b), customerClean(b),
	}
}

// deviceTrusted: untrusted is a signal; so is a device that is another customer's. A device that is not on record, or whose
// trust nobody recorded, is unknown.
func deviceTrusted(b records.Book) finding {
	const name = "device_untrusted"
	d := b.Device
	if d == nil || d.ID != b.Transaction.DeviceID || d.ID == "" {
		return noDevice(name, b.Transaction)
	}
	source := rows(records.Devices, d.ID)
	switch {
	case d.CustomerID != b.Customer.ID:
		return present(name, "another customer's", source).suspect("Device %s belongs to another customer.", id(d.ID))
	case d.Trusted == nil:
		return unknown(name, "not recorded", source).cannotTell("Whether device %s is trusted is not recorded.", id(d.ID))
	case !*d.Trusted:
		return present(name, "untrusted", source).suspect("Device %s is not trusted.", id(d.ID))
	}
	return absent(name, "trusted", source)
}

// deviceNotNew: a device that appeared within a day of the payment, or only after it, is a signal.
func deviceNotNew(b records.Book) finding {
	const name = "device_new"
	d := b.Device
	if d == nil || d.ID != b.Transaction.DeviceID || d.ID == "" {
		return unknown(name, "no device on record", rows(records.Transactions, b.Transaction.ID)) // deviceTrusted gives the reason
	}
	source := rows(records.Devices, d.ID)
	known, ok := knownFor(*d, b.Transaction)
	switch {
	case !ok:
		return unknown(name, "no time of day", source).
			cannotTell("How long device %s was known before %s cannot be told: a time of day is missing.",
				id(d.ID), id(b.Transaction.ID))
	case known < newDevice:
		return present(name, "first seen "+d.FirstSeenAt.String(), source).
			suspect("Device %s was first seen less than 24 hours before %s.", id(d.ID), id(b.Transaction.ID))
	}
	return absent(name, "first seen "+d.FirstSeenAt.String(), source)
}

func noDevice(name string, t records.Transaction) finding {
	return unknown(name, "no device on record", rows(records.Transactions, t.ID)).
		cannotTell("No device is on record for %s, so whether it was the customer's cannot be told.", id(t.ID))
}

// knownFor is how long a device was known before the transaction, false when either moment is not.
func knownFor(d records.Device, t records.Transaction) (time.Duration, bool) {
	first, ok := d.FirstSeenAt.Instant()
	at, ok2 := t.OccurredAt.Instant()
	return at.Sub(first), ok && ok2
}

// cityUsual: the payment was made in the home city or where an older device of the customer is. A device vouches for a city
// only if it was known a day before and is not untrusted; one whose age is not recorded leaves the question open.
func cityUsual(b records.Book) finding {
	const name = "city_unusual"
	t := b.Transaction
	source := rows(records.Transactions, t.ID)
	here := place{t.City, t.Country}
	if here.none() {
		return unknown(name, "no city on record", source).cannotTell("No city is on record for %s.", id(t.ID))
	}
	home := place{b.Customer.HomeCity, b.Customer.HomeCountry}
	if here.is(home) {
		return absent(name, id(t.City)+", the home city", rows(records.Customers, b.Customer.ID))
	}
	vouched, ageless := vouchers(b, here)
	switch {
	case vouched != "":
		return absent(name, id(t.City)+", where an older device is", rows(records.Devices, vouched))
	case ageless != "":
		return unknown(name, id(t.City), rows(records.Devices, ageless)).
			cannotTell("%s was made in %s, which is not the home city; how long device %s has been there cannot be told.",
				id(t.ID), id(t.City), id(ageless))
	case home.none():
		return unknown(name, id(t.City), source).
			cannotTell("The customer's home city is not on record, so whether %s is unusual cannot be told.", id(t.City))
	}
	return present(name, id(t.City), source).
		suspect("%s was made in %s, which is neither the customer's home city nor an older device's.", id(t.ID), id(t.City))
}

// vouchers finds a device that speaks for the city, or one that might if its age were known.
func vouchers(b records.Book, here place) (vouched, ageless string) {
	for _, d := range b.Devices {
		if !mayVouch(b, d) || !here.is(place{d.City, d.Country}) {
			continue
		}
		if _, ok := knownFor(d, b.Transaction); ok {
			return d.ID, ""
		}
		ageless = d.ID
	}
	return "", ageless
}

// mayVouch leaves out devices of others, untrusted ones and new ones.
func mayVouch(b records.Book, d records.Device) bool {
	known, ok := knownFor(d, b.Transaction)
	untrusted := d.Trusted != nil && !*d.Trusted
	return d.CustomerID == b.Customer.ID && !untrusted && (!ok || known >= newDevice)
}

// place is a city, and the country as far as it is recorded: London is not London, Ontario.
type place struct{ city, country string }

func (p place) none() bool { return strings.TrimSpace(p.city) == "" }

func (p place) is(q place) bool {
	city := !p.none() && strings.EqualFold(strings.TrimSpace(p.city), strings.TrimSpace(q.city))
	a, b := strings.TrimSpace(p.country), strings.TrimSpace(q.country)
	return city && (a == "" || b == "" || strings.EqualFold(a, b))
}

// noRush counts the account's debits in the ten minutes before, around and after the payment, whichever holds most. Every
// attempt counts, posted or not: a thief's failed tries are part of the rush.
func noRush(b records.Book, twin string) finding {
	const name = "many_debits"
	source := rows(records.Transactions, b.Transaction.ID)
	most, undated := busiest(b, twin)
	value := fmt.Sprintf("%d in 10 minutes", most)
	switch {
	case most > tooManyRush:
		return present(name, value, source).
			suspect("The account has %d debits in 10 minutes around %s.", most, id(b.Transaction.ID))
	case undated != "":
		return unknown(name, "a time of day is missing", rows(records.Transactions, undated)).
			cannotTell("How many debits fell within 10 minutes of %s cannot be told: %s is recorded without a time of day.",
				id(b.Transaction.ID), id(undated))
	}
	return absent(name, value, source)
}

// busiest returns the largest number of debits in any ten minutes that hold the disputed one, and a debit that could not be
// placed, if there is one.
func busiest(b records.Book, twin string) (most int, undated string) {
	at, ok := b.Transaction.OccurredAt.Instant()
	if !ok {
		return 0, b.Transaction.ID
	}
	times := []time.Time{at}
	for _, t := range b.Recent {
		if t.ID == b.Transaction.ID || t.ID == twin || t.Direction != countersign.Debit {
			continue
		}
		when, ok := t.OccurredAt.Instant()
		if !ok {
			undated = t.ID
			continue
		}
		if when.Sub(at).Abs() <= rush {
			times = append(times, when)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for first, last := 0, 0; first < len(times) && !times[first].After(at); first++ { // the busiest ten minutes begin with a debit
		for last < len(times) && times[last].Sub(times[first]) <= rush {
			last++
		}
		if at.Sub(times[first]) <= rush {
			most = max(most, last-first)
		}
	}
	return most, undated
}

// merchantClean: a flagged merchant is a signal. A merchant that is named but not on record is unknown, and so is a card
// payment that names none; transfers and withdrawals have none to look up.
func merchantClean(b records.Book) finding {
	const name = "merchant_flagged"
	t, m := b.Transaction, b.Merchant
	source := rows(records.Merchants, t.MerchantID)
	switch {
	case t.MerchantID == "" && t.Kind == records.Card:
		return unknown(name, "no merchant named", rows(records.Transactions, t.ID)).
			cannotTell("The card payment %s names no merchant, so whether it is flagged cannot be told.", id(t.ID))
	case t.MerchantID == "":
		return absent(name, "no merchant named", rows(records.Transactions, t.ID))
	case m == nil || m.ID != t.MerchantID:
		return unknown(name, "not on record", source).
			cannotTell("Merchant %s is not on record, so whether it is flagged cannot be told.", id(t.MerchantID))
	case m.Flagged:
		return present(name, "flagged", source).suspect("Merchant %s is flagged.", id(m.ID))
	}
	return absent(name, "not flagged", source)
}

func customerClean(b records.Book) finding {
	const name = "customer_flagged"
	source := rows(records.Customers, b.Customer.ID)
	if len(b.Customer.Flags) > 0 {
		flags := rows("", b.Customer.Flags...)
		return present(name, flags, source).suspect("The customer is flagged: %s.", flags)
	}
	return absent(name, "none", source)
}

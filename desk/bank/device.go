package bank

import (
	"strings"
	"time"

	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// mostDevices is how many other devices a result lists.
const mostDevices = 20

// deviceShown is the result of get_device_and_location.
type deviceShown struct {
	Found            bool      `json:"found"`  // the transaction's device is on record
	Device           any       `json:"device"` // null when it is not
	Place            place     `json:"place"`  // where the transaction was made
	Home             place     `json:"home"`
	PlaceIsHome      answer    `json:"place_is_home"`
	PlaceIsKnown     answer    `json:"place_seen_on_older_device"`
	OtherDevices     []handset `json:"other_devices"`
	DevicesNotListed int       `json:"other_devices_not_listed"`
}

type place struct {
	City    any `json:"city"`
	Country any `json:"country"`
}

// handset is one device of the customer.
type handset struct {
	Label       fence.Words `json:"label"`
	FirstSeenAt string      `json:"first_seen_at"`
	LastSeenAt  string      `json:"last_seen_at"`
	City        any         `json:"city"`
	Country     any         `json:"country"`
	Trusted     answer      `json:"trusted"`
}

// paidWith is the device that the transaction was made with. The seconds are null when they cannot be told.
type paidWith struct {
	handset
	SecondsKnown *int64 `json:"seconds_known_before_transaction"`
}

func deviceResult(b records.Book) any {
	t := b.Transaction
	others, left := firstOf(otherDevices(b), mostDevices)
	s := deviceShown{
		Found: b.Device != nil, Place: place{word(t.City), word(t.Country)},
		Home: place{word(b.Customer.HomeCity), word(b.Customer.HomeCountry)},
		// Only the city is compared: a country written as NG here and Nigeria there would be a difference that is none.
		PlaceIsHome: samePlace(t.City, b.Customer.HomeCity), PlaceIsKnown: seenBefore(b),
		OtherDevices: each(others, shownDevice), DevicesNotListed: left,
	}
	if b.Device != nil {
		s.Device = paidWith{shownDevice(*b.Device), between(b.Device.FirstSeenAt, t.OccurredAt)}
	}
	return s
}

func shownDevice(d records.Device) handset {
	return handset{fence.Words(d.Label), when(d.FirstSeenAt), when(d.LastSeenAt), word(d.City), word(d.Country), trusted(d)}
}

func trusted(d records.Device) answer {
	if d.Trusted == nil {
		return unknown
	}
	return answered(*d.Trusted)
}

func otherDevices(b records.Book) (others []records.Device) {
	for _, d := range b.Devices {
		if d.ID != b.Transaction.DeviceID {
			others = append(others, d)
		}
	}
	return others
}

// seenBefore says whether a device that the customer had had for a day or more when the payment was made has been in its
// city.
func seenBefore(b records.Book) answer {
	if b.Transaction.City == "" {
		return unknown
	}
	for _, d := range b.Devices {
		older := between(d.FirstSeenAt, b.Transaction.OccurredAt)
		vouches := d.Trusted == nil || *d.Trusted
		if vouches && older != nil && *older >= int64(24*time.Hour/time.Second) && samePlace(d.City, b.Transaction.City) == yes {
			return yes
		}
	}
	return no
}

func samePlace(a, b string) answer {
	return same(strings.ToLower(strings.TrimSpace(a)), strings.ToLower(strings.TrimSpace(b)))
}

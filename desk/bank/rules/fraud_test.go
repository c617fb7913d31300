package rules

import (
	"testing"

	"countersign"
	"countersign/desk/bank/records"

	"github.com/google/go-cmp/cmp"
)

// TestFraudSignals: a signal sends the case to a person and leaves the fix there for the person to post.
func TestFraudSignals(t *testing.T) {
	own := func(change func(*records.Device)) func(*book) { return func(b *book) { change(b.Device) } }
	const city = "Kano"
	for name, r := range map[string]row{
		"a trusted old device at home is no signal":     {func(b *book) {}, nil},
		"a city that another old device is in is usual": {func(b *book) { b.Transaction.City = "abuja " }, nil},
		"the home city counts without its country":      {func(b *book) { b.Transaction.Country = "" }, nil},
		"five debits in ten minutes are ordinary":       {func(b *book) { debits(b, 4) }, nil},
		"credits are no debits":                         {func(b *book) { debits(b, 6); direct(b, countersign.Credit) }, nil},
		"exactly 24 hours make a device old":            {own(func(d *records.Device) { d.FirstSeenAt = when("2026-11-27T09:14:00Z") }), nil},
		"a transfer has no merchant to be flagged":      {func(b *book) { b.Merchant = nil }, nil},
		"six debits, but not within ten minutes": {func(b *book) {
			debits(b, 5)
			b.Recent[1].OccurredAt = at("09:25:00")
		}, nil},
		"six debits in twenty minutes around the payment are no rush": {func(b *book) {
			debits(b, 5)
			for i, clock := range []string{"09:05:00", "09:06:00", "09:07:00", "09:22:00", "09:23:00"} {
				b.Recent[i+1].OccurredAt = at(clock)
			}
		}, nil},

		"an untrusted device": {own(func(d *records.Device) { d.Trusted = no() }),
			[]string{"fraud_suspected: Device D-1 is not trusted."}},
		"a device whose trust nobody recorded": {own(func(d *records.Device) { d.Trusted = nil }),
			[]string{"facts_unknown: Whether device D-1 is trusted is not recorded."}},
		"a device of another customer": {own(func(d *records.Device) { d.CustomerID = "C-2" }),
			[]string{"fraud_suspected: Device D-1 belongs to another customer."}},
		"no device on record": {func(b *book) { b.Device, b.Transaction.DeviceID = nil, "" },
			[]string{"facts_unknown: No device is on record for T-1, so whether it was the customer's cannot be told."}},
		"a device id that is not on record": {func(b *book) { b.Device = nil },
			[]string{"facts_unknown: No device is on record for T-1, so whether it was the customer's cannot be told."}},
		"the device on hand is not the transaction's": {func(b *book) { b.Transaction.DeviceID = "D-7" },
			[]string{"facts_unknown: No device is on record for T-1, so whether it was the customer's cannot be told."}},
		"a device first seen a second less than 24 hours before": {own(func(d *records.Device) { d.FirstSeenAt = when("2026-11-27T09:14:01Z") }),
			[]string{"fraud_suspected: Device D-1 was first seen less than 24 hours before T-1."}},
		"a device first seen after the payment": {own(func(d *records.Device) { d.FirstSeenAt = at("23:00:00") }),
			[]string{"fraud_suspected: Device D-1 was first seen less than 24 hours before T-1."}},
		"a device first seen on a day, at no time": {own(func(d *records.Device) { d.FirstSeenAt = when("2025-01-01") }),
			[]string{"facts_unknown: How long device D-1 was known before T-1 cannot be told: a time of day is missing."}},
		"a device nobody noted the first day of": {own(func(d *records.Device) { d.FirstSeenAt = countersign.When{} }),
			[]string{"facts_unknown: How long device D-1 was known before T-1 cannot be told: a time of day is missing."}},

		"a city that is neither home nor an older device's": {func(b *book) { b.Transaction.City = city },
			[]string{"fraud_suspected: T-1 was made in Kano, which is neither the customer's home city nor an older device's."}},
		"the home city's name in another country": {func(b *book) { b.Transaction.Country = "GH" },
			[]string{"fraud_suspected: T-1 was made in Lagos, which is neither the customer's home city nor an older device's."}},
		"a city that only a device of today is in": {func(b *book) {
			b.Transaction.City = city
			b.Devices[1].City, b.Devices[1].FirstSeenAt = city, at("08:00:00")
		}, []string{"fraud_suspected: T-1 was made in Kano, which is neither the customer's home city nor an older device's."}},
		"a city that only an untrusted device is in": {func(b *book) {
			b.Transaction.City, b.Devices[1].City, b.Devices[1].Trusted = city, city, no()
		}, []string{"fraud_suspected: T-1 was made in Kano, which is neither the customer's home city nor an older device's."}},
		"a city that only another customer's device is in": {func(b *book) {
			b.Transaction.City, b.Devices[1].City, b.Devices[1].CustomerID = city, city, "C-2"
		}, []string{"fraud_suspected: T-1 was made in Kano, which is neither the customer's home city nor an older device's."}},
		"a city of a device whose age is not recorded": {func(b *book) {
			b.Transaction.City, b.Devices[1].City, b.Devices[1].FirstSeenAt = city, city, when("2025-06-01")
		}, []string{"facts_unknown: T-1 was made in Kano, which is not the home city; how long device D-2 has been there cannot be told."}},
		"no city on record": {func(b *book) { b.Transaction.City = " " },
			[]string{"facts_unknown: No city is on record for T-1."}},
		"no home city on record": {func(b *book) { b.Customer.HomeCity, b.Transaction.City = "", city },
			[]string{"facts_unknown: The customer's home city is not on record, so whether Kano is unusual cannot be told."}},

		"six debits in ten minutes": {func(b *book) { debits(b, 5) },
			[]string{"fraud_suspected: The account has 6 debits in 10 minutes around T-1."}},
		"six debits of which the disputed one is the last": {func(b *book) {
			debits(b, 5)
			for i, clock := range []string{"09:04:00", "09:05:00", "09:06:00", "09:07:00", "09:08:00"} {
				b.Recent[i+1].OccurredAt = at(clock)
			}
		}, []string{"fraud_suspected: The account has 6 debits in 10 minutes around T-1."}},
		"a debit without a time of day": {func(b *book) { debits(b, 1); b.Recent[1].OccurredAt = when("2026-11-28") },
			[]string{"facts_unknown: How many debits fell within 10 minutes of T-1 cannot be told: T-50 is recorded without a time of day."}},
		"six debits are a rush whatever else has no time": {func(b *book) { debits(b, 6); b.Recent[6].OccurredAt = when("2026-11-28") },
			[]string{"fraud_suspected: The account has 6 debits in 10 minutes around T-1."}},
		"a merchant that is flagged": {func(b *book) {
			b.Transaction.MerchantID, b.Merchant = "M-1", &records.Merchant{ID: "M-1", Flagged: true}
		},
			[]string{"fraud_suspected: Merchant M-1 is flagged."}},
		"a merchant that is not on record": {func(b *book) { b.Transaction.MerchantID = "M-1" },
			[]string{"facts_unknown: Merchant M-1 is not on record, so whether it is flagged cannot be told."}},
		"the merchant on hand is another": {func(b *book) { b.Transaction.MerchantID, b.Merchant = "M-1", &records.Merchant{ID: "M-2"} },
			[]string{"facts_unknown: Merchant M-1 is not on record, so whether it is flagged cannot be told."}},
		"a customer with a flag": {func(b *book) { b.Customer.Flags = []string{"mule\x1b"} },
			[]string{"fraud_suspected: The customer is flagged: mule?."}},
	} {
		t.Run(name, func(t *testing.T) {
			b := failedBook()
			r.change(&b)
			f := Judge(b)
			if diff := cmp.Diff(r.want, relevant(f, countersign.FailedTransfer)); diff != "" {
				t.Error(diff)
			}
			if f.Fix == nil {
				t.Error("the fix is gone: a person who waives the signal could not post it")
			}
			for _, d := range f.Doubts {
				if d.Reason.Code == countersign.FraudSuspected && d.Against != "" {
					t.Errorf("a fraud signal speaks against %q only", d.Against)
				}
			}
		})
	}
}

func direct(b *book, d countersign.Direction) {
	for i := range b.Recent {
		if b.Recent[i].ID != b.Transaction.ID {
			b.Recent[i].Direction = d
		}
	}
}

func TestFraudSignalsOfACard(t *testing.T) {
	t.Run("a card payment that names no merchant", func(t *testing.T) {
		b := duplicateBook()
		b.Transaction.MerchantID, b.Merchant = "", nil
		want := "facts_unknown: The card payment T-1 names no merchant, so whether it is flagged cannot be told."
		if got := relevant(Judge(b), countersign.FailedTransfer); got[len(got)-1] != want {
			t.Error(got)
		}
	})
	t.Run("the twin of a duplicate is not a debit of its own", func(t *testing.T) {
		b := duplicateBook()
		debits(&b, 4)
		if got := relevant(Judge(b), countersign.DuplicateCharge); got != nil {
			t.Error(got)
		}
	})
	t.Run("but a copy that is no duplicate is", func(t *testing.T) {
		b := duplicateBook()
		debits(&b, 4)
		b.Like[0].Reference = "ORDER-8"
		want := "fraud_suspected: The account has 6 debits in 10 minutes around T-1."
		if got := relevant(Judge(b), countersign.FailedTransfer); got[len(got)-1] != want {
			t.Error(got)
		}
	})
}

package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// live gives a customer two months of payments that nobody disputes: shopping, transfers to friends, airtime, cash and a
// salary.
func (b *books) live(i int) {
	roll := dice(1000 + i)
	for d := 62; d >= 2; d-- {
		if roll.IntN(5) < 3 {
			b.spend(i, d, roll)
		}
		if d%30 == 1 {
			b.earn(i, d, roll)
		}
	}
}

// spend is one payment on one day, in waking hours. A day has one, so that no run of them looks like a thief's.
func (b *books) spend(i, daysAgo int, roll *rand.Rand) {
	t := b.ordinary(i, b.before(time.Duration(daysAgo)*day+time.Duration(roll.IntN(16*60))*time.Minute))
	t.Direction, t.DeviceID = countersign.Debit, deviceID(i)
	switch kind := roll.IntN(10); {
	case kind < 5:
		merchant := 8 + roll.IntN(8)
		t.Kind, t.Channel, t.MerchantID = records.Card, "pos", fmt.Sprintf("M-%03d", merchant)
		t.AmountMinor, t.Reference = kobo(roll, 800_00, 22_000_00), "POS-"+t.ID
		t.DeviceID = deviceID(i)
	case kind < 8:
		friend := roll.IntN(len(friends))
		t.Kind, t.Channel = records.Transfer, "mobile_app"
		t.CounterpartyName, t.CounterpartyAccount = friends[friend], nuban(300_000_000+friend*104729)
		t.AmountMinor, t.Memo = kobo(roll, 1_000_00, 40_000_00), memos[roll.IntN(len(memos))]
	case kind < 9:
		t.Kind, t.Channel, t.CounterpartyName, t.AmountMinor = records.Bill, "ussd", "Airtime top-up", kobo(roll, 100_00, 3_000_00)
	default:
		t.Kind, t.Channel, t.CounterpartyName, t.AmountMinor = records.ATM, "atm", "Cash withdrawal", int64(5+roll.IntN(35))*1_000_00
	}
	b.book(payment{t: t, settlement: settled("NIP")})
}

func (b *books) earn(i, daysAgo int, roll *rand.Rand) {
	t := b.ordinary(i, b.before(time.Duration(daysAgo)*day+30*time.Minute))
	t.Kind, t.Direction, t.Channel = records.Transfer, countersign.Credit, "salary"
	t.CounterpartyName, t.AmountMinor, t.Memo = "Employer payroll", kobo(roll, 90_000_00, 420_000_00), "salary"
	t.City = ""
	b.book(payment{t: t, settlement: settled("NIP")})
}

func (b *books) ordinary(i int, at time.Time) records.Transaction {
	b.n++
	id := fmt.Sprintf("TX-%06d", 100000+b.n)
	return records.Transaction{
		ID: id, AccountID: accountID(i, "NGN"), Currency: "NGN", OccurredAt: countersign.At(at), EndToEndID: "E2E-" + id,
		City: people[i].city, Country: "NG",
	}
}

// kobo is an amount in naira's smallest unit, from one up to another.
func kobo(roll *rand.Rand, from, to int) int64 { return int64(from + roll.IntN(to-from)) }

func settled(rail string) records.Settlement {
	return records.Settlement{Status: records.Settled, Final: true, Rail: rail}
}

var (
	friends = []string{"Blessing Akpan", "Kabiru Sale", "Titi Alabi", "Joy Ekanem", "Peter Gana", "Rukayat Salami", "Chuka Obioha",
		"Esther Bassey", "Lanre Popoola", "Fatima Waziri"}
	memos = []string{"", "rent share", "for the generator", "school fees part payment", "thank you", "ajo contribution", "okada man", "data"}
)

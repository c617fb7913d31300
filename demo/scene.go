package demo

import (
	"fmt"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// story is one dispute and what the books hold about it.
type story struct {
	Dispute
	scene
}

// scene is the disputed payment and what surrounds it. The zero of each field is the ordinary: a posted debit in naira, made
// with the customer's own phone in the customer's own city.
type scene struct {
	who    int           // place in people
	ago    time.Duration // before now
	amount int64         // in the currency's smallest unit
	dollar bool
	credit bool

	merchant  string // a card payment there; empty is a transfer
	payee     string // of a transfer
	reference string
	memo      string

	rail     records.SettlementStatus // empty is no settlement on record
	open     bool                     // the rail may still change its mind
	why      string                   // the rail's reason for a failure
	given    int64                    // already given back
	city     string                   // instead of the home city
	newPhone bool                     // made with a phone first seen an hour before
	noPhone  bool                     // no device is on record
	untimed  bool                     // the time of day is not recorded
	arrived  bool                     // the payee's account here was credited
	burst    int                      // other debits in the minutes before
	again    []again

	overtaken bool // the core system refunds it while the model is thinking
}

// again is another payment like the disputed one.
type again struct {
	after     time.Duration // negative for an earlier one
	reference string        // the same as the disputed one's when empty
	given     int64
}

// storyID is the disputed transaction of the i-th story.
func storyID(i int) string { return fmt.Sprintf("TX-%06d", 900001+i*10) }

// tell puts a story into the books.
func (b *books) tell(i int, s story) {
	p := s.payment(b, i)
	b.book(p)
	b.giveBack(p.t, s.given)
	for n, a := range s.again {
		b.repeat(p, n, a)
	}
	for n := range s.burst {
		b.hurry(p.t, n)
	}
	if s.newPhone {
		b.newPhone(s.scene, p.t)
	}
	if s.arrived {
		b.arrive(p.t)
	}
}

func (s scene) payment(b *books, i int) payment {
	at := b.before(s.ago)
	t := records.Transaction{
		ID: storyID(i), AccountID: accountID(s.who, "NGN"), Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: s.amount, Currency: "NGN",
		OccurredAt: countersign.At(at), Reference: s.reference, EndToEndID: "E2E-" + storyID(i), Channel: "mobile_app",
		DeviceID: deviceID(s.who), City: people[s.who].city, Country: "NG", Memo: s.memo,
	}
	s.dress(&t, i)
	p := payment{t: t}
	if s.rail != "" {
		p.settlement = records.Settlement{Status: s.rail, Final: !s.open, Rail: "NIP", FailureReason: s.why}
	}
	return p
}

// dress makes of an ordinary transfer what the scene asks for.
func (s scene) dress(t *records.Transaction, i int) {
	if s.dollar {
		t.Currency, t.AccountID = "USD", accountID(s.who, "USD")
	}
	if s.credit {
		t.Direction = countersign.Credit
	}
	if s.merchant != "" {
		t.Kind, t.Channel, t.MerchantID, t.EndToEndID = records.Card, "pos", s.merchant, ""
	} else {
		t.CounterpartyName, t.CounterpartyAccount = s.payee, nuban(800_000_000+i*6151)
	}
	if s.city != "" {
		t.City = s.city
	}
	if s.newPhone {
		t.DeviceID = t.ID + "-phone"
	}
	if s.noPhone {
		t.DeviceID = ""
	}
	if s.untimed {
		at, _ := t.OccurredAt.Instant()
		t.OccurredAt = date(at)
	}
}

// date is the bare date of a moment: what a system leaves that records no time of day.
func date(at time.Time) countersign.When {
	w, err := countersign.ParseWhen(at.Format(time.DateOnly))
	if err != nil {
		panic(err) // unreachable: the text was made by the format that is read
	}
	return w
}

func (b *books) giveBack(t records.Transaction, minor int64) {
	if minor > 0 {
		b.enter(t, "2", countersign.Credit, minor, records.RefundEntry, b.before(6*time.Hour))
	}
}

// repeat books the payment once more, at another time.
func (b *books) repeat(p payment, n int, a again) {
	at, _ := p.t.OccurredAt.Instant()
	p.t.ID = fmt.Sprintf("%s-%d", p.t.ID, n+2)
	p.t.OccurredAt, p.t.PostedAt = countersign.At(at.Add(a.after)), countersign.When{}
	if a.reference != "" {
		p.t.Reference = a.reference
	}
	p.settlement.UpdatedAt = countersign.When{}
	b.book(p)
	b.giveBack(p.t, a.given)
}

// hurry books one of several payments in the minutes before, each to somebody else.
func (b *books) hurry(t records.Transaction, n int) {
	at, _ := t.OccurredAt.Instant()
	t.ID = fmt.Sprintf("%s-B%d", t.ID, n+1)
	t.OccurredAt = countersign.At(at.Add(-time.Duration(n+1) * 70 * time.Second))
	t.AmountMinor -= int64(n+1) * 731_00
	t.CounterpartyAccount, t.EndToEndID = nuban(850_000_000+n*6151), "E2E-"+t.ID
	b.book(payment{t: t, settlement: settled("NIP")})
}

func (b *books) newPhone(s scene, t records.Transaction) {
	at, _ := t.OccurredAt.Instant()
	trusted := false
	b.set.Devices = append(b.set.Devices, records.Device{
		ID: t.DeviceID, CustomerID: customerID(s.who), Label: "Android device", FirstSeenAt: countersign.At(at.Add(-time.Hour)),
		LastSeenAt: countersign.At(at), City: t.City, Country: "NG", Trusted: &trusted,
	})
}

// arrive credits the payee, who banks here too: the last customer of the list.
func (b *books) arrive(t records.Transaction) {
	at, _ := t.OccurredAt.Instant()
	payee := len(people) - 1
	t.ID += "-in"
	t.AccountID, t.Direction, t.DeviceID = accountID(payee, "NGN"), countersign.Credit, ""
	t.CounterpartyName, t.CounterpartyAccount, t.Memo = "incoming transfer", "", ""
	t.OccurredAt = countersign.At(at.Add(40 * time.Second))
	b.book(payment{t: t})
}

package report

import (
	"fmt"
	"strings"
	"testing"

	"countersign"
)

func usd(minor int64) Amount { return AmountOf(&countersign.Money{Minor: minor, Currency: "USD"}) }

// sample is a contested chargeback with everything that a report can have.
func sample() Content {
	return Content{
		Format: FormatVersion,
		Case:   Case{ID: "C-7Q2M", Round: 1, Order: "#W2378156", Shop: "Ìyá Àdùkẹ́ Home & Kitchen", OpenedAt: "2026-11-28T09:14:03Z"},
		Dispute: Dispute{Network: "visa", ReasonCode: "13.1", ReasonText: "Merchandise / services not received", Claim: "The cardholder states that the mechanical keyboard and the smart thermostat of this order never arrived.",
			Stage: "chargeback", Provider: "stripe", ProviderRef: "dp_1QxYz2Kb8w9T", Amount: usd(42853), DueAt: "2026-12-07T23:59:59Z", DueSource: "provider"},
		Decision: Decision{Outcome: "contest", Contested: usd(42853), Accepted: usd(0), By: "A. Okafor", At: "2026-12-01T08:41:27Z", Followed: true,
			Summary: "Both items left on 21 November with DHL under one tracking number and were signed for at the cardholder's own address on 24 November, four days before the dispute was opened. " +
				"The records show no refund and no return. Under the merchant's shipping policy an order is complete on a signed delivery to the address that the customer gave."},
		Proposal: Proposal{Model: "anthropic · claude", Recommendation: "CONTEST", Confidence: "0.93", Summary: "Delivery is confirmed by the carrier with a signature; nothing was refunded or returned.", At: "2026-11-28T09:14:44Z"},
		Net: Net{Recommendation: "CONTEST", Reasons: []Reason{{"person_decides", "At the merchant desk a person decides every case."}, {"policy_newer_than_order", "The returns policy in the library is newer than the order; the version in force on the order date was used."}},
			Caveats: []string{"The delivery date is the carrier's. The shop's own record of it was written a day later."}},
		Facts: []Fact{
			{Name: "paid", Title: "Paid", State: "present", Value: "USD 428.53, card payment captured 19 Nov 2026", Source: "payments", Weight: Supports, Exhibits: []string{"E2"}},
			{Name: "delivered", Title: "Delivered", State: "present", Value: "24 Nov 2026 14:02 UTC, signed for", Source: "fulfillments", Weight: Supports, Exhibits: []string{"E3"}},
			{Name: "tracking", Title: "Tracking", State: "present", Value: "DHL 4417 2093 5541, last scan: delivered", Source: "fulfillments", Weight: Supports, Exhibits: []string{"E3"}},
			{Name: "address", Title: "Address", State: "present", Value: "shipped to the address of the order", Source: "orders", Weight: Supports, Exhibits: []string{"E1", "E3"}},
			{Name: "refunded", Title: "Refunded", State: "absent", Source: "refunds", Weight: Supports, Exhibits: []string{"E4"}},
			{Name: "late", Title: "Dispatch", State: "present", Value: "two days later than promised", Source: "fulfillments", Weight: Hurts, Exhibits: []string{"E3"}},
			{Name: "ip_country", Title: "Country of the buyer's address on the net", State: "unknown", Source: "orders", Weight: Neutral},
			{Name: "customer_since", Title: "Customer since", State: "present", Value: "March 2024, 6 orders, none disputed", Source: "orders", Weight: Neutral, Exhibits: []string{"E1"}},
		},
		Withheld: []Withheld{{What: FactWithheld, Count: 1, By: "A. Okafor", At: "2026-12-01T08:40:02Z", Why: "internal note about another customer"}},
		Exhibits: []Exhibit{
			{ID: "E1", Title: "The order", Database: "shop (PostgreSQL)", Table: "public.order", Step: "S1", ReadAt: "2026-12-01T08:39:58Z",
				Columns: []Column{{"Order", IDColumn}, {"Customer", TextColumn}, {"E-mail", TextColumn}, {"Placed", TimeColumn}, {"Status", TextColumn}, {"Total", AmountColumn}, {"Shipped to", TextColumn}},
				Rows:    [][]string{{"#W2378156", "Yusuf Ọlátúnjí Rossi · Юсуф Росси · Γιούσουφ", "yus…@example.com", "2026-11-19T16:20:11.000000Z", "delivered", "USD 428.53", "763 Broadway, Suite 135, Philadelphia PA 19122"}}},
			{ID: "E2", Title: "Payments", Database: "shop (PostgreSQL)", Table: "public.payment", Step: "S2", ReadAt: "2026-12-01T08:39:58Z",
				Columns: []Column{{"Payment", IDColumn}, {"State", TextColumn}, {"Status in the shop", TextColumn}, {"Paid at", TimeColumn}, {"Reference", IDColumn}, {"Amount", AmountColumn}},
				Rows:    [][]string{{"pay_01HF2", "failed", "canceled", "2026-11-19T16:19:40Z", "pi_3Kx91", "USD 428.53"}, {"pay_01HF3", "paid", "captured", "2026-11-19T16:20:09Z", "pi_3Kx92", "USD 428.53"}}},
			{ID: "E3", Title: "Fulfilments", Database: "shop (PostgreSQL)", Table: "public.fulfillment", Step: "S3", ReadAt: "2026-12-01T08:39:59Z",
				Columns: []Column{{"Parcel", IDColumn}, {"State", TextColumn}, {"Carrier", TextColumn}, {"Tracking", IDColumn}, {"Shipped", TimeColumn}, {"Delivered", TimeColumn}, {"Status in the shop", TextColumn}},
				Rows:    [][]string{{"ful_01HG7", "delivered", "DHL", "4417 2093 5541", "2026-11-21T10:00:00Z", "2026-11-24T14:02:00Z", "delivered → signed by “O. Rossi” (₦ 0.00 due)"}}},
			{ID: "E4", Title: "Refunds", Database: "shop (PostgreSQL)", Table: "public.refund", Step: "S4", ReadAt: "2026-12-01T08:39:59Z",
				Columns: []Column{{"Refund", IDColumn}, {"State", TextColumn}, {"Amount", AmountColumn}}},
			{ID: "E5", Title: "What the courier said on the telephone", TypedBy: "A. Okafor", ReadAt: "2026-12-01T08:20:00Z",
				Columns: []Column{{"Question", TextColumn}, {"Answer", TextColumn}}, Rows: [][]string{{"Who signed?", "The cardholder's brother, who lives at the same address."}}},
		},
		Clauses: []Clause{
			{ID: "E6", Document: "Shipping policy", Version: "3", ValidFrom: "2026-01-01", SHA256: strings.Repeat("3fa9", 16), Page: 2, Status: "exact",
				Before: "4.1 We ship to the address given at check-out. We cannot change it once the parcel is with the carrier.",
				Quote:  "4.2 An order is complete when the carrier records a signed delivery at the address that the customer gave. From then on the risk of loss is the customer's.",
				After:  "4.3 If tracking shows no movement for ten days, write to us and we will open an enquiry with the carrier."},
			{ID: "E7", Document: "Terms of sale", Version: "7", ValidFrom: "2025-06-01", Page: 5, Status: "folded", Quote: "Claims for goods not received must reach us within 14 days of the promised date."},
		},
		Timeline: []Event{
			{"2026-11-19T16:20:11Z", "Order placed", "public.order"}, {"2026-11-19T16:20:09Z", "Payment captured, USD 428.53", "public.payment"},
			{"2026-11-21", "Handed to DHL", "public.fulfillment"}, {"2026-11-24T14:02:00Z", "Delivered, signed for", "public.fulfillment"},
			{"2026-11-28T09:14:03Z", "Chargeback received from Stripe: 13.1", "case record"}, {"2026-12-01T08:41:27Z", "Contest decided by A. Okafor", "case record"},
		},
		Attachments: []Attachment{{ID: "E8", Name: "signature.png", Description: "Proof of delivery from the carrier's portal", Type: "image/png", Size: 48213, SHA256: strings.Repeat("b7", 32), Pages: 1, AddedBy: "A. Okafor", AddedAt: "2026-12-01T08:22:10Z"}},
		Audit:       Audit{Rows: 19, Head: strings.Repeat("9f3c01d2", 8), PolicyVersion: "5d41a20c77e9", Program: "1.4.0", MadeAt: "2026-12-01T08:41:27Z"},
	}
}

// long is the sample with a table of so many rows, some cells of which are longer than a line and one longer than a page.
func long(rows int) Content {
	c := sample()
	e := Exhibit{ID: "E9", Title: "Messages", Database: "shop (PostgreSQL)", Table: "public.message", ReadAt: "2026-12-01T08:39:59Z",
		Columns: []Column{{"Message", IDColumn}, {"Sent", TimeColumn}, {"From", TextColumn}, {"Text", TextColumn}, {"Amount named", AmountColumn}}}
	for i := range rows {
		text := fmt.Sprintf("Message %d of the thread about the parcel", i+1)
		if i%7 == 3 {
			text += strings.Repeat(", which was left with the neighbour and not at the door", i%5+1)
		}
		if i == 40 {
			text = strings.Repeat("A very long message that nobody shortened. ", 260)
		}
		e.Rows = append(e.Rows, []string{fmt.Sprintf("msg_%05d", i+1), "2026-11-24T14:02:00Z", "customer", text, fmt.Sprintf("USD %d.00", i)})
	}
	c.Attachments = nil
	c.Exhibits = append(c.Exhibits, e)
	for i := range c.Clauses {
		c.Clauses[i].ID = fmt.Sprintf("E%d", 10+i)
	}
	return c
}

func sealed(t testing.TB, c Content) Report {
	t.Helper()
	r, err := Seal(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// alphabets has the names that a shop's customers have.
const alphabets = "Ọ̀ṣun Ẹ́kìtì ọ̀rọ̀ ẹ̀kọ́ ṣé n̄ m̀ ḿ Ǹ Ń Ìyá Àdùkẹ́ — decomposed: Ọ̀ ẹ́ ọ̀ Ṣ · Юлия Ёлкина й · Άννα Ελληνίδα ΐ · Ångström Łódź Çağrı Ðạt Nguyễn · ₦ ₹ € £ ¥ → ← “” ’ … № ½ ✓"

package rules

import (
	"strings"
	"testing"

	"countersign"
	"countersign/desk/merchant/shop"
)

// refunded1 is what the rules say of an order of which that came back.
func refunded1(paid, back shop.Amount) countersign.Facts {
	in := delivered1()
	in.Records.Payments.All[0].Amount = paid
	in.Records.Refunds.All = []shop.Refund{{ID: "R-1", Amount: back, State: shop.Returned, Status: "succeeded"}}
	return Judge(in)
}

// TestAWarningSaysTheWholeAmount: thousands have commas, and yen have no cents.
func TestAWarningSaysTheWholeAmount(t *testing.T) {
	for _, row := range []struct {
		paid, back shop.Amount
		want       string
	}{
		{usd(1234_56), usd(1234_56), "USD 1,234.56 went back to the customer already"},
		{usd(5000_00), usd(1234_56), "USD 1,234.56 went back to the customer already"},
		{of(2_500_000, "JPY"), of(1_500_000, "JPY"), "JPY 1,500,000 went back to the customer already"},
	} {
		if said := Warnings(refunded1(row.paid, row.back), countersign.AcceptedOutcome, nil); len(said) != 1 || !strings.Contains(said[0], row.want) {
			t.Errorf("%s of %s: %q", row.back.Text, row.paid.Text, said)
		}
	}
	in := delivered1()
	in.Records.Refunds.All = []shop.Refund{{ID: "R-1", Amount: usd(1234_56), State: shop.InProgress, Status: "pending"}}
	if said := Warnings(Judge(in), countersign.AcceptedOutcome, nil); len(said) != 1 || !strings.Contains(said[0], "a refund of USD 1,234.56 is under way") {
		t.Errorf("%q", said)
	}
}

// TestAcceptingWhatNobodyKnowsIsSaid: what went back is not known where a refund is in another currency, or where the refunds could not be
// read, and accepting may pay it a second time.
func TestAcceptingWhatNobodyKnowsIsSaid(t *testing.T) {
	for name, row := range map[string]struct {
		refunds shop.Rows[shop.Refund]
		want    string
	}{
		"a refund in another currency": {shop.Rows[shop.Refund]{All: []shop.Refund{{ID: "R-1", Amount: of(1110_00, "EUR"), State: shop.Returned, Status: "succeeded"}}},
			"not known what went back to the customer, with EUR 1,110.00 on record."},
		"refunds that could not be read": {shop.Rows[shop.Refund]{Unread: "it took too long."}, "not known what went back to the customer. Look"},
		"a refund under way of no amount": {shop.Rows[shop.Refund]{All: []shop.Refund{{ID: "R-1", State: shop.InProgress, Status: "pending"}}},
			"not known whether a refund is under way. Look"},
	} {
		in := delivered1()
		in.Records.Refunds = row.refunds
		if said := Warnings(Judge(in), countersign.AcceptedOutcome, nil); len(said) != 1 || !strings.Contains(said[0], row.want) {
			t.Errorf("%s: %q", name, said)
		}
	}
	if said := Warnings(Judge(delivered1()), countersign.AcceptedOutcome, nil); said != nil {
		t.Errorf("nothing went back: %q", said)
	}
}

// TestTheRestOfAContestIsTheDecisions: what was paid may be another amount now than the one that the decision splits.
func TestTheRestOfAContestIsTheDecisions(t *testing.T) {
	for _, paid := range []int64{100_00, 120_00, 150_00} {
		facts := refunded1(usd(paid), usd(50_00))
		for minor, want := range map[int64]string{0: "", 45_00: "USD 45.00 is accepted besides the USD 50.00 that went back"} {
			said := Warnings(facts, countersign.Contested, stake1(minor, "USD"))
			if want == "" && said != nil || want != "" && (len(said) != 1 || !strings.Contains(said[0], want)) {
				t.Errorf("paid %d, rest %d: %q", paid, minor, said)
			}
		}
	}
}

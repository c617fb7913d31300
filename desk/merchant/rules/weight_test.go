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

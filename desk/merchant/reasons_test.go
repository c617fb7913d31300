package merchant_test

import (
	"strings"
	"testing"

	"countersign"
	"countersign/desk/merchant"
)

// What a cardholder claims follows from the code together with its network, and from neither alone.
func TestAReasonCodeMeansSomethingOnlyWithItsNetwork(t *testing.T) {
	for _, row := range []struct {
		network, code string
		want          countersign.DisputeReason
		name          string
	}{
		{"visa", "13.1", countersign.NotReceived, "merchandise or services not received"},
		{"VISA", "13.1", countersign.NotReceived, "merchandise or services not received"},
		{"mastercard", "13.1", countersign.OtherReason, ""},
		{"", "13.1", countersign.OtherReason, ""},
		{"visa", "", countersign.OtherReason, ""},
		{"visa", "13", countersign.OtherReason, ""},
		{"visa", "13.10", countersign.OtherReason, ""},
		{"visa", "12.6", countersign.DuplicateCharge, "duplicate processing or paid by other means"},
		{"visa", "12.6.1", countersign.DuplicateCharge, "duplicate processing"},
		{"mastercard", "4837", countersign.Unauthorised, "no cardholder authorization"},
		{"amex", "c08", countersign.NotReceived, "goods or services not received"},
		{"discover", "RG", countersign.NotReceived, "non-receipt of goods, services or cash"},
		{"stripe", "product_not_received", countersign.NotReceived, "product not received"},
		{"visa", "' OR 1=1 --", countersign.OtherReason, ""},
	} {
		terms := countersign.Terms{Network: row.network, ReasonCode: row.code}
		if reason, name := merchant.ReasonFor(terms), merchant.NameOf(terms); reason != row.want || name != row.name {
			t.Errorf("%s %s is %s, %q; want %s, %q", row.network, row.code, reason, name, row.want, row.name)
		}
	}
}

// A code is told in our own words, and one that is not known in none: whoever writes it could say anything.
func TestACodeIsToldInOurWords(t *testing.T) {
	brief := merchant.New(merchant.Config{}).Brief
	known := brief(countersign.Case{Reason: countersign.NotReceived, Terms: countersign.Terms{Network: "Visa", ReasonCode: "13.1"}}).Case
	if !strings.Contains(known, "reason code: visa 13.1, merchandise or services not received\n") || !strings.Contains(known, "claim: not_received\n") {
		t.Errorf("it says %s", known)
	}
	other := brief(countersign.Case{Reason: countersign.OtherReason, Terms: countersign.Terms{Network: "zebra", ReasonCode: "zebra", Reference: "zebra"}, Notes: "zebra"})
	if strings.Contains(other.Case+other.System, "zebra") || string(other.Notes) != "zebra" {
		t.Errorf("it says %s", other.Case)
	}
}

// The instructions tell none of the rules that an answer is held against: a model cannot aim at what it cannot see.
func TestTheInstructionsTellNoRule(t *testing.T) {
	system := strings.ToLower(merchant.New(merchant.Config{}).Brief(countersign.Case{}).System)
	for _, code := range countersign.ReasonOrder {
		if strings.Contains(system, string(code)) {
			t.Errorf("they name %s", code)
		}
	}
	for _, word := range []string{"threshold", "overrule", "deadline", "safety net", "confidence of", "at least two", "two pieces"} {
		if strings.Contains(system, word) {
			t.Errorf("they say %q", word)
		}
	}
}

func TestEveryNetworkIsNamedOnce(t *testing.T) {
	if got := strings.Join(merchant.Networks(), " "); got != "visa mastercard amex discover stripe" {
		t.Error(got)
	}
}

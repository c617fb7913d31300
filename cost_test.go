package countersign_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign"
)

func TestMillionthsAsAPersonTypesThem(t *testing.T) {
	for typed, micro := range map[string]int64{"0": 0, "3": 3_000_000, "0.15": 150_000, "0.000001": 1, "15.00": 15_000_000, " 2.5 ": 2_500_000, "9223372036854.775807": math.MaxInt64} {
		if got, err := countersign.ParseMicro(typed); err != nil || got != micro {
			t.Errorf("%q is %d (%v), want %d", typed, got, err, micro)
		}
	}
	for _, typed := range []string{"", " ", ".", ".5", "5.", "1,5", "1.0000001", "-1", "+1", "1e3", "0x1", "٥", "1 000", "USD 1", "9223372036854.775808", strings.Repeat("9", 300)} {
		if got, err := countersign.ParseMicro(typed); err == nil {
			t.Errorf("%q was read as %d", typed, got)
		}
	}
}

func TestACostIsWrittenAndReadBackUnchanged(t *testing.T) {
	for _, row := range []struct {
		costs countersign.Costs
		text  string
	}{
		{nil, ""},
		{countersign.Costs{{Micro: 12_300, Currency: "USD"}}, "USD 0.0123"},
		{countersign.Costs{{Micro: 20_000_000, Currency: "USD"}}, "USD 20.00"},
		{countersign.Costs{{Micro: 5_000_000, Currency: "JPY"}}, "JPY 5"},
		{countersign.Costs{{Micro: 0, Currency: "USD"}}, "USD 0.00"},
		{countersign.Costs{}.Add(countersign.Cost{Micro: 1, Currency: "USD"}).Add(countersign.Cost{Micro: 20_000, Currency: "EUR"}), "EUR 0.02 + USD 0.000001"},
	} {
		if got := row.costs.String(); got != row.text {
			t.Errorf("%v is written %q, want %q", row.costs, got, row.text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var use, back countersign.ModelUse
		for _, currency := range rapid.SliceOfN(rapid.SampledFrom([]string{"USD", "EUR", "JPY", "KWD"}), 0, 6).Draw(t, "currencies") {
			use.Cost = use.Cost.Add(countersign.Cost{Micro: rapid.Int64Range(0, 1<<50).Draw(t, "micro"), Currency: currency})
		}
		b, err := json.Marshal(use)
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back.Cost.String() != use.Cost.String() {
			t.Fatalf("%s came back as %q (%v)", b, back.Cost, err)
		}
	})
}

func TestMoneyInMillionths(t *testing.T) {
	for m, micro := range map[countersign.Money]int64{{Minor: 20_00, Currency: "USD"}: 20_000_000, {Minor: 20, Currency: "JPY"}: 20_000_000, {Minor: 1_250, Currency: "KWD"}: 1_250_000,
		{Minor: 1, Currency: "CLF"}: 100, {Minor: math.MaxInt64, Currency: "USD"}: math.MaxInt64} {
		if got := m.Cost(); got.Micro != micro || got.Currency != m.Currency {
			t.Errorf("%s is %v", m, got)
		}
	}
}

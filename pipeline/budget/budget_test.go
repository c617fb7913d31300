package budget

import (
	"testing"

	"pgregory.net/rapid"

	"countersign"
)

func usd(minor int64) *countersign.Money { return &countersign.Money{Minor: minor, Currency: "USD"} }

func costing(tokens, micro int64) Used {
	return Used{tokens, countersign.Costs{}.Add(countersign.Cost{Micro: micro, Currency: "USD"})}
}

func TestSpent(t *testing.T) {
	call := costing(1000, 3000)
	day := Budgets{Day: Limit{Money: usd(20_00)}}
	for _, row := range []struct {
		name    string
		budgets Budgets
		before  Before
		call    Used
		want    string
	}{
		{"without a budget there is always room", Budgets{}, Before{Day: costing(1<<60, 1<<60)}, call, ""},
		{"a day with room", day, Before{Day: costing(0, 19_997_000)}, call, ""},
		{"a day on which the call has no room any more", day, Before{Day: costing(0, 19_997_001)}, call, "today's budget for models of USD 20.00 has no room for another call"},
		{"a day that is spent", day, Before{Day: costing(0, 20_000_000)}, call, "today's budget for models of USD 20.00 is spent"},
		{"a model that costs nothing needs no money", day, Before{Day: costing(0, 20_000_000)}, costing(1000, 0), ""},
		{"nor does what was paid in another currency count", day, Before{Day: Used{Costs: countersign.Costs{{Micro: 1 << 50, Currency: "EUR"}}}}, call, ""},
		{"tokens of a day, of a model that costs nothing too", Budgets{Day: Limit{Tokens: 2_000_000}}, Before{Day: costing(1_999_500, 0)}, costing(1000, 0), "today's budget for models of 2,000,000 tokens has no room for another call"},
		{"tokens of a case", Budgets{Case: Limit{Tokens: 5000}}, Before{Case: costing(5000, 0)}, call, "this case's budget for models of 5,000 tokens is spent"},
		{"a desk's day", Budgets{Desks: map[countersign.DeskName]Limit{"bank": {Money: usd(1)}}}, Before{Desk: costing(0, 10_000)}, call, "today's budget for models at the bank desk of USD 0.01 is spent"},
		{"another desk's day is none of its business", Budgets{Desks: map[countersign.DeskName]Limit{"merchant": {Money: usd(1)}}}, Before{Desk: costing(0, 10_000)}, call, ""},
		{"the narrowest is named", Budgets{Case: Limit{Tokens: 1}, Day: Limit{Tokens: 1}}, Before{Case: costing(1, 0), Day: costing(1, 0)}, call, "this case's budget for models of 1 tokens is spent"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.budgets.Spent("bank", row.before, row.call); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// Whoever asks before each call, and is told that there is room only where it is, never passes a budget by more than a call takes
// beyond its estimate.
func TestABudgetIsPassedByNoMoreThanACallWasUnderestimated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := Limit{Tokens: rapid.Int64Range(1, 1<<40).Draw(t, "tokens"), Money: usd(rapid.Int64Range(1, 1<<30).Draw(t, "money"))}
		var used Used
		for range rapid.IntRange(1, 50).Draw(t, "calls") {
			estimate := costing(rapid.Int64Range(1, 1<<36).Draw(t, "estimate"), rapid.Int64Range(1, 1<<36).Draw(t, "estimated cost"))
			more := costing(rapid.Int64Range(0, 1<<36).Draw(t, "more"), rapid.Int64Range(0, 1<<36).Draw(t, "more cost"))
			if (Budgets{Day: limit}).Spent("bank", Before{Day: used}, estimate) != "" {
				continue
			}
			used = used.Plus(estimate).Plus(more)
			if used.Tokens > limit.Tokens+more.Tokens || used.Costs.In("USD").Micro > limit.Money.Cost().Micro+more.Costs.In("USD").Micro {
				t.Fatalf("%+v were used of %+v, with a call underestimated by %+v", used, limit, more)
			}
		}
	})
}

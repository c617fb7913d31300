package llm

import (
	"math"
	"math/big"

	"countersign"
)

// Price is what a model's tokens cost, in millionths of the currency's unit for a million tokens. A price of nothing in a currency is
// a model that costs nothing; a price without a currency is one that nobody has set.
type Price struct {
	Currency string
	Input    int64 // a million tokens that the server read
	Cached   int64 // a million of those that it had read before
	Stored   int64 // a million that it read and put into its cache, where it says so
	Output   int64 // a million tokens that it wrote
}

// Set reports whether somebody has said what the model costs.
func (p Price) Set() bool { return p.Currency != "" }

// Free reports whether somebody has said that it costs nothing.
func (p Price) Free() bool {
	return p.Set() && p.Input == 0 && p.Cached == 0 && p.Stored == 0 && p.Output == 0
}

// StoredFor is the price of putting tokens into the cache where nobody says it: a quarter more than reading them, which is what
// Anthropic takes. Servers of the other dialect do not say that they put any.
func StoredFor(input int64) int64 { return countersign.AddCounts(input, input/4+min(input%4, 1)) }

// million is how many tokens a price is for.
var million = big.NewInt(1_000_000)

// Of is what a use costs. It is worked out exactly and then rounded up to a whole millionth, once: a sum of turns is never less than
// what they cost, and too much by less than a millionth for each. Counts are the server's own word: one below zero counts as none,
// and more cached or stored tokens than there were are as many as there were.
func (p Price) Of(u Usage) countersign.Cost {
	input := max(u.Input, 0)
	cached := min(max(u.Cached, 0), input)
	stored := min(max(u.Stored, 0), input-cached)
	sum := new(big.Int)
	for _, part := range []struct{ tokens, each int64 }{{input - cached - stored, p.Input}, {cached, p.Cached}, {stored, p.Stored}, {max(u.Output, 0), p.Output}} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part.tokens), big.NewInt(part.each)))
	}
	micro, rest := new(big.Int).DivMod(sum, million, new(big.Int))
	if rest.Sign() > 0 {
		micro.Add(micro, big.NewInt(1))
	}
	if !micro.IsInt64() {
		return countersign.Cost{Micro: math.MaxInt64, Currency: p.Currency}
	}
	return countersign.Cost{Micro: micro.Int64(), Currency: p.Currency}
}

package llm

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"countersign"
)

func TestPrice(t *testing.T) {
	p := Price{Currency: "USD", Input: 3_000_000, Cached: 300_000, Stored: StoredFor(3_000_000), Output: 15_000_000}
	for _, row := range []struct {
		name string
		of   Usage
		want int64
	}{
		{"nothing costs nothing", Usage{}, 0},
		{"a million tokens of each", Usage{Input: 1_000_000, Output: 1_000_000}, 18_000_000},
		{"a turn", Usage{Input: 5000, Output: 50}, 15_750},
		{"of what was read, what had been read before is cheaper", Usage{Input: 5000, Cached: 4000, Output: 50}, 3_000 + 1_200 + 750},
		{"and what was put into the cache is dearer", Usage{Input: 5000, Cached: 3000, Stored: 1000, Output: 50}, 3_000 + 900 + 3_750 + 750},
		{"more stored tokens than there were are as many as there were", Usage{Input: 1000, Cached: 400, Stored: 5000}, 120 + 2_250},
		{"more cached tokens than there were are as many as there were", Usage{Input: 1000, Cached: 5000}, 300},
		{"counts below zero are none", Usage{Input: -5, Cached: -5, Output: -5}, 0},
		{"what is too large stays at the largest", Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
	} {
		if got := p.Of(row.of); got != (countersign.Cost{Micro: row.want, Currency: "USD"}) {
			t.Errorf("%s: %v, want %d", row.name, got, row.want)
		}
	}
	if got := (Price{Currency: "USD", Input: 1}).Of(Usage{Input: 1}); got.Micro != 1 {
		t.Errorf("a millionth of a millionth is rounded to %d, want up to 1", got.Micro)
	}
}

// A turn is never counted for less than it cost, and for too much by less than a millionth; so a sum of turns is too much by less than
// a millionth for each.
func TestWhatIsCountedIsNeverLessThanWhatItCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1<<40)
		p := Price{"USD", rapid.Int64Range(0, 1<<40).Draw(t, "input price"), rapid.Int64Range(0, 1<<40).Draw(t, "cached price"), rapid.Int64Range(0, 1<<40).Draw(t, "stored price"), rapid.Int64Range(0, 1<<40).Draw(t, "output price")}
		turns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Usage {
			input := count.Draw(t, "input")
			cached := rapid.Int64Range(0, input).Draw(t, "cached")
			return Usage{input, count.Draw(t, "output"), cached, rapid.Int64Range(0, input-cached).Draw(t, "stored")}
		}), 1, 8).Draw(t, "turns")
		exact, counted := new(big.Rat), new(big.Rat)
		for _, u := range turns {
			for _, part := range [][2]int64{{u.Input - u.Cached - u.Stored, p.Input}, {u.Cached, p.Cached}, {u.Stored, p.Stored}, {u.Output, p.Output}} {
				exact.Add(exact, new(big.Rat).Mul(big.NewRat(part[0], 1_000_000), new(big.Rat).SetInt64(part[1])))
			}
			one := p.Of(u).Micro
			if one == math.MaxInt64 {
				t.Skip("more than anybody could count")
			}
			counted.Add(counted, new(big.Rat).SetInt64(one))
		}
		over := new(big.Rat).Sub(counted, exact)
		if over.Sign() < 0 || over.Cmp(big.NewRat(int64(len(turns)), 1)) >= 0 {
			t.Fatalf("%d turns cost %s and were counted as %s", len(turns), exact.FloatString(6), counted.FloatString(6))
		}
	})
}

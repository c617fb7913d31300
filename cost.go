package countersign

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Cost is what models cost, in millionths of a currency's unit: a call may cost a small part of a cent, which Money cannot hold.
// It is never what a dispute is about, and nothing turns it into Money. Sums that are too large stay at the largest.
type Cost struct {
	Micro    int64
	Currency string
}

// microDigits is how many decimal digits a millionth has.
const microDigits = 6

// ParseMicro reads an amount of millionths as a person types it: digits, and after a point at most six more. There is no other form,
// so that nobody has to guess what "1,5" was.
func ParseMicro(typed string) (int64, error) {
	whole, fraction, pointed := strings.Cut(strings.TrimSpace(typed), ".")
	if whole == "" || pointed && fraction == "" || len(fraction) > microDigits || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%q is no number with at most six digits after the point", clip(typed))
	}
	micro, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", microDigits-len(fraction)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", clip(typed))
	}
	return micro, nil
}

// Micros is an amount of millionths in the form that ParseMicro reads, without zeros at its end.
func Micros(micro int64) string { return decimals(micro, 0) }

// decimals writes millionths with at least so many digits after the point.
func decimals(micro int64, least int) string {
	sign, n := "", uint64(micro)
	if micro < 0 {
		sign, n = "−", -n
	}
	s := fmt.Sprintf("%0*d", microDigits+1, n)
	whole, fraction := s[:len(s)-microDigits], s[len(s)-microDigits:]
	for len(fraction) > least && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// String is the cost for people and for the API: "USD 0.0123", with as many digits as the currency has or the cost needs.
func (c Cost) String() string {
	digits, _ := Exponent(c.Currency)
	return c.Currency + " " + decimals(c.Micro, digits)
}

// Cost is an amount of money in the units that models are paid in. A currency of more digits than a millionth has does not exist.
func (m Money) Cost() Cost {
	digits, _ := Exponent(m.Currency)
	factor := int64(1)
	for range microDigits - digits {
		factor *= 10
	}
	return Cost{times(m.Minor, factor), m.Currency}
}

// times multiplies counts; what is too large stays at the largest.
func times(a, b int64) int64 {
	high, low := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// Costs are sums, one for each currency, by its code. Two currencies come together where the settings changed from one to another
// while a case was under way; nothing converts.
type Costs []Cost

// Add is the sums with one cost more. A cost of no currency is none: nobody has set a price.
func (cs Costs) Add(c Cost) Costs {
	if c.Currency == "" {
		return cs
	}
	sums := slices.Clone(cs)
	at, found := slices.BinarySearchFunc(sums, c.Currency, func(sum Cost, currency string) int { return strings.Compare(sum.Currency, currency) })
	if !found {
		return slices.Insert(sums, at, c)
	}
	sums[at].Micro = AddCounts(sums[at].Micro, c.Micro)
	return sums
}

// Plus is both sums together.
func (cs Costs) Plus(others Costs) Costs {
	for _, c := range others {
		cs = cs.Add(c)
	}
	return cs
}

// In is the sum in one currency.
func (cs Costs) In(currency string) Cost {
	for _, c := range cs {
		if c.Currency == currency {
			return c
		}
	}
	return Cost{Currency: currency}
}

// String is every sum, "EUR 0.02 + USD 1.50"; empty while no price is set.
func (cs Costs) String() string {
	texts := make([]string, len(cs))
	for i, c := range cs {
		texts[i] = c.String()
	}
	return strings.Join(texts, " + ")
}

// MarshalText is the form of the API and of what is stored.
func (cs Costs) MarshalText() ([]byte, error) { return []byte(cs.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (cs *Costs) UnmarshalText(text []byte) error {
	*cs = nil
	if len(text) == 0 {
		return nil
	}
	for one := range strings.SplitSeq(string(text), " + ") {
		currency, number, _ := strings.Cut(one, " ")
		micro, err := ParseMicro(number)
		if err != nil || !KnownCurrency(currency) {
			return fmt.Errorf("%q is no cost; expected a currency and a number, such as \"USD 0.0123\"", clip(one))
		}
		*cs = cs.Add(Cost{micro, currency})
	}
	return nil
}

// AddCounts adds counts that somebody else may have made up: a negative one counts as nothing, too large a sum stays at the largest.
func AddCounts(sum, n int64) int64 {
	if n = max(n, 0); sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}

package records

import "strings"

// Decimal is the decimal sign that was seen in amounts. Amounts are whole minor units, so that any at all means that they
// are something else; which one is shown, and never used to convert one.
type Decimal string

const (
	NoDecimal     Decimal = "none"
	DecimalComma  Decimal = "comma"
	DecimalPoint  Decimal = "point"
	DecimalEither Decimal = "unclear"         // 1.234 may be a thousand or a fraction
	DecimalBoth   Decimal = "comma and point" // in different amounts
)

var decimals = map[byte]Decimal{',': DecimalComma, '.': DecimalPoint}

// decimalIn finds the decimal sign of one amount: the last comma or point in it, unless that may part thousands.
func decimalIn(text string) Decimal {
	last := strings.LastIndexAny(text, ",.")
	if last < 0 || digits([]byte(text[last+1:])) < len(text)-last-1 {
		return NoDecimal
	}
	kinds := 0
	for sign := range decimals {
		if strings.IndexByte(text, sign) >= 0 {
			kinds++
		}
	}
	first := strings.IndexByte(text, text[last])
	if kinds == 1 && len(text)-last-1 == 3 || first < last {
		return DecimalEither
	}
	return decimals[text[last]]
}

// and is what two amounts, or all so far and one more, tell together.
func (d Decimal) and(next Decimal) Decimal {
	switch {
	case next == NoDecimal, next == d, next == DecimalEither && d != NoDecimal:
		return d
	case d == NoDecimal, d == DecimalEither:
		return next
	}
	return DecimalBoth
}

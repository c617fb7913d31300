package connector

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
)

// decimal is a number as databases write it: digits, perhaps a point, perhaps a power of ten behind it. Separators between
// thousands and signs of currencies are how people write, and mean different things to different people.
var decimal = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$`)

// amountOf reads a cell that holds money, digit by digit: no float is ever made of it. The amount is as the cell has it, a
// minus sign included. A cell that is empty has no problem and no amount.
func amountOf(text, unit, currency string) shop.Amount {
	a := shop.Amount{Text: text}
	if text = strings.TrimSpace(text); text == "" {
		return a
	}
	currency = strings.ToUpper(strings.TrimSpace(currency))
	digits, known := countersign.Exponent(currency)
	switch {
	case currency == "":
		a.Problem = fmt.Sprintf("nothing says in which currency %s is", shown(text))
	case !known:
		a.Problem = fmt.Sprintf("%s is in %q, which is not a currency", shown(text), shown(currency))
	case unit == Minor:
		a.Money, a.Problem = exactly(text, 0, currency)
	default:
		a.Money, a.Problem = exactly(text, digits, currency)
	}
	return a
}

// exactly moves the point of a decimal number by as many places as its currency has. What is left behind the point must be
// zeros: a fraction of the smallest coin is shown, and never rounded away by anything that decides.
func exactly(text string, places int, currency string) (*countersign.Money, string) {
	part := decimal.FindStringSubmatch(text)
	if part == nil || part[2]+part[3] == "" {
		return nil, fmt.Sprintf("%q is not an amount in a form that is understood, such as 49.90", shown(text))
	}
	power, _ := strconv.Atoi(part[4]) // at most three digits
	whole, rest := shifted(part[2], part[3], places+power)
	minor, err := strconv.ParseInt(part[1]+whole, 10, 64)
	if err != nil {
		return nil, fmt.Sprintf("%s is more money than there is", shown(text))
	}
	m := countersign.Money{Minor: minor, Currency: currency}
	if strings.Trim(rest, "0") != "" {
		return nil, fmt.Sprintf("%s has more digits than %s has: the nearest amount is %s", shown(text), currency, rounded(m, part[1], rest))
	}
	return &m, ""
}

// shifted moves the point of whole.fraction to the right, or to the left when places is below zero.
func shifted(whole, fraction string, places int) (string, string) {
	if places < 0 {
		whole = strings.Repeat("0", -places) + whole
		return "0" + whole[:len(whole)+places], whole[len(whole)+places:] + fraction
	}
	if missing := places - len(fraction); missing > 0 {
		fraction += strings.Repeat("0", missing)
	}
	return "0" + whole + fraction[:places], fraction[places:]
}

// rounded is the nearest amount, for people to look at.
func rounded(m countersign.Money, sign, rest string) countersign.Money {
	away := int64(1)
	if sign == "-" {
		away = -1
	}
	if rest[0] >= '5' && m.Minor+away > m.Minor == (away > 0) {
		m.Minor += away
	}
	return m
}

package countersign

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in the smallest unit of its currency, as ISO 4217 defines it: 4999 NGN is 49.99 naira, 5800 JPY is
// 5,800 yen. There is no other form: nothing in this program divides by a hundred.
type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// KnownCurrency reports whether code is an active ISO 4217 currency, in capitals.
func KnownCurrency(code string) bool {
	_, ok := Exponent(code)
	return ok
}

// Exponent is the number of decimal digits of a currency: 2 for NGN, 0 for JPY, 3 for KWD. False for a code that ISO 4217
// does not list.
func Exponent(code string) (digits int, ok bool) {
	if len(code) != 3 {
		return 0, false
	}
	for digits, codes := range currencies {
		if i := strings.Index(codes, code); i >= 0 && i%4 == 0 {
			return digits, true
		}
	}
	return 0, false
}

// String is the amount for people: "NGN 24,500.00", "JPY 5,800", "NGN −120.00" with a true minus. An unknown currency
// prints the bare number of minor units and says so.
func (m Money) String() string {
	digits, ok := Exponent(m.Currency)
	if !ok {
		return fmt.Sprintf("%d minor units of %q", m.Minor, m.Currency)
	}
	sign, n := "", uint64(m.Minor)
	if m.Minor < 0 {
		sign, n = "−", -n
	}
	s := fmt.Sprintf("%0*d", digits+1, n)
	whole, fraction := s[:len(s)-digits], s[len(s)-digits:]
	if digits > 0 {
		fraction = "." + fraction
	}
	return m.Currency + " " + sign + grouped(whole) + fraction
}

// ParseMoney reads an amount as a person types it, in that currency: "1,250.50", "5800". A comma or a blank may stand between
// thousands and nowhere else, so that "12,50" is refused and not taken for 1,250; there are no more digits after the point than
// the currency has.
func ParseMoney(typed, currency string) (Money, error) {
	digits, ok := Exponent(currency)
	if !ok {
		return Money{}, fmt.Errorf("%q is no currency", clip(currency))
	}
	whole, fraction, _ := strings.Cut(typed, ".")
	whole = ungrouped(whole)
	if whole == "" || len(fraction) > digits || strings.Trim(whole+fraction, "0123456789") != "" {
		return Money{}, fmt.Errorf("%q is not an amount of %s", clip(typed), currency)
	}
	minor, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return Money{}, fmt.Errorf("%q is not an amount of %s", clip(typed), currency)
	}
	return Money{minor, currency}, nil
}

// ungrouped takes out what stands between thousands; empty when it stands elsewhere, or something is missing beside it.
func ungrouped(whole string) string {
	groups := strings.Split(strings.NewReplacer(" ", ",", "\u00a0", ",").Replace(strings.TrimSpace(whole)), ",")
	for i, g := range groups {
		if len(groups) > 1 && (len(g) > 3 || g == "" || i > 0 && len(g) != 3) {
			return ""
		}
	}
	return strings.Join(groups, "")
}

func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// currencies lists the active ISO 4217 codes by their number of decimal digits, four characters apart.
var currencies = map[int]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY " +
		"COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR " +
		"IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN " +
		"NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC " +
		"SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
	4: "CLF UYW",
}

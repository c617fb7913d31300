package countersign_test

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"countersign"
)

func TestAnAmountAsAPersonTypesIt(t *testing.T) {
	for _, row := range []struct {
		typed, currency string
		minor           int64
	}{
		{"120", "USD", 120_00}, {"120.5", "USD", 120_50}, {"120.50", "USD", 120_50}, {"0.01", "USD", 1}, {"0", "USD", 0}, {"007", "USD", 7_00},
		{"1,250.50", "USD", 1250_50}, {"1 250.50", "USD", 1250_50}, {"1\u00a0250.50", "USD", 1250_50}, {"1,234,567", "USD", 1_234_567_00}, {" 120 ", "USD", 120_00}, {"120.", "USD", 120_00},
		{"5800", "JPY", 5800}, {"5,800", "JPY", 5800}, {"12000", "KRW", 12000},
		{"1.250", "KWD", 1250}, {"1.25", "KWD", 1250}, {"1", "KWD", 1000}, {"1.2345", "CLF", 12345},
		{"50000.00", "NGN", 50_000_00}, {"92233720368547758.07", "USD", math.MaxInt64},
	} {
		got, err := countersign.ParseMoney(row.typed, row.currency)
		if want := (countersign.Money{Minor: row.minor, Currency: row.currency}); err != nil || got != want {
			t.Errorf("%q of %s is %v (%v), want %v", row.typed, row.currency, got, err, want)
		}
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	for _, row := range []struct{ typed, currency, why string }{
		{"", "USD", "nothing"}, {" ", "USD", "a blank"}, {".", "USD", "a point"}, {".50", "USD", "no whole number"}, {",", "USD", "a comma"},
		{"12,50", "USD", "a comma for a point: neither 12.50 nor 1,250"}, {"1,25,000", "USD", "groups of two"}, {"1,2500", "USD", "a group of four"},
		{"1,250,50", "USD", "a last group of two"}, {"1.250,50", "USD", "the other way round"}, {"12.5.0", "USD", "two points"}, {"1,250.5,0", "USD", "a comma after the point"},
		{"1.005", "USD", "a tenth of a cent"}, {"1.0", "JPY", "a tenth of a yen"}, {"1.2345", "KWD", "a tenth of a fils"},
		{"-5", "USD", "less than nothing"}, {"+5", "USD", "a sign"}, {"−5", "USD", "a true minus"}, {"1e3", "USD", "science"}, {"0x10", "USD", "a programmer's"},
		{"USD 5", "USD", "the currency with it"}, {"$5", "USD", "a sign of the currency"}, {"٥", "USD", "digits of another script"}, {"５", "USD", "a wide digit"},
		{"1_000", "USD", "an underscore"}, {"1'000", "CHF", "an apostrophe"}, {"92233720368547758.08", "USD", "a cent too many to hold"}, {strings.Repeat("9", 400), "JPY", "four hundred digits"},
		{"NaN", "USD", "no number"}, {"5\x00", "USD", "a NUL"}, {"5", "usd", "a currency in small letters"}, {"5", "", "no currency"}, {"5", "BTC", "what is no currency"},
		{"1 250 50", "USD", "a last group of two, with blanks"}, {"12 5", "USD", "a slip of the finger"}, {"120. 5", "USD", "a blank after the point"},
		{",50", "USD", "a comma that was meant for a point"}, {"50,", "USD", "a comma at the end"}, {"1,,250", "USD", "two commas"}, {"1, 250", "USD", "a comma and a blank"},
		{"1234,567", "KWD", "a comma that was meant for a point, in dinars"},
	} {
		if got, err := countersign.ParseMoney(row.typed, row.currency); err == nil {
			t.Errorf("%s, %q of %q, is taken for %v", row.why, row.typed, row.currency, got)
		}
	}
}

// What String writes for people, ParseMoney reads, and a person may leave out the commas.
func TestAnAmountThatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := countersign.Money{Minor: rapid.Int64Range(0, math.MaxInt64).Draw(t, "minor"), Currency: rapid.SampledFrom([]string{"USD", "NGN", "JPY", "KRW", "KWD", "TND", "CLF", "EUR"}).Draw(t, "currency")}
		_, typed, _ := strings.Cut(m.String(), " ")
		for _, typed := range []string{typed, strings.ReplaceAll(typed, ",", ""), strings.ReplaceAll(typed, ",", " "), strings.ReplaceAll(typed, ",", "\u00a0"), " " + typed} {
			if got, err := countersign.ParseMoney(typed, m.Currency); err != nil || got != m {
				t.Fatalf("%q is %v (%v), want %v", typed, got, err, m)
			}
		}
	})
}

// FuzzParseMoney holds what is accepted to what was typed: the same digits, in the same order, and none that nobody typed but the
// zeros that the currency asks for.
func FuzzParseMoney(f *testing.F) {
	for _, typed := range []string{"120.50", "1,250", "1 250.5", "12,50", "", ".", "5.", "007", ",1", "1,", "9223372036854775807", "1.0.0", "\u00a01"} {
		for _, currency := range []string{"USD", "JPY", "KWD", "XXX"} {
			f.Add(typed, currency)
		}
	}
	f.Fuzz(func(t *testing.T, typed, currency string) {
		m, err := countersign.ParseMoney(typed, currency)
		if err != nil {
			if m != (countersign.Money{}) || len(err.Error()) > 300 {
				t.Errorf("%q is refused and is %v: %v", typed, m, err)
			}
			return
		}
		if m.Minor < 0 || m.Currency != currency || !countersign.KnownCurrency(currency) {
			t.Fatalf("%q of %q is %v", typed, currency, m)
		}
		places, _ := countersign.Exponent(currency)
		whole, fraction, _ := strings.Cut(typed, ".")
		want := strings.TrimLeft(digits(whole)+fraction+strings.Repeat("0", places-len(fraction)), "0")
		if _, written, _ := strings.Cut(m.String(), " "); strings.TrimLeft(digits(written), "0") != want {
			t.Errorf("%q of %q is %s, want the digits %q", typed, currency, m, want)
		}
	})
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}

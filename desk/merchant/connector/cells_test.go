package connector

import (
	"math/big"
	"strings"
	"testing"

	"countersign"
)

func TestAmounts(t *testing.T) {
	for _, row := range []struct {
		name, text, unit, currency string
		want, problem              string
	}{
		{"two decimals", "49.90", Major, "USD", "USD 49.90", ""},
		{"zeros that say nothing", "49.900000", Major, "USD", "USD 49.90", ""},
		{"no point", "49", Major, "USD", "USD 49.00", ""},
		{"only behind the point", ".5", Major, "USD", "USD 0.50", ""},
		{"a point and nothing behind it", "5.", Major, "USD", "USD 5.00", ""},
		{"below zero", "-12.50", Major, "USD", "USD −12.50", ""},
		{"blanks around it", "  7.00 ", Major, "USD", "USD 7.00", ""},
		{"small letters", "7", Major, "usd", "USD 7.00", ""},
		{"yen have no decimals", "5800", Major, "JPY", "JPY 5,800", ""},
		{"yen with zeros behind the point", "5800.000000", Major, "JPY", "JPY 5,800", ""},
		{"half a yen", "5800.5", Major, "JPY", "", "5800.5 has more digits than JPY has: the nearest amount is JPY 5,801"},
		{"dinars have three", "1.250", Major, "KWD", "KWD 1.250", ""},
		{"minor units", "4990", Minor, "USD", "USD 49.90", ""},
		{"minor units of a currency without decimals", "5800", Minor, "JPY", "JPY 5,800", ""},
		{"minor units as a decimal column writes them", "4990.000000", Minor, "USD", "USD 49.90", ""},
		{"a fraction of a cent", "4990.5", Minor, "USD", "", "4990.5 has more digits than USD has: the nearest amount is USD 49.91"},
		{"Medusa's six digits", "87.957975", Major, "USD", "", "87.957975 has more digits than USD has: the nearest amount is USD 87.96"},
		{"rounded away from zero", "-0.005", Major, "USD", "", "-0.005 has more digits than USD has: the nearest amount is USD −0.01"},
		{"a float that is not what it seems", "0.30000000000000004", Major, "USD", "", "0.30000000000000004 has more digits than USD has: the nearest amount is USD 0.30"},
		{"a power of ten, exactly", "1.2345e+02", Major, "USD", "USD 123.45", ""},
		{"a power of ten that fits", "1.2e3", Major, "USD", "USD 1,200.00", ""},
		{"a negative power", "1200e-2", Major, "USD", "USD 12.00", ""},
		{"nothing", "", Major, "USD", "", ""},
		{"only blanks", "  ", Major, "USD", "", ""},
		{"the largest", "92233720368547758.07", Major, "USD", "USD 92,233,720,368,547,758.07", ""},
		{"one more", "92233720368547758.08", Major, "USD", "", "92233720368547758.08 is more money than there is"},
		{"a very large power", "1e999", Major, "USD", "", "1e999 is more money than there is"},
		{"commas between thousands", "1,234.50", Major, "USD", "", `"1,234.50" is not an amount in a form that is understood, such as 49.90`},
		{"a decimal comma", "49,90", Major, "EUR", "", `"49,90" is not an amount in a form that is understood, such as 49.90`},
		{"a sign of a currency", "$5", Major, "USD", "", `"$5" is not an amount in a form that is understood, such as 49.90`},
		{"not a number", "NaN", Major, "USD", "", `"NaN" is not an amount in a form that is understood, such as 49.90`},
		{"hexadecimal", "0x10", Major, "USD", "", `"0x10" is not an amount in a form that is understood, such as 49.90`},
		{"a sign alone", "-", Major, "USD", "", `"-" is not an amount in a form that is understood, such as 49.90`},
		{"a point alone", ".", Major, "USD", "", `"." is not an amount in a form that is understood, such as 49.90`},
		{"other people's digits", "٤٩", Major, "USD", "", `"٤٩" is not an amount in a form that is understood, such as 49.90`},
		{"no currency", "5", Major, " ", "", "nothing says in which currency 5 is"},
		{"gold is no currency", "5", Major, "XAU", "", `5 is in "XAU", which is not a currency`},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := amountOf(row.text, row.unit, row.currency)
			got := ""
			if a.Money != nil {
				got = a.Money.String()
			}
			if got != row.want || a.Problem != row.problem || a.Text != row.text {
				t.Errorf("%q is %s, %q, want %s, %q", row.text, got, a.Problem, row.want, row.problem)
			}
		})
	}
}

func TestMoments(t *testing.T) {
	for _, row := range []struct {
		name, text, zone string
		kind             family
		want, problem    string
	}{
		{"PostgreSQL's instant", "2026-05-13 16:12:08+00", "Africa/Lagos", instant, "2026-05-13T16:12:08.000000Z", ""},
		{"MySQL's, which does not say that it is one", "2026-05-13 16:12:08", "Africa/Lagos", instant, "2026-05-13T16:12:08.000000Z", ""},
		{"a clock in the mapping's zone", "2026-05-13 16:12:08", "Africa/Lagos", wallClock, "2026-05-13T15:12:08.000000Z", ""},
		{"a clock in nobody's zone", "2026-05-13 16:12:08", "", wallClock, "", `nobody has said in which time zone "2026-05-13T16:12:08" is`},
		{"a zone of its own goes first", "2026-05-13T16:12:08.5+02:00", "Africa/Lagos", texts, "2026-05-13T14:12:08.500000Z", ""},
		{"an offset without minutes", "2026-05-13 16:12:08-07", "", texts, "2026-05-13T23:12:08.000000Z", ""},
		{"an offset without its colon", "2026-05-13 16:12:08 +0530", "", texts, "2026-05-13T10:42:08.000000Z", ""},
		{"UTC as a word", "2026-05-13 16:12:08 UTC", "", texts, "2026-05-13T16:12:08.000000Z", ""},
		{"a fixed offset of the mapping", "2026-05-13 16:12:08", "+01:00", wallClock, "2026-05-13T15:12:08.000000Z", ""},
		{"without seconds", "2026-05-13 16:12", "UTC", texts, "2026-05-13T16:12:00.000000Z", ""},
		{"seven digits", "2026-05-13 16:12:08.1234567", "UTC", texts, "2026-05-13T16:12:08.123456Z", ""},
		{"a fraction that ends in zeros", "2026-05-13 16:12:08.500000", "UTC", wallClock, "2026-05-13T16:12:08.500000Z", ""},
		{"a bare date", "2026-05-13", "Africa/Lagos", wallClock, "2026-05-13", ""},
		{"counted seconds", "1778688728", "unix", integers, "2026-05-13T16:12:08.000000Z", ""},
		{"counted thousandths", "1778688728123", "unix_ms", integers, "2026-05-13T16:12:08.123000Z", ""},
		{"a number when nobody said that it counts", "1778688728", "UTC", integers, "", `"1778688728" is a number: set the zone of the mapping to unix or unix_ms if it counts from 1970`},
		{"the hour that was skipped", "2026-03-29 02:30:00", "Europe/Berlin", wallClock, "", `"2026-03-29T02:30:00" was skipped in Europe/Berlin when the clocks went forward`},
		{"the hour that happened twice", "2026-10-25 02:30:00", "Europe/Berlin", wallClock, "", `"2026-10-25T02:30:00" happened twice in Europe/Berlin when the clocks went back`},
		{"the hour before it", "2026-10-25 01:59:59", "Europe/Berlin", wallClock, "2026-10-24T23:59:59.000000Z", ""},
		{"nothing", "", "UTC", wallClock, "", ""},
		{"MySQL's zero date", "0000-00-00 00:00:00", "", wallClock, "", ""},
		{"its time that is not zero", "0000-00-00 13:14:15", "", wallClock, "", ""},
		{"a month that is not there", "2026-00-15", "UTC", wallClock, "", `"2026-00-15" is not a date that can be`},
		{"a day that is not there", "2026-02-30 10:00:00", "UTC", wallClock, "", `"2026-02-30T10:00:00" is not a time`},
		{"the first year", "0001-01-01", "UTC", wallClock, "", `"0001-01-01" is not a date that can be`},
		{"a date that may be two", "05/06/2026", "UTC", texts, "", `"05/06/2026" is not a time in a form that is understood, such as 2026-05-13 16:12:08`},
		{"for ever", "infinity", "UTC", instant, "", `"infinity" is not a time in a form that is understood, such as 2026-05-13 16:12:08`},
		{"midnight of the day after", "2026-05-13 24:00:00", "UTC", wallClock, "", `"2026-05-13T24:00:00" is not a time`},
		{"a date in a zone", "2026-05-13 +02:00", "UTC", texts, "", `"2026-05-13 +02:00" has a zone and no time of day`},
	} {
		t.Run(row.name, func(t *testing.T) {
			z, err := zoneOf(row.zone)
			if err != nil {
				t.Fatal(err)
			}
			m := momentOf(row.text, row.kind, z)
			if m.When.String() != row.want || m.Problem != row.problem || m.Text != row.text {
				t.Errorf("%q is %s, %q, want %s, %q", row.text, m.When, m.Problem, row.want, row.problem)
			}
		})
	}
	for _, name := range []string{"Local", "local", "../etc/passwd", "Mars/Base", "+25:00", "1:00"} {
		if _, err := zoneOf(name); err == nil {
			t.Errorf("%q is taken for a zone", name)
		}
	}
}

// What is read as an amount is exactly the number that the text is, whoever wrote it, or there is none and a reason.
func FuzzAmount(f *testing.F) {
	seeds := []string{"49.90", "-0.005", "1e3", "1.2345e-2", "", "NaN", "9223372036854775807", "00.10", "+5", "1e999", ".", "5.0000000000000000000000000000001"}
	for _, s := range seeds {
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		currency := []string{"JPY", "", "USD", "KWD", "CLF"}[which%5]
		a := amountOf(text, Major, currency)
		if blank := strings.TrimSpace(text) == ""; a.Money == nil && a.Problem == "" && !blank {
			t.Fatalf("%q is no amount and nothing says why", text)
		}
		if a.Money == nil {
			return
		}
		digits, _ := countersign.Exponent(currency)
		want, ok := new(big.Rat).SetString(strings.TrimSpace(text))
		if !ok {
			t.Fatalf("%q is no number and was read as %v", text, a.Money)
		}
		got := new(big.Rat).SetFrac(big.NewInt(a.Money.Minor), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
		if got.Cmp(want) != 0 {
			t.Fatalf("%q was read as %v", text, a.Money)
		}
	})
}

// Whatever a cell holds, a time is read or a reason is given, and what is read survives being kept.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{"2026-05-13 16:12:08+00", "0000-00-00", "infinity", "2026-10-25 02:30:00", "1778688728", "", "2026-05-13", "2026-13-40 99:99:99", "2026-05-13 16:12:08.123456789 UTC"} {
		f.Add(s, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		z, err := zoneOf([]string{"Europe/Berlin", "", "unix", "unix_ms", "+05:30", "America/St_Johns"}[which%6])
		if err != nil {
			t.Fatal(err)
		}
		m := momentOf(text, []family{wallClock, instant, texts}[which%3], z)
		trimmed := strings.TrimSpace(text)
		if m.When.IsZero() && m.Problem == "" && trimmed != "" && !strings.HasPrefix(trimmed, "0000-00-00") {
			t.Fatalf("%q is no time and nothing says why", text)
		}
		if again, err := countersign.ParseWhen(m.When.String()); err != nil || again != m.When {
			t.Fatalf("%q was read as %s, which cannot be kept: %v", text, m.When, err)
		}
	})
}

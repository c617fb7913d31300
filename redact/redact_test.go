package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMask(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"a card number in one piece keeps its last four digits", "paid with 4111111111111111 today", "paid with ****1111 today"},
		{"a card number in groups of four", "4111 1111 1111 1111", "****1111"},
		{"a card number with dashes", "(5555-5555-5555-4444)", "(****4444)"},
		{"a card number with dots", "3782.822463.10005.", "****0005."},
		{"a card number with no-break spaces", "4111\u00a01111\u00a01111\u00a01111", "****1111"},
		{"a card number with zero-width signs inside", "4111\u200b1111\u200b1111\u200b1111", "****1111"},
		{"a card number broken over two lines", "4111 1111\n1111 1111", "****1111"},
		{"a card number of a single digit a group", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "****1111"},
		{"a card number against letters", "PAN4111111111111111exp", "PAN****1111exp"},
		{"a card number inside longer digits against letters", "x994111111111111111", "x****1111"},
		{"a card number with its expiry after it", "4111 1111 1111 1111 12/28", "****1111 12/28"},
		{"a card number after an amount and a date", "12.50 2026-11-28 4111 1111 1111 1111", "12.50 2026-11-28 ****1111"},
		{"a card number in full-width digits", "４１１１１１１１１１１１１１１１", "****1111"},
		{"a card number in Arabic-Indic digits", "٤١١١ ١١١١ ١١١١ ١١١١", "****1111"},
		{"a card number in Persian and Devanagari digits", "۴۱۱۱ १११۱ ۱۱۱۱ ۱۱۱۱", "****1111"},
		{"a card number of no known network, standing alone", "7000.0000.0000.0005", "****0005"},
		{"a card number disguised as already masked", "****4111.1111.1111.1111", "********1111"},
		{"thirteen digits that fail the check with dots are not a card", "4111.1111.1111.2", "4111.1111.1111.2"},

		{"an account number of ten digits", "to 0123456789, thanks", "to ****6789, thanks"},
		{"an account number grouped by spaces", "0123 456 789", "****6789"},
		{"an account number after a word and a colon", "acct:0123456789", "acct:****6789"},
		{"an account number right against the word account", "acct0123456789 NUBAN-0123456789", "acct****6789 NUBAN-****6789"},
		{"account numbers in a script without spaces", "口座番号0123456789に送金 一2345 123445 12345", "口座番号****6789に送金 一****2345"},
		{"a card number in a script without spaces", "卡号4111111111111111请", "卡号****1111请"},
		{"an account number in brackets and quotes", `("0123456789")`, `("****6789")`},
		{"an account number next to an earlier mask", "****1234 0123456789", "****1234 ****6789"},
		{"an account number after an amount", "24,500.00 0123456789", "24,500.00 ****6789"},
		{"an account number at the end of a sentence", "It is 0123456789.", "It is ****6789."},
		{"twenty digits", "12345678901234567890", "****7890"},

		{"an IBAN in one piece", "DE89370400440532013000", "****3000"},
		{"an IBAN in groups", "pay GB82 WEST 1234 5698 7654 32 please", "pay ****5432 please"},
		{"an IBAN in small letters", "gb82west12345698765432", "****5432"},
		{"a mistyped IBAN in one piece", "GB83WEST12345698765432", "****5432"},
		{"an account in the form of an IBAN that no registry knows", "to US133000000121212121212.", "to ****1212."},
		{"an id of two letters and a few digits is no account", "TX2026000123 and AT6854532054", "TX2026000123 and AT6854532054"},

		{"an e-mail address", "write to ada.obi@example.com.", "write to a***@***."},
		{"an e-mail address with a plus and a subdomain", "<ada+bank@mail.example.co.uk>", "<a***@***>"},
		{"a payment handle", "adaobi@okbank", "a***@***"},
		{"an e-mail address with letters outside ASCII", "ọlá@bánkì.example", "ọ***@***"},
		{"a full-width at sign", "ada＠example.com", "a***@***"},
		{"an address that is a phone number", "08031234567@example.com", "0***@***"},
		{"a module version is no address", "modernc.org/sqlite@v1.62.0/conn.go", "modernc.org/sqlite@v1.62.0/conn.go"},

		{"a Nigerian phone number with its country code", "+234 803 123 4567", "+****4567"},
		{"a phone number in one piece", "+2348031234567", "+****4567"},
		{"a national phone number", "0803 123 4567", "****4567"},
		{"a national phone number with dashes", "0803-123-4567 or 0803-1234567", "****4567 or ****4567"},
		{"a national phone number with dots", "0803.123.4567", "****4567"},
		{"an area code in brackets", "+1 (555) 123-4567 and (0803) 123-4567", "+****4567 and (****4567"},
		{"a short international number", "+47 22 22 55 55", "+****5555"},

		{"an instant is left alone", "2026-11-30T19:10:00.123456789Z", "2026-11-30T19:10:00.123456789Z"},
		{"an instant with a zone is left alone", "2026-11-30T19:10:00.123456+01:00", "2026-11-30T19:10:00.123456+01:00"},
		{"a date and a time with a space are left alone", "2026-11-30 19:10:00.123456 UTC", "2026-11-30 19:10:00.123456 UTC"},
		{"dates side by side are left alone", "2026-11-28 2026-11-30 - 2026-12-01", "2026-11-28 2026-11-30 - 2026-12-01"},
		{"dates with the day first are left alone", "01-12-2026 10:30, 01/12/2026 10:30, 01.12.2026 15.12.2026", "01-12-2026 10:30, 01/12/2026 10:30, 01.12.2026 15.12.2026"},
		{"amounts are left alone", "NGN 24,500.00 of 1,234,567,890,123.00 (−120.00)", "NGN 24,500.00 of 1,234,567,890,123.00 (−120.00)"},
		{"a long amount without commas is left alone", "1234567890.50", "1234567890.50"},
		{"a range of amounts is left alone", "100000-200000", "100000-200000"},
		{"our ids are left alone", "D-7K3M9QXA txn_8d1aa1219382 S3 TX-2026000123 LE_0000000001", "D-7K3M9QXA txn_8d1aa1219382 S3 TX-2026000123 LE_0000000001"},
		{"a UUID is left alone", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
		{"an address of a machine is left alone", "192.168.100.200:8080", "192.168.100.200:8080"},
		{"a fraction is left alone", "0.9123456789012345", "0.9123456789012345"},
		{"a masked number is left alone", "****1234 24,500.00 and ****1234 28 11 2026", "****1234 24,500.00 and ****1234 28 11 2026"},
		{"broken UTF-8 passes through", "caf\xe9 4111111111111111\xff", "caf\xe9 ****1111\xff"},
		{"nothing stays nothing", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Mask(row.in).String()
			if got != row.want {
				t.Errorf("Mask(%q)\n got %q\nwant %q", row.in, got, row.want)
			}
			if again := Mask(got).String(); again != got {
				t.Errorf("masking twice: %q became %q", got, again)
			}
		})
	}
}

// cards are the numbers that payment companies publish for testing, and none that anyone was ever issued.
var cards = []string{
	"4111111111111111", "4012888888881881", "4222222222222", "4000056655665556", "5555555555554444", "5105105105105100",
	"2223003122003222", "5200828282828210", "378282246310005", "371449635398431", "6011111111111117", "6011000990139424",
	"3056930009020004", "36227206271667", "30569309025904", "38520000023237", "3566002020360505", "3530111333300000",
	"6200000000000005", "6205500000000000004", "6759649826438453", "5060990580000217499",
}

func TestNoCardNumberSurvives(t *testing.T) {
	for _, card := range cards {
		if !luhn(values(card)) {
			t.Fatalf("%s in the list is not a card number", card)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		card := rapid.SampledFrom(cards).Draw(t, "card")
		sep := rapid.SampledFrom([]string{"", " ", "-", ".", " - ", "\u00a0", "–", "\n", "_", "/", "  ", "\u200b"}).Draw(t, "separator")
		zero := rapid.SampledFrom([]rune{'0', '０', '٠', '۰', '०', '𝟎'}).Draw(t, "script")
		every := rapid.IntRange(1, 8).Draw(t, "group")
		before := rapid.SampledFrom([]string{"", "pay ", "card:", "x", "txn_", "12 ", "NGN 24,500.00 ", "2026-11-28 ", "****1234 ", "+", "a@b.cd ", "99"}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", ".", " exp 12/28", "x", ", 0123456789", " 123", "\n2026-11-28", "@example.com"}).Draw(t, "after")
		in := before + grouped(card, sep, zero, every) + after
		if got := Mask(in).String(); strings.Contains(string(values(got)), string(values(card))) {
			t.Fatalf("%q came out as %q", in, got)
		}
	})
}

func grouped(card, sep string, zero rune, every int) string {
	var b strings.Builder
	for i, d := range card {
		if i > 0 && i%every == 0 {
			b.WriteString(sep)
		}
		b.WriteRune(zero + d - '0')
	}
	return b.String()
}

// values are the digits of s and nothing else.
func values(s string) (digits []byte) {
	for _, r := range s {
		if v, ok := digitValue(r); ok || isDigit(r) {
			if !ok {
				v = byte(r - '0')
			}
			digits = append(digits, v)
		}
	}
	return digits
}

func TestMaskingTwiceIsMaskingOnce(t *testing.T) {
	pieces := append([]string{" ", "-", ".", ",", "+", "*", "****1234", "@", "a", "Ọ", "x@y.zz", "0", "12", "345", "6789", "0123456789", "\n", "(", ")", "GB82", "WEST", "1234", "2026-11-28", "٣"}, cards...)
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		once := Mask(in).String()
		if twice := Mask(once).String(); twice != once {
			t.Fatalf("%q became %q, then %q", in, once, twice)
		}
	})
}

func TestHugeTextsDoNotTakeHuge(t *testing.T) {
	for name, piece := range map[string]string{
		"digits": "4111", "groups": "4111 ", "single digits": "4.", "dashes": "x1-", "masks": "****4111.", "at signs": "a@", "addresses": "a@b.cd ",
		"IBAN starts": "GB82 ", "dates": "2026-11-28 ", "signs": "---", "broken": "\xff1",
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.Repeat(piece, 400_000/len(piece))
			once := Mask(in).String()
			if twice := Mask(once).String(); twice != once {
				t.Errorf("masking twice is not masking once")
			}
		})
	}
}

func TestMaskJSON(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"string values are masked at every depth", `{"a":["4111111111111111",{"b":"ada@example.com"}]}`, `{"a":["****1111",{"b":"a***@***"}]}`},
		{"numbers, keys, order and spacing stay", "{ \"4111111111111111\" :\n 4111111111111111, \"n\": 4999.0 }", "{ \"4111111111111111\" :\n 4111111111111111, \"n\": 4999.0 }"},
		{"a number hidden behind escapes is found", `["\u0034111 1111\u00201111 1111"]`, `["****1111"]`},
		{"an address hidden behind an escape is found", `["ada\u0040example.com"]`, `["a***@***"]`},
		{"an escape that is no number keeps its spelling", `["\u003cb\u003e \u2019 0803"]`, `["\u003cb\u003e \u2019 0803"]`},
		{"the rest of a masked string is spelled plainly", `["<a> \"q\" 0123456789"]`, `["<a> \"q\" ****6789"]`},
		{"a bare string is a document", `"0123456789"`, `"****6789"`},
		{"what is not JSON is masked as text", `{"card":"4111111111111111"`, `{"card":"****1111"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := string(MaskJSON([]byte(row.in))); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
			if got := JSON([]byte(row.in)).String(); got != row.want {
				t.Errorf("JSON: got %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Run("a text is a plain string in JSON", func(t *testing.T) {
		b, err := json.Marshal(struct{ T Text }{Mask("to 0123456789")})
		if err != nil || string(b) != `{"T":"to ****6789"}` {
			t.Errorf("got %s, %v", b, err)
		}
	})
	t.Run("joining leaves what the parts left alone", func(t *testing.T) {
		got := Join("\n", JSON([]byte(`{"amount_minor":1234567890}`)), Mask("canary: ab12")).String()
		if got != "{\"amount_minor\":1234567890}\ncanary: ab12" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a card number cut in two is masked when the parts are joined", func(t *testing.T) {
		if got := Join(" ", Mask("4111 1111"), Mask("1111 1111")).String(); got != "****1111" {
			t.Errorf("got %q", got)
		}
	})
}

func FuzzMask(f *testing.F) {
	for _, s := range append([]string{"", "a@b.cd", "GB82 WEST 1234 5698 7654 32", "****1234 56", "２０２６-11-28", "+234 803 123 4567", "\xff4111"}, cards...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Mask(s).String()
		if twice := Mask(once).String(); twice != once {
			t.Fatalf("%q became %q, then %q", s, once, twice)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Fatalf("%q became invalid UTF-8: %q", s, once)
		}
	})
}

func FuzzMaskJSON(f *testing.F) {
	for _, s := range []string{`{"a":"4111111111111111"}`, `["\u0034111111111111111", -1e9, null]`, `"\ud800 a@b.cd"`, `{"a":`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		masked := MaskJSON(doc)
		if json.Valid(doc) && !json.Valid(masked) {
			t.Fatalf("%q became %q", doc, masked)
		}
		if again := MaskJSON(masked); string(again) != string(masked) {
			t.Fatalf("%q became %q, then %q", doc, masked, again)
		}
	})
}

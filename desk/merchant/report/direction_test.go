package report

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestArabicLetters(t *testing.T) {
	for text, want := range map[string]string{
		"محمد":        "\uFEE3\uFEA4\uFEE4\uFEAA",       // meem before, hah and meem between, dal after
		"علي":         "\uFECB\uFEE0\uFEF2",             //
		"بيروت":       "\uFE91\uFEF4\uFEAE\uFEED\uFE95", // reh and waw are joined to nothing after them
		"السلام":      "\uFE8D\uFEDF\uFEB4\uFEFC\uFEE1", // lam and alef are one, joined to what comes before
		"لا":          "\uFEFB",                         //
		"ماء":         "\uFEE3\uFE8E\uFE80",             //
		"می‌خواهم":    "\uFEE3\uFBFD\u200C\uFEA7\uFEEE\uFE8D\uFEEB\uFEE2",
		"ســ":         "\uFEB3ــ",
		"مُحَمَّد":    "\uFEE3\u064F\uFEA4\u064E\uFEE4\u0651\u064E\uFEAA", // marks are passed over, a doubled letter's sign is the lower one
		"a محمد b":    "a \uFEE3\uFEA4\uFEE4\uFEAA b",
		"Okafor ₦ 12": "Okafor ₦ 12",
	} {
		t.Run(text, func(t *testing.T) {
			if got := shaped(text); got != want {
				t.Errorf("got %+q, want %+q", got, want)
			}
			if again := shaped(shaped(text)); again != want {
				t.Errorf("shaped twice it is %+q", again)
			}
		})
	}
}

// In these a capital stands for a Hebrew letter, which has no forms: what is read "abc DEF" is drawn "abc FED".
func TestDirections(t *testing.T) {
	for read, drawn := range map[string]string{
		"abc":                "abc",
		"abc DEF ghi":        "abc FED ghi",
		"ABC":                "CBA",
		"ABC def":            "CBA def", // a line on its own begins on the left
		"paid ABC 12.50 DEF": "paid FED 12.50 CBA",
		"paid ABC (12) DEF.": "paid FED (12) CBA.",
		"ABC, DEF":           "FED ,CBA",
		"no. 12, ABC":        "no. 12, CBA",
		"ABC 12% x":          "12% CBA x",
		"a (BC) d":           "a (CB) d",
		"ABC   ":             "CBA   ",
		">ABC def":           "def CBA",
		">ABC def GHI.":      ".IHG def CBA",
		">ABC 1,250.50 DEF":  "FED 1,250.50 CBA",
		">ABC (def) GHI":     "IHG (def) CBA",
		">ABC «DEF»":         "«FED» CBA",
		">ABC 2026-12-01 D":  "D 2026-12-01 CBA",
		">ABC 5":             "5 CBA",
		">abc DEF":           "FED abc",
	} {
		t.Run(read, func(t *testing.T) {
			if got := latin(visual(hebrew(read))); got != drawn {
				t.Errorf("got %q, want %q", got, drawn)
			}
		})
	}
	t.Run("a number in Arabic text is read from the left", func(t *testing.T) {
		if got := visual(string(fromRight) + "س ٢٥٠ ص"); got != "ص ٢٥٠ س" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a mark stays behind its letter", func(t *testing.T) {
		if got := visual("مُح"); got != "حمُ" {
			t.Errorf("got %+q", got)
		}
	})
	t.Run("lines of a paragraph that is read from the right say so, each", func(t *testing.T) {
		all := body.lines(strings.Repeat("محمد abc ", 30)+"\nabc محمد", 120)
		if n := len(all); n < 4 || strings.HasPrefix(all[n-1], string(fromRight)) || slices.ContainsFunc(all[:n-1], func(l string) bool { return !strings.HasPrefix(l, string(fromRight)) }) {
			t.Errorf("got %q", all)
		}
	})
	t.Run("no letter is lost or made, and text that is read from the left stays as it is", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringOf(rapid.SampledFrom([]rune("ab 12.,-%+(אבمح٣\u064E>"))).Draw(t, "text")
			got := visual(text)
			if sorted(got) != sorted(text) && !strings.ContainsAny(text, "()<>") {
				t.Errorf("%q became %q", text, got)
			}
			if strings.IndexFunc(text, turns) < 0 && got != text {
				t.Errorf("%q became %q", text, got)
			}
		})
	})
}

func hebrew(text string) string {
	text, right := strings.CutPrefix(text, ">")
	text = strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return 'א' + r - 'A'
		}
		return r
	}, text)
	if right {
		text = string(fromRight) + text
	}
	return text
}

func latin(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Hebrew, r) {
			return 'A' + r - 'א'
		}
		return r
	}, text)
}

func sorted(text string) string {
	all := []rune(text)
	slices.Sort(all)
	return string(all)
}

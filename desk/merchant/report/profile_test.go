package report

import (
	"strings"
	"testing"
)

func TestProfiles(t *testing.T) {
	pdf := func(size int64, pages int) PackFile {
		return PackFile{Name: "report.pdf", Type: pdfType, Size: size, Pages: pages}
	}
	for _, test := range []struct {
		name, provider, network string
		files                   []PackFile
		refused, costs          string // "" for none
	}{
		{"a short report passes everywhere we know", "stripe", "visa", []PackFile{pdf(300_000, 6)}, "", ""},
		{"three files of 2 MB are too much together for Stripe", "stripe", "visa", []PackFile{pdf(2_000_000, 3), pdf(2_000_000, 3), pdf(2_000_000, 3)}, "the files have 6.00 MB together; Stripe for Visa takes 4.50 MB", ""},
		{"a 60-page PDF is too long for Stripe", "stripe", "visa", []PackFile{pdf(900_000, 60)}, "there are 60 pages; Stripe for Visa takes 49", ""},
		{"and 20 pages for Mastercard through Stripe", "stripe", "mastercard", []PackFile{pdf(900_000, 20)}, "there are 20 pages; Stripe for Mastercard takes 19", "charges EUR 1 for each page beyond 19"},
		{"Adyen takes a PDF of 2 MB", "adyen", "visa", []PackFile{pdf(2_000_001, 2)}, "report.pdf has 2.00 MB; Adyen for Visa takes 2.00 MB of this type", ""},
		{"and no PNG", "adyen", "", []PackFile{{"sign.png", pngType, 5000, 1}}, "Adyen does not take sign.png: it is PNG", ""},
		{"PayPal takes less than 10 MB a file", "paypal", "", []PackFile{pdf(10_000_000, 5)}, "report.pdf has 10.00 MB", ""},
		{"and 50 MB together", "paypal", "", []PackFile{pdf(9_999_999, 1), pdf(9_999_999, 1), pdf(9_999_999, 1), pdf(9_999_999, 1), pdf(9_999_999, 1), pdf(9_999_999, 1)}, "the files have 60.00 MB together; PayPal takes 50.00 MB", ""},
		{"American Express takes five files", "", "amex", []PackFile{pdf(9, 1), pdf(9, 1), pdf(9, 1), pdf(9, 1), pdf(9, 1), pdf(9, 1)}, "there are 6 files; American Express takes 5", ""},
		{"and 20 pages", "", "amex", []PackFile{pdf(9, 21)}, "there are 21 pages", ""},
		{"Discover takes 3 MB", "", "discover", []PackFile{pdf(3_000_001, 2)}, "takes 3.00 MB", ""},
		{"so does Diners through Adyen", "adyen", "diners", []PackFile{pdf(1_900_000, 2), pdf(1_900_000, 2)}, "takes 3.00 MB", ""},
		{"Mastercard charges for long packs", "", "mastercard", []PackFile{{"report.pdf", pdfType, 900_000, 25}}, "", "charges EUR 1 for each page beyond 19, and there are 25"},
		{"and wants short names", "", "mastercard", []PackFile{{"evidence report.pdf", pdfType, 900_000, 2}}, "", "at most 16 letters and digits"},
		{"nothing public is known of Visa through Stripe", "stripe", "visa", []PackFile{pdf(4_000_000, 40)}, "", ""},
		{"through somebody who was not named, the strictest counts, and refuses nothing", "", "visa", []PackFile{pdf(30_000_000, 200)}, "", "there are 200 pages; the strictest provider known here takes 17"},
		{"so does a file's type", "", "visa", []PackFile{{"sign.png", pngType, 5000, 1}}, "", "does not take sign.png: it is PNG"},
		{"a provider that is not known here is one that was not named", "somebody", "", []PackFile{pdf(2_000_001, 18)}, "", "there are 18 pages; the strictest provider known here takes 17"},
		{"nothing at all was named", "", "", []PackFile{pdf(2_000_001, 1)}, "", "takes 2.00 MB of this type"},
		{"a small pack is within any limit", "", "visa", []PackFile{pdf(300_000, 6)}, "", ""},
		{"names are not held to their case", "Stripe", "Visa", []PackFile{pdf(900_000, 60)}, "there are 60 pages", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var refused, costs []string
			for _, p := range ProfileFor(test.provider, test.network).Check(Pack{test.files}) {
				if p.Try == "" {
					t.Errorf("%q says not what to do", p.Text)
				}
				if p.Refused {
					refused = append(refused, p.Text)
				} else {
					costs = append(costs, p.Text)
				}
			}
			for _, s := range []struct {
				want string
				got  []string
			}{{test.refused, refused}, {test.costs, costs}} {
				if (s.want == "") != (len(s.got) == 0) || !strings.Contains(strings.Join(s.got, "\n"), s.want) {
					t.Errorf("got %q, want %q", s.got, s.want)
				}
			}
		})
	}
	t.Run("two profiles together are never looser than either", func(t *testing.T) {
		for p := range providers {
			for n := range networks {
				both := ProfileFor(p, n)
				for _, one := range []Profile{providers[p], networks[n]} {
					if one.MaxTotal > 0 && (both.MaxTotal == 0 || both.MaxTotal > one.MaxTotal) || one.MaxPages > 0 && (both.MaxPages == 0 || both.MaxPages > one.MaxPages) {
						t.Errorf("%s for %s: %+v", p, n, both)
					}
					for fileType := range both.MaxFile {
						if _, taken := one.limit(fileType); !taken {
							t.Errorf("%s for %s takes %s", p, n, fileType)
						}
					}
				}
				if both.MaxFile == nil && (providers[p].MaxFile != nil || networks[n].MaxFile != nil) {
					t.Errorf("%s for %s takes everything", p, n)
				}
			}
		}
	})
}

func TestLimitsAreSaidInWords(t *testing.T) {
	for _, test := range []struct{ provider, network, want string }{
		{"stripe", "", "at most 4.50 MB, at most 49 pages"},
		{"adyen", "visa", "at most 2.00 MB"}, // of a PDF, which a pack is
		{"", "mastercard", "at most 14.50 MB, EUR 1 for each page beyond 19"},
		{"", "visa", ""},
	} {
		t.Run(ProfileFor(test.provider, test.network).Name, func(t *testing.T) {
			if got := strings.Join(ProfileFor(test.provider, test.network).Limits(), ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// That there are no problems says more of a provider that was named than of one that was not.
func TestNoProblemIsNoPromise(t *testing.T) {
	if got := ProfileFor("stripe", "visa").Free(); got != "Nothing is known against it." {
		t.Errorf("of Stripe it says %q", got)
	}
	for _, network := range []string{"visa", "mastercard", "", "somebody"} {
		if got := ProfileFor("", network).Free(); !strings.Contains(got, "Nobody has named the one that passes it on") || !strings.Contains(got, "17 pages") {
			t.Errorf("of nobody for %q it says %q", network, got)
		}
	}
}

package verify

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"countersign"
)

// example is one case of testdata/quotes.txt.
type example struct{ name, says, quotes string }

var exampleForm = regexp.MustCompile(`(?m)^(\S.*)\nsays: +(".*")\nquotes: +(".*")$`)

func examples(t testing.TB, section string) (all []example) {
	t.Helper()
	file, err := os.ReadFile("testdata/quotes.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(file), "== "+section+" ==\n")
	part, _, _ = strings.Cut(part, "\n== ")
	for _, m := range exampleForm.FindAllStringSubmatch(part, -1) {
		all = append(all, example{m[1], unquote(t, m[2]), unquote(t, m[3])})
	}
	if n := strings.Count(part, "\nsays:"); n != len(all) {
		t.Fatalf("%d of %d cases of %q were read", len(all), n, section)
	}
	return all
}

func unquote(t testing.TB, s string) string {
	t.Helper()
	text, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// bare is the document without the brackets, and where they stood.
func (e example) bare() (text string, start, end int) {
	start = strings.Index(e.says, "⟦")
	end = strings.Index(e.says, "⟧") - len("⟦")
	return strings.NewReplacer("⟦", "", "⟧", "").Replace(e.says), start, end
}

func look1(text, quote string) countersign.Quote {
	return Quotes([]countersign.Quote{{Document: "policy", Quote: quote}}, []Document{{ID: "policy", Version: "3", Text: text}})[0]
}

func TestAnHonestQuoteIsFoundWhereItStands(t *testing.T) {
	all := examples(t, "honest")
	if len(all) < 60 {
		t.Errorf("only %d honest quotes", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			text, start, end := e.bare()
			want := countersign.QuoteFolded
			if text[start:end] == strings.TrimSpace(e.quotes) {
				want = countersign.QuoteExact
			}
			got := look1(text, e.quotes)
			if got.Status != want || got.Start != start || got.End != end || got.Version != "3" {
				t.Errorf("%s at %d to %d, which is %q; want %s at %d to %d", got.Status, got.Start, got.End, text[got.Start:got.End], want, start, end)
			}
		})
	}
}

func TestAForgedQuoteIsFoundNowhere(t *testing.T) {
	all := examples(t, "forged")
	if len(all) < 60 {
		t.Errorf("only %d forgeries", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			if got := look1(e.says, e.quotes); got.Status != countersign.QuoteNotFound {
				t.Errorf("%s: %q", got.Status, e.says[got.Start:got.End])
			}
		})
	}
}

func TestAQuoteThatLeavesOutWhatTurnsItSaysNothing(t *testing.T) {
	all := examples(t, "leaves out")
	if len(all) < 30 {
		t.Errorf("only %d", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			if got := look1(e.says, e.quotes); got.Status != countersign.QuoteLeavesOut || got.Start != 0 || got.End != 0 {
				t.Errorf("%s: %q", got.Status, e.says[got.Start:got.End])
			}
		})
	}
}

func TestAQuoteThatIsTooShortShowsNothing(t *testing.T) {
	for _, e := range examples(t, "too short") {
		t.Run(e.name, func(t *testing.T) {
			if got := look1(e.says, e.quotes); got.Status != countersign.QuoteTooShort || got.Start != 0 || got.End != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestADocumentIsNamed(t *testing.T) {
	const text = "Items may be returned within 14 days of delivery."
	shelf := []Document{
		{ID: "D1", Title: "Returns policy", File: "returns.v2.md", Version: "2", Text: text},
		{ID: "D2", Title: "The shop’s “shipping” rules", File: "SHIPPING.PDF", Version: "1", Text: text},
		{ID: "D3", Title: "Warranty", File: "warranty-old.txt", Version: "1", Text: text},
		{ID: "D4", Title: "warranty", File: "warranty-new.txt", Version: "1", Text: text},
		{ID: "D5", Title: "Gifts", File: "gifts.md", Version: "1", Text: text},
		{ID: "D5", Title: "Gifts", File: "gifts.md", Version: "2", Text: text},
		{ID: "D6", Title: "Claims", File: "", Version: "1", Text: text},
	}
	for _, row := range []struct{ how, name, version string }{
		{"by its title", "Returns policy", "2"},
		{"by its title, case aside", "RETURNS POLICY", "2"},
		{"by its title with spaces around", " Returns  policy\n", "2"},
		{"by its title with other glyphs", `The shop's "shipping" rules`, "1"},
		{"by its id", "D1", "2"},
		{"by its id, case aside", "d1", "2"},
		{"by its file", "returns.v2.md", "2"},
		{"by its file without the extension", "Returns.V2", "2"},
		{"by its file in capital letters", "shipping.pdf", "1"},
		{"by one of two files", "warranty-new", "1"},
		{"by no name", "", ""},
		{"by a part of its title", "Returns", ""},
		{"by a file without all of its extensions", "returns", ""},
		{"by a title that two have", "Warranty", ""},
		{"by an id of which two versions are there", "D5", ""},
		{"by nothing that is there", "Privacy", ""},
	} {
		t.Run(row.how, func(t *testing.T) {
			want := countersign.Quote{Document: row.name, Quote: text, Status: countersign.QuoteUnknownDocument}
			if row.version != "" {
				want.Version, want.Status, want.End = row.version, countersign.QuoteExact, len(text)
			}
			got := Quotes([]countersign.Quote{{Document: row.name, Quote: text}}, shelf)
			if diff := cmp.Diff([]countersign.Quote{want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheVersionNamedIsTheOneThatIsRead(t *testing.T) {
	old := Document{ID: "D1", Version: "1", Text: "Items may be returned within 30 days of delivery."}
	now := Document{ID: "D1", Version: "2", Text: "Items may be returned within 14 days of delivery."}
	asked := []countersign.Quote{{Document: "D1", Quote: old.Text}}
	if got := Quotes(asked, []Document{now})[0]; got.Status != countersign.QuoteNotFound || got.Version != "2" {
		t.Errorf("the old words in the new version: %+v", got)
	}
	if got := Quotes(asked, []Document{old})[0]; got.Status != countersign.QuoteExact || got.Version != "1" {
		t.Errorf("the old words in the old version: %+v", got)
	}
}

func TestAQuoteSaysItsPage(t *testing.T) {
	first, second := "Items may be returned within 14 days.\f", "Refunds are paid within 5 working days."
	d := Document{ID: "D", Text: first + second, Pages: []int{0, len(first)}}
	for quote, page := range map[string]int{strings.TrimSpace(first): 1, second: 2, first + second: 1, "Nothing of this kind is in it.": 0} {
		if got := Quotes([]countersign.Quote{{Document: "D", Quote: quote}}, []Document{d})[0]; got.Page != page {
			t.Errorf("%q is on page %d, want %d (%s)", quote, got.Page, page, got.Status)
		}
	}
	if got := look1(first, first); got.Page != 0 {
		t.Errorf("a document without pages has a page %d", got.Page)
	}
}

func TestWhatTheModelSaysOfItsOwnQuoteIsNotKept(t *testing.T) {
	q := countersign.Quote{Document: "policy", Quote: "Items may not be returned at all.", Status: countersign.QuoteExact, Version: "9", Start: 1, End: 2, Page: 3}
	asked := []countersign.Quote{q}
	got := Quotes(asked, []Document{{ID: "policy", Version: "1", Text: "Items may be returned."}})
	want := []countersign.Quote{{Document: "policy", Quote: q.Quote, Version: "1", Status: countersign.QuoteNotFound}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if asked[0] != q {
		t.Error("the proposal's own quote was changed")
	}
}

// Whatever quote is accepted, with one letter or digit of it exchanged, dropped or doubled it is not: unless the document says
// that too, in another place.
func TestNoEditOfALetterOrDigitIsAccepted(t *testing.T) {
	var honest []example
	for _, e := range examples(t, "honest") {
		text, _, _ := e.bare()
		honest = append(honest, example{e.name, text, e.quotes})
	}
	signs := []rune("aeioutnsAEZ0123456789éоаßπ²½①٣中")
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(honest).Draw(t, "quote")
		quote := []rune(e.quotes)
		var at []int
		for i, r := range quote {
			if unicode.In(r, unicode.L, unicode.N, unicode.M) {
				at = append(at, i)
			}
		}
		i := rapid.SampledFrom(at).Draw(t, "at")
		other := rapid.SampledFrom(signs).Draw(t, "sign")
		var edited []rune
		switch rapid.SampledFrom([]string{"exchanged", "dropped", "put in", "swapped"}).Draw(t, "edit") {
		case "exchanged":
			edited = append(append(append(edited, quote[:i]...), other), quote[i+1:]...)
		case "dropped":
			edited = append(append(edited, quote[:i]...), quote[i+1:]...)
		case "put in":
			edited = append(append(append(edited, quote[:i]...), other), quote[i:]...)
		case "swapped":
			edited = append(edited, quote...)
			edited[i], edited[at[0]] = edited[at[0]], edited[i]
		}
		got := look1(e.says, string(edited))
		if got.Status != countersign.QuoteExact && got.Status != countersign.QuoteFolded {
			return
		}
		if lettersOf(e.says[got.Start:got.End]) != lettersOf(string(edited)) {
			t.Fatalf("%q is accepted for %q", string(edited), e.says[got.Start:got.End])
		}
	})
}

// lettersOf is a text reduced to what may never differ, by other means than those of Fold.
func lettersOf(s string) string {
	s = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st").Replace(norm.NFC.String(s))
	var b strings.Builder
	for _, r := range s {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		if unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '\uFE0E' && r != '\uFE0F' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func FuzzQuotes(f *testing.F) {
	for _, section := range []string{"honest", "forged", "leaves out", "too short"} {
		for _, e := range examples(f, section) {
			text, _, _ := e.bare()
			f.Add(text, e.quotes)
		}
	}
	f.Add("\xff\xfe-\xad\n\u0301", "\xff\u0301-\n-")
	f.Fuzz(func(t *testing.T, text, quote string) {
		got := look1(text, quote)
		switch got.Status {
		case countersign.QuoteExact, countersign.QuoteFolded:
			said := text[got.Start:got.End]
			if got, want := lettersOf(quote), lettersOf(said); got != want && !strings.ContainsRune(quote+text, unicode.ReplacementChar) && utf8.ValidString(quote+text) {
				t.Fatalf("%q is accepted for %q", quote, said)
			}
			if again := look1(said, said); again.Status != countersign.QuoteExact && letters(Fold(said).text) >= LeastQuoted {
				t.Fatalf("%q was found for %q, and is not found in itself: %s", said, quote, again.Status)
			}
		case countersign.QuoteNotFound, countersign.QuoteTooShort, countersign.QuoteLeavesOut:
			if got.Start != 0 || got.End != 0 {
				t.Fatalf("%+v", got)
			}
		default:
			t.Fatalf("status %q", got.Status)
		}
	})
}

func BenchmarkQuotes(b *testing.B) {
	clause := "The customer’s parcel — once it has been handed over — is deemed deliv-\nered 3–5 days later, un\u00ADless the carrier’s office conﬁrms otherwise. "
	text := strings.Repeat(clause, 1_000_000/len([]rune(clause))+1) + "Opened software is not eligible for a refund."
	asked := []countersign.Quote{{Document: "D", Quote: "Opened software is not eligible for a refund."}, {Document: "D", Quote: "Opened software is eligible for a refund."},
		{Document: "D", Quote: "The customer's parcel - once it has been handed over - is deemed delivered"}}
	b.Run("of a million characters", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Quotes(asked, []Document{{ID: "D", Text: text}})
		}
	})
	plain := strings.Repeat("Items may be returned within 14 days of delivery, if unused.\n", 16_400)
	b.Run("of a million plain characters", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			Quotes(asked, []Document{{ID: "D", Text: plain}})
		}
	})
	folded := Fold(text)
	b.Run("one more of the same document", func(b *testing.B) {
		quote := Fold(asked[0].Quote)
		for b.Loop() {
			folded.find(quote)
		}
	})
}

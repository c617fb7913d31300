package library

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

var ada = countersign.Actor{Kind: countersign.Person, ID: "ada"}

// empty is a library over an empty store, on a day of March 2026.
func empty(t testing.TB, database string) *Library {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{Now: func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	l := &Library{Store: s}
	t.Cleanup(func() {
		l.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *Library) bring(t testing.TB, name, text, validFrom string) Report {
	t.Helper()
	r, err := l.Import(t.Context(), ada, name, []byte(text), validFrom)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (l *Library) bringConfirmed(t testing.TB, name, text, validFrom string) Report {
	t.Helper()
	r := l.bring(t, name, text, validFrom)
	if err := l.Confirm(t.Context(), ada, r.VersionID); err != nil {
		t.Fatal(err)
	}
	return r
}

func day(t testing.TB, s string) countersign.When {
	t.Helper()
	when, err := countersign.ParseWhen(s)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// names says what is in force, as "title version".
func (l *Library) names(t testing.TB, placed string) (all []string) {
	t.Helper()
	versions, err := l.InForce(t.Context(), l.Store.View, day(t, placed))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		all = append(all, v.Title+" "+v.Name)
	}
	return all
}

func TestALibraryIsFilled(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		l := empty(t, database)
		first := l.bring(t, "returns.md", "# Returns policy\n\nWithin 30 days.", "")
		t.Run("a first version counts as always in force, and is said to be undated", func(t *testing.T) {
			if first.Outcome != NewDocument || first.Title != "Returns policy" || first.Version != "v1" || first.ValidFrom != "" || first.Confirmed {
				t.Errorf("%+v", first)
			}
		})
		t.Run("what nobody confirmed is not in force", func(t *testing.T) {
			if got := l.names(t, "2026-03-10"); len(got) > 0 {
				t.Error(got)
			}
			if err := l.Confirm(t.Context(), ada, first.VersionID); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Returns policy v1"}, l.names(t, "1999-01-01")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		t.Run("the same bytes again are no change, whatever the file is called", func(t *testing.T) {
			again := l.bring(t, "renamed.md", "# Returns policy\n\nWithin 30 days.", "")
			if again.Outcome != Unchanged || again.VersionID != first.VersionID || !again.Confirmed {
				t.Errorf("%+v", again)
			}
		})
		second := l.bring(t, "returns-new.md", "# RETURNS  policy\n\nWithin 14 days.", "")
		t.Run("the same title again is a new version, from today when nobody says since when", func(t *testing.T) {
			if second.Outcome != NewVersion || second.Version != "v2" || second.ValidFrom != "2026-03-10" {
				t.Errorf("%+v", second)
			}
		})
		t.Run("an earlier version stays in force until the new one is confirmed, and for orders before it", func(t *testing.T) {
			if diff := cmp.Diff([]string{"Returns policy v1"}, l.names(t, "2026-03-11")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := l.Confirm(t.Context(), ada, second.VersionID); err != nil {
				t.Fatal(err)
			}
			for placed, want := range map[string]string{"2026-03-11": "v2", "2026-03-10": "v2", "2026-03-09T23:59:59Z": "v1", "": "v2"} {
				if diff := cmp.Diff([]string{"Returns policy " + want}, l.names(t, placed)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", placed, diff)
				}
			}
		})
		t.Run("a day given later changes the day alone", func(t *testing.T) {
			r := l.bring(t, "returns-new.md", "# RETURNS  policy\n\nWithin 14 days.", "2026-02-01")
			if r.Outcome != Dated || r.ValidFrom != "2026-02-01" || r.VersionID != second.VersionID {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff([]string{"Returns policy v2"}, l.names(t, "2026-02-15")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		t.Run("a later day takes nothing out of force and is refused, with the version, its days and its page", func(t *testing.T) {
			for _, later := range []string{"2026-02-02", "2027-06-01"} {
				r, err := l.Import(t.Context(), ada, "returns-new.md", []byte("# RETURNS  policy\n\nWithin 14 days."), later)
				want := "file: returns-new.md is version v2 of “Returns policy” already, valid from 2026-02-01; if it were valid from " + later +
					", it would be out of force on days on which it counts now, so nothing was changed (if that is meant, change its days on its page in the library, /library/" + second.VersionID + ")"
				if countersign.KindOf(err) != countersign.Invalid || err.Error() != want || r.VersionID != second.VersionID {
					t.Errorf("%+v, %v", r, err)
				}
			}
			if diff := cmp.Diff([]string{"Returns policy v2"}, l.names(t, "2026-02-01")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		t.Run("going back to the old words is a version of its own", func(t *testing.T) {
			if r := l.bring(t, "returns.md", "# Returns policy\n\nWithin 30 days.", "2026-03-05"); r.Outcome != NewVersion || r.Version != "v3" {
				t.Errorf("%+v", r)
			}
		})
		t.Run("the bytes are kept as they came", func(t *testing.T) {
			file, err := l.Store.DocumentBytes(t.Context(), first.VersionID)
			if err != nil || string(file) != "# Returns policy\n\nWithin 30 days." {
				t.Errorf("%q, %v", file, err)
			}
		})
		t.Run("a version comes whole, with its day", func(t *testing.T) {
			versions, err := l.InForce(t.Context(), l.Store.View, day(t, "2026-02-15"))
			want := []Version{{ID: second.VersionID, Title: "Returns policy", File: "returns-new.md", Name: "v2", SHA256: "79d7a3a03a8633fff6825ea0074de26656a73f7cf078ef61d8b34daaf4f95154",
				Text: "# RETURNS  policy\n\nWithin 14 days.", ValidFrom: day(t, "2026-02-01")}}
			if diff := cmp.Diff(want, versions, cmp.Comparer(func(a, b countersign.When) bool { return a == b })); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
		t.Run("a day that is none, and an end before the beginning, are refused", func(t *testing.T) {
			for _, bad := range []string{"yesterday", "2026-02-30", "2026-3-1", "2026-03-01T00:00:00Z", "0026-03-01"} {
				if _, err := l.Import(t.Context(), ada, "a.md", []byte("Text."), bad); countersign.KindOf(err) != countersign.Invalid {
					t.Errorf("%s: %v", bad, err)
				}
			}
			if err := l.Date(t.Context(), ada, second.VersionID, "2026-03-01", "2026-02-01"); countersign.KindOf(err) != countersign.Invalid {
				t.Error(err)
			}
		})
		t.Run("a version that is not there cannot be confirmed or dated", func(t *testing.T) {
			if err := l.Confirm(t.Context(), ada, "doc_x-v1"); countersign.KindOf(err) != countersign.NotFound {
				t.Error(err)
			}
			if err := l.Date(t.Context(), ada, "doc_x-v1", "", ""); countersign.KindOf(err) != countersign.NotFound {
				t.Error(err)
			}
		})
		t.Run("a text that is too short for any quote is refused", func(t *testing.T) {
			for text, taken := range map[string]bool{"hi": false, "1234567890, 123456789": false, "1234567890, 1234567890": true} {
				_, err := l.Import(t.Context(), ada, "short.txt", []byte(text), "")
				if refused := countersign.KindOf(err) == countersign.Invalid; refused == taken ||
					refused && !strings.Contains(err.Error(), "short.txt has fewer than 20 letters and digits, which a quote needs at least: nothing of it could ever be quoted") {
					t.Errorf("%q: %v", text, err)
				}
			}
		})
		t.Run("nobody without a name brings anything", func(t *testing.T) {
			if _, err := l.Import(t.Context(), countersign.Actor{}, "b.md", []byte("Returns are free for thirty days."), ""); err == nil {
				t.Error("it was taken")
			}
		})
	})
}

func TestWhichFirstDayMayComeWithAFileThatIsHereAlready(t *testing.T) {
	const confirmed, nobody = "person:ada", ""
	for _, row := range []struct {
		sentence        string
		from, until, by string
		asked           string
		takesOutOfForce bool
	}{
		{"an earlier day", "2026-02-01", "", confirmed, "2026-01-01", false},
		{"not a later day, which leaves days without it", "2026-02-01", "", confirmed, "2026-02-02", true},
		{"not a day to come", "2026-02-01", "", confirmed, "2027-06-01", true},
		{"nor a later one of a version that is yet to come", "2026-05-01", "", confirmed, "2026-06-01", true},
		{"a day that has come, of an undated version", "", "", confirmed, "2026-03-09", false},
		{"today, of an undated version", "", "", confirmed, "2026-03-10", false},
		{"not a day to come, of an undated version", "", "", confirmed, "2026-03-11", true},
		{"not one behind its last day", "", "2026-02-01", confirmed, "2026-02-02", true},
		{"any day of a version that nobody confirmed", "2026-02-01", "", nobody, "2027-06-01", false},
		{"but one behind its last day", "2026-02-01", "2026-03-01", nobody, "2026-04-01", true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			d := store.DocumentVersion{ValidFrom: row.from, ValidUntil: row.until, ConfirmedBy: row.by}
			if got := losesDays(d, row.asked, "2026-03-10"); got != row.takesOutOfForce {
				t.Error(got)
			}
		})
	}
}

func TestWhichVersionIsInForce(t *testing.T) {
	v := func(document string, number int, from, until string) store.DocumentVersion {
		return store.DocumentVersion{ID: fmt.Sprint(document, number), DocumentID: document, Number: number, ValidFrom: from, ValidUntil: until, ConfirmedBy: "person:ada"}
	}
	unconfirmed := v("A", 3, "2026-01-01", "")
	unconfirmed.ConfirmedBy = ""
	for _, row := range []struct {
		sentence string
		all      []store.DocumentVersion
		day      string
		want     []string
	}{
		{"the one that came into force last", []store.DocumentVersion{v("A", 1, "", ""), v("A", 2, "2026-01-01", ""), v("A", 3, "2026-06-01", "")}, "2026-03-01", []string{"A2"}},
		{"on its first day", []store.DocumentVersion{v("A", 1, "", ""), v("A", 2, "2026-01-01", "")}, "2026-01-01", []string{"A2"}},
		{"not on the day before", []store.DocumentVersion{v("A", 1, "", ""), v("A", 2, "2026-01-01", "")}, "2025-12-31", []string{"A1"}},
		{"on its last day", []store.DocumentVersion{v("A", 1, "2026-01-01", "2026-01-31")}, "2026-01-31", []string{"A1"}},
		{"none after its last day", []store.DocumentVersion{v("A", 1, "2026-01-01", "2026-01-31")}, "2026-02-01", nil},
		{"the earlier one again after the later one ended", []store.DocumentVersion{v("A", 1, "", ""), v("A", 2, "2026-11-20", "2026-11-30")}, "2026-12-01", []string{"A1"}},
		{"of two from the same day the newer", []store.DocumentVersion{v("A", 1, "2026-01-01", ""), v("A", 2, "2026-01-01", "")}, "2026-02-01", []string{"A2"}},
		{"an older one that was added later", []store.DocumentVersion{v("A", 1, "2026-01-01", ""), v("A", 2, "2025-01-01", "")}, "2026-02-01", []string{"A1"}},
		{"of each document", []store.DocumentVersion{v("A", 1, "", ""), v("B", 1, "2026-01-01", "")}, "2026-02-01", []string{"A1", "B1"}},
		{"a document that came later is left out while another was there", []store.DocumentVersion{v("A", 1, "", ""), v("B", 1, "2026-01-01", "")}, "2025-02-01", []string{"A1"}},
		{"the earliest of each when there was none at all", []store.DocumentVersion{v("A", 1, "2026-01-01", ""), v("A", 2, "2026-02-01", ""), v("B", 1, "2026-03-01", "")}, "2025-02-01", []string{"A1", "B1"}},
		{"never what nobody confirmed", []store.DocumentVersion{v("A", 1, "", ""), unconfirmed}, "2026-02-01", []string{"A1"}},
		{"nothing of nothing", nil, "2026-02-01", nil},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			var got []string
			for _, d := range InForceOn(row.all, row.day) {
				got = append(got, d.ID)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearching(t *testing.T) {
	l := empty(t, testdb.SQLite(t))
	ctx := t.Context()
	l.bringConfirmed(t, "returns.md", "# Returns\n\n## Worn shoes\nShoes that were worn are not taken back.\n\n## Postage\nThe customer pays the postage.", "")
	l.bringConfirmed(t, "refunds.md", "# Refunds\n\nRefunds are paid to the card that was charged, within five working days.", "")
	search := func(t *testing.T, placed, query string, characters int) (all []string) {
		t.Helper()
		found, err := l.Search(ctx, l.Store.View, day(t, placed), query, characters)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			all = append(all, p.Title+" "+p.Version+", "+p.Heading+": "+p.Text)
		}
		return all
	}
	const shoes, postage, refunds = "Returns v1, Returns › Worn shoes: Shoes that were worn are not taken back.", "Returns v1, Returns › Postage: The customer pays the postage.",
		"Refunds v1, Refunds: Refunds are paid to the card that was charged, within five working days."
	for _, row := range []struct {
		sentence, query string
		characters      int
		want            []string
	}{
		{"what bears on a query comes first, and the rest of a small library behind", "refund to a charged card", 24_000, []string{refunds, shoes, postage}},
		{"other forms of a word are found", "refunding", 120, []string{refunds}},
		{"headings are searched too", "worn shoe", 100, []string{shoes}},
		{"only as much as may be shown", "shoes postage refunds", 60, []string{postage}},
		{"nothing when nothing fits", "shoes", 10, nil},
		{"nothing when a larger library has no such word", "giraffe", 100, nil},
		{"signs of the index's language are words like others", `shoes" OR NEAR(* -giraffe {text}: ^`, 75, []string{shoes}},
		{"a query without words finds what fits anyway", `"*-`, 24_000, []string{refunds, shoes, postage}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			if diff := cmp.Diff(row.want, search(t, "2026-03-10", row.query, row.characters)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a new version is found from its day on, and the old one before", func(t *testing.T) {
		l.bringConfirmed(t, "refunds.md", "# Refunds\n\nRefunds are paid within ten working days.", "2026-03-01")
		if got := search(t, "2026-03-10", "refunds", 80); len(got) != 1 || !strings.Contains(got[0], "v2, Refunds: Refunds are paid within ten") {
			t.Error(got)
		}
		if got := search(t, "2026-02-10", "refunds", 120); len(got) != 1 || got[0] != refunds {
			t.Error(got)
		}
	})
	t.Run("the desk reads the same", func(t *testing.T) {
		p := l.Policies()
		versions, err := p.InForce(ctx, l.Store.View, day(t, "2026-03-10"))
		if err != nil || len(versions) != 2 || versions[0].Title != "Refunds" || versions[0].Name != "v2" {
			t.Errorf("%+v, %v", versions, err)
		}
		passages, err := p.Search(ctx, l.Store.View, day(t, "2026-03-10"), "worn", 75)
		if err != nil || len(passages) != 1 || passages[0].Heading != "Returns › Worn shoes" {
			t.Errorf("%+v, %v", passages, err)
		}
	})
}

// More choices of versions than are kept, searched by many at once: each search still answers for its own.
func TestManySearchAtOnce(t *testing.T) {
	l := empty(t, testdb.SQLite(t))
	for i := range mostIndexes + 4 {
		l.bringConfirmed(t, "returns.md", fmt.Sprintf("# Returns\n\nWithin %d days.", 100+i), fmt.Sprintf("2026-01-%02d", i+1))
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 3 * (mostIndexes + 4) {
				n := (i*7 + worker) % (mostIndexes + 4)
				found, err := l.Search(context.Background(), l.Store.View, countersign.At(time.Date(2026, 1, n+1, 12, 0, 0, 0, time.UTC)), "days", 1000)
				if want := fmt.Sprintf("Within %d days.", 100+n); err != nil || len(found) != 1 || found[0].Text != want {
					t.Errorf("%+v, %v, want %s", found, err, want)
				}
			}
		})
	}
	all.Wait()
	if n := len(l.indexes); n > mostIndexes {
		t.Errorf("%d indexes are kept", n)
	}
}

func TestPassages(t *testing.T) {
	sentence := "Items that were bought on sale may be returned within fourteen days of delivery. "
	long := strings.TrimSpace(strings.Repeat(sentence, 40))
	v := Version{Title: "Returns", Name: "v1", Text: "Before.\n\n# Returns\n\n## Sale\n" + long + "\n\nShort.\n\n### Shoes\nWorn.\n# Other\nEnd." + strings.Repeat("\nLine.", 300) + "\n" + strings.Repeat("字", 900), Pages: []int{0, 2000}}
	all := v.passages()
	at := 0
	for i, p := range all {
		if v.Text[p.Start:p.Start+len(p.Text)] != p.Text || p.Start < at || len(p.Text) > mostPassage || p.Text == "" || p.Text != strings.TrimSpace(p.Text) {
			t.Errorf("%d: %+v", i, p)
		}
		if between := strings.TrimSpace(v.Text[at:p.Start]); between != "" && !strings.HasPrefix(between, "#") {
			t.Errorf("%q is in no passage", between)
		}
		if want := 1; p.Start >= 2000 && p.Page != 2 || p.Start < 2000 && p.Page != want {
			t.Errorf("%d begins on page %d", p.Start, p.Page)
		}
		at = p.Start + len(p.Text)
	}
	if at != len(v.Text) {
		t.Errorf("%d of %d bytes are in passages", at, len(v.Text))
	}
	headings := map[string]bool{}
	for _, p := range all {
		headings[p.Heading] = true
		if strings.HasPrefix(p.Heading, "Returns › Sale") && strings.HasPrefix(p.Text, "Items") && !strings.HasSuffix(p.Text, ".") {
			t.Errorf("%q ends inside a sentence", p.Text)
		}
	}
	if diff := cmp.Diff(map[string]bool{"": true, "Returns › Sale": true, "Returns › Sale › Shoes": true, "Other": true}, headings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// clauses are passages such as policies are made of, each with words that few others have.
func clauses(n int) (all []Passage) {
	goods := strings.Fields("shoes shirts phones laptops books toys lamps chairs tables knives software tickets flowers watches bags")
	acts := strings.Fields("returned exchanged refunded cancelled delivered insured repaired replaced refused")
	for i := range n {
		good, act := goods[i%len(goods)], acts[i%len(acts)]
		text := strings.Repeat(fmt.Sprintf("The %s of class %d may be %s within %d days of delivery, unless the carrier says otherwise. ", good, i, act, 7+i%60), 8)
		all = append(all, Passage{Title: fmt.Sprintf("Policy %d", i/100), Version: "v1", Heading: "About " + good, Start: i, Text: strings.TrimSpace(text)})
	}
	return all
}

func TestAnExcerptNeverHasMoreThanItMayAndIsAlwaysTheSame(t *testing.T) {
	all := clauses(500)
	x, err := NewIndex(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var first []Passage
	for _, characters := range []int{24_000, 24_000, 5_000, 0} {
		found, err := x.Select(t.Context(), "return shoes that were refunded, delivery days", characters)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, p := range found {
			sum += p.characters()
		}
		if sum > characters || characters-sum > 1_200 {
			t.Errorf("%d characters of %d", sum, characters)
		}
		if first == nil {
			first = found
		}
		if diff := cmp.Diff(append([]Passage(nil), first[:len(found)]...), found); diff != "" {
			t.Errorf("(-first +now):\n%s", diff)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		x, err := NewIndex(b.Context(), clauses(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("24000 characters of %d passages", n), func(b *testing.B) {
			for b.Loop() {
				if found, err := x.Select(b.Context(), "return shoes that were refunded, delivery carrier insured class 17", 24_000); err != nil || len(found) == 0 {
					b.Fatal(err)
				}
			}
		})
		x.Close()
	}
}

func BenchmarkNewIndex(b *testing.B) {
	all := clauses(2_000)
	b.Run("of 2000 passages", func(b *testing.B) {
		for b.Loop() {
			x, err := NewIndex(b.Context(), all)
			if err != nil {
				b.Fatal(err)
			}
			x.Close()
		}
	})
}

package merchant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"countersign"
	"countersign/desk/merchant"
	"countersign/desk/merchant/shop"
	"countersign/internal/testdb"
	"countersign/pipeline/investigate"
	"countersign/store"
)

// asked is a library that remembers what it was asked, and a shop that counts.
type asked struct {
	records    shop.Records
	text       string
	orders     int
	placed     []string
	queries    []string
	characters []int
	fails      error
}

func (a *asked) config() merchant.Config {
	return merchant.Config{Now: func() time.Time { return today },
		Order: func(context.Context, string) shop.Records { a.orders++; return a.records },
		Policies: merchant.Policies{
			InForce: func(context.Context, store.View, countersign.When) ([]merchant.Version, error) { return nil, a.fails },
			Search: func(_ context.Context, _ store.View, placed countersign.When, query string, characters int) ([]merchant.Passage, error) {
				a.placed, a.queries, a.characters = append(a.placed, placed.String()), append(a.queries, query), append(a.characters, characters)
				return []merchant.Passage{{Title: "Terms", Version: "v1", Heading: "Returns", Page: 3, Text: a.text}}, a.fails
			},
		}}
}

func (a *asked) given(c countersign.Case) []investigate.Tool {
	return merchant.New(a.config()).Given(store.View{}, c)
}

// run is what a tool answers, as JSON has it.
func run(t testing.TB, tool investigate.Tool, args string) (map[string]any, error) {
	t.Helper()
	answer, err := tool.Run(context.Background(), json.RawMessage(args))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(unmarked(string(text))), &m); err != nil {
		t.Fatal(err)
	}
	return m, nil
}

// unmarked is a text without the signs that package fence finds other people's words by.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Co, r) {
			return -1
		}
		return r
	}, s)
}

// written is an order that was placed on a day, with nothing else on record.
func written(day string) (r shop.Records) {
	when, err := countersign.ParseWhen(day)
	if err != nil {
		panic(err) // unreachable: the days below are days
	}
	r.Order.All = []shop.Order{{ID: "o-1", Number: "1001", PlacedAt: shop.Moment{When: when}}}
	return r
}

func TestASearchOfThePolicies(t *testing.T) {
	a := &asked{records: written("2026-11-01"), text: "Goods may be sent back within 30 days."}
	tools := merchant.New(a.config()).Tools(store.View{}, countersign.Case{})
	if len(tools) != 1 || tools[0].Name != "search_policies" {
		t.Fatalf("the tools are %+v", tools)
	}
	for name, args := range map[string]string{
		"no query": `{}`, "a number": `{"query":7}`, "a list": `{"query":["a"]}`, "an empty text": `{"query":""}`, "blanks": `{"query":" \n "}`,
		"a text that is too long": `{"query":"` + strings.Repeat("a", 301) + `"}`, "no JSON": `query`, "nothing": ``,
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if _, err := run(t, tools[0], args); err == nil || len(a.queries) > 0 {
				t.Errorf("err %v, searched for %q", err, a.queries)
			}
		})
	}
	got, err := run(t, tools[0], `{"query":"' OR 1=1 -- NEAR(a b)"}`)
	if err != nil {
		t.Fatal(err)
	}
	passage := got["passages"].([]any)[0].(map[string]any)
	if passage["document"] != "Terms" || passage["version"] != "v1" || passage["page"] != 3.0 || fmt.Sprint(passage["text"]) != "["+a.text+"]" {
		t.Errorf("it shows %v", passage)
	}
	if a.queries[0] != "' OR 1=1 -- NEAR(a b)" || a.characters[0] != 6000 || a.placed[0] != "2026-11-01" {
		t.Errorf("searched for %q in %d characters of the versions of %q", a.queries[0], a.characters[0], a.placed[0])
	}
}

func TestALibraryThatFailsIsNoAnswer(t *testing.T) {
	a := &asked{records: written("2026-11-01"), fails: errors.New("disk I/O error")}
	given := a.given(countersign.Case{})
	if _, err := run(t, given[5], ""); err == nil || !strings.Contains(err.Error(), "search the policies") {
		t.Errorf("the policies: %v", err)
	}
	if _, err := run(t, given[0], ""); err != nil {
		t.Errorf("the order: %v", err)
	}
	s, err := store.Open(t.Context(), testdb.SQLite(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	facts, err := merchant.New(a.config()).Facts(t.Context(), s.View, countersign.Case{})
	if err != nil || facts.Fact("policy_in_force").State != countersign.Unknown {
		t.Errorf("the policy in force is %+v (%v)", facts.Fact("policy_in_force"), err)
	}
}

// What the first search is for follows from the network's code and the records. What a customer wrote to be found finds nothing.
func TestTheFirstSearchHasNoWordOfTheCustomers(t *testing.T) {
	a := &asked{records: written("2026-11-01")}
	a.records.Order.All[0].Customer, a.records.Order.All[0].ShippingAddress = "zebra", "zebra"
	search := func(terms countersign.Terms) string {
		_, err := run(t, a.given(countersign.Case{Notes: "zebra", Reason: countersign.OtherReason, Terms: terms})[5], "")
		if err != nil {
			t.Fatal(err)
		}
		return a.queries[len(a.queries)-1]
	}
	plain := search(countersign.Terms{Network: "zebra", ReasonCode: "zebra", Reference: "zebra"})
	code := search(countersign.Terms{Network: "visa", ReasonCode: "13.1"})
	a.records.Returns.All = []shop.Return{{ID: "RT-1", Reason: "zebra", Status: "zebra"}}
	a.records.Refunds.All = []shop.Refund{{ID: "R-1", Reference: "zebra", Status: "zebra"}}
	both := search(countersign.Terms{Network: "visa", ReasonCode: "13.1"})
	if strings.Contains(plain+code+both, "zebra") {
		t.Errorf("the queries are %q", a.queries)
	}
	if !strings.Contains(code, "tracking") || strings.Contains(code, "refunded") || !strings.HasPrefix(both, code) || !strings.Contains(both, "returned goods") || !strings.Contains(both, "refunded") {
		t.Errorf("the queries are %q", a.queries)
	}
	if !slices.Equal(a.characters, []int{24_000, 24_000, 24_000}) {
		t.Errorf("of so many characters: %v", a.characters)
	}
}

func TestOneReadingAnswersEverythingThatIsGiven(t *testing.T) {
	a := &asked{records: written("2026-11-01")}
	var names []string
	for _, tool := range a.given(countersign.Case{}) {
		names = append(names, tool.Name)
		if _, err := run(t, tool, ""); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"read_order", "read_payments", "read_fulfillments", "read_refunds", "read_returns", "read_policies"}; !slices.Equal(names, want) || a.orders != 1 {
		t.Errorf("%v are given, and the shop was read %d times", names, a.orders)
	}
}

func TestWhatIsShownOfAnOrder(t *testing.T) {
	a := &asked{records: written("2026-11-01")}
	given := a.given
	t.Run("an order that is not there was looked for", func(t *testing.T) {
		a.records = shop.Records{}
		if got, err := run(t, given(countersign.Case{})[0], ""); err != nil || got["found"] != false || got["order"] != nil {
			t.Errorf("%v %v", got, err)
		}
	})
	t.Run("two orders of one number are neither", func(t *testing.T) {
		a.records = shop.Records{}
		a.records.Order.All = []shop.Order{{ID: "1"}, {ID: "2"}}
		if got, err := run(t, given(countersign.Case{})[0], ""); err != nil || got["found"] != false {
			t.Errorf("%v %v", got, err)
		}
	})
	t.Run("what could not be read is a failed step that says so", func(t *testing.T) {
		a.records = shop.Records{Order: shop.Rows[shop.Order]{Unread: "it took too long."}, Refunds: shop.Rows[shop.Refund]{Unread: "it took too long."}, Returns: shop.Rows[shop.Return]{Unmapped: true}}
		for i, says := range map[int]string{0: "it took too long", 3: "it took too long", 4: "does not say where returns are kept"} {
			_, err := run(t, given(countersign.Case{})[i], "")
			if err == nil || !strings.Contains(err.Error(), says) || countersign.KindOf(err) != countersign.Unavailable {
				t.Errorf("step %d: %v", i+1, err)
			}
		}
	})
	t.Run("of many rows fifty are shown, and the rest is counted", func(t *testing.T) {
		a.records = written("2026-11-01")
		for i := range 73 {
			a.records.Payments.All = append(a.records.Payments.All, shop.Payment{ID: fmt.Sprint(i)})
		}
		a.records.Payments.Cut = true
		got, err := run(t, given(countersign.Case{})[1], "")
		if err != nil || len(got["payments"].([]any)) != 50 || got["count"] != 73.0 || got["not_listed"] != 23.0 || got["more_than_are_read"] != true {
			t.Errorf("%v %v", got, err)
		}
	})
	t.Run("an amount that is none says what is wrong, and never looks exact", func(t *testing.T) {
		a.records = written("2026-11-01")
		a.records.Payments.All = []shop.Payment{{ID: "1", Amount: shop.Amount{Text: "87.957975", Problem: "“87.957975” has more digits than USD."}}, {ID: "2"},
			{ID: "3", Amount: shop.Amount{Money: &countersign.Money{Minor: 1250, Currency: "KWD"}}, PaidAt: shop.Moment{Text: "noon", Problem: "“noon” is no time."}}}
		got, err := run(t, given(countersign.Case{})[1], "")
		if err != nil {
			t.Fatal(err)
		}
		var amounts []any
		for _, row := range got["payments"].([]any) {
			amounts = append(amounts, row.(map[string]any)["amount"])
		}
		if want := []any{"unknown: “87.957975” has more digits than USD.", "", "KWD 1.250"}; !slices.Equal(amounts, want) {
			t.Errorf("the amounts are %q", amounts)
		}
		if at := got["payments"].([]any)[2].(map[string]any)["paid_at"]; at != "unknown" {
			t.Errorf("it was paid at %v", at)
		}
	})
	t.Run("a person's family name is not shown", func(t *testing.T) {
		for name, want := range map[string]string{"Ada Ọláńrewájú": "Ada Ọ.", "Margaret van der Berg": "Margaret B.", "Cher": "Cher", "": "", "王 小明": "王 小."} {
			a.records = written("2026-11-01")
			a.records.Order.All[0].Customer = name
			got, err := run(t, given(countersign.Case{})[0], "")
			if err != nil || got["order"].(map[string]any)["customer"] != want {
				t.Errorf("%q is shown as %v (%v)", name, got, err)
			}
		}
	})
}

// A passage is shown in pieces that the fence does not cut, and nothing of it is lost or made up.
func TestPassagesAreShownWhole(t *testing.T) {
	shown := func(t testing.TB, text string) (pieces []string) {
		a := &asked{records: written("2026-11-01"), text: text}
		got, err := run(t, a.given(countersign.Case{})[5], "")
		if err != nil {
			t.Fatal(err)
		}
		list, _ := got["passages"].([]any)[0].(map[string]any)["text"].([]any)
		for _, piece := range list {
			pieces = append(pieces, piece.(string))
		}
		return pieces
	}
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "refund.", "Ọláńrewájú", "paid", "\n\n", "\n", "王小明", strings.Repeat("x", 700), strings.Repeat("ẹ", 400), "30", "days.", "e.g. "}), 0, 400).Draw(r, "words")
		text := strings.Join(words, rapid.SampledFrom([]string{" ", "", ". "}).Draw(r, "between"))
		pieces := shown(t, text)
		if bare(strings.Join(pieces, " ")) != bare(text) {
			r.Fatalf("%q is shown as %q", text, pieces)
		}
		for _, piece := range pieces {
			if len(piece) > 600 || piece == "" || !utf8.ValidString(piece) {
				r.Fatalf("one piece is %q", piece)
			}
		}
	})
	t.Run("bytes that are no text do no harm", func(t *testing.T) {
		if pieces := shown(t, strings.Repeat("\x80", 2000)); len(pieces) == 0 {
			t.Error("nothing is shown")
		}
	})
}

package merchant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
	"countersign/store"
)

// A chargeback is taken as it comes: no shop is asked, and nothing about it is made up.
func TestAChargebackIsTakenAsItComes(t *testing.T) {
	find := merchant.New(merchant.Config{}).Find // a shop that is asked would be a nil function
	due := time.Date(2026, 12, 20, 18, 0, 0, 0, time.FixedZone("", 3600))
	found, err := find(t.Context(), store.View{}, intake.Request{SubjectID: "1001", Reason: countersign.OtherReason, Amount: &countersign.Money{Minor: 1, Currency: "JPY"}, DueAt: &due,
		Terms: countersign.Terms{Network: "amex", ReasonCode: "C08"}}, today)
	if err != nil || found.Subject != (countersign.Subject{Kind: countersign.OrderSubject, ID: "1001"}) || found.Amount != (countersign.Money{Minor: 1, Currency: "JPY"}) ||
		!found.DueAt.Equal(due) || found.DueAt.Location() != time.UTC || found.DueSource != countersign.DueFromProvider || found.Reason != countersign.NotReceived || found.CustomerID != "" {
		t.Errorf("%+v %v", found, err)
	}
	found, err = find(t.Context(), store.View{}, intake.Request{SubjectID: "1001"}, today)
	if err != nil || found.DueAt != nil || found.DueSource != countersign.DueUnknown || found.Amount.Currency != "" || found.Reason != countersign.OtherReason {
		t.Errorf("%+v %v", found, err)
	}
}

// Nothing at this desk acts: no recommendation is carried out by the program, and one that asks for a person cannot be approved.
func TestAPersonDecidesEveryCaseOfThisDesk(t *testing.T) {
	d := merchant.New(merchant.Config{})
	if _, approvable := d.Outcome[rules.Review]; approvable || !d.MustChoose || d.Acts() || d.Letters {
		t.Errorf("%+v", d)
	}
	if !slices.ContainsFunc(d.Rules, func(r policy.Rule) bool { return r.Name == policy.PersonDecides.Name }) {
		t.Error("no rule says that a person decides")
	}
	perfect := policy.Input{Limits: policy.Default(), Proposal: countersign.Proposal{Recommendation: rules.Contest, Confidence: 1},
		Evidence: countersign.Evidence{Steps: []countersign.StepRef{"S1", "S2"}, Quotes: []countersign.Quote{{Status: countersign.QuoteExact}}}}
	v := policy.Decide(d.Rules, perfect)
	if v.Kind != countersign.Review || len(v.Caveats) != 0 || len(v.Reasons) != 1 || !policy.Stands(v) {
		t.Errorf("a perfect proposal: %+v", v)
	}
}

// Only a quote that stands in a policy is one, and a recommendation that asks for a person needs none.
func TestAQuoteThatIsVerified(t *testing.T) {
	d := merchant.New(merchant.Config{})
	for name, row := range map[string]struct {
		recommendation string
		quotes         []string
		failure        countersign.Failure
		want           bool
	}{
		"exact":                             {rules.Contest, []string{countersign.QuoteExact}, "", false},
		"folded":                            {rules.Accept, []string{countersign.QuoteFolded}, "", false},
		"one of two":                        {rules.Contest, []string{countersign.QuoteNotFound, countersign.QuoteExact}, "", false},
		"none":                              {rules.Accept, nil, "", true},
		"not found":                         {rules.Contest, []string{countersign.QuoteNotFound}, "", true},
		"too short":                         {rules.Contest, []string{countersign.QuoteTooShort}, "", true},
		"without its sentence's not":        {rules.Contest, []string{countersign.QuoteLeavesOut}, "", true},
		"of a document nobody has":          {rules.Contest, []string{countersign.QuoteUnknownDocument}, "", true},
		"never looked up":                   {rules.Contest, []string{""}, "", true},
		"of a proposal that asks":           {rules.Review, nil, "", false},
		"of a model that said nothing":      {rules.Contest, nil, countersign.NoAnswer, false},
		"of a word that is no decision now": {"contest", nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			in := policy.Input{Limits: policy.Default(), Proposal: countersign.Proposal{Recommendation: row.recommendation, Failure: row.failure}}
			for _, status := range row.quotes {
				in.Evidence.Quotes = append(in.Evidence.Quotes, countersign.Quote{Status: status})
			}
			v := policy.Decide(d.Rules, in)
			if got := slices.ContainsFunc(v.Reasons, func(r countersign.Reason) bool { return r.Code == countersign.QuoteUnverified }); got != row.want {
				t.Errorf("%v, want %v: %+v", got, row.want, v.Reasons)
			}
		})
	}
}

// What a person is shown of an order: every row, whose words are whose, and a state together with the shop's own word for it.
func TestWhatAPersonIsShownOfAnOrder(t *testing.T) {
	s := newScene(t)
	s.records([]byte(`{"refunds": {"rows": [{"id": "R-1", "amount": {"money": null, "text": "87.957975", "problem": "more digits than USD has"}, "state": "unknown", "status": "Bounced?", "refunded_at": {"when": "", "text": "noon", "problem": "no time"}}]}}`))
	c := countersign.Case{Subject: countersign.Subject{ID: "1001"}, Stage: "pre_arbitration", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1", Reference: "dp_1"}}
	shown, err := s.desk.Display(t.Context(), s.store.View, c)
	s.must(err)
	lines := map[string]desk.Cell{}
	for _, l := range shown.Lines {
		lines[l.Label] = l.Cell
	}
	if lines["Customer"].By != "the customer" || lines["Ship to"].By != "the customer" || lines["Stage"].Text != "pre arbitration" || lines["Network"].Text != "visa · 13.1 · merchandise or services not received" ||
		lines["Reference"].Text != "dp_1" || lines["Total"].Amount.Minor != 120_00 {
		t.Errorf("the lines are %+v", lines)
	}
	var names []string
	for _, table := range shown.Tables {
		names = append(names, table.Name)
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) || row.ID == "" {
				t.Errorf("%s: %+v under %v", table.Name, row, table.Columns)
			}
		}
	}
	if want := []string{"payments", "fulfillments", "refunds"}; !slices.Equal(names, want) { // what has no rows has no table
		t.Fatalf("the tables are %v, want %v", names, want)
	}
	refund := shown.Tables[2].Rows[0].Cells
	if refund[1].Text != "87.957975 · more digits than USD has" || refund[2].Text != "unknown (Bounced?)" || refund[3].Text != "noon · no time" || refund[1].Amount != nil {
		t.Errorf("the refund is shown as %+v", refund)
	}
	if delivered := shown.Tables[1].Rows[0].Cells; delivered[1].Text != "delivered" || delivered[3].By != "the carrier" {
		t.Errorf("the parcel is shown as %+v", delivered)
	}

	t.Run("an order that cannot be read is an error, and not an empty one", func(t *testing.T) {
		s.alter = func(r *shop.Records) { *r = shop.Records{Order: shop.Rows[shop.Order]{Unread: "it took too long."}} }
		if _, err := s.desk.Display(t.Context(), s.store.View, c); err == nil || !strings.Contains(err.Error(), "it took too long") {
			t.Errorf("%v", err)
		}
	})
}

// Every fact that a rule can find has a name for people, and no name is for a fact that no rule finds.
func TestEveryFactHasATitle(t *testing.T) {
	titles := map[string]bool{}
	for _, g := range merchant.New(merchant.Config{}).FactGroups {
		for _, f := range g.Facts {
			if titles[f.Name] {
				t.Errorf("%s has two titles", f.Name)
			}
			titles[f.Name] = true
		}
	}
	found := map[string]bool{}
	for _, records := range []shop.Records{{}, written("2026-11-01")} {
		for _, f := range rules.Judge(rules.Input{Records: records, Now: today, Typed: []countersign.TypedFact{{Kind: rules.TypedRefund}, {Kind: rules.TypedReturn}}}).Items {
			found[f.Name] = true
		}
	}
	if fmt.Sprint(titles) != fmt.Sprint(found) {
		t.Errorf("the titles are for %v, the facts are %v", titles, found)
	}
}

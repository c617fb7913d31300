package merchant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/rules"
	"countersign/internal/testdb"
	"countersign/internal/testshop"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/llm/scripted"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/store"

	"github.com/google/go-cmp/cmp"
)

// shops are the three databases that the same thousand orders are in.
var shops = []struct {
	name string
	fill func(testing.TB, testshop.Data) testshop.Shop
}{
	{"SQLite", testshop.SQLite},
	{"Medusa on PostgreSQL", testshop.Postgres},
	{"MariaDB", testshop.MariaDB},
}

// open opens a shop through its mapping.
func open(t testing.TB, s testshop.Shop) *connector.Shop {
	t.Helper()
	mapping, err := connector.ParseMapping(s.Mapping)
	if err != nil {
		t.Fatal(err)
	}
	db, err := connector.Open(t.Context(), mapping)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// retailPolicy is the policy that its authors wrote for these orders, always in force.
func retailPolicy(t testing.TB) merchant.Policies {
	t.Helper()
	text, err := os.ReadFile(testdb.Shared(t, "data", "tau2-retail", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	v := merchant.Version{ID: "PV-1", Title: "Retail agent policy", File: "policy.md", Name: "v1", Text: string(text)}
	return merchant.Policies{
		InForce: func(context.Context, store.View, countersign.When) ([]merchant.Version, error) {
			return []merchant.Version{v}, nil
		},
		Search: func(_ context.Context, _ store.View, _ countersign.When, _ string, n int) ([]merchant.Passage, error) {
			return []merchant.Passage{{Title: v.Title, Version: v.Name, Text: v.Text[:min(n, len(v.Text))]}}, nil
		},
	}
}

// The same orders give the same facts, whatever a shop's tables look like.
func TestTheSameOrdersGiveTheSameFactsFromThreeDatabases(t *testing.T) {
	data := testshop.Retail(t)
	var first []string
	for _, s := range shops {
		t.Run(s.name, func(t *testing.T) {
			db := open(t, s.fill(t, data))
			var all []string
			for _, o := range data.Orders {
				facts := rules.Judge(rules.Input{Records: db.Order(t.Context(), o.Number), Reason: countersign.NotReceived, Now: time.Now()})
				all = append(all, o.Number+" "+told(facts))
			}
			if first == nil {
				first = all
				counts(t, data, all)
				return
			}
			if diff := cmp.Diff(first, all); diff != "" {
				t.Errorf("facts differ from those in %s (-there +here):\n%.4000s", shops[0].name, diff)
			}
		})
	}
}

// told is facts and doubts without the names of rows, which differ from shop to shop.
func told(f countersign.Facts) string {
	var b strings.Builder
	for _, item := range f.Items {
		fmt.Fprintf(&b, "%s=%s %q; ", item.Name, item.State, item.Value)
	}
	for _, d := range f.Doubts {
		fmt.Fprintf(&b, "%s:%s ", d.Wanting, d.Reason.Code)
	}
	return b.String()
}

// counts keeps the comparison from comparing nothing with nothing.
func counts(t *testing.T, data testshop.Data, all []string) {
	t.Helper()
	refunded, delivered, unread := 0, 0, 0
	for _, facts := range all {
		if strings.Contains(facts, `refund_returned=present`) {
			refunded++
		}
		if strings.Contains(facts, `delivered=present`) {
			delivered++
		}
		if strings.Contains(facts, "facts_unreadable") || strings.Contains(facts, "order_not_found") {
			unread++
		}
	}
	if refunded != len(data.Cancelled()) || delivered < 300 || unread > 0 {
		t.Errorf("%d orders are refunded, %d delivered and %d were not read; want %d, several hundred and none", refunded, delivered, unread, len(data.Cancelled()))
	}
}

// clause is a sentence of the retail policy, to the letter.
const clause = "After user confirmation, the order status will be changed to 'cancelled', and the total will be refunded via the original payment method immediately if it is gift card, otherwise in 5 to 7 business days."

// contrary is a model that wants the opposite of what the records say, as surely as a model can, cites values that are there and
// quotes the policy exactly.
func contrary(wants string) llm.Model {
	canary := regexp.MustCompile(`canary: (\w+)`)
	return scripted.Func(func(_ int, r llm.Request) (llm.Reply, error) {
		args, err := json.Marshal(map[string]any{
			"recommendation": wants, "confidence": 1.0, "summary": "There is no doubt about it.",
			"canary": canary.FindStringSubmatch(r.Messages[0].Text.String())[1],
			"claims": []any{
				map[string]any{"text": "The order exists.", "citations": []any{map[string]any{"ref": "S1", "field": "found", "value": "true"}}},
				map[string]any{"text": "It was paid.", "citations": []any{map[string]any{"ref": "S2", "field": "payments[0].state", "value": "paid"}}},
			},
			"quotes": []any{map[string]any{"document": "retail agent policy", "quote": clause}},
		})
		return scripted.Calls(scripted.Call("submit_decision", string(args))), err
	})
}

// office is the merchant's desk with its store and pipeline, and no faces.
type office struct {
	*testing.T
	store    *store.Store
	intake   intake.Intake
	pipeline *pipeline.Pipeline
	desk     desk.Desk
}

func newOffice(t *testing.T, c merchant.Config, model func(countersign.Case) llm.Model) *office {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.SQLite(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	q, err := queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c.Now = s.Now
	o := &office{T: t, store: s, desk: merchant.New(c), intake: intake.Intake{Store: s, Queue: q}}
	o.pipeline = &pipeline.Pipeline{Store: s, Desks: map[countersign.DeskName]desk.Desk{countersign.Merchant: o.desk}, Worker: "test", Model: func(_ context.Context, _ store.View, c countersign.Case) (llm.Model, error) { return model(c), nil }, Log: slog.New(slog.DiscardHandler)}
	return o
}

// worked opens a chargeback and carries it to a person.
func (o *office) worked(r intake.Request) countersign.Case {
	o.Helper()
	r.Reason = countersign.OtherReason
	opened, err := o.intake.Open(o.Context(), o.desk.Desk, countersign.Actor{Kind: countersign.CLI, ID: "test"}, r)
	if err != nil {
		o.Fatal(err)
	}
	if err := o.pipeline.Work(o.Context(), opened.Case.ID); err != nil {
		o.Fatal(err)
	}
	c, err := o.store.Case(o.Context(), opened.Case.ID)
	if err != nil {
		o.Fatal(err)
	}
	return c
}

// However sure a model is, no order that was refunded ends as a contest, and none without a refund as an accept.
func TestAModelThatWantsTheOppositeNeverGetsIt(t *testing.T) {
	data := testshop.Retail(t)
	refunded := data.Cancelled()
	others := slices.DeleteFunc(slices.Clone(data.Orders), func(o testshop.Order) bool { return len(o.Refunded) > 0 })
	if len(refunded) != 102 {
		t.Fatalf("%d orders are cancelled and refunded and have a tracking number, want 102", len(refunded))
	}
	for i, s := range shops {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			db := open(t, s.fill(t, data))
			o := newOffice(t, merchant.Config{Order: db.Order, Policies: retailPolicy(t)}, func(c countersign.Case) llm.Model {
				if c.Notes == "refunded" {
					return contrary(rules.Contest)
				}
				return contrary(rules.Accept)
			})
			for _, order := range refunded {
				o.overruled(o.worked(intake.Request{SubjectID: order.Number, Notes: "refunded"}), countersign.RefundContradictsContest)
			}
			some := others // every one of them in the first database
			if i > 0 {
				some = others[:100]
			}
			for _, order := range some {
				o.overruled(o.worked(intake.Request{SubjectID: order.Number}), countersign.NoRefundContradictsAccept)
			}
		})
	}
}

// overruled fails unless a person must decide, with a reason of that code among the caveats, and nothing else wrong.
func (o *office) overruled(c countersign.Case, code countersign.ReasonCode) {
	o.Helper()
	want := []countersign.ReasonCode{code, countersign.PersonDecides}
	var got []countersign.ReasonCode
	for _, r := range c.Verdict.Reasons {
		got = append(got, r.Code)
	}
	if c.Status != countersign.InReview || c.Recommendation != rules.Review || len(c.Verdict.Caveats) != 1 || !slices.Equal(got, want) {
		o.Errorf("order %s: %s, recommends %s, reasons %v, caveats %q; want %v", c.Subject.ID, c.Status, c.Recommendation, got, c.Verdict.Caveats, want)
	}
	if q := c.Proposal.Quotes; len(q) != 1 || q[0].Status != countersign.QuoteExact {
		o.Errorf("order %s: the quote is %+v", c.Subject.ID, q)
	}
}

// The offline reviewer reads the same orders and never asks for what the net would have to stop.
func TestTheOfflineReviewerAgreesWithTheNet(t *testing.T) {
	data := testshop.Retail(t)
	db := open(t, testshop.SQLite(t, data))
	o := newOffice(t, merchant.Config{Order: db.Order, Policies: retailPolicy(t)}, func(countersign.Case) llm.Model { return rulebook.New(merchant.Playbook()) })
	counts := map[string]int{}
	for _, order := range data.Orders[:200] {
		c := o.worked(intake.Request{SubjectID: order.Number, Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
		counts[c.Recommendation]++
		if c.Proposal.Failure != "" || len(c.Verdict.Caveats) > 0 {
			t.Errorf("order %s (%s): %s, caveats %q", order.Number, order.Status, c.Proposal.Summary, c.Verdict.Caveats)
		}
	}
	for _, recommendation := range []string{rules.Contest, rules.Accept, rules.Review} {
		if counts[recommendation] == 0 {
			t.Errorf("nothing was worked to %s: %v", recommendation, counts)
		}
	}
}

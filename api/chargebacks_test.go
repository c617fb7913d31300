package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/auth"
	"countersign/desk"
	"countersign/desk/merchant"
	"countersign/desk/merchant/shop"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/pipeline"
	"countersign/pipeline/review"
	"countersign/store"
)

const chargebacks = "/api/v1/chargebacks"

// sell gives the office a shop in which every order was paid and delivered, and whoever works its cases.
func (o *office) sell(read func(id string) shop.Records) *pipeline.Pipeline {
	o.t.Helper()
	terms := merchant.Version{ID: "PV-1", Title: "Terms", File: "terms.md", Name: "v1", Text: "An order counts as delivered when the carrier records the delivery at the address given in the order."}
	d := merchant.New(merchant.Config{Now: o.store.Now, Version: "test",
		Order: func(_ context.Context, id string) shop.Records { return read(id) },
		Policies: merchant.Policies{
			InForce: func(context.Context, store.View, countersign.When) ([]merchant.Version, error) {
				return []merchant.Version{terms}, nil
			},
			Search: func(context.Context, store.View, countersign.When, string, int) ([]merchant.Passage, error) {
				return []merchant.Passage{{Title: terms.Title, Version: terms.Name, Text: terms.Text}}, nil
			},
		}})
	o.api.Review.Desks[countersign.Merchant] = review.Desk{Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, MustChoose: d.MustChoose, Split: d.Split, Fresh: d.Fresh, Warn: d.Warn}
	return &pipeline.Pipeline{Store: o.store, Desks: map[countersign.DeskName]desk.Desk{countersign.Merchant: d}, Worker: "test", Log: slog.New(slog.DiscardHandler),
		Model: func(_ context.Context, _ store.View, _ countersign.Case) (llm.Model, error) {
			return rulebook.New(merchant.Playbook()), nil
		}}
}

// delivered is an order of USD 120.00 that was paid and delivered.
func delivered(id string) (r shop.Records) {
	day := func(s string) shop.Moment {
		when, err := countersign.ParseWhen(s)
		if err != nil {
			panic(err) // unreachable: the days below are days
		}
		return shop.Moment{When: when, Text: s}
	}
	amount := shop.Amount{Money: &countersign.Money{Minor: 120_00, Currency: "USD"}, Text: "120.00"}
	r.Order.All = []shop.Order{{ID: id, Number: id, Customer: "Margaret Hollis", PlacedAt: day("2026-11-01"), Status: "done", Total: amount, ShippingAddress: "12 Harbour Road, Portland"}}
	r.Payments.All = []shop.Payment{{ID: "P-1", Amount: amount, State: shop.Paid, Status: "captured", PaidAt: day("2026-11-01")}}
	r.Fulfillments.All = []shop.Fulfillment{{ID: "F-1", State: shop.Delivered, Status: "delivered", Carrier: "UPS", Tracking: "1Z-1", DeliveredAt: day("2026-11-06")}}
	return r
}

// worked opens a chargeback and carries it to a person.
func (o *office) worked(p *pipeline.Pipeline, body string) countersign.Case {
	o.t.Helper()
	r := o.post(chargebacks, body)
	if r.status != http.StatusAccepted {
		o.t.Fatalf("open a chargeback: %d %s", r.status, r.text)
	}
	id := countersign.CaseID(fmt.Sprint(r.json["id"]))
	if err := p.Work(o.t.Context(), id); err != nil {
		o.t.Fatal(err)
	}
	c, err := o.store.Case(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return c
}

func TestChargebacks(t *testing.T) {
	o := newOffice(t)
	const body = `{"order_id":"1001","network":" Visa","reason_code":"13.1","stage":"inquiry","amount":{"minor":12000,"currency":"USD"},` +
		`"due_at":"2026-12-20T18:00:00+01:00","provider_ref":"dp_1","notes":"It never arrived."}`
	with := func(path, key, body string, role auth.Role) reply {
		return o.send(sent{method: "POST", path: path, role: role, body: body, header: map[string]string{"Idempotency-Key": key}})
	}
	first := with(chargebacks, "k-1", body, auth.Analyst)
	t.Run("a new chargeback is accepted, with its place", func(t *testing.T) {
		id, _ := first.json["id"].(string)
		if first.status != http.StatusAccepted || !strings.HasPrefix(id, "C-") || first.json["status"] != "queued" || first.header.Get("Location") != "/api/v1/cases/"+id {
			t.Fatalf("got %d %s at %s", first.status, first.text, first.header.Get("Location"))
		}
	})
	for _, row := range []struct {
		sentence, key, body string
		status              int
	}{
		{"the same key and body give the first case", "k-1", body, http.StatusOK},
		{"the same chargeback with another key gives the first case", "k-2", body, http.StatusOK},
		{"the same key with another body is a conflict", "k-1", `{"order_id":"1002"}`, http.StatusConflict},
		{"a blank more is another body", "k-1", body + " ", http.StatusConflict},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := with(chargebacks, row.key, row.body, auth.Analyst)
			if row.status == http.StatusConflict {
				problem(t, r, row.status, "header.Idempotency-Key")
			} else if r.status != row.status || r.json["id"] != first.json["id"] {
				t.Errorf("got %d %s", r.status, r.text)
			}
		})
	}
	t.Run("without a key the same chargeback gives the first case", func(t *testing.T) {
		if r := o.post(chargebacks, body); r.status != http.StatusOK || r.json["id"] != first.json["id"] {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("another of the provider's ids on the same order is another case", func(t *testing.T) {
		r := o.post(chargebacks, strings.Replace(body, "dp_1", "dp_2", 1))
		if r.status != http.StatusAccepted || r.json["id"] == first.json["id"] {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("a sooner deadline is taken over by the open case", func(t *testing.T) {
		opened := o.post(chargebacks, `{"order_id":"1009"}`)
		again := o.post(chargebacks, `{"order_id":"1009","due_at":"2026-12-18T09:00:00Z"}`)
		if again.status != http.StatusOK || again.json["id"] != opened.json["id"] {
			t.Fatalf("got %d %s", again.status, again.text)
		}
		if c := o.get("/api/v1/cases/" + fmt.Sprint(opened.json["id"])).json; c["due_at"] != "2026-12-18T09:00:00Z" || c["due_source"] != "provider" {
			t.Errorf("it is due %v by %v", c["due_at"], c["due_source"])
		}
	})
	t.Run("what the open case does not hold is a conflict, and the chargeback of an inquiry a case of its own", func(t *testing.T) {
		problem(t, o.post(chargebacks, strings.Replace(body, "12000", "6000", 1)), http.StatusConflict, "body.amount")
		if r := o.post(chargebacks, strings.Replace(body, "inquiry", "chargeback", 1)); r.status != http.StatusAccepted || r.json["id"] == first.json["id"] {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("a key counts per call: the same one on a dispute is another", func(t *testing.T) {
		r := with("/api/v1/disputes", "k-1", `{"transaction_id":"T1","reason":"other"}`, auth.Analyst)
		if r.status != http.StatusAccepted || !strings.HasPrefix(fmt.Sprint(r.json["id"]), "D-") {
			t.Errorf("got %d %s", r.status, r.text)
		}
	})
	t.Run("an auditor opens none", func(t *testing.T) {
		problem(t, o.send(sent{method: "POST", path: chargebacks, role: auth.Auditor, body: `{"order_id":"1003"}`}), http.StatusForbidden, "")
	})
	if n := o.cases(); n != 5 {
		t.Errorf("%d cases are stored, want 5", n)
	}
	t.Run("the case shows what was sent", func(t *testing.T) {
		c := o.get("/api/v1/cases/" + fmt.Sprint(first.json["id"])).json
		for place, want := range map[string]string{
			"desk": `"merchant"`, "subject": `{"order_id":"1001"}`, "stage": `"inquiry"`, "network": `"visa"`, "reason_code": `"13.1"`, "provider_ref": `"dp_1"`,
			"reason": `"not_received"`, "amount": `{"minor":12000,"currency":"USD","text":"USD 120.00"}`, "contested": `null`,
			"due_at": `"2026-12-20T17:00:00Z"`, "due_source": `"provider"`, "notes": `"It never arrived."`, "recommendation": `null`, "handled_by": `null`,
		} {
			if diff := cmp.Diff(decoded(t, want), c[place]); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", place, diff)
			}
		}
	})
}

// TestBadChargebacks: each is refused with a clear error, and no case is there afterwards.
func TestBadChargebacks(t *testing.T) {
	o := newOffice(t)
	for _, row := range []struct{ sentence, body, place string }{
		{"an empty object", `{}`, "body.order_id"},
		{"a transaction instead of an order", `{"transaction_id":"T1"}`, "body.transaction_id"},
		{"a reason, which the code says", `{"order_id":"1","reason":"other"}`, "body.reason"},
		{"a number for an order", `{"order_id":1001}`, "body.order_id"},
		{"a line break in the order", `{"order_id":"1\n"}`, "body.order_id"},
		{"a NUL in the network", `{"order_id":"1","network":"vi\u0000sa"}`, "body.network"},
		{"a reason code of a kilobyte", `{"order_id":"1","reason_code":"` + strings.Repeat("1", 1000) + `"}`, "body.reason_code"},
		{"a line break in the reference", `{"order_id":"1","provider_ref":"a\nb"}`, "body.provider_ref"},
		{"a stage that is none", `{"order_id":"1","stage":"retrial"}`, "body.stage"},
		{"an amount in words", `{"order_id":"1","amount":"120.00"}`, "body.amount"},
		{"an amount as a list", `{"order_id":"1","amount":[12000,"USD"]}`, "body.amount"},
		{"an amount with a point", `{"order_id":"1","amount":{"minor":120.50,"currency":"USD"}}`, "body.amount.minor"},
		{"an amount in the notation of science", `{"order_id":"1","amount":{"minor":1e4,"currency":"USD"}}`, "body.amount.minor"},
		{"an amount in quotes", `{"order_id":"1","amount":{"minor":"12000","currency":"USD"}}`, "body.amount.minor"},
		{"an amount above what is exact", `{"order_id":"1","amount":{"minor":9223372036854775808,"currency":"USD"}}`, "body.amount.minor"},
		{"an amount of nothing", `{"order_id":"1","amount":{"minor":0,"currency":"USD"}}`, "body.amount.minor"},
		{"an amount below nothing", `{"order_id":"1","amount":{"minor":-1,"currency":"USD"}}`, "body.amount.minor"},
		{"an amount without a currency", `{"order_id":"1","amount":{"minor":12000}}`, "body.amount.currency"},
		{"a currency in small letters", `{"order_id":"1","amount":{"minor":12000,"currency":"usd"}}`, "body.amount.currency"},
		{"a currency that is none", `{"order_id":"1","amount":{"minor":12000,"currency":"BTC"}}`, "body.amount.currency"},
		{"something more in the amount", `{"order_id":"1","amount":{"minor":12000,"currency":"USD","text":"USD 1.00"}}`, "body.amount.text"},
		{"an amount with a key twice", `{"order_id":"1","amount":{"minor":12000,"currency":"USD","minor":1}}`, "body.amount.minor"},
		{"a deadline without a zone", `{"order_id":"1","due_at":"2026-12-20T17:00:00"}`, "body.due_at"},
		{"a deadline that is a day", `{"order_id":"1","due_at":"2026-12-20"}`, "body.due_at"},
		{"a deadline that is a number", `{"order_id":"1","due_at":1797786000}`, "body.due_at"},
		{"a deadline in the year one", `{"order_id":"1","due_at":"0001-01-01T00:00:00Z"}`, "body.due_at"},
		{"a deadline in words", `{"order_id":"1","due_at":"tomorrow"}`, "body.due_at"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			problem(t, o.post(chargebacks, row.body), http.StatusBadRequest, row.place)
			if n := o.cases(); n != 0 {
				t.Fatalf("%d cases are stored", n)
			}
		})
	}
	t.Run("all that is wrong in an amount is said at once", func(t *testing.T) {
		r := o.post(chargebacks, `{"order_id":"1","amount":{"minor":"1","currency":7}}`)
		problem(t, r, http.StatusBadRequest, "body.amount.minor")
		problem(t, r, http.StatusBadRequest, "body.amount.currency")
	})
}

func TestGoodChargebacks(t *testing.T) {
	o := newOffice(t)
	for _, row := range []struct{ sentence, body, place, want string }{
		{"null is a field left out", `{"order_id":"1","amount":null,"due_at":null,"stage":null}`, "stage", `"chargeback"`},
		{"an amount that nobody named is not known yet", `{"order_id":"2"}`, "amount", `null`},
		{"a deadline that nobody gave is not known", `{"order_id":"3"}`, "due_source", `"unknown"`},
		{"yen have no cents", `{"order_id":"4","amount":{"minor":5800,"currency":"JPY"}}`, "amount", `{"minor":5800,"currency":"JPY","text":"JPY 5,800"}`},
		{"dinars have thousandths", `{"order_id":"5","amount":{"minor":1250,"currency":"KWD"}}`, "amount", `{"minor":1250,"currency":"KWD","text":"KWD 1.250"}`},
		{"every digit of the largest amount is kept", `{"order_id":"6","amount":{"minor":9007199254740993,"currency":"USD"}}`, "amount", `{"minor":9007199254740993,"currency":"USD","text":"USD 90,071,992,547,409.93"}`},
		{"a code that is not known is no error", `{"order_id":"7","network":"visa","reason_code":"99.9"}`, "reason", `"other"`},
		{"a code means nothing under another network", `{"order_id":"8","network":"amex","reason_code":"13.1"}`, "reason", `"other"`},
		{"a code of fraud is one", `{"order_id":"9","network":"MASTERCARD","reason_code":"4837"}`, "reason", `"unauthorised"`},
		{"a code in other letters is the same", `{"order_id":"10","network":"amex","reason_code":"c08"}`, "reason", `"not_received"`},
		{"an order that looks like SQL is only a text", `{"order_id":"' OR 1=1 --"}`, "subject", `{"order_id":"' OR 1=1 --"}`},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := o.post(chargebacks, row.body)
			if r.status != http.StatusAccepted {
				t.Fatalf("got %d %s", r.status, r.text)
			}
			got := o.get("/api/v1/cases/" + fmt.Sprint(r.json["id"]))
			if diff := cmp.Diff(decoded(t, row.want), got.json[row.place]); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", row.place, diff)
			}
			if text := exactly(row.want); text != "" && !strings.Contains(got.text, text) {
				t.Errorf("the amount is not %s: %s", text, got.text)
			}
		})
	}
}

// exactly is the amount of a wanted value as it is spelled: a number as a test reads it would have lost its last digit.
func exactly(want string) string {
	minor, rest, ok := strings.Cut(want, `,"currency"`)
	if !ok || rest == "" {
		return ""
	}
	return strings.TrimPrefix(minor, "{")
}

func TestADeadlineThatNobodyKnowsIsOnTopOfTheQueue(t *testing.T) {
	o := newOffice(t)
	opened := func(body string) countersign.CaseID {
		return countersign.CaseID(fmt.Sprint(o.post(chargebacks, body).json["id"]))
	}
	dispute := o.dispute("T1")
	soon := opened(`{"order_id":"1","due_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`)
	unknown := opened(`{"order_id":"2"}`)
	if all := ids(t, o.get("/api/v1/cases")); len(all) != 3 || all[0] != unknown {
		t.Errorf("the queue is %v, want %s on top", all, unknown)
	}
	if all := ids(t, o.get("/api/v1/cases?desk=merchant")); !slices.Equal(all, []countersign.CaseID{unknown, soon}) {
		t.Errorf("the merchant's queue is %v, want %v", all, []countersign.CaseID{unknown, soon})
	}
	if all := ids(t, o.get("/api/v1/cases?desk=bank")); !slices.Equal(all, []countersign.CaseID{dispute}) {
		t.Errorf("the bank's queue is %v, want %v", all, []countersign.CaseID{dispute})
	}
	if all := ids(t, o.get("/api/v1/cases?q=2")); !slices.Contains(all, unknown) {
		t.Errorf("the order's number finds %v", all)
	}
	problem(t, o.get("/api/v1/cases?desk=shop"), http.StatusBadRequest, "query.desk")

	t.Run("a person who finds the deadline puts the case where it belongs", func(t *testing.T) {
		c := o.change(unknown, func(c *countersign.Case) { c.Status = countersign.InReview }, store.Note{Kind: audit.Note, Payload: map[string]any{"round": 1}})
		problem(t, o.decide(unknown, "deadline", c.Revision, `{"due_at":"2027-01-10"}`), http.StatusBadRequest, "body.due_at")
		problem(t, o.decide(unknown, "deadline", c.Revision, `{}`), http.StatusBadRequest, "body.due_at")
		r := o.decide(unknown, "deadline", c.Revision, `{"due_at":"2037-01-10T17:00:00+02:00"}`)
		if r.status != http.StatusOK || r.json["due_at"] != "2037-01-10T15:00:00Z" || r.json["due_source"] != "manual" {
			t.Fatalf("got %d %s", r.status, r.text)
		}
		if all := ids(t, o.get("/api/v1/cases?desk=merchant")); !slices.Equal(all, []countersign.CaseID{soon, unknown}) {
			t.Errorf("the merchant's queue is %v, want %v", all, []countersign.CaseID{soon, unknown})
		}
	})
}

// A provider that sends the same chargeback eight times at once has opened one case.
func TestOneChargebackSentEightTimesIsOneCase(t *testing.T) {
	o := newOffice(t)
	var mu sync.Mutex
	answers, opened := map[int]int{}, map[any]bool{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := o.send(sent{method: "POST", path: chargebacks, role: auth.Analyst, body: `{"order_id":"1001","provider_ref":"dp_1"}`, header: map[string]string{"Idempotency-Key": fmt.Sprintf("k-%d", i%2)}})
			mu.Lock()
			defer mu.Unlock()
			answers[r.status]++
			opened[r.json["id"]] = true
		})
	}
	all.Wait()
	if answers[http.StatusAccepted] != 1 || answers[http.StatusOK] != 7 || len(opened) != 1 || o.cases() != 1 {
		t.Errorf("the answers are %v, the cases %v", answers, opened)
	}
}

func TestAPartIsContested(t *testing.T) {
	o := newOffice(t)
	p := o.sell(delivered)
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1","amount":{"minor":10000,"currency":"USD"}}`)
	with := func(outcome, amount string) string {
		return `{"outcome":"` + outcome + `","reason":"The rest was agreed on.","amount":` + amount + `}`
	}
	for _, row := range []struct {
		sentence, body, place string
	}{
		{"more than is in dispute", with("contest", `{"minor":10001,"currency":"USD"}`), "body.amount.minor"},
		{"nothing", with("contest", `{"minor":0,"currency":"USD"}`), "body.amount.minor"},
		{"less than nothing", with("contest", `{"minor":-1,"currency":"USD"}`), "body.amount.minor"},
		{"another currency", with("contest", `{"minor":6000,"currency":"EUR"}`), "body.amount.currency"},
		{"no currency", with("contest", `{"minor":6000}`), "body.amount.currency"},
		{"an amount in words", with("contest", `"60.00"`), "body.amount"},
		{"a part of an accept", with("accept", `{"minor":6000,"currency":"USD"}`), "body.amount"},
		{"the bank's outcome", with("resolved", `{"minor":6000,"currency":"USD"}`), "body.outcome"},
		{"a fix", `{"outcome":"contest","reason":"x","fix":"refund"}`, "body.fix"},
		{"no reason", `{"outcome":"contest","reason":" "}`, "body.reason"},
		{"what is withheld, which the API does not take", `{"outcome":"contest","reason":"x","withhold":["refund_returned"]}`, "body.withhold"},
	} {
		t.Run("refused: "+row.sentence, func(t *testing.T) {
			problem(t, o.decide(c.ID, "override", c.Revision, row.body), http.StatusBadRequest, row.place)
			if now, err := o.store.Case(t.Context(), c.ID); err != nil || now.Revision != c.Revision || now.Contested != nil {
				t.Fatalf("the case is at revision %d, %v is contested (%v)", now.Revision, now.Contested, err)
			}
		})
	}
	r := o.decide(c.ID, "override", c.Revision, with("contest", `{"minor":6000,"currency":"USD"}`))
	want := map[string]any{"minor": 6000.0, "currency": "USD", "text": "USD 60.00"}
	if diff := cmp.Diff(want, r.json["contested"]); r.status != http.StatusOK || r.json["outcome"] != "contest" || r.json["handled_by"] != "person" || diff != "" {
		t.Errorf("got %d %s", r.status, r.text)
	}
}

// TestADecisionThatPaysTwiceSaysSo: forty dollars went back, and who contests the rest alone accepts them once more.
func TestADecisionThatPaysTwiceSaysSo(t *testing.T) {
	o := newOffice(t)
	p := o.sell(func(id string) shop.Records {
		r := delivered(id)
		r.Refunds.All = []shop.Refund{{ID: "R-1", Amount: shop.Amount{Money: &countersign.Money{Minor: 40_00, Currency: "USD"}}, State: shop.Returned, Status: "succeeded"}}
		return r
	})
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1","amount":{"minor":10000,"currency":"USD"}}`)
	r := o.decide(c.ID, "override", c.Revision, `{"outcome":"contest","reason":"The rest was delivered.","amount":{"minor":6000,"currency":"USD"}}`)
	if got := fmt.Sprint(r.json["warnings"]); r.status != http.StatusOK || !strings.Contains(got, "USD 40.00 is accepted besides the USD 40.00 that went back already") {
		t.Errorf("it answers %d, with the warnings %s", r.status, got)
	}
	if r := o.get("/api/v1/cases/" + string(c.ID)); r.json["warnings"] != nil {
		t.Errorf("the case has the warnings %v", r.json["warnings"])
	}
}

func TestWhatAsksForAPersonIsNotApproved(t *testing.T) {
	o := newOffice(t)
	p := o.sell(func(string) shop.Records { return shop.Records{} })
	c := o.worked(p, `{"order_id":"9999"}`)
	for _, filter := range []string{"recommendation=MANUAL_REVIEW_REQUIRED", "reason=order_not_found", "reason=person_decides&desk=merchant&status=in_review"} {
		if all := ids(t, o.get("/api/v1/cases?"+filter)); !slices.Equal(all, []countersign.CaseID{c.ID}) {
			t.Errorf("%s finds %v", filter, all)
		}
	}
	if all := ids(t, o.get("/api/v1/cases?recommendation=CONTEST")); len(all) != 0 {
		t.Errorf("it is among those to contest: %v", all)
	}
	problem(t, o.decide(c.ID, "approve", c.Revision, ""), http.StatusConflict, "")
	if r := o.decide(c.ID, "override", c.Revision, `{"outcome":"accept","reason":"It is not worth it."}`); r.status != http.StatusOK || r.json["outcome"] != "accept" {
		t.Errorf("got %d %s", r.status, r.text)
	}
}

// An order that the shop does not have is named otherwise by whoever knows it, and read from then on. One that was found stays.
func TestAnOrderIsAttached(t *testing.T) {
	o := newOffice(t)
	p := o.sell(func(id string) shop.Records {
		if id != "1001" {
			return shop.Records{}
		}
		return delivered(id)
	})
	c := o.worked(p, `{"order_id":"ch_unknown","network":"visa","reason_code":"13.1"}`)
	for place, body := range map[string]string{"body.order_id": `{"order_id":" "}`, "body.order": `{"order":"1001"}`, "body": ``} {
		problem(t, o.decide(c.ID, "attach", c.Revision, body), http.StatusBadRequest, place)
	}
	problem(t, o.decide(c.ID, "attach", c.Revision, `{"order_id":"ch_unknown"}`), http.StatusConflict, "body.order_id")
	problem(t, o.decide(c.ID, "attach", c.Revision-1, `{"order_id":"1001"}`), http.StatusConflict, "")
	r := o.decide(c.ID, "attach", c.Revision, `{"order_id":"1001"}`)
	if subject, _ := r.json["subject"].(map[string]any); r.status != http.StatusOK || r.json["status"] != "queued" || r.json["round"] != 2.0 || subject["order_id"] != "1001" {
		t.Fatalf("got %d %s", r.status, r.text)
	}
	if err := p.Work(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	now, err := o.store.Case(t.Context(), c.ID)
	if err != nil || now.Recommendation != "CONTEST" || now.Facts.Fact("order_found").State != countersign.Present {
		t.Errorf("the case is %+v, %v", now, err)
	}
	problem(t, o.decide(c.ID, "attach", now.Revision, `{"order_id":"1002"}`), http.StatusConflict, "body.order_id")
}

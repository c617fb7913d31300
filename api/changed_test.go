package api

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/merchant/shop"
)

// TestADecisionIsOnWhatTheCallerSaw: records that changed since they were judged are a conflict that says what changed and how to decide on
// it; only with that can a caller override.
func TestADecisionIsOnWhatTheCallerSaw(t *testing.T) {
	o := newOffice(t)
	refunded := false
	p := o.sell(func(id string) shop.Records {
		r := delivered(id)
		if refunded {
			r.Refunds.All = []shop.Refund{{ID: "R-1", Amount: r.Order.All[0].Total, State: shop.Returned, Status: "done"}}
		}
		return r
	})
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1"}`)
	decide := func(verb, body string) reply {
		return o.send(sent{method: "POST", path: "/api/v1/cases/" + string(c.ID) + "/" + verb, role: auth.Analyst, body: body, header: map[string]string{"If-Match": fmt.Sprint(c.Revision)}})
	}
	refunded = true
	problem(t, decide("approve", ""), http.StatusConflict, "")
	blind := decide("override", `{"outcome":"contest","reason":"It was delivered."}`)
	problem(t, blind, http.StatusConflict, "body.facts")
	facts := regexp.MustCompile(`[0-9a-f]{64}`).FindString(blind.text)
	if facts == "" || !strings.Contains(blind.text, "refund_returned was absent and is present USD 120.00") {
		t.Fatalf("the conflict says %s", blind.text)
	}
	problem(t, decide("override", `{"outcome":"contest","reason":"It was delivered.","facts":"`+strings.Repeat("0", 64)+`"}`), http.StatusConflict, "body.facts")
	if r := decide("override", `{"outcome":"contest","reason":"The refund is the answer.","facts":"`+facts+`"}`); r.status != http.StatusOK || r.json["outcome"] != "contest" {
		t.Errorf("it answers %d %s", r.status, r.text)
	}
}

// TestAnApprovalMayCarryItsOwnAnswer: the report then says that instead of the model's summary, as the caller's.
func TestAnApprovalMayCarryItsOwnAnswer(t *testing.T) {
	o := newOffice(t)
	p := o.sell(delivered)
	c := o.worked(p, `{"order_id":"1001","network":"visa","reason_code":"13.1"}`)
	approve := func(body string) reply {
		return o.send(sent{method: "POST", path: "/api/v1/cases/" + string(c.ID) + "/approve", role: auth.Analyst, body: body, header: map[string]string{"If-Match": fmt.Sprint(c.Revision)}})
	}
	problem(t, approve(`{"answer":"A bell: \u0007"}`), http.StatusBadRequest, "body.answer")
	for _, empty := range []string{``, ` `, `\n\n`, `\u200b`} {
		problem(t, approve(`{"answer":"`+empty+`"}`), http.StatusBadRequest, "body.answer")
	}
	problem(t, approve(`{"answr":"x"}`), http.StatusBadRequest, "body.answr")
	if r := approve(`{"answer":"It was delivered on 6 November."}`); r.status != http.StatusOK {
		t.Fatalf("it answers %d %s", r.status, r.text)
	}
	kept, err := o.store.Report(t.Context(), c.ID)
	if err != nil || !strings.Contains(string(kept.Content), `"summary":"It was delivered on 6 November."`) {
		t.Errorf("the report is %s, %v", kept.Content, err)
	}
	if after, err := o.store.Case(t.Context(), c.ID); err != nil || after.Outcome != countersign.Contested {
		t.Errorf("%+v, %v", after.Outcome, err)
	}
}

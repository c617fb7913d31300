package merchant_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign"
	"countersign/desk/merchant"
	"countersign/store"
)

func TestWhatAStepReadIsToldInAFewWords(t *testing.T) {
	told := merchant.New(merchant.Config{}).Told
	for _, row := range []struct{ tool, result, want string }{
		{"read_order", `{"found":true,"order":{}}`, "read the order"},
		{"read_order", `{"found":false,"order":null}`, "read the order: the shop has none of this number"},
		{"read_payments", `{"payments":[{"state":"failed"},{"state":"paid"},{"state":"failed"}]}`, "read the payments: 2 failed, 1 paid"},
		{"read_fulfillments", `{"fulfillments":[{"state":"in_transit"}]}`, "read the deliveries: 1 in transit"},
		{"read_refunds", `{"refunds":[]}`, "read the refunds: none"},
		{"read_returns", `{"returns":[{"state":"open"}]}`, "read the returns: 1 open"},
		{"read_policies", `{"passages":[{},{}]}`, "read the policies: 2 passages"},
		{"search_policies", `{"passages":[{}]}`, "read the policies again: 1 passage"},
		{"search_policies", `{"passages":[]}`, "read the policies again: 0 passages"},
		{"read_refunds", `not JSON`, "read the refunds"},
		{"delete_orders", `{}`, `called "delete_orders"`},
	} {
		if got := told(countersign.Step{Tool: row.tool, OK: true, Result: json.RawMessage(row.result)}); got != row.want {
			t.Errorf("%s %s: %q, want %q", row.tool, row.result, got, row.want)
		}
	}
	if got := told(countersign.Step{Tool: "read_refunds", Result: json.RawMessage(`{"error":"gone"}`)}); got != "could not read the refunds" {
		t.Errorf("a failed step is told as %q", got)
	}
}

// Everything that is given or offered has words of its own, and no text of a shop's is in them.
func TestEveryStepHasWords(t *testing.T) {
	a := &asked{records: written("2026-11-01"), text: "zebra"}
	a.records.Order.All[0].Customer, a.records.Order.All[0].Status = "zebra", "zebra"
	d := merchant.New(a.config())
	for _, tool := range append(a.given(countersign.Case{}), d.Tools(store.View{}, countersign.Case{})...) {
		answer, err := run(t, tool, `{"query":"zebra"}`)
		if err != nil {
			t.Fatal(err)
		}
		result, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		got := d.Told(countersign.Step{Tool: tool.Name, OK: true, Result: result})
		if strings.HasPrefix(got, "called") || strings.Contains(got, "zebra") {
			t.Errorf("%s is told as %q", tool.Name, got)
		}
	}
}

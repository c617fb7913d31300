package connector

import (
	"strings"
	"testing"

	"countersign"
)

// refundsOf is a shop of two orders and these refunds, each "id, order, amount, method, attempt".
func refundsOf(t *testing.T, w world, rows ...string) {
	w.make(t, "CREATE TABLE orders (id {id} PRIMARY KEY, total {money})", "INSERT INTO orders VALUES (1, 120), (2, 120)",
		"CREATE TABLE refunds (id {id} PRIMARY KEY, order_id {id}, amount {money}, method {text}, attempt {text})")
	for _, r := range rows {
		w.run(t, "INSERT INTO refunds VALUES ("+r+")")
	}
}

func TestAReferenceThatNamesMoreThanOneRefundIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		refundsOf(t, w, "1, 1, 120, 'card', 're_1'", "2, 1, 5, 'card', 're_2'", "3, 2, 5, 'bank', 're_3'", "4, 2, 5.00, 'bank', 're_3'", "5, 2, 7, NULL, NULL", "6, 2, 8, '', ''")
		for column, want := range map[string]string{"method": `method of the refunds 1 and 2 of two amounts is "card"`, "attempt": "", "order_id": "order_id of the refunds 1 and 2 of two amounts"} {
			s := w.open(t, w.mapping(t, `{"order":{"table":"orders","key":"id","columns":{"total":"total"}},
				"refund":{"table":"refunds","order_key":"order_id","where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount","reference":"`+column+`"}}}`))
			n, err := s.Shared(t.Context(), 100)
			switch {
			case want == "" && (err != nil || n != 1):
				t.Errorf("%s: %d references are shared, %v", column, n, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || countersign.KindOf(err) != countersign.Unprocessed):
				t.Errorf("%s: %v, want %q", column, err, want)
			}
		}
		w.run(t, "UPDATE refunds SET amount = 120, method = 'card'")
		s := w.open(t, w.mapping(t, `{"order":{"table":"orders","key":"id","columns":{"total":"total"}},
			"refund":{"table":"refunds","order_key":"order_id","where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount","reference":"method"}}}`))
		if _, err := s.Shared(t.Context(), 100); err == nil || !strings.Contains(err.Error(), "of two orders") {
			t.Errorf("one way to pay for two orders: %v", err)
		}
	})
}

func TestNothingThatMayNameAPaymentIsProposedAsTheReferenceOfARefund(t *testing.T) {
	for column, proposed := range map[string]bool{"method": false, "transaction_id": false, "payment_reference": false, "reference": false, "psp_reference": false,
		"response_code": false, "external_id": false, "provider_refund_id": true, "refund_reference": true} {
		w := sqliteWorld(t)
		w.run(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL)",
			"CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), amount TEXT, "+column+" TEXT, status TEXT, created_at TEXT)")
		all := Suggest(w.catalog(t))
		if len(all) != 1 || all[0].Mapping.Entities[Refund].Columns["amount"] != "amount" {
			t.Fatalf("suggested is %+v", all)
		}
		if got := all[0].Mapping.Entities[Refund].Columns["reference"] != ""; got != proposed {
			t.Errorf("%s is proposed: %v", column, got)
		}
	}
}

// catalog is what there is to see.
func (w world) catalog(t testing.TB) Catalog {
	t.Helper()
	c, err := w.open(t, Mapping{Driver: string(w.d), DSN: w.reader}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

package connector

import (
	"strings"
	"testing"

	"countersign/desk/merchant/shop"
)

// A table without a key may hold a row twice: the same on a copy of an old and a new export, or one row for each word on a refund.
func TestARowThatStandsInATableTwiceIsReadOnceOrByAPerson(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE orders (id {id} PRIMARY KEY, total {money})", "INSERT INTO orders VALUES (1, 120), (2, 120), (3, 120), (4, 120), (5, 120)",
			"CREATE TABLE refunds (id {text}, order_id {id}, amount {money}, attempt {text})", "CREATE TABLE parcels (id {text}, order_id {id}, track {text})")
		w.run(t, "INSERT INTO refunds VALUES ('a', 1, 20, 'x'), ('a', 1, 20, 'x'), ('b', 2, 20, 'x'), ('b', 2, 30, 'y'), ('c', 3, 20, 'z'), ('c', 3, 30, 'z'), ('d', 4, 20, NULL), ('e', 4, 20, NULL), (NULL, 5, 20, NULL), (NULL, 5, 20, NULL)",
			"INSERT INTO parcels VALUES ('p', 1, 'JD1'), ('p', 1, 'JD1'), ('p', 1, 'JD2')")
		s := w.open(t, w.mapping(t, `{"order":{"table":"orders","key":"id","columns":{"total":"total"}},
			"fulfillment":{"table":"parcels","order_key":"order_id","columns":{"id":"id","tracking":"track"}},
			"refund":{"table":"refunds","order_key":"order_id","where":{"column":"amount","not_null":true},"columns":{"id":"id","amount":"amount","reference":"attempt"}}}`))
		for order, want := range map[string]struct {
			rows   int
			unread string
		}{
			"1": {0, "two rows have the id a and say the same"}, "2": {0, "two rows have the id b and say different things"}, "3": {2, ""}, // one refund of one reference: the rules say which counts
			"4": {2, ""}, "5": {0, "two rows have no id and say the same"},
		} {
			got := s.Order(t.Context(), order).Refunds
			if len(got.All) != want.rows || !strings.Contains(got.Unread, want.unread) || (got.Unread == "") != (want.unread == "") {
				t.Errorf("order %s: %+v, want %+v", order, got, want)
			}
		}
		if parcels := s.Order(t.Context(), "1").Fulfillments; len(parcels.All) != 2 {
			t.Errorf("parcels are read as %+v", parcels)
		}
	})
}

// Two refunds of one payment, each of half, are two: whoever names the payment's id as theirs is told, and no half is contested. A row that
// was only joined twice is one.
func TestEqualRefundsAreOneOnlyByTheirKey(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE orders (id {id} PRIMARY KEY, total {money})", "INSERT INTO orders VALUES (1, 120)",
			"CREATE TABLE refunds (id {id} PRIMARY KEY, order_id {id}, payment_id {id}, amount {money})", "CREATE TABLE links (refund_id {id}, order_id {id})")
		w.run(t, "INSERT INTO refunds VALUES (1, 1, 7, 60), (2, 1, 7, 60)", "INSERT INTO links VALUES (1, 1), (1, 1), (2, 1)")
		refund := func(from string) shop.Rows[shop.Refund] {
			return w.open(t, w.mapping(t, `{"order":{"table":"orders","key":"id","columns":{"total":"total"}},"refund":`+from+`}`)).Order(t.Context(), "1").Refunds
		}
		const counts = `"where":{"column":"amount","not_null":true}`
		if got := refund(`{"table":"refunds","order_key":"order_id",` + counts + `,"columns":{"id":"payment_id","amount":"amount"}}`); len(got.All) != 0 || !strings.Contains(got.Unread, "two rows have the id 7 and say the same") {
			t.Errorf("by the payment's id they are %+v", got)
		}
		if got := refund(`{"table":"refunds","order_key":"order_id",` + counts + `,"columns":{"id":"id","amount":"amount"}}`); len(got.All) != 2 || got.Unread != "" {
			t.Errorf("by their own id they are %+v", got)
		}
		joined := refund(`{"table":"refunds","join":{"table":"links","on":{"left":"id","right":"refund_id"},"order_key":"order_id"},` + counts + `,"columns":{"id":"id","amount":"amount"}}`)
		if len(joined.All) != 2 || joined.Unread != "" {
			t.Errorf("joined twice they are %+v", joined)
		}
	})
}

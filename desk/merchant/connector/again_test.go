package connector

import (
	"strings"
	"testing"
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
			"1": {1, ""}, "2": {0, "two rows have the id b and say different things"}, "3": {2, ""}, // one refund of one reference: the rules say which counts
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

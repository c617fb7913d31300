package connector

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/desk/merchant/shop"
)

// large is a shop with so many orders, a payment and a parcel for each and a refund for every tenth, with an index on every
// column that an order is found by.
func (w world) large(t testing.TB, orders int) {
	t.Helper()
	w.make(t, "CREATE TABLE o (id {id} PRIMARY KEY, n {text}, total {money})", "CREATE TABLE p (id {id} PRIMARY KEY, o {id}, amount {money}, status {text}, at {time})",
		"CREATE TABLE f (id {id} PRIMARY KEY, o {id}, status {text})", "CREATE TABLE l (p {id}, r {id})", "CREATE TABLE r (id {id} PRIMARY KEY, amount {money}, status {text})")
	w.run(t, w.numbered(orders)...)
	w.make(t, "CREATE UNIQUE INDEX o_n ON o (n)", "CREATE INDEX p_o ON p (o)", "CREATE INDEX f_o ON f (o)", "CREATE INDEX l_p ON l (p)", "CREATE INDEX l_r ON l (r)")
	w.run(t, map[dialect]string{SQLite: "ANALYZE", Postgres: "ANALYZE", MySQL: "ANALYZE TABLE o, p, f, l, r"}[w.d])
}

// numbered fills the tables without a row of them passing through this program.
func (w world) numbered(orders int) []string {
	from := map[dialect]string{
		SQLite:   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)",
		Postgres: "WITH n AS (SELECT generate_series(1, %d) AS i)",
		MySQL:    "", // its own table of numbers
	}[w.d]
	text := map[dialect]string{SQLite: "'N-' || i", Postgres: "'N-' || i", MySQL: "CONCAT('N-', seq)"}[w.d]
	i, numbers := "i", "n"
	if w.d == MySQL {
		i, numbers = "seq", fmt.Sprintf("seq_1_to_%d", orders)
	} else {
		from = fmt.Sprintf(from, orders)
	}
	insert := func(table, values, where string) string {
		if w.d == MySQL {
			return "INSERT INTO " + table + " SELECT " + values + " FROM " + numbers + where
		}
		return from + " INSERT INTO " + table + " SELECT " + values + " FROM " + numbers + where
	}
	tenth := " WHERE " + i + " % 10 = 0"
	return []string{insert("o", i+", "+text+", 49.90", ""), insert("p", i+", "+i+", 49.90, 'captured', '2026-05-13 16:12:08'", ""), insert("f", i+", "+i+", 'delivered'", ""),
		insert("l", i+", "+i, tenth), insert("r", i+", 10, 'succeeded'", tenth)}
}

const largeEntities = `{"order":{"table":"o","key":"id","columns":{"number":"n","total":"total"}},
	"payment":{"table":"p","order_key":"o","columns":{"id":"id","amount":"amount","status":"status","paid_at":"at"},"states":{"paid":["captured"]}},
	"fulfillment":{"table":"f","order_key":"o","columns":{"id":"id","status":"status"},"states":{"delivered":["delivered"]}},
	"refund":{"table":"r","join":[{"table":"l","on":"id = r"},{"table":"p","on":"p = id","order_key":"o"}],"columns":{"id":"id","amount":"amount","status":"status"},"states":{"returned":["succeeded"]}}}`

// The plan that the server itself makes leads through an index to every record, and says so when one is missing.
func TestAnIndexLeadsToEveryRecord(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.large(t, 20_000)
		s := w.open(t, w.mapping(t, largeEntities))
		if slow, err := s.Plan(t.Context()); err != nil || len(slow) > 0 {
			t.Errorf("%q, %v", slow, err)
		}
		w.run(t, "DROP INDEX "+map[dialect]string{SQLite: "p_o", Postgres: "p_o", MySQL: "p_o ON p"}[w.d], "DROP INDEX "+map[dialect]string{SQLite: "o_n", Postgres: "o_n", MySQL: "o_n ON o"}[w.d])
		slow, err := w.open(t, s.mapping).Plan(t.Context()) // opened anew: SQLite plans with the schema that a connection last met
		all := strings.Join(slow, "\n")
		for _, want := range []string{"finding orders by n reads the whole of o: an index", "finding payments by o reads the whole of p: an index", "finding refunds by o reads the whole of p"} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is missing from\n%s", want, all)
			}
		}
		if err != nil || strings.Contains(all, "fulfilments") || strings.Contains(all, "by id") {
			t.Errorf("%v, too much in\n%s", err, all)
		}
	})
}

// BenchmarkOrder reads all of one order out of a large shop. COUNTERSIGN_BENCH_ORDERS says how large.
func BenchmarkOrder(b *testing.B) {
	orders := 100_000
	if text := os.Getenv("COUNTERSIGN_BENCH_ORDERS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 10 {
			b.Fatalf("COUNTERSIGN_BENCH_ORDERS is %q, want a number", text)
		}
		orders = n
	}
	for name, made := range map[string]func(testing.TB) world{"sqlite": sqliteWorld, "postgres": postgresWorld, "mysql": mysqlWorld} {
		b.Run(name, func(b *testing.B) {
			w := made(b)
			w.large(b, orders)
			s := w.open(b, w.mapping(b, largeEntities))
			if slow, err := s.Plan(b.Context()); err != nil || len(slow) > 0 {
				b.Fatalf("no index leads there: %q, %v", slow, err)
			}
			began := time.Now()
			n := 0
			for b.Loop() {
				n++
				id := orders - n%(orders/10)*10
				whole(b, s.Order(b.Context(), strconv.Itoa(id)))
			}
			b.ReportMetric(float64(n)/time.Since(began).Seconds(), "orders/s")
		})
	}
}

func whole(b *testing.B, all shop.Records) {
	if len(all.Order.All) != 1 || len(all.Payments.All) != 1 || len(all.Fulfillments.All) != 1 || len(all.Refunds.All) != 1 || !all.Refunds.Whole() {
		b.Fatalf("read %+v", all)
	}
}

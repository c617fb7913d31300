package testshop

import (
	"database/sql"
	"testing"
)

func TestTheDataIsWhatItsAuthorsSay(t *testing.T) {
	data := Retail(t)
	if len(data.Orders) != 1000 || len(data.Cancelled()) != 102 {
		t.Errorf("%d orders, %d of them cancelled and refunded with a tracking number: want 1000 and 102", len(data.Orders), len(data.Cancelled()))
	}
	for _, o := range data.Orders {
		if len(o.Paid) != 1 || o.Total() <= 0 || o.Email == "" || o.Address == "" {
			t.Errorf("order %s was not understood: %+v", o.Number, o)
		}
	}
	for _, o := range data.Cancelled() {
		if o.Refunded[0].Cents() != o.Total() || o.Parcels[0].Tracking == "" {
			t.Errorf("order %s was refunded %s of %d cents, and sent as %q", o.Number, o.Refunded[0].Amount, o.Total(), o.Parcels[0].Tracking)
		}
	}
}

func TestTheTimesAreTheSameEveryTime(t *testing.T) {
	first, again := Retail(t), Retail(t)
	for i := range first.Orders {
		if first.Orders[i].Number != again.Orders[i].Number || !first.Orders[i].PlacedAt.Equal(again.Orders[i].PlacedAt) {
			t.Fatalf("order %d is %v once and %v then", i, first.Orders[i], again.Orders[i])
		}
	}
}

// Sums that each database forms by itself of what was written into it.
func TestEveryShopHoldsTheSameMoney(t *testing.T) {
	data := Retail(t)
	var paid, back int64
	parcels := 0
	for _, o := range data.Orders {
		paid += o.Total()
		for _, m := range o.Refunded {
			back += m.Cents()
		}
		parcels += len(o.Parcels)
	}
	for _, row := range []struct {
		name, driver, sums string
		fill               func(testing.TB, Data) Shop
	}{
		{"SQLite", "sqlite", "SELECT (SELECT SUM(amount) FROM payments), (SELECT SUM(amount) FROM refunds), (SELECT COUNT(*) FROM shipments)", SQLite},
		{"Medusa on PostgreSQL", "pgx", `SELECT (SELECT CAST(SUM(amount) * 100 AS BIGINT) FROM payment), (SELECT CAST(SUM(amount) * 100 AS BIGINT) FROM refund),
			(SELECT COUNT(*) FROM order_fulfillment JOIN fulfillment_label USING (fulfillment_id))`, Postgres},
		{"MariaDB", "mysql", `SELECT (SELECT CAST(SUM(amount) * 100 AS SIGNED) FROM shop_payment), (SELECT CAST(SUM(amount) * -100 AS SIGNED) FROM shop_refund),
			(SELECT COUNT(*) FROM shop_shipment)`, MariaDB},
	} {
		t.Run(row.name, func(t *testing.T) {
			shop := row.fill(t, data)
			var gotPaid, gotBack int64
			var gotParcels int
			db := open(t, row.driver, shop.Reader)
			if err := db.QueryRow(row.sums).Scan(&gotPaid, &gotBack, &gotParcels); err != nil {
				t.Fatal(err)
			}
			if gotPaid != paid || gotBack != back || gotParcels != parcels {
				t.Errorf("it holds %d paid, %d refunded, %d parcels; the data %d, %d, %d", gotPaid, gotBack, gotParcels, paid, back, parcels)
			}
		})
	}
}

func TestTheReaderOfAShopMayNotWrite(t *testing.T) {
	data := Data{Orders: Retail(t).Orders[:3]}
	for _, row := range []struct {
		name, driver, write string
		fill                func(testing.TB, Data) Shop
	}{
		{"Medusa on PostgreSQL", "pgx", "UPDATE refund SET amount = 0", Postgres},
		{"MariaDB", "mysql", "UPDATE shop_refund SET amount = 0", MariaDB},
	} {
		t.Run(row.name, func(t *testing.T) {
			shop := row.fill(t, data)
			if _, err := open(t, row.driver, shop.Reader).Exec(row.write); err == nil {
				t.Error("the reader changed a refund")
			}
			if _, err := open(t, row.driver, shop.Owner).Exec(row.write); err != nil {
				t.Errorf("the owner could not: %v", err)
			}
		})
	}
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

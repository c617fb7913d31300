package testshop

import (
	"crypto/rand"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"countersign/internal/testdb"
)

var mariaTables = []string{`
CREATE TABLE shop_order (order_id BIGINT UNSIGNED PRIMARY KEY, order_no VARCHAR(20) NOT NULL UNIQUE, customer VARCHAR(64) NOT NULL,
	email VARCHAR(120), placed DATETIME NOT NULL, state ENUM('pending','processed','delivered','cancelled') NOT NULL,
	grand_total DECIMAL(12,4) NOT NULL, currency CHAR(3) NOT NULL, ship_to TEXT)`, `
CREATE TABLE shop_payment (payment_id BIGINT UNSIGNED PRIMARY KEY, order_id BIGINT UNSIGNED NOT NULL, amount DECIMAL(12,4) NOT NULL,
	captured TINYINT(1) NOT NULL, captured_at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', method VARCHAR(64), KEY (order_id))`, `
CREATE TABLE shop_shipment (shipment_id BIGINT UNSIGNED PRIMARY KEY, order_id BIGINT UNSIGNED NOT NULL, delivered TINYINT(1) NOT NULL,
	tracking_no VARCHAR(64), shipped_at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
	delivered_at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', KEY (order_id))`, `
CREATE TABLE shop_refund (refund_id BIGINT UNSIGNED PRIMARY KEY, order_id BIGINT UNSIGNED NOT NULL, amount DECIMAL(12,4) NOT NULL,
	done TINYINT(1) NOT NULL, refunded_at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', KEY (order_id))`, `
CREATE TABLE shop_return (return_id BIGINT UNSIGNED PRIMARY KEY, order_id BIGINT UNSIGNED NOT NULL, is_open TINYINT(1) NOT NULL,
	opened_at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', reason VARCHAR(200), KEY (order_id))`,
}

// lagos is the zone of the shop's clock: an hour ahead of UTC all year round, so that no local time is there twice.
var lagos = time.FixedZone("Africa/Lagos", 60*60)

const mariaMapping = `{"name":"retail in MariaDB","driver":"mysql","dsn":"DSN","zone":"Africa/Lagos","currency":"USD","unit":"major","entities":{
	"order":{"table":"shop_order","key":"order_id","columns":{"number":"order_no","customer":"customer","email":"email","placed_at":"placed",
		"status":"state","total":"grand_total","currency":"currency","shipping_address":"ship_to"}},
	"payment":{"table":"shop_payment","order_key":"order_id","columns":{"id":"payment_id","amount":"amount","status":"captured",
		"paid_at":"captured_at","reference":"method"},"states":{"paid":["1"],"pending":["0"],"failed":["2"]}},
	"fulfillment":{"table":"shop_shipment","order_key":"order_id","columns":{"id":"shipment_id","status":"delivered","tracking":"tracking_no",
		"shipped_at":"shipped_at","delivered_at":"delivered_at"},"states":{"delivered":["1"],"in_transit":["0"],"not_shipped":["2"]}},
	"refund":{"table":"shop_refund","order_key":"order_id","sign":"negative_is_refund","columns":{"id":"refund_id","amount":"amount",
		"status":"done","refunded_at":"refunded_at"},"states":{"returned":["1"],"in_progress":["0"],"not_returned":["2"]}},
	"return":{"table":"shop_return","order_key":"order_id","columns":{"id":"return_id","status":"is_open","opened_at":"opened_at",
		"reason":"reason"},"states":{"open":["1"],"closed":["0"]}}}}`

// MariaDB writes the data into a fresh database there, and makes a user who may read it and nothing else.
func MariaDB(t testing.TB, data Data) Shop {
	t.Helper()
	owner := testdb.MariaDB(t)
	config, err := mysql.ParseDSN(owner)
	if err != nil {
		t.Fatalf("open the shop: %v", err)
	}
	reader := config.Clone()
	reader.User, reader.Passwd = "reads_"+strings.ToLower(rand.Text()), rand.Text() // 32 letters, as many as a name may have
	config.Params = map[string]string{"sql_mode": "''"}                             // else there are no zero dates
	d := connect(t, "mysql", config.FormatDSN(), question)
	for _, statement := range mariaTables {
		d.run(statement)
	}
	d.fill(mariaRows(data)...)
	d.run("CREATE USER '" + reader.User + "'@'%' IDENTIFIED BY '" + reader.Passwd + "'")
	t.Cleanup(func() { d.run("DROP USER '" + reader.User + "'@'%'") })
	d.run("GRANT SELECT ON " + config.DBName + ".* TO '" + reader.User + "'@'%'")
	return Shop{Driver: "mysql", Mapping: named(t, mariaMapping, reader.FormatDSN()), Reader: reader.FormatDSN(), Owner: owner}
}

func mariaRows(data Data) []*table {
	orders := &table{name: "shop_order", columns: []string{"order_id", "order_no", "customer", "email", "placed", "state", "grand_total", "currency", "ship_to"}}
	payments := &table{name: "shop_payment", columns: []string{"payment_id", "order_id", "amount", "captured", "captured_at", "method"}}
	shipments := &table{name: "shop_shipment", columns: []string{"shipment_id", "order_id", "delivered", "tracking_no", "shipped_at", "delivered_at"}}
	refunds := &table{name: "shop_refund", columns: []string{"refund_id", "order_id", "amount", "done", "refunded_at"}}
	next := uint64(math.MaxUint64)
	id := func() uint64 { next--; return next }
	for _, o := range data.Orders {
		order := id()
		var total string
		for _, m := range o.Paid {
			payments.add(id(), order, m.Amount, 1, local(&m.At), m.Method)
			total = m.Amount // the data has one payment for each order
		}
		orders.add(order, o.Number, o.Customer, o.Email, local(&o.PlacedAt), o.Status, total, "USD", o.Address)
		for _, p := range o.Parcels {
			shipments.add(id(), order, choose(p.Delivered != nil, 1, 0), p.Tracking, local(&p.ShippedAt), local(p.Delivered))
		}
		for _, m := range o.Refunded {
			refunds.add(id(), order, "-"+m.Amount, 1, local(&m.At))
		}
	}
	return []*table{orders, payments, shipments, refunds}
}

// local is a time on the shop's clock, the zero date for none.
func local(at *time.Time) string {
	if at == nil {
		return "0000-00-00 00:00:00"
	}
	return at.In(lagos).Format("2006-01-02 15:04:05")
}

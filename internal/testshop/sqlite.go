package testshop

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver named sqlite
)

const sqliteTables = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, customer TEXT NOT NULL, email TEXT, placed_at TEXT NOT NULL,
	status TEXT NOT NULL, total INTEGER NOT NULL, currency TEXT NOT NULL, shipping_address TEXT);
CREATE TABLE payments (id TEXT PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), amount INTEGER NOT NULL, status TEXT NOT NULL,
	paid_at TEXT, reference TEXT);
CREATE INDEX payments_by_order ON payments (order_id);
CREATE TABLE shipments (id TEXT PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), status TEXT NOT NULL, tracking TEXT,
	shipped_at TEXT, delivered_at TEXT);
CREATE INDEX shipments_by_order ON shipments (order_id);
CREATE TABLE refunds (id TEXT PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), amount INTEGER NOT NULL, status TEXT NOT NULL,
	refunded_at TEXT);
CREATE INDEX refunds_by_order ON refunds (order_id);
CREATE TABLE returns (id TEXT PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), status TEXT NOT NULL, opened_at TEXT, reason TEXT);
CREATE INDEX returns_by_order ON returns (order_id);
`

const sqliteMapping = `{"name":"retail in SQLite","driver":"sqlite","dsn":"DSN","zone":"UTC","currency":"USD","unit":"minor","entities":{
	"order":{"table":"orders","key":"id","columns":{"number":"number","customer":"customer","email":"email","placed_at":"placed_at",
		"status":"status","total":"total","currency":"currency","shipping_address":"shipping_address"}},
	"payment":{"table":"payments","order_key":"order_id","columns":{"id":"id","amount":"amount","status":"status","paid_at":"paid_at",
		"reference":"reference"},"states":{"paid":["captured"],"pending":["authorized"],"failed":["failed"]}},
	"fulfillment":{"table":"shipments","order_key":"order_id","columns":{"id":"id","status":"status","tracking":"tracking",
		"shipped_at":"shipped_at","delivered_at":"delivered_at"},"states":{"delivered":["delivered"],"in_transit":["sent"],"not_shipped":["packed"]}},
	"refund":{"table":"refunds","order_key":"order_id","columns":{"id":"id","amount":"amount","status":"status","refunded_at":"refunded_at"},
		"states":{"returned":["done"],"in_progress":["requested"],"not_returned":["refused"]}},
	"return":{"table":"returns","order_key":"order_id","columns":{"id":"id","status":"status","opened_at":"opened_at","reason":"reason"},
		"states":{"open":["open"],"closed":["closed"]}}}}`

// SQLite writes the data into a file of plain tables.
func SQLite(t testing.TB, data Data) Shop {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	d := connect(t, "sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=synchronous(OFF)", question)
	d.run(sqliteTables)
	d.fill(sqliteRows(data)...)
	return Shop{Driver: "sqlite", Mapping: named(t, sqliteMapping, path), Reader: path, Owner: path}
}

func sqliteRows(data Data) []*table {
	orders := &table{name: "orders", columns: []string{"id", "number", "customer", "email", "placed_at", "status", "total", "currency", "shipping_address"}}
	payments := &table{name: "payments", columns: []string{"id", "order_id", "amount", "status", "paid_at", "reference"}}
	shipments := &table{name: "shipments", columns: []string{"id", "order_id", "status", "tracking", "shipped_at", "delivered_at"}}
	refunds := &table{name: "refunds", columns: []string{"id", "order_id", "amount", "status", "refunded_at"}}
	for i, o := range data.Orders {
		id := i + 1
		orders.add(id, o.Number, o.Customer, o.Email, plain(&o.PlacedAt), o.Status, o.Total(), "USD", o.Address)
		for n, m := range o.Paid {
			payments.add(key("P", id, n), id, m.Cents(), "captured", plain(&m.At), m.Method)
		}
		for n, p := range o.Parcels {
			shipments.add(key("S", id, n), id, choose(p.Delivered != nil, "delivered", "sent"), p.Tracking, plain(&p.ShippedAt), plain(p.Delivered))
		}
		for n, m := range o.Refunded {
			refunds.add(key("R", id, n), id, m.Cents(), "done", plain(&m.At))
		}
	}
	return []*table{orders, payments, shipments, refunds}
}

// key is an id of the n-th of its kind for an order: P17-1.
func key(kind string, order, n int) string {
	return kind + strconv.Itoa(order) + "-" + strconv.Itoa(n+1)
}

// plain is a time as SQLite's own functions write it, NULL for none.
func plain(at *time.Time) any {
	if at == nil {
		return nil
	}
	return at.UTC().Format("2006-01-02 15:04:05")
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

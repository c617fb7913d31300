package testshop

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx

	"countersign/internal/testdb"
)

// medusaLinks are two tables that Medusa makes of what its modules say about each other when it starts, and that are in no
// module's migrations. As there, nothing refers to them and they refer to nothing.
const medusaLinks = `
CREATE TABLE order_payment_collection (order_id VARCHAR(255) NOT NULL, payment_collection_id VARCHAR(255) NOT NULL, id VARCHAR(255) NOT NULL,
	created_at TIMESTAMPTZ NOT NULL DEFAULT now(), updated_at TIMESTAMPTZ NOT NULL DEFAULT now(), deleted_at TIMESTAMPTZ,
	PRIMARY KEY (order_id, payment_collection_id));
CREATE TABLE order_fulfillment (order_id VARCHAR(255) NOT NULL, fulfillment_id VARCHAR(255) NOT NULL, id VARCHAR(255) NOT NULL,
	created_at TIMESTAMPTZ NOT NULL DEFAULT now(), updated_at TIMESTAMPTZ NOT NULL DEFAULT now(), deleted_at TIMESTAMPTZ,
	PRIMARY KEY (order_id, fulfillment_id));
`

// Postgres writes the data into a fresh database of Medusa's tables there, and makes a role that may read it and nothing else.
func Postgres(t testing.TB, data Data) Shop {
	t.Helper()
	owner := testdb.Postgres(t)
	d := connect(t, "pgx", owner, dollar)
	for _, module := range []string{"order", "payment", "fulfillment"} {
		d.run(schema(t, "medusa_"+module+".sql"))
	}
	d.run(medusaLinks)
	d.fill(medusaRows(data)...)
	reader := d.postgresReader(owner)
	return Shop{Driver: "postgres", Mapping: named(t, medusaMapping, reader), Reader: reader, Owner: owner}
}

func schema(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(testdb.Shared(t, "data", "schemas", name))
	if err != nil {
		t.Fatalf("read a schema: %v", err)
	}
	return string(text)
}

// postgresReader makes a role for this test and returns the database's URL for it.
func (d database) postgresReader(owner string) string {
	d.Helper()
	role, password := "reads_"+strings.ToLower(rand.Text()), rand.Text()
	d.run("CREATE ROLE " + role + " LOGIN PASSWORD '" + password + "'")
	d.Cleanup(func() { d.run("DROP OWNED BY " + role); d.run("DROP ROLE " + role) })
	d.run("GRANT USAGE ON SCHEMA public TO " + role)
	d.run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	u, err := url.Parse(owner)
	if err != nil {
		d.Fatalf("open the shop: %v", err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// medusaRows are the rows that Medusa would have written: captured payments in a collection of their own for each order, and for
// money that came or went also the order's own account of it.
func medusaRows(data Data) []*table {
	m := newMedusa()
	for i, o := range data.Orders {
		m.order(i+1, o)
	}
	return m.tables()
}

type medusa struct {
	addresses, orders, collections, payments, captures, refunds, transactions, collected *table
	fulfillments, labels, fulfilled                                                      *table
}

func newMedusa() medusa {
	return medusa{
		addresses:    &table{name: "order_address", columns: []string{"id", "address_1"}},
		orders:       &table{name: `"order"`, columns: []string{"id", "display_id", "custom_display_id", "customer_id", "email", "status", "currency_code", "shipping_address_id", "created_at", "updated_at", "canceled_at"}},
		collections:  &table{name: "payment_collection", columns: []string{"id", "currency_code", "amount", "raw_amount", "status", "created_at"}},
		payments:     &table{name: "payment", columns: []string{"id", "amount", "raw_amount", "currency_code", "provider_id", "created_at", "captured_at", "payment_collection_id", "payment_session_id"}},
		captures:     &table{name: "capture", columns: []string{"id", "amount", "raw_amount", "payment_id", "created_at"}},
		refunds:      &table{name: "refund", columns: []string{"id", "amount", "raw_amount", "payment_id", "created_at"}},
		transactions: &table{name: "order_transaction", columns: []string{"id", "order_id", "amount", "raw_amount", "currency_code", "reference", "reference_id", "created_at"}},
		collected:    &table{name: "order_payment_collection", columns: []string{"id", "order_id", "payment_collection_id"}},
		fulfillments: &table{name: "fulfillment", columns: []string{"id", "location_id", "created_at", "shipped_at", "delivered_at"}},
		labels:       &table{name: "fulfillment_label", columns: []string{"id", "tracking_number", "tracking_url", "label_url", "fulfillment_id"}},
		fulfilled:    &table{name: "order_fulfillment", columns: []string{"id", "order_id", "fulfillment_id"}},
	}
}

func (m medusa) tables() []*table {
	return []*table{m.addresses, m.orders, m.collections, m.payments, m.captures, m.refunds, m.transactions, m.collected,
		m.fulfillments, m.labels, m.fulfilled}
}

func (m medusa) order(display int, o Order) {
	id := "order_" + strings.TrimPrefix(o.Number, "#")
	var canceled any
	if o.Status == "cancelled" {
		canceled = o.Refunded[0].At
	}
	m.addresses.add("ordaddr_"+id, o.Address)
	m.orders.add(id, display, o.Number, o.Customer, o.Email, medusaStatus(o.Status), "usd", "ordaddr_"+id, o.PlacedAt, o.PlacedAt, canceled)
	m.collections.add("paycol_"+id, "usd", dollars(o.Total()), raw(dollars(o.Total())), "completed", o.PlacedAt)
	m.collected.add("ordpay_"+id, id, "paycol_"+id)
	m.money(id, o)
	for n, p := range o.Parcels {
		m.parcel(id, key("ful_", display, n), p)
	}
}

func (m medusa) money(order string, o Order) {
	var payment string
	for n, paid := range o.Paid {
		payment = "pay_" + order + "-" + strconv.Itoa(n+1)
		m.payments.add(payment, paid.Amount, raw(paid.Amount), "usd", paid.Method, o.PlacedAt, paid.At, "paycol_"+order, "payses_"+payment)
		m.captures.add("capt_"+payment, paid.Amount, raw(paid.Amount), payment, paid.At)
		m.transactions.add("ordtrx_"+payment, order, paid.Amount, raw(paid.Amount), "usd", "capture", "capt_"+payment, paid.At)
	}
	for n, back := range o.Refunded {
		id := "ref_" + order + "-" + strconv.Itoa(n+1)
		m.refunds.add(id, back.Amount, raw(back.Amount), payment, back.At)
		m.transactions.add("ordtrx_"+id, order, "-"+back.Amount, raw("-"+back.Amount), "usd", "refund", id, back.At)
	}
}

func (m medusa) parcel(order, id string, p Parcel) {
	var delivered any
	if p.Delivered != nil {
		delivered = *p.Delivered
	}
	m.fulfillments.add(id, "sloc_1", p.ShippedAt.Add(-time.Hour), p.ShippedAt, delivered)
	m.labels.add("fulla_"+id, p.Tracking, "#", "#", id)
	m.fulfilled.add("ordful_"+id, order, id)
}

// medusaStatus is what Medusa calls it: an order that is being worked on is pending until it is completed.
func medusaStatus(status string) string {
	switch status {
	case "delivered":
		return "completed"
	case "cancelled":
		return "canceled"
	}
	return "pending"
}

// dollars puts the point back into an amount of cents.
func dollars(cents int64) string {
	s := fmt.Sprintf("%03d", cents)
	return s[:len(s)-2] + "." + s[len(s)-2:]
}

// raw is what Medusa keeps beside every amount.
func raw(amount string) string { return `{"value": "` + amount + `", "precision": 20}` }

// Package testshop is a shop that nobody here designed, for tests: the orders of tau2-bench's retail domain (500 customers, 1,000
// orders; ../shared/data/tau2-retail), loaded into the databases of three shops that have little in common but what happened.
//
//	SQLite    plain tables: amounts in cents, times and states as text
//	Postgres  the tables of Medusa 2.21.2 as its own migrations leave them (../shared/data/schemas), order and return among them;
//	          a refund has no status, and what belongs to an order hangs on link tables without keys
//	MariaDB   flags in tinyint, unsigned ids beyond int64, DECIMAL(12,4), refunds below zero, local times, zero dates
//
// Each comes with the mapping that reads it, with a user who may only read, and with one who may write, to break things with.
//
// What is paid, refunded, sent and cancelled is as the data has it. The data has no times and no customer service: when an order
// was placed, paid, sent, delivered and refunded is made up from its place in the file, the same every time, and there are no
// returns. All amounts are US dollars.
package testshop

import (
	"encoding/json"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/internal/testdb"
)

// Data are the orders, sorted by their numbers.
type Data struct{ Orders []Order }

// Order is one of them, with what was paid, sent and given back for it.
type Order struct {
	Number   string // "#W1234567"
	Customer string
	Email    string
	Address  string
	Status   string // pending, processed, delivered or cancelled
	PlacedAt time.Time
	Paid     []Money
	Refunded []Money
	Parcels  []Parcel
}

// Money is one payment or refund.
type Money struct {
	Amount string // dollars, as the data spells them: 608.91, 12.5
	Method string
	At     time.Time
}

// Parcel is one fulfilment. A cancelled order's parcel has a tracking number like any other, and was never delivered.
type Parcel struct {
	Tracking  string
	ShippedAt time.Time
	Delivered *time.Time // nil while it is under way
}

// Total is what was paid for the order in cents.
func (o Order) Total() (cents int64) {
	for _, p := range o.Paid {
		cents += p.Cents()
	}
	return cents
}

// Cents is the amount without its point. The data never has more than two digits after it.
func (m Money) Cents() int64 {
	whole, part, _ := strings.Cut(m.Amount, ".")
	n, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	if err != nil {
		panic("testshop: " + err.Error()) // unreachable: the data holds amounts
	}
	return n
}

// Shop is the data in one database.
type Shop struct {
	Driver  string // as a mapping names it: sqlite, postgres, mysql
	Mapping []byte // reads it, as whoever may only read
	Reader  string // who that is; for SQLite the path of the file
	Owner   string // who may write, for a test that changes the shop
}

// the file, as far as it is read.
type file struct {
	Users  map[string]user     `json:"users"`
	Orders map[string]purchase `json:"orders"`
}

type user struct {
	Email string `json:"email"`
}

type purchase struct {
	ID       string            `json:"order_id"`
	User     string            `json:"user_id"`
	Address  map[string]string `json:"address"`
	Status   string            `json:"status"`
	Parcels  []fulfillment     `json:"fulfillments"`
	Payments []transaction     `json:"payment_history"`
}

type fulfillment struct {
	Tracking []string `json:"tracking_id"`
}

type transaction struct {
	Kind   string      `json:"transaction_type"`
	Amount json.Number `json:"amount"`
	Method string      `json:"payment_method_id"`
}

// Retail reads the data that lies beside the checkout. Without it the test is skipped, and under CI=true it fails.
func Retail(t testing.TB) Data {
	t.Helper()
	text, err := os.ReadFile(testdb.Shared(t, "data", "tau2-retail", "db.json"))
	if err != nil {
		t.Fatalf("read the retail data: %v", err)
	}
	var all file
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("read the retail data: %v", err)
	}
	var d Data
	for _, p := range all.Orders {
		d.Orders = append(d.Orders, p.order(all.Users[p.User]))
	}
	sort.Slice(d.Orders, func(i, j int) bool { return d.Orders[i].Number < d.Orders[j].Number })
	for i := range d.Orders {
		d.Orders[i].date(i)
	}
	return d
}

func (p purchase) order(by user) Order {
	o := Order{Number: p.ID, Customer: p.User, Email: by.Email, Status: p.Status, Address: oneLine(p.Address)}
	for _, f := range p.Parcels {
		o.Parcels = append(o.Parcels, Parcel{Tracking: strings.Join(f.Tracking, " ")})
	}
	for _, m := range p.Payments {
		money := Money{Amount: m.Amount.String(), Method: m.Method}
		switch m.Kind {
		case "payment":
			o.Paid = append(o.Paid, money)
		case "refund":
			o.Refunded = append(o.Refunded, money)
		}
	}
	return o
}

func oneLine(address map[string]string) string {
	var lines []string
	for _, key := range []string{"address1", "address2", "city", "state", "zip", "country"} {
		if line := address[key]; line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ", ")
}

// date makes up the order's times: one order every 7 hours and 31 minutes of 2026, paid at once, sent the next day, delivered
// three days later, refunded on the sixth day.
func (o *Order) date(place int) {
	o.PlacedAt = time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC).Add(time.Duration(place) * (7*time.Hour + 31*time.Minute))
	for i := range o.Paid {
		o.Paid[i].At = o.PlacedAt.Add(90 * time.Second)
	}
	for i := range o.Refunded {
		o.Refunded[i].At = o.PlacedAt.Add(6 * 24 * time.Hour)
	}
	for i := range o.Parcels {
		o.Parcels[i].ShippedAt = o.PlacedAt.Add(26 * time.Hour)
		if o.Status == "delivered" {
			delivered := o.Parcels[i].ShippedAt.Add(3 * 24 * time.Hour)
			o.Parcels[i].Delivered = &delivered
		}
	}
}

// Cancelled are the orders that were cancelled and refunded although a parcel with a tracking number is on file: where a reader
// of tracking numbers would fight for money that has gone back.
func (d Data) Cancelled() (orders []Order) {
	for _, o := range d.Orders {
		if o.Status == "cancelled" && len(o.Refunded) > 0 && len(o.Parcels) > 0 {
			orders = append(orders, o)
		}
	}
	return orders
}

// named puts the name of the database into a mapping.
func named(t testing.TB, mapping, dsn string) []byte {
	t.Helper()
	quoted, err := json.Marshal(dsn)
	if err != nil {
		t.Fatalf("name the database in the mapping: %v", err)
	}
	return []byte(strings.Replace(mapping, `"DSN"`, string(quoted), 1))
}

package setup

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/desk/merchant/connector"
)

func sent(name, text string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// shopify is the two exports of a shop with one order that was paid and refunded in part, as Shopify writes them: a line for each
// article, and what the order has in common on the first of them.
var shopify = []File{
	sent("orders_export_1.csv", "Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Currency,Total,Created at,Shipping Method,Billing Name,Shipping Street,Id\n"+
		"#1001,ada@example.com,partially_refunded,2026-11-02 10:31:30 +0100,fulfilled,2026-11-03 09:00:00 +0100,EUR,49.90,2026-11-02 10:30:00 +0100,DHL,Ada Obi,\"Weg 1, Berlin\",5001\n"+
		"#1001,ada@example.com,,,,,,,2026-11-02 10:30:00 +0100,,,,\n"),
	sent("orders_export_2.csv", "Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Currency,Total,Created at,Shipping Method,Billing Name,Shipping Street,Id\n"+
		"#1002,zoe@example.com,paid,2026-11-04 10:31:30 +0100,,,EUR,12.00,2026-11-04 10:30:00 +0100,,Zoe,,5002\n"),
	sent("transactions_export_1.csv", "Order,Name,Kind,Gateway,Created At,Status,Amount,Currency,Card Type\n"+
		"5001,#1001,sale,shopify_payments,2026-11-02 10:31:30 +0100,success,49.90,EUR,visa\n"+
		"5001,#1001,refund,shopify_payments,2026-11-05 08:00:00 +0100,failure,20.00,EUR,visa\n"+
		"5001,#1001,refund,shopify_payments,2026-11-06 08:00:00 +0100,success,20.00,EUR,visa\n"),
}

func TestExportsOfAShopAreReadLikeItsDatabase(t *testing.T) {
	dsn, read, err := CopyExports(t.Context(), t.TempDir(), shopify)
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != 3 || read[0].Table != "orders_export" || read[1].Table != "orders_export" || read[2].Table != "transactions_export" || read[2].Rows != 3 {
		t.Errorf("read as %+v", read)
	}
	rights, err := connector.Probe(t.Context(), connector.SQLite, dsn)
	if err != nil || len(rights.Writes) > 0 {
		t.Errorf("the copy can be written to: %+v, %v", rights, err)
	}
	s, err := connector.Open(t.Context(), connector.Mapping{Driver: connector.SQLite, DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := connector.Suggest(c)
	if len(all) == 0 || all[0].Platform != "Shopify exports" {
		t.Fatalf("suggested is %+v", all)
	}
	m := all[0].Mapping
	m.Name, m.DSN, m.Currency = "exports", dsn, "EUR"
	trial, err := Try(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if len(trial.Slow) > 0 {
		t.Errorf("it would be slow: %v", trial.Slow)
	}
	o, err := connector.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	order := o.Order(t.Context(), "#1001")
	if len(order.Order.All) != 1 || len(order.Payments.All) != 1 || order.Payments.All[0].State != "paid" || order.Payments.All[0].Amount.Money.Minor != 4990 {
		t.Errorf("the order is read as %+v", order)
	}
	if refunds := order.Refunds.All; len(refunds) != 2 || refunds[0].State != "not_returned" || refunds[1].State != "returned" || refunds[1].Amount.Money.Minor != 2000 {
		t.Errorf("its refunds are read as %+v", refunds)
	}
	if parcels := order.Fulfillments.All; len(parcels) != 1 || parcels[0].State != "in_transit" {
		t.Errorf("its parcels are read as %+v", parcels)
	}
}

func TestFilesThatCannotBeReadLeaveNoCopy(t *testing.T) {
	for want, files := range map[string][]File{
		"orders.csv: line 2 has 3 cells":                             {sent("orders.csv", "A,B\n1,2,3\n")},
		"orders_1.csv and orders (2).csv would be one table, orders": {sent("orders_1.csv", "A,B\n"), sent("orders (2).csv", "A,C\n")},
		"empty.csv: the file is empty":                               {sent("orders.csv", "A\n1\n"), sent("empty.csv", "")},
	} {
		folder := t.TempDir()
		_, _, err := CopyExports(t.Context(), folder, files)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if left, _ := os.ReadDir(folder); len(left) != 0 {
			t.Errorf("%q left %v", want, left)
		}
	}
}

func TestACopyIsItsOwnersAlone(t *testing.T) {
	dsn, _, err := CopyExports(t.Context(), t.TempDir(), shopify)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(string(dsn))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v), want 0600", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(string(dsn))); len(left) != 1 {
		t.Errorf("beside it lies %v", left)
	}
}

func TestTheTableOfAFile(t *testing.T) {
	for file, want := range map[string]string{
		"orders_export_1.csv": "orders_export", "Orders export 2026-11-30 (2).csv": "orders_export", "refunds.csv": "refunds", "2026.csv": "2026",
		"Rücksendungen-20261130.CSV": "rücksendungen", "sqlite_master.csv": "export_sqlite_master", "....csv": "export_", "x\"; DROP TABLE y.csv": "x_drop_table_y",
	} {
		if got := tableOf(file); got != want {
			t.Errorf("%q is the table %q, want %q", file, got, want)
		}
	}
}

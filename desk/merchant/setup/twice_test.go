package setup

import (
	"strings"
	"testing"

	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
)

// refundsOf are the exports of a shop with an order of 49.90 and what is said of its refunds, in files of these names and lines.
func refundsOf(files ...[2]string) []File {
	all := []File{
		sent("orders.csv", "id,number,total,currency,created_at\n5001,#1001,49.90,EUR,2026-11-02 10:30:00\n"),
		sent("payments.csv", "id,order_id,amount,status,currency,created_at\np1,5001,49.90,paid,EUR,2026-11-02 10:31:00\n"),
	}
	for _, f := range files {
		if f[0] == "orders (1).csv" {
			all[0].Name = f[0]
			all = append(all, refundsOf()[0])
			continue
		}
		all = append(all, sent(f[0], "id,order_id,amount,status,currency,created_at\n"+f[1]))
	}
	return all
}

// readBack is the order of exported files as it is read, by the mapping that is proposed for them.
func readBack(t *testing.T, files []File, states map[connector.Kind]map[string][]string) shop.Records {
	t.Helper()
	dsn, _, err := CopyExports(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	s, err := connector.Open(t.Context(), connector.Mapping{Driver: connector.SQLite, DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Catalog(t.Context())
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	m := connector.Suggest(c)[0].Mapping
	m.Name, m.DSN, m.Currency, m.Unit, m.Zone = "exports", dsn, "EUR", connector.Major, "Europe/Berlin"
	for k, sorted := range states {
		e := m.Entities[k]
		e.States = sorted
		m.Entities[k] = e
	}
	o, err := connector.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	return o.Order(t.Context(), "#1001")
}

var sortedStates = map[connector.Kind]map[string][]string{
	connector.Payment: {"paid": {"paid"}},
	connector.Refund:  {"returned": {"done"}, "in_progress": {"pending"}, "not_returned": {"failed"}},
}

// refunded is what the rules say was returned of an order, as a fact and why it is unknown.
func refunded(records shop.Records) string {
	for _, f := range rules.Judge(rules.Input{Records: records}).Items {
		if f.Name == "refund_returned" {
			return strings.TrimSpace(string(f.State) + " " + f.Value)
		}
	}
	return "not judged"
}

const once, pending, other = "r1,5001,20.00,done,EUR,2026-11-06 08:00:00\n", "r1,5001,20.00,pending,EUR,2026-11-06 08:00:00\n", "r2,5001,5.00,done,EUR,2026-11-08 08:00:00\n"

func TestARefundThatWasExportedTwiceIsCountedOnce(t *testing.T) {
	for _, row := range []struct {
		sentence string
		files    [][2]string
		want     string
	}{
		{"from one file", [][2]string{{"refunds.csv", once}}, "present EUR 20.00, a part"},
		{"from the same file under two names", [][2]string{{"refunds.csv", once}, {"refunds (1).csv", once}}, "present EUR 20.00, a part"},
		{"from the same file sent twice", [][2]string{{"refunds.csv", once}, {"refunds.csv", once}}, "present EUR 20.00, a part"},
		{"from an old and a new export of the same table", [][2]string{{"refunds (1).csv", once + other}, {"refunds.csv", once}}, "present EUR 25.00, a part"},
		{"from exports of which the file of the orders came twice", [][2]string{{"refunds.csv", once}, {"orders (1).csv", ""}}, "present EUR 20.00, a part"},
		{"from two lines of one file", [][2]string{{"refunds.csv", once + once}}, "present EUR 20.00, a part"},
		{"from exports of two times between which it changed: nobody knows", [][2]string{{"refunds.csv", pending}, {"refunds (1).csv", once}}, "unknown"},
		{"from a file that a spreadsheet has written anew: nobody knows", [][2]string{{"refunds.csv", once}, {"refunds (1).csv", "r1,5001,20.0,done,EUR,2026-11-06 08:00\n"}}, "unknown"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			records := readBack(t, refundsOf(row.files...), sortedStates)
			if got := refunded(records); got != row.want {
				t.Errorf("%s, want %s: %+v", got, row.want, records.Refunds)
			}
			if row.want == "unknown" && !strings.Contains(records.Refunds.Unread, "r1") {
				t.Errorf("the reason is %q", records.Refunds.Unread)
			}
		})
	}
}

// transactionsOf are Shopify's exports, whose transactions have no number of their own.
func transactionsOf(files ...[2]string) []File {
	all := []File{shopify[0]}
	for _, f := range files {
		all = append(all, sent(f[0], "Order,Name,Kind,Gateway,Created At,Status,Amount,Currency,Card Type\n5001,#1001,sale,shopify_payments,2026-11-02 10:31:30 +0100,success,49.90,EUR,visa\n"+f[1]))
	}
	return all
}

func TestATransactionWithoutANumberThatWasExportedTwiceIsCountedOnce(t *testing.T) {
	const first, second = "5001,#1001,refund,shopify_payments,2026-11-05 08:00:00 +0100,success,20.00,EUR,visa\n", "5001,#1001,refund,shopify_payments,2026-11-06 08:00:00 +0100,success,20.00,EUR,visa\n"
	failed := strings.Replace(first, "success", "failure", 1)
	for _, row := range []struct {
		sentence string
		files    [][2]string
		want     string
	}{
		{"in the same file under two names", [][2]string{{"transactions_export_1.csv", first}, {"transactions_export_1 (1).csv", first}}, "present EUR 20.00, a part"},
		{"in an old and a new export", [][2]string{{"transactions_export_1.csv", first}, {"transactions_export_2.csv", first + second}}, "present EUR 40.00, a part"},
		{"two of one amount on two days are two", [][2]string{{"transactions_export_1.csv", first + second}}, "present EUR 40.00, a part"},
		{"one that failed and was tried again on the same day are two", [][2]string{{"transactions_export_1.csv", failed + strings.Replace(first, "08:00", "08:05", 1)}}, "present EUR 20.00, a part"},
		{"two equal lines of one file: nobody knows", [][2]string{{"transactions_export_1.csv", first + first}}, "unknown"},
		{"two exports between which it failed: nobody knows", [][2]string{{"transactions_export_1.csv", first}, {"transactions_export_2.csv", failed}}, "unknown"},
		{"a file that a spreadsheet has written anew: nobody knows", [][2]string{{"transactions_export_1.csv", first}, {"transactions_export_2.csv", strings.Replace(first, "2026-11-05 08:00:00 +0100", "05/11/2026 08:00", 1)}}, "unknown"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			if got := refunded(readBack(t, transactionsOf(row.files...), nil)); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

package web_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"countersign/auth"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// exports sends files as the form for a shop without a database does.
func (b *browser) exports(files ...document) page {
	b.t.Helper()
	return b.uploads("/settings/shop/files", files)
}

// copies lists the copies of exported files that there are.
func (o *office) copies() []string {
	o.t.Helper()
	all, err := filepath.Glob(filepath.Join(o.Data, "shop-copy-*"))
	o.must(err)
	return all
}

// answered answers the questions between the files and the rows as an admin would.
func (o *office) answered(b *browser) {
	o.t.Helper()
	b.post("/settings/shop/tables", url.Values{"suggestion": {"0"}}).is(http.StatusSeeOther)
	m := o.draftOfAdmin()
	m.Currency = "EUR"
	o.must(o.setup().Keep(o.t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Rows}))
}

var (
	exportedOrders       = document{"orders_export_1.csv", "Name,Email,Financial Status,Currency,Total,Created at,Id\n#1001,ada@example.com,refunded,EUR,49.90,2026-11-02 10:30:00 +0100,5001\n"}
	exportedTransactions = document{"transactions_export_1.csv", "Order,Name,Kind,Gateway,Created At,Status,Amount,Currency\n5001,#1001,sale,stripe,2026-11-02 10:31:30 +0100,success,49.90,EUR\n" +
		"5001,#1001,refund,stripe,2026-11-06 08:00:00 +0100,success,20.00,EUR\n"}
)

func TestAnExportThatIsSentAgainTakesThePlaceOfTheOneBefore(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	begin := func(from string) {
		t.Helper()
		b.post("/settings/shop/begin", url.Values{"from": {from}}).is(http.StatusSeeOther)
	}
	keeps := func(n int) []string {
		t.Helper()
		all := o.copies()
		if len(all) != n {
			t.Fatalf("kept are %v, want %d", all, n)
		}
		return all
	}
	refunds := func(want ...int64) {
		t.Helper()
		v, _, err := o.setup().Latest(t.Context())
		o.must(err)
		shop, err := connector.Open(t.Context(), v.Mapped)
		o.must(err)
		defer shop.Close()
		all := shop.Order(t.Context(), "#1001").Refunds
		if len(all.All) != len(want) || all.All[0].Amount.Money.Minor != want[0] {
			t.Errorf("refunds are read as %+v, want %v", all, want)
		}
	}
	begin("nothing")
	again := document{"transactions_export_1 (1).csv", exportedTransactions.content}
	sent := b.exports(exportedOrders, exportedTransactions, again)
	b.follow(sent).is(http.StatusOK, "3 files were copied", "transactions_export_1 (1).csv: 2 rows, each of which stands in a file of the same table before it too, and is counted once")
	first := keeps(1)
	b.exports(exportedOrders, exportedTransactions, again).is(http.StatusSeeOther) // before anything was saved
	if second := keeps(1); second[0] == first[0] {
		t.Error("the files that were sent again were not copied")
	}
	o.answered(b)
	b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusSeeOther)
	refunds(2000)
	c := o.as(auth.Analyst).chargeback(o, url.Values{"order_id": {"#1001"}, "network": {"visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"49.90"}, "currency": {"EUR"}})
	b.get("/cases/"+string(c.ID)).is(http.StatusOK, "EUR 20.00 of the EUR 49.90 in dispute was already refunded, EUR 29.90 was not.")
	inForce := keeps(1)

	begin("latest")
	b.exports(exportedOrders, exportedTransactions).is(http.StatusSeeOther)
	keeps(2) // what is in force is read until the new one is saved
	refunds(2000)
	b.post("/settings/shop/discard", nil).is(http.StatusSeeOther)
	if left := keeps(1); left[0] != inForce[0] {
		t.Error("the copy in force is gone")
	}
	begin("latest")
	b.exports(exportedOrders, exportedTransactions).is(http.StatusSeeOther)
	o.answered(b)
	b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusSeeOther)
	if left := keeps(1); left[0] == inForce[0] {
		t.Error("the copy that nothing reads any more is still there")
	}
	refunds(2000)
}

package connector

import (
	"strings"
	"testing"
)

// shaped is a table of columns that are written "name type", the first of them its key.
func shaped(name string, columns ...string) Table {
	t := Table{Name: name}
	for _, c := range columns {
		name, kind, _ := strings.Cut(c, " ")
		t.Columns = append(t.Columns, Column{Name: name, Type: kind, Nullable: len(t.Columns) > 0})
	}
	t.Key = []string{t.Columns[0].Name}
	return t
}

func TestAColumnIsNamedAfterATable(t *testing.T) {
	for column, table := range map[string]string{"charge": "charges", "charge_id": "charges", "chargeNr": "charges", "charge_nr": "charge", "ORDER_NO": "orders", "sale": "sales", "order_number": "orders"} {
		if !after(column, table) {
			t.Errorf("%s is not taken to be named after %s", column, table)
		}
	}
	for column, table := range map[string]string{"charged": "charges", "charge_amount": "charges", "order_total": "orders", "id": "orders", "recharge_id": "charges"} {
		if after(column, table) {
			t.Errorf("%s is taken to be named after %s", column, table)
		}
	}
}

func TestWaysWithoutADeclaredKey(t *testing.T) {
	orders, charges := shaped("sales", "sid integer", "ref text"), shaped("charges", "cid text", "sale integer", "cents integer")
	for _, row := range []struct{ name, column, want string }{
		{"a column that is named after the other table", "charge", "charge → cid, sale"},
		{"with its number", "charge_nr", "charge_nr → cid, sale"},
		{"a column that says nothing", "belongs_to", ""},
	} {
		notes := shaped("credit_notes", "nid text", row.column+" text", "cents integer")
		got := ""
		for _, w := range Ways(Catalog{Driver: string(SQLite), Tables: []Table{charges, notes, orders}}, notes, orders, "sid") {
			if len(w.Join) == 1 {
				got = w.Join[0].On.Left + " → " + w.Join[0].On.Right + ", " + w.Join[0].OrderKey
			}
		}
		if got != row.want {
			t.Errorf("%s: the way is %q, want %q", row.name, got, row.want)
		}
	}
	if ways := Ways(Catalog{Driver: string(SQLite)}, shaped("refunds", "order_id integer", "amount integer"), shaped("orders", "id integer"), "id"); len(ways) != 0 {
		t.Errorf("a table's own key is proposed: %+v", ways)
	}
}

func TestAnAmountIsNeverAColumnThatNamesARow(t *testing.T) {
	for _, row := range []struct {
		columns []string
		want    string
	}{
		{[]string{"nid text", "charge text", "cents integer", "made text"}, "cents"},
		{[]string{"id integer", "amount_text text", "amount numeric(12,2)"}, "amount"},
		{[]string{"id integer", "total text", "amount integer"}, "amount"},
		{[]string{"Id TEXT", "Amount TEXT"}, "Amount"}, // as exported files have it
		{[]string{"id integer", "refund_total_eur decimal(10,2)"}, "refund_total_eur"},
		{[]string{"amount integer", "note text"}, ""},
		{[]string{"id integer", "amount_id integer", "note text"}, ""},
	} {
		if got := EntityOf(Refund, shaped("refunds", row.columns...)).Columns["amount"]; got != row.want {
			t.Errorf("of %v the amount is %q, want %q", row.columns, got, row.want)
		}
	}
}

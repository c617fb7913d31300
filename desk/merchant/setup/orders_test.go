package setup_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/internal/testshop"
)

// someShop is a shop whose credit notes name a charge, which declares no keys, and where no two columns are called alike.
const someShop = `
CREATE TABLE sales(sid integer primary key, ref text, bought text, stage text, gross integer, cur text);
CREATE TABLE charges(cid text primary key, sale integer, cents integer, state text, at text);
CREATE TABLE credit_notes(nid text primary key, charge text, cents integer, state text, made text);
INSERT INTO sales VALUES (1,'W-1001','2026-10-02 10:00:00','shipped',4990,'EUR'), (2,'W-1002','2026-10-05 11:30:00','shipped',12900,'EUR');
INSERT INTO charges VALUES ('ch_1',1,4990,'OK','2026-10-02 10:01:00'), ('ch_2',2,12900,'OK','2026-10-05 11:31:00');
INSERT INTO credit_notes VALUES ('cn_1','ch_2',12900,'DONE','2026-10-20 10:00:00'), ('cn_2','ch_1',500,'DONE','2026-10-21 10:00:00');`

func fileOf(t *testing.T, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	run(t, "sqlite", path, statements)
	return path
}

func run(t *testing.T, driver, dsn, statements string) {
	t.Helper()
	db, err := sql.Open(map[string]string{"postgres": "pgx"}[driver]+strings.TrimPrefix(driver, "postgres"), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// someMapping reads that shop, the credit notes as way says.
func someMapping(path string, way connector.Entity) connector.Mapping {
	way.Table = "credit_notes"
	way.Columns = map[string]string{"id": "nid", "amount": "cents", "status": "state"}
	way.States = map[string][]string{"returned": {"DONE"}}
	return connector.Mapping{Name: "shop", Driver: connector.SQLite, DSN: connector.DSN(path), Currency: "EUR", Unit: connector.Minor, Zone: "UTC", Entities: map[connector.Kind]connector.Entity{
		connector.Order:  {Table: "sales", Key: "sid", Columns: map[string]string{"number": "ref", "total": "gross"}},
		connector.Refund: way}}
}

func TestWhereNoWayLeadsToOrdersNoneIsAskedFor(t *testing.T) {
	path := fileOf(t, someShop+"UPDATE credit_notes SET charge = 'gone'")
	m := someMapping(path, connector.Entity{OrderKey: "charge"})
	_, err := setup.Try(t.Context(), m)
	complains(t, err, "entities.refund.order_key", "none leads to an order: charge of credit_notes holds \"gone\"",
		"no way to orders was found from this table: choose the one that has the refunds of these orders, or none, which leaves refunds unknown")
	if err := setup.Misled(t.Context(), m); err != nil {
		t.Errorf("a way that no other betters is refused before its rows are looked at: %v", err)
	}
}

func TestRefundsThatLeadToNoOrderAreRefused(t *testing.T) {
	path := fileOf(t, someShop)
	for column, holds := range map[string]string{"nid": "cn_", "charge": "ch_"} {
		_, err := setup.Try(t.Context(), someMapping(path, connector.Entity{OrderKey: column}))
		complains(t, err, "entities.refund.order_key", "of 2 refunds that were looked at, none leads to an order: "+column+" of credit_notes holds \""+holds, "and that is in no sid of sales",
			"choose another column, or a way over another table", "charge is named after charges, and there sale is named like the key of an order: 2 of 2 rows lead to an order")
	}
	over := connector.Joins{{Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	trial, err := setup.Try(t.Context(), someMapping(path, connector.Entity{Join: over}))
	if err != nil || len(trial.Lost) > 0 {
		t.Fatalf("over the charges: %v, %v", trial.Lost, err)
	}
	lines := setup.Lines(connector.Refund, trial.Rows[connector.Refund])
	if len(lines) != 2 || lines[0].Order != "W-1002" || lines[1].Order != "W-1001" || lines[0].Lost {
		t.Errorf("shown to be confirmed: %+v", lines)
	}
	over[0].On.Right = "state" // joins nothing: without a look at the orders, the table would seem to have no row that counts
	_, err = setup.Try(t.Context(), someMapping(path, connector.Entity{Join: over}))
	complains(t, err, "entities.refund.join", "none leads to an order")
}

func complains(t *testing.T, err error, field string, parts ...string) {
	t.Helper()
	var e *countersign.Error
	if !errors.As(err, &e) || e.Field != field || e.Kind != countersign.Unprocessed {
		t.Errorf("the error is %v, want one about %s", err, field)
		return
	}
	for _, part := range parts {
		if !strings.Contains(e.Message+" "+e.Hint, part) {
			t.Errorf("%q (%s) does not say %q", e.Message, e.Hint, part)
		}
	}
}

func TestRefundsOfWhichSomeLeadToNoOrderAreShownBeforeAnybodyConfirms(t *testing.T) {
	path := fileOf(t, someShop+`INSERT INTO charges VALUES ('ch_3',3,700,'OK','2026-10-07 10:00:00'); INSERT INTO credit_notes VALUES ('cn_0','ch_3',700,'DONE','2026-10-22 10:00:00')`)
	over := connector.Joins{{Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	trial, err := setup.Try(t.Context(), someMapping(path, connector.Entity{Join: over}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `1 of 3 refunds lead to no order: sale of charges holds "3", and that is in no sid of sales; that row is cn_0`; len(trial.Lost) != 1 || trial.Lost[0] != want {
		t.Errorf("said is %q, want %q", trial.Lost, want)
	}
	lost := 0
	for _, l := range setup.Lines(connector.Refund, trial.Rows[connector.Refund]) {
		if l.Lost {
			lost++
			if l.Order != "3" || l.Problem() != "there is no such order" {
				t.Errorf("the row is shown as %+v", l)
			}
		}
	}
	if lost != 1 {
		t.Errorf("%d rows are shown to have no order", lost)
	}
}

func TestAFewOfTheRowsThatLeadToNoOrderAreNamed(t *testing.T) {
	over := connector.Joins{{Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	for _, row := range []struct{ rows, want string }{
		{"('cn_9','gone',1,'DONE',''), ('cn_8','gone',1,'DONE','')", "2 of 4 refunds lead to no order: sale of charges holds nothing there; these rows are cn_8 and cn_9"},
		{"('cn_9','x',1,'DONE',''), ('cn_8','x',1,'DONE',''), ('cn_7','x',1,'DONE',''), ('cn_6','x',1,'DONE','')",
			"4 of 6 refunds lead to no order: sale of charges holds nothing there; among these rows are cn_6, cn_7 and cn_8"},
	} {
		m := someMapping(fileOf(t, someShop+"INSERT INTO credit_notes VALUES "+row.rows), connector.Entity{Join: over})
		if trial, err := setup.Try(t.Context(), m); err != nil || len(trial.Lost) != 1 || trial.Lost[0] != row.want {
			t.Errorf("said is %q, %v, want %q", trial.Lost, err, row.want)
		}
	}
}

// Refunds 1 and 2 are not those of orders 1 and 2, and no look at the orders can tell.
func TestARefundThatIsNamedLikeItsOrderIsDoubted(t *testing.T) {
	path := fileOf(t, someShop+`DROP TABLE credit_notes; CREATE TABLE credit_notes(nid integer primary key, charge text, cents integer, state text);
		INSERT INTO credit_notes VALUES (1,'ch_2',12900,'DONE'), (2,'ch_1',500,'DONE')`)
	trial, err := setup.Try(t.Context(), someMapping(path, connector.Entity{OrderKey: "nid"}))
	if err != nil || len(trial.Lost) != 1 || !strings.HasPrefix(trial.Lost[0], "refunds find their order by their own key, nid of credit_notes") {
		t.Errorf("%q, %v", trial.Lost, err)
	}
}

func TestATableWithoutARowSaysNothingAboutItsWay(t *testing.T) {
	path := fileOf(t, someShop+`DELETE FROM credit_notes`)
	if trial, err := setup.Try(t.Context(), someMapping(path, connector.Entity{OrderKey: "nid"})); err != nil || len(trial.Lost) > 0 {
		t.Errorf("%v, %v", trial.Lost, err)
	}
}

func TestAReferenceThatMakesTwoRefundsOneIsRefused(t *testing.T) {
	over := connector.Joins{{Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	m := someMapping(fileOf(t, someShop), connector.Entity{Join: over})
	for column, shared := range map[string]string{"charge": "one reference stands on more than one row: they are read as one refund, of which the latest counts", "nid": ""} {
		m.Entities[connector.Refund].Columns["reference"] = column
		run(t, "sqlite", string(m.DSN), "INSERT OR IGNORE INTO credit_notes VALUES ('cn_3', 'ch_2', 12900, 'FAILED', '2026-10-22 10:00:00')")
		if trial, err := setup.Try(t.Context(), m); err != nil || trial.Shared != shared {
			t.Errorf("%s: said is %q, %v", column, trial.Shared, err)
		}
	}
	m.Entities[connector.Refund].Columns["reference"] = "state"
	_, err := setup.Try(t.Context(), m)
	complains(t, err, "entities.refund.columns.reference", "state of the refunds cn_1 and cn_2 of two orders is \"DONE\", so it is no reference of one refund", "or leave the reference out")
}

func TestAShopIsHealthyUntilItHasAStatusThatNobodySorted(t *testing.T) {
	over := connector.Joins{{Schema: "main", Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	m := someMapping(fileOf(t, someShop), connector.Entity{Schema: "main", Join: over})
	if unsorted, err := setup.Health(t.Context(), m); err != nil || len(unsorted) > 0 {
		t.Fatalf("%q, %v", unsorted, err)
	}
	run(t, "sqlite", string(m.DSN), "INSERT INTO credit_notes VALUES ('cn_3', 'ch_2', 100, ' VOID ', ''), ('cn_4', 'ch_2', 100, 'VOID', ''), ('cn_5', 'ch_2', 100, '', '')")
	if unsorted, err := setup.Health(t.Context(), m); err != nil || strings.Join(unsorted, ", ") != `refund "VOID" (2)` {
		t.Errorf("%q, %v", unsorted, err)
	}
}

func TestWhatAMappingLeavesUnknownIsSaid(t *testing.T) {
	over := connector.Joins{{Table: "charges", On: connector.On{Left: "charge", Right: "cid"}, OrderKey: "sale"}}
	m := someMapping(fileOf(t, someShop), connector.Entity{Join: over})
	m.Entities[connector.Payment] = connector.Entity{Table: "charges", OrderKey: "sale", Columns: map[string]string{"id": "cid", "amount": "cents", "status": "state"}, States: map[string][]string{"paid": {"OK"}}}
	missing := []string{"no table of fulfilments is named: whether anything arrived is unknown, and no delivery can be shown; say where they are in entities.fulfillment",
		"no table of returns is named: whether anything was returned is unknown, and no recommendation stands; say where they are in entities.return"}
	says := func(want ...string) {
		t.Helper()
		got, err := setup.Unknown(t.Context(), m)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	says(missing...)
	run(t, "sqlite", string(m.DSN), "UPDATE charges SET state = 'captured' WHERE cid = 'ch_1'; INSERT INTO charges VALUES ('ch_3', 2, 100, 'lost', ''), ('ch_4', 2, 100, 'captured', '')")
	const payments = `payment: the statuses "captured" (2 rows) and "lost" (1 row) are in no list, so such rows are unknown and the order goes to a person; ` +
		"put what you understand of them into paid, pending or failed of entities.payment.states"
	says(append([]string{payments}, missing...)...)
	delete(m.Entities, connector.Refund)
	says(payments, missing[0], "no table of refunds is named: whether money went back is unknown, and no recommendation stands; say where they are in entities.refund", missing[1])
	run(t, "sqlite", string(m.DSN), "UPDATE charges SET state = cid")
	if got, err := setup.Unknown(t.Context(), m); err != nil || !strings.HasPrefix(got[0], `payment: the statuses "ch_1" (1 row), "ch_2" (1 row), "ch_3" (1 row) and "ch_4" (1 row) are in no list`) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEveryRowOfAShopThatNobodyHereDesignedLeadsToItsOrder(t *testing.T) {
	data := testshop.Data{Orders: testshop.Retail(t).Orders[:60]}
	for name, row := range map[string]struct {
		fill   func(testing.TB, testshop.Data) testshop.Shop
		orders string // makes every payment another order's
		refund string // makes one refund lead nowhere
		column string // of the refunds, that names no order
	}{
		"SQLite":     {testshop.SQLite, "UPDATE orders SET id = id + 5000", "UPDATE refunds SET order_id = 9999 WHERE id = (SELECT MIN(id) FROM refunds)", "id"},
		"PostgreSQL": {testshop.Postgres, "UPDATE order_payment_collection SET order_id = 'other_' || order_id", "ALTER TABLE refund DROP CONSTRAINT refund_payment_id_foreign; UPDATE refund SET payment_id = 'pay_none' WHERE id = (SELECT MIN(id) FROM refund)", ""},
		"MariaDB":    {testshop.MariaDB, "UPDATE shop_order SET order_id = order_id - 5000", "UPDATE shop_refund SET order_id = 7 LIMIT 1", "refund_id"},
	} {
		t.Run(name, func(t *testing.T) {
			shop := row.fill(t, data)
			m, err := connector.ParseMapping(shop.Mapping)
			if err != nil {
				t.Fatal(err)
			}
			trial, err := setup.Try(t.Context(), m)
			if err != nil || len(trial.Lost) > 0 {
				t.Fatalf("as it is: %v, %v", trial.Lost, err)
			}
			for _, k := range m.Kinds() {
				for _, l := range setup.Lines(k, trial.Rows[k]) {
					if l.Lost || !strings.HasPrefix(l.Order, "#W") {
						t.Errorf("a row of %s is shown as %+v", k, l)
					}
				}
			}
			if row.column != "" {
				wrong, _ := connector.ParseMapping(shop.Mapping)
				e := wrong.Entities[connector.Refund]
				e.OrderKey = row.column
				wrong.Entities[connector.Refund] = e
				_, err := setup.Try(t.Context(), wrong)
				complains(t, err, "entities.refund.order_key", "none leads to an order", "this one leads to orders: order_id is ")
			}
			run(t, shop.Driver, shop.Owner, row.refund)
			trial, err = setup.Try(t.Context(), m)
			if err != nil || len(trial.Lost) != 1 || !strings.HasPrefix(trial.Lost[0], "1 of ") || !strings.Contains(trial.Lost[0], "refunds lead to no order") {
				t.Errorf("with one refund of nothing: %q, %v", trial.Lost, err)
			}
			run(t, shop.Driver, shop.Owner, row.orders)
			_, err = setup.Try(t.Context(), m)
			complains(t, err, "entities.payment."+map[bool]string{true: "join", false: "order_key"}[len(m.Entities[connector.Payment].Join) > 0], "none leads to an order")
		})
	}
}

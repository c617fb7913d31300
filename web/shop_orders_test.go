package web_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// someShop has credit notes that name a charge and no order, declares no keys, and calls nothing by the same name twice.
const someShop = `
CREATE TABLE sales(sid integer primary key, ref text, bought text, stage text, gross integer, cur text);
CREATE TABLE charges(cid text primary key, sale integer, cents integer, state text, at text);
CREATE TABLE parcels(pid integer primary key, sale integer, carrier text, track text, state text, sent text, arrived text);
CREATE TABLE credit_notes(nid text primary key, CHARGE text, cents integer, state text, made text);
INSERT INTO sales VALUES (1,'W-1001','2026-10-02 10:00:00','shipped',4990,'EUR'), (2,'W-1002','2026-10-05 11:30:00','shipped',12900,'EUR');
INSERT INTO charges VALUES ('ch_1',1,4990,'OK','2026-10-02 10:01:00'), ('ch_2',2,12900,'OK','2026-10-05 11:31:00');
INSERT INTO parcels VALUES (1,1,'DHL','JD1','DELIVERED','2026-10-03 08:00:00','2026-10-05 14:00:00');
INSERT INTO credit_notes VALUES ('cn_1','ch_2',12900,'DONE','2026-10-20 10:00:00'), ('cn_2','ch_1',500,'DONE','2026-10-21 10:00:00');`

// begun puts somebody before the tables of that shop, where the credit notes name a charge in a column of that name.
func (o *office) begun(charge string) *browser {
	o.t.Helper()
	path := filepath.Join(o.t.TempDir(), "shop.db")
	change(o.t.(*testing.T), "sqlite", path, strings.ReplaceAll(someShop, "CHARGE", charge))
	m := connector.Mapping{Name: "shop", Driver: connector.SQLite, DSN: connector.DSN(path)}
	o.must(o.setup().Keep(o.t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Tables}))
	return o.as(auth.Admin)
}

var someTables = url.Values{"order": {"/sales"}, "payment": {"/charges"}, "fulfillment": {"/parcels"}, "refund": {"/credit_notes"}}

func (o *office) draftOfAdmin() connector.Mapping {
	o.t.Helper()
	d, _, err := o.setup().Draft(o.t.Context(), o.people[auth.Admin].ID)
	o.must(err)
	return d.Mapping
}

func TestRefundsThatNameAChargeFindTheirOrderOverIt(t *testing.T) {
	o := newOffice(t)
	b := o.begun("charge")
	b.post("/settings/shop/tables", someTables).is(http.StatusSeeOther)
	m := o.draftOfAdmin()
	if got := m.Entities[connector.Refund]; got.OrderKey != "" || len(got.Join) != 1 || got.Join[0].Table != "charges" || got.Join[0].OrderKey != "sale" {
		t.Errorf("proposed for refunds is %+v", got)
	}
	if got := m.Entities[connector.Refund].Columns["amount"]; got != "cents" {
		t.Errorf("proposed for the amount is %q", got)
	}
	if got := m.Entities[connector.Payment].OrderKey; got != "sale" {
		t.Errorf("proposed for payments is %q", got)
	}
	b.get("/settings/shop/columns").is(http.StatusOK, "2 of 2 rows lead to an order: charge is named after charges, and there sale is named like the key of an order")

	// The mistake that was made: the credit notes' own key, or the charge, taken for an order.
	e := m.Entities[connector.Refund]
	e.Join, e.States = nil, map[string][]string{"returned": {"DONE"}}
	for _, k := range []connector.Kind{connector.Payment, connector.Fulfillment} {
		delete(m.Entities, k)
	}
	m.Currency, m.Unit, m.Zone = "EUR", connector.Minor, "UTC"
	for _, column := range []string{"nid", "charge"} {
		e.OrderKey = column
		m.Entities[connector.Refund] = e
		o.must(o.setup().Keep(t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Rows}))
		b.get("/settings/shop/rows").is(http.StatusUnprocessableEntity, "Refunds, How a row finds its order: of 2 refunds that were looked at, none leads to an order: "+column+" of credit_notes holds")
		b.get("/settings/shop/rows").is(http.StatusUnprocessableEntity, "Choose other columns")
		b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusUnprocessableEntity, "none leads to an order")
		o.unsaved()
	}
}

func TestAWayThatOnlyValuesSpeakForIsOfferedAndNotChosen(t *testing.T) {
	o := newOffice(t)
	b := o.begun("belongs_to")
	b.post("/settings/shop/tables", someTables).is(http.StatusSeeOther)
	if got := o.draftOfAdmin().Entities[connector.Refund]; got.OrderKey != "" || len(got.Join) != 0 {
		t.Errorf("proposed for refunds is %+v", got)
	}
	p := b.get("/settings/shop/columns")
	p.is(http.StatusOK, "choose a way: none is certain")
	p.is(http.StatusOK, "2 of 2 rows lead to an order: what is in belongs_to is in cid of charges, and there sale is named like the key of an order")
	form := url.Values{"order.way": {"sid"}, "payment.way": {`{"order_key":"sale"}`}, "payment.id": {"cid"}, "payment.amount": {"cents"}, "fulfillment.way": {`{"order_key":"sale"}`},
		"fulfillment.id": {"pid"}, "refund.way": {""}, "refund.id": {"nid"}, "refund.amount": {"cents"}}
	b.post("/settings/shop/columns", form).is(http.StatusBadRequest, "Refunds: missing: which column says whose order it is?")
}

// bestellungen is a shop whose columns are named after no table and whose keys nobody declared: what a credit note has of its order
// is the payment that it gives back, and what a payment has of it is a number.
const bestellungen = `
CREATE TABLE bestellung(nr integer primary key, mail text, summe_cent integer);
CREATE TABLE zahlung(zid integer KEY, bestell_nr integer, betrag_cent integer, stand text);
CREATE TABLE gutschrift(gid integer primary key, zid integer, betrag_cent integer, stand text);
INSERT INTO bestellung VALUES (5001,'a@example.com',4990), (5002,'b@example.com',12900);
INSERT INTO zahlung VALUES (11,5001,4990,'OK'), (12,5002,12900,'OK');
INSERT INTO gutschrift VALUES (1,12,12900,'OK'), (2,11,500,'OK');`

func TestAWayOverATableWhoseOwnWayOnlyValuesSpeakForIsOffered(t *testing.T) {
	for name, columns := range map[string][]string{"the payments have a key": {"KEY", "primary key"}, "they have none": {"KEY", ""}, "their columns have no types": {"integer KEY", "", "r integer", "r", "zid integer", "zid"}} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			path := filepath.Join(t.TempDir(), "shop.db")
			change(t, "sqlite", path, strings.NewReplacer(append(columns, "nr integer primary key", "nr integer primary key")...).Replace(bestellungen))
			o.must(o.setup().Keep(t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: connector.Mapping{Name: "shop", Driver: connector.SQLite, DSN: connector.DSN(path)}, Step: setup.Tables}))
			b := o.as(auth.Admin)
			b.post("/settings/shop/tables", url.Values{"order": {"/bestellung"}, "payment": {"/zahlung"}, "refund": {"/gutschrift"}}).is(http.StatusSeeOther)
			if got := o.draftOfAdmin().Entities[connector.Refund]; got.OrderKey != "" || len(got.Join) != 0 {
				t.Errorf("proposed for refunds is %+v", got)
			}
			b.get("/settings/shop/columns").is(http.StatusOK, "2 of 2 rows lead to an order: by what is in bestell_nr",
				"2 of 2 rows lead to an order: zahlung has zid too, and there by what is in bestell_nr", "choose a way: none is certain")

			form := url.Values{"order.way": {"nr"}, "payment.way": {`{"order_key":"bestell_nr"}`}, "payment.id": {"zid"}, "payment.amount": {"betrag_cent"},
				"refund.id": {"gid"}, "refund.amount": {"betrag_cent"}, "refund.way": {`{"order_key":"zid"}`}}
			b.post("/settings/shop/columns", form).is(http.StatusUnprocessableEntity, "Refunds, How a row finds its order: of 2 refunds that were looked at, none leads to an order: zid of gutschrift holds",
				"Choose another column, or a way over another table; this one leads to orders: zahlung has zid too, and there by what is in bestell_nr: 2 of 2 rows lead to an order.")
			form.Set("refund.way", `{"join":[{"table":"zahlung","on":{"left":"zid","right":"zid"},"order_key":"bestell_nr"}]}`)
			b.post("/settings/shop/columns", form).is(http.StatusSeeOther)
		})
	}
}

func TestAWayThatNoOtherBettersIsLeftToTheRows(t *testing.T) {
	o := newOffice(t)
	b := o.begun("charge")
	b.post("/settings/shop/tables", someTables).is(http.StatusSeeOther)
	m := o.draftOfAdmin()
	change(t, "sqlite", string(m.DSN), "UPDATE credit_notes SET charge = 'gone'")
	form := url.Values{"order.way": {"sid"}, "payment.way": {`{"order_key":"sale"}`}, "payment.id": {"cid"}, "payment.amount": {"cents"}, "fulfillment.way": {`{"order_key":"sale"}`},
		"fulfillment.id": {"pid"}, "refund.way": {`{"order_key":"charge"}`}, "refund.id": {"nid"}, "refund.amount": {"cents"}}
	b.post("/settings/shop/columns", form).is(http.StatusSeeOther)
}

func TestTheTimesOfAColumnAreItsOwn(t *testing.T) {
	o := newOffice(t)
	b := o.begun("charge")
	b.post("/settings/shop/tables", someTables).is(http.StatusSeeOther)
	m := o.draftOfAdmin()
	m.Entities[connector.Fulfillment].Columns["shipped_at"], m.Entities[connector.Fulfillment].Columns["delivered_at"] = "sent", "arrived"
	o.must(o.setup().Keep(t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Money}))
	p := b.get("/settings/shop/money")
	p.is(http.StatusOK, "sent 2026-10-03 08:00:00")
	p.is(http.StatusOK, "arrived 2026-10-05 14:00:00")
}

func TestTheRowsSayWhoseOrderTheyAreAndWhichHaveNone(t *testing.T) {
	o := newOffice(t)
	b := o.begun("charge")
	b.post("/settings/shop/tables", someTables).is(http.StatusSeeOther)
	m := o.draftOfAdmin()
	change(t, "sqlite", string(m.DSN), "INSERT INTO charges VALUES ('ch_3',77,700,'OK',''); INSERT INTO credit_notes VALUES ('cn_3','ch_3',700,'DONE','')")
	delete(m.Entities, connector.Fulfillment)
	for k, states := range map[connector.Kind]map[string][]string{connector.Payment: {"paid": {"OK"}}, connector.Refund: {"returned": {"DONE"}}} {
		e := m.Entities[k]
		e.States = states
		m.Entities[k] = e
	}
	e := m.Entities[connector.Order]
	e.Columns["number"] = "ref"
	m.Currency, m.Unit, m.Zone = "EUR", connector.Minor, "UTC"
	o.must(o.setup().Keep(t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Rows}))
	p := b.get("/settings/shop/rows")
	p.is(http.StatusOK, `1 of 3 refunds lead to no order: sale of charges holds "77", and that is in no sid of sales; that row is cn_3.`)
	p.is(http.StatusOK, "W-1002 cn_1")
	p.is(http.StatusOK, "77 cn_3")
	p.is(http.StatusOK, "There is no such order")
	p.is(http.StatusOK, "No table of returns is named: whether anything was returned is unknown, and no recommendation stands.", "No table of fulfilments is named")

	b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusSeeOther)
	p = b.get("/settings/shop")
	p.is(http.StatusOK, "Import the policies")
	p.is(http.StatusOK, "Open a chargeback")
	p.is(http.StatusOK, "confirmed by "+o.people[auth.Admin].Name)
	_, err := o.setup().Save(t.Context(), m, countersign.Actor{Kind: countersign.CLI, ID: "root"}, countersign.Actor{Kind: countersign.CLI, ID: "root"})
	o.must(err)
	b.get("/settings/shop").is(http.StatusOK, "applied on the command line by root; nobody has looked at the rows")
}

func TestTimesAreInTheZoneOfWhoeverBeginsUntilTheySayOtherwise(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	b.post("/settings/me", url.Values{"name": {"Ada Obi"}, "zone": {"Africa/Lagos"}}).is(http.StatusSeeOther)
	b.post("/settings/shop/begin", url.Values{"from": {"nothing"}}).is(http.StatusSeeOther)
	if got := o.draftOfAdmin().Zone; got != "Africa/Lagos" {
		t.Errorf("the zone is %q, want that of whoever began", got)
	}
}

package web_test

import (
	"database/sql"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"countersign/auth"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/internal/testshop"
)

// drafted puts somebody before the last question, with the mapping of a shop.
func (o *office) drafted(shop testshop.Shop) *browser {
	o.t.Helper()
	m, err := connector.ParseMapping(shop.Mapping)
	o.must(err)
	o.must(o.setup().Keep(o.t.Context(), o.people[auth.Admin].ID, setup.Draft{Mapping: m, Step: setup.Rows}))
	return o.as(auth.Admin)
}

func change(t *testing.T, driver, dsn, statement string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func small(t *testing.T) testshop.Data { return testshop.Data{Orders: testshop.Retail(t).Orders[:40]} }

func TestAShopThatChangesWhileItIsBeingConnected(t *testing.T) {
	o := newOffice(t)
	shop := testshop.Postgres(t, small(t))
	b := o.drafted(shop)
	b.get("/settings/shop/rows").is(http.StatusOK, "Rows of the shop as they will be read")

	o.run(t, "a column that was dropped is named, and what to do", func(t *testing.T) {
		change(t, "pgx", shop.Owner, "ALTER TABLE payment DROP COLUMN captured_at")
		p := b.get("/settings/shop/rows")
		p.is(http.StatusUnprocessableEntity, "Payments, When it was paid: payment has no column captured_at that this role may read.")
		b.get("/settings/shop/columns").is(http.StatusOK, "captured_at · not there any more")
		b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusUnprocessableEntity, "payment has no column captured_at")
		o.unsaved()
	})
	o.run(t, "a table that was dropped too", func(t *testing.T) {
		change(t, "pgx", shop.Owner, "DROP TABLE return_reason, return CASCADE")
		b.get("/settings/shop/columns").is(http.StatusOK, "not there any more")
		b.get("/settings/shop/tables").is(http.StatusOK, "Which tables hold what?")
	})
}

func (o *office) unsaved() {
	o.t.Helper()
	if _, ok, err := o.setup().Latest(o.t.Context()); ok || err != nil {
		o.t.Errorf("a mapping was saved: %v, %v", ok, err)
	}
}

// relay passes connections on to a server until it is stopped.
type relay struct {
	net.Listener
	mu    sync.Mutex
	lines []net.Conn
}

func relayTo(t *testing.T, server string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	t.Cleanup(r.stop)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			r.mu.Lock()
			r.lines = append(r.lines, near, far)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(near, far); near.Close() }()
			go func() { _, _ = io.Copy(far, near); far.Close() }()
		}
	}()
	return r
}

func (r *relay) stop() {
	r.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.lines {
		line.Close()
	}
}

func TestAShopThatStopsAnswering(t *testing.T) {
	for _, row := range []struct {
		name string
		fill func(testing.TB, testshop.Data) testshop.Shop
	}{{"PostgreSQL", testshop.Postgres}, {"MariaDB", testshop.MariaDB}} {
		t.Run(row.name, func(t *testing.T) {
			o := newOffice(t)
			shop := row.fill(t, small(t))
			parts := partsOf(t, shop.Driver, shop.Reader)
			line := relayTo(t, net.JoinHostPort(parts.Host, parts.Port))
			_, port, _ := net.SplitHostPort(line.Addr().String())
			shop.Mapping = []byte(strings.ReplaceAll(string(shop.Mapping), ":"+parts.Port, ":"+port))
			b := o.drafted(shop)
			b.get("/settings/shop/states").is(http.StatusOK, "What does a status of this shop mean?")
			line.stop()
			for _, step := range []string{"tables", "columns", "money", "states", "rows"} {
				p := b.get("/settings/shop/" + step)
				p.is(http.StatusServiceUnavailable, "The shop's database does not answer.")
				p.is(http.StatusServiceUnavailable, "See whether it runs and can be reached from here, then try again.")
				p.is(http.StatusServiceUnavailable, "What you answered so far is kept.")
			}
			b.post("/settings/shop/rows", url.Values{"name": {"shop"}, "right": {"yes"}}).is(http.StatusServiceUnavailable, "does not answer")
			o.unsaved()
			o.conceals(parts.Password)
		})
	}
}

func TestNothingIsSavedThatNobodyConfirmed(t *testing.T) {
	o := newOffice(t)
	b := o.drafted(testshop.SQLite(t, small(t)))
	b.post("/settings/shop/rows", url.Values{"name": {"shop"}}).is(http.StatusBadRequest, "Nothing is saved before somebody says that the rows are read rightly.")
	b.post("/settings/shop/rows", url.Values{"name": {""}, "right": {"yes"}}).is(http.StatusBadRequest, "Name a mapping has a name of 1 to 64 letters.")
	o.unsaved()
	b.post("/settings/shop/rows", url.Values{"name": {"our shop"}, "right": {"yes"}}).is(http.StatusSeeOther)
	v, ok, err := o.setup().Latest(t.Context())
	if err != nil || !ok || v.Name != "our shop" || v.ConfirmedBy != "person:"+o.people[auth.Admin].ID {
		t.Errorf("saved is %+v, %v, %v", v, ok, err)
	}
}

// A status that may mean two things is a column of the shop's; whatever is written there stays a text.
func TestAValueOfTheShopIsSortedAsItIs(t *testing.T) {
	const odd = "\u202e<script>'\"&amp; "
	o := newOffice(t)
	shop := testshop.SQLite(t, small(t))
	change(t, "sqlite", shop.Owner, "UPDATE payments SET status = '"+strings.ReplaceAll(odd, "'", "''")+"' WHERE id = 'P1-1'")
	b := o.drafted(shop)
	p := b.get("/settings/shop/states")
	p.is(http.StatusOK, "⟨U+202E⟩<script>'\"&amp;")
	form := url.Values{"payment.value": {"captured", strings.TrimSpace(odd)}, "payment.means": {"paid", "failed"}, "fulfillment.value": {"sent"}, "fulfillment.means": {"in_transit"},
		"refund.value": {"done"}, "refund.means": {"returned"}, "return.value": {"open"}, "return.means": {"open"}}
	b.post("/settings/shop/states", form).is(http.StatusSeeOther)
	d, _, err := o.setup().Draft(t.Context(), o.people[auth.Admin].ID)
	if got := d.Mapping.Entities[connector.Payment].States["failed"]; err != nil || len(got) != 1 || got[0] != strings.TrimSpace(odd) {
		t.Errorf("kept is %q, %v", got, err)
	}
	b.get("/settings/shop/rows").is(http.StatusOK, "failed, or cancelled")
}

func TestADraftIsItsMakersOwn(t *testing.T) {
	o := newOffice(t)
	o.drafted(testshop.SQLite(t, small(t)))
	other := o.person("ngozi", auth.Admin)
	if d, begun, err := o.setup().Draft(t.Context(), other.ID); begun || err != nil {
		t.Errorf("somebody else has %+v, %v", d, err)
	}
}

func TestABadAnswerKeepsTheQuestion(t *testing.T) {
	o := newOffice(t)
	b := o.drafted(testshop.SQLite(t, small(t)))
	for _, row := range []struct {
		step   string
		form   url.Values
		status int
		says   string
	}{
		{"connect", url.Values{"driver": {"postgres"}}, 400, "Host missing."},
		{"connect", url.Values{"driver": {"sqlite"}, "file": {"/nowhere/shop.db"}}, 422, "There is no such file."},
		{"connect", url.Values{"driver": {"postgres"}, "dsn": {"postgres://x:canary@[::1"}}, 400, "This is not a connection string for PostgreSQL."},
		{"tables", url.Values{"payment": {"/payments"}}, 400, "Orders: missing: without the table of orders nothing can be found."},
		{"tables", url.Values{"suggestion": {"99"}}, 409, "The shop's tables have changed since this page was opened."},
		{"tables", url.Values{"order": {"/no such table"}}, 409, "Orders: the table is not there any more."},
		{"columns", url.Values{"order.way": {"id"}}, 400, "Payments: missing: which column says whose order it is?"},
		{"columns", url.Values{"order.way": {"; DROP TABLE orders"}, "payment.way": {`{"order_key":"order_id"}`}}, 400, "Payments, Its own id: missing"},
		{"money", url.Values{"currency": {"USD"}}, 400, "Unit missing: is an amount of 4990 four thousand or forty-nine?"},
		{"money", url.Values{"unit": {"major"}, "currency": {"US$"}}, 400, `Currency "US$" is not a currency.`},
		{"money", url.Values{"unit": {"major"}, "currency": {"euro"}}, 400, "Expected a code of ISO 4217 in capitals, such as EUR or USD"},
		{"money", url.Values{"unit": {"major"}, "currency": {"EUX"}}, 400, `Currency "EUX" is not a currency.`},
		{"money", url.Values{"unit": {"major"}, "currency": {"USD"}, "zone": {"Nowhere/At all"}}, 400, "Zone"},
		{"states", url.Values{"payment.where": {"not json"}}, 400, "A rule cannot be read; nothing was changed."},
		{"states", url.Values{"payment.value": {"captured"}, "payment.means": {"paid"}}, 400, "Fulfilments, states: nothing says what a status of these fulfilments means"},
	} {
		p := b.post("/settings/shop/"+row.step, row.form)
		if p.status != row.status || !strings.Contains(p.seen(), row.says) {
			t.Errorf("%s %v answers %d, want %d and %q: %s", row.step, row.form, p.status, row.status, row.says, p.seen())
		}
		if strings.Contains(p.text, "canary") {
			t.Errorf("%s shows the connection string", row.step)
		}
	}
	o.conceals("canary")
	b.get("/settings/shop/nothing").is(http.StatusNotFound)
	o.unsaved()
}

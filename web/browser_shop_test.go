package web_test

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign/auth"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	chromium "countersign/internal/browser"
	"countersign/internal/testshop"
)

// partsOf takes the name of a database apart, as somebody types it into the fields of a form.
func partsOf(t *testing.T, driver, dsn string) connector.Address {
	t.Helper()
	if driver == connector.MySQL {
		c, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(c.Addr)
		return connector.Address{Driver: driver, Host: host, Port: port, Database: c.DBName, User: c.User, Password: c.Passwd}
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return connector.Address{Driver: driver, Host: u.Hostname(), Port: u.Port(), Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username(), Password: password}
}

// connects fills the form of the first question.
func (s *seat) connects(a connector.Address) {
	s.office.t.Helper()
	for field, text := range map[string]string{"#host": a.Host, "#port": a.Port, "#database": a.Database, "#user": a.User, "#password": a.Password} {
		s.Type(field, text)
	}
	s.Choose("#safe", "never: it is on this machine, or on a network of our own")
	s.ClickText("Connect")
}

func TestAShopIsConnectedInABrowser(t *testing.T) {
	t.Parallel()
	data := testshop.Retail(t)
	t.Run("a Medusa shop on PostgreSQL, as it is recognised", func(t *testing.T) {
		shop := testshop.Postgres(t, data)
		reader := partsOf(t, shop.Driver, shop.Reader)
		line := relayTo(t, net.JoinHostPort(reader.Host, reader.Port))
		_, reader.Port, _ = net.SplitHostPort(line.Addr().String())
		o := newOffice(t)
		s := o.sits(auth.Admin, chromium.Options{})
		s.comesIn()
		s.opens("/settings")
		s.ClickText("Look at it, or change it")
		s.See("No shop is connected")
		s.ClickText("Connect a shop")

		// A password that is not the role's, then a role that can write.
		wrong := reader
		wrong.Password = "not this one"
		s.connects(wrong)
		s.See("refused the user name or the password")
		s.See("Check both in the connection string")
		if s.Value("#host") != wrong.Host || s.Value("#password") != "" {
			t.Errorf("after a mistake the server is %q, and the password %q: the one stays, the other does not", s.Value("#host"), s.Value("#password"))
		}
		s.connects(partsOf(t, shop.Driver, shop.Owner))
		s.See("Refused: this role could change the shop's database. Nothing was kept.")
		s.See("GRANT SELECT ON ALL TABLES IN SCHEMA")
		s.Keep("shop-refused")

		s.connects(reader)
		s.See("It can read, and cannot write.")
		s.See("It looks like Medusa")
		s.Keep("shop-tables")
		s.ClickText("Use it: It looks like Medusa")
		s.See("How a row finds its order")
		s.Keep("shop-columns")
		s.Choose("#order-number", "custom_display_id · text")
		s.ClickText("Go on with these columns")
		s.See("What an amount and a time of this shop mean")
		s.Type("#currency", "usd")

		// The browser goes away in the middle, and comes back to where it was.
		s.Keep("shop-money")
		s.ClickText("Go on")
		s.See("What does a status of this shop mean?")
		s.opens("/settings/shop")
		s.See("You have begun a new version")
		s.ClickText("Go on")
		s.See("every row that counts is money that went back")
		s.Keep("shop-states")
		s.ClickText("Go on")
		s.See("Rows of the shop as they will be read")
		s.See("money that went back")
		s.Keep("shop-rows")
		s.Click("[name=right]")
		s.ClickText("Save as a new version")
		s.See("Saved as version 1. Orders are read through it from now on.")
		s.See("The shop answers, and has what the mapping names.")
		s.Keep("shop")
		o.reads(data.Cancelled()[0])

		// The first case. Its order is read before anybody looks.
		cancelled := data.Cancelled()[0]
		s.opens("/open/chargeback")
		s.Type("#order_id", cancelled.Number)
		s.ClickText("Open the chargeback")
		s.See("The chargeback is open, and its order is being read.")
		s.See(cancelled.Number)
		s.See("Money was refunded")
		s.See("which covers the dispute")
		s.Keep("shop-first-case")
		s.opens("/settings/shop")

		// The shop drops a column, and then does not answer any more.
		s.ClickText("Change it")
		s.See("Rows of the shop as they will be read")
		change(t, "pgx", shop.Owner, "ALTER TABLE payment DROP COLUMN captured_at")
		s.opens("/settings/shop/rows")
		s.See("Payments, When it was paid: payment has no column captured_at that this role may read.")
		s.Keep("shop-dropped")
		line.stop()
		s.opens("/settings/shop/columns")
		s.See("The shop's database does not answer.")
		s.See("See whether it runs and can be reached from here, then try again.")
		s.goes()
		o.conceals(reader.Password, partsOf(t, shop.Driver, shop.Owner).Password, wrong.Password)
	})
	t.Run("tables that nobody knows on MariaDB, sorted by hand", func(t *testing.T) {
		shop := testshop.MariaDB(t, data)
		o := newOffice(t)
		s := o.sits(auth.Admin, chromium.Options{NoScript: true})
		s.comesIn()
		s.opens("/settings/shop")
		s.ClickText("Connect a shop")
		s.ClickText("MySQL or MariaDB")
		s.connects(partsOf(t, shop.Driver, shop.Owner))
		s.See("Refused: this role could change the shop's database. Nothing was kept.")
		s.connects(partsOf(t, shop.Driver, shop.Reader))
		s.ClickText("Use it: By names and keys alone")
		s.See("How a row finds its order")
		s.ClickText("Go on with these columns")
		s.Click("[name=unit][value=major]")
		s.Type("#currency", "USD")
		s.Type("#zone", "Africa/Lagos")
		s.Click("[name=negative][value=refund]")
		s.ClickText("Go on")
		s.Choose("[aria-labelledby=payment-1]", "paid")
		s.Choose("[aria-labelledby=fulfillment-1]", "delivered")
		s.Choose("[aria-labelledby=fulfillment-2]", "on its way")
		s.Choose("[aria-labelledby=refund-1]", "money that went back")
		s.Type("[aria-label='Another status of Returns']", "1")
		s.Choose("[aria-label='What that means, of Returns']", "open")
		s.Keep("shop-states-maria")
		s.ClickText("Go on")
		s.See("Rows of the shop as they will be read")
		s.Keep("shop-rows-maria")
		s.Click("[name=right]")
		s.ClickText("Save as a new version")
		s.See("Saved as version 1.")
		s.goes()
		o.reads(data.Cancelled()[0])
	})
}

// A shop whose database nobody can reach sends what it exports.
func TestAShopWithoutADatabaseSendsItsExports(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	s := o.sits(auth.Admin, chromium.Options{})
	s.comesIn()
	s.opens("/settings/shop")
	s.ClickText("Connect a shop")
	s.ClickText("Exported files")
	s.Attach("#files", exportedFile(t, "orders.csv", "Name,Total\n#1,1.91431E+18\n"))
	s.ClickText("Copy the files")
	s.See("is a number that a spreadsheet has shortened, and its last digits are lost")
	s.ClickText("Exported files")
	s.Attach("#files",
		exportedFile(t, "orders_export_1.csv", "Name;Email;Financial Status;Currency;Total;Created at;Id\n#1001;ada@example.com;refunded;EUR;49.90;2026-11-02 10:30:00 +0100;5001\n#1001;ada@example.com;;;;;\n"),
		exportedFile(t, "transactions_export_1.csv", "Order,Name,Kind,Gateway,Created At,Status,Amount,Currency\n5001,#1001,sale,stripe,2026-11-02 10:31:30 +0100,success,49.90,EUR\n"+
			"5001,#1001,refund,stripe,2026-11-06 08:00:00 +0100,success,49.90,EUR\n"))
	s.ClickText("Copy the files")
	s.See("2 files were copied. The copy is read, and is never changed.")
	s.See("orders_export_1.csv is the table orders_export: 2 rows, UTF-8, semicolon between the columns")
	s.Keep("shop-exports")
	s.ClickText("Use it: It looks like Shopify exports")
	s.ClickText("Go on with these columns")
	s.Type("#currency", "EUR")
	s.ClickText("Go on")
	s.ClickText("Go on")
	s.See("Rows of the shop as they will be read")
	s.Keep("shop-exports-rows")
	s.Click("[name=right]")
	s.ClickText("Save as a new version")
	s.See("Saved as version 1.")
	s.goes()
	v, _, err := o.setup().Latest(t.Context())
	o.must(err)
	shop, err := connector.Open(t.Context(), v.Mapped)
	o.must(err)
	defer shop.Close()
	if all := shop.Order(t.Context(), "#1001"); len(all.Refunds.All) != 1 || all.Refunds.All[0].State != "returned" || all.Refunds.All[0].Amount.Money.Minor != 4990 {
		t.Errorf("the order is read as %+v", all)
	}
}

func exportedFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// reads looks an order up through the mapping in force, as a case would.
func (o *office) reads(want testshop.Order) {
	o.t.Helper()
	v, ok, err := o.setup().Latest(o.t.Context())
	if err != nil || !ok {
		o.t.Fatal("no mapping is in force", err)
	}
	shop, err := connector.Open(o.t.Context(), v.Mapped)
	o.must(err)
	defer shop.Close()
	all := shop.Order(o.t.Context(), want.Number)
	if len(all.Order.All) != 1 || len(all.Refunds.All) != 1 || all.Refunds.All[0].State != "returned" || len(all.Fulfillments.All) != 1 {
		o.t.Fatalf("order %s is read as %+v", want.Number, all)
	}
	if back := all.Refunds.All[0].Amount.Money; back == nil || back.Minor != want.Refunded[0].Cents() || back.Currency != "USD" {
		o.t.Errorf("its refund is read as %+v, want %s", all.Refunds.All[0].Amount, want.Refunded[0].Amount)
	}
	if got, _ := all.Refunds.All[0].RefundedAt.When.Instant(); !got.Equal(want.Refunded[0].At) {
		o.t.Errorf("it was refunded at %v, want %v", got, want.Refunded[0].At)
	}
}

func (o *office) setup() setup.Setup { return setup.Setup{Store: o.Store, Key: o.Key} }

// conceals fails the test if one of these stands in the log.
func (o *office) conceals(secrets ...string) {
	o.t.Helper()
	for _, secret := range secrets {
		if strings.Contains(o.log.String(), secret) {
			o.t.Errorf("the log holds %q", secret)
		}
	}
}

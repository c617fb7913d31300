package connector

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign/internal/testshop"
)

// catalogIn reads the catalog of a shop as its reader.
func catalogIn(t *testing.T, shop testshop.Shop) Catalog {
	t.Helper()
	db, err := dial(shop.Driver, DSN(shop.Reader), &permitted{onlySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := catalogOf(t.Context(), dialect(shop.Driver), db)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func few(t *testing.T) testshop.Data { return testshop.Data{Orders: testshop.Retail(t).Orders[:20]} }

func TestAShopThatNobodyHereDesignedIsRecognised(t *testing.T) {
	for _, row := range []struct {
		name     string
		fill     func(testing.TB, testshop.Data) testshop.Shop
		platform string
		tables   map[Kind]string
	}{
		{"plain tables, by their names", testshop.SQLite, "", map[Kind]string{Order: "orders", Payment: "payments", Fulfillment: "shipments", Refund: "refunds", Return: "returns"}},
		{"Medusa, by its own", testshop.Postgres, "Medusa", map[Kind]string{Order: "order", Payment: "payment", Fulfillment: "fulfillment", Refund: "refund", Return: "return"}},
		{"tables that share a first word", testshop.MariaDB, "", map[Kind]string{Order: "shop_order", Payment: "shop_payment", Fulfillment: "shop_shipment", Refund: "shop_refund", Return: "shop_return"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := catalogIn(t, row.fill(t, few(t)))
			all := Suggest(c)
			if len(all) == 0 || all[0].Platform != row.platform || len(all[0].RestsOn) == 0 {
				t.Fatalf("suggested %+v", all)
			}
			for k, want := range row.tables {
				if got := all[0].Mapping.Entities[k].Table; got != want {
					t.Errorf("%s are looked for in %q, want %q", k.plural(), got, want)
				}
			}
			for _, s := range all {
				for _, problem := range s.Mapping.Check(c) {
					t.Errorf("%q names what is not there: %v", s.Platform, problem)
				}
			}
		})
	}
}

// What a person must say is missing from a suggestion; nothing that is in it may be wrong by itself.
func TestEveryPlatformsMappingCanBeUsed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range platforms {
		t.Run(p.Platform, func(t *testing.T) {
			m := p.Mapping
			m.Name, m.Currency = "shop", "USD"
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseMapping(text); err != nil {
				t.Error(err)
			}
			if p.RestsOn == "" || len(p.Caveats) == 0 {
				t.Error("it does not say what it rests on, or what is easily misread")
			}
			s, ok := p.fit(catalogFor(m, ""))
			if !ok || s.Platform != p.Platform || len(s.Missing()) != len(Kinds)-len(m.Entities) {
				t.Errorf("in its own catalog it is %+v, %v", s, ok)
			}
			seen[p.Platform] = true
		})
	}
	for _, want := range []string{"Medusa", "WooCommerce", "WooCommerce exports", "Magento", "Shopify exports", "Solidus", "Saleor", "a mirror of Stripe"} {
		if !seen[want] {
			t.Errorf("there is nothing for %s", want)
		}
	}
}

// catalogFor is a catalog with all that a mapping names.
func catalogFor(m Mapping, prefix string) Catalog {
	columns := map[string][]string{}
	add := func(table, column string) {
		if own, rest, two := strings.Cut(column, "."); two {
			table, column = own, rest
		}
		if !slices.Contains(columns[table], column) && column != "" {
			columns[table] = append(columns[table], column)
		}
	}
	for _, e := range m.Entities {
		add(e.Table, e.Key)
		add(e.Table, e.OrderKey)
		for _, c := range e.Columns {
			add(e.Table, c)
		}
		for _, w := range e.Where {
			add(e.Table, w.Column)
		}
		before := e.Table
		for _, j := range e.Join {
			add(before, j.On.Left)
			add(j.Table, j.On.Right)
			add(j.Table, j.OrderKey)
			before = j.Table
		}
	}
	c := Catalog{Driver: m.Driver}
	for table, names := range columns {
		t := Table{Name: prefix + table}
		for _, name := range names {
			t.Columns = append(t.Columns, Column{Name: name, Type: "text", Nullable: true})
		}
		c.Tables = append(c.Tables, t)
	}
	return c
}

func TestAPrefixBeforeEveryTableIsFound(t *testing.T) {
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.Platform == "WooCommerce" })
	c := catalogFor(platforms[i].Mapping, "wp7_")
	all := Suggest(c)
	if len(all) == 0 || all[0].Platform != "WooCommerce" {
		t.Fatalf("suggested %+v", all)
	}
	refund := all[0].Mapping.Entities[Refund]
	if refund.Table != "wp7_wc_orders_meta" || refund.Join[0].Table != "wp7_wc_orders" || refund.Columns["amount"] != "wp7_wc_orders.total_amount" {
		t.Errorf("refunds are looked for in %+v", refund)
	}
	if problems := all[0].Mapping.Check(c); len(problems) > 0 {
		t.Errorf("it names what is not there: %v", problems)
	}
	if platforms[i].Mapping.Entities[Refund].Table != "wc_orders_meta" {
		t.Error("what is suggested to one shop was written into the platform for all")
	}
}

func TestASuggestionLeavesOutWhatIsNotThere(t *testing.T) {
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.Platform == "Magento" })
	c := catalogFor(platforms[i].Mapping, "")
	c.Tables = slices.DeleteFunc(c.Tables, func(t Table) bool { return t.Name == "magento_rma" })
	for i := range c.Tables {
		c.Tables[i].Columns = slices.DeleteFunc(c.Tables[i].Columns, func(c Column) bool { return c.Name == "customer_email" || c.Name == "state" })
	}
	s := Suggest(c)[0]
	if _, ok := s.Mapping.Entities[Return]; ok || !slices.Equal(s.Missing(), []Kind{Return}) {
		t.Errorf("returns are suggested from a table that is not there; missing are %v", s.Missing())
	}
	if _, ok := s.Mapping.Entities[Order].Columns["email"]; ok {
		t.Error("a column that is not there is suggested")
	}
	if refund := s.Mapping.Entities[Refund]; refund.Columns["status"] != "" || refund.States != nil {
		t.Errorf("statuses are sorted that are in no column: %+v", refund)
	}
}

func TestADatabaseThatIsNoShopHasNoSuggestion(t *testing.T) {
	c := Catalog{Driver: Postgres, Tables: []Table{{Name: "users", Key: []string{"id"}, Columns: []Column{{Name: "id"}}}, {Name: "orders_archive_2019"}}}
	if all := Suggest(c); len(all) != 0 {
		t.Errorf("suggested %+v", all)
	}
}

func TestTheWayFromARowToItsOrder(t *testing.T) {
	c := catalogIn(t, testshop.Postgres(t, few(t)))
	orders, _ := c.Table("", "order")
	for table, want := range map[string]string{
		"return":      `order_id`,
		"payment":     `[{"schema":"public","table":"order_payment_collection","on":"payment_collection_id","order_key":"order_id"}]`,
		"fulfillment": `[{"schema":"public","table":"order_fulfillment","on":"id = fulfillment_id","order_key":"order_id"}]`,
		"refund":      `[{"schema":"public","table":"payment","on":"payment_id = id"},{"schema":"public","table":"order_payment_collection","on":"payment_collection_id","order_key":"order_id"}]`,
	} {
		from, _ := c.Table("", table)
		ways := Ways(c, from, orders, "id")
		if len(ways) == 0 {
			t.Errorf("%s: no way was found", table)
			continue
		}
		join, _ := json.Marshal([]Join(ways[0].Join))
		if got := ways[0].OrderKey + strings.TrimPrefix(string(join), "null"); got != want {
			t.Errorf("%s: the first way is %s (%s), want %s", table, got, ways[0].Says, want)
		}
	}
}

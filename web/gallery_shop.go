package web

import (
	"strings"
	"time"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/desk/merchant/shop"
)

// shops are the pages on which a shop's database comes to be known.
func (g *gallery) shops() {
	v := g.visit(anAdmin)
	since := v.moment(galleryTime.AddDate(0, 0, -12))
	g.asking(v, "shop", "no shop is connected", "/settings/shop", "The shop's database", shopScreen{})
	version := setup.Version{Mapped: medusaShop()}
	version.Version, version.Name = 2, "shop"
	line := mappingLine{2, "shop", anAdmin.Name, anAdmin.Name, since, ""}
	first := mappingLine{1, "shop, before the move", "root on the command line", "", v.moment(galleryTime.AddDate(0, -3, 0)), "applied on the command line by root; nobody has looked at the rows"}
	inForce := shopScreen{Latest: panelOf(version, line), Versions: []mappingLine{line, first}, Answers: true}
	g.asking(v, "shop", "a mapping in force", "", "The shop's database", inForce)
	applied := version
	applied.Version, applied.Name = 1, first.Name
	g.asking(v, "shop", "applied on the command line", "", "The shop's database", shopScreen{Latest: panelOf(applied, first), Versions: []mappingLine{first}, Answers: true})
	inForce.Unsorted = []string{`refund "reversed" (3)`, `payment "disputed" (1)`}
	g.asking(v, "shop", "a status that nobody has sorted", "", "The shop's database", inForce)
	inForce.Draft = &draftPanel{hrefOf(setup.States), questionOf(setup.States).title, v.moment(galleryTime.Add(-40 * time.Minute))}
	inForce.Answers, inForce.Unsorted = false, nil
	inForce.Wrong = "The connection string of version 2 of the shop mapping was sealed under master key 8f31c2d07ab94e15, and the key here is 02d4be6671f0a39c. " +
		"Put the key file of the first installation back, or enter the connection string of version 2 of the shop mapping again."
	g.asking(v, "shop", "begun anew, under another master key", "", "The shop's database", inForce)
	g.connecting(v)
	g.choosing(v)
	g.meaning(v)
	g.confirming(v)
}

func (g *gallery) asking(v *visit, template, state, address, title string, page any) {
	g.hang(v, template, state, address, screen{Title: title, Section: "Settings", Page: page})
}

// question hangs one question as somebody sees it who got that far.
func (g *gallery) question(v *visit, s setup.Step, state string, page func(shopStep) any) {
	w := &wizard{visit: v, question: questionOf(s), draft: setup.Draft{Step: s, Mapping: medusaShop(), Platform: "Medusa"}}
	address := hrefOf(s)
	for _, other := range g.samples {
		if other.Address == address {
			address = ""
		}
	}
	g.asking(v, w.template, state, address, w.title+" · the shop's database", page(shopStep{Title: w.title, Rail: w.rail(), Platform: w.draft.Platform, Here: hrefOf(s)}))
}

// wrongly is a question that was answered wrongly.
func wrongly(p shopStep, e *countersign.Error) shopStep {
	p.Wrong, p.Hint = inWords(e), stopped(capital(e.Hint))
	return p
}

// medusaShop is a mapping as one is for Medusa.
func medusaShop() connector.Mapping {
	text := func(s string) *string { return &s }
	return connector.Mapping{Name: "shop", Driver: connector.Postgres, Zone: "UTC", Currency: "USD", Unit: connector.Major, Entities: map[connector.Kind]connector.Entity{
		connector.Order: {Schema: "public", Table: "order", Key: "id", Where: connector.Conditions{{Column: "deleted_at", IsNull: true}},
			Columns: map[string]string{"number": "display_id", "email": "email", "placed_at": "created_at", "status": "status"}},
		connector.Payment: {Schema: "public", Table: "payment", Where: connector.Conditions{{Column: "captured_at", NotNull: true}},
			Join:    connector.Joins{{Table: "order_payment_collection", On: connector.On{Left: "payment_collection_id", Right: "payment_collection_id"}, OrderKey: "order_id"}},
			Columns: map[string]string{"id": "id", "amount": "amount", "paid_at": "captured_at", "currency": "currency_code"}},
		connector.Refund: {Schema: "public", Table: "refund", OrderKey: "order_id", Where: connector.Conditions{{Column: "kind", Equals: text("refund")}},
			Columns: map[string]string{"id": "id", "amount": "amount", "status": "status", "refunded_at": "created_at"},
			States:  map[string][]string{"returned": {"succeeded"}, "in_progress": {"pending", "requires_action"}, "not_returned": {"failed", "canceled"}}},
		connector.Return: {Schema: "public", Table: "return", OrderKey: "order_id", Columns: map[string]string{"id": "id", "opened_at": "created_at"}},
	}}
}

// medusaCatalog is as much of a catalog as the mapping needs.
func medusaCatalog() connector.Catalog {
	columns := func(names ...string) (all []connector.Column) {
		for _, name := range names {
			kind := "text"
			if strings.HasSuffix(name, "_at") {
				kind = "timestamp with time zone"
			}
			all = append(all, connector.Column{Name: name, Type: kind, Nullable: name != "id"})
		}
		return all
	}
	return connector.Catalog{Driver: connector.Postgres, Tables: []connector.Table{
		{Schema: "public", Name: "order", Key: []string{"id"}, Columns: columns("id", "display_id", "custom_display_id", "email", "status", "created_at", "deleted_at")},
		{Schema: "public", Name: "order_payment_collection", Columns: columns("order_id", "payment_collection_id")},
		{Schema: "public", Name: "payment", Key: []string{"id"}, Columns: columns("id", "amount", "currency_code", "payment_collection_id", "captured_at", "canceled_at", "deleted_at")},
		{Schema: "public", Name: "refund", Key: []string{"id"}, Columns: columns("id", "order_id", "amount", "status", "kind", "payment_id", "created_at", "deleted_at")},
		{Schema: "public", Name: "return", Key: []string{"id"}, Columns: columns("id", "order_id", "status", "created_at", "canceled_at")},
	}}
}

func (g *gallery) connecting(v *visit) {
	screen := func(p shopStep, a connector.Address) connectScreen {
		s := connectScreen{shopStep: p, Address: a, Port: connector.UsualPort(a.Driver)}
		s.Drivers, s.Most = driversOf(a.Driver), size(mostUpload)
		for _, safe := range connector.Encryption {
			s.Safe = append(s.Safe, picked{Value: safe, Title: encryption[safe]})
		}
		return s
	}
	typed := connector.Address{Driver: connector.Postgres, Host: "db.shop.example", Port: "5433", Database: "medusa", User: "countersign_reader"}
	g.question(v, setup.Connect, "as it first is", func(p shopStep) any { return screen(p, connector.Address{Driver: connector.Postgres}) })
	g.question(v, setup.Connect, "a file, and a connection that is kept", func(p shopStep) any {
		s := screen(p, connector.Address{Driver: connector.SQLite})
		s.Kept, s.Lost = true, "The connection string of the unfinished shop mapping was sealed under master key 8f31c2d07ab94e15, and the key here is 02d4be6671f0a39c. Enter it again."
		return s
	})
	g.question(v, setup.Connect, "exported files", func(p shopStep) any { return screen(p, connector.Address{Driver: exported}) })
	g.question(v, setup.Connect, "a wrong password", func(p shopStep) any {
		return screen(wrongly(p, countersign.Errorf(countersign.Unprocessed, "the shop's database refused the user name or the password").
			Try("check both in the connection string, and that this role may log in from here")), typed)
	})
	g.question(v, setup.Connect, "a role that could write", func(p shopStep) any {
		s := screen(p, typed)
		s.Writes = []string{"owns order", "owns payment", "may change refund", "may create tables in the schema public"}
		s.More = []string{"may change return", "may move the sequence order_display_id_seq"}
		s.Advice = []string{"CREATE ROLE countersign_reader LOGIN PASSWORD '…choose one…';", `GRANT CONNECT ON DATABASE "medusa" TO countersign_reader;`,
			`GRANT USAGE ON SCHEMA "public" TO countersign_reader;`, `GRANT SELECT ON ALL TABLES IN SCHEMA "public" TO countersign_reader;`,
			`REVOKE CREATE ON SCHEMA "public" FROM PUBLIC;`, "ALTER ROLE countersign_reader SET default_transaction_read_only = on;"}
		return s
	})
}

func (g *gallery) choosing(v *visit) {
	c, m := medusaCatalog(), medusaShop()
	tables := func(p shopStep) tablesScreen {
		s := tablesScreen{shopStep: p, Found: "5 tables that this role may read"}
		for i, suggestion := range connector.Suggest(c) {
			s.Suggestions = append(s.Suggestions, panelOfSuggestion(i, suggestion))
		}
		for _, k := range connector.Kinds {
			s.Kinds = append(s.Kinds, tableChoiceOf(k, m.Entities, c))
		}
		return s
	}
	g.question(v, setup.Tables, "suggestions", func(p shopStep) any { return tables(p) })
	g.question(v, setup.Tables, "of exported files", func(p shopStep) any {
		s := tables(p)
		s.Suggestions = s.Suggestions[:1]
		s.Files = []string{"orders_export_1.csv is the table orders_export: 1,204 rows, UTF-8 with a byte order mark, semicolon between the columns",
			"orders_export_1.csv: read as Windows-1252, the letters and signs beyond ASCII are ü ß €: if these are wrong, save the whole file as UTF-8"}
		return s
	})
	g.question(v, setup.Tables, "nothing looks like a shop", func(p shopStep) any {
		s := tables(wrongly(p, countersign.Errorf(countersign.Invalid, "missing: without the table of orders nothing can be found").In("entities.order").Try("choose the table that has a row for each order")))
		s.Suggestions = nil
		return s
	})
	w := &wizard{visit: v, draft: setup.Draft{Mapping: m}}
	columns := func(p shopStep) columnsScreen {
		s := columnsScreen{shopStep: p}
		for _, k := range m.Kinds() {
			orders, _ := c.Table("public", "order")
			own, _ := c.Table("public", m.Entities[k].Table)
			of, _ := w.columnsOf(k, c, connector.Ways(c, own, orders, "id"))
			s.Kinds = append(s.Kinds, of)
		}
		return s
	}
	g.question(v, setup.Columns, "as suggested", func(p shopStep) any { return columns(p) })
	g.question(v, setup.Columns, "a column is gone", func(p shopStep) any {
		m.Entities[connector.Refund].Columns["amount"] = "amount_refunded"
		return columns(wrongly(p, countersign.Errorf(countersign.Unprocessed, "refund has no column amount_refunded that this role may read").
			In("entities.refund.columns.amount").Try("did you mean amount?")))
	})
	g.question(v, setup.Columns, "the shop does not answer", func(p shopStep) any { return columns(p) })
	g.unreachable(countersign.Errorf(countersign.Unavailable, "the shop's database does not answer").Try("see whether it runs and can be reached from here, then try again"), "")
	g.question(v, setup.Columns, "rows that lead to no order", func(p shopStep) any { return columns(p) })
	g.unreachable(countersign.Errorf(countersign.Unprocessed, `of 50 refunds that were looked at, none leads to an order: payment_id of refund holds "pay_01J8Z", and that is in no id of order`).
		In("entities.refund.order_key").Try("choose another column, or a way over another table; this one leads to orders: order_id is named like the key of an order: 50 of 50 rows lead to an order"), hrefOf(setup.Columns))
}

// unreachable makes of the last sample the page that stands there when a question cannot be asked.
func (g *gallery) unreachable(e *countersign.Error, mend string) {
	last := &g.samples[len(g.samples)-1]
	last.Template, last.Page = "shop_unreachable", "shop unreachable"
	p := wrongly(last.screen.Page.(columnsScreen).shopStep, e)
	p.Mend = mend
	last.screen.Page = p
}

func (g *gallery) meaning(v *visit) {
	money := moneyScreen{Currency: "USD", Zone: "Europe/Berlin", Zones: zones, Columns: "currency_code", Below: true,
		Amounts: []sampleLine{{"Orders", "total", "2577.53 · 152.56 · 662.23"}, {"Refunds", "amount", "-3612.59 · -12.5"}},
		Times:   []sampleLine{{"Orders", "placed", "2026-05-13 16:12:08 · 2026-05-14 08:01:55"}, {"Refunds", "refunded_at", "0000-00-00 00:00:00"}, {"Returns", "opened_at", "nothing yet"}},
		Units: []picked{{Value: connector.Major, Title: "Whole units: 49.90 is forty-nine and ninety", Current: true},
			{Value: connector.Minor, Title: "The smallest unit: 4990 is forty-nine and ninety"}},
		Negative: []picked{{Value: "payment", Title: "Payments"}, {Value: "refund", Title: "Refunds", Current: true}}}
	g.question(v, setup.Money, "beside what the columns hold", func(p shopStep) any { money.shopStep = p; return money })
	g.question(v, setup.Money, "no such currency", func(p shopStep) any {
		money.shopStep = wrongly(p, countersign.Errorf(countersign.Invalid, `"US$" is not a currency`).In("currency").Try("expected a code of ISO 4217 in capitals, such as EUR or USD; a column goes into columns.currency"))
		money.Currency = "US$"
		return money
	})
	m, c := medusaShop(), medusaCatalog()
	states := func(p shopStep) statesScreen {
		s := statesScreen{shopStep: p}
		for _, k := range m.Kinds()[1:] {
			e := m.Entities[k]
			own, _ := c.Table(e.Schema, e.Table)
			of := statesOf{Kind: string(k), Title: kindTitles[k], Table: e.Table, Where: wheres(k, e, own)}
			if e.Columns["status"] == "" {
				of.Means, of.MustChoose = meanings[string(without[k])], k == connector.Payment
			} else {
				of.Column = e.Columns["status"]
				of.Another = []picked{{Value: "returned", Title: meanings["returned"]}}
				for i, text := range []string{"succeeded", "failed", "pending", "\u202eREVERSED <b>by hand</b>"} {
					of.add(k, e, text, []string{"1,204 rows", "31 rows", "2 rows", "1 row"}[i])
				}
			}
			s.Kinds = append(s.Kinds, of)
		}
		return s
	}
	g.question(v, setup.States, "sorted, but for one that is new", func(p shopStep) any { return states(p) })
	g.question(v, setup.States, "too many to be statuses, and none at all", func(p shopStep) any {
		s := states(wrongly(p, countersign.Errorf(countersign.Invalid, "nothing says what a status of these returns means, so every one would be unknown").
			In("entities.return.states").Try("sort the statuses that the shop has into open, closed")))
		s.Kinds[1].More = true
		s.Kinds[2].Column, s.Kinds[2].Means = "status", ""
		s.Kinds[0].Failed = "The shop's database took too long. Try again; if it stays slow, an index is missing."
		return s
	})
}

func (g *gallery) confirming(v *visit) {
	paid := func(minor int64) shop.Amount {
		return shop.Amount{Money: &countersign.Money{Minor: minor, Currency: "USD"}, Text: "as it is"}
	}
	at := func(text string) shop.Moment {
		when, _ := countersign.ParseWhen(text)
		return shop.Moment{When: when, Text: text}
	}
	m := medusaShop()
	rows := map[connector.Kind][]setup.Line{
		connector.Order:   {{Order: "1042", ID: "order_01J8Z", Status: "completed", When: at("2026-11-02T09:30:00Z"), More: "1042"}, {Order: "1043", ID: "order_01J91", Status: "canceled", When: at("2026-11-03T17:02:11Z"), More: "1043"}},
		connector.Payment: {{Order: "1042", ID: "pay_01J8Z", Meaning: shop.Paid, Amount: paid(257753), When: at("2026-11-02T09:31:30Z"), More: "pi_3Qf"}},
		connector.Refund: {{Order: "1042", ID: "ref_01", Status: "succeeded", Meaning: shop.Returned, Amount: paid(257753), When: at("2026-11-05")},
			{Order: "order_\u202e17", Lost: true, ID: "ref_02", Status: "\u202e<b>odd</b>", Meaning: shop.Unseen, Amount: shop.Amount{Text: "12.345", Problem: "12.345 has more digits than USD has: the nearest amount is USD 12.35"},
				When: shop.Moment{Text: "13/05/2026 16:12", Problem: `"13/05/2026 16:12" is not a time in a form that is understood`}}},
	}
	page := func(p shopStep) rowsScreen {
		s := rowsScreen{shopStep: p, Name: "shop", Server: "PostgreSQL 15.18", Absent: absentOf(m)}
		for _, k := range m.Kinds() {
			of := v.rowsOf(k, m.Entities[k], rows[k])
			s.Kinds, s.Doubts = append(s.Kinds, of), s.Doubts+of.doubts()
		}
		return s
	}
	g.question(v, setup.Rows, "to be confirmed, one in doubt", func(p shopStep) any { return page(p) })
	g.question(v, setup.Rows, "not confirmed, and slow", func(p shopStep) any {
		s := page(wrongly(p, countersign.Errorf(countersign.Invalid, "Nothing is saved before somebody says that the rows are read rightly.").Try("Compare them with the shop; where they are not, go back to the question they are about")))
		s.Lost = []string{`3 of 50 refunds lead to no order: order_id of refund holds "17", and that is in no id of order.`}
		s.Shared = "One reference stands on more than one row: they are read as one refund, of which the latest counts."
		s.Slow = []string{"finding refunds by order_id reads the whole of refund: an index on that column would make it fast"}
		return s
	})
}

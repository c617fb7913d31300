package connector

import (
	"regexp"
	"strings"
	"testing"

	"countersign"
)

// attacks are texts that would be SQL if any of them ever became a part of a statement. Each carries the word canary, so that
// it can be looked for in what a server was asked to run.
var attacks = []string{
	`canary"; DROP TABLE victim; --`,
	"canary`; DROP TABLE victim; -- ",
	`canary'; DROP TABLE victim; --`,
	`canary' OR '1'='1`,
	`canary") UNION SELECT secret FROM victim --`,
	"canary`) UNION SELECT secret FROM victim -- ",
	`canary"; COMMIT; DELETE FROM victim; --`,
	`canary\"; DROP TABLE victim; --`,
	`canary\' OR 1=1 --`,
	`canary"";DROP TABLE victim;--`,
	"canary``;DROP TABLE victim;--",
	`canary$$; DROP TABLE victim; $$`,
	`canary/*`,
	`canary*/ DROP TABLE victim; /*`,
	`canary--`,
	`canary#`,
	"canary\nDROP TABLE victim\n",
	`canary%s%d%v`,
	`canary$1`,
	`canary?`,
	`canary U&"\0022; DROP TABLE victim; --"`,
	`canary'||(SELECT secret FROM victim)||'`,
	`canary"."victim`,
	"canary`.`victim",
	`canary＂; DROP TABLE victim; --`,
	`canaryʼ OR ʼ1ʼ=ʼ1`,
	`canary;`,
	`canary]; DROP TABLE victim; --`,
	`canary" FROM victim; SELECT "x`,
	"canary\x00; DROP TABLE victim; --",
	`canary 0x27204f5220313d31`,
	`canary"::text; DROP TABLE victim`,
}

// vulnerable is a small shop beside a table that an attack would like to reach.
func (w world) vulnerable(t *testing.T) *Shop {
	w.make(t, "CREATE TABLE victim (secret {text})", "INSERT INTO victim VALUES ('treasure')",
		"CREATE TABLE o (id {text}, n {text})", "CREATE TABLE r (id {text}, o {text}, amount {money}, status {text})",
		"INSERT INTO o VALUES ('1', 'A1'), ('2', 'A2')", "INSERT INTO r VALUES ('1', '1', 5, 'ok')")
	return w.open(t, w.mapping(t, vulnerableEntities))
}

const vulnerableEntities = `{"order":{"table":"o","key":"id","columns":{"number":"n"}},
	"refund":{"table":"r","order_key":"o","where":{"column":"status","equals":"ok"},"columns":{"id":"id","amount":"amount","status":"status"},"states":{"returned":["ok"]}}}`

// places are where a person, a file or a model can put a text that ends up near a statement: in a mapping by its JSON, or as an
// argument.
var places = []struct {
	name string
	put  func(t *testing.T, s *Shop, attack string) error
}{
	{"the order that a case names", func(t *testing.T, s *Shop, attack string) error {
		if all := s.Order(t.Context(), attack); len(all.Order.All) != 0 || all.Order.Unread != "" {
			t.Errorf("found %+v", all.Order)
		}
		return nil
	}},
	{"a value that a mapping compares with", func(t *testing.T, s *Shop, attack string) error {
		all := s.with(t, "equals", attack).Order(t.Context(), "1")
		if len(all.Refunds.All) != 0 || all.Refunds.Unread != "" && !strings.Contains(attack, "\x00") {
			t.Errorf("found %+v", all.Refunds)
		}
		return nil
	}},
	{"a table", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "table", attack)) }},
	{"a schema", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "schema", attack)) }},
	{"a column", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "amount", attack)) }},
	{"the column of a condition", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "column", attack)) }},
	{"the column with the order's key", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "order_key", attack)) }},
	{"a joined table", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "join", attack)) }},
	{"the columns of a join", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "on", attack)) }},
	{"a column of a joined table", func(t *testing.T, s *Shop, attack string) error { return unreadOf(t, s.with(t, "qualified", attack)) }},
	{"a column whose values are asked for", func(t *testing.T, s *Shop, attack string) error {
		_, _, err := s.Values(t.Context(), "", "r", attack, 10)
		return err
	}},
	{"a table whose values are asked for", func(t *testing.T, s *Shop, attack string) error {
		_, _, err := s.Values(t.Context(), attack, attack, "id", 10)
		return err
	}},
	{"a status, a currency and a zone", func(t *testing.T, s *Shop, attack string) error {
		s = s.with(t, "status", attack)
		if all := s.Order(t.Context(), "1"); len(all.Refunds.All) != 1 {
			t.Errorf("found %+v", all.Refunds)
		}
		return nil
	}},
}

// with is the shop behind a mapping in which one text was put.
func (s *Shop) with(t *testing.T, place, attack string) *Shop {
	m := s.mapping
	m.Entities = map[Kind]Entity{Order: s.mapping.Entities[Order]}
	e := s.mapping.Entities[Refund]
	e.Columns = map[string]string{"id": "id", "amount": "amount", "status": "status"}
	switch place {
	case "equals":
		e.Where = Conditions{{Column: "status", Equals: &attack}}
	case "table":
		e.Table = attack
	case "schema":
		e.Schema = attack
	case "amount":
		e.Columns["amount"] = attack
	case "column":
		e.Where = Conditions{{Column: attack, IsNull: true}}
	case "order_key":
		e.OrderKey = attack
	case "join":
		e.OrderKey, e.Join = "", Joins{{Table: attack, On: On{"o", "id"}, OrderKey: "id"}}
	case "on":
		e.OrderKey, e.Join = "", Joins{{Table: "o", On: On{attack, attack}, OrderKey: "id"}}
	case "qualified":
		e.Columns["currency"] = "r." + attack
	case "status":
		e.States, e.Currency, e.Zone = map[string][]string{"returned": {attack}}, attack, attack
	}
	m.Entities[Refund] = e
	other := *s
	other.mapping = m
	other.survey()
	return &other
}

// unreadOf is why refunds could not be read: the name is not in the catalog.
func unreadOf(t *testing.T, s *Shop) error {
	all := s.Order(t.Context(), "1")
	if all.Refunds.Unread == "" || len(all.Order.All) != 1 {
		t.Errorf("read %+v", all)
	}
	return countersign.Errorf(countersign.Unprocessed, "%s", all.Refunds.Unread)
}

// What the server was asked to run is what its own log says: the canary is never in it, and nothing is that is not one of our
// forms.
func TestNoTextOfAnybodyBecomesSQL(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.vulnerable(t)
		log := w.statementLog(t, s)
		for _, place := range places {
			t.Run(place.name, func(t *testing.T) {
				for _, attack := range attacks {
					if err := place.put(t, s, attack); err != nil && countersign.KindOf(err) != countersign.Unprocessed {
						t.Errorf("%q: %v", attack, err)
					}
				}
			})
		}
		var kept int
		if err := w.owner.QueryRow("SELECT COUNT(*) FROM victim WHERE secret = 'treasure'").Scan(&kept); err != nil || kept != 1 {
			t.Errorf("the victim has %d rows: %v", kept, err)
		}
		statements := log(t)
		if len(statements) < 2*len(attacks) {
			t.Fatalf("the log has only %d statements: it was not looked at", len(statements))
		}
		for _, s := range statements {
			if strings.Contains(s, "canary") || strings.Contains(s, "victim") || !ours.MatchString(s) {
				t.Errorf("the server was asked to run %q", s)
			}
		}
	})
}

// ours is how every statement of this package begins. Drivers add their own to begin and end transactions.
var ours = regexp.MustCompile(`(?is)^\s*(SELECT |SET SESSION |SET TRANSACTION |START TRANSACTION|BEGIN|COMMIT|ROLLBACK|SAVEPOINT kind|-- ping)`)

// Names that are as bad as these may really be there. They are read like any other.
func TestATableMayBeCalledAnything(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE victim (secret {text})", "INSERT INTO victim VALUES ('treasure')", "CREATE TABLE o (id {text})", "INSERT INTO o VALUES ('1')")
		var names []string
		for _, name := range attacks {
			name = strings.TrimSpace(name)
			longest := map[dialect]int{SQLite: 1000, Postgres: 63, MySQL: 64}[w.d]
			if strings.ContainsRune(name, 0) || len(name) > longest || w.d == MySQL && strings.ContainsAny(name, "/\\.") {
				continue // no catalog has it
			}
			names = append(names, name)
			w.run(t, "CREATE TABLE "+w.d.quoted(name)+" ("+w.d.quoted(name)+" varchar(20), o varchar(20), amount int)", "INSERT INTO "+w.d.quoted(name)+" VALUES ('id', '1', 5)")
		}
		if len(names) < 20 {
			t.Fatalf("only %d names were tried", len(names))
		}
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{}},"refund":{"table":"o","order_key":"id","columns":{"id":"id","amount":"id"},"where":{"column":"id","not_null":true}}}`))
		for _, name := range names {
			e := Entity{Table: name, OrderKey: "o", Where: Conditions{{Column: name, NotNull: true}}, Columns: map[string]string{"id": name, "amount": "amount"}}
			s.mapping.Entities[Refund] = e
			s.survey()
			if all := s.Order(t.Context(), "1"); len(all.Refunds.All) != 1 || all.Refunds.All[0].ID != "id" {
				t.Errorf("%q: %+v", name, all.Refunds)
			}
			if values, _, err := s.Values(t.Context(), "", name, name, 5); err != nil || len(values) != 1 {
				t.Errorf("%q: %v, %v", name, values, err)
			}
		}
		var kept int
		if err := w.owner.QueryRow("SELECT COUNT(*) FROM victim WHERE secret = 'treasure'").Scan(&kept); err != nil || kept != 1 {
			t.Errorf("the victim has %d rows: %v", kept, err)
		}
	})
}

// A comment on a column is text for the wizard and nothing else.
func TestACommentOnAColumnIsText(t *testing.T) {
	const comment = `canary'; DROP TABLE victim; -- </script>`
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		t.Run(string(w.d), func(t *testing.T) {
			s := w.vulnerable(t)
			if w.d == Postgres {
				w.run(t, "COMMENT ON COLUMN r.status IS 'canary''; DROP TABLE victim; -- </script>'")
			} else {
				w.run(t, "ALTER TABLE r MODIFY status varchar(190) COMMENT 'canary''; DROP TABLE victim; -- </script>'")
			}
			c, err := s.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			table, _ := c.Table("", "r")
			if column, _ := table.Column("status"); column.Comment != comment {
				t.Errorf("the comment is %q", column.Comment)
			}
			again := w.open(t, s.mapping)
			if all := again.Order(t.Context(), "1"); len(all.Refunds.All) != 1 {
				t.Errorf("read %+v", all)
			}
		})
	}
}

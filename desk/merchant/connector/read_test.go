package connector

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/merchant/shop"
)

func usd(minor int64) *countersign.Money { return &countersign.Money{Minor: minor, Currency: "USD"} }

// seen is what matters of records in a test: a line for each.
func seen(all shop.Records) (lines []string) {
	for _, p := range all.Payments.All {
		lines = append(lines, strings.Join([]string{"payment", p.ID, money(p.Amount), string(p.State), p.Status, p.PaidAt.When.String(), p.Reference}, " "))
	}
	for _, f := range all.Fulfillments.All {
		lines = append(lines, strings.Join([]string{"fulfillment", f.ID, string(f.State), f.Carrier, f.Tracking, f.ShippedAt.When.String(), f.DeliveredAt.When.String()}, " "))
	}
	for _, r := range all.Refunds.All {
		lines = append(lines, strings.Join([]string{"refund", r.ID, r.Reference, money(r.Amount), string(r.State), r.Status, r.RefundedAt.When.String()}, " "))
	}
	for _, r := range all.Returns.All {
		lines = append(lines, strings.Join([]string{"return", r.ID, string(r.State), r.Status, r.OpenedAt.When.String(), r.Reason}, " "))
	}
	return lines
}

func money(a shop.Amount) string {
	if a.Money == nil {
		return "(" + a.Text + ": " + a.Problem + ")"
	}
	return a.Money.String()
}

func TestOneOrderIsTheSameOnEveryEngine(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		all := w.oddShop(t).Order(t.Context(), "42")
		if len(all.Order.All) != 1 || !all.Order.Whole() {
			t.Fatalf("the order is %+v", all.Order)
		}
		o := all.Order.All[0]
		if o.ID != "42" || o.Number != "A-42" || o.Status != "open" || o.Email != "a@example.com" || o.ShippingAddress != "Old Road 1" {
			t.Errorf("the order is %+v", o)
		}
		if o.PlacedAt.When.String() != "2026-05-13T15:12:08.000000Z" { // 16:12 in Lagos
			t.Errorf("placed at %+v", o.PlacedAt)
		}
		if o.Total.Money != nil || o.Total.Problem != "87.957975 has more digits than USD has: the nearest amount is USD 87.96" {
			t.Errorf("the total is %+v", o.Total)
		}
		paid := map[dialect]string{SQLite: "2026-05-13T15:12:08.000000Z", Postgres: "2026-05-13T16:12:08.000000Z", MySQL: "2026-05-13T16:12:08.000000Z"}[w.d]
		want := []string{
			"payment 7 USD 50.00 paid paid " + paid + " ch_1A", // an instant of the database is one; SQLite has none
			"payment 10 USD 37.96 failed gone  ",
			"fulfillment p1 delivered DHL T1 2026-05-14T09:00:00.000000Z 2026-05-16T07:30:00.000000Z",
			"fulfillment p2 in_transit DHL T2 2026-05-14T09:00:00.000000Z ",
			"fulfillment p3 not_shipped DHL   ",
			"refund 1 r1 USD 12.50 not_returned 0 2026-05-20T08:00:00.000000Z",
			"refund 2 r1 USD 12.50 returned 1 2026-05-21T08:00:00.000000Z",
			"refund 3 r2 USD 5.00 unknown 2 ",
			"return x open open 2026-05-18T11:00:00.000000Z  it broke ",
		}
		if diff := cmp.Diff(want, seen(all)); diff != "" {
			t.Error(diff)
		}
		for _, whole := range []bool{all.Payments.Whole(), all.Fulfillments.Whole(), all.Refunds.Whole(), all.Returns.Whole()} {
			if !whole {
				t.Error("a kind of record is not whole")
			}
		}
	})
}

func TestAnOrderIsFoundByItsKeyOrItsNumberExactly(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		w.make(t, "INSERT INTO «order» («id», «number») VALUES (51, 'abc'), (52, 'ABC'), (53, 'Abc'), (54, 'aBC')")
		for id, key := range map[string]string{"42": "42", "A-42": "42", "a-42": "43", "43": "43", "Abc": "53", "aBC": "54", "A-42 ": "", "042": "", "4": "", "": "", "42.0": "", "1 OR 1=1": "",
			"A-42' OR '1'='1": "", "%": "", "\x00": "", "\xff": "", strings.Repeat("9", 300): "", "99999999999999999999": ""} {
			all := s.Order(t.Context(), id)
			got := ""
			if len(all.Order.All) == 1 {
				got = all.Order.All[0].ID
			}
			if got != key || all.Order.Unread != "" {
				t.Errorf("%q found %q (%s), want %q", id, got, all.Order.Unread, key)
			}
			if key == "" && (all.Refunds.Whole() || !strings.Contains(all.Refunds.Unread, "no order")) {
				t.Errorf("%q has no order, and its refunds are %+v", id, all.Refunds)
			}
		}
	})
}

func TestTwoOrdersThatAnswerToOneName(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		w.make(t, "INSERT INTO «order» («id», «number») VALUES (44, '42'), (45, '45'), (46, 'twin'), (47, 'twin')")
		for id, want := range map[string]string{"42": "the key 42 and the one with the key 44", "twin": "the key 46 and the one with the key 47"} {
			all := s.Order(t.Context(), id)
			if !strings.Contains(all.Order.Unread, "two orders answer") || !strings.Contains(all.Order.Unread, want) || all.Order.All != nil || all.Payments.Whole() {
				t.Errorf("%s: %+v", id, all.Order)
			}
		}
		if all := s.Order(t.Context(), "45"); len(all.Order.All) != 1 || all.Order.Unread != "" {
			t.Errorf("an order whose number is its key: %+v", all.Order)
		}
	})
}

func TestAKindThatCannotBeReadSaysWhyAndTheOthersArrive(t *testing.T) {
	for _, row := range []struct {
		name, broken string
		statements   []string
		want         string
	}{
		{"a dropped column", "refunds", []string{"ALTER TABLE «refund» DROP COLUMN «when»"}, "entities.refund.columns.refunded_at: refund has no column when that this role may read"},
		{"a dropped table", "returns", []string{"DROP TABLE «return»"}, "entities.return.table: the database has no table return that this role may read"},
		{"a renamed table between", "refunds", []string{"ALTER TABLE «charge» RENAME TO «charges»"}, "entities.refund.join[0].table: the database has no table charge that this role may read; did you mean charges?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			engines(t, func(t *testing.T, w world) {
				s := w.oddShop(t)
				w.make(t, row.statements...)
				for _, s := range []*Shop{s, w.open(t, s.mapping)} { // opened before it happened, and after
					all := s.Order(t.Context(), "42")
					why := map[string]string{"refunds": all.Refunds.Unread, "returns": all.Returns.Unread}[row.broken]
					if !strings.Contains(why, row.want) {
						t.Errorf("%s are unread because %q, want %q", row.broken, why, row.want)
					}
					if row.broken == "refunds" && len(all.Returns.All) != 1 || row.broken == "returns" && len(all.Refunds.All) != 3 {
						t.Errorf("what was read after it did not arrive: %+v", all)
					}
					if len(all.Order.All) != 1 || len(all.Payments.All) != 2 || !all.Payments.Whole() || len(all.Fulfillments.All) != 3 {
						t.Errorf("the others did not arrive: %+v", all)
					}
				}
			})
		})
	}
}

// A shop may be migrated while we have its catalog. What can still be read is.
func TestAColumnThatBecameAnotherTypeIsReadAsWhatItIs(t *testing.T) {
	w := postgresWorld(t)
	s := w.oddShop(t)
	w.make(t, "ALTER TABLE «return» ALTER COLUMN «order_id» TYPE text USING «order_id»::text")
	if all := s.Order(t.Context(), "42"); len(all.Returns.All) != 1 || !all.Returns.Whole() {
		t.Errorf("%+v", all.Returns)
	}
}

func TestARightThatWasTakenAwayIsNoAbsence(t *testing.T) {
	w := postgresWorld(t)
	s := w.oddShop(t)
	w.make(t, "REVOKE SELECT ON «refund» FROM "+w.role)
	all := s.Order(t.Context(), "42")
	if !strings.Contains(all.Refunds.Unread, "may not read") || len(all.Returns.All) != 1 {
		t.Errorf("refunds are %+v", all.Refunds)
	}
	w.make(t, "GRANT SELECT ON «refund» TO "+w.role, "ALTER TABLE «refund» ENABLE ROW LEVEL SECURITY")
	all = s.Order(t.Context(), "42")
	if !strings.Contains(all.Refunds.Unread, "row security could hide rows") || len(all.Returns.All) != 1 {
		t.Errorf("with row security, refunds are %+v", all.Refunds)
	}
}

// A view may do anything when it is looked at: sleep, write, fail at one row.
func TestAViewThatDoesMoreThanShow(t *testing.T) {
	for _, row := range []struct {
		name string
		made map[dialect][]string
		want string
	}{
		{"one that sleeps", map[dialect][]string{
			Postgres: {"CREATE VIEW slow AS SELECT r.* FROM «return» AS r, pg_sleep(30)"},
			MySQL:    {"CREATE VIEW slow AS SELECT r.* FROM «return» AS r WHERE SLEEP(30) = 0"},
			SQLite:   {"CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000000) SELECT r.* FROM «return» AS r WHERE (SELECT count(*) FROM n) > 0"},
		}, "took too long"},
		{"one that writes", map[dialect][]string{
			Postgres: {"CREATE TABLE log (at text)", "CREATE FUNCTION note() RETURNS boolean LANGUAGE sql VOLATILE SECURITY DEFINER AS $$ INSERT INTO log VALUES ('x') RETURNING true $$", "CREATE VIEW slow AS SELECT r.* FROM «return» AS r WHERE note()"},
			MySQL:    {"CREATE TABLE log (at text)", "CREATE FUNCTION note() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log VALUES ('x'); RETURN 1; END", "CREATE VIEW slow AS SELECT r.* FROM «return» AS r WHERE note() = 1"},
		}, "would write"},
		{"one that fails at a row", map[dialect][]string{
			Postgres: {"CREATE VIEW slow AS SELECT id, order_id, status, opened, CAST(why AS int)::text AS why FROM «return»"},
		}, "another kind of value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			engines(t, func(t *testing.T, w world) {
				if row.made[w.d] == nil {
					return
				}
				w.make(t, odd...)
				w.make(t, row.made[w.d]...)
				m := w.mapping(t, strings.Replace(oddEntities, `"table":"return"`, `"table":"slow"`, 1))
				s := w.open(t, m)
				s.bounds.query = 300_000_000 // ns
				all := s.Order(t.Context(), "42")
				hidden := strings.Contains(all.Returns.Unread, "no table slow that this role may read") // MariaDB does not show what cannot be read
				if !strings.Contains(all.Returns.Unread, row.want) && !hidden || len(all.Refunds.All) != 3 {
					t.Errorf("returns %+v, refunds %+v", all.Returns, all.Refunds)
				}
			})
		})
	}
}

func TestAServerThatGoesAwayLeavesEverythingUnread(t *testing.T) {
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		t.Run(string(w.d), func(t *testing.T) {
			s := w.oddShop(t)
			gate := newGate(t, w)
			m := s.mapping
			m.DSN = gate.dsn
			behind := w.open(t, m)
			if all := behind.Order(t.Context(), "42"); len(all.Order.All) != 1 {
				t.Fatalf("through the gate: %+v", all.Order)
			}
			gate.shut()
			all := behind.Order(t.Context(), "42")
			if !strings.Contains(all.Refunds.Unread, "does not answer") || !strings.Contains(all.Order.Unread, "does not answer") || all.Payments.Whole() {
				t.Errorf("with the server gone: %+v", all)
			}
		})
	}
}

func TestTheRowsOfAKindHaveALimit(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		s.bounds.rows = 2
		all := s.Order(t.Context(), "42")
		if !all.Refunds.Cut || len(all.Refunds.All) != 2 || all.Payments.Cut || all.Refunds.Whole() {
			t.Errorf("cut %v: %+v", all.Refunds.Cut, all.Refunds.All)
		}
	})
}

// Two link rows may lead from one refund to its order. It is still one refund.
func TestARefundThatIsLinkedTwiceCountsOnce(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE o (id {text})", "CREATE TABLE link (o {text}, p {text})", "CREATE TABLE r (id {id} PRIMARY KEY, p {text}, amount {money})", "CREATE TABLE bare (id {id}, p {text}, amount {money})",
			"INSERT INTO o VALUES ('o1')", "INSERT INTO link VALUES ('o1', 'p1'), ('o1', 'p1'), ('o1', 'p2'), ('O1', 'P1')", "INSERT INTO r VALUES (1, 'p1', 5), (2, 'p2', 5), (3, 'P1', 9), (10, 'p2', 5)", "INSERT INTO bare VALUES (1, 'p1', 5), (1, 'p2', 7)")
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{}},
			"refund":{"table":"r","join":{"table":"link","on":"p","order_key":"o"},"where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount"}}}`))
		want := []string{"refund 1  USD 5.00 returned  ", "refund 2  USD 5.00 returned  ", "refund 10  USD 5.00 returned  "}
		if diff := cmp.Diff(want, seen(s.Order(t.Context(), "o1"))); diff != "" {
			t.Error(diff)
		}
		bare := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{}},
			"refund":{"table":"bare","join":{"table":"link","on":"p","order_key":"o"},"where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount"}}}`))
		if all := bare.Order(t.Context(), "o1"); !strings.Contains(all.Refunds.Unread, "two rows have the id 1 and say") { // whichever of the two it is
			t.Errorf("two rows of one id: %+v", all.Refunds)
		}
		if all := s.Order(t.Context(), "o1"); !all.Payments.Unmapped || all.Payments.Whole() {
			t.Errorf("payments that no mapping knows are %+v", all.Payments)
		}
	})
}

// An order whose key cannot be known leaves what belongs to it unread, and what the mapping does not know unmapped.
func TestAnOrderWithoutAKeyHasNothingThatIsAbsent(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE o (id {text}, n {text})", "CREATE TABLE r (id {text}, o {text}, amount {money})", "INSERT INTO o VALUES (NULL, 'N1'), ('', 'N2')")
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{"number":"n"}},"refund":{"table":"r","order_key":"o","where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount"}}}`))
		for id, says := range map[string]string{"N1": "the order has no key", "N2": "the order has no key", "N3": "has no order N3"} {
			if all := s.Order(t.Context(), id); !strings.Contains(all.Refunds.Unread, says) || !all.Payments.Unmapped || all.Payments.Unread != "" {
				t.Errorf("%s: %+v", id, all)
			}
		}
	})
}

func TestAmountsBelowZero(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, "CREATE TABLE o (id {text})", "CREATE TABLE book (id {id}, o {text}, amount {money})", "INSERT INTO o VALUES ('o1')",
			"INSERT INTO book VALUES (1, 'o1', 50), (2, 'o1', -12.5), (3, 'o1', 0), (4, 'o1', NULL)")
		entities := func(sign string) string {
			one := `"table":"book","order_key":"o","where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount"}` + sign
			return `{"order":{"table":"o","key":"id","columns":{}},"payment":{` + one + `},"refund":{` + one + `}}`
		}
		signed := w.open(t, w.mapping(t, entities(`,"sign":"negative_is_refund"`)))
		want := []string{"payment 1 USD 50.00 paid   ", "payment 3 USD 0.00 paid   ", "payment 4 (: ) paid   ", "refund 2  USD 12.50 returned  ", "refund 4  (: ) returned  "}
		if diff := cmp.Diff(want, seen(signed.Order(t.Context(), "o1"))); diff != "" {
			t.Errorf("with the sign:\n%s", diff)
		}
		plain := w.open(t, w.mapping(t, entities("")))
		r := plain.Order(t.Context(), "o1").Refunds.All[1]
		if r.Amount.Money != nil || !strings.Contains(r.Amount.Problem, "below zero") {
			t.Errorf("without the sign: %+v", r.Amount)
		}
	})
}

func TestCellsThatOnlyOneEngineHas(t *testing.T) {
	mariaCells(t)
	postgresCells(t)
	sqliteCells(t)
}

// Case 55 and 56: what MySQL keeps and other drivers stumble over.
func mariaCells(t *testing.T) {
	t.Run("mysql", func(t *testing.T) {
		w := mysqlWorld(t)
		w.run(t, "SET SESSION sql_mode = ''", // for this connection alone, so the rest is one text with it
			"CREATE TABLE o (id bigint unsigned PRIMARY KEY, n char(8), total double, b bit(1), z int(8) unsigned zerofill)")
		conn, err := w.owner.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, s := range []string{"SET SESSION sql_mode = ''", "CREATE TABLE r (id int, o bigint unsigned, amount decimal(20,6), ok bit(1), at datetime, d date, yn char(1))",
			"INSERT INTO o VALUES (18446744073709551615, 'zero', 0.1 + 0.2e0, b'1', 42)", "INSERT INTO o VALUES (18446744073709551614, 'other', 49.9, b'0', 43)",
			"INSERT INTO r VALUES (1, 18446744073709551615, 12.5, b'1', '0000-00-00 00:00:00', '2026-05-13', 'Y'), (2, 18446744073709551615, 5, b'0', '2026-00-15', '0000-00-00', 'n')"} {
			if _, err := conn.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{"number":"z","total":"total"}},
			"refund":{"table":"r","order_key":"o","columns":{"id":"id","amount":"amount","status":"ok","refunded_at":"at"},"states":{"returned":["1"],"not_returned":["0"]}},
			"return":{"table":"r","order_key":"o","columns":{"id":"id","status":"yn","opened_at":"d"},"states":{"open":["Y"]}}}`))
		all := s.Order(t.Context(), "18446744073709551615")
		if len(all.Order.All) != 1 || all.Order.All[0].ID != "18446744073709551615" || all.Order.All[0].Number != "00000042" {
			t.Fatalf("the order is %+v", all.Order)
		}
		if total := all.Order.All[0].Total; total.Money != nil || !strings.Contains(total.Problem, "more digits") {
			t.Errorf("0.1 + 0.2 is %+v", total)
		}
		if diff := cmp.Diff([]string{"refund 1  USD 12.50 returned 1 ", "refund 2  USD 5.00 not_returned 0 ", "return 1 open Y 2026-05-13 ", "return 2 unknown n  "}, seen(all)); diff != "" {
			t.Error(diff)
		}
		if m := all.Refunds.All[0].RefundedAt; m.Problem != "" || !m.When.IsZero() {
			t.Errorf("a zero date is %+v, want nothing recorded", m)
		}
		if m := all.Refunds.All[1].RefundedAt; m.Problem == "" || !m.When.IsZero() {
			t.Errorf("2026-00-15 is %+v, want a problem", m)
		}
		if all := s.Order(t.Context(), "00000043"); len(all.Order.All) != 1 || all.Order.All[0].Total.Money == nil || all.Order.All[0].Total.Money.Minor != 4990 {
			t.Errorf("by a number with zeros in front: %+v", all.Order)
		}
	})
}

func postgresCells(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		w := postgresWorld(t)
		w.run(t, "CREATE TYPE mood AS ENUM ('ok', 'bad')", "CREATE DOMAIN ref AS bigint",
			"CREATE TABLE o (id uuid PRIMARY KEY, n character(8), total money, data jsonb)",
			"CREATE TABLE r (id ref, o uuid, amount double precision, m mood, b boolean, at timestamp, z timestamptz)",
			"INSERT INTO o VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'N1', 1234.5, '{\"a\": 1}')",
			"INSERT INTO r VALUES (9007199254740993, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 0.1::float8 + 0.2::float8, 'ok', true, 'infinity', '2026-05-13 16:12:08+02'), (2, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'NaN', NULL, false, '0044-03-15 BC', NULL)")
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{"number":"n","total":"total","customer":"data"}},
			"payment":{"table":"r","order_key":"o","columns":{"id":"id","amount":"amount","status":"b","paid_at":"z"},"states":{"paid":["true"],"failed":["false"]}},
			"refund":{"table":"r","order_key":"o","columns":{"id":"id","amount":"amount","status":"m","refunded_at":"at"},"states":{"returned":["ok"]}}}`))
		for _, id := range []string{"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "N1"} {
			all := s.Order(t.Context(), id)
			if len(all.Order.All) != 1 || all.Order.All[0].Total.Money == nil || all.Order.All[0].Total.Money.Minor != 123450 || all.Order.All[0].Customer != `{"a": 1}` {
				t.Fatalf("%s: the order is %+v", id, all.Order)
			}
			if p := all.Payments.All; p[1].ID != "9007199254740993" || p[1].State != shop.Paid || p[1].PaidAt.When.String() != "2026-05-13T14:12:08.000000Z" || p[0].State != shop.Failed {
				t.Errorf("payments are %+v", p)
			}
			for i, r := range all.Refunds.All {
				if r.Amount.Money != nil || r.Amount.Problem == "" || r.RefundedAt.Problem == "" || !r.RefundedAt.When.IsZero() {
					t.Errorf("refund %d: %+v", i, r)
				}
			}
			if all.Refunds.All[0].State != shop.Unseen || all.Refunds.All[1].State != shop.Returned {
				t.Errorf("states are %+v", all.Refunds.All)
			}
		}
		if all := s.Order(t.Context(), "not a uuid"); all.Order.Unread != "" || len(all.Order.All) != 0 {
			t.Errorf("an id of another form: %+v", all.Order)
		}
	})
}

// A column of SQLite holds what was put there, whatever its type says.
func sqliteCells(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		w := sqliteWorld(t)
		w.run(t, "CREATE TABLE o (id, total REAL, at DATETIME)", "CREATE TABLE r (id INTEGER, o, amount, ok BOOLEAN, at DATE)",
			"INSERT INTO o VALUES (42, 49.9, 'yesterday'), ('A', 0.1 + 0.2, '2026-05-13T16:12:08Z')",
			"INSERT INTO r VALUES (1, 42, 49.9, 1, '2026-05-13'), (2, '42', x'00ff', 'yes', 20260513), (3, 42, 'ten', NULL, '13/05/2026 16:12')")
		s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{"total":"total","placed_at":"at"}},
			"refund":{"table":"r","order_key":"o","columns":{"id":"id","amount":"amount","status":"ok","refunded_at":"at"},"states":{"returned":["1"]}}}`))
		all := s.Order(t.Context(), "42")
		if len(all.Refunds.All) != 3 || all.Order.All[0].Total.Money.Minor != 4990 || all.Order.All[0].PlacedAt.Problem == "" {
			t.Fatalf("read %+v", all)
		}
		for i, want := range []string{"USD 49.90", `(0x00FF: "0x00FF" is not an amount in a form that is understood, such as 49.90)`, `(ten: "ten" is not an amount in a form that is understood, such as 49.90)`} {
			if got := money(all.Refunds.All[i].Amount); got != want {
				t.Errorf("amount %d is %s, want %s", i, got, want)
			}
		}
		if all.Refunds.All[0].RefundedAt.When.String() != "2026-05-13" || all.Refunds.All[1].RefundedAt.Problem == "" || all.Refunds.All[2].RefundedAt.Problem == "" {
			t.Errorf("times are %+v", all.Refunds.All)
		}
		if total := s.Order(t.Context(), "A").Order.All[0].Total; total.Money != nil || total.Text != "0.30000000000000004" {
			t.Errorf("0.1 + 0.2 is %+v", total)
		}
	})
}

func TestManyMayReadAtOnceOverFourConnections(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		want := seen(s.Order(t.Context(), "42"))
		var all sync.WaitGroup
		for range 24 {
			all.Go(func() {
				if diff := cmp.Diff(want, seen(s.Order(t.Context(), "42"))); diff != "" {
					t.Error(diff)
				}
			})
		}
		all.Wait()
		if most := s.db.Stats().MaxOpenConnections; most != 4 {
			t.Errorf("the shop has to bear %d connections", most)
		}
	})
}

// What is read of one order is one state of the shop, however much it changes meanwhile.
func TestOneOrderIsReadInOneSnapshot(t *testing.T) {
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		t.Run(string(w.d), func(t *testing.T) {
			s := w.oddShop(t)
			err := s.inside(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				v := &visit{Shop: s, tx: tx}
				if _, key, why := v.order(ctx, "42"); key != "42" {
					t.Fatalf("the order is not there: %s", why)
				}
				w.make(t, "INSERT INTO «return» VALUES ('later', 42, 'open', NULL, NULL)")
				if rows, _, err := v.all(ctx, Return, "42"); err != nil || len(rows) != 1 {
					t.Errorf("a return that came meanwhile is among %v, %v", rows, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if all := s.Order(t.Context(), "42"); len(all.Returns.All) != 2 {
				t.Errorf("afterwards there are %+v", all.Returns.All)
			}
		})
	}
}

func TestSamplesAndValues(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		w.make(t, "INSERT INTO «return» VALUES ('y', 43, 'Open', NULL, NULL), ('z', 43, NULL, NULL, NULL), ('w', 43, 'open', NULL, NULL)")
		all, err := s.Samples(t.Context(), Refund, 2)
		if err != nil || len(all.Refunds.All) != 2 || all.Payments.Unread != "not asked for" || all.Refunds.All[0].Amount.Money == nil {
			t.Errorf("samples %+v, %v", all, err)
		}
		for _, k := range Kinds {
			if _, err := s.Samples(t.Context(), k, 5); err != nil {
				t.Errorf("samples of %s: %v", k.plural(), err)
			}
		}
		values, more, err := s.Values(t.Context(), "", "return", "status", 10)
		want := []Value{{"open", false, 2}, {"Open", false, 1}, {"", true, 1}}
		if diff := cmp.Diff(want, sortedValues(values)); diff != "" || more || err != nil {
			t.Errorf("more %v, %v:\n%s", more, err, diff)
		}
		if values, more, err := s.Values(t.Context(), "", "return", "status", 1); len(values) != 1 || !more || err != nil {
			t.Errorf("one of three: %v %v %v", values, more, err)
		}
		if _, _, err := s.Values(t.Context(), "", "return", "status; DROP TABLE refund", 1); countersign.KindOf(err) != countersign.Unprocessed {
			t.Errorf("a column that is not there: %v", err)
		}
	})
}

func TestAStatusThatNobodySortedIsFound(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		s := w.oddShop(t)
		w.make(t, "INSERT INTO «return» VALUES ('y', 43, 'Open', NULL, NULL), ('z', 43, ' open ', NULL, NULL)")
		all, err := s.Unsorted(t.Context())
		want := []Unsorted{{Refund, Value{"2", false, 1}}, {Return, Value{"Open", false, 1}}}
		if diff := cmp.Diff(want, all); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// sortedValues puts those of one count into an order: engines differ.
func sortedValues(values []Value) []Value {
	for i := range values {
		for j := range values[:i] {
			if values[i].Count == values[j].Count && values[i].Text > values[j].Text {
				values[i], values[j] = values[j], values[i]
			}
		}
	}
	return values
}

func TestTheRecordsAreJSONThatKeepsEveryDigit(t *testing.T) {
	w := sqliteWorld(t)
	text, err := json.Marshal(w.oddShop(t).Order(t.Context(), "42"))
	if err != nil || !strings.Contains(string(text), `"id":"42"`) || !strings.Contains(string(text), `"minor":1250`) {
		t.Errorf("%s, %v", text, err)
	}
}

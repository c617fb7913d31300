package connector

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
)

const wholeMapping = `{"name":"shop","driver":"postgres","dsn":"postgres://reader:hunter2@db/shop","zone":"UTC","currency":"USD","unit":"major",
 "entities":{
  "order":{"table":"orders","key":"id","columns":{"number":"no","placed_at":"at","total":"total"}},
  "payment":{"table":"payments","order_key":"order_id","columns":{"id":"id","amount":"amount","status":"status"},"states":{"paid":["captured"],"pending":["authorized"],"failed":["declined"]}},
  "refund":{"schema":"public","table":"refund","join":[{"table":"payment","on":"payment_id = id"},{"table":"order_payment","on":{"left":"a = b","right":"c"},"order_key":"order_id"}],
    "where":[{"column":"deleted_at","is_null":true},{"column":"kind","equals":"refund"}],
    "columns":{"id":"id","amount":"amount","currency":"payment.currency"},"unit":"minor","sign":"negative_is_refund"},
  "return":{"table":"return","order_key":"order_id","columns":{"id":"id","status":"status"},"states":{"open":["requested"],"closed":["received"]}}}}`

func TestAMappingIsReadAndWrittenWithoutLoss(t *testing.T) {
	m, err := ParseMapping([]byte(wholeMapping))
	if err != nil {
		t.Fatal(err)
	}
	if m.DSN != "postgres://reader:hunter2@db/shop" || m.WithoutDSN().DSN != "" || m.DSN == "" {
		t.Errorf("the DSN is %q", string(m.DSN))
	}
	r := m.Entities[Refund]
	if diff := cmp.Diff(Joins{{Table: "payment", On: On{"payment_id", "id"}}, {Table: "order_payment", On: On{"a = b", "c"}, OrderKey: "order_id"}}, r.Join); diff != "" {
		t.Error(diff)
	}
	for range 2 { // strictly, and as the store reads it back
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMapping(text)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, text)
		}
		var lenient Mapping
		if err := json.Unmarshal(text, &lenient); err != nil {
			t.Fatal(err)
		}
		for _, other := range []Mapping{again, lenient} {
			if diff := cmp.Diff(m, other); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestWhatIsWrongWithAMappingIsNamedByItsField(t *testing.T) {
	for _, row := range []struct{ name, from, to, field, says string }{
		{"an unknown field", `"zone":"UTC"`, `"zone":"UTC","colour":"red"`, "colour", "no such field"},
		{"a field that is there twice", `"zone":"UTC"`, `"zone":"UTC","zone":"Europe/Berlin"`, "zone", "twice"},
		{"twice, deep down", `"paid":["captured"]`, `"paid":["captured"],"paid":["settled"]`, "entities.payment.states.paid", "twice"},
		{"an unknown kind of record", `"return":{`, `"returns":{`, "entities.returns", "did you mean return?"},
		{"an unknown column", `"number":"no"`, `"numbr":"no"`, "entities.order.columns.numbr", "did you mean number?"},
		{"a column that is a number", `"number":"no"`, `"number":7`, "entities.order.columns.number", "7 stands where a text was expected"},
		{"an unknown list of states", `"paid":["captured"]`, `"payd":["captured"]`, "entities.payment.states.payd", "did you mean paid?"},
		{"a state that is no list", `"paid":["captured"]`, `"paid":"captured"`, "entities.payment.states.paid", "list of texts"},
		{"a state that is a number", `"paid":["captured"]`, `"paid":[1]`, "entities.payment.states.paid[0]", "in quotes"},
		{"a status in two lists", `"declined"`, `"captured "`, "entities.payment.states.paid[0]", "stands in failed and in paid"},
		{"an empty status", `"declined"`, `" "`, "entities.payment.states.failed[0]", "means nothing"},
		{"no kind of database", `"postgres"`, `"oracle"`, "driver", "write sqlite, postgres or mysql"},
		{"a zone that is none", `"zone":"UTC"`, `"zone":"Local"`, "zone", "not a time zone"},
		{"a currency that is none", `"currency":"USD"`, `"currency":"usd"`, "currency", "in capitals"},
		{"no currency", `"currency":"USD",`, ``, "entities.order.currency", "in which currency"},
		{"no unit", `,"unit":"major"`, ``, "entities.order.unit", "major or minor"},
		{"a unit that is none", `"unit":"minor"`, `"unit":"cents"`, "entities.refund.unit", "4990"},
		{"a sign that is none", `"negative_is_refund"`, `"negative"`, "entities.refund.sign", "negative_is_refund"},
		{"no order", `"order":{"table":"orders","key":"id","columns":{"number":"no","placed_at":"at","total":"total"}},`, ``, "entities.order", "missing"},
		{"an order without a key", `"key":"id",`, ``, "entities.order.key", "missing"},
		{"no way to the order", `"table":"return","order_key":"order_id"`, `"table":"return"`, "entities.return.order_key", "whose order"},
		{"two ways to the order", `"table":"refund",`, `"table":"refund","order_key":"x",`, "entities.refund.order_key", "joined table"},
		{"a join without its last column", `"on":{"left":"a = b","right":"c"},"order_key":"order_id"`, `"on":{"left":"a = b","right":"c"}`, "entities.refund.join[1].order_key", "the order's key"},
		{"a join on nothing", `"on":"payment_id = id"`, `"on":""`, "entities.refund.join[0].on", "which columns"},
		{"a join with another field", `"on":"payment_id = id"`, `"on":"payment_id = id","using":"x"`, "entities.refund.join[0].using", "no such field"},
		{"a condition that says two things", `"is_null":true`, `"is_null":true,"not_null":true`, "entities.refund.where[0]", "says one thing, this says 2"},
		{"a condition that says no", `"is_null":true`, `"is_null":false`, "entities.refund.where[0].is_null", "write not_null"},
		{"a condition on a boolean", `"equals":"refund"`, `"equals":true`, "entities.refund.where[1].equals", "in quotes"},
		{"nothing says which refunds happened", `"where":[{"column":"deleted_at","is_null":true},{"column":"kind","equals":"refund"}],`, ``, "entities.refund.columns.status", "which of these rows"},
		{"a status that nothing explains", `"states":{"open":["requested"],"closed":["received"]}`, `"states":{}`, "entities.return.states", "sort the statuses"},
		{"a refund without an amount", `"amount":"amount","currency":"payment.currency"`, `"currency":"payment.currency"`, "entities.refund.columns.amount", "missing"},
		{"no object", wholeMapping, `[1]`, "", "not one JSON object"},
		{"nothing", wholeMapping, ``, "", "not one JSON object"},
		{"two documents", wholeMapping, wholeMapping + `{}`, "", "more after its end"},
		{"a name that is too long", `"name":"shop"`, `"name":"` + strings.Repeat("x", 65) + `"`, "name", "1 to 64"},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := strings.Replace(wholeMapping, row.from, row.to, 1)
			if text == wholeMapping {
				t.Fatal("the case changes nothing")
			}
			_, err := ParseMapping([]byte(text))
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != countersign.Invalid || e.Field != row.field || !strings.Contains(e.Error(), row.says) {
				t.Errorf("the error is %v, want one at %q that says %q", err, row.field, row.says)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestAConnectionStringShowsItselfToNobody(t *testing.T) {
	m, err := ParseMapping([]byte(wholeMapping))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("mapping", "dsn", m.DSN, "mapping", m.WithoutDSN())
	}
	for _, text := range []string{fmt.Sprint(m), fmt.Sprintf("%v %+v %#v %s %q %x", m, m, m, m.DSN, m.DSN, m.DSN), m.DSN.String(), log.String()} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) || !strings.Contains(text, "connection string") && !strings.Contains(text, "5b636f6e") {
			t.Errorf("shown: %s", text)
		}
	}
}

func TestCheckFindsWhatTheDatabaseDoesNotHave(t *testing.T) {
	c := Catalog{Driver: Postgres, Tables: []Table{
		{Schema: "archive", Name: "orders", Columns: []Column{{Name: "id", Type: "bigint"}}},
		{Schema: "public", Name: "orders", Columns: []Column{{Name: "id", Type: "bigint"}, {Name: "number", Type: "text"}, {Name: "at", Type: "date"}, {Name: "total", Type: "numeric(20,6)"}}},
		{Schema: "public", Name: "payments", Columns: []Column{{Name: "id", Type: "text"}, {Name: "order_id", Type: "text"}, {Name: "amount", Type: "integer"}, {Name: "Status", Type: "text"}}},
		{Schema: "one", Name: "return"}, {Schema: "two", Name: "return"},
	}}
	m, err := ParseMapping([]byte(wholeMapping))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range m.Check(c) {
		got = append(got, e.Error())
		if e.Kind != countersign.Unprocessed {
			t.Errorf("%v is %s", e, e.Kind)
		}
	}
	want := []string{
		"entities.order.columns.number: orders has no column no that this role may read (there are id, number, at, total)",
		"entities.payment.columns.status: payments has no column status that this role may read (did you mean Status?)",
		"entities.refund.table: public has no table refund that this role may read",
		"entities.return.schema: missing: return is in one, two",
	}
	if diff := cmp.Diff(want[:2], got[:2]); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(got[2], "entities.refund.table: the database has no table refund") || got[3] != want[3] || len(got) != 4 {
		t.Errorf("found %q", got)
	}
	t.Run("the one schema of a SQLite file", func(t *testing.T) {
		file := Catalog{Driver: SQLite, Tables: []Table{{Name: "orders", Columns: []Column{{Name: "id"}}}, {Name: "lines", Columns: []Column{{Name: "order_id"}}}}}
		for schema, want := range map[string]string{"": "", "main": "", "Main": "", "public": "entities.order.schema: public has no table orders that this role may read (it is in main)"} {
			m := Mapping{Entities: map[Kind]Entity{Order: {Table: "orders", Schema: schema, Key: "id"},
				Return: {Table: "orders", Join: Joins{{Schema: "main", Table: "lines", On: On{"id", "order_id"}, OrderKey: "order_id"}}}}}
			all := m.Check(file)
			if want == "" && len(all) != 0 || want != "" && (len(all) != 1 || all[0].Error() != want) {
				t.Errorf("%q: found %v, want %q", schema, all, want)
			}
		}
	})
	t.Run("a key that cannot be one", func(t *testing.T) {
		m := Mapping{Entities: map[Kind]Entity{Order: {Table: "orders", Schema: "public", Key: "id"}, Payment: {Table: "payments", OrderKey: "order_id"}}}
		all := m.Check(c)
		if len(all) != 1 || all[0].Field != "entities.payment.order_key" || !strings.Contains(all[0].Message, "order_id holds text, and the key of an order is whole numbers") {
			t.Errorf("found %v", all)
		}
	})
}

// The reader survives whatever it is given, and what it accepts it writes back the same.
func FuzzParseMapping(f *testing.F) {
	seeds, err := filepath.Glob("testdata/mappings/*.json")
	if err != nil || len(seeds) < 5 {
		f.Fatalf("%d seeds, %v", len(seeds), err)
	}
	accepted := 0
	for _, path := range seeds {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := ParseMapping(text); err == nil {
			accepted++
		}
		f.Add(text)
	}
	if accepted == 0 || accepted == len(seeds) {
		f.Fatalf("%d of %d seeds are accepted: there must be both kinds", accepted, len(seeds))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseMapping(text)
		if err != nil {
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind == countersign.Internal {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMapping(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatal(diff)
		}
		for _, d := range []dialect{SQLite, Postgres, MySQL} { // nothing of it is anywhere in an empty catalog
			if found := m.Check(Catalog{Driver: string(d)}); len(found) < len(m.Entities) {
				t.Fatalf("found only %v", found)
			}
		}
	})
}

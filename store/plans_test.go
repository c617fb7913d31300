package store_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// whole is how a database says that it reads a table from end to end. The three indexes that hold the queue in its order are
// walked through, which is no such reading: a page takes from them what it shows and stops. PostgreSQL rightly reads small tables
// so, and is asked about the large ones only.
var whole = map[string]*regexp.Regexp{
	"sqlite":   regexp.MustCompile(`(?m)^SCAN (?:cases|transactions|accounts|customers|merchants|customer_words|claims|[a-z])\b(?: USING .*)?$`),
	"postgres": regexp.MustCompile(`(?m)(?:Seq Scan|Scan using \w+) on (?:cases|transactions|customer_words)\b.*$(?:\n(?:Filter|Join Filter).*)*(?:\n(?:->|JIT)|\z)`),
}

var walked = regexp.MustCompile(`COVERING INDEX cases_(?:in_order|counted|closed)$|Scan using cases_(?:in_order|counted|closed) `)

// Nothing that the pages of the queue and of a case ask, and nothing that a person types, has a database read a table from end
// to end. PostgreSQL is told to do so only where it knows no other way: else it would for as few rows as there are here.
func TestNoPageReadsAWholeTable(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 1200, Open: 400})
		now := s.Now()
		place := store.Place{Risk: now.UnixMicro(), ID: "D-4"}
		filters := map[string]store.Filter{
			"open": {Open: true}, "everything": {}, "closed": {Status: countersign.Closed}, "in review": {Status: countersign.InReview}, "for a person": {ForPerson: true},
			"the next page": {Open: true, After: place}, "the page before": {Open: true, Before: place},
			"closed, the next page": {Status: countersign.Closed, After: place}, "closed, the page before": {Status: countersign.Closed, Before: place},
			"overdue": {Due: store.Overdue}, "soon": {Due: store.DueSoon}, "undated": {Due: store.Undated}, "raised": {Raised: true},
			"all facets": {Desk: countersign.Bank, Status: countersign.InReview, Complaint: countersign.FailedTransfer, Reason: countersign.AboveCap, Recommendation: "resolve"},
			"a customer": {CustomerID: "CU-1"}, "mine": {Holder: "usr_1"},
		}
		for _, typed := range typed {
			filters["typing "+typed] = store.Filter{Open: true, Query: typed}
			filters["closed, typing "+typed] = store.Filter{Status: countersign.Closed, Query: typed}
		}
		for name, f := range filters {
			f.Now = now
			t.Run(name, func(t *testing.T) {
				readsNoWholeTable(t, s, func(v store.View) error {
					if _, err := v.Page(ctx, f); err != nil {
						return err
					}
					_, err := v.QueueCounts(ctx, f)
					return err
				})
			})
		}
		for _, typed := range typed {
			t.Run("a transaction, typing "+typed, func(t *testing.T) {
				readsNoWholeTable(t, s, func(v store.View) error { _, _, err := v.FindTransactions(ctx, typed, 20); return err })
			})
		}
		t.Run("a case", func(t *testing.T) {
			readsNoWholeTable(t, s, func(v store.View) error {
				if _, err := v.EarlierCases(ctx, countersign.Case{ID: "D-4", CustomerID: "CU-1"}, 6); err != nil {
					return err
				}
				_, _, err := v.Holder(ctx, "D-4", now)
				return err
			})
		})
	})
}

// typed is what people type: it fits one case, or many, or none.
var typed = []string{"D-", "d-4", "TX-7", "CU-9", "okafor", "ada okafor", "12.25", "NGN 1,225", "REF-7", "3000", "****0017"}

// The book of a payment is read by whose it is. The index of amounts is for who searches: a bank has a million payments of a round sum.
func TestABookIsReadByItsAccount(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 30, Open: 10})
		var id string
		if err := s.DB().QueryRow("SELECT id FROM transactions ORDER BY id LIMIT 1").Scan(&id); err != nil {
			t.Fatal(err)
		}
		asked := 0
		plans(t, s, func(v store.View) error { _, err := v.Book(ctx, id); return err }, func(statement, plan string) {
			asked++
			if strings.Contains(plan, "transactions_by_amount") {
				t.Errorf("%s\nis answered by\n%s", statement, plan)
			}
		})
		if asked < 8 {
			t.Errorf("only %d statements were heard", asked)
		}
	})
}

// A share of the record is read from its beginning to its end, and not to the end of the record: with a million cases there are thousands.
func TestAShareIsReadToItsEnd(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 300, Open: 100})
		ends := map[string]string{"sqlite": "id>? AND", "postgres": ">= "}[s.Engine()]
		asked := 0
		plans(t, s, func(v store.View) error { return v.VerifyBetween(ctx, "D-3", "D-4") }, func(statement, plan string) {
			asked++
			if !regexp.MustCompile(regexp.QuoteMeta(ends) + ".*<").MatchString(plan) {
				t.Errorf("%s\nis answered by\n%s", statement, plan)
			}
		})
		if asked != 5 {
			t.Errorf("%d statements were heard: cases, rows, reports, files, packs", asked)
		}
	})
}

// readsNoWholeTable asks the database how it would answer each statement of what is read.
func readsNoWholeTable(t *testing.T, s *store.Store, read func(store.View) error) {
	t.Helper()
	plans(t, s, read, func(statement, plan string) {
		for _, step := range whole[s.Engine()].FindAllString(plan, -1) {
			if !walked.MatchString(step) {
				t.Errorf("%s\nin %s", step, statement)
			}
		}
	})
}

// plans tells how the database would answer each statement of what is read.
func plans(t *testing.T, s *store.Store, read func(store.View) error, tell func(statement, plan string)) {
	t.Helper()
	type statement struct {
		text string
		args []any
	}
	var heard []statement
	if err := read(store.Overheard(s.View, func(text string, args []any) { heard = append(heard, statement{text, args}) })); err != nil {
		t.Fatal(err)
	}
	if len(heard) == 0 {
		t.Fatal("nothing was asked")
	}
	tx, err := s.DB().Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	explain := "EXPLAIN QUERY PLAN "
	if s.Engine() == "postgres" {
		explain = "EXPLAIN "
		if _, err := tx.Exec("SET LOCAL enable_seqscan = off"); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range heard {
		tell(h.text, plan(t, tx, explain+h.text, h.args))
	}
}

// plan is a database's answer, line by line.
func plan(t *testing.T, tx *sql.Tx, text string, args []any) string {
	t.Helper()
	rows, err := tx.Query(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(sql.NullString)
		}
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, strings.TrimSpace(row[len(row)-1].(*sql.NullString).String))
	}
	if err := rows.Err(); err != nil || len(steps) == 0 {
		t.Fatalf("%s has no plan: %v", text, err)
	}
	return strings.Join(steps, "\n")
}

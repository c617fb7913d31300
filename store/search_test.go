package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

func TestSearch(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		imports(t, s, records.Set{Customers: []records.Customer{
			{ID: "C-ADA", Name: "Ada Obi-Eze"}, {ID: "C-2", Name: "ADAEZE  Nwosu"}, {ID: "C-3", Name: `Chi "Chi" O'Neil \ {}`}, {ID: "C-4", Name: "Ọlá Bello"}, {ID: "C-5", Name: "-"},
		}})
		for _, row := range []struct {
			id       countersign.CaseID
			customer string
			amount   countersign.Money
		}{
			{"D-1", "C-ADA", ngn(2_450_000)}, {"D-2", "C-2", ngn(24_500)}, {"D-3", "C-3", countersign.Money{Minor: 24_500, Currency: "JPY"}},
			{"D-4", "C-4", countersign.Money{Minor: 24_500_500, Currency: "KWD"}}, {"D-5", "C-5", ngn(2_450_050)}, {"D-6", "gone", countersign.Money{Minor: 24_500, Currency: "???"}},
		} {
			c := queued(row.id)
			c.CustomerID, c.Amount, c.Subject.ID = row.customer, row.amount, "TX-"+string(row.id[2:])
			shelve(t, s, c)
		}
		for _, row := range []struct {
			typed string
			want  []string
		}{
			{"C-ADA", []string{"D-1"}},
			{"gone", []string{"D-6"}},
			{"TX-4", []string{"D-4"}},
			{"TX-", nil},
			{"ada", []string{"D-1", "D-2"}},
			{"ADA OBI", []string{"D-1"}},
			{"eze ada", []string{"D-1"}},
			{"obi-e", []string{"D-1"}},
			{"adae", []string{"D-2"}},
			{"nwosu  adaeze", []string{"D-2"}},
			{"da", nil},
			{"a", nil},
			{"ada nwosu bello", nil},
			{"o'neil", []string{"D-3"}},
			{`"chi"`, []string{"D-3"}},
			{`\`, nil},
			{`chi \`, []string{"D-3"}},
			{"Ọlá", []string{"D-4"}},
			{"-", nil},
			{"%", nil},
			{"24,500.00", []string{"D-1", "D-3"}},
			{"24500", []string{"D-1", "D-3"}},
			{"NGN 24,500", []string{"D-1"}},
			{"ngn24500.0", []string{"D-1"}},
			{"24 500 JPY", []string{"D-3"}},
			{"USD 24,500", nil},
			{"24500.5", []string{"D-4", "D-5"}},
			{"24500.50 KWD", []string{"D-4"}},
			{"24500.505", nil},
			{"245", []string{"D-2"}},
			{"-24500", nil},
			{"99999999999999999999", nil},
			{".", nil},
			{"", []string{"D-1", "D-2", "D-3", "D-4", "D-5", "D-6"}},
			{" \t", []string{"D-1", "D-2", "D-3", "D-4", "D-5", "D-6"}},
			{"a b c d e f g", nil},
			{"D-\x00", nil},
			{"D-\xff", nil},
		} {
			t.Run("typing "+row.typed, func(t *testing.T) {
				if diff := cmp.Diff(row.want, list(t, s.View, store.Filter{Query: row.typed, Limit: 4})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		t.Run("a customer who is renamed is found by the new name", func(t *testing.T) {
			again := records.Set{Customers: []records.Customer{{ID: "C-ADA", Name: "Ada Bello"}, {ID: "C-2", Name: "ADAEZE  Nwosu", Email: "a@example.com"}}}
			if done, err := importRows(s, rowsOf(again)); err != nil || done.Changed != 2 {
				t.Fatal(done, err)
			}
			for typed, want := range map[string][]string{"eze": nil, "bello": {"D-1", "D-4"}, "nwosu": {"D-2"}} {
				if diff := cmp.Diff(want, list(t, s.View, store.Filter{Query: typed, Limit: 4})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", typed, diff)
				}
			}
		})
	})
}

// A search that fits a few cases reads them one by one, one that fits many walks through the list. Both find the same.
func TestASearchFindsFewAndMany(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 1600, Open: 700})
		var all []countersign.Case
		for f := (store.Filter{Limit: 500}); ; {
			cases, next, err := s.Cases(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, cases...)
			if f.After = next; next == (store.Place{}) {
				break
			}
		}
		names := map[string]string{}
		for _, c := range all {
			if names[c.CustomerID] == "" {
				customer, err := s.Customer(ctx, c.CustomerID)
				if err != nil {
					t.Fatal(err)
				}
				names[c.CustomerID] = " " + strings.ReplaceAll(strings.ToLower(customer.Name), "-", " ")
			}
		}
		for _, typed := range []string{"D-", "d", "C-", "c-0", "o", "ada", "okafor ada", "TX-7", "CU-9", "12.25", "a"} {
			var want []string
			for _, c := range all {
				named := len(typed) > 2 && strings.Contains(names[c.CustomerID], " "+typed) || typed == "okafor ada" && names[c.CustomerID] == " ada okafor"
				if named || strings.HasPrefix(string(c.ID), strings.ToUpper(typed)) || c.Subject.ID == typed || c.CustomerID == typed ||
					typed == "12.25" && c.Amount.Minor == 1_225 {
					want = append(want, string(c.ID))
				}
			}
			if got := list(t, s.View, store.Filter{Query: typed, Limit: 200}); !slices.Equal(got, want) {
				t.Errorf("typing %q finds %d cases, want %d", typed, len(got), len(want))
			}
		}
		t.Run("so it is with the many cases of one customer", func(t *testing.T) {
			exec(t, s, "UPDATE cases SET customer_id = 'CU-0' WHERE customer_id <> 'CU-1'")
			f := store.Filter{Query: "CU-0", Limit: 200}
			if got := list(t, s.View, f); len(got) != 1596 {
				t.Errorf("%d are found", len(got))
			}
			counts, err := s.QueueCounts(ctx, f)
			f.Open = true
			if got := list(t, s.View, f); err != nil || len(got) != counts.Open || counts.Open < 600 {
				t.Errorf("%d open ones are found, and %d counted, %v", len(got), counts.Open, err)
			}
		})
	})
}

func TestASearchSaysThatItLookedAtSomeOnly(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for from := 0; from < 1200; from += 400 {
			var set records.Set
			for n := range 400 {
				set.Customers = append(set.Customers, records.Customer{ID: fmt.Sprintf("C%04d", from+n), Name: "Ada Obi"})
			}
			imports(t, s, set)
		}
		for _, customer := range []string{"C0003", "C1199"} {
			c := queued(countersign.CaseID("D-" + customer))
			c.CustomerID = customer
			shelve(t, s, c)
		}
		page, err := s.Page(ctx, store.Filter{Query: "obi"})
		if err != nil || !page.Capped || len(page.Cases) != 1 {
			t.Errorf("got %d cases, capped %v, %v", len(page.Cases), page.Capped, err)
		}
		page, err = s.Page(ctx, store.Filter{Query: "nobody"})
		if err != nil || page.Capped || len(page.Cases) != 0 {
			t.Errorf("got %d cases, capped %v, %v", len(page.Cases), page.Capped, err)
		}
	})
}

// Names that were imported before there was a way to look for them are found too.
func TestNamesOfAnOlderDatabase(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		older(t, database, 2,
			"INSERT INTO customers (id, name, email, phone, home_city, home_country, joined_at, flags) VALUES ('C1', 'Ada Obi-Eze', '', '', '', '', '', ''), ('C2', 'eze EZE', '', '', '', '', '', '')",
			`INSERT INTO cases (id, desk, subject_kind, subject_id, customer_id, channel, reason, notes, amount_minor, currency, status, stage,
				recommendation, outcome, handled_by, raised, opened_at, updated_at, due_source, risk, round, revision, proposal, facts, verdict, reasons,
				fix, message, model, lease_token, lease_until, job_id)
			VALUES ('D-1', 'bank', 'transaction', 'T-1', 'C1', 'api', 'other', '', 1, 'NGN', 'queued', '', '', '', '', FALSE, 0, 0, 'unknown', 0, 1, 1, '', '', '',
				' ', '{"state":"none"}', '', '{}', 0, 0, 0)`)
		again := open(t, database)
		if v := again.Migrated(); v.From != 2 {
			t.Fatalf("it went %+v", v)
		}
		if got := list(t, again.View, store.Filter{Query: "eze ada", Limit: 2}); !slices.Equal(got, []string{"D-1"}) {
			t.Errorf("got %q", got)
		}
		if n := number(t, again, "SELECT COUNT(*) FROM customer_words"); n != 4 {
			t.Errorf("%d words, want 4", n)
		}
	})
}

func TestFindTransactions(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		set := records.Set{
			Customers: []records.Customer{{ID: "C1", Name: "Ada Obi"}, {ID: "C2", Name: "Bola Ada"}},
			Accounts: []records.Account{{ID: "A1", CustomerID: "C1", Number: "0000014579", Currency: "NGN"}, {ID: "A2", CustomerID: "C2", Number: "0000024579", Currency: "NGN"},
				{ID: "A3", CustomerID: "C2", Number: "579", Currency: "NGN"}},
			Merchants: []records.Merchant{{ID: "M1", Name: "Mama's Kitchen"}},
		}
		for i, change := range []func(*records.Transaction){
			func(tr *records.Transaction) { tr.ID, tr.MerchantID = "T1", "M1" },
			func(tr *records.Transaction) { tr.ID, tr.Reference = "T2", "REF 7" },
			func(tr *records.Transaction) { tr.ID, tr.EndToEndID = "T3", "E2E-7" },
			func(tr *records.Transaction) { tr.ID, tr.AccountID, tr.AmountMinor = "T4", "A2", 2_450_000 },
			func(tr *records.Transaction) { tr.ID, tr.AccountID = "T5", "A3" },
		} {
			tr := transaction("")
			tr.OccurredAt = countersign.At(time.Date(2026, 11, 20+i, 9, 0, 0, 0, time.UTC))
			change(&tr)
			set.Transactions = append(set.Transactions, tr)
		}
		imports(t, s, set)
		for _, id := range []countersign.CaseID{"D-open", "D-closed", "D-other"} {
			c := queued(id)
			c.Subject.ID, c.Reason = "T2", countersign.FailedTransfer
			switch id {
			case "D-closed":
				c.Status = countersign.Closed
			case "D-other":
				c.Reason = countersign.WrongAmount
			}
			shelve(t, s, c)
		}
		for _, row := range []struct {
			typed string
			limit int
			want  string
			more  bool
		}{
			{" T1 ", 9, "T1", false}, {"REF 7", 9, "T2", false}, {"E2E-7", 9, "T3", false}, {"C1", 9, "T3 T2 T1", false},
			{"ada", 9, "T5 T4 T3 T2 T1", false}, {"bola", 9, "T5 T4", false}, {"0000014579", 9, "T3 T2 T1", false},
			{"4579", 9, "T4 T3 T2 T1", false}, {"****4579", 9, "T4 T3 T2 T1", false}, {"579", 9, "T5", false}, {"0579", 9, "", false},
			{"24,500.00", 9, "T4", false}, {"NGN 5", 9, "T5 T3 T2 T1", false}, {"USD 5", 9, "", false}, {"", 9, "", false}, {"nothing", 9, "", false},
			{"ada", 5, "T5 T4 T3 T2 T1", false}, {"ada", 4, "T5 T4 T3 T2", true}, {"C1", 1, "T3", true},
		} {
			t.Run(fmt.Sprintf("typing %q, at most %d", row.typed, row.limit), func(t *testing.T) {
				found, more, err := s.FindTransactions(ctx, row.typed, row.limit)
				var ids []string
				for _, f := range found {
					ids = append(ids, f.ID)
				}
				if got := strings.Join(ids, " "); got != row.want || more != row.more || err != nil {
					t.Errorf("got %q, more %v, %v; want %q, %v", got, more, err, row.want, row.more)
				}
			})
		}
		t.Run("each comes with its owner, its merchant and what is open about it", func(t *testing.T) {
			found, _, err := s.FindTransactions(ctx, "C1", 9)
			if err != nil || len(found) != 3 {
				t.Fatalf("got %d, %v", len(found), err)
			}
			if found[2].Merchant != "Mama's Kitchen" || found[2].Account.Number != "0000014579" || found[2].Customer.Name != "Ada Obi" || found[2].Open != nil {
				t.Errorf("got %+v", found[2])
			}
			want := []store.OpenDispute{{ID: "D-open", Reason: countersign.FailedTransfer, Status: countersign.Queued},
				{ID: "D-other", Reason: countersign.WrongAmount, Status: countersign.Queued}}
			if diff := cmp.Diff(want, found[1].Open); diff != "" || found[1].Merchant != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
}

func TestFindTransactionsOfManyAccounts(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		set := records.Set{Customers: []records.Customer{{ID: "C1", Name: "Ada Obi"}}}
		for n := range 101 {
			account := fmt.Sprintf("A%03d", n)
			tr := transaction("T-" + account)
			tr.AccountID = account
			set.Accounts = append(set.Accounts, records.Account{ID: account, CustomerID: "C1", Currency: "NGN"})
			set.Transactions = append(set.Transactions, tr)
		}
		imports(t, s, set)
		found, more, err := s.FindTransactions(ctx, "C1", 200)
		if len(found) != 100 || !more || err != nil {
			t.Errorf("got %d, more %v, %v: it should say that not all accounts were looked at", len(found), more, err)
		}
	})
}

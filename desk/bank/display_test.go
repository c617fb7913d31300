package bank

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/desk"
	"countersign/desk/bank/records"
	"countersign/store"
)

// twice is the books with a copy of the disputed payment a minute later, so that the facts of a double charge are there too.
func twice() records.Set {
	set := books()
	second := set.Transactions[0]
	second.ID, second.OccurredAt, second.EndToEndID = "TX-3", at("09:15:00"), "E2E-1"
	set.Transactions = append(set.Transactions, second)
	set.LedgerEntries = append(set.LedgerEntries, posted("LE-3", "TX-3", "A-1", countersign.Debit, 24_500_00, records.Original))
	return set
}

func displayed(t *testing.T, set records.Set) (desk.Display, countersign.Facts) {
	t.Helper()
	s := openBooks(t, set)
	d, err := display(t.Context(), s.View, dispute())
	if err != nil {
		t.Fatal(err)
	}
	read, err := facts(t.Context(), s.View, dispute())
	if err != nil {
		t.Fatal(err)
	}
	return d, read
}

func TestEveryFactHasATitle(t *testing.T) {
	titles := map[string]string{}
	for _, group := range factGroups {
		for _, fact := range group.Facts {
			if titles[fact.Name] != "" {
				t.Errorf("%s has two titles", fact.Name)
			}
			titles[fact.Name] = fact.Title
		}
	}
	_, read := displayed(t, twice())
	if len(read.Items) < 20 {
		t.Fatalf("only %d facts were read: there is nothing to check", len(read.Items))
	}
	for _, fact := range read.Items {
		if titles[fact.Name] == "" {
			t.Errorf("%s has no title", fact.Name)
		}
		delete(titles, fact.Name)
	}
	for name := range titles {
		t.Errorf("%s has a title, and no rule reads such a fact", name)
	}
}

func TestEveryFactLeadsToItsRows(t *testing.T) {
	d, read := displayed(t, twice())
	for _, fact := range read.Items {
		if !slices.ContainsFunc(d.Tables, func(table desk.Table) bool { return leads(table, fact.Source) }) {
			t.Errorf("%s was read from %q, which is on no table", fact.Name, fact.Source)
		}
	}
}

// leads reports whether every id of a source is a row of the table.
func leads(table desk.Table, from string) bool {
	for _, begin := range table.Cited {
		ids, ok := strings.CutPrefix(from, begin+" ")
		if !ok {
			continue
		}
		for id := range strings.SplitSeq(ids, ", ") {
			if !slices.ContainsFunc(table.Rows, func(r desk.Row) bool { return r.ID == id }) {
				return false
			}
		}
		return true
	}
	return false
}

func TestTheDisplay(t *testing.T) {
	d, _ := displayed(t, twice())
	all, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("masks account numbers", func(t *testing.T) {
		for _, number := range []string{ourNumber, theirNumber} {
			if strings.Contains(string(all), number) {
				t.Errorf("it shows %s whole", number)
			}
		}
		if d.Accounts["A-1"] != "account ****0031" {
			t.Errorf("the account is called %q", d.Accounts["A-1"])
		}
	})
	t.Run("says of other people's words who wrote them", func(t *testing.T) {
		for _, line := range d.Lines {
			if (line.Label == "Memo" || line.Label == "Paid to") && line.Cell.By == "" {
				t.Errorf("%s is shown as the bank's own word: %+v", line.Label, line.Cell)
			}
		}
	})
	t.Run("has as many cells in each row as columns", func(t *testing.T) {
		for _, table := range d.Tables {
			for _, row := range table.Rows {
				if len(row.Cells) != len(table.Columns) {
					t.Errorf("%s, row %s has %d cells for %d columns", table.Name, row.ID, len(row.Cells), len(table.Columns))
				}
			}
		}
	})
	t.Run("marks the rows that the case is about", func(t *testing.T) {
		for _, table := range d.Tables {
			if table.Name != "devices" && !slices.ContainsFunc(table.Rows, func(r desk.Row) bool { return r.Mine }) {
				t.Errorf("no row of %s is marked", table.Name)
			}
		}
	})
	t.Run("shows the entries that a fix would stand beside", func(t *testing.T) {
		if len(d.Ledger) != 2 || d.Ledger[0].TransactionID != "TX-1" || d.Ledger[0].Amount.Minor != 24_500_00 {
			t.Errorf("it shows %+v", d.Ledger)
		}
	})
	t.Run("of another customer's transaction is refused", func(t *testing.T) {
		s := openBooks(t, books())
		c := dispute(func(c *countersign.Case) { c.Subject.ID = "TX-2" })
		if _, err := display(t.Context(), s.View, c); countersign.KindOf(err) != countersign.Forbidden {
			t.Errorf("got %v", err)
		}
	})
}

func TestWhatAStepReadIsToldInWords(t *testing.T) {
	s := openBooks(t, books())
	for tool, want := range map[string]string{
		"get_transaction":          "read the transaction: NGN 24,500.00, posted",
		"get_ledger_entries":       "read the ledger: 1 entry, nothing given back",
		"get_settlement_status":    "read the settlement: failed, final",
		"get_device_and_location":  "read device and place: trusted device, at home",
		"get_customer_profile":     "read the customer's profile: not flagged",
		"get_customer_history":     "read the customer's earlier cases: 0 open, 0 closed",
		"get_merchant_info":        "read the merchant: none is named",
		"get_related_transactions": "read related transactions: 0 possible copies, 0 other debits around it",
	} {
		if got := tell(stepWith(t, s.View, tool)); got != want {
			t.Errorf("%s is told as %q, want %q", tool, got, want)
		}
	}
	for name, row := range map[string]struct {
		step countersign.Step
		want string
	}{
		"one that failed":                  {countersign.Step{Tool: "get_ledger_entries"}, "could not read the ledger"},
		"a tool that does not exist":       {countersign.Step{Tool: "transfer\nmoney"}, `called "transfer\nmoney"`},
		"a result of an unexpected form":   {countersign.Step{Tool: "get_ledger_entries", OK: true, Result: json.RawMessage(`[1]`)}, "read the ledger"},
		"a result that is not JSON at all": {countersign.Step{Tool: "get_ledger_entries", OK: true, Result: json.RawMessage(`{`)}, "read the ledger"},
	} {
		if got := tell(row.step); got != row.want {
			t.Errorf("%s is told as %q, want %q", name, got, row.want)
		}
	}
}

func stepWith(t *testing.T, v store.View, tool string) countersign.Step {
	t.Helper()
	result, _ := call(t, v, dispute(), tool)
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return countersign.Step{Tool: tool, OK: true, Result: raw}
}

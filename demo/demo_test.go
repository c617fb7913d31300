package demo

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/redact"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 30, 12, 34, 56, 789, time.UTC)

func TestTheBankIsTheSameEveryTime(t *testing.T) {
	one, two := spelled(t, Bank(now)), spelled(t, Bank(now.In(time.FixedZone("Lagos", 3600))))
	if one != two {
		t.Error("two banks of the same moment differ")
	}
	if later := spelled(t, Bank(now.AddDate(0, 1, 0))); later == one {
		t.Error("a bank of another month is the same")
	}
}

func spelled(t *testing.T, set records.Set) string {
	t.Helper()
	b, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEveryRowOfTheBankCouldBeImported(t *testing.T) {
	set := Bank(now)
	known := map[records.Array]map[string]bool{}
	for _, array := range records.Arrays {
		known[array] = map[string]bool{}
	}
	for row := range set.Rows() {
		for _, problem := range row.Record.Validate() {
			t.Errorf("%s: %v", row.Record.Key(), problem)
		}
		if known[row.Record.Array()][row.Record.Key()] {
			t.Errorf("%s %s is there twice", row.Record.Array(), row.Record.Key())
		}
		known[row.Record.Array()][row.Record.Key()] = true
	}
	names := func(array records.Array, from, id string) {
		if id != "" && !known[array][id] {
			t.Errorf("%s names %s %q, which is not there", from, array, id)
		}
	}
	for _, x := range set.Accounts {
		names(records.Customers, x.ID, x.CustomerID)
	}
	for _, x := range set.Devices {
		names(records.Customers, x.ID, x.CustomerID)
	}
	for _, x := range set.Transactions {
		names(records.Accounts, x.ID, x.AccountID)
		names(records.Merchants, x.ID, x.MerchantID)
		names(records.Devices, x.ID, x.DeviceID)
		if at, ok := x.OccurredAt.Instant(); ok && at.After(now) {
			t.Errorf("%s happens in the future, at %s", x.ID, x.OccurredAt)
		}
	}
	for _, x := range set.LedgerEntries {
		names(records.Transactions, x.ID, x.TransactionID)
		names(records.Accounts, x.ID, x.AccountID)
	}
	for _, x := range set.Settlements {
		names(records.Transactions, "a settlement", x.TransactionID)
	}
	if n := len(set.Transactions); len(set.Customers) < 40 || n < 1500 || n > 2500 {
		t.Errorf("the bank has %d customers and %d transactions", len(set.Customers), n)
	}
}

func TestAccountNumbersHaveTheirCheckDigit(t *testing.T) {
	// The two examples that the standard is usually explained with, of bank 011.
	for serial, want := range map[string]rune{"011000001457": 9, "011000000022": 0} {
		if got := checkDigit(serial); got != want {
			t.Errorf("the check digit of %s is %d, want %d", serial, got, want)
		}
	}
	seen := map[string]bool{}
	for _, a := range Bank(now).Accounts {
		if len(a.Number) != 10 || rune(a.Number[9]-'0') != checkDigit(bankCode+a.Number[:9]) {
			t.Errorf("%s is no account number", a.Number)
		}
		if seen[a.Number] {
			t.Errorf("%s is there twice", a.Number)
		}
		seen[a.Number] = true
		if shown := redact.Mask("account " + a.Number).String(); strings.Contains(shown, a.Number) {
			t.Errorf("%s is not taken for an account number: %s", a.Number, shown)
		}
	}
}

func TestTheDisputesCoverEveryOutcomeAndEveryReason(t *testing.T) {
	disputes := Disputes()
	set := Bank(now)
	reasons, outcomes, automatic := map[countersign.ReasonCode]int{}, map[countersign.Outcome]int{}, 0
	ids := map[string]bool{}
	for _, d := range disputes {
		if !slices.ContainsFunc(set.Transactions, func(t records.Transaction) bool { return t.ID == d.TransactionID }) || ids[d.TransactionID] {
			t.Errorf("%s: transaction %s is not in the bank, or disputed twice", d.Title, d.TransactionID)
		}
		ids[d.TransactionID] = true
		outcomes[d.WantOutcome]++
		for _, code := range d.Want {
			reasons[code]++
		}
		if len(d.Want) == 0 {
			automatic++
		}
		if d.Notes == "" || d.Title == "" || d.Channel == "" {
			t.Errorf("%s says nothing", d.TransactionID)
		}
		if d.Script != "" && (Script(d.Script) == nil || !strings.HasPrefix(d.Title, "scripted: ")) {
			t.Errorf("%s is worked by script %q, which does not exist or is not named in the title", d.Title, d.Script)
		}
	}
	for _, code := range countersign.ReasonOrder {
		if reasons[code] == 0 && !shopReason[code] {
			t.Errorf("no dispute shows the reason %s", code)
		}
	}
	for _, outcome := range []countersign.Outcome{"", countersign.Resolved, countersign.Rejected, countersign.Escalated} {
		if outcomes[outcome] == 0 {
			t.Errorf("no dispute ends %q", outcome)
		}
	}
	if len(disputes) < 24 || automatic < 8 {
		t.Errorf("%d disputes, %d of them automatic", len(disputes), automatic)
	}
}

func TestScripts(t *testing.T) {
	if Script("") != nil || Script("unheard of") != nil {
		t.Error("there is a script without a name")
	}
	for name := range scripts {
		if diff := cmp.Diff("scripted", Script(name).Identity().Provider); diff != "" || Script(name).Identity().Name != name {
			t.Errorf("%s does not say that it is a script: %+v", name, Script(name).Identity())
		}
	}
}

// shopReason are the reasons that no dispute at the bank's desk can have, and those of a bank whose own core posts its fixes, or that asks
// several models within budgets: the demo's does neither.
var shopReason = map[countersign.ReasonCode]bool{
	countersign.QuoteUnverified: true, countersign.OrderNotFound: true, countersign.DeadlinePassed: true, countersign.RefundContradictsContest: true,
	countersign.NoRefundContradictsAccept: true, countersign.PartialRefund: true, countersign.OpenReturn: true,
	countersign.PolicyNewerThanOrder: true, countersign.PersonDecides: true, countersign.FixDeclined: true, countersign.FixOutcomeUnknown: true,
	countersign.ReopenedByEvent: true, countersign.RefundHasFailed: true, countersign.BudgetReached: true, countersign.OfflineStoodIn: true,
}

package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/bank/records"
	"countersign/eval"
	chromium "countersign/internal/browser"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
)

// A bank that nobody here invented: its rows go in as a file, and a dispute that its customer filed goes all the way through.
func TestADisputeOfAnOutsideBank(t *testing.T) {
	t.Parallel()
	set, disputes, err := eval.OutsideBank(testdb.Shared(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	dispute := disputes[slices.IndexFunc(disputes, func(r intake.Request) bool { return r.Reason == countersign.DuplicateCharge })]
	disputed := set.Transactions[slices.IndexFunc(set.Transactions, func(r records.Transaction) bool { return r.ID == dispute.SubjectID })]
	o := newOffice(t)
	s := o.sits(auth.Approver, chromium.Options{})
	s.comesIn()

	// There is nothing yet: the queue says what to do, and the rows are brought in.
	s.See("No dispute yet")
	s.ClickText("Import records")
	s.Attach("#files", written(t, set))
	s.ClickText("Check the files")
	s.At("/import/*")
	s.See("Checked, nothing is stored yet")
	s.See("3 refused rows are left out") // two without a date, and one without a kind
	s.ClickText("Import 888 rows")
	s.See("Imported 888 rows")
	s.Click("main a[href='/open']")

	// The transaction is found by its amount.
	s.Type("#q", disputed.Amount().String())
	s.ClickText("Look it up")
	s.Click("a[href^='/open?transaction=" + disputed.ID + "&']")
	s.See(disputed.ID)
	s.ClickText("Charged twice")
	s.Type("#notes", dispute.Notes[:300])
	s.ClickText("Open the dispute over " + disputed.Amount().String())
	s.At("/cases/*")
	s.See("The dispute is open, and its investigation begins.")

	// That bank keeps no ledger, no settlements and no devices: the case says so, and no fix is offered.
	s.See("Why a person must look")
	s.See("By themselves the records support no fix.")
	s.See("written by the customer")
	s.Gone("Post refund")
	s.ClickText("Decide otherwise")
	s.ClickText("Close as rejected")
	s.Type("#reason", "the merchant shows two signed receipts")
	s.ClickText("Carry out what is chosen")
	s.See("The case is closed as rejected. No money moved.")
	s.ClickText("Read and verify it row by row")
	s.See("✓ Intact")
	s.goes()
}

// written is a file of records as a bank would send it, with every array that has rows.
func written(t *testing.T, set records.Set) string {
	t.Helper()
	b, err := json.Marshal(map[records.Array]any{records.Customers: set.Customers, records.Accounts: set.Accounts, records.Merchants: set.Merchants,
		records.Transactions: set.Transactions})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

package bank

import (
	"errors"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
)

func TestFind(t *testing.T) {
	set := books()
	set.Transactions[1].Direction = countersign.Credit
	s := openBooks(t, set)
	rows := []struct {
		name  string
		r     intake.Request
		kind  countersign.ErrorKind
		field string
		owner string
	}{
		{"a transaction on record is found with its owner", intake.Request{SubjectID: "TX-1"}, "", "", "C-1"},
		{"a request may name the owner", intake.Request{SubjectID: "TX-1", CustomerID: "C-1"}, "", "", "C-1"},
		{"a request that names somebody else is refused", intake.Request{SubjectID: "TX-1", CustomerID: "C-2"}, countersign.Unprocessed, "customer_id", ""},
		{"a transaction that is not on record is not found", intake.Request{SubjectID: "TX-404"}, countersign.NotFound, "transaction_id", ""},
		{"an id with quotes in it is only an id", intake.Request{SubjectID: `TX-1' OR '1'='1`}, countersign.NotFound, "transaction_id", ""},
		{"a credit can be disputed", intake.Request{SubjectID: "TX-2"}, "", "", "C-2"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			row.r.Reason = countersign.FailedTransfer
			found, err := find(t.Context(), s.View, row.r, noon)
			if row.kind == "" {
				if err != nil || found.CustomerID != row.owner || found.Subject.ID != row.r.SubjectID || found.Subject.Kind != countersign.TransactionSubject {
					t.Fatalf("found %+v, %v", found, err)
				}
				return
			}
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != row.kind || e.Field != row.field {
				t.Errorf("the error is %#v, want kind %s in field %s", err, row.kind, row.field)
			}
		})
	}
	t.Run("amount and deadline are the transaction's", func(t *testing.T) {
		found, err := find(t.Context(), s.View, intake.Request{SubjectID: "TX-1", Reason: countersign.FailedTransfer}, noon)
		if err != nil || found.Amount != (countersign.Money{Minor: 24_500_00, Currency: "NGN"}) {
			t.Fatalf("found %+v, %v", found, err)
		}
		if found.DueSource != countersign.DueFromRule || !found.DueAt.Equal(noon.Add(24*time.Hour)) {
			t.Errorf("due %v from %s, want 24 hours after the complaint", found.DueAt, found.DueSource)
		}
	})
}

func TestFactsAreOfTheCasesCustomerOrNone(t *testing.T) {
	s := openBooks(t, books())
	f, err := facts(t.Context(), s.View, dispute())
	if err != nil || f.Supports != countersign.FailedTransfer || f.Fix == nil || f.Seen == "" {
		t.Fatalf("facts are %+v, %v", f, err)
	}
	other := dispute(func(c *countersign.Case) { c.CustomerID = "C-2" })
	if f, err := facts(t.Context(), s.View, other); err == nil {
		t.Errorf("a case of another customer got the facts %+v", f)
	}
	if fix, _, err := waive(t.Context(), s.View, other, countersign.Reversal); err == nil {
		t.Errorf("a case of another customer got the fix %+v", fix)
	}
}

func TestWaiveReturnsWhatItReadLikeTheFactsDo(t *testing.T) {
	set := books()
	set.Settlements[0].Status, set.Settlements[0].Final = records.TimedOut, false
	s := openBooks(t, set)
	f, err := facts(t.Context(), s.View, dispute())
	if err != nil || f.Fix != nil {
		t.Fatalf("facts are %+v, %v", f, err)
	}
	fix, seen, err := waive(t.Context(), s.View, dispute(), countersign.Reversal)
	if err != nil || fix == nil || seen != f.Seen {
		t.Errorf("waived %+v, read %s, %v; the facts read %s", fix, seen, err, f.Seen)
	}
}

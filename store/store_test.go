package store_test

import (
	"context"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

var ctx = context.Background()

// open opens a store on an empty database and closes it with the test.
func open(t testing.TB, database string, options ...store.Options) *store.Store {
	t.Helper()
	o := store.Options{}
	if len(options) > 0 {
		o = options[0]
	}
	s, err := store.Open(ctx, database, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func write(t testing.TB, s *store.Store, f func(context.Context, *store.Tx) error) {
	t.Helper()
	if err := s.Write(ctx, f); err != nil {
		t.Fatal(err)
	}
}

// newCase stores a case with one record row.
func newCase(t testing.TB, s *store.Store, id countersign.CaseID) countersign.Case {
	t.Helper()
	c := queued(id)
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": "queued", "round": 1}})
	})
	return c
}

// queued is a case that nobody has looked at yet.
func queued(id countersign.CaseID) countersign.Case {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return countersign.Case{ID: id, Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: "T-" + string(id)},
		CustomerID: "C1", Channel: "test", Reason: countersign.OtherReason, Amount: countersign.Money{Minor: 100, Currency: "NGN"},
		Status: countersign.Queued, OpenedAt: now, UpdatedAt: now, DueSource: countersign.DueUnknown, Round: 1, Revision: 1}
}

var worker = countersign.Actor{Kind: countersign.Worker, ID: "test"}

func TestACaseComesBackAsItWasStored(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		want := newCase(t, s, "D-1")
		got, err := s.Case(ctx, "D-1")
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != want.ID || got.Amount != want.Amount || !got.OpenedAt.Equal(want.OpenedAt) || got.DueAt != nil {
			t.Errorf("got %+v, want %+v", got, want)
		}
		report, err := s.VerifyRecord(ctx, nil)
		if err != nil || !report.OK || report.Cases != 1 || report.Rows != 1 {
			t.Errorf("got %v, %v", report, err)
		}
	})
}

func TestImportedRecordsMakeABook(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		yes := true
		set := records.Set{
			Customers:    []records.Customer{{ID: "C1", Name: "Ada Obi", Flags: []string{}}},
			Accounts:     []records.Account{{ID: "A1", CustomerID: "C1", Number: "0000014579", Currency: "NGN"}},
			Devices:      []records.Device{{ID: "V1", CustomerID: "C1", Trusted: &yes}},
			Transactions: []records.Transaction{transaction("T1"), transaction("T2")},
			LedgerEntries: []records.LedgerEntry{{ID: "L1", TransactionID: "T1", AccountID: "A1", Direction: countersign.Debit, AmountMinor: 500,
				Currency: "NGN", Kind: records.Original}},
			Settlements: []records.Settlement{{TransactionID: "T1", Status: records.SettlementFailed, Final: true}},
		}
		for range 2 { // the second time changes nothing
			for row := range set.Rows() {
				write(t, s, func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.Import(ctx, []records.Row{row})
					return err
				})
			}
		}
		b, err := s.Book(ctx, "T1")
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Entries) != 1 || b.Settlement == nil || !b.Settlement.Final || len(b.Like) != 1 || b.Device == nil || len(b.Recent) != 2 {
			t.Errorf("got %+v", b)
		}
	})
}

func transaction(id string) records.Transaction {
	return records.Transaction{ID: id, AccountID: "A1", Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: 500, Currency: "NGN",
		Status: records.Posted, OccurredAt: countersign.At(time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)), CounterpartyAccount: "9", DeviceID: "V1"}
}

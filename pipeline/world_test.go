package pipeline_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/pipeline"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/store"
)

var ctx = context.Background()

// world is a store, a queue and a pipeline with the bank desk, without the program around them.
type world struct {
	*testing.T
	store    *store.Store
	queue    *queue.Queue
	pipeline *pipeline.Pipeline
	desk     desk.Desk
}

func newWorld(t *testing.T, database string, model llm.Model) *world {
	t.Helper()
	s, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: s, desk: bank.New()}
	t.Cleanup(func() { s.Close() })
	if model == nil {
		model = rulebook.New(bank.Playbook())
	}
	w.pipeline = &pipeline.Pipeline{Store: s, Desks: map[countersign.DeskName]desk.Desk{countersign.Bank: w.desk},
		Model: func(countersign.Case) llm.Model { return model }, Worker: "test", Log: slog.New(slog.DiscardHandler)}
	if w.queue, err = queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) load(set records.Set) {
	w.Helper()
	report, err := feed.Feed{Store: w.store, Refused: func(p records.Problem) { w.Error(p) }}.Set(ctx, set)
	if err != nil {
		w.Fatal(err, report)
	}
}

// work opens a dispute and works it on the spot.
func (w *world) work(transaction string, reason countersign.DisputeReason) countersign.Case {
	w.Helper()
	in := intake.Intake{Store: w.store, Queue: w.queue}
	opened, err := in.Open(ctx, w.desk.Desk, countersign.Actor{Kind: countersign.CLI, ID: "test"},
		intake.Request{SubjectID: transaction, Reason: reason})
	if err != nil {
		w.Fatal(err)
	}
	if err := w.pipeline.Work(ctx, opened.Case.ID); err != nil {
		w.Fatal(err)
	}
	c, err := w.store.Case(ctx, opened.Case.ID)
	if err != nil {
		w.Fatal(err)
	}
	report, err := w.store.VerifyRecord(ctx, nil)
	if err != nil || !report.OK {
		w.Errorf("the record does not verify: %v %v", report, err)
	}
	return c
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// failedTransfer is a bank with one transfer that was debited and whose settlement failed for good.
func failedTransfer() records.Set {
	yes := true
	return records.Set{
		Customers: []records.Customer{{ID: "C1", Name: "Adaeze Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}}},
		Accounts:  []records.Account{{ID: "A1", CustomerID: "C1", Number: "0000014579", Currency: "NGN"}},
		Devices: []records.Device{{ID: "V1", CustomerID: "C1", Trusted: &yes, City: "Lagos", Country: "NG",
			FirstSeenAt: countersign.At(noon.AddDate(-1, 0, 0))}},
		Transactions: []records.Transaction{{ID: "T1", AccountID: "A1", Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: 24_500_00,
			Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(noon), PostedAt: countersign.At(noon), CounterpartyName: "A. Friend",
			CounterpartyAccount: "0000000220", Reference: "rent", EndToEndID: "E2E-1", DeviceID: "V1", City: "Lagos", Country: "NG", Channel: "app"}},
		LedgerEntries: []records.LedgerEntry{{ID: "L1", TransactionID: "T1", AccountID: "A1", Direction: countersign.Debit, AmountMinor: 24_500_00,
			Currency: "NGN", Kind: records.Original, PostedAt: countersign.At(noon)}},
		Settlements: []records.Settlement{{TransactionID: "T1", Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon), Rail: "NIP"}},
	}
}

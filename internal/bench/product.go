package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"countersign"
	"countersign/app"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/llm/scripted"
	"countersign/pipeline/intake"
	"countersign/store"
)

// bench is the product on one database, and the bare loop beside it on the same one.
type bench struct {
	database string
	engine   string
	app      *app.App
	bare     bare
	folder   string
	stocked  int // transactions that are in the books and taken
}

func open(ctx context.Context, database string) (*bench, error) {
	folder, err := os.MkdirTemp("", "countersign-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{database: database, folder: folder}
	if b.app, err = app.Open(ctx, b.config()); err != nil {
		return nil, err
	}
	b.engine = b.app.Store.Engine()
	b.bare, err = newBare(ctx, b.app.Store)
	return b, err
}

func (b *bench) config() app.Config {
	return app.Config{Data: b.folder, Database: b.database, Work: true, Workers: 16, Log: slog.New(slog.DiscardHandler),
		Models: func(countersign.Case, llm.Model) llm.Model { return script }}
}

func (b *bench) close() { b.app.Close(); os.RemoveAll(b.folder) }

// script looks at everything in its first turn and decides in its second, with two citations that hold.
var script = scripted.Func(func(n int, req llm.Request) (llm.Reply, error) {
	if n == 0 {
		var calls []llm.Call
		for _, tool := range []string{"get_transaction", "get_ledger_entries", "get_settlement_status"} {
			calls = append(calls, scripted.Call(tool, "{}"))
		}
		return scripted.Calls(calls...), nil
	}
	line, _, _ := strings.Cut(req.Messages[0].Text.String(), "\n")
	canary := strings.TrimPrefix(line, "canary: ")
	return scripted.Calls(scripted.Call("submit_decision", `{"recommendation":"resolve","category":"failed_transfer","confidence":1,
		"fraud_suspected":false,"summary":"The settlement failed and nothing came back.","canary":"`+canary+`","customer_message":"We have returned your money.",
		"claims":[{"text":"The settlement failed.","citations":[{"ref":"S3","field":"status","value":"failed"}]},
		{"text":"The debit was posted.","citations":[{"ref":"S1","field":"status","value":"posted"}]}]}`)), nil
})

// transfers makes n failed transfers, each on an account of its own so that locks do not meet.
func transfers(from, n int) (s records.Set) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	yes := true
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("%06d", i)
		s.Customers = append(s.Customers, records.Customer{ID: "C" + id, Name: "Ada Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}})
		s.Accounts = append(s.Accounts, records.Account{ID: "A" + id, CustomerID: "C" + id, Number: "0001" + id, Currency: "NGN"})
		s.Devices = append(s.Devices, records.Device{ID: "V" + id, CustomerID: "C" + id, City: "Lagos", Country: "NG", Trusted: &yes,
			FirstSeenAt: countersign.At(at.AddDate(-1, 0, 0))})
		s.Transactions = append(s.Transactions, records.Transaction{ID: "T" + id, AccountID: "A" + id, Kind: records.Transfer, Direction: countersign.Debit,
			AmountMinor: 10_000_00, Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(at), PostedAt: countersign.At(at),
			CounterpartyAccount: "0000000220", EndToEndID: "E" + id, DeviceID: "V" + id, City: "Lagos", Country: "NG"})
		s.LedgerEntries = append(s.LedgerEntries, records.LedgerEntry{ID: "L" + id, TransactionID: "T" + id, AccountID: "A" + id,
			Direction: countersign.Debit, AmountMinor: 10_000_00, Currency: "NGN", Kind: records.Original, PostedAt: countersign.At(at)})
		s.Settlements = append(s.Settlements, records.Settlement{TransactionID: "T" + id, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(at)})
	}
	return s
}

func (b *bench) file(ctx context.Context, i int, reason countersign.DisputeReason) (countersign.CaseID, error) {
	opened, err := b.app.Intake.Open(ctx, b.app.Desks[countersign.Bank].Desk, countersign.Actor{Kind: countersign.CLI, ID: "bench"},
		intake.Request{SubjectID: fmt.Sprintf("T%06d", i), Reason: reason, Notes: "The money left and never arrived."})
	return opened.Case.ID, err
}

// intakes measures Open against a bare transaction of the same inserts, before any worker runs.
func (b *bench) intakes(ctx context.Context, n int, found func(finding)) error {
	if err := b.stock(ctx, n); err != nil {
		return err
	}
	b.stocked = n
	for _, goroutines := range []int{1, 16} {
		reason := map[int]countersign.DisputeReason{1: countersign.OtherReason, 16: countersign.WrongAmount}[goroutines]
		ours, err := spread(n/2, goroutines, func(i int) error { _, err := b.file(ctx, i, reason); return err })
		if err != nil {
			return err
		}
		floor, err := spread(n/2, goroutines, func(i int) error { return b.bare.open(ctx, fmt.Sprintf("in-%d-%d", goroutines, i)) })
		if err != nil {
			return err
		}
		found(finding{fmt.Sprintf("intake, %s, %d at a time", b.engine, goroutines), rate(n/2, ours.Seconds()), rate(n/2, floor.Seconds()),
			ours.Seconds() / floor.Seconds(), atMost(1.3)})
	}
	return b.forget(ctx)
}

// stock puts n more transactions into the books.
func (b *bench) stock(ctx context.Context, n int) error {
	_, err := (feed.Feed{Store: b.app.Store}).Set(ctx, transfers(b.stocked, n))
	return err
}

// forget empties the queue of the cases that only intake was measured with.
func (b *bench) forget(ctx context.Context) error {
	_, err := b.app.Store.DB().ExecContext(ctx, "DELETE FROM river_job")
	if err != nil {
		return err
	}
	_, err = b.app.Store.DB().ExecContext(ctx, "UPDATE cases SET status = 'closed', outcome = 'rejected'")
	return err
}

// wholeCases measures cases from intake to their fix, 16 at a time, against the bare loop.
func (b *bench) wholeCases(ctx context.Context, n int, found func(finding)) error {
	floor, err := spread(n, 16, func(i int) error { return b.bare.whole(ctx, fmt.Sprintf("whole-%d", i)) })
	if err != nil {
		return err
	}
	if err := b.app.Start(ctx); err != nil {
		return err
	}
	start := time.Now()
	var ids sync.Map
	if _, err := spread(n, 16, func(i int) error {
		id, err := b.file(ctx, i, countersign.FailedTransfer)
		ids.Store(id, true)
		return err
	}); err != nil {
		return err
	}
	automatic := 0
	for id := range ids.Range {
		c, err := b.app.Wait(ctx, id.(countersign.CaseID))
		if err != nil {
			return err
		}
		if c.HandledBy == countersign.ByPolicy {
			automatic++
		} else if automatic == 0 {
			return fmt.Errorf("a case was not automatic: %+v", c.Verdict)
		}
	}
	ours := time.Since(start)
	if automatic != n {
		return fmt.Errorf("%d of %d cases were automatic", automatic, n)
	}
	found(finding{"whole cases, " + b.engine + ", 16 at a time", rate(n, ours.Seconds()), rate(n, floor.Seconds()),
		floor.Seconds() / ours.Seconds(), atLeast(1)})
	return nil
}

// verification measures reading, recomputing and comparing every row against hashing the same bytes on as many cores.
func (b *bench) verification(ctx context.Context, _ int, found func(finding)) error {
	var bytes []byte
	rows := 0
	err := b.app.Store.Snapshot(ctx, func(v store.View) error {
		for row, err := range v.WholeRecord(ctx) {
			if err != nil {
				return err
			}
			rows++
			bytes = append(bytes, row.Payload.Bytes...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	start := time.Now()
	cores := runtime.GOMAXPROCS(0)
	var done sync.WaitGroup
	for i := range cores {
		done.Go(func() { sha256.Sum256(bytes[i*len(bytes)/cores : (i+1)*len(bytes)/cores]) })
	}
	done.Wait()
	floor := time.Since(start)
	start = time.Now()
	if _, err := b.app.Store.VerifyRecord(ctx, nil); err != nil {
		return err
	}
	ours := time.Since(start)
	found(finding{"verify the record from the database, " + b.engine, fmt.Sprintf("%.0f MB/s", float64(len(bytes))/1e6/ours.Seconds()),
		fmt.Sprintf("%.0f MB/s", float64(len(bytes))/1e6/floor.Seconds()), ours.Seconds() / floor.Seconds(), atMost(2)})
	return nil
}

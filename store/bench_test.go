package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/store"
)

// onEngines runs a benchmark on an empty database of each engine.
func onEngines(b *testing.B, run func(b *testing.B, s *store.Store)) {
	b.Run("sqlite", func(b *testing.B) { run(b, open(b, testdb.SQLite(b))) })
	b.Run("postgres", func(b *testing.B) { run(b, open(b, testdb.Postgres(b))) })
}

// BenchmarkAppend is one record row in a transaction of its own: by one writer, by sixteen on one case, and by sixteen each on
// a case of its own.
func BenchmarkAppend(b *testing.B) {
	for _, row := range []struct {
		name           string
		writers, cases int
	}{{"alone", 1, 1}, {"one case", 16, 1}, {"many cases", 16, 16}} {
		b.Run(row.name, func(b *testing.B) {
			onEngines(b, func(b *testing.B, s *store.Store) {
				for i := range row.cases {
					newCase(b, s, id(i))
				}
				b.ResetTimer()
				shared(b, row.writers, func(i int64) error { return note(s, id(int(i)%row.cases)) })
			})
		})
	}
}

// BenchmarkOpenCase is what intake stores: a case with its first record row and an idempotency key.
func BenchmarkOpenCase(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			onEngines(b, func(b *testing.B, s *store.Store) {
				b.ResetTimer()
				shared(b, writers, func(i int64) error {
					return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						c := queued(countersign.CaseID(fmt.Sprint("B-", i)))
						note := store.Note{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": c.Status, "notes": "it never arrived"}}
						if err := tx.Birth(ctx, c, 1, worker, note); err != nil {
							return err
						}
						return tx.Remember(ctx, store.Key{Principal: "p", Route: "r", Value: string(c.ID), BodyHash: "h"}, c.ID)
					})
				})
			})
		})
	}
}

// BenchmarkImport is a batch of five hundred new transactions.
func BenchmarkImport(b *testing.B) {
	onEngines(b, func(b *testing.B, s *store.Store) {
		books(b, s, 0)
		n := 0
		for b.Loop() {
			set := records.Set{Transactions: make([]records.Transaction, 500)}
			for i := range set.Transactions {
				set.Transactions[i] = transaction(fmt.Sprint("N", n))
				n++
			}
			if done, err := importRows(s, rowsOf(set)); err != nil || done.New != 500 {
				b.Fatal(done, err)
			}
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	})
}

// BenchmarkVerify walks a record of two hundred cases with ten rows each.
func BenchmarkVerify(b *testing.B) {
	onEngines(b, func(b *testing.B, s *store.Store) {
		for i := range 200 {
			closedCase(b, s, id(i))
			closedCase(b, s, id(i)+"-beside")
		}
		for b.Loop() {
			if report, err := s.VerifyRecord(ctx, nil); err != nil || report.Rows != 2000 {
				b.Fatal(report, err)
			}
		}
		b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

// shared does b.N pieces of work with so many workers.
func shared(b *testing.B, workers int, do func(i int64) error) {
	b.Helper()
	var next atomic.Int64
	for _, err := range parallel(workers, func(int) error {
		for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}) {
		b.Error(err)
	}
}

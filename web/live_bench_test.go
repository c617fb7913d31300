package web_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/audit"
	"countersign/auth"
	"countersign/internal/testdb"
	"countersign/store"
)

// BenchmarkLive has fifty people watch cases while rows are recorded, each once the one before has reached everybody.
// Milliseconds are from before a row's commit to its line in a browser; ten of the fifty watch a case in which nothing happens.
func BenchmarkLive(b *testing.B) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": testdb.SQLite, "postgres": testdb.Postgres} {
		b.Run(name, func(b *testing.B) { benchLive(b, database(b)) })
	}
}

func benchLive(b *testing.B, database string) {
	o := newOffice(b, on(database), func(c *app.Config) { c.Work = false })
	busy, quiet := o.dispute("T-1"), o.dispute("T-2")
	reader := o.as(auth.Auditor)
	begun := time.Now()
	var committed atomic.Int64
	var told sync.WaitGroup
	arrived := make([][]time.Duration, 40)
	for n := range 50 {
		if n >= len(arrived) {
			reader.watch("/cases/"+string(quiet.ID)+"/live", 0)
			continue
		}
		events := reader.watch("/cases/"+string(busy.ID)+"/live?after="+strconv.FormatInt(o.head(busy.ID), 10), 0)
		upcoming(b, events) // how the case stands
		go func() {
			for e := range events {
				if e.name == "" && !e.beat {
					arrived[n] = append(arrived[n], time.Since(begun)-time.Duration(committed.Load()))
					told.Done()
				}
			}
		}()
	}
	b.ResetTimer()
	for n := range b.N {
		told.Add(len(arrived))
		o.step(busy.ID, n, func() { committed.Store(int64(time.Since(begun))) })
		told.Wait()
	}
	b.StopTimer()
	all := slices.Sorted(slices.Values(slices.Concat(arrived...)))
	if len(all) != 40*b.N {
		b.Fatalf("%d lines arrived, want %d", len(all), 40*b.N)
	}
	for name, share := range map[string]int{"p50": 50, "p99": 99} {
		b.ReportMetric(float64(all[(len(all)-1)*share/100].Microseconds())/1000, name+"-ms")
	}
}

// step records a step as a worker does, and tells when it is about to be committed.
func (o *office) step(id countersign.CaseID, n int, now func()) {
	o.t.Helper()
	step := struct {
		Round int `json:"round"`
		countersign.Step
	}{1, countersign.Step{Ref: countersign.Ref(n + 1), Tool: "get_ledger", OK: true, Result: []byte(`{"found":true}`), Shown: fmt.Sprint(n)}}
	o.write(func(ctx context.Context, tx *store.Tx) error {
		defer now()
		return tx.Record(ctx, id, countersign.Actor{Kind: countersign.Worker, ID: "bench"}, store.Note{Kind: audit.ToolCall, Payload: step})
	})
}

package store_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func TestWhatModelsUsedIsSummedByDay(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Date(2026, 12, 1, 23, 59, 59, 0, time.UTC))
		s := open(t, database, store.Options{Now: clock.Now})
		one := store.ModelSpending{Desk: "bank", Connection: "hosted", Answers: 1, Attempts: 2, Input: 1000, Output: 10, Assumed: 5, Cost: countersign.Cost{Micro: 1020, Currency: "USD"}}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return tx.Spend(ctx, countersign.CaseID(fmt.Sprintf("case_%d", i)), one, store.ModelSpending{Desk: "bank", Connection: "local", Failures: 1, Input: -5})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		hosted := store.ModelSpending{Desk: "bank", Connection: "hosted", Answers: 50, Attempts: 100, Input: 50_000, Output: 500, Assumed: 250, Cost: countersign.Cost{Micro: 51_000, Currency: "USD"}}
		want := []store.ModelSpending{hosted, {Desk: "bank", Connection: "local", Failures: 50}}
		got, err := s.ModelSpending(ctx, "2026-12-01")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if next, err := s.ModelSpending(ctx, "2026-12-02"); err != nil || len(next) != 0 {
			t.Errorf("the next day begins with %+v, %v", next, err)
		}
		err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Spend(ctx, "case_1", one); err != nil {
				return err
			}
			return fmt.Errorf("the turn could not be recorded")
		})
		if again, _ := s.ModelSpending(ctx, "2026-12-01"); err == nil || !cmp.Equal(again, got) {
			t.Errorf("%v: what did not commit was counted: %+v", err, again)
		}
		lie := one
		lie.Input, lie.Cost.Micro = math.MaxInt64, math.MaxInt64
		for range 3 {
			if err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Spend(ctx, "case_1", lie) }); err != nil {
				t.Fatalf("a server that says an absurd number broke the count: %v", err)
			}
		}
	})
}

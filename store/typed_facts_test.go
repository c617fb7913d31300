package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func typeIn(s *store.Store, f countersign.TypedFact, by countersign.Actor) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddTypedFact(ctx, f, by) })
}

func takeBack(s *store.Store, id string, by countersign.Actor) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.RemoveTypedFact(ctx, "D-1", id, by) })
}

func TestTypedFacts(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		s := open(t, database, store.Options{Now: func() time.Time { return now }})
		newCase(t, s, "D-1")
		refund := countersign.TypedFact{ID: "F1", CaseID: "D-1", Kind: "refund", Text: "paid back in cash, ẹ̀rí", On: "2026-11-03", Amount: &countersign.Money{Minor: 5_000, Currency: "KWD"}, Reference: "till 4",
			TypedAt: now.Add(time.Hour), TypedBy: "person:forged"}
		t.Run("a fact comes back as it was typed, by whoever did and when they did", func(t *testing.T) {
			if err := typeIn(s, refund, ada); err != nil {
				t.Fatal(err)
			}
			if err := typeIn(s, countersign.TypedFact{ID: "F2", CaseID: "D-1", Kind: "other", Text: "no amount"}, ada); err != nil {
				t.Fatal(err)
			}
			all, err := s.TypedFacts(ctx, "D-1")
			want := []countersign.TypedFact{refund, {ID: "F2", CaseID: "D-1", Kind: "other", Text: "no amount"}}
			for i := range want {
				want[i].TypedAt, want[i].TypedBy = now, ada.String()
			}
			if diff := cmp.Diff(want, all); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if other, err := s.TypedFacts(ctx, "D-2"); len(other) != 0 || err != nil {
				t.Errorf("another case has %v, %v", other, err)
			}
		})
		t.Run("taken back once, it is gone from the case and stays in the database", func(t *testing.T) {
			if err := takeBack(s, "F2", ada); err != nil {
				t.Fatal(err)
			}
			fails(t, takeBack(s, "F2", ada), countersign.NotFound, `no typed-in fact "F2"`)
			if all, _ := s.TypedFacts(ctx, "D-1"); len(all) != 1 {
				t.Errorf("the case has %v", all)
			}
			if n := number(t, s, "SELECT COUNT(*) FROM typed_facts"); n != 2 {
				t.Errorf("the database has %d", n)
			}
		})
		t.Run("the database keeps what was typed", func(t *testing.T) {
			refused(t, s, "UPDATE typed_facts SET text = 'something else' WHERE id = 'F1'")
			refused(t, s, "UPDATE typed_facts SET removed_by = '' WHERE id = 'F2'")
			refused(t, s, "DELETE FROM typed_facts WHERE id = 'F1'")
		})
		t.Run("nobody, a case that is not there, too many, and a closed case", func(t *testing.T) {
			fails(t, typeIn(s, refund, countersign.Actor{}), countersign.Internal, "actor")
			fails(t, takeBack(s, "F1", countersign.Actor{}), countersign.Internal, "actor")
			fails(t, typeIn(s, countersign.TypedFact{ID: "F3", CaseID: "D-9", Kind: "other", Text: "x"}, ada), countersign.NotFound, "D-9")
			for i := range 49 {
				if err := typeIn(s, countersign.TypedFact{ID: fmt.Sprintf("G%d", i), CaseID: "D-1", Kind: "other", Text: "x"}, ada); err != nil {
					t.Fatal(err)
				}
			}
			fails(t, typeIn(s, countersign.TypedFact{ID: "G50", CaseID: "D-1", Kind: "other", Text: "x"}, ada), countersign.TooLarge, "at most 50")
			closeCase(t, s, "D-1")
			fails(t, typeIn(s, countersign.TypedFact{ID: "F4", CaseID: "D-1", Kind: "other", Text: "x"}, ada), countersign.Conflict, "closed")
			fails(t, takeBack(s, "F1", ada), countersign.Conflict, "closed")
		})
	})
}

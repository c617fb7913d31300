package store_test

import (
	"context"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func TestTokens(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		for _, id := range []string{"tok_a", "tok_b"} {
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddToken(ctx, store.APIToken{ID: id, Name: "till", Role: "analyst"}, "hash of "+id, admin)
			})
			clock.advance(time.Minute)
		}
		revoke := func(id string, by countersign.Actor) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.RevokeToken(ctx, id, by) })
		}
		t.Run("every token is listed, the newest first, with who made it", func(t *testing.T) {
			all, err := s.ListTokens(ctx)
			if err != nil || len(all) != 2 || all[0].ID != "tok_b" || all[1].Name != "till" || all[1].CreatedBy != "person:usr_root" ||
				!all[0].CreatedAt.Equal(clock.Now().Add(-time.Minute)) || all[0].RevokedAt != nil {
				t.Errorf("got %+v, %v", all, err)
			}
		})
		t.Run("one that was revoked is found no more, and still listed", func(t *testing.T) {
			if err := revoke("tok_a", admin); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.TokenByHash(ctx, "hash of tok_a"); ok || err != nil {
				t.Errorf("it is found: %v, %v", ok, err)
			}
			if token, ok, err := s.TokenByHash(ctx, "hash of tok_b"); !ok || err != nil || token.ID != "tok_b" {
				t.Errorf("the other is not: %v, %v", ok, err)
			}
		})
		t.Run("the second time changes nothing", func(t *testing.T) {
			since := clock.Now()
			clock.advance(time.Hour)
			if err := revoke("tok_a", worker); err != nil {
				t.Fatal(err)
			}
			all, err := s.ListTokens(ctx)
			if err != nil || all[1].RevokedAt == nil || !all[1].RevokedAt.Equal(since) || all[1].RevokedBy != "person:usr_root" {
				t.Errorf("got %+v, %v", all, err)
			}
		})
		t.Run("a token that does not exist, and nobody who revokes", func(t *testing.T) {
			if err := revoke("tok_x", admin); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v", err)
			}
			if err := revoke("tok_b", countersign.Actor{}); countersign.KindOf(err) != countersign.Internal {
				t.Errorf("got %v", err)
			}
		})
	})
}

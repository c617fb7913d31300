package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/pipeline/policy"
	"countersign/store"
)

func TestPolicies(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		apply := func(limits policy.Limits, by countersign.Actor) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, limits, by) })
		}
		inForce := func(t *testing.T, want policy.Limits) {
			t.Helper()
			got, err := s.Limits(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		t.Run("before anybody applied any, the defaults are in force", func(t *testing.T) { inForce(t, policy.Default()) })
		t.Run("what nobody applied is not", func(t *testing.T) {
			if err := apply(policy.Limits{Mode: policy.Shadow}, countersign.Actor{}); err == nil {
				t.Error("it was applied")
			}
			inForce(t, policy.Default())
		})
		t.Run("the last that was applied is in force, and the others are kept with who did it", func(t *testing.T) {
			for i := range 12 { // more than nine: numbers are not sorted as text
				limits := policy.Default()
				limits.MinEvidence = 2 + i
				limits.Caps = map[string]int64{"NGN": int64(i), "USD": 1 << 60}
				if err := apply(limits, countersign.Actor{Kind: countersign.Person, ID: "ada"}); err != nil {
					t.Fatal(err)
				}
				inForce(t, limits)
			}
			if n := number(t, s, "SELECT COUNT(*) FROM policies WHERE actor = 'person:ada'"); n != 12 {
				t.Errorf("%d are kept", n)
			}
		})
		t.Run("of two that are applied at once both are kept, one after the other", func(t *testing.T) {
			before := number(t, s, "SELECT MAX(number) FROM policies")
			other := open(t, database)
			for _, err := range parallel(5, func(i int) error {
				return []*store.Store{s, other}[i%2].Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyLimits(ctx, policy.Default(), worker) })
			}) {
				t.Error(err)
			}
			if n := number(t, s, "SELECT MAX(number) FROM policies") - before; n != 5 {
				t.Errorf("numbers went up by %d, want 5", n)
			}
		})
	})
}

func TestKeysAndTokens(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		t.Run("the first master key's id is kept", func(t *testing.T) {
			if id, err := s.KeyID(ctx); err != nil || id != "" {
				t.Errorf("before: %q, %v", id, err)
			}
			for _, id := range []string{"k1", "k2"} {
				write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.KeepKey(ctx, store.MasterKey{ID: id}) })
			}
			if id, err := s.KeyID(ctx); err != nil || id != "k1" {
				t.Errorf("after: %q, %v", id, err)
			}
		})
		add := func(id, hash string, by countersign.Actor) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddToken(ctx, store.APIToken{ID: id, Name: "till", Role: "analyst"}, hash, by)
			})
		}
		t.Run("a token is found by the hash of its secret, and names may repeat", func(t *testing.T) {
			if err := add("t1", "h1", worker); err != nil {
				t.Fatal(err)
			}
			if err := add("t2", "h2", worker); err != nil {
				t.Fatal(err)
			}
			token, ok, err := s.TokenByHash(ctx, "h2")
			if err != nil || !ok || token.ID != "t2" || token.Role != "analyst" {
				t.Errorf("got %+v, %v, %v", token, ok, err)
			}
		})
		t.Run("an unknown and a revoked one are not", func(t *testing.T) {
			exec(t, s, "UPDATE tokens SET revoked_at = 1 WHERE id = 't1'")
			for _, hash := range []string{"h1", "h3", "", "%"} {
				if token, ok, err := s.TokenByHash(ctx, hash); err != nil || ok {
					t.Errorf("%q: %+v, %v", hash, token, err)
				}
			}
		})
		t.Run("one that nobody made is refused", func(t *testing.T) {
			if err := add("t3", "h3", countersign.Actor{}); err == nil {
				t.Error("it was stored")
			}
		})
		t.Run("the newest case is the last that changed", func(t *testing.T) {
			if at, err := s.Newest(ctx); err != nil || !at.IsZero() {
				t.Errorf("without cases: %v, %v", at, err)
			}
			c := newCase(t, s, "D-1")
			if at, err := s.Newest(ctx); err != nil || !at.Equal(c.UpdatedAt) || at.Location() != time.UTC {
				t.Errorf("got %v, %v; want %v", at, err, c.UpdatedAt)
			}
		})
		t.Run("a database that is open answers", func(t *testing.T) {
			if err := s.Ping(ctx); err != nil {
				t.Error(err)
			}
		})
	})
}

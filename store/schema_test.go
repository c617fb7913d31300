package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// TestAProgramWritesUnderItsOwnSchemaAlone: a newer program migrates, or an older backup comes back, while this one runs.
func TestAProgramWritesUnderItsOwnSchemaAlone(t *testing.T) {
	for _, row := range []struct{ sentence, change, does string }{
		{"a newer program has migrated the database", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)", "start that one"},
		{"an older backup was put back", "DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)", "countersign migrate"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			testdb.Engines(t, func(t *testing.T, database string) {
				s := open(t, database)
				newCase(t, s, "D-1")
				newCase(t, s, "D-2")
				lease, _ := take(t, s, "D-1")
				if err := s.CheckSchema(ctx); err != nil {
					t.Fatal(err)
				}
				exec(t, s, row.change)
				for what, err := range map[string]error{
					"a held lease": hold(s, lease),
					"a new case": s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						return tx.Birth(ctx, queued("D-3"), 1, operator, store.Note{Kind: "opened", Payload: map[string]any{}})
					}),
					"a lease": s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						_, _, err := tx.TakeLease(ctx, "D-2", leaseTime)
						return err
					}),
				} {
					if !errors.Is(err, store.ErrOtherSchema) || countersign.KindOf(err) != countersign.Unavailable {
						t.Errorf("%s gave %v", what, err)
					}
				}
				if c, err := s.Case(ctx, "D-2"); err != nil || c.Status != countersign.Queued {
					t.Errorf("a lease was taken: %s, %v", c.Status, err)
				}
				if n := number(t, s, "SELECT COUNT(*) FROM cases"); n != 2 {
					t.Errorf("there are %d cases, want 2", n)
				}
				select {
				case <-s.OtherSchema():
				default:
					t.Error("nobody was told")
				}
				if err := s.CheckSchema(ctx); !errors.Is(err, store.ErrOtherSchema) || !strings.Contains(err.Error(), row.does) {
					t.Errorf("the operator is told %v, want %q", err, row.does)
				}
			})
		})
	}
}

// TestTheQueuesTablesBelongToTheSchema: River migrates its own tables. A program that does not know them stops only if our version
// grows with theirs.
func TestTheQueuesTablesBelongToTheSchema(t *testing.T) {
	const known = 8 // with a newer River: add a migration of ours, then change this
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		if n := number(t, s, "SELECT MAX(version) FROM river_migration WHERE line = 'main'"); n != known {
			t.Errorf("the queue's tables have version %d, and %d when the schema's version grew last", n, known)
		}
	})
}

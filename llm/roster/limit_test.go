package roster_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/llm/roster"
	"countersign/secret"
	"countersign/store"
)

// TestALimitOfAConnectionHolds: what its page says of cases at once is the limit of its pool, from the same moment on.
func TestALimitOfAConnectionHolds(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, err := store.Open(t.Context(), database, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		key, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
		if err != nil {
			t.Fatal(err)
		}
		keeper := roster.Keeper{Store: s, Key: key}
		for _, row := range []struct {
			most string
			want string
		}{{"3", "map[model:local:3]"}, {"5", "map[model:local:5]"}, {"", "map[]"}, {"2", "map[model:local:2]"}, {"gone", "map[]"}} {
			_, err := keeper.Save(t.Context(), func(now roster.Roster) (roster.Entered, error) {
				if row.most == "gone" {
					return roster.Entered{Roster: roster.Roster{Offline: true, Desks: map[countersign.DeskName][]string{}}}, nil
				}
				c, err := roster.Typed{Name: "local", Provider: "openai", BaseURL: "http://127.0.0.1:9/v1", Model: "m", MaxCases: row.most}.Connection()
				now.Connections = []roster.Connection{c}
				return roster.Entered{Roster: now}, err
			}, countersign.Actor{Kind: countersign.CLI, ID: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if w, err := s.Workload(t.Context()); err != nil || fmt.Sprint(w.MaxCases) != row.want {
				t.Errorf("%q at once, and the limits are %v, want %s: %v", row.most, w.MaxCases, row.want, err)
			}
		}
	})
}

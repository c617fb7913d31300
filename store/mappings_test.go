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

// sealedFor stands in for a seal: it shows which version it was made for.
func sealedFor(version int64) string { return fmt.Sprintf("sealed for %d", version) }

func TestMappings(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		add := func(s *store.Store, m store.Mapping, by countersign.Actor) (version int64, err error) {
			err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				version, err = tx.AddMapping(ctx, m, sealedFor, by)
				return err
			})
			return version, err
		}
		t.Run("before anybody saved one there is none", func(t *testing.T) {
			if m, ok, err := s.LatestMapping(ctx); ok || err != nil {
				t.Errorf("got %+v, %v, %v", m, ok, err)
			}
			if all, err := s.Mappings(ctx); len(all) != 0 || err != nil {
				t.Errorf("got %+v, %v", all, err)
			}
		})
		t.Run("the last version is in force, and the others are kept as they were", func(t *testing.T) {
			var want []store.Mapping
			for i := range int64(12) { // more than nine: numbers are not sorted as text
				m := store.Mapping{Name: "shop", JSON: fmt.Sprintf(`{"name":"shop","currency":"C%d"}`, i), ConfirmedBy: "person:usr_ada"}
				version, err := add(s, m, admin)
				if err != nil || version != i+1 {
					t.Fatalf("version %d, %v; want %d", version, err, i+1)
				}
				m.Version, m.Connection, m.CreatedAt, m.CreatedBy = version, sealedFor(version), clock.Now(), admin.String()
				want = append([]store.Mapping{m}, want...)
				if got, ok, err := s.LatestMapping(ctx); !ok || err != nil || got != m {
					t.Errorf("in force is %+v, %v, %v; want %+v", got, ok, err, m)
				}
			}
			all, err := s.Mappings(ctx)
			if diff := cmp.Diff(want, all); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if got, err := s.Mapping(ctx, 3); err != nil || got != want[9] {
				t.Errorf("version 3 is %+v, %v; want %+v", got, err, want[9])
			}
		})
		t.Run("a version that there never was is not found", func(t *testing.T) {
			if _, err := s.Mapping(ctx, 99); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v", err)
			}
		})
		t.Run("one that nobody made, or nobody confirmed, is refused", func(t *testing.T) {
			if _, err := add(s, store.Mapping{Name: "shop", ConfirmedBy: "person:usr_ada"}, countersign.Actor{}); err == nil {
				t.Error("it was stored without an actor")
			}
			if _, err := add(s, store.Mapping{Name: "shop"}, admin); err == nil {
				t.Error("it was stored without anybody who confirmed it")
			}
		})
		t.Run("of two that are saved at once both are kept, each sealed for its own number", func(t *testing.T) {
			before := number(t, s, "SELECT MAX(version) FROM shop_mappings")
			other := open(t, database)
			for _, err := range parallel(5, func(i int) error {
				_, err := add([]*store.Store{s, other}[i%2], store.Mapping{Name: "shop", ConfirmedBy: "cli:root"}, admin)
				return err
			}) {
				t.Error(err)
			}
			all, err := s.Mappings(ctx)
			if err != nil || all[0].Version != before+5 {
				t.Fatalf("the last is %+v, %v; want version %d", all[0], err, before+5)
			}
			for _, m := range all {
				if m.Connection != sealedFor(m.Version) {
					t.Errorf("version %d is %s", m.Version, m.Connection)
				}
			}
		})
		t.Run("the database refuses to change or remove a version, and lets its connection be sealed anew", func(t *testing.T) {
			for _, statement := range []string{"UPDATE shop_mappings SET mapping = '{}'", "UPDATE shop_mappings SET confirmed_by = 'person:x'", "DELETE FROM shop_mappings"} {
				if _, err := s.DB().Exec(statement); err == nil {
					t.Errorf("%s was done", statement)
				}
			}
			if _, err := s.DB().Exec("UPDATE shop_mappings SET connection = 'sealed anew' WHERE version = 1"); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestDrafts(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		keep := func(d store.Draft) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepDraft(ctx, d) })
		}
		has := func(t *testing.T, person string, want store.Draft) {
			t.Helper()
			got, ok, err := s.Draft(ctx, person)
			if err != nil || ok != (want.PersonID != "") || got != want {
				t.Errorf("got %+v, %v, %v; want %+v", got, ok, err, want)
			}
		}
		t.Run("who has begun none has none", func(t *testing.T) { has(t, "usr_ada", store.Draft{}) })
		t.Run("the last answers are kept, for each person their own", func(t *testing.T) {
			for _, d := range []store.Draft{{PersonID: "usr_ada", JSON: "{}"}, {PersonID: "usr_zoe", JSON: `{"name":"z"}`, Connection: "sealed z"},
				{PersonID: "usr_ada", JSON: `{"name":"a"}`, Connection: "sealed a"}} {
				if err := keep(d); err != nil {
					t.Fatal(err)
				}
			}
			has(t, "usr_ada", store.Draft{PersonID: "usr_ada", JSON: `{"name":"a"}`, Connection: "sealed a", ChangedAt: clock.Now()})
			has(t, "usr_zoe", store.Draft{PersonID: "usr_zoe", JSON: `{"name":"z"}`, Connection: "sealed z", ChangedAt: clock.Now()})
		})
		t.Run("what is dropped is gone, and dropping it again changes nothing", func(t *testing.T) {
			for range 2 {
				write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DropDraft(ctx, "usr_ada") })
			}
			has(t, "usr_ada", store.Draft{})
			has(t, "usr_zoe", store.Draft{PersonID: "usr_zoe", JSON: `{"name":"z"}`, Connection: "sealed z", ChangedAt: clock.Now()})
		})
		t.Run("one that is nobody's is refused", func(t *testing.T) {
			if err := keep(store.Draft{JSON: "{}"}); err == nil {
				t.Error("it was kept")
			}
		})
	})
}

package store_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// newest is the version that this program migrates to.
func newest(t testing.TB, s *store.Store) int64 {
	t.Helper()
	return number(t, s, "SELECT MAX(version_id) FROM goose_db_version")
}

func TestMigrate(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		version := newest(t, s)
		if v := s.Migrated(); v.From != 0 || v.To != version || version == 0 {
			t.Errorf("opening an empty database went %+v, want from 0 to %d", v, version)
		}
		newCase(t, s, "D-1")
		t.Run("the second time it changes nothing", func(t *testing.T) {
			steps := number(t, s, "SELECT COUNT(*) FROM goose_db_version") + number(t, s, "SELECT COUNT(*) FROM river_migration")
			if v, err := s.Migrate(ctx); err != nil || v.From != version || v.To != version {
				t.Errorf("got %+v, %v", v, err)
			}
			again := open(t, database)
			if v := again.Migrated(); v.From != version || v.To != version {
				t.Errorf("opening it again went %+v", v)
			}
			if now := number(t, s, "SELECT COUNT(*) FROM goose_db_version") + number(t, s, "SELECT COUNT(*) FROM river_migration"); now != steps {
				t.Errorf("%d steps are on record, before it were %d", now, steps)
			}
			intact(t, again, 1, 1)
		})
		t.Run("a database of a newer program is refused, naming both versions, and left alone", func(t *testing.T) {
			exec(t, s, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)", version+7, true)
			_, err := store.Open(ctx, database, store.Options{})
			if countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), fmt.Sprintf("version %d, this program knows up to %d", version+7, version)) {
				t.Errorf("got %v", err)
			}
			if newest(t, s) != version+7 {
				t.Error("its version was changed")
			}
			intact(t, s, 1, 1)
		})
	})
}

func TestManyProgramsMayStartAtOnce(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		stores := make([]*store.Store, 6)
		for _, err := range parallel(len(stores), func(i int) (err error) {
			stores[i], err = store.Open(ctx, database, store.Options{PostgresPool: 4})
			return err
		}) {
			t.Error(err)
		}
		for i, s := range stores {
			if s == nil {
				continue
			}
			newCase(t, s, id(i))
			if i == len(stores)-1 {
				intact(t, s, int64(len(stores)), int64(len(stores)))
			}
		}
		for _, s := range stores {
			if s != nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

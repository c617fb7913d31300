package setup_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/internal/testdb"
)

// copied is a copy of some exported file in a folder.
func copied(t *testing.T, folder string) connector.DSN {
	t.Helper()
	dsn, _, err := setup.CopyExports(t.Context(), folder, []setup.File{{Name: "orders.csv", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("id,total\n1,2\n")), nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

func TestACopyIsRemovedWhenNothingReadsItAnyMore(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, folder := open(t, database, newKey(t)), t.TempDir()
		removes := func(dsn connector.DSN, want bool) {
			t.Helper()
			if err := s.RemoveCopy(t.Context(), folder, dsn); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(string(dsn)); os.IsNotExist(err) != want {
				t.Errorf("removed is %v (%v), want %v", os.IsNotExist(err), err, want)
			}
		}
		of := func(dsn connector.DSN) connector.Mapping {
			return connector.Mapping{Name: "shop", Driver: connector.SQLite, DSN: dsn}
		}
		first, second, begun := copied(t, folder), copied(t, folder), copied(t, folder)
		save := func(m connector.Mapping) {
			t.Helper()
			if _, err := s.Save(t.Context(), m, ada, shell); err != nil {
				t.Fatal(err)
			}
		}
		save(of("file:" + first + "?mode=ro"))
		removes(first, false) // the mapping in force reads it
		if err := s.Keep(t.Context(), "usr_zoe", setup.Draft{Mapping: of(begun)}); err != nil {
			t.Fatal(err)
		}
		removes(begun, false) // somebody's answers do
		save(of(second))
		removes(first, true) // an earlier version reads nothing
		removes(first, true) // and twice is once
		removes(second, false)
		save(mapping("a database"))
		removes(second, true)
		if err := s.Drop(t.Context(), "usr_zoe"); err != nil {
			t.Fatal(err)
		}
		removes(begun, true)
	})
}

func TestNothingIsRemovedThatIsNoCopy(t *testing.T) {
	s, folder := open(t, testdb.SQLite(t), newKey(t)), t.TempDir()
	for _, name := range []string{"shop.db", "shop-copy-mine.db"} {
		path := folder + "/" + name
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.RemoveCopy(t.Context(), folder, connector.DSN(path)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

func TestNothingIsRemovedWhileNobodyKnowsWhatIsRead(t *testing.T) {
	database, folder := testdb.SQLite(t), t.TempDir()
	before := open(t, database, newKey(t))
	dsn := copied(t, folder)
	if err := before.Keep(t.Context(), "usr_zoe", setup.Draft{Mapping: connector.Mapping{Driver: connector.SQLite, DSN: dsn}}); err != nil {
		t.Fatal(err)
	}
	other := setup.Setup{Store: before.Store, Key: newKey(t)}
	if err := other.RemoveCopy(t.Context(), folder, dsn); err == nil {
		t.Error("no error says that it cannot be told")
	}
	if _, err := os.Stat(string(dsn)); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}

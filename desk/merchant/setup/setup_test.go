package setup_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/internal/testdb"
	"countersign/secret"
	"countersign/store"
)

// canary stands in every connection string here, and nowhere else.
const canary = "canary-73c1d9"

var (
	ada   = countersign.Actor{Kind: countersign.Person, ID: "usr_ada"}
	shell = countersign.Actor{Kind: countersign.CLI, ID: "root"}
)

func open(t *testing.T, database string, key secret.Key) setup.Setup {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return setup.Setup{Store: s, Key: key}
}

func newKey(t *testing.T) secret.Key {
	t.Helper()
	key, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mapping(name string) connector.Mapping {
	return connector.Mapping{Name: name, Driver: connector.Postgres, DSN: "postgres://reader:" + canary + "@shop.example/shop", Currency: "USD", Unit: connector.Major,
		Entities: map[connector.Kind]connector.Entity{connector.Order: {Table: "orders", Key: "id", Columns: map[string]string{"total": "total"}}}}
}

func TestWhatIsSavedIsInForceAndTheOldVersionIsKept(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database, newKey(t))
		if _, ok, err := s.Latest(t.Context()); ok || err != nil {
			t.Fatalf("before anything was saved: %v, %v", ok, err)
		}
		for i, name := range []string{"first", "second"} {
			version, err := s.Save(t.Context(), mapping(name), ada, shell)
			if err != nil || version != int64(i+1) {
				t.Fatalf("version %d, %v", version, err)
			}
			v, ok, err := s.Latest(t.Context())
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if diff := cmp.Diff(mapping(name), v.Mapped); diff != "" || string(v.Mapped.DSN) != string(mapping(name).DSN) {
				t.Errorf("it came back otherwise (-want +got):\n%s", diff)
			}
			if v.ConfirmedBy != ada.String() || v.CreatedBy != shell.String() {
				t.Errorf("confirmed by %s, made by %s", v.ConfirmedBy, v.CreatedBy)
			}
		}
		all, err := s.Versions(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "second" || all[1].Mapped.Name != "first" || all[1].Mapped.DSN != "" {
			t.Errorf("versions are %+v, %v", all, err)
		}
	})
}

func TestADraftSurvivesUntilItIsSaved(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		key := newKey(t)
		s := open(t, database, key)
		if d, ok, err := s.Draft(t.Context(), ada.ID); ok || err != nil || d.Step != setup.Connect {
			t.Fatalf("before anything was answered: %+v, %v, %v", d, ok, err)
		}
		if err := s.Keep(t.Context(), ada.ID, setup.Draft{Mapping: mapping("shop"), Platform: "Medusa", Step: setup.Money}); err != nil {
			t.Fatal(err)
		}
		d, ok, err := open(t, database, key).Draft(t.Context(), ada.ID) // another process, after a restart
		if err != nil || !ok || d.Lost != nil || d.Step != setup.Money || d.Platform != "Medusa" || d.Mapping.DSN != mapping("").DSN || d.ChangedAt.IsZero() {
			t.Errorf("it came back as %+v, %v, %v", d, ok, err)
		}
		if _, err := s.Save(t.Context(), d.Mapping, ada, ada); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Draft(t.Context(), ada.ID); ok || err != nil {
			t.Errorf("after it was saved it is still there: %v, %v", ok, err)
		}
	})
}

func TestWithAnotherKeyEverythingButTheConnectionIsThere(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		first := open(t, database, newKey(t))
		if _, err := first.Save(t.Context(), mapping("shop"), ada, ada); err != nil {
			t.Fatal(err)
		}
		if err := first.Keep(t.Context(), ada.ID, setup.Draft{Mapping: mapping("draft"), Step: setup.Rows}); err != nil {
			t.Fatal(err)
		}
		second := open(t, database, newKey(t))
		v, ok, err := second.Latest(t.Context())
		if !ok || !secret.OtherKey(err) || v.Mapped.Name != "shop" || v.Mapped.DSN != "" {
			t.Errorf("the mapping in force is %+v, %v, %v", v, ok, err)
		}
		if !strings.Contains(err.Error(), first.Key.ID()) || !strings.Contains(err.Error(), "enter the connection string of version 1") {
			t.Errorf("the error does not say what to do: %v", err)
		}
		d, ok, err := second.Draft(t.Context(), ada.ID)
		if err != nil || !ok || !secret.OtherKey(d.Lost) || d.Mapping.Name != "draft" || d.Mapping.DSN != "" {
			t.Errorf("the draft is %+v, %v, %v", d, ok, err)
		}
		if all, err := second.Versions(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("the list of versions: %+v, %v", all, err)
		}
	})
}

func TestAConnectionStringMovedToAnotherRowDoesNotOpen(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database, newKey(t))
		for _, name := range []string{"first", "second"} {
			if _, err := s.Save(t.Context(), mapping(name), ada, ada); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Store.DB().ExecContext(t.Context(), `UPDATE shop_mappings SET connection = (SELECT other.connection FROM shop_mappings AS other WHERE other.version = 1)`); err != nil {
			t.Fatal(err)
		}
		v, ok, err := s.Latest(t.Context())
		if !ok || err == nil || secret.OtherKey(err) || v.Mapped.DSN != "" {
			t.Errorf("version 2 opened with the connection of version 1: %+v, %v", v.Mapped, err)
		}
	})
}

func TestAConnectionStringIsNeverInTheDatabaseInClear(t *testing.T) {
	path := testdb.SQLite(t)
	s := open(t, path, newKey(t))
	if err := s.Keep(t.Context(), ada.ID, setup.Draft{Mapping: mapping("draft"), Step: setup.Rows}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Save(t.Context(), mapping("shop"), shell, shell); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(path + "*") // the file, and the log of what was written to it
	if err != nil || len(files) < 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s holds the connection string in clear", filepath.Base(file))
		}
	}
	versions, err := s.Versions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		if strings.Contains(v.JSON, canary) || strings.Contains(v.JSON, "dsn") {
			t.Errorf("version %d shows it: %s", v.Version, v.JSON)
		}
	}
}

package keyring

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/posting"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/hook"
	"countersign/internal/testdb"
	"countersign/llm/roster"
	"countersign/secret"
	"countersign/store"
)

var ada = countersign.Actor{Kind: countersign.Person, ID: "ada"}

// house is a database with one of everything that is sealed.
type house struct {
	*testing.T
	store *store.Store
}

// canary is in every secret of a house.
const canary = "canary-of-forty-characters-that-nobody-may-read"

func newHouse(t *testing.T, database string) *house {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &house{t, s}
}

// ring is the house as a program sees it that has a key.
func (h *house) ring(k secret.Key) Ring {
	return Ring{Store: h.store, Found: secret.Found{Key: k, In: "a test"}}
}

// seals are the ways to keep something sealed, each with what it is called.
var seals = map[string]func(context.Context, *store.Store, secret.Key) error{
	"a shop mapping": func(ctx context.Context, s *store.Store, k secret.Key) error {
		_, err := setup.Setup{Store: s, Key: k}.Save(ctx, connector.Mapping{Driver: connector.Postgres, DSN: canary}, ada, ada)
		return err
	},
	"a draft": func(ctx context.Context, s *store.Store, k secret.Key) error {
		return setup.Setup{Store: s, Key: k}.Keep(ctx, "eve", setup.Draft{Mapping: connector.Mapping{Driver: connector.Postgres, DSN: canary}})
	},
	"a model connection": func(ctx context.Context, s *store.Store, k secret.Key) error {
		c := roster.Connection{Name: "hosted", Provider: "openai", Model: "m", BaseURL: "https://models.example.com/v1", Key: canary}
		_, err := roster.Keeper{Store: s, Key: k}.Save(ctx, roster.Put(c, true), ada)
		return err
	},
	"where fixes are posted": func(ctx context.Context, s *store.Store, k secret.Key) error {
		_, err := posting.Office{Store: s, Key: k}.Apply(ctx, posting.Settings{To: posting.Core, URL: "https://core.example.com/i", KeyID: "k-1", Secret: canary}, ada)
		return err
	},
	"a source of events": func(ctx context.Context, s *store.Store, k secret.Key) error {
		_, err := hook.Sources{Store: s, Key: k}.Add(ctx, "till-"+fmt.Sprint(time.Now().UnixNano()), time.Minute, ada)
		return err
	},
}

func (h *house) seal(what string, k secret.Key) {
	h.Helper()
	if err := seals[what](h.Context(), h.store, k); err != nil {
		h.Fatalf("seal %s: %v", what, err)
	}
}

// furnish seals one of everything, and what is there twice: an older version, a secret that was rotated.
func (h *house) furnish(k secret.Key) {
	h.Helper()
	for range 2 {
		for what := range seals {
			h.seal(what, k)
		}
	}
	sources, err := h.store.EventSources(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	if _, err := (hook.Sources{Store: h.store, Key: k}).Rotate(h.Context(), sources[0].Name, time.Hour, ada); err != nil {
		h.Fatal(err)
	}
}

// everywhere looks at every text of the database for sealed ones, and counts them by the key that they need.
func (h *house) everywhere() map[string]int {
	h.Helper()
	tables := "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
	if h.store.Engine() == "postgres" {
		tables = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() AND data_type IN ('text', 'character varying', 'json', 'jsonb')"
	}
	needed := map[string]int{}
	for _, at := range h.pairs(tables) {
		if at[0] == "settings" {
			continue // the keys' own checks
		}
		for _, text := range h.pairs(fmt.Sprintf("SELECT CAST(%q AS TEXT), '' FROM %q", at[1], at[0])) {
			for _, one := range strings.Split(text[0], "sealed:1:")[1:] {
				needed[one[:16]]++
			}
		}
	}
	return needed
}

func (h *house) pairs(query string) (all [][2]string) {
	h.Helper()
	rows, err := h.store.DB().QueryContext(h.Context(), query)
	if err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a, b sql.NullString
		if err := rows.Scan(&a, &b); err != nil {
			h.Fatal(err)
		}
		all = append(all, [2]string{a.String, b.String})
	}
	if err := rows.Err(); err != nil {
		h.Fatal(err)
	}
	return all
}

// state is what a ring says, which must be at least readable.
func (h *house) state(r Ring) State {
	h.Helper()
	s, err := r.State(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return s
}

func (h *house) keep(r Ring) {
	h.Helper()
	if err := r.Keep(h.Context()); err != nil {
		h.Fatal(err)
	}
}

func TestEverythingThatIsSealedIsKnown(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h, k := newHouse(t, database), secret.New()
		h.keep(h.ring(k))
		h.furnish(k)
		s := h.state(h.ring(k))
		if found := h.everywhere()[k.ID()]; len(s.Things) != found || found < 9 {
			t.Errorf("the database holds %d sealed texts, and %d are known", found, len(s.Things))
		}
		if lost := s.Lost(); !s.Right() || len(lost) > 0 {
			t.Errorf("with the right key: %+v", s)
		}
		for _, one := range s.Things {
			if one.Key != k.ID() || one.Place == "" {
				t.Errorf("%+v needs another key than the one that sealed it", one)
			}
		}
	})
}

func TestAWrongKeyLosesNothing(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h, right, wrong := newHouse(t, database), secret.New(), secret.New()
		h.keep(h.ring(right))
		h.furnish(right)
		before := len(h.state(h.ring(right)).Things)
		h.keep(h.ring(wrong))
		s := h.state(h.ring(wrong))
		if s.Right() || s.Kept != right.ID() || len(s.Lost()) != before {
			t.Errorf("with a wrong key it is right: %t, kept under %s, and %d of %d are lost", s.Right(), s.Kept, len(s.Lost()), before)
		}
		for _, one := range s.Lost() {
			if !secret.OtherKey(one.Lost) || strings.Contains(one.Lost.Error(), "canary") {
				t.Errorf("%s: %v", one.Place, one.Lost)
			}
		}
		if s := h.state(h.ring(right)); !s.Right() || len(s.Lost()) > 0 {
			t.Errorf("with the right key back: %+v", s.Lost())
		}
		for what, seal := range seals {
			if err := seal(t.Context(), h.store, wrong); err != nil {
				t.Errorf("%s cannot be entered again: %v", what, err)
			}
		}
	})
}

func TestACheckThatDoesNotOpenIsSaid(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h, k := newHouse(t, database), secret.New()
		h.keep(h.ring(k))
		if _, err := h.store.DB().Exec("UPDATE settings SET value = '{}' WHERE name LIKE 'master_key/%'"); err != nil {
			t.Fatal(err)
		}
		if s := h.state(h.ring(k)); s.Right() || s.Check == nil {
			t.Error("a check that was changed counts as right")
		}
	})
}

package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// addLink stores a link that lasts an hour.
func addLink(t testing.TB, s *store.Store, hash, personID, purpose string) store.Link {
	t.Helper()
	l := store.Link{PersonID: personID, Purpose: purpose, ExpiresAt: s.Now().Add(time.Hour)}
	write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.AddLink(ctx, l, hash, admin) })
	return l
}

// useLink reports whether the link could be used.
func useLink(t testing.TB, s *store.Store, hash string) (ok bool) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		_, ok, err = tx.UseLink(ctx, hash, "sign_in")
		return err
	})
	return ok
}

func TestLinks(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		ada := addPerson(t, s, "ada")
		t.Run("looking at a link leaves it as it was", func(t *testing.T) {
			want := addLink(t, s, "h1", ada.ID, "sign_in")
			for range 2 {
				if got, ok, err := s.LinkByHash(ctx, "h1", clock.Now()); err != nil || !ok || got != want {
					t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, want)
				}
			}
		})
		t.Run("it is used once, and is gone then", func(t *testing.T) {
			if !useLink(t, s, "h1") || useLink(t, s, "h1") {
				t.Error("it could not be used once, or twice")
			}
			if _, ok, err := s.LinkByHash(ctx, "h1", clock.Now()); ok || err != nil {
				t.Errorf("it is still there: %v, %v", ok, err)
			}
		})
		t.Run("a unit of work that fails does not use it up", func(t *testing.T) {
			addLink(t, s, "h2", ada.ID, "sign_in")
			_ = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, _, err := tx.UseLink(ctx, "h2", "sign_in")
				if err == nil {
					err = context.Canceled
				}
				return err
			})
			if !useLink(t, s, "h2") {
				t.Error("it was used up")
			}
		})
		t.Run("for another purpose it is no link", func(t *testing.T) {
			addLink(t, s, "h3", "", "set_up")
			if useLink(t, s, "h3") {
				t.Error("a link to set up let somebody in")
			}
		})
		t.Run("its time passes", func(t *testing.T) {
			addLink(t, s, "h4", ada.ID, "sign_in")
			clock.advance(time.Hour)
			if _, ok, err := s.LinkByHash(ctx, "h4", clock.Now()); ok || err != nil || useLink(t, s, "h4") {
				t.Errorf("it is still there after its hour: %v, %v", ok, err)
			}
		})
		t.Run("a new password, and access that is taken away, make links useless", func(t *testing.T) {
			for hash, change := range map[string]func(context.Context, *store.Tx) error{
				"h5": func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, ada.ID, "a hash", admin) },
				"h6": func(ctx context.Context, tx *store.Tx) error {
					return changed(func(p *store.Person) { p.Disabled = true })(ctx, tx, ada)
				},
			} {
				addLink(t, s, hash, ada.ID, "sign_in")
				write(t, s, change)
				if useLink(t, s, hash) {
					t.Errorf("%s still let somebody in", hash)
				}
			}
		})
		t.Run("a link needs an actor", func(t *testing.T) {
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddLink(ctx, store.Link{Purpose: "set_up"}, "h7", countersign.Actor{})
			})
			if countersign.KindOf(err) != countersign.Internal {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestOfManyWhoUseALinkAtOnceOneGetsIt(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		ada := addPerson(t, s, "ada")
		for _, hash := range []string{"h1", "h2", "h3", "h4", "h5"} {
			addLink(t, s, hash, ada.ID, "sign_in")
			var winners atomic.Int32
			for _, err := range parallel(12, func(int) error {
				return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					_, ok, err := tx.UseLink(ctx, hash, "sign_in")
					if ok {
						tx.AfterCommit(func() { winners.Add(1) })
					}
					return err
				})
			}) {
				t.Error(err)
			}
			if n := winners.Load(); n != 1 {
				t.Errorf("%d got in by one link", n)
			}
		}
	})
}

// Each of them has a link of its own, as when several processes printed one.
func TestOfManyWhoSetUpAtOnceOneDoes(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		var winners atomic.Int32
		for _, err := range parallel(8, func(i int) error {
			hash := string(id(i))
			if err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddLink(ctx, store.Link{Purpose: "set_up", ExpiresAt: tx.Now.Add(time.Hour)}, hash, admin)
			}); err != nil {
				return err
			}
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				ok, err := tx.UseEveryLink(ctx, hash, "set_up")
				if err != nil || !ok {
					return err
				}
				if n, err := tx.CountPeople(ctx); err != nil || n > 0 {
					return err
				}
				tx.AfterCommit(func() { winners.Add(1) })
				return tx.AddPerson(ctx, person(hash), "", admin)
			})
		}) {
			t.Error(err)
		}
		if n, err := s.CountPeople(ctx); err != nil || n != 1 || winners.Load() != 1 {
			t.Errorf("%d people, %d who set up, %v", n, winners.Load(), err)
		}
	})
}

package store_test

import (
	"context"
	"testing"
	"time"

	"countersign/internal/testdb"
	"countersign/store"
)

func TestSessions(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		began := func(token string) store.Session {
			return store.Session{Token: token, Data: []byte("\x00data of " + token), ExpiresAt: clock.Now().Add(time.Hour)}
		}
		is := func(t *testing.T, token string, want *store.Session) {
			t.Helper()
			got, ok, err := s.Session(ctx, token, clock.Now())
			switch {
			case err != nil || ok != (want != nil):
				t.Errorf("session %s is there: %v, %v", token, ok, err)
			case ok && (got.Token != want.Token || string(got.Data) != string(want.Data) || !got.ExpiresAt.Equal(want.ExpiresAt)):
				t.Errorf("got %+v, want %+v", got, *want)
			}
		}
		one := began("one")
		write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.AddSession(ctx, one) })
		is(t, "one", &one)
		is(t, "two", nil)

		t.Run("it is written back", func(t *testing.T) {
			one.Data, one.ExpiresAt = []byte{}, clock.Now().Add(2*time.Hour)
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.KeepSession(ctx, one) })
			is(t, "one", &one)
		})
		t.Run("and prolonged", func(t *testing.T) {
			one.ExpiresAt = clock.Now().Add(3 * time.Hour)
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ProlongSession(ctx, "one", one.ExpiresAt) })
			is(t, "one", &one)
		})
		t.Run("one that has ended is not brought back", func(t *testing.T) {
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.EndSession(ctx, "one") })
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.KeepSession(ctx, one) })
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ProlongSession(ctx, "one", one.ExpiresAt) })
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.EndSession(ctx, "one") })
			is(t, "one", nil)
		})
		t.Run("its time passes, and then it and links that have ended are removed, and no others", func(t *testing.T) {
			two, three := began("two"), began("three")
			three.ExpiresAt = clock.Now().Add(2 * time.Hour)
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.AddSession(ctx, two) })
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.AddSession(ctx, three) })
			ada := addPerson(t, s, "ada")
			addLink(t, s, "old", ada.ID, "sign_in")
			clock.advance(time.Hour)
			is(t, "two", nil)
			addLink(t, s, "used", ada.ID, "sign_in")
			addLink(t, s, "new", ada.ID, "sign_in")
			useLink(t, s, "used")
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.DropExpired(ctx, clock.Now()) })
			is(t, "three", &three)
			if n, m := number(t, s, "SELECT COUNT(*) FROM sessions"), number(t, s, "SELECT COUNT(*) FROM links"); n != 1 || m != 1 || !useLink(t, s, "new") {
				t.Errorf("%d sessions and %d links are left", n, m)
			}
		})
	})
}

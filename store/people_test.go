package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

var admin = countersign.Actor{Kind: countersign.Person, ID: "usr_root"}

// person is somebody with that name, and an id and an e-mail of it.
func person(name string) store.Person {
	return store.Person{ID: "usr_" + name, Email: name + "@bank.example", Name: name, Role: "analyst", Zone: "UTC"}
}

func addPerson(t testing.TB, s *store.Store, name string) store.Person {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.AddPerson(ctx, person(name), "", admin) })
	return personOf(t, s, "usr_"+name)
}

func personOf(t testing.TB, s *store.Store, id string) store.Person {
	t.Helper()
	p, err := s.Person(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeople(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		if n, err := s.CountPeople(ctx); err != nil || n != 0 {
			t.Errorf("an empty database holds %d people, %v", n, err)
		}
		ada := addPerson(t, s, "ada")
		addPerson(t, s, "Zoe")
		addPerson(t, s, "grace")

		t.Run("somebody comes back as they were stored", func(t *testing.T) {
			want := person("ada")
			want.Generation, want.CreatedAt, want.CreatedBy = 1, clock.Now(), "person:usr_root"
			if ada != want {
				t.Errorf("got %+v, want %+v", ada, want)
			}
			p, password, ok, err := s.PersonByEmail(ctx, "ada@bank.example")
			if err != nil || !ok || p != want || password != "" {
				t.Errorf("by e-mail got %+v, password %q, %v, %v", p, password, ok, err)
			}
		})
		t.Run("nobody is NotFound, and by e-mail no error", func(t *testing.T) {
			if _, err := s.Person(ctx, "usr_nobody"); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v", err)
			}
			if _, _, ok, err := s.PersonByEmail(ctx, "nobody@bank.example"); ok || err != nil {
				t.Errorf("got %v, %v", ok, err)
			}
		})
		t.Run("an e-mail that somebody has is a conflict in that field", func(t *testing.T) {
			again := person("ada")
			again.ID = "usr_other"
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddPerson(ctx, again, "", admin) })
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != countersign.Conflict || e.Field != "email" {
				t.Errorf("got %v", err)
			}
		})
		t.Run("everybody is listed by name, in whatever letters", func(t *testing.T) {
			all, err := s.People(ctx)
			if err != nil || len(all) != 3 || all[0].Name != "ada" || all[1].Name != "grace" || all[2].Name != "Zoe" {
				t.Errorf("got %+v, %v", all, err)
			}
			if n, err := s.CountPeople(ctx); err != nil || n != 3 {
				t.Errorf("counted %d, %v", n, err)
			}
		})
		t.Run("whoever may not sign in any more keeps their name", func(t *testing.T) {
			zoe := personOf(t, s, "usr_Zoe")
			zoe.Disabled = true
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ChangePerson(ctx, zoe, admin) })
			if names, err := s.Names(ctx); err != nil || names["usr_Zoe"] != "Zoe" || len(names) != 3 {
				t.Errorf("got %v, %v", names, err)
			}
		})
	})
}

// TestGeneration is what ends sessions: they are of the generation they began in.
func TestGeneration(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i, row := range []struct {
			sentence string
			change   func(context.Context, *store.Tx, store.Person) error
			over     bool
		}{
			{"a name ends nothing", changed(func(p *store.Person) { p.Name = "Ada Obi" }), false},
			{"nor does a zone", changed(func(p *store.Person) { p.Zone = "Africa/Lagos" }), false},
			{"nor does saying the same again", changed(func(*store.Person) {}), false},
			{"another role ends it", changed(func(p *store.Person) { p.Role = "admin" }), true},
			{"so does access that is taken away", changed(func(p *store.Person) { p.Disabled = true }), true},
			{"and a new password", func(ctx context.Context, tx *store.Tx, p store.Person) error {
				return tx.SetPassword(ctx, p.ID, "a hash", admin)
			}, true},
		} {
			t.Run(row.sentence, func(t *testing.T) {
				before := addPerson(t, s, fmt.Sprint("ada", i))
				write(t, s, func(ctx context.Context, tx *store.Tx) error { return row.change(ctx, tx, before) })
				after := personOf(t, s, before.ID)
				if over := after.Generation != before.Generation; over != row.over {
					t.Errorf("generation %d became %d, want it over: %v", before.Generation, after.Generation, row.over)
				}
			})
		}
		t.Run("access that is given back does not bring back what it ended", func(t *testing.T) {
			before := addPerson(t, s, "grace")
			for _, disabled := range []bool{true, false} {
				write(t, s, func(ctx context.Context, tx *store.Tx) error {
					return changed(func(p *store.Person) { p.Disabled = disabled })(ctx, tx, before)
				})
			}
			if after := personOf(t, s, before.ID); after.Disabled || after.Generation == before.Generation {
				t.Errorf("got %+v", after)
			}
		})
	})
}

// changed is a change of somebody by an admin.
func changed(f func(*store.Person)) func(context.Context, *store.Tx, store.Person) error {
	return func(ctx context.Context, tx *store.Tx, p store.Person) error {
		f(&p)
		return tx.ChangePerson(ctx, p, admin)
	}
}

func TestChangesOfPeople(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		clock := at(time.Now())
		s := open(t, database, store.Options{Now: clock.Now})
		ada := addPerson(t, s, "ada")
		t.Run("what was changed is there, with when and by whom", func(t *testing.T) {
			clock.advance(time.Hour)
			want := ada
			want.Name, want.Zone, want.Role, want.Disabled, want.Generation = "Ada Obi", "Africa/Lagos", "auditor", true, 2
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ChangePerson(ctx, want, admin) })
			if got := personOf(t, s, ada.ID); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if n := number(t, s, "SELECT COUNT(*) FROM people WHERE changed_at = $1 AND disabled_at = $1 AND changed_by = 'person:usr_root'", clock.Now().UnixMicro()); n != 1 {
				t.Error("when or by whom is not on file")
			}
		})
		t.Run("somebody who is kept out stays out since the first time", func(t *testing.T) {
			since := clock.Now()
			clock.advance(time.Hour)
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.ChangePerson(ctx, personOf(t, s, ada.ID), admin)
			})
			if n := number(t, s, "SELECT disabled_at FROM people"); n != since.UnixMicro() {
				t.Errorf("disabled since %d, want %d", n, since.UnixMicro())
			}
		})
		t.Run("a password is there beside the person, who has one", func(t *testing.T) {
			write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, ada.ID, "a hash", admin) })
			if p, password, _, err := s.PersonByEmail(ctx, ada.Email); err != nil || password != "a hash" || !p.HasPassword {
				t.Errorf("got %+v, %q, %v", p, password, err)
			}
		})
		nobody := countersign.Actor{}
		for _, row := range []struct {
			sentence string
			f        func(context.Context, *store.Tx) error
			kind     countersign.ErrorKind
		}{
			{"nobody cannot be changed", func(ctx context.Context, tx *store.Tx) error { return tx.ChangePerson(ctx, person("x"), admin) }, countersign.NotFound},
			{"nor given a password", func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, "usr_x", "a hash", admin) }, countersign.NotFound},
			{"a change needs an actor", func(ctx context.Context, tx *store.Tx) error { return tx.ChangePerson(ctx, ada, nobody) }, countersign.Internal},
			{"so does a new person", func(ctx context.Context, tx *store.Tx) error { return tx.AddPerson(ctx, person("x"), "", nobody) }, countersign.Internal},
			{"and a password", func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, ada.ID, "other", nobody) }, countersign.Internal},
		} {
			t.Run(row.sentence, func(t *testing.T) {
				if err := s.Write(ctx, row.f); countersign.KindOf(err) != row.kind {
					t.Errorf("got %v, want %s", err, row.kind)
				}
			})
		}
		if n, err := s.CountPeople(ctx); err != nil || n != 1 {
			t.Errorf("%d people, %v", n, err)
		}
	})
}

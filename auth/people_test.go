package auth

import (
	"context"
	"errors"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func addPerson(t testing.TB, s *store.Store, n NewPerson) store.Person {
	t.Helper()
	p, err := AddPerson(t.Context(), s, n, operator)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ada is an analyst with a password.
func ada(t testing.TB, s *store.Store) store.Person {
	t.Helper()
	return addPerson(t, s, NewPerson{Email: "ada@bank.example", Role: Analyst, Password: password})
}

func openOn(t testing.TB, database string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAddPerson(t *testing.T) {
	s := open(t)
	t.Run("an e-mail is kept in small letters, and what was left out is filled in", func(t *testing.T) {
		p := addPerson(t, s, NewPerson{Email: " Grace.Bello@Bank.example ", Role: Admin})
		if p.Email != "grace.bello@bank.example" || p.Name != "grace.bello" || p.Zone != "UTC" || p.HasPassword || !strings.HasPrefix(p.ID, "usr_") {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("what was said is kept", func(t *testing.T) {
		p := addPerson(t, s, NewPerson{Email: "joan@bank.example", Name: "Joan Eze", Role: Auditor, Zone: "Africa/Lagos", Password: password})
		if p.Name != "Joan Eze" || p.Zone != "Africa/Lagos" || p.Role != "auditor" || !p.HasPassword || p.CreatedBy != operator.String() {
			t.Errorf("got %+v", p)
		}
	})
	good := NewPerson{Email: "ada@bank.example", Role: Analyst, Password: password}
	for _, row := range []struct {
		sentence string
		spoil    func(*NewPerson)
		kind     countersign.ErrorKind
		field    string
	}{
		{"no e-mail", func(n *NewPerson) { n.Email = " " }, countersign.Invalid, "email"},
		{"what is no e-mail", func(n *NewPerson) { n.Email = "ada" }, countersign.Invalid, "email"},
		{"an e-mail with a name before it", func(n *NewPerson) { n.Email = "Ada <ada@bank.example>" }, countersign.Invalid, "email"},
		{"two e-mails", func(n *NewPerson) { n.Email = "ada@bank.example, eve@bank.example" }, countersign.Invalid, "email"},
		{"an e-mail with a zero byte", func(n *NewPerson) { n.Email = "a\x00da@bank.example" }, countersign.Invalid, "email"},
		{"an e-mail that no server takes", func(n *NewPerson) { n.Email = strings.Repeat("a", 260) + "@bank.example" }, countersign.Invalid, "email"},
		{"an e-mail that somebody has, in other letters", func(n *NewPerson) { n.Email = "JOAN@bank.example" }, countersign.Conflict, "email"},
		{"a name of two lines", func(n *NewPerson) { n.Name = "Ada\nadmin" }, countersign.Invalid, "name"},
		{"a role that does not exist", func(n *NewPerson) { n.Role = "root" }, countersign.Invalid, "role"},
		{"no role", func(n *NewPerson) { n.Role = "" }, countersign.Invalid, "role"},
		{"a zone that does not exist", func(n *NewPerson) { n.Zone = "Africa/Atlantis" }, countersign.Invalid, "zone"},
		{"the zone of whatever host", func(n *NewPerson) { n.Zone = "Local" }, countersign.Invalid, "zone"},
		{"a zone that is a path", func(n *NewPerson) { n.Zone = "../../etc/passwd" }, countersign.Invalid, "zone"},
		{"a short password", func(n *NewPerson) { n.Password = "short" }, countersign.Invalid, "password"},
		{"the e-mail as password", func(n *NewPerson) { n.Password = n.Email }, countersign.Invalid, "password"},
	} {
		t.Run("refused: "+row.sentence, func(t *testing.T) {
			n := good
			row.spoil(&n)
			_, err := AddPerson(t.Context(), s, n, operator)
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != row.kind || e.Field != row.field {
				t.Errorf("got %v, want %s in %s", err, row.kind, row.field)
			}
		})
	}
	if n, err := s.CountPeople(t.Context()); err != nil || n != 2 {
		t.Errorf("%d people were added, %v", n, err)
	}
}

func TestTheLastAdminStaysOne(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := openOn(t, database)
		one := addPerson(t, s, NewPerson{Email: "one@bank.example", Role: Admin})
		for sentence, lose := range map[string]func(*store.Person){
			"by another role": func(p *store.Person) { p.Role = string(Approver) },
			"by their access": func(p *store.Person) { p.Disabled = true },
		} {
			t.Run("and cannot be taken away "+sentence, func(t *testing.T) {
				p := one
				lose(&p)
				if err := ChangePerson(t.Context(), s, p, operator); countersign.KindOf(err) != countersign.Conflict {
					t.Errorf("got %v", err)
				}
			})
		}
		t.Run("but may have another name", func(t *testing.T) {
			one.Name = "Ada Obi"
			if err := ChangePerson(t.Context(), s, one, operator); err != nil {
				t.Error(err)
			}
		})
		t.Run("of two who take it from each other at once, one stays", func(t *testing.T) {
			two := addPerson(t, s, NewPerson{Email: "two@bank.example", Role: Admin})
			for range 20 {
				ready, errs := make(chan struct{}), make(chan error)
				for _, p := range []store.Person{one, two} {
					p.Role = string(Analyst)
					go func() {
						<-ready
						errs <- ChangePerson(context.WithoutCancel(t.Context()), s, p, operator)
					}()
				}
				close(ready)
				if first, second := <-errs, <-errs; (first == nil) == (second == nil) {
					t.Fatalf("got %v and %v", first, second)
				}
				one, two = admit(t, s, one.ID), admit(t, s, two.ID)
			}
		})
		t.Run("and what cannot be used is refused as for a new one", func(t *testing.T) {
			one.Zone = "Lagos"
			if err := ChangePerson(t.Context(), s, one, operator); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("got %v", err)
			}
		})
	})
}

// admit makes somebody an admin, whatever they are.
func admit(t *testing.T, s *store.Store, id string) store.Person {
	t.Helper()
	p := read(t, s, id)
	p.Role = string(Admin)
	if err := ChangePerson(t.Context(), s, p, operator); err != nil {
		t.Fatal(err)
	}
	return read(t, s, id)
}

func read(t *testing.T, s *store.Store, id string) store.Person {
	t.Helper()
	p, err := s.Person(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNobodyChangesWhatTheyHaveNotSeen(t *testing.T) {
	s := open(t)
	seen := ada(t, s)
	demoted := seen
	demoted.Role = string(Auditor)
	if err := ChangePerson(t.Context(), s, demoted, operator); err != nil {
		t.Fatal(err)
	}
	seen.Name = "Ada Obi" // with the role that was taken away a moment ago
	if err := ChangePerson(t.Context(), s, seen, operator); countersign.KindOf(err) != countersign.Conflict {
		t.Errorf("got %v", err)
	}
	if p := read(t, s, seen.ID); p.Role != string(Auditor) || p.Name == seen.Name {
		t.Errorf("got %+v", p)
	}
	t.Run("and nobody is changed who is not here", func(t *testing.T) {
		if err := ChangePerson(t.Context(), s, store.Person{ID: "usr_x", Name: "x", Role: "admin", Zone: "UTC"}, operator); countersign.KindOf(err) != countersign.NotFound {
			t.Errorf("got %v", err)
		}
	})
}

func TestRecognise(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := openOn(t, database)
		want := ada(t, s)
		addPerson(t, s, NewPerson{Email: "invited@bank.example", Role: Analyst})
		gone := addPerson(t, s, NewPerson{Email: "gone@bank.example", Role: Analyst, Password: password})
		gone.Disabled = true
		if err := ChangePerson(t.Context(), s, gone, operator); err != nil {
			t.Fatal(err)
		}
		attempt := func(email, password string) (store.Person, error) {
			return Recognise(t.Context(), s.View, NewThrottle(nil), Attempt{email, password, "203.0.113.7:1"})
		}

		t.Run("whose e-mail and password they are, in whatever letters the e-mail is", func(t *testing.T) {
			for _, email := range []string{"ada@bank.example", " ADA@bank.example\n"} {
				if p, err := attempt(email, password); err != nil || p != want {
					t.Errorf("got %+v, %v", p, err)
				}
			}
		})
		const says = "e-mail or password is wrong (look at both and try again)"
		tooLong := strings.Repeat("a", 1<<20)
		for _, row := range []struct {
			sentence, email, password string
			hashes                    int // whether anybody is here must not be seen by the time it takes
		}{
			{"another password", want.Email, password + "!", 1},
			{"no password", want.Email, "", 1},
			{"somebody who is not here", "eve@bank.example", password, 1},
			{"somebody who has no password yet", "invited@bank.example", password, 1},
			{"nor with none", "invited@bank.example", "", 1},
			{"somebody who may not sign in any more", gone.Email, password, 1},
			{"no e-mail", "", password, 1},
			{"what is no e-mail", "ada", password, 1},
			{"a zero byte", "a\x00da@bank.example", password, 1},
			{"a piece of SQL", "' OR 1=1 --", password, 1},
			{"a password of a megabyte", want.Email, tooLong, 0},
			{"a password of a megabyte of somebody who is not here", "eve@bank.example", tooLong, 0},
		} {
			t.Run("not: "+row.sentence, func(t *testing.T) {
				hashes := counted(func() {
					p, err := attempt(row.email, row.password)
					if countersign.KindOf(err) != countersign.Unauthorized || err.Error() != says || p != (store.Person{}) {
						t.Errorf("got %+v, %v", p, err)
					}
				})
				if hashes != row.hashes {
					t.Errorf("it took %d hashes, want %d", hashes, row.hashes)
				}
			})
		}
	})
}

func TestFailedSignInsAreCounted(t *testing.T) {
	s := open(t)
	ada(t, s)
	hour := newClock()
	th := NewThrottle(hour.now)
	try := func(ctx context.Context, password string) error {
		_, err := Recognise(ctx, s.View, th, Attempt{"ada@bank.example", password, "203.0.113.7:1"})
		return err
	}
	t.Run("those that succeed and those that nobody answered are not", func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for range 6 {
			if err := try(cancelled, "wrong"); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if err := try(t.Context(), password); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("after five the right password is refused too, until the window passes", func(t *testing.T) {
		for range 5 {
			if err := try(t.Context(), "wrong"); countersign.KindOf(err) != countersign.Unauthorized {
				t.Fatalf("got %v", err)
			}
		}
		hashes := counted(func() {
			if err := try(t.Context(), password); countersign.KindOf(err) != countersign.Unavailable {
				t.Errorf("got %v", err)
			}
		})
		if hashes != 0 {
			t.Error("a refusal cost a hash")
		}
		hour.at = hour.at.Add(window)
		if err := try(t.Context(), password); err != nil {
			t.Error(err)
		}
	})
}

func TestChangePassword(t *testing.T) {
	s := open(t)
	p := ada(t, s)
	const other = "staple battery horse"
	signIn := func(password string) error {
		_, err := Recognise(t.Context(), s.View, NewThrottle(nil), Attempt{Email: p.Email, Password: password})
		return err
	}
	if err := ChangePassword(t.Context(), s, p.ID, other, operator); err != nil {
		t.Fatal(err)
	}
	if err := signIn(other); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if err := signIn(password); countersign.KindOf(err) != countersign.Unauthorized {
		t.Errorf("the old password: %v", err)
	}
	t.Run("nothing of a password is kept but its hash", func(t *testing.T) {
		var kept string
		if err := s.DB().QueryRow("SELECT id || email || name || password || created_by || changed_by FROM people").Scan(&kept); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(kept, other) || !strings.Contains(kept, "$argon2id$") {
			t.Errorf("stored as %q", kept)
		}
	})
	for sentence, bad := range map[string]string{"a short one": "short", "the e-mail": p.Email} {
		t.Run("refused: "+sentence, func(t *testing.T) {
			if err := ChangePassword(t.Context(), s, p.ID, bad, operator); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("refused: nobody's", func(t *testing.T) {
		if err := ChangePassword(t.Context(), s, "usr_x", other, operator); countersign.KindOf(err) != countersign.NotFound {
			t.Errorf("got %v", err)
		}
	})
}

package auth

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func makeLink(t testing.TB, s *store.Store, id string, purpose Purpose) string {
	t.Helper()
	secret, err := MakeLink(t.Context(), s, id, purpose, time.Hour, operator)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestSignInLink(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		hour := newClock()
		s, err := store.Open(t.Context(), database, store.Options{Now: hour.now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		p := ada(t, s)
		secret := makeLink(t, s, p.ID, SignInLink)

		t.Run("it says whom it lets in, however often somebody looks", func(t *testing.T) {
			for range 3 {
				if purpose, got, err := FindLink(t.Context(), s, secret); err != nil || purpose != SignInLink || got != p {
					t.Errorf("got %s, %+v, %v", purpose, got, err)
				}
			}
		})
		t.Run("it can stand in an address as it is, and only its hash is kept", func(t *testing.T) {
			var kept string
			if err := s.DB().QueryRow("SELECT hash || person_id || purpose || created_by FROM links").Scan(&kept); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(kept, secret[3:]) || !strings.HasPrefix(secret, "cl_") || len(secret) != 55 || strings.ContainsFunc(secret[3:], outsideAlphabet) {
				t.Errorf("a secret of %d characters is kept as %s", len(secret), kept)
			}
		})
		t.Run("it lets them in once", func(t *testing.T) {
			if got, err := UseLink(t.Context(), s, secret); err != nil || got != p {
				t.Errorf("got %+v, %v", got, err)
			}
			useless(t, s, secret)
		})
		t.Run("and for as long as was said", func(t *testing.T) {
			secret := makeLink(t, s, p.ID, SignInLink)
			hour.at = hour.at.Add(time.Hour)
			useless(t, s, secret)
		})
		t.Run("not when they may not sign in any more, nor after they may again", func(t *testing.T) {
			secret := makeLink(t, s, p.ID, SignInLink)
			for _, disabled := range []bool{true, false} {
				p := read(t, s, p.ID)
				p.Disabled = disabled
				if err := ChangePerson(t.Context(), s, p, operator); err != nil {
					t.Fatal(err)
				}
				useless(t, s, secret)
			}
		})
		t.Run("nor when it was never made, and is no link at all", func(t *testing.T) {
			for _, secret := range []string{"", "cl_" + strings.Repeat("A", 52), hash(secret), "a\x00\xff", strings.Repeat("A", 1<<20)} {
				useless(t, s, secret)
			}
		})
		t.Run("nobody, and who may not sign in, gets none", func(t *testing.T) {
			if _, err := MakeLink(t.Context(), s, "usr_x", SignInLink, time.Hour, operator); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v", err)
			}
			gone := addPerson(t, s, NewPerson{Email: "gone@bank.example", Role: Analyst})
			gone.Disabled = true
			if err := ChangePerson(t.Context(), s, gone, operator); err != nil {
				t.Fatal(err)
			}
			if _, err := MakeLink(t.Context(), s, gone.ID, SignInLink, time.Hour, operator); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("got %v", err)
			}
		})
	})
}

// useless wants that a link lets nobody in, in the words that every such link gets.
func useless(t *testing.T, s *store.Store, secret string) {
	t.Helper()
	_, p, err := FindLink(t.Context(), s, secret)
	if p != (store.Person{}) || countersign.KindOf(err) != countersign.Unauthorized || err.Error() != errUseless().Error() {
		t.Errorf("looked at, it gave %+v, %v", p, err)
	}
	p, err = UseLink(t.Context(), s, secret)
	if p != (store.Person{}) || countersign.KindOf(err) != countersign.Unauthorized || err.Error() != errUseless().Error() {
		t.Errorf("used, it gave %+v, %v", p, err)
	}
}

func TestOfManyWhoUseALinkAtOnceOneGetsIn(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := openOn(t, database)
		secret := makeLink(t, s, ada(t, s).ID, SignInLink)
		errs := make([]error, 16)
		var done sync.WaitGroup
		for i := range errs {
			done.Go(func() { _, errs[i] = UseLink(context.WithoutCancel(t.Context()), s, secret) })
		}
		done.Wait()
		in := 0
		for _, err := range errs {
			if err == nil {
				in++
			} else if countersign.KindOf(err) != countersign.Unauthorized {
				t.Error(err)
			}
		}
		if in != 1 {
			t.Errorf("%d got in", in)
		}
	})
}

func TestSetUp(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := openOn(t, database)
		first, second := makeLink(t, s, "", SetUpLink), makeLink(t, s, "", SetUpLink)
		n := NewPerson{Email: "root@bank.example", Name: "Ada Obi", Role: Auditor, Password: password}

		t.Run("a link is there for nobody yet, and lets nobody in", func(t *testing.T) {
			if purpose, p, err := FindLink(t.Context(), s, first); err != nil || purpose != SetUpLink || p != (store.Person{}) {
				t.Errorf("got %s, %+v, %v", purpose, p, err)
			}
			if _, err := UseLink(t.Context(), s, first); countersign.KindOf(err) != countersign.Unauthorized {
				t.Errorf("got %v", err)
			}
		})
		t.Run("what cannot be used leaves it as it was", func(t *testing.T) {
			for _, spoil := range []func(*NewPerson){func(n *NewPerson) { n.Password = "" }, func(n *NewPerson) { n.Password = "short" }, func(n *NewPerson) { n.Email = "root" }} {
				bad := n
				spoil(&bad)
				if _, err := SetUp(t.Context(), s, first, bad); countersign.KindOf(err) != countersign.Invalid {
					t.Errorf("got %v", err)
				}
			}
		})
		t.Run("a secret that was never made sets nothing up", func(t *testing.T) {
			if _, err := SetUp(t.Context(), s, "cl_"+strings.Repeat("A", 52), n); countersign.KindOf(err) != countersign.Unauthorized {
				t.Errorf("got %v", err)
			}
		})
		t.Run("the first person is an admin, by their own hand", func(t *testing.T) {
			p, err := SetUp(t.Context(), s, first, n)
			if err != nil || p.Role != "admin" || p.Name != "Ada Obi" || p.CreatedBy != "person:"+p.ID || !p.HasPassword {
				t.Errorf("got %+v, %v", p, err)
			}
		})
		t.Run("and the only one: every link has ended, and no more are made", func(t *testing.T) {
			n.Email = "eve@bank.example"
			for _, secret := range []string{first, second} {
				useless(t, s, secret)
				if _, err := SetUp(t.Context(), s, secret, n); countersign.KindOf(err) != countersign.Unauthorized {
					t.Errorf("got %v", err)
				}
			}
			if _, err := MakeLink(t.Context(), s, "", SetUpLink, 0, operator); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("got %v", err)
			}
			if n, err := s.CountPeople(t.Context()); err != nil || n != 1 {
				t.Errorf("%d people, %v", n, err)
			}
		})
	})
}

func TestALinkToSetUpEndsWithThePersonThatTheCommandLineAdded(t *testing.T) {
	s := open(t)
	secret := makeLink(t, s, "", SetUpLink)
	ada(t, s)
	useless(t, s, secret)
	if _, err := SetUp(t.Context(), s, secret, NewPerson{Email: "eve@bank.example", Password: password}); countersign.KindOf(err) != countersign.Unauthorized {
		t.Errorf("got %v", err)
	}
}

func TestSomebodyWhoIsAddedWhileAnotherSetsUpIsTheFirst(t *testing.T) {
	s := open(t)
	secret := makeLink(t, s, "", SetUpLink)
	atEachHash(func() {
		addPerson(t, s, NewPerson{Email: "ada@bank.example", Role: Admin})
	}, func() {
		_, err := SetUp(t.Context(), s, secret, NewPerson{Email: "eve@bank.example", Password: password})
		if countersign.KindOf(err) != countersign.Conflict {
			t.Errorf("got %v", err)
		}
	})
	if n, err := s.CountPeople(t.Context()); err != nil || n != 1 {
		t.Errorf("%d people, %v", n, err)
	}
}

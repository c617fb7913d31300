package auth

import (
	"context"
	"errors"
	"strings"
	"testing"

	"countersign"
)

const password = "correct horse battery"

// real is what a hash costs. In these tests most cost next to nothing: under the race detector one takes seconds.
var real = today

func TestMain(m *testing.M) {
	today = cost{memory: 64, passes: 1, lanes: 1}
	m.Run()
}

func TestCheckPassword(t *testing.T) {
	const email = "ada.obi@bank.example"
	for _, row := range []struct{ sentence, password, says string }{
		{"nothing", "", "is missing"},
		{"eleven characters", "elevenchars", "has 11 characters, expected at least 12"},
		{"eleven characters of many bytes", strings.Repeat("ż", 11), "has 11 characters"},
		{"more than two hundred bytes", strings.Repeat("a", 201), "has 201 bytes, expected at most 200"},
		{"what is no text", "correct horse \xff battery", "is not text"},
		{"the e-mail", email, "is the e-mail"},
		{"the e-mail in other letters, with a blank", " ADA.obi@bank.example", "is the e-mail"},
		{"twelve characters", "twelve chars", ""},
		{"twelve characters of many bytes", strings.Repeat("ż", 12), ""},
		{"two hundred bytes", strings.Repeat("a", 200), ""},
		{"more than the e-mail", email + "!", ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			err := CheckPassword(row.password, email)
			var e *countersign.Error
			switch {
			case row.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.says == "":
			case !errors.As(err, &e) || e.Kind != countersign.Invalid || e.Field != "password" || !strings.Contains(err.Error(), row.says):
				t.Errorf("got %v, want that it %s", err, row.says)
			case row.password != "" && strings.Contains(err.Error(), row.password):
				t.Errorf("the error repeats it: %v", err)
			}
		})
	}
}

// hashed is the hash of a password, as it is stored.
func hashed(t testing.TB, password string) string {
	t.Helper()
	phc, err := hashPassword(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return phc
}

func TestPasswordsAreKeptAsHashes(t *testing.T) {
	cheap := today
	today = real
	defer func() { today = cheap }()
	phc := hashed(t, password)
	t.Run("with their cost, in a form that others read too", func(t *testing.T) {
		if !strings.HasPrefix(phc, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(phc, "horse") {
			t.Errorf("got %s", phc)
		}
	})
	t.Run("each with a salt of its own", func(t *testing.T) {
		if again := hashed(t, password); again == phc {
			t.Errorf("twice the same: %s", phc)
		}
	})
	t.Run("and only the password fits", func(t *testing.T) {
		for attempt, want := range map[string]bool{password: true, password + "!": false, "": false, strings.Repeat("a", 201): false} {
			k, err := parseKept(phc)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.fits(t.Context(), attempt); err != nil || got != want {
				t.Errorf("%.30q fits: %v, %v", attempt, got, err)
			}
		}
	})
	t.Run("a hash that another program made, at another cost, is read", func(t *testing.T) {
		// From the tests of the reference implementation.
		k, err := parseKept("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
		if err != nil {
			t.Fatal(err)
		}
		if fits, err := k.fits(t.Context(), "password"); err != nil || !fits {
			t.Errorf("its password fits: %v, %v", fits, err)
		}
	})
	t.Run("nothing fits where there is none", func(t *testing.T) {
		k, err := parseKept("")
		if err != nil {
			t.Fatal(err)
		}
		if fits, err := k.fits(t.Context(), ""); fits || err != nil {
			t.Errorf("got %v, %v", fits, err)
		}
	})
}

func TestAStoredHashThatCannotBeReadIsAnError(t *testing.T) {
	good := strings.Replace(hashed(t, password), "m=64,t=1,p=1", "m=19456,t=2,p=1", 1)
	if _, err := parseKept(good); err != nil {
		t.Fatal(err)
	}
	for sentence, phc := range map[string]string{
		"a plain password":        password,
		"another function":        strings.Replace(good, "argon2id", "argon2i", 1),
		"another version":         strings.Replace(good, "v=19", "v=16", 1),
		"all memory there is":     strings.Replace(good, "m=19456", "m=4294967295", 1),
		"no memory":               strings.Replace(good, "m=19456", "m=0", 1),
		"no passes":               strings.Replace(good, "t=2", "t=0", 1),
		"passes without end":      strings.Replace(good, "t=2", "t=4000000000", 1),
		"no lanes, which panics":  strings.Replace(good, "p=1", "p=0", 1),
		"a hash that is cut":      good[:len(good)-4],
		"something after its end": good + "$",
		"another alphabet":        strings.Replace(good, "$", "!", 1),
		"no salt":                 "$argon2id$v=19$m=19456,t=2,p=1$$" + strings.Repeat("A", 43),
	} {
		t.Run(sentence, func(t *testing.T) {
			if k, err := parseKept(phc); countersign.KindOf(err) != countersign.Internal || err == nil || strings.Contains(err.Error(), phc) {
				t.Errorf("got %+v, %v", k, err)
			}
		})
	}
}

// atEachHash runs f, and do while f computes a hash, for each.
func atEachHash(do, f func()) {
	places := hashing
	hashing = make(chan struct{})
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-hashing: // a place is taken
				do()
				hashing <- struct{}{} // and given back
			case <-over:
				return
			}
		}
	}()
	f()
	close(over)
	<-stopped
	hashing = places
}

// counted counts the hashes that are computed while f runs.
func counted(f func()) (n int) {
	atEachHash(func() { n++ }, f)
	return n
}

func TestTwoHashesAreComputedAtOnceAndWhoeverIsThirdWaits(t *testing.T) {
	if cap(hashing) != 2 {
		t.Errorf("there are %d places, want 2", cap(hashing))
	}
	for range cap(hashing) {
		hashing <- struct{}{}
	}
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hashPassword(waiting, password); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever gave up waiting got %v", err)
	}
	ended := make(chan error)
	go func() {
		_, err := hashPassword(context.WithoutCancel(t.Context()), password)
		ended <- err
	}()
	for range cap(hashing) {
		<-hashing
	}
	if err := <-ended; err != nil || len(hashing) != 0 {
		t.Errorf("got %v, and %d places are still taken", err, len(hashing))
	}
}

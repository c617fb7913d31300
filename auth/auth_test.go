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

var operator = countersign.Actor{Kind: countersign.CLI, ID: "ada"}

func open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.SQLite(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func create(t testing.TB, s *store.Store, role Role) (secret string, token store.APIToken) {
	t.Helper()
	secret, token, err := NewToken(t.Context(), s, "till", role, operator)
	if err != nil {
		t.Fatal(err)
	}
	return secret, token
}

func TestNewToken(t *testing.T) {
	s := open(t)
	secret, token := create(t, s, Analyst)

	t.Run("the secret authenticates its token, with its role", func(t *testing.T) {
		p, err := Authenticate(t.Context(), s.View, "Bearer "+secret)
		if err != nil {
			t.Fatal(err)
		}
		if p.TokenID != token.ID || p.Role != Analyst || p.Actor != (countersign.Actor{Kind: countersign.Token, ID: token.ID}) {
			t.Errorf("authenticated %+v, want the analyst token %s", p, token.ID)
		}
	})
	t.Run("the scheme is read in any case", func(t *testing.T) {
		if _, err := Authenticate(t.Context(), s.View, "bearer "+secret); err != nil {
			t.Error(err)
		}
	})
	t.Run("the secret says what it is and holds more than 32 characters of chance", func(t *testing.T) {
		if !strings.HasPrefix(secret, "ct_") || len(secret) < len("ct_")+32 {
			t.Errorf("the secret has the form %.3s… and %d characters", secret, len(secret))
		}
	})
	t.Run("only a hash is kept", func(t *testing.T) {
		var kept string
		if err := s.DB().QueryRow("SELECT id || name || role || hash || created_by FROM tokens").Scan(&kept); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(kept, secret) || strings.Contains(kept, secret[3:]) || !strings.Contains(kept, hash(secret)) {
			t.Errorf("the token is stored as %q", kept)
		}
	})
	t.Run("names may repeat, secrets do not", func(t *testing.T) {
		again, other := create(t, s, Analyst)
		if again == secret || other.ID == token.ID {
			t.Error("two tokens have one secret or one id")
		}
	})
	t.Run("a revoked token is refused", func(t *testing.T) {
		gone, token := create(t, s, Admin)
		if _, err := s.DB().Exec("UPDATE tokens SET revoked_at = 1 WHERE id = $1", token.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := Authenticate(t.Context(), s.View, "Bearer "+gone); countersign.KindOf(err) != countersign.Unauthorized {
			t.Errorf("a revoked token gave %v", err)
		}
	})
}

func TestNewTokenRefuses(t *testing.T) {
	s := open(t)
	for _, row := range []struct {
		sentence, name string
		role           Role
		by             countersign.Actor
		field          string
	}{
		{"a token without a name", "  ", Analyst, operator, "name"},
		{"a name that is a page long", strings.Repeat("n", 101), Analyst, operator, "name"},
		{"a name of two lines", "till\nadmin", Analyst, operator, "name"},
		{"a name that is not UTF-8", "till\xff", Analyst, operator, "name"},
		{"a role that does not exist", "till", "root", operator, "role"},
		{"a role in other letters", "till", "Admin", operator, "role"},
		{"no role", "till", "", operator, "role"},
		{"nobody as its maker", "till", Analyst, countersign.Actor{}, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			secret, _, err := NewToken(t.Context(), s, row.name, row.role, row.by)
			var e *countersign.Error
			if !errors.As(err, &e) || e.Field != row.field || secret != "" {
				t.Errorf("got secret %q and error %v, want one about %q", secret, err, row.field)
			}
		})
	}
	var n int
	if err := s.DB().QueryRow("SELECT COUNT(*) FROM tokens").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tokens were stored (%v), want none", n, err)
	}
}

// hostile are headers that no program of ours sends.
func hostile(secret string) map[string]string {
	return map[string]string{
		"another scheme":                       "Basic " + secret,
		"the secret alone":                     secret,
		"no secret":                            "Bearer ",
		"a secret that was never made":         "Bearer ct_" + strings.Repeat("A", 52),
		"a secret with another prefix":         "Bearer xx_" + secret[3:],
		"a secret with a character more":       "Bearer " + secret + "A",
		"a secret with a character less":       "Bearer " + secret[:len(secret)-1],
		"a secret in small letters":            "Bearer " + strings.ToLower(secret),
		"a secret with a control character":    "Bearer " + secret[:10] + "\x00" + secret[11:],
		"a secret with a line break":           "Bearer " + secret[:10] + "\n" + secret[11:],
		"a secret that is not UTF-8":           "Bearer " + secret[:10] + "\xff" + secret[11:],
		"two blanks":                           "Bearer  " + secret[:len(secret)-1],
		"a hash instead of a secret":           "Bearer " + hash(secret),
		"a piece of SQL":                       "Bearer ct_' OR 1=1 --" + strings.Repeat("A", 40),
		"ten megabytes":                        "Bearer ct_" + strings.Repeat("A", 10<<20),
		"ten megabytes of bytes that are zero": strings.Repeat("\x00", 10<<20),
	}
}

func TestAuthenticateRefuses(t *testing.T) {
	s := open(t)
	secret, _ := create(t, s, Admin)
	t.Run("no header, and says how to send one", func(t *testing.T) {
		_, err := Authenticate(t.Context(), s.View, "")
		if countersign.KindOf(err) != countersign.Unauthorized || !strings.Contains(err.Error(), "Authorization: Bearer") {
			t.Errorf("got %v", err)
		}
	})
	for sentence, header := range hostile(secret) {
		t.Run(sentence, func(t *testing.T) { refuses(t, s, header) })
	}
	t.Run("a database that does not answer is no bad token", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Authenticate(ctx, s.View, "Bearer "+secret); err == nil || countersign.KindOf(err) == countersign.Unauthorized {
			t.Errorf("got %v, want an error that is not the caller's", err)
		}
	})
}

// refuses wants the one answer that every bad token gets, with nothing of the token in it.
func refuses(t *testing.T, s *store.Store, header string) {
	t.Helper()
	p, err := Authenticate(t.Context(), s.View, header)
	if p != (Principal{}) || countersign.KindOf(err) != countersign.Unauthorized {
		t.Fatalf("got %+v and %v, want nobody and Unauthorized", p, err)
	}
	if header != "" && err.Error() != refused().Error() {
		t.Errorf("the error tells more than that the token is not valid: %v", err)
	}
}

func FuzzAuthenticate(f *testing.F) {
	s := open(f)
	secret, _ := create(f, s, Admin)
	seeds := 0
	for _, header := range hostile(strings.Repeat("ct_", 18) + "A") {
		if len(header) < 1<<10 {
			f.Add(header)
			seeds++
		}
	}
	if seeds < 10 {
		f.Fatalf("only %d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got, ok := bearer(header); ok && got == secret {
			return
		}
		refuses(t, s, header)
	})
}

// TestRoles is the table of who may do what, written out a second time on purpose.
func TestRoles(t *testing.T) {
	rights := []Right{Read, ReadRecord, Open, Decide, Import, Manage, Overrule}
	for role, may := range map[Role]string{
		Analyst:  "yes yes yes yes no no no",
		Approver: "yes yes yes yes yes no yes",
		Auditor:  "yes yes no no no no no",
		Admin:    "yes yes yes yes yes yes yes",
		"":       "no no no no no no no",
		"root":   "no no no no no no no",
	} {
		for i, want := range strings.Fields(may) {
			if got := role.May(rights[i]); got != (want == "yes") {
				t.Errorf("role %q may %s: %v, want %s", role, rights[i], got, want)
			}
		}
	}
	t.Run("a refusal names the roles that would do", func(t *testing.T) {
		err := Principal{Role: Auditor}.Needs(Decide)
		if countersign.KindOf(err) != countersign.Forbidden || !strings.Contains(err.Error(), "analyst, approver or admin") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("to a person it speaks of their role, and to a program of its token's", func(t *testing.T) {
		person, program := PrincipalOf(store.Person{ID: "usr_a", Role: "analyst"}).Needs(Import), Principal{Role: Analyst, TokenID: "tok_a"}.Needs(Import)
		if want := "your role, analyst, may not import records (ask somebody with the role approver or admin)"; person.Error() != want {
			t.Errorf("got %v, want %s", person, want)
		}
		if want := "this token's role may not import records (use a token with the role approver or admin)"; program.Error() != want {
			t.Errorf("got %v, want %s", program, want)
		}
	})
	t.Run("whoever may is not refused", func(t *testing.T) {
		if err := (Principal{Role: Auditor}).Needs(ReadRecord); err != nil {
			t.Error(err)
		}
	})
}

package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/store"
)

// A secret is "ct_" and 52 characters of A–Z and 2–7: 260 bits from the system's source of randomness. The prefix lets
// people and scanners recognise one that leaked.
const (
	prefix       = "ct_"
	secretLength = len(prefix) + 2*26
)

// maxName is the longest name of a token or a person, in bytes.
const maxName = 100

// NewToken makes a token and returns its secret, which nobody can see again: only a hash of it is stored. Names are for
// people and may repeat. An unusable name or role is an Invalid error that names the field.
func NewToken(ctx context.Context, s *store.Store, name string, role Role, by countersign.Actor) (secret string, token store.APIToken, err error) {
	if err := cmp.Or(checkName(name), checkRole(role)); err != nil {
		return "", store.APIToken{}, err
	}
	secret = prefix + rand.Text() + rand.Text()
	token = store.APIToken{ID: "tok_" + strings.ToLower(rand.Text()[:16]), Name: name, Role: string(role)}
	err = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddToken(ctx, token, hash(secret), by) })
	if err != nil {
		return "", store.APIToken{}, err
	}
	return secret, token, nil
}

func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return countersign.Errorf(countersign.Invalid, "is missing").In("name")
	case len(name) > maxName:
		return countersign.Errorf(countersign.Invalid, "has %d bytes, expected at most %d", len(name), maxName).In("name")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return countersign.Errorf(countersign.Invalid, "%q is not one line of text", name).In("name")
	}
	return nil
}

func checkRole(role Role) error {
	if !slices.Contains(Roles, role) {
		return countersign.Errorf(countersign.Invalid, "%.40q is not %s", string(role), everyRole()).In("role")
	}
	return nil
}

func everyRole() string {
	var names []string
	for _, role := range Roles {
		names = append(names, string(role))
	}
	return either(names)
}

// hash is how a secret is stored and looked up. It needs no salt and no slowness: nobody can try 2^260 secrets.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func outsideAlphabet(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }

package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"countersign"
)

// A password is long rather than odd: no rule asks for digits or signs, and no date asks for a new one.
const (
	shortestPassword = 12  // characters
	longestPassword  = 200 // bytes
)

// CheckPassword says what is wrong with a password that somebody chose, nil if nothing is. It never repeats it.
func CheckPassword(password, email string) error {
	wrong := func(format string, args ...any) error {
		return countersign.Errorf(countersign.Invalid, format, args...).In("password")
	}
	switch n := utf8.RuneCountInString(password); {
	case password == "":
		return wrong("is missing")
	case !utf8.ValidString(password):
		return wrong("is not text, expected UTF-8")
	case n < shortestPassword:
		return wrong("has %d characters, expected at least %d", n, shortestPassword)
	case len(password) > longestPassword:
		return wrong("has %d bytes, expected at most %d", len(password), longestPassword)
	case email != "" && strings.EqualFold(strings.TrimSpace(password), email):
		return wrong("is the e-mail, expected something that nobody else knows")
	}
	return nil
}

// cost is how much work a guess is, as argon2id counts it.
type cost struct {
	memory uint32 // KiB
	passes uint32
	lanes  uint8
}

// What a new hash costs: about 40 ms of one processor here. A hash in the database says what it cost, so these may change.
var today = cost{memory: 19 << 10, passes: 2, lanes: 1}

// most is what we are ready to spend on a hash that we read: a row that somebody damaged must not take all memory.
var most = cost{memory: 256 << 10, passes: 16, lanes: 16}

const (
	saltBytes  = 16
	fewestSalt = 8 // that argon2 allows
	sumBytes   = 32
)

// hashing holds a place for each hash that is being computed. Each takes 19 MiB, and whoever asks for many at once waits.
var hashing = make(chan struct{}, 2)

// kept is the hash of a password with all that is needed to compute it again.
type kept struct {
	cost
	salt, sum []byte
}

// nobodys is compared with where there is nobody, or nobody with a password, to take the same time. Nothing hashes to it.
func nobodys() kept { return kept{today, make([]byte, saltBytes), make([]byte, sumBytes)} }

// hashPassword returns what is stored of a password, in the PHC form: $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
func hashPassword(ctx context.Context, password string) (string, error) {
	k := kept{cost: today, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(k.salt) // it does not fail
	var err error
	if k.sum, err = k.compute(ctx, password); err != nil {
		return "", err
	}
	return k.String(), nil
}

// compute hashes a password as k was hashed. It waits for a place, at most as long as ctx.
func (k kept) compute(ctx context.Context, password string) ([]byte, error) {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), k.salt, k.passes, k.memory, k.lanes, sumBytes), nil
}

// fits reports whether that is the password, in a time that does not depend on the answer.
func (k kept) fits(ctx context.Context, password string) (bool, error) {
	if len(password) > longestPassword {
		return false, nil // whoever's it may be
	}
	sum, err := k.compute(ctx, password)
	return err == nil && subtle.ConstantTimeCompare(sum, k.sum) == 1, err
}

func (k kept) String() string {
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, k.memory, k.passes, k.lanes, text(k.salt), text(k.sum))
}

// parseKept reads what hashPassword wrote; the empty text, for whoever has no password, is nobody's.
func parseKept(phc string) (kept, error) {
	if phc == "" {
		return nobodys(), nil
	}
	var k kept
	var salt, sum string
	_, err := fmt.Sscanf(strings.ReplaceAll(phc, "$", " "), " argon2id v=19 m=%d,t=%d,p=%d %s %s", &k.memory, &k.passes, &k.lanes, &salt, &sum)
	k.salt, _ = base64.RawStdEncoding.DecodeString(salt)
	k.sum, _ = base64.RawStdEncoding.DecodeString(sum)
	if err != nil || k.String() != phc || len(k.salt) < fewestSalt || len(k.sum) != sumBytes || !k.within(most) {
		return kept{}, countersign.Errorf(countersign.Internal, "the stored password cannot be read").Try("set a new one")
	}
	return k, nil
}

func (c cost) within(most cost) bool {
	return c.memory > 0 && c.passes > 0 && c.lanes > 0 && c.memory <= most.memory && c.passes <= most.passes && c.lanes <= most.lanes
}

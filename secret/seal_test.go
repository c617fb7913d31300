package secret

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
)

const (
	canary  = "postgres://shop:canary-5f1c@db.example/shop"
	purpose = "connection string of shop mapping 1"
)

func newKey(t *testing.T) Key {
	t.Helper()
	key, err := Open(filepath.Join(t.TempDir(), "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestWhatIsSealedIsOpenedAgain(t *testing.T) {
	key := newKey(t)
	for _, plain := range []string{"", "x", canary, strings.Repeat("long ", 20_000), "\x00\xff"} {
		sealed := key.Seal(purpose, []byte(plain))
		if got, err := key.Open(purpose, sealed); err != nil || string(got) != plain {
			t.Errorf("%.20q came back as %.20q, %v", plain, got, err)
		}
		if !Sealed(sealed) || KeyOf(sealed) != key.ID() {
			t.Errorf("%.40q does not name its key %s", sealed, key.ID())
		}
	}
}

func TestASealedTextGivesNothingAway(t *testing.T) {
	key := newKey(t)
	sealed := key.Seal(purpose, []byte(canary))
	if sealed == key.Seal(purpose, []byte(canary)) {
		t.Error("the same secret was sealed alike twice: whoever sees both knows that they are one")
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, mark+key.ID()+":"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("canary")) || bytes.Contains(raw, key.bytes[:8]) {
		t.Error("the secret or the key can be read in it")
	}
}

func TestAnotherKeyIsNamedAndNothingIsLost(t *testing.T) {
	first, second := newKey(t), newKey(t)
	sealed := first.Seal(purpose, []byte(canary))
	_, err := second.Open(purpose, sealed)
	if !OtherKey(err) || countersign.KindOf(err) != countersign.Unavailable {
		t.Fatalf("opened with another key: %v", err)
	}
	for _, said := range []string{first.ID(), second.ID(), "enter the connection string", "put the key file"} {
		if !strings.Contains(err.Error(), said) {
			t.Errorf("%q does not say %q", err, said)
		}
	}
	if _, err := first.Open(purpose, sealed); err != nil {
		t.Errorf("with the first key back: %v", err)
	}
}

func TestASealedTextThatIsNoneIsRefused(t *testing.T) {
	key := newKey(t)
	good := key.Seal(purpose, []byte(canary))
	head := mark + key.ID() + ":"
	body := strings.TrimPrefix(good, head)
	other := key.Seal(purpose, []byte("another secret"))
	otherBody := strings.TrimPrefix(other, head)
	cut := base64.RawURLEncoding.EncodedLen(wrapped)
	for name, sealed := range map[string]string{
		"nothing": "", "plain text": canary, "only a mark": mark, "no key": mark + ":" + body, "another version": strings.Replace(good, ":1:", ":2:", 1),
		"no text": head, "cut": good[:len(good)-4], "longer": good + "AAAA", "not base64": head + "!" + body[1:],
		"the data key of another text": head + otherBody[:cut] + body[cut:],
		"its last character changed":   good[:len(good)-8] + "AAAA" + good[len(good)-4:],
		"its first character changed":  head + string(rune(body[0]^1)) + body[1:],
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := key.Open(purpose, sealed)
			if err == nil || plain != nil {
				t.Fatalf("it opened: %q", plain)
			}
			if OtherKey(err) || countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), "enter it again") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestASealedTextOpensOnlyWhereItBelongs(t *testing.T) {
	key := newKey(t)
	sealed := key.Seal(purpose, []byte(canary))
	if _, err := key.Open("connection string of shop mapping 2", sealed); err == nil {
		t.Error("a text that was moved to another row opened there")
	}
}

func TestNoErrorHoldsTheSecret(t *testing.T) {
	key, other := newKey(t), newKey(t)
	sealed := key.Seal(purpose, []byte(canary))
	_, elsewhere := other.Open(purpose, sealed)
	_, moved := key.Open("somewhere else", sealed)
	_, plain := key.Open(purpose, canary)
	for _, err := range []error{elsewhere, moved, plain} {
		for e := err; e != nil; e = unwrap(e) {
			if text := fmt.Sprintf("%+v", e); strings.Contains(text, "canary") || strings.Contains(text, sealed[30:60]) {
				t.Errorf("an error repeats the secret: %s", text)
			}
		}
	}
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

func FuzzOpen(f *testing.F) {
	var key Key
	f.Add(key.Seal(purpose, []byte(canary)))
	f.Add(mark + key.ID() + ":AAAA")
	f.Add(mark)
	f.Fuzz(func(t *testing.T, sealed string) {
		plain, err := key.Open(purpose, sealed)
		if err == nil && string(plain) != canary {
			t.Errorf("%q opened as %q", sealed, plain)
		}
	})
}

package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"countersign"
)

// A sealed text is sealed:1:<id of the master key>:<base64>. The bytes are a data key made for this one text and sealed under
// the master key, and then the text sealed under that data key, each AES-256-GCM with its nonce before it. So the master key
// never meets a text, and another master key can take over by sealing 32 bytes anew, whatever hangs on them.
const (
	mark    = "sealed:1:"
	wrapped = nonceSize + 32 + tagSize // of a data key

	nonceSize = 12
	tagSize   = 16
)

// Sealed reports whether a text has the form that Seal gives one. It says nothing about whose key opens it.
func Sealed(text string) bool { return strings.HasPrefix(text, mark) }

// KeyOf is the id of the master key that a text was sealed under, empty when it is not a sealed text.
func KeyOf(sealed string) string {
	rest, ok := strings.CutPrefix(sealed, mark)
	id, _, found := strings.Cut(rest, ":")
	if !ok || !found {
		return ""
	}
	return id
}

// Seal makes of a secret a text that only this key opens, and only for the same purpose. The purpose names the place that the
// text belongs to, its table and its row: moved to another row it does not open there. The same secret is sealed differently
// each time.
func (k Key) Seal(purpose string, plain []byte) string {
	var data [32]byte
	rand.Read(data[:])
	sealed := append(encrypt(k.bytes, dataKeyOf(k), data[:]), encrypt(data, purpose, plain)...)
	return mark + k.ID() + ":" + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the secret. An error says whether another key is needed (it is Unavailable then, and OtherKey) or the text was
// changed, moved or cut; it never holds any of it.
func (k Key) Open(purpose, sealed string) ([]byte, error) {
	id := KeyOf(sealed)
	if id == "" {
		return nil, damaged(purpose)
	}
	if id != k.ID() {
		return nil, otherKey(purpose, id, k.ID())
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, mark+id+":"))
	if err != nil || len(raw) < wrapped+nonceSize+tagSize {
		return nil, damaged(purpose)
	}
	data, err := decrypt(k.bytes, dataKeyOf(k), raw[:wrapped])
	if err != nil {
		return nil, damaged(purpose)
	}
	plain, err := decrypt([32]byte(data), purpose, raw[wrapped:])
	if err != nil {
		return nil, damaged(purpose)
	}
	return plain, nil
}

// errOtherKey marks the errors of texts that are whole and were sealed under a key that is not here.
var errOtherKey = errors.New("sealed under another master key")

// OtherKey reports whether the text could be opened if the right master key were here: what it held must be put back, or
// entered again.
func OtherKey(err error) bool { return errors.Is(err, errOtherKey) }

func otherKey(purpose, needed, here string) error {
	e := countersign.Errorf(countersign.Unavailable, "the %s was sealed under master key %s, and the key here is %s", purpose, needed, here).
		Try("put the key file of the first installation back, or enter the " + purpose + " again")
	e.Err = errOtherKey
	return e
}

func damaged(purpose string) error {
	return countersign.Errorf(countersign.Unavailable, "the sealed %s was changed or damaged where it is kept", purpose).
		Try("enter it again")
}

// dataKeyOf is what a sealed data key is for.
func dataKeyOf(k Key) string { return "data key under " + k.ID() }

func encrypt(key [32]byte, purpose string, plain []byte) []byte {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	return gcm(key).Seal(nonce, nonce, plain, authenticated(purpose))
}

func decrypt(key [32]byte, purpose string, sealed []byte) ([]byte, error) {
	return gcm(key).Open(nil, sealed[:nonceSize], sealed[nonceSize:], authenticated(purpose))
}

// authenticated is what is sealed in with a text and not kept with it.
func authenticated(purpose string) []byte { return []byte("countersign " + mark + "\x00" + purpose) }

func gcm(key [32]byte) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(fmt.Sprintf("secret: %v", err)) // unreachable: the key has a length that AES knows
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(fmt.Sprintf("secret: %v", err)) // unreachable: AES has the block size that GCM asks for
	}
	return aead
}

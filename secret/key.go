// Package secret keeps the master key, and seals under it what the program must remember and nobody may read: connection strings,
// keys of models, secrets that sign.
//
// A sealed text names the key that opens it. With another key, or none, nothing is lost and nothing pretends to be unset: the
// error says which key is missing, and whoever has the secret may enter it again.
package secret

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"countersign"
)

// Key is a master key of 32 random bytes. It prints as its id, never as itself.
type Key struct{ bytes [32]byte }

// ID tells keys apart without giving anything away: the first eight bytes of the key's SHA-256 under a tag of its own. It
// stands in each sealed text and in the settings of a database, to know at the start whether this is the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("countersign master key\x00"), k.bytes[:]...))
	return hex.EncodeToString(sum[:8])
}

func (k Key) String() string { return "master key " + k.ID() }

// Format keeps every verb from printing the key.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }

// Open reads the key from a file and, when create is set and there is none, makes it, readable by its owner only. Two
// programs that make it at once end with the same key.
func Open(path string, create bool) (Key, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		return forge(path)
	case errors.Is(err, fs.ErrNotExist):
		return Key{}, countersign.Errorf(countersign.Unavailable, "the master key file %s is not there", path).
			Try("restore it from where it is kept, or correct COUNTERSIGN_MASTER_KEY_FILE")
	case err != nil:
		return Key{}, unreachable("read", path, err)
	}
	return parse(path, text)
}

// unreachable is a key file that is in the way, or out of reach.
func unreachable(doing, path string, cause error) error {
	e := countersign.Errorf(countersign.Unavailable, "cannot %s the master key file %s", doing, path).
		Try("it must be a file that this user may " + doing + ", in a folder that this user may enter")
	e.Err = cause
	return e
}

func parse(path string, text []byte) (k Key, err error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != len(k.bytes) {
		return k, countersign.Errorf(countersign.Unavailable, "%s does not hold a master key", path).
			Try("a key is 32 bytes in base64; restore the file from where it is kept")
	}
	copy(k.bytes[:], raw)
	return k, nil
}

// forge makes a key and its file.
func forge(path string) (Key, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Key{}, unreachable("make", path, err)
	}
	return put(path, path, New())
}

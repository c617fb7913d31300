package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256 sum; as text, 64 lower-case hex digits. The zero Hash, 64 zeros, is what the first row of a chain
// continues from.
type Hash [sha256.Size]byte

// ParseHash reads the form that String writes and no other: upper-case digits are refused, so that equal hashes are equal
// text too.
func ParseHash(s string) (h Hash, err error) {
	err = h.UnmarshalText([]byte(s))
	return h, err
}

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText makes a Hash a string in JSON.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads 64 lower-case hex digits without allocating. On an error h keeps its value.
func (h *Hash) UnmarshalText(text []byte) error {
	var read Hash
	if len(text) != hex.EncodedLen(len(read)) || bytes.ContainsAny(text, "ABCDEF") {
		return notAHash(text)
	}
	if _, err := hex.Decode(read[:], text); err != nil {
		return notAHash(text)
	}
	*h = read
	return nil
}

func notAHash(text []byte) error { return fmt.Errorf("%q is not 64 lower-case hex digits", clip(text)) }

// clip keeps a hostile value from filling an error message.
func clip(b []byte) string {
	if len(b) > 70 {
		return string(b[:67]) + "…"
	}
	return string(b)
}

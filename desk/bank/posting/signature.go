package posting

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// signatureHeader carries who signed and when, of a request and of an answer.
const signatureHeader = "Countersign-Signature"

// skew is how far apart two clocks may be, and for how long what was signed may be under way.
const skew = 5 * time.Minute

// Sign is the signature of a text at a time, as the header carries it: docs/posting.md says what the text is, and has an example.
func Sign(secret, keyID string, at time.Time, text []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",k=" + keyID + ",v1=" + hex.EncodeToString(mac(secret, t, text))
}

func mac(secret, t string, text []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t + "."))
	h.Write(text)
	return h.Sum(nil)
}

// signed reports whether a header signs the text, near that time.
func signed(header, secret string, now time.Time, text []byte) bool {
	var t, v1 string
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			t = value
		case "v1":
			v1 = value
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > skew {
		return false
	}
	claimed, err := hex.DecodeString(v1)
	return err == nil && hmac.Equal(claimed, mac(secret, t, text))
}

package hook

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"countersign"
)

// SignatureHeader holds t=<unix seconds>,v1=<hex HMAC-SHA256>. Several v1 may stand in it: while a secret is being replaced, a sender
// signs with both.
const SignatureHeader = "Countersign-Signature"

// Sign is the header for a body, as docs/events.md says.
func Sign(secret, body []byte, at time.Time) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac(secret, stamp, body))
}

func mac(secret []byte, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(stamp + "."))
	h.Write(body)
	return h.Sum(nil)
}

// mostSignatures is far above what a rotation needs, so that a long header buys no work.
const mostSignatures = 10

// Verify reports when a body was signed, by one of the secrets. A refusal is Unauthorized and says what to look for; a body whose
// signature is good and old is refused with both clocks, because one of them is usually wrong.
func Verify(secrets [][]byte, headers []string, body []byte, now time.Time, window time.Duration) (time.Time, error) {
	stamp, signatures, err := parseSignature(headers)
	if err != nil {
		return time.Time{}, err
	}
	good := false
	for _, secret := range secrets {
		want := mac(secret, stamp, body)
		for _, signature := range signatures {
			good = hmac.Equal(want, signature) || good
		}
	}
	if !good {
		return time.Time{}, refuse("is of another body or secret: body changed in transit?")
	}
	seconds, _ := strconv.ParseInt(stamp, 10, 64) // it was read already
	signed := time.Unix(seconds, 0).UTC()
	if skew := now.Sub(signed); skew > window || skew < -window {
		return signed, refuse("is %d seconds off, and %d are allowed: signed at %s, and it is %s here", int64(skew/time.Second), int64(window/time.Second),
			signed.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return signed, nil
}

func refuse(format string, args ...any) error {
	return countersign.Errorf(countersign.Unauthorized, format, args...).In(SignatureHeader)
}

// parseSignature takes a header apart. Parts that it does not know are of a later version, and left alone.
func parseSignature(headers []string) (stamp string, signatures [][]byte, err error) {
	switch len(headers) {
	case 0:
		return "", nil, refuse("is missing; expected t=<unix seconds>,v1=<hex HMAC-SHA256>")
	case 1:
	default:
		return "", nil, refuse("is there more than once")
	}
	for part := range strings.SplitSeq(headers[0], ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			if stamp != "" {
				return "", nil, refuse("has more than one t")
			}
			if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 0 || n > 1<<40 || strconv.FormatInt(n, 10) != value {
				return "", nil, refuse("has no t in whole seconds since 1970")
			}
			stamp = value
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil && len(signature) == sha256.Size && len(signatures) < mostSignatures {
				signatures = append(signatures, signature)
			}
		}
	}
	if stamp == "" || len(signatures) == 0 {
		return "", nil, refuse("cannot be read; expected t=<unix seconds>,v1=<hex HMAC-SHA256>")
	}
	return stamp, signatures, nil
}

// unpack is the body without its compression, or why it could not be unpacked.
func unpack(body []byte, encoding string) ([]byte, string) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, ""
	case "gzip":
	default:
		return nil, fmt.Sprintf("is encoded as %q; expected gzip or nothing", clip(encoding))
	}
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, "says that it is gzip, and is not"
	}
	plain, err := io.ReadAll(io.LimitReader(packed, maxBody+1))
	switch {
	case len(plain) > maxBody:
		return nil, fmt.Sprintf("unpacks to more than %d bytes", maxBody)
	case err != nil:
		return nil, "cannot be unpacked to its end"
	}
	return plain, ""
}

func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return strings.ToValidUTF8(s, "")
}

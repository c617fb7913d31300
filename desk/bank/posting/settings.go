package posting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"countersign"
	"countersign/pipeline/outside"
	"countersign/store"
)

// Core is the destination of fixes that are posted by the bank's own core.
const Core = "core"

// Settings say where fixes are posted: to the ledger here, or by the bank's own core, and then how it is reached. The secrets are
// written in a file that is applied, and never shown again.
type Settings struct {
	To           string `json:"to"`                      // ledger or core
	URL          string `json:"url,omitempty"`           // instructions are sent here, and asked about below it
	KeyID        string `json:"key_id,omitempty"`        // names the secret to the core
	Secret       string `json:"secret,omitempty"`        // signs what is sent
	AnswerSecret string `json:"answer_secret,omitempty"` // signs what comes back; empty when answers are not signed
	PlainHTTP    bool   `json:"plain_http,omitempty"`    // the bank says that http:// will do: instructions and answers can be read on the way

	AnswersSigned bool `json:"answers_signed,omitempty"` // shown in the place of answer_secret; never in a file

	ConnectSeconds   int `json:"connect_seconds,omitempty"`    // names and connections, TLS included: 5
	FirstByteSeconds int `json:"first_byte_seconds,omitempty"` // from the request to the head of the answer: 20
	TotalSeconds     int `json:"total_seconds,omitempty"`      // a question and its whole answer: 30
	Tries            int `json:"tries,omitempty"`              // questions without a usable answer before a person must find out: 10
	WithinMinutes    int `json:"within_minutes,omitempty"`     // the time that those may take: 15
	PendingHours     int `json:"pending_hours,omitempty"`      // that the core may say pending: 24
}

// Parse reads settings as they are applied. A field that it does not know is refused.
func Parse(text []byte) (s Settings, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, countersign.Errorf(countersign.Invalid, "the file is not JSON of where fixes are posted: %s", strings.TrimPrefix(err.Error(), "json: ")).
			Try(`expected {"to":"ledger"}, or {"to":"core"} with url, key_id and secret`)
	}
	if _, err := d.Token(); err != io.EOF {
		return s, countersign.Errorf(countersign.Invalid, "the file goes on after its JSON").Try("expected one object")
	}
	return s, s.check()
}

func (s Settings) check() error {
	wrong := func(field, expected, format string, args ...any) error {
		return countersign.Errorf(countersign.Invalid, format, args...).In(field).Try("expected " + expected)
	}
	switch {
	case s.To == store.Ledger && s != Settings{To: store.Ledger}:
		return wrong("to", "no other field beside it", "is ledger, which needs nothing else")
	case s.To == store.Ledger:
		return nil
	case s.To != Core:
		return wrong("to", "ledger or core", "is %q", s.To)
	}
	if err := s.checkURL(wrong); err != nil {
		return err
	}
	for _, n := range []struct {
		field     string
		value, at int
	}{{"connect_seconds", s.ConnectSeconds, 60}, {"first_byte_seconds", s.FirstByteSeconds, 120}, {"total_seconds", s.TotalSeconds, 120}, {"tries", s.Tries, 100},
		{"within_minutes", s.WithinMinutes, 24 * 60}, {"pending_hours", s.PendingHours, 30 * 24}} {
		if n.value < 0 || n.value > n.at {
			return wrong(n.field, fmt.Sprintf("a number up to %d, or none", n.at), "is %d", n.value)
		}
	}
	switch {
	case s.KeyID == "" || len(s.KeyID) > 64 || strings.ContainsFunc(s.KeyID, func(r rune) bool { return r <= ' ' || r > '~' || r == ',' || r == '=' }):
		return wrong("key_id", "a name of at most 64 plain characters without comma and equals sign", "is %q", s.KeyID)
	case !strong(s.Secret):
		return wrong("secret", "at least 32 printable characters that a machine chose", "has %d characters, or some that cannot be printed", len(s.Secret))
	case s.AnswerSecret != "" && !strong(s.AnswerSecret):
		return wrong("answer_secret", "at least 32 printable characters that a machine chose", "has %d characters, or some that cannot be printed", len(s.AnswerSecret))
	case s.AnswersSigned && s.AnswerSecret == "":
		return wrong("answer_secret", "the secret that signs answers, since answers_signed says that they are", "is missing")
	case s.AnswerSecret == s.Secret:
		return wrong("answer_secret", "another one than secret", "is the secret that signs what is sent")
	}
	return nil
}

func strong(secret string) bool {
	return len(secret) >= 32 && !strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (s Settings) checkURL(wrong func(field, expected, format string, args ...any) error) error {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return wrong("url", "an address such as https://core.example.com/instructions", "is no address of a server")
	case u.User != nil || strings.ContainsAny(s.URL, "?#") || strings.HasSuffix(u.Path, "/"):
		return wrong("url", "an address without them", "has a user, a query, a fragment or a slash at its end")
	case u.Scheme == "http" && !loopback(u.Hostname()) && !s.PlainHTTP:
		return wrong("url", "https://, or plain_http: true beside it", "is not encrypted, so instructions and answers could be read on the way")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Shown are the settings without their secrets.
func (s Settings) Shown() Settings {
	s.AnswersSigned = s.AnswersSigned || s.AnswerSecret != ""
	s.Secret, s.AnswerSecret = "", ""
	return s
}

// String leaves the secrets out, as does %+v.
func (s Settings) String() string { return fmt.Sprintf("posting(%s %s)", s.To, s.URL) }

// GoString leaves the secrets out.
func (s Settings) GoString() string { return s.String() }

func seconds(n, otherwise int) time.Duration {
	if n == 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}

// patience is how long the core is asked.
func (s Settings) patience() outside.Patience {
	return outside.Patience{Call: seconds(s.TotalSeconds, 30), Tries: s.Tries, Within: time.Duration(s.WithinMinutes) * time.Minute, Pending: time.Duration(s.PendingHours) * time.Hour}
}

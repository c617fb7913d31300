package exchange

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"countersign/llm"
	"countersign/redact"
)

// failure is why an exchange gave no answer, and whether it is safe and sensible to try again.
type failure struct {
	kind    llm.ErrorKind
	message string
	again   bool
	after   time.Duration // how long the server wants us to wait; below zero when it did not say
	cause   error         // the caller's context error, else nil
}

func (f *failure) err(x *Exchange, attempts []llm.Attempt) *llm.Error {
	return &llm.Error{Kind: f.kind, Message: f.message, Attempts: attempts, Request: x.sent, Response: x.received, Err: f.cause}
}

const unsaid = time.Duration(-1)

// broken is an exchange that the network, a clock or a limit ended.
//
// Only two kinds are tried again: no connection came about, or the connection went away without one byte of an answer, as one does that
// its server had closed unseen. A time-out after the request was written is not: the server may be working on it, and somebody pays for
// that.
func (l *Line) broken(ctx context.Context, x *Exchange) *failure {
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		return l.ended(ctx)
	case errors.Is(x.err, errTooLarge):
		return &failure{kind: llm.Unreadable, message: fmt.Sprintf("the answer of %s is larger than %d bytes", l.host, l.MaxAnswer)}
	case errors.As(x.err, &certificate):
		return &failure{kind: llm.Unreachable, message: "no secure connection to " + l.host + ": " + l.safe(certificate.Error())}
	case timedOut(x.err):
		return l.late(x)
	case x.answered.Load():
		return l.halfway(x)
	}
	said := "no answer from " + l.host + ": " + l.reason(x.err)
	return &failure{kind: llm.Unreachable, message: said, again: !noSuchHost(x.err), after: unsaid}
}

// ended is a call whose time was up: ours, the caller's, or the caller no longer wants it.
func (l *Line) ended(ctx context.Context) *failure {
	switch {
	case context.Cause(ctx) == errTotal:
		return &failure{kind: llm.TimedOut, message: fmt.Sprintf("%s gave no complete answer within %s", l.host, l.Total)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{kind: llm.TimedOut, message: l.host + " gave no complete answer in the time left for the case", cause: ctx.Err()}
	}
	return &failure{kind: llm.Canceled, message: "the call was given up before " + l.host + " answered", cause: context.Canceled}
}

const maybePaid = "; not tried again, the call may have been paid for"

func (l *Line) late(x *Exchange) *failure {
	if !x.written.Load() {
		said := fmt.Sprintf("no connection to %s within %s", l.host, l.Connect)
		return &failure{kind: llm.TimedOut, message: said, again: true, after: unsaid}
	}
	said := fmt.Sprintf("%s did not begin to answer within %s", l.host, l.FirstByte)
	return &failure{kind: llm.TimedOut, message: said + maybePaid}
}

func (l *Line) halfway(x *Exchange) *failure {
	if x.status == 0 {
		return &failure{kind: llm.Unreadable, message: l.host + " does not answer in HTTP: " + l.reason(x.err)}
	}
	said := "the answer of " + l.host + " broke off: " + l.reason(x.err)
	return &failure{kind: llm.Unreachable, message: said + maybePaid}
}

// gaveUpWaiting is what Cloudflare answers for a server that took the request and was too slow.
const gaveUpWaiting = 524

// declined is an answer with a status that is not success.
func (l *Line) declined(x *Exchange) *failure {
	said := fmt.Sprintf("%s answered %d %s", l.host, x.status, http.StatusText(x.status))
	if x.status < 400 {
		return &failure{kind: llm.Refused, message: said + l.elsewhere(x.header) + ", and redirects are not followed"}
	}
	if text := l.safe(Complaint(x.received)); text != "" {
		said += ": " + text
	}
	switch x.status {
	case http.StatusGatewayTimeout, gaveUpWaiting:
		return &failure{kind: llm.TimedOut, message: said + maybePaid}
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		if x.status < 500 {
			return &failure{kind: llm.Refused, message: said}
		}
	}
	return &failure{kind: llm.Unreachable, message: said, again: true, after: retryAfter(x.header)}
}

// elsewhere names where a redirect points, so that an operator can correct the base URL.
func (l *Line) elsewhere(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " to " + l.safe(u.Scheme+"://"+u.Host)
}

// Complaint is what an error body says, in any of the forms servers use.
func Complaint(body []byte) string {
	var forms struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &forms) != nil {
		return page(string(body))
	}
	for _, raw := range []json.RawMessage{forms.Error, forms.Message, forms.Detail} {
		if text := sentence(raw); text != "" {
			return text
		}
	}
	return ""
}

func sentence(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct{ Message string }
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// Unreadable says what a body is that could not be read as what it should be.
func Unreadable(body []byte, as string, err error) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return errors.New("a web page instead of JSON: is the base URL right?")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return errors.New("nothing at all")
	}
	if json.Valid(body) {
		return fmt.Errorf("JSON that is no %s: %w", as, err)
	}
	return fmt.Errorf("something that is not JSON: %w", err)
}

// page is text that is not JSON. A web page says nothing in its first line that helps anybody.
func page(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return "a web page"
	}
	return text
}

// safe makes somebody else's text fit for an error: no key, no personal data, one line, 300 characters.
func (l *Line) safe(text string) string {
	text = redact.Mask(string(scrub([]byte(text), l.APIKey))).String()
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(text); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return text
}

// reason is a network error without the URL that net/http puts before it.
func (l *Line) reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return l.safe(err.Error())
}

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func noSuchHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

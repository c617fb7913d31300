package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"countersign/llm"
)

// Exchange is one HTTP request and what came of it. It is what a client library takes for its HTTP client, and records the
// bytes.
type Exchange struct {
	client *http.Client
	limit  int64  // bytes of an answer
	key    string // never recorded, not even when a server echoes it

	at       time.Time
	took     time.Duration
	sent     []byte // the request's body; nil when nothing was sent
	received []byte // the answer's body, decompressed, possibly only its beginning
	status   int    // 0 when no answer began
	header   http.Header
	err      error

	written  atomic.Bool // the whole request is on its way: from here on it may cost money
	answered atomic.Bool // a first byte came back
}

// errTooLarge is an answer over the limit.
var errTooLarge = errors.New("answer too large")

// keptOfTooLarge is how much of an answer over the limit is recorded: enough to see what it was.
const keptOfTooLarge = 64 << 10

func (l *Line) exchange(ctx context.Context, c Call) *Exchange {
	x := &Exchange{client: l.client, limit: l.MaxAnswer, key: l.APIKey, at: time.Now()}
	err := c.Send(httptrace.WithClientTrace(ctx, x.trace()), x)
	x.took = time.Since(x.at)
	if x.sent == nil {
		x.err = err
	}
	return x
}

// Do makes the request. Whoever asked is handed an empty answer, and what they say of it is not listened to: a client
// library cannot tell missing usage from zero, and gives up on a whole answer for one id that is a number, so the recorded
// bytes are read by the dialect, once.
func (x *Exchange) Do(req *http.Request) (*http.Response, error) {
	sent := make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, sent); err != nil {
		return nil, err // unreachable while requests are built in memory
	}
	x.sent, req.Body = sent, io.NopCloser(bytes.NewReader(sent))
	x.err = x.round(req)
	x.received = scrub(x.received, x.key)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func (x *Exchange) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		WroteRequest:         func(w httptrace.WroteRequestInfo) { x.written.Store(w.Err == nil) },
		GotFirstResponseByte: func() { x.answered.Store(true) },
	}
}

func (x *Exchange) round(req *http.Request) error {
	resp, err := x.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	return x.receive(resp)
}

func (x *Exchange) receive(resp *http.Response) error {
	var b bytes.Buffer
	if resp.ContentLength > 0 {
		b.Grow(int(min(resp.ContentLength, 1<<20)) + bytes.MinRead) // one allocation for most answers, and no large one for a lie
	}
	_, err := b.ReadFrom(io.LimitReader(resp.Body, x.limit+1))
	x.received = b.Bytes()
	if int64(b.Len()) > x.limit {
		x.received = bytes.Clone(x.received[:min(x.limit, keptOfTooLarge)])
		return errTooLarge
	}
	return err
}

// account adds this exchange to the attempts of a call.
func (x *Exchange) account(attempts []llm.Attempt, waited time.Duration, fail *failure) []llm.Attempt {
	if x.sent == nil {
		return attempts
	}
	a := llm.Attempt{At: x.at.UTC(), Took: x.took, Status: x.status, Waited: waited}
	if fail != nil {
		a.Error, a.MaybePaid = fail.message, x.maybePaid(fail)
	}
	return append(attempts, a)
}

// maybePaid reports whether a server may have worked on a request that it did not answer: one that had all of it and went away or was too
// slow, and one whose answer came back broken or unreadable with a good status. Any other status says that it did not.
func (x *Exchange) maybePaid(fail *failure) bool {
	return x.written.Load() && (x.status == 0 || x.status >= 200 && x.status <= 299 || fail.kind == llm.TimedOut)
}

// scrub takes the key out of bytes that are about to be kept. Shorter keys are the dummies that local servers ask for,
// such as "none": no secret, and part of honest text.
func scrub(b []byte, key string) []byte {
	if len(key) < 8 || !bytes.Contains(b, []byte(key)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(key), []byte("[api key]"))
}

// Package exchange is one call of a model over HTTP, in whatever dialect: the attempts, the waits, the time-outs, the bytes
// as they went over the wire, and what went wrong as a sentence for an operator.
//
// It promises that a call that a server may still be working on is never repeated, that every HTTP request is accounted for
// in Attempts, and that the API key is in no recorded byte and no error. It reads no environment variable of any vendor's,
// follows no redirect (the conversation and the key would go to whoever it names) and streams nothing.
//
// What is said in a request and what an answer means is the dialect's own business: see Call.
package exchange

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"countersign/llm"
)

// Line is the way to one server. It is safe for concurrent use and keeps its connections open between calls.
type Line struct {
	Server
	host   string
	client *http.Client
}

// Open checks the settings and connects to nothing. The error is a *countersign.Error of the kind Invalid whose field is
// base_url, model or api_key; it never holds the key.
func Open(s Server) (*Line, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(s.BaseURL) // check parsed it
	return &Line{Server: s, host: u.Host, client: client(s)}, nil
}

func client(s Server) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: s.Connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   s.Connect,
			ResponseHeaderTimeout: s.FirstByte,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   64, // cases run side by side; two, the default, would dial for nearly every turn
			IdleConnTimeout:       90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Call is what a dialect brings to a call.
type Call struct {
	// Send makes the request of one attempt and gives it to x.Do, itself or through a client library. Its error counts only
	// when x.Do was not reached: then the request could not be written.
	Send func(ctx context.Context, x *Exchange) error
	// Read makes a reply of the body of an answer that claims success. Its error says what came in place of an answer.
	Read func(body []byte) (llm.Reply, error)
	// Amend is given the body of a refusal. True means that Send will now send something else, which is tried at once: a
	// server that refuses a request has not read it to a model. Nil never amends.
	Amend func(body []byte) bool
}

// errTotal marks our own time limit, as against the caller's.
var errTotal = errors.New("total time is up")

// Complete makes one call. An error is always an *llm.Error; Unreachable and TimedOut may pass, Refused will not.
func (l *Line) Complete(ctx context.Context, c Call) (llm.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.Total, errTotal)
	defer cancel()
	var (
		attempts []llm.Attempt
		waits    = waits{left: l.MaxWait}
	)
	for {
		x := l.exchange(ctx, c)
		reply, fail := l.judge(ctx, x, c)
		attempts = x.account(attempts, waits.last, fail)
		if fail == nil {
			reply.Attempts, reply.Request, reply.Response = attempts, x.sent, x.received
			return reply, nil
		}
		if len(attempts) >= l.Attempts || !fail.again || !waits.next(len(attempts), fail.after) {
			return llm.Reply{}, fail.err(x, attempts)
		}
		if l.Wait(ctx, waits.last) != nil {
			return llm.Reply{}, l.ended(ctx).err(x, attempts)
		}
	}
}

// judge says whether an exchange gave an answer.
func (l *Line) judge(ctx context.Context, x *Exchange, c Call) (llm.Reply, *failure) {
	switch {
	case x.sent == nil:
		return llm.Reply{}, &failure{kind: llm.Refused, message: "the request could not be written: " + l.safe(x.err.Error())}
	case x.err != nil:
		return llm.Reply{}, l.broken(ctx, x)
	case x.status < 200 || x.status > 299:
		fail := l.declined(x)
		if fail.kind == llm.Refused && x.status >= 400 && c.Amend != nil && c.Amend(x.received) {
			fail.again, fail.after = true, 0
		}
		return llm.Reply{}, fail
	}
	reply, err := c.Read(x.received)
	if err != nil {
		return llm.Reply{}, &failure{kind: llm.Unreadable, message: l.host + " answered with " + l.safe(err.Error())}
	}
	return reply, nil
}

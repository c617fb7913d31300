// Package anthropic talks to Anthropic's Messages API, and to any other server that speaks it.
//
// What an assistant turn said is kept whole in Reply.Opaque and sent back byte for byte, thinking and its signatures
// included: a model that is not given its own thinking back with the results of its tools answers worse, or not at all. The
// protocol binds thinking to the model and to everything that stood before it, so it is left out where that has changed, and
// what is left of the message is still true. A message that somebody else wrote is sent as its Text and Calls.
//
// Older models cannot think and be forced to call a tool in one request, so a forced turn does without thinking there; and a
// server that refuses to be forced is asked in words. How a server is reached, and what becomes of one that fails, is package
// exchange's.
package anthropic

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"countersign"
	"countersign/llm"
	"countersign/llm/exchange"
)

// Thinking says whether a model thinks before it answers.
type Thinking string

const (
	AsServed Thinking = ""         // nothing is said of it, and the model does what it does by default
	Adaptive Thinking = "adaptive" // the model decides; newer models know nothing else
	Enabled  Thinking = "enabled"  // up to Config.Budget tokens; older models know nothing else
	Disabled Thinking = "disabled" // not at all; some models refuse that
)

// Config says which server and how to ask it. Zero fields take the defaults named. It prints as its Server does, without the key.
type Config struct {
	exchange.Server // the key is sent as x-api-key; MaxOutput, which the protocol wants, is 16,000

	Thinking Thinking
	Budget   int // tokens of thinking beside MaxOutput when it is Enabled: 4,096, and never less than 1,024
}

func (c Config) check() error {
	switch c.Thinking {
	case AsServed, Adaptive, Enabled, Disabled:
		return nil
	}
	return countersign.Errorf(countersign.Invalid, "%q is no way of thinking", c.Thinking).In("thinking").
		Try("expected adaptive, enabled, disabled, or nothing")
}

// Model is one model of one server. It is safe for concurrent use and keeps its connections open between calls.
type Model struct {
	cfg  Config
	line *exchange.Line
}

// New checks the settings and connects to nothing. The error is a *countersign.Error of the kind Invalid whose field is
// base_url, model, api_key or thinking; it never holds the key.
func New(cfg Config) (*Model, error) {
	line, err := exchange.Open(cfg.Server)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Server = line.Server
	if cfg.MaxOutput == 0 {
		cfg.MaxOutput = 16_000
	}
	if cfg.Budget <= 0 {
		cfg.Budget = 4096
	}
	cfg.Budget = max(cfg.Budget, 1024)
	return &Model{cfg, line}, nil
}

// String leaves the key out.
func (m *Model) String() string { return m.cfg.String() }

// GoString leaves the key out.
func (m *Model) GoString() string { return m.cfg.String() }

// Identity names the model as the server does.
func (m *Model) Identity() llm.Identity {
	return llm.Identity{Provider: "anthropic", Name: m.cfg.Model}
}

// Complete makes one call. An error is always an *llm.Error; Unreachable and TimedOut may pass, Refused will not.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	p := m.plan(req)
	return m.line.Complete(ctx, exchange.Call{
		Send:  func(ctx context.Context, x *exchange.Exchange) error { return m.send(ctx, x, p) },
		Read:  func(body []byte) (llm.Reply, error) { return m.read(body, p) },
		Amend: p.amend,
	})
}

// version is the one version of the protocol there is.
const version = "2023-06-01"

// Headers are those that every request to such a server has.
func Headers(key string) http.Header {
	h := http.Header{"Anthropic-Version": {version}, "Accept": {"application/json"}}
	if key = strings.TrimSpace(key); key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}

func (m *Model) send(ctx context.Context, x *exchange.Exchange, p *plan) error {
	body, err := m.body(p)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.cfg.BaseURL+"/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = Headers(m.cfg.APIKey)
	req.Header.Set("Content-Type", "application/json")
	_, err = x.Do(req)
	return err
}

func (m *Model) read(body []byte, p *plan) (llm.Reply, error) {
	reply, content, err := read(body)
	if err != nil {
		return llm.Reply{}, err
	}
	p.req.Number(reply.Calls)
	reply.Opaque = m.keep(content, p)
	return reply, nil
}

// Package openai talks to any server that speaks the chat-completions protocol, hosted or local.
//
// It expects servers to be wrong about the protocol and stays usable with most of them: ids of tool calls are ours, broken
// arguments are not sent back, a call written as text may be read as one, and usage that is missing is unknown rather than
// zero. What is not the protocol at all is an error with a sentence for an operator.
//
// It promises that a call that may already have been paid for is never repeated, that every HTTP request is accounted for
// in Attempts, and that the API key is in no recorded byte and no error. It reads no environment variable of any vendor's,
// follows no redirect (the conversation and the key would go to whoever it names) and streams nothing.
package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"countersign"
	"countersign/llm"
)

// Config says which server and how patient to be. Zero fields take the defaults named.
type Config struct {
	BaseURL string // up to and including /v1
	Model   string // as the server calls it
	APIKey  string `json:"-"` // sent as a bearer token; empty for servers that want none

	Connect   time.Duration // until a connection, TLS included, stands: 5 s
	FirstByte time.Duration // from the request written to the first header of the answer: 120 s
	Total     time.Duration // the whole call with every attempt and wait: 180 s
	MaxWait   time.Duration // all waiting between attempts together: 10 s
	Attempts  int           // HTTP requests a call may make: 3

	MaxOutput       int    // output tokens when the request names none; 0 leaves it to the server
	MaxAnswer       int64  // bytes of an answer, after decompression: 8 MiB
	ReasoningEffort string // passed on as it is; empty leaves it to the server
	IgnoreTextCalls bool   // leaves a tool call that was written as text alone; see textCall

	// Wait waits between attempts; it returns early with an error when ctx ends. Nil waits for real.
	Wait func(ctx context.Context, d time.Duration) error
}

// String leaves the key out, as do %+v, JSON and slog.
func (c Config) String() string { return fmt.Sprintf("openai(%s, %s)", c.BaseURL, c.Model) }

// GoString leaves the key out.
func (c Config) GoString() string { return c.String() }

// LogValue leaves the key out.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) withDefaults() Config {
	c.BaseURL = strings.TrimRight(strings.TrimSpace(c.BaseURL), "/")
	c.APIKey = strings.TrimSpace(c.APIKey)
	orElse(&c.Connect, 5*time.Second)
	orElse(&c.FirstByte, 120*time.Second)
	orElse(&c.Total, 180*time.Second)
	orElse(&c.MaxWait, 10*time.Second)
	orElse(&c.Attempts, 3)
	orElse(&c.MaxAnswer, 8<<20)
	if c.Wait == nil {
		c.Wait = wait
	}
	return c
}

func orElse[T comparable](field *T, standard T) {
	if *field == *new(T) {
		*field = standard
	}
}

func (c Config) check() error {
	wrong := func(field, message, expected string) error {
		return countersign.Errorf(countersign.Invalid, "%s", message).In(field).Try("expected " + expected)
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case c.BaseURL == "":
		return wrong("base_url", "is missing", "the address of a server, such as https://models.example.com/v1")
	case err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != ""):
		return wrong("base_url", "holds a user, a query or a fragment", "an address without them; a credential belongs in the API key")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return wrong("base_url", fmt.Sprintf("%q is not the address of a server", c.BaseURL), "something like https://models.example.com/v1")
	case c.Model == "":
		return wrong("model", "is missing", "the name that the server knows the model by")
	case strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return wrong("api_key", "holds a space or a character that is not plain", "a key of printable characters")
	case c.Connect < 0 || c.FirstByte < 0 || c.Total < 0 || c.MaxWait < 0 || c.Attempts < 0 || c.MaxAnswer < 0 || c.MaxOutput < 0:
		return errors.New("model time-outs and limits: expected none below zero")
	}
	return nil
}

// Model is one model of one server. It is safe for concurrent use and keeps its connections open between calls.
type Model struct {
	cfg    Config
	host   string
	client *http.Client
}

// New checks the settings and connects to nothing. The error is a *countersign.Error of the kind Invalid whose field is
// base_url, model or api_key; it never holds the key.
func New(cfg Config) (*Model, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(cfg.BaseURL) // check parsed it
	return &Model{cfg: cfg, host: u.Host, client: client(cfg)}, nil
}

func client(cfg Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: cfg.Connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   cfg.Connect,
			ResponseHeaderTimeout: cfg.FirstByte,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   64, // cases run side by side; two, the default, would dial for nearly every turn
			IdleConnTimeout:       90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// String leaves the key out.
func (m *Model) String() string { return m.cfg.String() }

// GoString leaves the key out.
func (m *Model) GoString() string { return m.cfg.String() }

// Identity names the model as the server does.
func (m *Model) Identity() llm.Identity { return llm.Identity{Provider: "openai", Name: m.cfg.Model} }

// errTotal marks our own time limit, as against the caller's.
var errTotal = errors.New("total time is up")

// Complete makes one call. An error is always an *llm.Error; Unreachable and TimedOut may pass, Refused will not.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Total, errTotal)
	defer cancel()
	var (
		wire     = m.request(req)
		attempts []llm.Attempt
		waits    = waits{left: m.cfg.MaxWait}
	)
	for {
		x := m.exchange(ctx, wire)
		reply, fail := m.judge(ctx, x, req)
		attempts = x.account(attempts, waits.last, fail)
		if fail == nil {
			reply.Attempts = attempts
			return reply, nil
		}
		if len(attempts) >= m.cfg.Attempts || !fail.again || !waits.next(len(attempts), fail.after) {
			return llm.Reply{}, fail.err(x, attempts)
		}
		if m.cfg.Wait(ctx, waits.last) != nil {
			return llm.Reply{}, m.ended(ctx).err(x, attempts)
		}
	}
}

// judge says whether an exchange gave an answer.
func (m *Model) judge(ctx context.Context, x *exchange, req llm.Request) (llm.Reply, *failure) {
	switch {
	case x.sent == nil:
		return llm.Reply{}, &failure{kind: llm.Refused, message: "the request could not be written: " + m.safe(x.err.Error())}
	case x.err != nil:
		return llm.Reply{}, m.broken(ctx, x)
	case x.status < 200 || x.status > 299:
		return llm.Reply{}, m.declined(x)
	}
	reply, err := read(x.received)
	if err != nil {
		return llm.Reply{}, &failure{kind: llm.Unreadable, message: m.host + " answered with " + m.safe(err.Error())}
	}
	if !m.cfg.IgnoreTextCalls {
		adoptTextCall(&reply, req)
	}
	req.Number(reply.Calls)
	reply.Request, reply.Response = x.sent, x.received
	return reply, nil
}

// client of the library for one exchange: making one is cheaper than telling exchanges of a shared one apart.
func (m *Model) library(x *exchange) *openai.Client {
	cfg := openai.DefaultConfig(m.cfg.APIKey)
	cfg.BaseURL, cfg.HTTPClient = m.cfg.BaseURL, x
	return openai.NewClientWithConfig(cfg)
}

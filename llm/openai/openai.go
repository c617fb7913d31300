// Package openai talks to any server that speaks the chat-completions protocol, hosted or local.
//
// It expects servers to be wrong about the protocol and stays usable with most of them: ids of tool calls are ours, broken
// arguments are not sent back, a call written as text may be read as one, and usage that is missing is unknown rather than
// zero. What is not the protocol at all is an error with a sentence for an operator. How a server is reached, and what
// becomes of one that fails, is package exchange's.
//
// The protocol has no content of its own that would have to be replayed, so a message is its Text and Calls, whoever wrote
// it: what another provider keeps in Opaque is left alone.
package openai

import (
	"context"

	openai "github.com/sashabaranov/go-openai"

	"countersign/llm"
	"countersign/llm/exchange"
)

// Config says which server and how to ask it. Zero fields take the defaults named. It prints as its Server does, without the key.
type Config struct {
	exchange.Server // the key is sent as a bearer token; without MaxOutput, how much is written is left to the server

	ReasoningEffort string // passed on as it is; empty leaves it to the server
	IgnoreTextCalls bool   // leaves a tool call that was written as text alone; see textCall
}

// Model is one model of one server. It is safe for concurrent use and keeps its connections open between calls.
type Model struct {
	cfg  Config
	line *exchange.Line
}

// New checks the settings and connects to nothing. The error is a *countersign.Error of the kind Invalid whose field is
// base_url, model or api_key; it never holds the key.
func New(cfg Config) (*Model, error) {
	line, err := exchange.Open(cfg.Server)
	if err != nil {
		return nil, err
	}
	cfg.Server = line.Server
	return &Model{cfg, line}, nil
}

// String leaves the key out.
func (m *Model) String() string { return m.cfg.String() }

// GoString leaves the key out.
func (m *Model) GoString() string { return m.cfg.String() }

// Identity names the model as the server does.
func (m *Model) Identity() llm.Identity { return llm.Identity{Provider: "openai", Name: m.cfg.Model} }

// Complete makes one call. An error is always an *llm.Error; Unreachable and TimedOut may pass, Refused will not.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	wire := m.request(req)
	return m.line.Complete(ctx, exchange.Call{
		Send: func(ctx context.Context, x *exchange.Exchange) error {
			_, err := m.library(x).CreateChatCompletion(ctx, wire)
			return err
		},
		Read: func(body []byte) (llm.Reply, error) { return m.read(body, req) },
	})
}

func (m *Model) read(body []byte, req llm.Request) (llm.Reply, error) {
	reply, err := read(body)
	if err != nil {
		return llm.Reply{}, err
	}
	if !m.cfg.IgnoreTextCalls {
		adoptTextCall(&reply, req)
	}
	req.Number(reply.Calls)
	return reply, nil
}

// client of the library for one exchange: making one is cheaper than telling exchanges of a shared one apart.
func (m *Model) library(x *exchange.Exchange) *openai.Client {
	cfg := openai.DefaultConfig(m.cfg.APIKey)
	cfg.BaseURL, cfg.HTTPClient = m.cfg.BaseURL, x
	return openai.NewClientWithConfig(cfg)
}

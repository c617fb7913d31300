// Package llm is a conversation with a model, whoever serves it. It knows messages, tools and usage; it knows nothing of
// disputes, and nothing here trusts an answer.
//
// Three providers exist: anthropic (the Messages API), openai (any compatible server) and rulebook (offline, deterministic, no
// AI). scripted plays back fixed answers for tests and for the demo's failing models. A conversation may change its provider
// midway, so what a message says is always in Text and Calls, whatever stands in Opaque.
package llm

import (
	"context"
	"encoding/json"
	"time"

	"countersign/redact"
)

// Model answers one request at a time. Implementations are safe for concurrent use and keep no conversation: each Request
// carries all of it, so that a crashed investigation can go on in another process.
type Model interface {
	// Identity names the provider and model for the record.
	Identity() Identity
	// Complete makes one call, retries included: at most 3 attempts and 10 s of waiting between them. It returns an *Error
	// when no usable answer came; its Attempts say what was tried.
	Complete(context.Context, Request) (Reply, error)
}

// Identity is who answered.
type Identity struct {
	Provider string `json:"provider"` // rulebook, openai, anthropic, scripted
	Name     string `json:"name"`
}

// Request is one whole conversation so far and what may come next.
type Request struct {
	System    redact.Text
	Messages  []Message
	Tools     []Tool
	Force     string // the one tool we want called, or empty; asked for, never relied on
	MaxOutput int    // output tokens, 0 for the provider's default
}

// Role is who speaks.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message. Text is redacted by its type: nothing reaches a model unmasked.
type Message struct {
	Role   Role
	Text   redact.Text
	Calls  []Call          // assistant only
	CallID string          // tool only: the call that this is the one result of
	Opaque json.RawMessage // assistant only: a provider's own content, replayed byte for byte by the provider that made it; it says who that is, and to any other it is nothing
}

// NoAnswer stands for an assistant message with nothing in it. Many servers refuse an empty one, and leaving it out would put
// two user messages in a row, which others refuse.
const NoAnswer = "(no answer)"

// Call is a tool call. ID is ours, never the server's: servers send empty, missing and repeated ones. Args is what the
// model wrote, possibly broken JSON, and is kept raw for the record.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// Tool is what a model is told about a tool. Schema is a small JSON schema: no regular expressions, no $ref; the real
// validation is ours.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Stop is why the server stopped writing.
type Stop string

const (
	StopEnd    Stop = "end"
	StopTools  Stop = "tools"
	StopLength Stop = "length" // cut: whatever it was writing is incomplete
	StopOther  Stop = "other"
)

// Reply is an answer, or what came in its place: Text and Calls may both be empty.
type Reply struct {
	Text     string
	Calls    []Call // in order, each with an id of ours that is unique in the reply
	Opaque   json.RawMessage
	Stop     Stop
	Usage    *Usage // nil when the server reported none: unknown, not zero
	Thinking bool   // the server sent reasoning text; it is never read as an answer
	Attempts []Attempt
	Request  []byte  // the exact bytes sent, without headers
	Response []byte  // the exact bytes received
	Asked    []Asked // who was asked for this answer, where there were several to ask; the last gave it
}

// Usage is what the server says it counted. Input includes cached and stored tokens.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"` // read from the server's cache
	Stored int64 `json:"stored,omitempty"` // put into it
}

// Attempt is one HTTP request, answered or not.
type Attempt struct {
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"took_ns"`
	Status int           `json:"status,omitempty"` // 0 when no answer came
	Error  string        `json:"error,omitempty"`
	Waited time.Duration `json:"waited_ns,omitempty"` // before this attempt

	MaybePaid  bool   `json:"maybe_paid,omitempty"` // it failed after the request was on its way: the server may have worked, and want to be paid
	Connection string `json:"connection,omitempty"` // whose attempt it was, where there were several to ask
}

// ErrorKind is why no usable answer came.
type ErrorKind string

const (
	Unreachable ErrorKind = "unreachable"  // no connection, 5xx or 429 to the end
	Refused     ErrorKind = "refused"      // the server says the request or the key is wrong: trying again cannot help
	TimedOut    ErrorKind = "timed_out"    // connect, first byte or total; never retried blindly, the call may have been paid
	Unreadable  ErrorKind = "unreadable"   // 200 with something that is not the protocol
	Canceled    ErrorKind = "canceled"     // the caller gave up (a shutdown); says nothing about the server
	NoBudget    ErrorKind = "budget_spent" // nobody was asked: a budget has no room for the call
	PassedOver  ErrorKind = "passed_over"  // nobody was asked: the server was down a moment ago, or there is no key for it
)

// Error is a call that gave no usable answer. Its text is masked and holds no key.
type Error struct {
	Kind     ErrorKind
	Message  string
	Attempts []Attempt
	Request  []byte
	Response []byte  // what came of the last attempt's answer, may be a part of it
	Asked    []Asked // who was asked, where there were several to ask
	Err      error   // context.Canceled or context.DeadlineExceeded when the caller's context ended, else nil
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap lets errors.Is tell a caller that gave up from a server that failed.
func (e *Error) Unwrap() error { return e.Err }

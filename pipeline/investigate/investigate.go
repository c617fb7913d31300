// Package investigate holds the bounded conversation with a model: tools, turns, one proposal.
//
// It expects the model to misbehave and ends, whatever happens, with a proposal: the model's own, or a hard-coded one that
// escalates with confidence zero. It reads no database itself and may not import the store; what it learns it hands to the
// caller turn by turn, so that a crashed conversation can go on from what was recorded.
package investigate

import (
	"context"
	"encoding/json"
	"time"

	"countersign"
	"countersign/llm"
)

// Tool is one thing the model may ask for. Run returns a value that marshals to a JSON object; text that somebody else
// wrote must be of type fence.Words in it. An error's text is shown to the model, so it must be safe to show.
type Tool struct {
	llm.Tool
	Run func(ctx context.Context, args json.RawMessage) (any, error)
}

// Brief is what the desk tells the model before the first turn.
type Brief struct {
	System string // who it is, what it may do, how to cite
	Case   string // the first user message: the case in the desk's words; the canary line is added by Run
	// Decision is the tool that ends the conversation, and Recommendations and Categories what it may say.
	Decision        llm.Tool
	Recommendations []string
	Categories      []string // empty when the desk has none
	Escalation      string   // the recommendation of the hard-coded proposal
}

// Bounds are the limits of one conversation. Reaching one is recorded and ends with a person.
type Bounds struct {
	Turns        int           // model turns before the final, forced one; 8 by default
	CallsPerTurn int           // tool calls answered in one turn; the rest get an error result
	CallsPerCase int           // tool calls answered in one investigation
	Tokens       int64         // input plus output, as reported
	Wall         time.Duration // from the first turn to the last, time-outs included
}

// Turn is one model turn as it is recorded: the exact bytes both ways, what we read in them, and the steps that followed.
type Turn struct {
	Number   int                `json:"turn"` // 1, 2, …; the final forced call is Bounds.Turns+1
	Request  string             `json:"request"`
	Response string             `json:"response"`
	Text     string             `json:"text,omitempty"`
	Calls    []llm.Call         `json:"calls,omitempty"`
	Opaque   json.RawMessage    `json:"opaque,omitempty"`
	Stop     llm.Stop           `json:"stop,omitempty"`
	Usage    *llm.Usage         `json:"usage,omitempty"`
	Attempts []llm.Attempt      `json:"attempts,omitempty"`
	Error    string             `json:"error,omitempty"` // why no usable answer came
	Note     string             `json:"note,omitempty"`  // what the loop did about it: nudged, sent the validation error back, …
	At       time.Time          `json:"at"`
	Took     time.Duration      `json:"took_ns"`
	Steps    []countersign.Step `json:"-"` // recorded as rows of their own
}

// Package investigate holds the bounded conversation with a model: tools, turns, one proposal.
//
// It expects the model to misbehave and ends, whatever happens, with a proposal: the model's own, or a hard-coded one that
// escalates with confidence zero and says in a sentence what went wrong. The rules of the conversation are few:
//
//   - Every call gets exactly one result, in order, and every result is a step: S1, S2, … counted per call over the whole
//     investigation, refused and failed calls included. A citation of a failed step is then refused by its own name.
//   - A tool runs only when the desk offers it and its arguments are one complete JSON object that names nothing unknown.
//   - A reply without a call is answered with one nudge. A malformed decision is answered once with everything that is
//     wrong in it. When the turns are used up, one last call offers nothing but the decision. After that nobody is asked.
//   - What the conversation knows, it knows from its turns as they were recorded. A crashed conversation that goes on from
//     them sends the same bytes that it would have sent, and asks for no turn twice.
//
// The package reads no database and may not import the store; what it learns it hands to the caller turn by turn. It does
// not check citations, judge the proposal or look at a limit of the policy: none of that is known here, so none of it can
// reach a prompt.
package investigate

import (
	"context"
	"encoding/json"
	"time"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/investigate/fence"
)

// Tool is one thing the model may ask for. Run returns a value that marshals to a JSON object; text that somebody else
// wrote must be of type fence.Words in it. Run is given a complete JSON object that names no argument but those in the
// schema's properties; their types and meaning are for Run to check.
//
// An error that is a *countersign.Error, and not of kind Internal, is shown to the model, so its text must be safe to show.
// Any other error is kept in Step.Error, masked, and the model is told no more than that the record could not be read.
// Run must come back soon after its context ends: nothing here can interrupt it.
type Tool struct {
	llm.Tool
	Run func(ctx context.Context, args json.RawMessage) (any, error)
}

// Brief is what the desk tells the model before the first turn.
type Brief struct {
	System string      // who it is, what it may do, how to cite; Run adds what this run's fence looks like
	Case   string      // the first user message: the case in the desk's words; Run puts the canary line above it
	Notes  fence.Words // somebody else's words about the case; Run fences them and puts them below Case

	// Decision is the tool that ends the conversation. Which of the optional fields (category, fraud_suspected,
	// customer_message, quotes) a decision may hold is read from the properties of its schema, so that the model is never
	// refused what it was offered; without a schema it may hold them all.
	Decision        llm.Tool
	Recommendations []string // what it may recommend
	Categories      []string // what it may say the case is; empty when the desk has none
	Escalation      string   // the recommendation of the hard-coded proposal
}

// Conversation is one investigation, about to start or to go on.
type Conversation struct {
	Model llm.Model
	Brief Brief
	Tools []Tool
	// Given are looked at by code, once each, without arguments and in this order, before the model is first asked. Their
	// results are the first steps, and stand in the first message, one JSON object a line: what every investigation needs is not
	// left to a model to ask for.
	Given  []Tool
	Bounds Bounds // zero fields mean the defaults
	Fence  fence.Fence
	// Canary is what the decision must repeat to show that the model saw the first message; NewCanary makes one. A
	// conversation that goes on needs the canary and the fence that it began with.
	Canary string
	// Past are the turns of this round that were recorded before a crash, in order, each with its steps. They are replayed
	// and never asked for again. What was given is turn 0.
	Past []Turn
	// Record is called once for each new turn, turn 0 included, after its tools ran and before the model is called. An error means
	// that this worker may not go on (its lease or its database is gone): Run stops and returns it.
	Record func(context.Context, Turn) error
	// Lost, where there is one, is told of a turn that is not recorded because the caller's context ended: its model was asked all the
	// same, and whoever goes on asks for it again.
	Lost func(context.Context, Turn)
	Now  func() time.Time
}

// Outcome is how a conversation ended.
type Outcome struct {
	Proposal countersign.Proposal
	Steps    []countersign.Step // every step of the round, replayed ones included
	Turns    int                // turns taken, replayed ones included
	Use      countersign.ModelUse
}

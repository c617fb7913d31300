package audit

import "slices"

// Kind is what a row records.
type Kind string

const (
	Opened    Kind = "opened"     // the case was stored and queued; always the first row and only there required
	Started   Kind = "started"    // a worker took the case
	ModelTurn Kind = "model_turn" // one request to a model and its reply, byte for byte
	ToolCall  Kind = "tool_call"  // one step: what a tool was asked and what it answered
	Facts     Kind = "facts"      // what code read in the records itself
	Proposal  Kind = "proposal"   // what the model wants, with every citation's status
	Verdict   Kind = "verdict"    // what the policy made of it
	Fix       Kind = "fix"        // what execution did, or why it would not
	Decision  Kind = "decision"   // what a person decided
	Message   Kind = "message"    // the draft to the customer was changed
	Note      Kind = "note"       // anything else worth keeping
	Closed    Kind = "closed"     // the case ended; a network may still bring it back
	Event     Kind = "event"      // what a provider said of its own accord, and what the case took over of it
	Reopened  Kind = "reopened"   // an event that opened a closed case again, as its next round
	Erased    Kind = "erased"     // payloads of earlier rows were erased: {"erased":[3,4]}
)

// Kinds lists every kind, in the order a case usually meets them.
var Kinds = []Kind{
	Opened, Started, ModelTurn, ToolCall, Facts, Proposal, Verdict, Fix, Decision, Message, Note, Closed, Event, Reopened, Erased,
}

// Known reports whether k is a kind that Append takes. The verifier is more patient: a kind it has not heard of is no sign
// of tampering.
func (k Kind) Known() bool { return slices.Contains(Kinds, k) }

// changesCase reports whether a row of this kind may carry the case's status and outcome. What the model said and what a
// tool answered are the bulk of every record and never change a case, so nobody needs to look into them.
func (k Kind) changesCase() bool { return k != ModelTurn && k != ToolCall && k != Erased }

package countersign

import (
	"encoding/json"
	"fmt"
	"time"
)

// StepRef is the short name of one tool result in one investigation: S1, S2, … in the order the calls were made. Models
// are bad at copying long ids, so this is what they cite.
type StepRef string

// Ref returns the name of the n-th step, counted from 1.
func Ref(n int) StepRef { return StepRef(fmt.Sprintf("S%d", n)) }

// Step is one tool call and its one result. A failed call is a step too: a citation of it is refused by name.
type Step struct {
	Ref    StepRef         `json:"ref"`
	Turn   int             `json:"turn"` // the model turn that asked for it; a citation made in the same turn is not yet finished
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args,omitempty"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"` // a JSON object, masked, without fences: what citations are checked against
	Error  string          `json:"error,omitempty"`
	Shown  string          `json:"shown"` // the exact text the model was sent, fences included
	At     time.Time       `json:"at"`
	Took   time.Duration   `json:"took_ns"`
}

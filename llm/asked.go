package llm

import "countersign"

// Asked is one model of several that was asked for an answer, or passed over, and what that used up. Of those that were asked in one
// turn, in their order, the last without a Kind gave the answer.
type Asked struct {
	Connection string `json:"connection"` // as the settings call it
	Identity
	Kind ErrorKind `json:"error,omitempty"` // why it gave no answer; empty for the one that did
	Why  string    `json:"why,omitempty"`   // in words, masked

	Attempts int               `json:"attempts,omitempty"` // HTTP requests; none when it was passed over
	Usage    *Usage            `json:"usage,omitempty"`    // as its server said
	Assumed  *Usage            `json:"assumed,omitempty"`  // counted where its server did not say, and may want to be paid all the same
	Costs    countersign.Costs `json:"cost,omitempty"`     // of both; empty while no price is set

	Request  []byte `json:"-"` // of one that gave no answer: the exact bytes sent, and what came of the answer
	Response []byte `json:"-"`
}

// Answered reports whether it gave the answer.
func (a Asked) Answered() bool { return a.Kind == "" }

// Tokens are the tokens that count, said or assumed.
func (a Asked) Tokens() (sum int64) {
	for _, u := range []*Usage{a.Usage, a.Assumed} {
		if u != nil {
			sum = countersign.AddCounts(countersign.AddCounts(sum, u.Input), u.Output)
		}
	}
	return sum
}

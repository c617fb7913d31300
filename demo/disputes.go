package demo

import (
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// Dispute is one complaint, how it is worked, and how it must end.
type Dispute struct {
	TransactionID string
	Reason        countersign.DisputeReason
	Notes         string
	Channel       string
	Title         string // what the dispute is there to show, for the table

	// Script names the scripted model that works it, for Script; empty is the offline reviewer.
	Script string
	// Shadow asks for the policy's shadow mode while this dispute is worked, and no longer.
	Shadow bool
	// Damaged asks for Damage before this dispute is worked.
	Damaged bool
	// Meanwhile are rows that the core system sends while the model is thinking; nil for nearly every dispute. Wrap the
	// model in Interrupted to have them arrive then.
	Meanwhile func(now time.Time) records.Set
	// Then is what an invented analyst does with it once it is in review; nil leaves it waiting.
	Then *Act

	// Want are the verdict's reasons in their order; none is an automatic fix. WantOutcome is how the case stands in the end,
	// after Then; empty is in review.
	Want        []countersign.ReasonCode
	WantOutcome countersign.Outcome
}

// Act is one decision of a person.
type Act struct {
	Verb      string // approve, override or escalate
	Outcome   countersign.Outcome
	Fix       string
	Reason    string
	Reference string
	Part      *countersign.Money // what is contested of the amount; nil is all of it
}

// Disputes are what the bank's customers complain about, in the order in which the demo works them. The transactions are in
// Bank.
func Disputes() []Dispute {
	all := make([]Dispute, len(stories))
	for i, s := range stories {
		all[i] = s.Dispute
		all[i].TransactionID = storyID(i)
		if s.overtaken {
			all[i].Meanwhile = s.refund(i)
		}
	}
	return all
}

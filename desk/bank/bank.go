// Package bank is the issuer's desk: a customer disputes a transaction, and the outcome is resolved, rejected or escalated.
//
// It knows what a model is told about such a dispute and which records its eight tools show, how a request finds its
// transaction, and how the offline reviewer works a case. It promises that nothing a tool shows belongs to another
// customer, and that account numbers, names and other people's words leave here masked, shortened and marked. It decides
// nothing: what the records establish is judged by package rules, and what a model wants by package policy, whose numbers
// appear nowhere in what the model reads.
package bank

import (
	"countersign"
	"countersign/desk"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
)

// The recommendations of this desk, in the words that a decision uses.
const (
	resolve  = "resolve"
	escalate = "escalate"
	reject   = "reject"
)

// recordRules adds no reason of its own: what package rules doubts arrives with the facts. Its name stands in the policy
// version for the meaning of those rules; change it whenever that changes, or an old verdict would seem to be replayed by
// the rules it was made under.
var recordRules = policy.Rule{Name: "bank_records/1", Check: func(policy.Input) []countersign.Reason { return nil }}

// New is the bank's desk.
func New() desk.Desk {
	return desk.Desk{
		Desk:  intake.Desk{Name: countersign.Bank, Prefix: "D-", Find: find},
		Brief: brief,
		Tools: tools,
		Facts: facts,
		Rules: []policy.Rule{recordRules},
		Waive: waive,
		// Escalate is not here: whoever carries it out needs a person.
		Outcome:  map[string]countersign.Outcome{resolve: countersign.Resolved, reject: countersign.Rejected},
		Outcomes: []countersign.Outcome{countersign.Resolved, countersign.Rejected},

		Whose:      "the bank's",
		Letters:    true,
		Display:    display,
		Told:       tell,
		FactGroups: factGroups,
	}
}

// Package policy collects every reason why a case needs a person. No reason at all is the only way to be automatic.
//
// It is pure: the same limits, facts, proposal and evidence give the same verdict, byte for byte, years later. Nothing the
// model says can remove a reason; its confidence and category only ever add some.
package policy

import "countersign"

// Limits are the numbers a bank sets. They are never shown to a model: it cannot aim at what it cannot see.
type Limits struct {
	Mode          Mode             `json:"mode"`
	AllowedTypes  []string         `json:"allowed_types"`  // categories that may be automatic
	MinConfidence float64          `json:"min_confidence"` // stated confidence at or above this passes
	MinEvidence   int              `json:"min_evidence"`   // distinct steps with a verified citation
	Caps          map[string]int64 `json:"caps"`           // minor units per currency; an amount at or above its cap needs a person
}

// Mode is act or shadow. In shadow everything is computed and stored and nothing is automatic.
type Mode string

const (
	Act    Mode = "act"
	Shadow Mode = "shadow"
)

// Input is all that a verdict depends on. It is stored with the verdict, so that the verdict can be replayed.
type Input struct {
	Limits   Limits               `json:"limits"`
	Amount   countersign.Money    `json:"amount"` // of the disputed transaction or order, in its own currency
	Facts    countersign.Facts    `json:"facts"`
	Proposal countersign.Proposal `json:"proposal"`
	Evidence countersign.Evidence `json:"evidence"`
}

// Rule is a desk's own addition: it can only return reasons, so it can only tighten. Name goes into the policy version;
// change it ("…/2") when the rule's meaning changes.
type Rule struct {
	Name  string
	Check func(Input) []countersign.Reason
}

// PersonDecides is the rule of a desk at which nothing is ever automatic. What only limits automatic acts (caps, allowed types,
// stated confidence, shadow mode) is then left out of the verdict, where it would bury what a person must know; and whatever
// else speaks against the model's recommendation overrules it, and is kept as a caveat.
var PersonDecides = Rule{"person_decides/1", func(Input) []countersign.Reason {
	return because(countersign.PersonDecides, "Every case of this desk is decided by a person.")
}}

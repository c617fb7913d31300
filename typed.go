package countersign

import "time"

// TypedFact is something about the disputed matter that a person knows and no record shows. It is that person's word: it is shown as
// such wherever it is shown, it supports no recommendation, and a rule may only tighten because of it.
type TypedFact struct {
	ID        string    `json:"id"`
	CaseID    CaseID    `json:"case_id"`
	Kind      TypedKind `json:"kind"`
	Text      string    `json:"text"`             // in the person's words
	On        string    `json:"on"`               // the day it happened, 2026-11-03; empty when nobody said
	Amount    *Money    `json:"amount,omitempty"` // nil when it is about no money, or nobody said how much
	Reference string    `json:"reference"`        // a tracking number, a bank's reference
	TypedAt   time.Time `json:"typed_at"`
	TypedBy   string    `json:"typed_by"` // an actor
}

// TypedKind says what a typed-in fact is about. A desk says which kinds it takes.
type TypedKind string

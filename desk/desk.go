// Package desk says what a desk brings to the pipeline, as a value: who owns a subject, what the model is told, which tools
// it gets, what code reads itself, which rules it adds and how a fix is posted. The pipeline has no word of any desk in it.
package desk

import (
	"context"
	"time"

	"countersign"
	"countersign/pipeline/investigate"
	"countersign/pipeline/policy"
	"countersign/store"
)

// Desk is one desk. Every function reads through the View it is given, which may be a transaction.
type Desk struct {
	Name   countersign.DeskName
	Prefix string // of case ids: "D-"

	// Subject looks up what a dispute is about. A subject that does not exist is a NotFound error, one that belongs to
	// another customer Unprocessed; either leaves nothing behind.
	Subject func(ctx context.Context, v store.View, req Filing) (Found, error)
	// Brief is what the model is told before its first turn.
	Brief func(c countersign.Case) investigate.Brief
	// Tools are the case's tools. Each is scoped to the case's customer or order.
	Tools func(v store.View, c countersign.Case) []investigate.Tool
	// Facts reads the records without the model. An error means that they could not be read: a reason, never an absence.
	Facts func(ctx context.Context, v store.View, c countersign.Case) (countersign.Facts, error)
	// Rules are added to the policy's own; they can only tighten.
	Rules []policy.Rule
	// Waive returns the fix that a person may post although the facts do not support it, or an error that says what
	// nobody may waive.
	Waive func(ctx context.Context, v store.View, c countersign.Case, kind countersign.FixKind) (*countersign.Fix, error)
	// Outcome maps a recommendation that a person approves to how the case ends.
	Outcome map[string]countersign.Outcome
	// Escalation is the recommendation that asks for a person.
	Escalation string
}

// Filing is what a channel hands to intake.
type Filing struct {
	SubjectID  string
	CustomerID string // optional; checked against the subject's owner
	Reason     countersign.DisputeReason
	OpenedAt   time.Time
}

// Found is the subject of a filing as the records have it.
type Found struct {
	Subject    countersign.Subject
	CustomerID string
	Amount     countersign.Money
	DueAt      *time.Time
	DueSource  countersign.DueSource
}

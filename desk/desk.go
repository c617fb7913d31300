// Package desk says what a desk brings to the pipeline, as a value: how a subject is found, what the model is told, which
// tools it gets, what code reads itself, which rules it adds and what a person may waive. The pipeline has no word of any
// desk in it.
package desk

import (
	"context"

	"countersign"
	"countersign/pipeline/intake"
	"countersign/pipeline/investigate"
	"countersign/pipeline/policy"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
	"countersign/store"
)

// Desk is one desk. Every function reads through the View it is given, which may be a transaction.
type Desk struct {
	intake.Desk

	// Brief is what the model is told before its first turn.
	Brief func(c countersign.Case) investigate.Brief
	// Tools are the case's tools. Each is scoped to the case's customer or order.
	Tools func(v store.View, c countersign.Case) []investigate.Tool
	// Given are tools that code looks at itself before the model's first turn, in this order; nil when the model asks for all it
	// needs.
	Given func(v store.View, c countersign.Case) []investigate.Tool
	// Facts reads the records without the model. An error means that they could not be read: a reason, never an absence.
	Facts func(ctx context.Context, v store.View, c countersign.Case) (countersign.Facts, error)
	// Documents are the texts that a proposal may quote, each in the one version that counts for the case; nil when the desk has
	// none.
	Documents func(ctx context.Context, v store.View, c countersign.Case) ([]verify.Document, error)
	// Rules are added to the policy's own; they can only tighten.
	Rules []policy.Rule
	// Waive returns the fix of that kind which a person may post although the facts do not support it, and a hash of the
	// rows it read. A Conflict error says what nobody may waive.
	Waive func(ctx context.Context, v store.View, c countersign.Case, kind countersign.FixKind) (*countersign.Fix, string, error)
	// Fresh reads records that are not in our database again, before a person's decision counts; nil when they are in it.
	Fresh func(ctx context.Context, v store.View, c countersign.Case) (review.Fresh, error)
	// MustChoose says that a recommendation which asks for a person cannot be approved, only decided otherwise, with a reason.
	MustChoose bool
	Split      countersign.Outcome // the outcome that may be for a part of the amount; empty when none may
	// Outcome maps a recommendation that is carried out to how the case ends. A recommendation that is not in it asks for a
	// person.
	Outcome map[string]countersign.Outcome
	// Cannot says why an outcome does not exist for a case as it stands, empty when it does; nil when every outcome always does.
	Cannot func(countersign.Case, countersign.Outcome) string
	// Outcomes are those a person may override with.
	Outcomes []countersign.Outcome
	// Warn says what a person must know of an outcome before they choose it, and of one that was decided, which leaves that rest of the
	// amount. It stops nobody, and the record keeps that it was said; nil when there is nothing to say.
	Warn func(facts countersign.Facts, outcome countersign.Outcome, rest *countersign.Money) []string
	// Against names the facts that speak against an outcome, as the report of it marks them; nil at a desk that makes none.
	Against func(facts countersign.Facts, outcome countersign.Outcome) []string
	// Reports says that a decision which closes a case leaves an evidence report for others to read.
	Reports bool
	// NotesBy is who wrote the notes of a case: "the customer".
	NotesBy string
	// Display is what a person is shown of the case's records. An error means that they cannot be read now.
	Display func(ctx context.Context, v store.View, c countersign.Case) (Display, error)
	// Told says in a few words, for somebody who watches, what a step read: "read the ledger: 1 entry, nothing given back".
	Told func(countersign.Step) string
	// Whose are the records that Display shows: "the bank's", "the shop's".
	Whose string
	// Letters says that a proposal drafts a message to the customer.
	Letters bool
	// Room is how much the files that people add to a case may be together; the zero value takes none.
	Room store.ExhibitRoom
	// Typed are the kinds of facts that a person may type in, in the order in which they are offered; none at a desk that takes none.
	Typed []TypedKind
	// Clauses are what the report of a case would quote if it were decided now; nil at a desk that quotes nothing.
	Clauses func(ctx context.Context, v store.View, c countersign.Case) ([]Clause, error)
	// Pack measures what would be sent of a case if that were decided now; nil when nothing ever is.
	Pack func(ctx context.Context, v store.View, c countersign.Case, d review.Decided) (Pack, error)
	// FactGroups name the facts, in the order in which a person reads them. A fact that no group names is shown by its own name.
	FactGroups []FactGroup
}

// Acts reports whether a decision at this desk can move money.
func (d Desk) Acts() bool { return d.Waive != nil }

// Look is Given, for a desk that may have none.
func (d Desk) Look(v store.View, c countersign.Case) []investigate.Tool {
	if d.Given == nil {
		return nil
	}
	return d.Given(v, c)
}

// Justify is Facts in the form the executor asks for: the fix that the records support now.
func (d Desk) Justify(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
	facts, err := d.Facts(ctx, v, c)
	return facts.Fix, facts.Seen, err
}

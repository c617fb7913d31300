package merchant

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/events"
	"countersign/pipeline/intake"
	"countersign/store"
)

// stages are how far a dispute between a cardholder's bank and a merchant can go. An inquiry is a question: no money was taken.
var stages = []string{"inquiry", "chargeback", "pre_arbitration", "arbitration"}

// find takes a chargeback as it comes. The shop is not asked here: it may be slow or down, and a chargeback with its deadline must
// not be lost for that. An order that is not there is a reason of the verdict, and a deadline that nobody gave is unknown, which
// puts the case on top of the queue. None is computed from a network's usual days: providers set earlier ones.
//
// A stage that there is none of is refused: an answer is written for the stage that a dispute is at. None said is a chargeback, the one
// that costs most to miss.
func find(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
	stage := cmp.Or(r.Stage, stages[1])
	if !slices.Contains(stages, stage) {
		return intake.Found{}, countersign.Errorf(countersign.Invalid, "%q is not one of %s", stage, strings.Join(stages, ", ")).In("stage")
	}
	found := intake.Found{
		Stage:     stage,
		Subject:   countersign.Subject{Kind: countersign.OrderSubject, ID: r.SubjectID},
		DueSource: countersign.DueUnknown,
		Reason:    ReasonFor(r.Terms),
	}
	if r.Amount != nil {
		found.Amount = *r.Amount
	}
	if r.DueAt != nil {
		due := r.DueAt.UTC()
		found.DueAt, found.DueSource = &due, countersign.DueFromProvider
		if r.Channel == "dashboard" { // a person typed it
			found.DueSource = countersign.DueManual
		}
	}
	return found, nil
}

// cannot is why an outcome does not exist at the stage of a case.
func cannot(c countersign.Case, outcome countersign.Outcome) string {
	can := events.Can(events.Stage(c.Stage), c.Terms.Network)
	switch outcome {
	case countersign.Contested:
		return can.Contest
	case countersign.AcceptedOutcome:
		return can.Accept
	}
	return ""
}

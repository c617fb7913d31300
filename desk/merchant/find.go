package merchant

import (
	"context"
	"time"

	"countersign"
	"countersign/pipeline/intake"
	"countersign/store"
)

// find takes a chargeback as it comes. The shop is not asked here: it may be slow or down, and a chargeback with its deadline must
// not be lost for that. An order that is not there is a reason of the verdict, and a deadline that nobody gave is unknown, which
// puts the case on top of the queue. None is computed from a network's usual days: providers set earlier ones.
func find(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
	found := intake.Found{
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

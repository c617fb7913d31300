package review

import (
	"context"
	"slices"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// retryable are the reasons after which another investigation can find more: the model failed, or records could not be read
// or were not known yet.
var retryable = map[countersign.ReasonCode]bool{
	countersign.ModelFailed: true, countersign.BudgetReached: true, countersign.OfflineStoodIn: true, countersign.ModelSawPartialCase: true, countersign.FactsUnreadable: true, countersign.FactsUnknown: true,
}

// Retry starts a new round. The old one stays in the record; the case's proposal, facts and verdict are the new round's. It is
// a Conflict when a new round could find nothing else: after a model that answered, about records that it and we could read, that left
// nothing about the complaint unknown, and that are still the same.
func (r Review) Retry(ctx context.Context, act Act) (countersign.Case, error) {
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		may, err := r.MayRetry(ctx, tx.View, *c)
		if err != nil {
			return nil, err
		}
		if !may {
			return nil, countersign.Errorf(countersign.Conflict, "another investigation would find the same").
				Try("retry is for a model that failed and for records that were unreadable or unknown, or have changed")
		}
		jobID, err := r.Queue.Add(ctx, tx, c.Desk, c.ID)
		if err != nil {
			return nil, err
		}
		d := decided(*c, "retry", "")
		c.NextRound()
		if err := tx.SetJob(ctx, c.ID, jobID); err != nil {
			return nil, err
		}
		d.Round, d.Status = c.Round, c.Status
		return []store.Note{{Kind: audit.Decision, Payload: d}}, nil
	})
}

// MayRetry reports whether Retry would start a new round of a case in review. An error means that the records could not be read.
func (r Review) MayRetry(ctx context.Context, v store.View, c countersign.Case) (bool, error) {
	if cutShort(c) || unread(c) || leftOpen(c) || r.Desks[c.Desk].Fresh != nil {
		return true, nil // records outside our database may say something else at any time
	}
	_, now, err := r.Desks[c.Desk].Justify(ctx, v, c)
	return changed(c, now), err
}

// cutShort reports whether the verdict has a reason that another investigation may do without.
func cutShort(c countersign.Case) bool {
	return c.Verdict != nil && slices.ContainsFunc(c.Verdict.Reasons, func(reason countersign.Reason) bool { return retryable[reason.Code] })
}

// unread reports whether the proposal rests on a look at the records that failed: the database may have been away for a moment, and
// the same look may find something now.
func unread(c countersign.Case) bool {
	return c.Proposal != nil && slices.ContainsFunc(c.Proposal.Claims, func(claim countersign.Claim) bool {
		return slices.ContainsFunc(claim.Citations, func(cite countersign.Citation) bool { return cite.Status == countersign.CitationFailedStep })
	})
}

// leftOpen reports whether something about what the customer complains of was not known. It is no reason of the verdict when
// the model did not propose to resolve.
func leftOpen(c countersign.Case) bool {
	return c.Facts != nil && slices.ContainsFunc(c.Facts.Doubts, func(d countersign.Doubt) bool {
		return d.Reason.Code == countersign.FactsUnknown && d.Against == c.Reason
	})
}

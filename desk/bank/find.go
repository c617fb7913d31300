package bank

import (
	"context"
	"time"

	"countersign"
	"countersign/desk/bank/rules"
	"countersign/pipeline/intake"
	"countersign/store"
)

// find looks up the transaction that a request disputes. Its owner is its account's customer, whatever the request says; a
// request that names another is refused, and the refusal does not say whose the transaction is.
//
// A credit can be disputed like a debit: "wrong amount" is a fair complaint about money that came in. No rule supports a
// fix of one, so such a case always ends with a person.
func find(ctx context.Context, v store.View, r intake.Request, now time.Time) (intake.Found, error) {
	t, err := v.Transaction(ctx, r.SubjectID)
	if err != nil {
		return intake.Found{}, in("transaction_id", err)
	}
	account, err := v.Account(ctx, t.AccountID)
	if err != nil {
		return intake.Found{}, in("transaction_id", err)
	}
	if r.CustomerID != "" && r.CustomerID != account.CustomerID {
		return intake.Found{}, countersign.Errorf(countersign.Unprocessed, "the transaction is not one of customer %q", r.CustomerID).
			In("customer_id").Try("leave customer_id out, or name the customer whose account the transaction is on")
	}
	due, source := rules.Due(t, r.Reason, now)
	return intake.Found{
		Subject:    countersign.Subject{Kind: countersign.TransactionSubject, ID: t.ID},
		CustomerID: account.CustomerID,
		Amount:     t.Amount(),
		DueAt:      due,
		DueSource:  source,
	}, nil
}

// in names the field of a request that a NotFound is about. Other errors are not about the request.
func in(field string, err error) error {
	if countersign.KindOf(err) != countersign.NotFound {
		return err
	}
	return &countersign.Error{Kind: countersign.NotFound, Field: field, Message: err.Error(), Err: err}
}

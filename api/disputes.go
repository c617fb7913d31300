package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"countersign"
	"countersign/pipeline/intake"
	"countersign/store"
)

// newDispute is the body of a dispute.
type newDispute struct {
	_             struct{}                  `additionalProperties:"false"`
	TransactionID string                    `json:"transaction_id" maxLength:"200"`
	Reason        countersign.DisputeReason `json:"reason" enum:"failed_transfer,duplicate_charge,unauthorised,not_received,wrong_amount,other"`
	Notes         string                    `json:"notes,omitempty" maxLength:"20000" doc:"The customer's own words."`
	Channel       string                    `json:"channel,omitempty" maxLength:"200" doc:"How it reached you; api when left out."`
	CustomerID    string                    `json:"customer_id,omitempty" maxLength:"200" doc:"Checked against the owner of the transaction, never believed."`
}

type keyed struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"1 to 200 visible ASCII characters. The same key with the same body opens nothing new."`
}

type openAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     Opened
}

// Opened is the case that a dispute ended in.
type Opened struct {
	ID     countersign.CaseID `json:"id"`
	Status countersign.Status `json:"status"`
}

const disputesRoute = "POST /api/v1/disputes"

// openDispute answers 202 with a new case, and 200 with the first one when the same dispute is open already.
func (a *api) openDispute(ctx context.Context, _ *keyed) (*openAnswer, error) {
	sent, err := read[newDispute](ctx)
	if err != nil {
		return nil, err
	}
	return a.open(ctx, countersign.Bank, disputesRoute, intake.Request{
		SubjectID: sent.TransactionID, CustomerID: sent.CustomerID, Reason: sent.Reason, Notes: sent.Notes, Channel: sent.Channel})
}

// idempotencyKey is nil when the caller sent none. A key counts per token and call; what it stands for is the exact bytes of
// the body.
func idempotencyKey(r request, route string) (*store.Key, error) {
	if len(r.header.Values("Idempotency-Key")) == 0 {
		return nil, nil
	}
	value, err := single(r.header, "Idempotency-Key")
	if err != nil {
		return nil, err
	}
	if value == "" || len(value) > 200 || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, invalid("Idempotency-Key", "expected 1 to 200 visible ASCII characters")
	}
	body := sha256.Sum256(r.body)
	return &store.Key{Principal: r.principal.Actor.String(), Route: route, Value: value, BodyHash: hex.EncodeToString(body[:])}, nil
}

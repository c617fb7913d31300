package api

import (
	"context"
	"net/http"
	"time"

	"countersign"
	"countersign/pipeline/intake"
)

// newChargeback is the body of a chargeback.
type newChargeback struct {
	_           struct{}           `additionalProperties:"false"`
	OrderID     string             `json:"order_id" maxLength:"200" doc:"The shop's id or number of the order."`
	Network     string             `json:"network,omitempty" maxLength:"200" doc:"visa, mastercard, amex, discover, or the provider whose reason codes these are."`
	ReasonCode  string             `json:"reason_code,omitempty" maxLength:"200" doc:"As the network spells it. A code that is not known is no error."`
	Stage       string             `json:"stage,omitempty" enum:"inquiry,chargeback,pre_arbitration,arbitration" doc:"chargeback when left out."`
	Amount      *countersign.Money `json:"amount,omitempty" doc:"What is in dispute; what was paid when left out."`
	DueAt       string             `json:"due_at,omitempty" format:"date-time" doc:"The provider's deadline. Without one the case is on top of the queue: none is ever computed."`
	ProviderRef string             `json:"provider_ref,omitempty" maxLength:"200" doc:"The provider's id of the dispute."`
	Notes       string             `json:"notes,omitempty" maxLength:"20000" doc:"What came with it, in somebody else's words."`
}

const chargebacksRoute = "POST /api/v1/chargebacks"

// openChargeback answers 202 with a new case, and 200 with the first one when the same chargeback is open already, whose deadline then is
// the sooner of the two; what else is said differently is a conflict. Nothing waits for the shop: an order that is not there is found
// out later, and the case with its deadline is kept.
func (a *api) openChargeback(ctx context.Context, _ *keyed) (*openAnswer, error) {
	sent, err := read[newChargeback](ctx)
	if err != nil {
		return nil, err
	}
	request, err := sent.request()
	if err != nil {
		return nil, err
	}
	return a.open(ctx, countersign.Merchant, chargebacksRoute, request)
}

func (n newChargeback) request() (intake.Request, error) {
	due, err := dueAt(n.DueAt)
	if err != nil {
		return intake.Request{}, err
	}
	return intake.Request{SubjectID: n.OrderID, SubjectField: "order_id", Reason: countersign.OtherReason, Notes: n.Notes, Amount: n.Amount,
		DueAt: due, Stage: n.Stage,
		Terms: countersign.Terms{Network: n.Network, ReasonCode: n.ReasonCode, Reference: n.ProviderRef}}, nil
}

// dueAt is nil when none was given. One that cannot be read is an error: a guess would be a deadline that nobody set.
func dueAt(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, invalid("due_at", "expected a time with its zone, such as 2026-12-01T17:00:00Z")
	}
	at = at.UTC()
	return &at, nil
}

// open opens a case on a desk.
func (a *api) open(ctx context.Context, desk countersign.DeskName, route string, r intake.Request) (*openAnswer, error) {
	key, err := idempotencyKey(requestOf(ctx), route)
	if err != nil {
		return nil, err
	}
	if err := a.room(ctx, key); err != nil {
		return nil, err
	}
	r.Key = key
	opened, err := a.Intake.Open(ctx, a.Desks[desk], requestOf(ctx).principal.Actor, r)
	if err != nil {
		return nil, err
	}
	status := http.StatusAccepted
	if !opened.Created {
		status = http.StatusOK
	}
	return &openAnswer{status, "/api/v1/cases/" + string(opened.Case.ID), Opened{opened.Case.ID, opened.Case.Status}}, nil
}

// Package rules is the safety net of the merchant's desk: what a shop's own records prove about one disputed order, and every
// reason why a recommendation of the model's must not stand.
//
// It is pure. The same records give the same facts, byte for byte; nothing a model says reaches it, and the time is an argument.
// A rule that meets something it cannot know says so, and "could not be read" is never "not there". Rules can only tighten: each
// returns facts and doubts, and a doubt can only send a case to a person. Each doubt is a sentence for whoever decides.
//
// The rules, in the order in which a risk officer would read them:
//
//	order.go     the order exists, was paid, and was paid at least what is disputed
//	refund.go    a contest must not meet a refund that covers it, nor an accept the lack of one; a part is a person's to weigh
//	return.go    goods on their way back, without the money back, are a person's to look at
//	delivery.go  nobody contests "never arrived" without a delivery on record
//	deadline.go  what is late is not contested
//	policy.go    a policy of after the order does not bind it
//	typed.go     what a person typed in may stop a recommendation, and carries none
//
// The first three of refund.go and return.go are the published net of the description this desk implements; the others are ours.
package rules

import (
	"time"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Recommendations of the merchant's desk.
const (
	Contest = "CONTEST"
	Accept  = "ACCEPT"
	Review  = "MANUAL_REVIEW_REQUIRED"
)

// Input is everything the rules read.
type Input struct {
	Records  shop.Records
	Reason   countersign.DisputeReason // what the cardholder claims
	Disputed *countersign.Money        // as the network or the merchant said it; nil when nobody did: then what was paid counts
	DueAt    *time.Time
	Now      time.Time
	Policies []Policy                // the versions that would be quoted from
	Library  string                  // why the policy library could not be read; empty when it was
	Typed    []countersign.TypedFact // refunds and returns that a person stated
}

// Policy is one version of a policy document.
type Policy struct {
	ID        string           `json:"id"` // of the version
	Title     string           `json:"title"`
	Version   string           `json:"version"`
	ValidFrom countersign.When `json:"valid_from"` // zero when it counts as always in force
}

// Judge returns every fact, what is at stake, and every doubt.
func Judge(in Input) countersign.Facts {
	facts := countersign.Facts{Seen: Seen(in), Rows: Rows(in.Records), Partial: partial(in.Records), Items: []countersign.Fact{}, Doubts: []countersign.Doubt{}}
	order := in.Records.Order
	if !order.Whole() || len(order.All) != 1 {
		write(&facts, missing(order), typedRules(in.Typed, money{}), deadline(in))
		return facts
	}
	stake := atStake(in)
	facts.AtStake = stake.amount
	money := refunds(in.Records.Refunds, stake.amount)
	write(&facts, found(order.All[0]), paid(in, stake), disputed(in, stake), refundRules(money, stake.amount),
		returnRules(in.Records.Returns, money), typedRules(in.Typed, money), deliveryRules(in), deadline(in), policyRules(in))
	return facts
}

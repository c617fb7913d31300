package rules

import (
	"fmt"
	"slices"

	"countersign"
)

// Weight is what a fact does for an outcome that a person chose.
type Weight string

const (
	Supports Weight = "supports"
	Neutral  Weight = "neutral"
	Hurts    Weight = "hurts"
)

// wanting is the recommendation that each outcome carries out.
var wanting = map[countersign.Outcome]string{countersign.Contested: Contest, countersign.AcceptedOutcome: Accept}

// supporting are the facts that carry an outcome, in the state in which they do. What a person typed in is never among them.
var supporting = map[countersign.Outcome]map[string]countersign.FactState{
	countersign.Contested: {"paid": countersign.Present, "delivered": countersign.Present, "policy_in_force": countersign.Present,
		"refund_returned": countersign.Absent, "return_on_file": countersign.Absent},
	countersign.AcceptedOutcome: {"refund_returned": countersign.Present, "delivered": countersign.Absent},
}

// WeightOf is what a fact does for an outcome: it hurts when a rule found a doubt in it that speaks against that outcome.
func WeightOf(f countersign.Fact, doubts []countersign.Doubt, outcome countersign.Outcome) Weight {
	if slices.ContainsFunc(doubts, func(d countersign.Doubt) bool {
		return d.Fact == f.Name && (d.Wanting == "" || d.Wanting == wanting[outcome])
	}) {
		return Hurts
	}
	if state, ok := supporting[outcome][f.Name]; ok && state == f.State {
		return Supports
	}
	return Neutral
}

// Warnings are what a person must know of an outcome before they choose it. A refund that was made before the claim is accepted is
// money that goes back twice, and a network does not give the second back (Mastercard ended its unjust-enrichment cases; with
// Visa the refund is the defence). It is no reason against accepting, which may be right all the same: a person is told, and also where
// nobody knows what went back. To contest a part is to accept the rest, so the same holds of that. Rest is what is accepted besides
// a contest that was decided, nil while nobody has decided.
func Warnings(facts countersign.Facts, outcome countersign.Outcome, rest *countersign.Money) []string {
	switch outcome {
	case countersign.Contested:
		return contestWarnings(facts, rest)
	case countersign.AcceptedOutcome:
		return acceptWarnings(facts.Fact("refund_returned"), facts.Fact("refund_pending"))
	}
	return nil
}

// acceptWarnings say what went back and what is on its way, each where it is so or not known. Where it is not known what went back, what
// is on its way is not known for the same reason, mostly, and is not said twice.
func acceptWarnings(refund, pending countersign.Fact) (all []string) {
	switch refund.State {
	case countersign.Present:
		all = append(all, fmt.Sprintf("Accepting would pay this twice: %s went back to the customer already. Where the network lets the refund stand as an answer, contest with it as the evidence.", amountOf(refund)))
	case countersign.Unknown:
		all = append(all, fmt.Sprintf("Accepting may pay this twice: it is not known what went back to the customer%s. Look at the shop's refunds first.", onRecord(refund)))
	}
	switch {
	case pending.State == countersign.Present:
		all = append(all, fmt.Sprintf("Accepting may pay this twice: a refund of %s is under way. Stop it first, if it can be stopped.", amountOf(pending)))
	case pending.State == countersign.Unknown && refund.State != countersign.Unknown:
		all = append(all, fmt.Sprintf("Accepting may pay this twice: it is not known whether a refund is under way%s. Look at the shop's refunds first.", onRecord(pending)))
	}
	return all
}

// onRecord is what a fact that is not known has to say all the same.
func onRecord(f countersign.Fact) string {
	if f.Value == "" {
		return ""
	}
	return ", with " + f.Value + " on record"
}

// contestWarnings are for a refund of a part. One that covers the dispute has a doubt of its own.
func contestWarnings(facts countersign.Facts, rest *countersign.Money) []string {
	refund := facts.Fact("refund_returned")
	returned := amountOf(refund)
	switch {
	case refund.State != countersign.Present || !isPart(refund.Amount, facts.AtStake):
		return nil
	case rest == nil:
		return []string{fmt.Sprintf("%s went back already. What is not contested is accepted, and would be paid a second time: contest all of it, and let the refund be a part of the answer.", returned)}
	case rest.Minor <= 0:
		return nil // the refund is a part of the answer
	}
	return []string{fmt.Sprintf("%s is accepted besides the %s that went back already: what was refunded of it is paid a second time.", rest, returned)}
}

// isPart reports whether an amount is less than what is at stake.
func isPart(amount, atStake *countersign.Money) bool {
	return amount != nil && atStake != nil && amount.Currency == atStake.Currency && amount.Minor < atStake.Minor
}

// amountOf is the amount of a fact in a sentence. Facts that were established before they had one give none.
func amountOf(f countersign.Fact) string {
	if f.Amount == nil {
		return "money"
	}
	return f.Amount.String()
}

// Against are the facts that hurt an outcome, by name, in their order: those that a report of it marks so, and whoever decides may leave
// out of it. A doubt against another outcome is none against this one.
func Against(facts countersign.Facts, outcome countersign.Outcome) (names []string) {
	for _, f := range facts.Items {
		if WeightOf(f, facts.Doubts, outcome) == Hurts {
			names = append(names, f.Name)
		}
	}
	return names
}

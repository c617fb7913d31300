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
// Visa the refund is the defence). It is no reason against accepting, which may be right all the same: a person is told. To contest
// a part is to accept the rest, so the same holds of that. Contested is the amount that was decided on, nil while nobody
// has decided.
func Warnings(facts countersign.Facts, outcome countersign.Outcome, contested *countersign.Money) []string {
	if outcome == countersign.Contested {
		return contestWarnings(facts, contested)
	}
	refund, pending := facts.Fact("refund_returned"), facts.Fact("refund_pending")
	switch {
	case outcome != countersign.AcceptedOutcome:
		return nil
	case refund.State == countersign.Present:
		return []string{fmt.Sprintf("Accepting would pay this twice: %s went back to the customer already. Where the network lets the refund stand as an answer, contest with it as the evidence.", amountOf(refund))}
	case pending.State == countersign.Present:
		return []string{fmt.Sprintf("Accepting may pay this twice: a refund of %s is under way. Stop it first, if it can be stopped.", amountOf(pending))}
	}
	return nil
}

// contestWarnings are for a refund of a part. One that covers the dispute has a doubt of its own.
func contestWarnings(facts countersign.Facts, contested *countersign.Money) []string {
	refund := facts.Fact("refund_returned")
	returned := amountOf(refund)
	switch {
	case refund.State != countersign.Present || !isPart(refund.Amount, facts.AtStake):
		return nil
	case contested != nil && facts.AtStake != nil && *contested == *facts.AtStake:
		return nil // the refund is a part of the answer
	case contested != nil && facts.AtStake != nil && contested.Currency == facts.AtStake.Currency:
		rest := countersign.Money{Minor: facts.AtStake.Minor - contested.Minor, Currency: contested.Currency}
		return []string{fmt.Sprintf("%s is accepted besides the %s that went back already: what was refunded of it is paid a second time.", rest, returned)}
	}
	return []string{fmt.Sprintf("%s went back already. What is not contested is accepted, and would be paid a second time: contest all of it, and let the refund be a part of the answer.", returned)}
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

package rules

import (
	"strings"

	"countersign"
)

// Kinds of facts that a person may type in about an order.
const (
	TypedDelivery countersign.TypedKind = "delivery"
	TypedPayment  countersign.TypedKind = "payment"
	TypedRefund   countersign.TypedKind = "refund"
	TypedReturn   countersign.TypedKind = "return"
	TypedOther    countersign.TypedKind = "other"
)

// typedRules let a person's word stop a recommendation, and never carry one: a delivery that somebody remembers is no delivery on
// record, but a refund that somebody remembers is enough not to deny it in front of a card issuer.
func typedRules(typed []countersign.TypedFact, m money) []finding {
	var findings []finding
	if refunds := ofKind(typed, TypedRefund); len(refunds) > 0 {
		findings = append(findings, typedIn("refund_typed_in", refunds).against(Contest, countersign.RefundContradictsContest,
			"A person states a refund (%s). Find its record, or decide with a reason: contesting may deny money that went back.", stated(refunds)))
	}
	if returns := ofKind(typed, TypedReturn); len(returns) > 0 {
		f := typedIn("return_typed_in", returns)
		if m.cover != coverAll {
			f = f.because(countersign.OpenReturn, "A person states a return (%s), and no refund on record covers the dispute: look at it before deciding.", stated(returns))
		}
		findings = append(findings, f)
	}
	return findings
}

func ofKind(typed []countersign.TypedFact, kind countersign.TypedKind) (of []countersign.TypedFact) {
	for _, f := range typed {
		if f.Kind == kind {
			of = append(of, f)
		}
	}
	return of
}

func typedIn(name string, typed []countersign.TypedFact) finding {
	ids := make([]string, len(typed))
	for i, f := range typed {
		ids[i] = f.ID
	}
	return present(name, stated(typed), rows("typed_"+string(typed[0].Kind), ids...)).of(typed[0].Amount)
}

// stated is the first of what was typed in, and how many more there are.
func stated(typed []countersign.TypedFact) string {
	parts := []string{}
	if f := typed[0]; f.Amount != nil {
		parts = append(parts, f.Amount.String())
	}
	if typed[0].On != "" {
		parts = append(parts, typed[0].On)
	}
	parts = append(parts, printable(typed[0].Text))
	words := strings.Join(parts, ", ")
	if len(typed) > 1 {
		words += ", and more"
	}
	return words
}

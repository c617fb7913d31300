// Package merchant is the merchant's desk: a chargeback names an order, and a person contests it or accepts it, with an evidence
// report to show for it.
//
// It knows what a model is told about a chargeback, which of the shop's records and whose policies it is shown, and how the offline
// reviewer works a case. The order is read by code before the model is asked anything, through a function that is handed in: no SQL
// and no connection is known here. What the records establish is judged by package rules, which can only overrule; every case is
// decided by a person, who sees what the model wanted and what the rules made of it.
package merchant

import (
	"context"
	"slices"
	"time"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/intake"
	"countersign/pipeline/policy"
)

// Config is what the desk reads.
type Config struct {
	// Order reads one order of the shop, by its id or its number. What cannot be read is said in the records, never left out.
	Order    func(ctx context.Context, id string) shop.Records
	Policies Policies
	Shop     func(ctx context.Context) string // what the shop is called, empty when nobody has said; nil when nobody can
	Now      func() time.Time
	Version  string // of the program, for the report
}

// New is the merchant's desk.
func New(c Config) desk.Desk {
	return desk.Desk{
		Desk:      intake.Desk{Name: countersign.Merchant, Prefix: "C-", Find: find, Relied: relied},
		Brief:     brief,
		Given:     c.given,
		Tools:     c.tools,
		Facts:     c.facts,
		Documents: c.documents,
		Rules:     []policy.Rule{policy.PersonDecides, recordRules, asksForPerson, quotesVerified},
		Fresh:     c.fresh,
		// A recommendation of manual review is not here, and cannot be approved: the person decides and says why.
		Outcome:    map[string]countersign.Outcome{rules.Contest: countersign.Contested, rules.Accept: countersign.AcceptedOutcome},
		Outcomes:   []countersign.Outcome{countersign.Contested, countersign.AcceptedOutcome},
		Cannot:     cannot,
		MustChoose: true,
		Split:      countersign.Contested,

		Whose:      "the shop's",
		NotesBy:    "whoever sent the chargeback",
		Reports:    true,
		Warn:       rules.Warnings,
		Against:    rules.Against,
		Room:       pack.Room,
		Pack:       c.pack,
		Clauses:    c.clausesOf,
		Typed:      typedKinds,
		Display:    c.display,
		Told:       tell,
		FactGroups: factGroups,
	}
}

// recordRules adds no reason of its own: what package rules doubts arrives with the facts. Its name stands in the policy version
// for the meaning of those rules; change it whenever that changes.
var recordRules = policy.Rule{Name: "shop_records/2", Check: func(policy.Input) []countersign.Reason { return nil }}

var asksForPerson = policy.Rule{Name: "asks_for_person/1", Check: func(in policy.Input) []countersign.Reason {
	if in.Proposal.Failure != "" || in.Proposal.Recommendation != rules.Review {
		return nil
	}
	return []countersign.Reason{{Code: countersign.ModelAskedForPerson, Text: "The model asks for a person."}}
}}

// quotesVerified keeps a recommendation from standing on clauses that are not there. "The policy says" is what an issuer reads.
var quotesVerified = policy.Rule{Name: "quotes_verified/1", Check: func(in policy.Input) []countersign.Reason {
	if in.Proposal.Failure != "" || in.Proposal.Recommendation == rules.Review || slices.ContainsFunc(in.Evidence.Quotes, verified) {
		return nil
	}
	text := "The proposal quotes no policy."
	switch {
	case slices.ContainsFunc(in.Evidence.Quotes, func(q countersign.Quote) bool { return q.Status == countersign.QuoteLeavesOut }):
		text = "What the proposal quotes leaves out a “not” or an exception of the sentence it stands in."
	case len(in.Evidence.Quotes) > 0:
		text = "None of what the proposal quotes stands in the policies that were in force."
	}
	return []countersign.Reason{{Code: countersign.QuoteUnverified, Text: text}}
}}

func verified(q countersign.Quote) bool {
	return q.Status == countersign.QuoteExact || q.Status == countersign.QuoteFolded
}

package pipeline

import (
	"encoding/json"
	"fmt"
	"iter"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/policy"
	"countersign/store"
)

// Replay decides one round of a case again, from nothing but the rows of its record, and returns the verdict: marshalled, it
// is byte for byte what the round's verdict row holds. Rules are the desk's, as the Pipeline was given them; a refusal of the
// executor's is taken from the record, because it depended on what the books held at that moment.
//
// It is an error when the round has no verdict yet, when a payload that is needed was erased, and when this program would
// decide by another policy than the recorded one: its rules have changed since, and their answer would say nothing about the
// old one.
func Replay(rules []policy.Rule, rows iter.Seq2[store.RecordRow, error], round int) (countersign.Verdict, error) {
	r, err := recorded(rows, round)
	if err != nil {
		return countersign.Verdict{}, fmt.Errorf("replay round %d: %w", round, err)
	}
	input := policy.Input{Limits: r.verdict.Limits, Amount: r.verdict.Amount, Facts: r.facts.Facts, Proposal: r.proposal.Proposal, Evidence: r.proposal.Evidence}
	again := decide(rules, input)
	if was := r.verdict.Verdict.PolicyVersion; again.PolicyVersion != was {
		return countersign.Verdict{}, countersign.Errorf(countersign.Unprocessed, "round %d was decided by policy %s, and with its limits this program decides by %s", round, was, again.PolicyVersion).
			Try("replay it with the version of the program that decided it")
	}
	if r.verdict.Fix != "" {
		again = policy.NotApplicable(again, r.verdict.Fix)
	}
	return again, nil
}

// judgement is what a round's record says of its verdict and of everything the verdict depends on.
type judgement struct {
	facts    factsRow
	proposal proposalRow
	verdict  verdictRow
}

// recorded picks a round's three rows out of a case's record.
func recorded(rows iter.Seq2[store.RecordRow, error], round int) (j judgement, err error) {
	found := map[audit.Kind]bool{}
	into := map[audit.Kind]any{audit.Facts: &j.facts, audit.Proposal: &j.proposal, audit.Verdict: &j.verdict}
	for row, err := range rows {
		if err != nil {
			return j, err
		}
		mine, err := read(row, into[row.Kind], round)
		if err != nil {
			return j, fmt.Errorf("read row %d, %s: %w", row.Seq, row.Kind, err)
		}
		found[row.Kind] = found[row.Kind] || mine
	}
	for _, kind := range []audit.Kind{audit.Facts, audit.Proposal, audit.Verdict} {
		if !found[kind] {
			return j, countersign.Errorf(countersign.NotFound, "no %s row of this round is on record, or it was erased", kind)
		}
	}
	return j, nil
}

// read reads a row of that round. Rows of other rounds, of kinds that nobody asked for (a nil into) and erased ones are left
// alone.
func read(row store.RecordRow, into any, round int) (mine bool, err error) {
	if into == nil || row.Payload == nil {
		return false, nil
	}
	var of struct {
		Round int `json:"round"`
	}
	if err := json.Unmarshal(row.Payload.Bytes, &of); err != nil || of.Round != round {
		return false, err
	}
	return true, json.Unmarshal(row.Payload.Bytes, into)
}

// decide is policy.Decide with rules of the desk's that may be broken. One that panics gives a reason: it must cost the case
// its automation and not its end.
func decide(rules []policy.Rule, in policy.Input) countersign.Verdict {
	guarded := make([]policy.Rule, len(rules))
	for i, rule := range rules {
		guarded[i] = policy.Rule{Name: rule.Name, Check: func(in policy.Input) (reasons []countersign.Reason) {
			defer func() {
				if recover() != nil {
					reasons = []countersign.Reason{{Code: countersign.FactsUnreadable, Text: fmt.Sprintf("The rule %s failed, so the records could not be judged.", rule.Name)}}
				}
			}()
			return rule.Check(in)
		}}
	}
	return policy.Decide(guarded, in)
}

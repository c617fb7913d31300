package policy

import (
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// Decide collects every reason, in the order of countersign.ReasonOrder, one entry a code. No reason makes the case
// automatic; that a fix exists is then certain, because a proposal that resolves without one has the reason facts_disagree.
func Decide(rules []Rule, in Input) countersign.Verdict {
	var reasons []countersign.Reason
	for _, rule := range slices.Concat(own, rules) {
		reasons = append(reasons, rule.Check(in)...)
	}
	return verdict(Version(in.Limits, rules), reasons)
}

// NotApplicable adds the executor's refusal to a verdict that would have been automatic.
func NotApplicable(v countersign.Verdict, why string) countersign.Verdict {
	return verdict(v.PolicyVersion, append(slices.Clone(v.Reasons), countersign.Reason{Code: countersign.FixNotApplicable,
		Text: "The fix could not be applied: " + why + "."}))
}

// Stands reports whether the model's recommendation is still one after the checks. What the model never said, said about a
// case it did not see whole, or said with invented evidence is not a recommendation: a person starts from the facts.
func Stands(v countersign.Verdict) bool {
	return !slices.ContainsFunc(v.Reasons, func(r countersign.Reason) bool {
		return r.Code == countersign.ModelFailed || r.Code == countersign.ModelSawPartialCase || r.Code == countersign.EvidenceInvalid
	})
}

func verdict(version string, reasons []countersign.Reason) countersign.Verdict {
	v := countersign.Verdict{Kind: countersign.Automatic, Reasons: merged(reasons), PolicyVersion: version, Caveats: []string{}}
	if len(v.Reasons) > 0 {
		v.Kind = countersign.Review
	}
	return v
}

// merged puts reasons in their fixed order and joins the sentences of one code.
func merged(reasons []countersign.Reason) []countersign.Reason {
	all := []countersign.Reason{}
	for _, code := range countersign.ReasonOrder {
		var texts []string
		for _, r := range reasons {
			if r.Code == code && !slices.Contains(texts, r.Text) {
				texts = append(texts, r.Text)
			}
		}
		if len(texts) > 0 {
			all = append(all, countersign.Reason{Code: code, Text: strings.Join(texts, " ")})
		}
	}
	return all
}

func because(code countersign.ReasonCode, format string, args ...any) []countersign.Reason {
	return []countersign.Reason{{Code: code, Text: fmt.Sprintf(format, args...)}}
}

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// Decide collects every reason, in the order of countersign.ReasonOrder, one entry a code; codes of a desk's own that the
// order does not list come after it. No reason makes the case automatic; that a fix exists is then certain, because a
// proposal that resolves without one has the reason facts_disagree or facts_unknown.
func Decide(rules []Rule, in Input) countersign.Verdict {
	var reasons []countersign.Reason
	for _, rule := range slices.Concat(ours(rules), rules) {
		reasons = append(reasons, rule.Check(in)...)
	}
	v := verdict(Version(in.Limits, rules), reasons)
	if personDecides(rules) {
		v.Caveats = caveats(v.Reasons)
	}
	return v
}

func personDecides(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == PersonDecides.Name })
}

// ours are the policy's own rules that count beside a desk's.
func ours(rules []Rule) []Rule {
	if personDecides(rules) {
		return always
	}
	return own
}

// caveats are what overrules a recommendation: every reason but those that speak against none.
func caveats(reasons []countersign.Reason) []string {
	list := []string{}
	for _, r := range reasons {
		if !slices.Contains(harmless, r.Code) {
			list = append(list, r.Text)
		}
	}
	return list
}

// harmless are the reasons that speak against no recommendation: who made it, and who must look at it.
var harmless = []countersign.ReasonCode{countersign.PersonDecides, countersign.ModelAskedForPerson, countersign.BudgetReached, countersign.OfflineStoodIn}

// NotApplicable adds the executor's refusal to a verdict that would have been automatic.
func NotApplicable(v countersign.Verdict, why string) countersign.Verdict {
	return verdict(v.PolicyVersion, append(slices.Clone(v.Reasons), countersign.Reason{Code: countersign.FixNotApplicable,
		Text: "The fix could not be applied: " + sentence(why)}))
}

// Declined adds to a verdict that those who were asked to post the fix did not: they said no, or a person found out. What they said is
// theirs, and stands beside the fix.
func Declined(v countersign.Verdict) countersign.Verdict {
	return verdictAfter(v, countersign.Reason{Code: countersign.FixDeclined, Text: "The fix was to be posted elsewhere, and was not: nothing was posted."})
}

// Unsettled adds that nobody knows whether a fix was posted where it was to be, and why not.
func Unsettled(v countersign.Verdict, why string) countersign.Verdict {
	return verdictAfter(v, countersign.Reason{Code: countersign.FixOutcomeUnknown, Text: "Whether the fix was posted elsewhere is not known: " + sentence(why)})
}

// Again is a verdict of which it is not known yet what came of carrying it out.
func Again(v countersign.Verdict) countersign.Verdict { return verdictAfter(v) }

// verdictAfter is a verdict with what came of carrying it out, in the place of what came of it the time before.
func verdictAfter(v countersign.Verdict, now ...countersign.Reason) countersign.Verdict {
	reasons := slices.DeleteFunc(slices.Clone(v.Reasons), func(r countersign.Reason) bool {
		return r.Code == countersign.FixDeclined || r.Code == countersign.FixOutcomeUnknown
	})
	after := verdict(v.PolicyVersion, append(reasons, now...))
	after.Caveats = v.Caveats
	return after
}

// Stands reports whether the model's recommendation is still one after the checks. What the model never said, said about a
// case it did not see whole, or said with invented evidence is not a recommendation, nor is one that has caveats: a person starts
// from the facts.
func Stands(v countersign.Verdict) bool {
	return len(v.Caveats) == 0 && !slices.ContainsFunc(v.Reasons, func(r countersign.Reason) bool {
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

// merged puts reasons in their fixed order and joins the sentences of one code. A code it does not know is kept: dropping a
// reason could make a case automatic.
func merged(reasons []countersign.Reason) []countersign.Reason {
	all := []countersign.Reason{}
	for _, r := range reasons {
		i := slices.IndexFunc(all, func(other countersign.Reason) bool { return other.Code == r.Code })
		if i < 0 {
			all = append(all, r)
		} else if !strings.Contains(all[i].Text, r.Text) {
			all[i].Text += " " + r.Text
		}
	}
	slices.SortStableFunc(all, func(a, b countersign.Reason) int {
		return cmp.Or(cmp.Compare(place(a.Code), place(b.Code)), cmp.Compare(a.Code, b.Code))
	})
	return all
}

func place(code countersign.ReasonCode) int {
	if i := slices.Index(countersign.ReasonOrder, code); i >= 0 {
		return i
	}
	return len(countersign.ReasonOrder)
}

// sentence ends what somebody else worded with one full stop.
func sentence(s string) string { return strings.TrimRight(s, ". ") + "." }

func because(code countersign.ReasonCode, format string, args ...any) []countersign.Reason {
	return []countersign.Reason{{Code: code, Text: fmt.Sprintf(format, args...)}}
}

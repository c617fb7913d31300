package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign"
)

// desks are the two kinds there are, by the rules that they add: one may act by itself, at the other a person decides everything.
var desks = map[string][]Rule{
	"a desk that may act":             nil,
	"a desk where a person decides":   {PersonDecides},
	"a person decides, by more rules": {PersonDecides, {"quoted/1", func(in Input) []countersign.Reason { return onlyFor(in, "CONTEST", countersign.QuoteUnverified) }}},
}

func onlyFor(in Input, recommendation string, code countersign.ReasonCode) []countersign.Reason {
	if in.Proposal.Recommendation != recommendation {
		return nil
	}
	return because(code, "So says a rule.")
}

// cases draws an input of either kind of desk: the words of both, and doubts against a category, a recommendation, or everything.
func cases() *rapid.Generator[Input] {
	return rapid.Custom(func(t *rapid.T) Input {
		in := inputs().Draw(t, "input")
		if rapid.Bool().Draw(t, "of an order") {
			in.Proposal.Category = ""
			in.Proposal.Recommendation = rapid.SampledFrom([]string{"CONTEST", "ACCEPT", "MANUAL_REVIEW_REQUIRED"}).Draw(t, "wanted")
		}
		for range rapid.IntRange(0, 2).Draw(t, "more doubts") {
			in.Facts.Doubts = append(in.Facts.Doubts, anyDoubt(t))
		}
		return in
	})
}

func anyDoubt(t *rapid.T) countersign.Doubt {
	d := drawDoubt(t)
	d.Wanting = rapid.SampledFrom([]string{"", "", "CONTEST", "ACCEPT", "resolve"}).Draw(t, "wanting")
	return d
}

// ruleOf draws a rule that gives the same reasons to every input, or to those that want something.
func ruleOf(t *rapid.T) Rule {
	reasons := []countersign.Reason{}
	for range rapid.IntRange(0, 3).Draw(t, "reasons") {
		reasons = append(reasons, anyDoubt(t).Reason)
	}
	wanting := rapid.SampledFrom([]string{"", "CONTEST", "resolve"}).Draw(t, "of those that want")
	return Rule{"another/1", func(in Input) []countersign.Reason {
		if wanting != "" && wanting != in.Proposal.Recommendation {
			return nil
		}
		return reasons
	}}
}

// tightened fails when a later verdict lacks a reason or a sentence of the earlier one, is automatic where that was not, or lets a
// recommendation stand that did not. Excused is the one code that another may take the place of.
func tightened(t *rapid.T, before, after countersign.Verdict, excused func(countersign.ReasonCode) bool) {
	for _, was := range before.Reasons {
		i := slices.IndexFunc(after.Reasons, func(r countersign.Reason) bool { return r.Code == was.Code })
		if (i < 0 || !strings.Contains(after.Reasons[i].Text, was.Text) && !contains(after.Reasons[i].Text, was.Text)) && !excused(was.Code) {
			t.Fatalf("the reason %+v is gone: %+v", was, after.Reasons)
		}
	}
	stays := func(r countersign.Reason) bool { return !excused(r.Code) }
	if slices.ContainsFunc(before.Reasons, stays) && after.Kind == countersign.Automatic {
		t.Fatalf("it became automatic: it was %+v", before)
	}
	if Stands(after) && !Stands(before) {
		t.Fatalf("the recommendation stands now\nbefore %+v\nafter %+v", before, after)
	}
	if len(before.Caveats) > 0 && len(after.Caveats) == 0 {
		t.Fatalf("the caveats %q are gone", before.Caveats)
	}
}

// contains reports whether every sentence of one text is in another.
func contains(text, sentences string) bool {
	for sentence := range strings.SplitSeq(sentences, ". ") {
		if !strings.Contains(text, strings.TrimSuffix(sentence, ".")) {
			return false
		}
	}
	return true
}

func never(countersign.ReasonCode) bool { return false }

func TestAddingARuleNeverLoosensAVerdict(t *testing.T) {
	for name, rules := range desks {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in, rule := cases().Draw(t, "case"), ruleOf(t)
				tightened(t, Decide(rules, in), Decide(append(slices.Clone(rules), rule), in), never)
			})
		})
	}
}

// A doubt takes no reason away, but for one: that the records support no fix is no contradiction any more once it is unknown whether
// they do, and says so.
func TestAddingADoubtNeverLoosensAVerdict(t *testing.T) {
	for name, rules := range desks {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := cases().Draw(t, "case")
				before := Decide(rules, in)
				in.Facts.Doubts = append(slices.Clone(in.Facts.Doubts), anyDoubt(t))
				after := Decide(rules, in)
				tightened(t, before, after, func(code countersign.ReasonCode) bool {
					return code == countersign.FactsDisagree && len(rules) == 0 && hasCode(after, countersign.FactsUnknown)
				})
			})
		})
	}
}

func hasCode(v countersign.Verdict, code countersign.ReasonCode) bool {
	return slices.ContainsFunc(v.Reasons, func(r countersign.Reason) bool { return r.Code == code })
}

// Where a person decides, nothing is ever automatic, every verdict says so, and a recommendation stands exactly when nothing speaks
// against it but that, the model's own asking, and who it was that recommended.
func TestWhereAPersonDecidesNothingIsAutomatic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := cases().Draw(t, "case")
		v := Decide([]Rule{PersonDecides}, in)
		others := slices.DeleteFunc(slices.Clone(v.Reasons), func(r countersign.Reason) bool {
			return slices.Contains([]countersign.ReasonCode{countersign.PersonDecides, countersign.ModelAskedForPerson, countersign.BudgetReached, countersign.OfflineStoodIn}, r.Code)
		})
		if v.Kind != countersign.Review || !hasCode(v, countersign.PersonDecides) || Stands(v) != (len(others) == 0) || len(v.Caveats) != len(others) {
			t.Fatalf("%+v", v)
		}
		for _, limit := range []countersign.ReasonCode{countersign.AboveCap, countersign.ShadowMode, countersign.ConfidenceLow, countersign.TypeNotAllowed} {
			if hasCode(v, limit) && !slices.ContainsFunc(in.Facts.Doubts, func(d countersign.Doubt) bool { return d.Reason.Code == limit }) {
				t.Fatalf("it has the reason %s, which limits only what acts by itself", limit)
			}
		}
	})
}

// What a model says of itself loosens nothing, at either kind of desk.
func TestMoreConfidenceLoosensNothingButItsOwnReason(t *testing.T) {
	for name, rules := range desks {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := cases().Draw(t, "case")
				before := Decide(rules, in)
				in.Proposal.Confidence = 1
				tightened(t, before, Decide(rules, in), func(code countersign.ReasonCode) bool { return code == countersign.ConfidenceLow })
			})
		})
	}
}

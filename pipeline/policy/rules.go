package policy

import (
	"slices"
	"strconv"
	"strings"

	"countersign"
)

// always are the rules of every desk. The names go into the policy version.
var always = []Rule{
	{"model_failed/1", modelFailed},
	{"budget_reached/1", budgetReached},
	{"offline_stood_in/1", offlineStoodIn},
	{"model_saw_partial_case/1", partialCase},
	{"evidence_invalid/1", evidenceInvalid},
	{"evidence_too_little/1", evidenceTooLittle},
	{"facts_unreadable/1", factsUnreadable},
	{"doubts/1", doubts},
}

// own are the rules of a desk that may act by itself.
var own = []Rule{
	{"model_failed/1", modelFailed},
	{"budget_reached/1", budgetReached},
	{"offline_stood_in/1", offlineStoodIn},
	{"model_saw_partial_case/1", partialCase},
	{"evidence_invalid/1", evidenceInvalid},
	{"evidence_too_little/1", evidenceTooLittle},
	{"facts_unreadable/1", factsUnreadable},
	{"facts_disagree/1", factsDisagree},
	{"doubts/1", doubts},
	{"fraud_suspected/1", fraudSuspected},
	{"above_cap/1", aboveCap},
	{"type_not_allowed/1", typeNotAllowed},
	{"confidence_low/1", confidenceLow},
	{"recommendation/1", recommendation},
	{"shadow_mode/1", shadowMode},
}

// spoke reports whether there is an opinion of the model's at all. The hard-coded escalation is not one, and reasons about
// its confidence or evidence would only hide the one that counts.
func (in Input) spoke() bool { return in.Proposal.Failure == "" }

// failures says in words what each failure of a model means.
var failures = map[countersign.Failure]string{
	countersign.NoAnswer:        "it gave no answer",
	countersign.NoDecision:      "it came to no decision in the turns it had",
	countersign.MalformedTwice:  "its decision was malformed, and again after it was told why",
	countersign.CutReply:        "its answer was cut off",
	countersign.Unreachable:     "its server could not be reached",
	countersign.RefusedByServer: "its server refused the request",
	countersign.TimedOut:        "it took too long",
	countersign.BudgetSpent:     "it used up the tokens or tool calls of one investigation",
	countersign.Interrupted:     "the investigation was interrupted again and again",
	countersign.BrokenProgram:   "a part of the program failed",
}

func modelFailed(in Input) []countersign.Reason {
	if in.spoke() || in.Proposal.Failure == countersign.Unfunded {
		return nil
	}
	why, known := failures[in.Proposal.Failure]
	if !known {
		why = string(in.Proposal.Failure)
	}
	return because(countersign.ModelFailed, "The model did not finish: %s.", why)
}

// budgetReached is no failure of a model's: nobody was asked any more.
func budgetReached(in Input) []countersign.Reason {
	if in.Proposal.Budget == "" && in.Proposal.Failure != countersign.Unfunded {
		return nil
	}
	why := in.Proposal.Budget
	if why == "" { // unreachable unless a conversation ends unfunded without saying by what
		why = "a budget for models is spent"
	}
	return because(countersign.BudgetReached, "No further call was made to a model: %s", sentence(why))
}

// offlineStoodIn keeps a failure from ending in an automatic act. Whoever chose the offline reviewer alone has no such reason; whoever
// connected a model did not choose to do without.
func offlineStoodIn(in Input) []countersign.Reason {
	if in.Proposal.StoodIn == "" {
		return nil
	}
	return because(countersign.OfflineStoodIn, "The proposal is not the model's: %s", sentence(in.Proposal.StoodIn))
}

func partialCase(in Input) []countersign.Reason {
	if in.Proposal.Partial == "" {
		return nil
	}
	return because(countersign.ModelSawPartialCase, "The model may not have seen the whole case: %s", sentence(in.Proposal.Partial))
}

func evidenceInvalid(in Input) []countersign.Reason {
	switch {
	case !in.spoke():
		return nil
	case len(in.Evidence.Invalid) > 0:
		return because(countersign.EvidenceInvalid, "The proposal cites something that is not there. %s", strings.Join(in.Evidence.Invalid, " "))
	case slices.ContainsFunc(in.Evidence.Claims, unverified): // unreachable unless verify says one thing and marks another
		return because(countersign.EvidenceInvalid, "A citation of the proposal was not verified.")
	}
	return nil
}

func unverified(claim countersign.Claim) bool {
	return slices.ContainsFunc(claim.Citations, func(c countersign.Citation) bool { return c.Status != countersign.CitationVerified })
}

func evidenceTooLittle(in Input) []countersign.Reason {
	n := len(slices.Compact(slices.Sorted(slices.Values(in.Evidence.Steps))))
	if n >= in.Limits.MinEvidence || !in.spoke() {
		return nil
	}
	return because(countersign.EvidenceTooLittle, "The proposal rests on %d verified piece%s of evidence; %d are needed.", n, plural(n), in.Limits.MinEvidence)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func factsUnreadable(in Input) []countersign.Reason {
	if in.Facts.Unreadable == "" {
		return nil
	}
	return because(countersign.FactsUnreadable, "The records could not be read: %s", sentence(in.Facts.Unreadable))
}

// factsDisagree compares what the model wants with the one fix that the records support by themselves.
func factsDisagree(in Input) []countersign.Reason {
	if in.Facts.Unreadable != "" || !in.spoke() {
		return nil
	}
	fix := in.Facts.Fix
	switch {
	case in.Proposal.Recommendation == Reject && fix != nil:
		return because(countersign.FactsDisagree, "The model would reject, the records support a %s of %s for %s.", fix.Kind, fix.Amount, words(in.Facts.Supports))
	case in.Proposal.Recommendation != Resolve:
		return nil
	case fix == nil && in.unknown():
		return nil // not a contradiction: doubts says what is not known
	case fix == nil:
		return because(countersign.FactsDisagree, "The records do not support a fix for %s.", words(in.Proposal.Category))
	case in.Proposal.Category != in.Facts.Supports:
		return because(countersign.FactsDisagree, "The model says %s, the records support a fix for %s.", words(in.Proposal.Category), words(in.Facts.Supports))
	case fix.Amount.Currency != in.Amount.Currency || fix.Amount.Minor > in.Amount.Minor:
		return because(countersign.FactsDisagree, "The records support a %s of %s, but the dispute is about %s.", fix.Kind, fix.Amount, in.Amount)
	}
	return nil
}

// unknown reports whether a doubt about something unknown speaks against the proposal.
func (in Input) unknown() bool {
	return slices.ContainsFunc(in.Facts.Doubts, func(d countersign.Doubt) bool {
		return d.Reason.Code == countersign.FactsUnknown && in.against(d)
	})
}

// against reports whether a doubt of the desk's speaks against this proposal.
func (in Input) against(d countersign.Doubt) bool {
	if d.Wanting != "" {
		return d.Wanting == in.Proposal.Recommendation
	}
	return d.Against == "" || (d.Against == in.Proposal.Category && in.Proposal.Recommendation == Resolve)
}

// doubts are the reasons that the desk's own rules found in the records.
func doubts(in Input) (reasons []countersign.Reason) {
	for _, d := range in.Facts.Doubts {
		if in.against(d) {
			reasons = append(reasons, d.Reason)
		}
	}
	return reasons
}

func fraudSuspected(in Input) []countersign.Reason {
	if !in.Proposal.FraudSuspected {
		return nil
	}
	return because(countersign.FraudSuspected, "The model suspects fraud.")
}

func aboveCap(in Input) []countersign.Reason {
	limit, set := in.Limits.Caps[in.Amount.Currency]
	switch {
	case !set:
		return because(countersign.NoCapForCurrency, "No cap is set for %s, so %s cannot be automatic.", in.Amount.Currency, in.Amount)
	case in.Amount.Minor >= limit:
		return because(countersign.AboveCap, "%s is not under the cap of %s.", in.Amount, countersign.Money{Minor: limit, Currency: in.Amount.Currency})
	case in.Amount.Minor <= 0: // unreachable unless intake let it in; under every cap, and still nothing to act on
		return because(countersign.FactsUnknown, "The disputed amount is on record as %s.", in.Amount)
	}
	return nil
}

func typeNotAllowed(in Input) []countersign.Reason {
	if !in.spoke() || slices.Contains(in.Limits.AllowedTypes, string(in.Proposal.Category)) {
		return nil
	}
	return because(countersign.TypeNotAllowed, "The model calls this %s, which is not among the kinds that may be handled automatically.", words(in.Proposal.Category))
}

// confidenceLow only ever tightens: what a model says of itself is no evidence for anything. The comparisons are written so
// that NaN, on either side, never passes.
func confidenceLow(in Input) []countersign.Reason {
	stated, least := in.Proposal.Confidence, in.Limits.MinConfidence
	switch {
	case !in.spoke():
		return nil
	case !(stated >= 0 && stated <= 1):
		return because(countersign.ConfidenceLow, "The model states a confidence of %s, which is not between 0 and 1 and counts as none.", decimal(stated))
	case !(stated >= least):
		return because(countersign.ConfidenceLow, "The model states a confidence of %s; %s is needed.", decimal(stated), decimal(least))
	}
	return nil
}

// decimal keeps every digit: 0.899 rounded to 0.90 would look like enough.
func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func recommendation(in Input) []countersign.Reason {
	switch {
	case !in.spoke() || in.Proposal.Recommendation == Resolve:
		return nil
	case in.Proposal.Recommendation == Reject:
		return because(countersign.RejectionNeedsPerson, "A rejection is always confirmed by a person.")
	}
	return because(countersign.ModelAskedForPerson, "The model asks for a person.")
}

func shadowMode(in Input) []countersign.Reason {
	if in.Limits.Mode == Act {
		return nil
	}
	return because(countersign.ShadowMode, "The policy runs in shadow mode: everything is worked out, nothing is automatic.")
}

func words(category countersign.DisputeReason) string {
	if category == "" {
		return "no category"
	}
	return strings.ReplaceAll(string(category), "_", " ")
}

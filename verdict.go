package countersign

// VerdictKind is automatic or review.
type VerdictKind string

const (
	Automatic VerdictKind = "automatic"
	Review    VerdictKind = "review"
)

// Verdict is the policy's answer: every reason a person must look, in a fixed order, or none.
type Verdict struct {
	Kind          VerdictKind `json:"kind"`
	Reasons       []Reason    `json:"reasons"`
	PolicyVersion string      `json:"policy_version"` // a hash of limits and rules
	// Caveats say, in plain words, what overruled the model's recommendation at a desk where a person decides every case. Any of
	// them means that the recommendation does not stand.
	Caveats []string `json:"caveats"`
}

// Reason is why a person must look. Text is a sentence for an analyst and may carry details of the case.
type Reason struct {
	Code ReasonCode `json:"code"`
	Text string     `json:"text"`
}

// ReasonCode is stable: integrations and reports rely on it.
type ReasonCode string

const (
	EvidenceInvalid      ReasonCode = "evidence_invalid"
	EvidenceTooLittle    ReasonCode = "evidence_too_little"
	FraudSuspected       ReasonCode = "fraud_suspected"
	AboveCap             ReasonCode = "above_cap"
	NoCapForCurrency     ReasonCode = "no_cap_for_currency"
	ConfidenceLow        ReasonCode = "confidence_low"
	TypeNotAllowed       ReasonCode = "type_not_allowed"
	RejectionNeedsPerson ReasonCode = "rejection_needs_person"
	ModelAskedForPerson  ReasonCode = "model_asked_for_person"
	ModelFailed          ReasonCode = "model_failed"
	BudgetReached        ReasonCode = "budget_reached"   // a budget for models has no room for another call
	OfflineStoodIn       ReasonCode = "offline_stood_in" // the models that were to be asked gave no answer, and the offline reviewer went on
	ModelSawPartialCase  ReasonCode = "model_saw_partial_case"
	FactsDisagree        ReasonCode = "facts_disagree"
	FactsUnknown         ReasonCode = "facts_unknown"
	FactsUnreadable      ReasonCode = "facts_unreadable"
	FixNotApplicable     ReasonCode = "fix_not_applicable"
	ShadowMode           ReasonCode = "shadow_mode"

	FixDeclined       ReasonCode = "fix_rejected"        // others were asked to post the fix, and said no
	FixOutcomeUnknown ReasonCode = "fix_outcome_unknown" // whether they posted it cannot be found out

	PersonDecides             ReasonCode = "person_decides" // nothing at this desk is automatic; by itself no doubt about anything
	OrderNotFound             ReasonCode = "order_not_found"
	DeadlinePassed            ReasonCode = "deadline_passed"
	RefundContradictsContest  ReasonCode = "refund_contradicts_contest"
	NoRefundContradictsAccept ReasonCode = "no_refund_contradicts_accept"
	PartialRefund             ReasonCode = "partial_refund"
	OpenReturn                ReasonCode = "open_return"
	QuoteUnverified           ReasonCode = "quote_unverified"
	PolicyNewerThanOrder      ReasonCode = "policy_newer_than_order"
	ReopenedByEvent           ReasonCode = "reopened_by_event" // the network turned, after the case was closed
	RefundHasFailed           ReasonCode = "refund_failed"     // one that a closed case had counted
)

// ReasonOrder is the order in which reasons are listed: what stops everything first, what merely tightens last.
var ReasonOrder = []ReasonCode{
	ModelFailed, BudgetReached, OfflineStoodIn, ModelSawPartialCase, EvidenceInvalid, EvidenceTooLittle, QuoteUnverified, FactsUnreadable, OrderNotFound,
	ReopenedByEvent, RefundHasFailed,
	DeadlinePassed, RefundContradictsContest, NoRefundContradictsAccept, PartialRefund, OpenReturn, PolicyNewerThanOrder,
	FactsDisagree, FactsUnknown, FraudSuspected, AboveCap, NoCapForCurrency, TypeNotAllowed, ConfidenceLow, RejectionNeedsPerson, ModelAskedForPerson,
	FixNotApplicable, FixDeclined, FixOutcomeUnknown, ShadowMode, PersonDecides,
}

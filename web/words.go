package web

import (
	"strconv"
	"strings"

	"countersign"
)

// plain is a code as people read it, for codes that need no other words.
func plain[T ~string](code T) string { return strings.ReplaceAll(string(code), "_", " ") }

var complaints = map[countersign.DisputeReason]string{
	countersign.FailedTransfer:  "failed transfer",
	countersign.DuplicateCharge: "charged twice",
	countersign.Unauthorised:    "not made by the customer",
	countersign.NotReceived:     "goods or service not received",
	countersign.WrongAmount:     "wrong amount",
	countersign.OtherReason:     "something else",
}

func complaint(r countersign.DisputeReason) string {
	if words := complaints[r]; words != "" {
		return words
	}
	return plain(r)
}

// matter is what a case is about, in a few words: the order where it is one, the complaint, and the network's code where one carries it.
func matter(c countersign.Case) string {
	words := []string{}
	switch {
	case c.Subject == (countersign.Subject{Kind: countersign.OrderSubject}):
		words = append(words, "order not known")
	case c.Subject.Kind == countersign.OrderSubject:
		words = append(words, "order "+legible(clip(c.Subject.ID)))
	}
	if len(words) == 0 || c.Reason != countersign.OtherReason {
		words = append(words, complaint(c.Reason))
	}
	if code := strings.TrimSpace(c.Terms.Network + " " + c.Terms.ReasonCode); code != "" {
		words = append(words, legible(code))
	}
	if c.Stage != "" && c.Stage != "chargeback" { // an inquiry has taken no money, and who reads a list should see which is which
		words = append(words, legible(strings.ReplaceAll(c.Stage, "_", "-")))
	}
	return strings.Join(words, ", ")
}

// disputed is the amount in dispute, in a sentence.
func disputed(c countersign.Case) string {
	if c.Amount.Currency == "" {
		return "an amount that is not known"
	}
	return c.Amount.String()
}

var statusWords = map[countersign.Status]string{
	countersign.Queued:                 "waiting for a worker",
	countersign.Investigating:          "being investigated",
	countersign.InReview:               "needs a person",
	countersign.AwaitingSecondApproval: "needs a second approval",
	countersign.AwaitingConfirmation:   "waits for the core",
	countersign.Closed:                 "closed",
}

// standing says how a case stands, in a few words.
func standing(c countersign.Case) string {
	switch {
	case c.Status == countersign.Closed && c.HandledBy == countersign.ByPolicy:
		return outcomeWords(c.Outcome) + " by the policy"
	case c.Status == countersign.Closed:
		return outcomeWords(c.Outcome) + " by a person"
	case c.Status == countersign.InReview && c.Raised:
		return "raised to approvers"
	}
	return statusWords[c.Status]
}

// needs is what a case waits for, for a line of the queue.
func needs(c countersign.Case) string {
	switch {
	case c.Status != countersign.InReview || c.Raised:
		return standing(c)
	case c.Fix.State == countersign.FixRefused:
		return "fix did not apply"
	case c.Fix.State == countersign.FixRejected:
		return "fix not posted by the core"
	case c.Fix.State == countersign.FixUnknown:
		return "fix to be found out"
	case c.Recommendation == "resolve" && c.Fix.State == countersign.FixPlanned:
		return string(c.Fix.Fix.Kind) + " to confirm"
	case c.Recommendation == "reject":
		return "rejection to confirm"
	case c.Recommendation == "CONTEST", c.Recommendation == "ACCEPT":
		return strings.ToLower(c.Recommendation) + " to confirm"
	}
	return "a decision"
}

// reasonWords say why a person must look, before the sentence that says it of this case.
var reasonWords = map[countersign.ReasonCode]string{
	countersign.ModelFailed:          "The model gave no usable answer",
	countersign.BudgetReached:        "The budget for models is spent",
	countersign.OfflineStoodIn:       "The offline reviewer went on for the model",
	countersign.ModelSawPartialCase:  "The model may not have seen the whole case",
	countersign.EvidenceInvalid:      "The proposal cites something that is not there",
	countersign.EvidenceTooLittle:    "The proposal rests on too few records",
	countersign.FactsUnreadable:      "The records could not be read",
	countersign.FactsDisagree:        "The records say something else",
	countersign.FactsUnknown:         "The records leave something open",
	countersign.FraudSuspected:       "There are signs of fraud",
	countersign.AboveCap:             "The amount is not under the limit",
	countersign.NoCapForCurrency:     "No limit is set for this currency",
	countersign.TypeNotAllowed:       "This kind of dispute is never automatic",
	countersign.ConfidenceLow:        "The model was not sure enough",
	countersign.RejectionNeedsPerson: "A rejection needs a person",
	countersign.ModelAskedForPerson:  "The model asks for a person",
	countersign.FixNotApplicable:     "The records had changed by the time of the fix",
	countersign.ShadowMode:           "Shadow mode: nothing is automatic",
	countersign.FixDeclined:          "The bank's core did not post the fix",
	countersign.FixOutcomeUnknown:    "Nobody knows whether the fix was posted",

	countersign.PersonDecides:             "A person decides",
	countersign.OrderNotFound:             "The shop has no such order",
	countersign.DeadlinePassed:            "The deadline has passed",
	countersign.RefundContradictsContest:  "A refund speaks against contesting",
	countersign.NoRefundContradictsAccept: "No refund speaks for accepting",
	countersign.PartialRefund:             "A part was refunded",
	countersign.OpenReturn:                "There is a return on file",
	countersign.QuoteUnverified:           "No quoted clause was found",
	countersign.PolicyNewerThanOrder:      "The policy is newer than the order",
	countersign.ReopenedByEvent:           "It was closed, and is open again",
	countersign.RefundHasFailed:           "A refund that was counted on has failed",
}

// reasonShort is the same for a line of the queue.
func reasonShort(code countersign.ReasonCode) string {
	if words := shortReasons[code]; words != "" {
		return words
	}
	return plain(code)
}

var shortReasons = map[countersign.ReasonCode]string{
	countersign.ModelFailed:          "no usable answer",
	countersign.BudgetReached:        "budget for models spent",
	countersign.OfflineStoodIn:       "offline reviewer went on",
	countersign.ModelSawPartialCase:  "partial case seen",
	countersign.EvidenceInvalid:      "evidence not there",
	countersign.EvidenceTooLittle:    "too little evidence",
	countersign.FactsUnreadable:      "records unreadable",
	countersign.FactsDisagree:        "records disagree",
	countersign.FactsUnknown:         "facts unknown",
	countersign.FraudSuspected:       "signs of fraud",
	countersign.AboveCap:             "above the limit",
	countersign.NoCapForCurrency:     "no limit for currency",
	countersign.TypeNotAllowed:       "never automatic",
	countersign.ConfidenceLow:        "not sure enough",
	countersign.RejectionNeedsPerson: "rejection to confirm",
	countersign.ModelAskedForPerson:  "model asks for a person",
	countersign.FixNotApplicable:     "fix did not apply",
	countersign.ShadowMode:           "shadow mode",
	countersign.FixDeclined:          "fix not posted by the core",
	countersign.FixOutcomeUnknown:    "fix outcome unknown",

	countersign.PersonDecides:             "a person decides",
	countersign.OrderNotFound:             "no such order",
	countersign.DeadlinePassed:            "deadline passed",
	countersign.RefundContradictsContest:  "refund on record",
	countersign.NoRefundContradictsAccept: "no refund on record",
	countersign.PartialRefund:             "partly refunded",
	countersign.OpenReturn:                "return on file",
	countersign.QuoteUnverified:           "no clause found",
	countersign.PolicyNewerThanOrder:      "policy newer than order",
	countersign.ReopenedByEvent:           "opened again",
	countersign.RefundHasFailed:           "refund has failed",
}

var failures = map[countersign.Failure]string{
	countersign.NoAnswer:        "it said nothing",
	countersign.NoDecision:      "it used every turn and did not decide",
	countersign.MalformedTwice:  "its decision could not be read, twice",
	countersign.CutReply:        "its answer was cut off",
	countersign.Unreachable:     "its server could not be reached",
	countersign.RefusedByServer: "its server refused the request",
	countersign.TimedOut:        "it took too long",
	countersign.BudgetSpent:     "it used up the tokens or tool calls of one investigation",
	countersign.Unfunded:        "a budget has no room for another call, so none was made",
	countersign.Interrupted:     "the investigation kept being interrupted",
	countersign.BrokenProgram:   "a part of this program failed",
}

// citationWords say what looking a citation up has found. A value that is there does not make its claim true, and nothing here
// says that it does.
var citationWords = map[countersign.CitationStatus]string{
	countersign.CitationVerified:       "value found",
	countersign.CitationUnknownStep:    "no such step",
	countersign.CitationFailedStep:     "that step failed",
	countersign.CitationValueMismatch:  "another value is there",
	countersign.CitationNotYetFinished: "not yet read when it was cited",
}

// quoteWords say why a quote is none, after it was looked up in the policies. What one that was found is called stands in the report too.
var quoteWords = map[string]string{
	countersign.QuoteNotFound:        "does not stand there",
	countersign.QuoteUnknownDocument: "no such policy was in force",
	countersign.QuoteTooShort:        "too short to say anything",
	countersign.QuoteLeavesOut:       "leaves out a “not” or an exception of the sentence it stands in",
}

var roleWords = map[string]string{
	"analyst":  "Analyst: decides cases",
	"approver": "Approver: decides cases, imports records",
	"auditor":  "Auditor: reads everything, changes nothing",
	"admin":    "Admin: everything, and manages people",
}

// outcomes are how a case ended, where the code is not the word for it.
var outcomes = map[countersign.Outcome]string{countersign.Contested: "contested", countersign.AcceptedOutcome: "accepted"}

func outcomeWords(o countersign.Outcome) string {
	if words := outcomes[o]; words != "" {
		return words
	}
	return plain(o)
}

// amount is money for a page: the currency small beside figures that line up.
type amount struct{ Currency, Figures string }

func money(m countersign.Money) amount {
	if m.Currency == "" {
		return amount{"", "amount not known"}
	}
	text := m.String()
	if currency, figures, ok := strings.Cut(text, " "); ok && currency == m.Currency {
		return amount{currency, figures}
	}
	return amount{"", text}
}

// count is a number with thousands apart.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(int64(n)) + " " + more
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// cutLast is "resolved-refund" as its two words; a word alone is the first.
func cutLast(s string) (first, last string, found bool) {
	if i := strings.LastIndexByte(s, '-'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

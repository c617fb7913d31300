package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
)

const tableHead, tableLine = "%-7s %-16s %14s %-20s %s", "%-6s%s %-16s %14s %-20s %s"

func (d *show) header() {
	d.print(tableHead, "case", "what they say", "amount", "how it stands", "why a person must look")
}

const shopHead, shopLine = "%-7s %-7s %-17s %14s %-22s %s", "%-6s%s %-7s %-17s %14s %-22s %s"

func (d *show) shopHeader() {
	d.print(shopHead, "case", "order", "claim", "amount", "how it stands", "what overruled the recommendation")
}

// shopCase prints a chargeback on one line. That a person decides is said once, above the table.
func (d *show) shopCase(c countersign.Case, script string) {
	how := ending(c)
	d.endings[standing{c.Status == countersign.Closed, how}]++
	var why []string
	for _, r := range c.Verdict.Reasons {
		d.reasons[r.Code]++
		if r.Code != countersign.PersonDecides {
			why = append(why, words(r.Code))
		}
	}
	mark := " "
	if script != "" {
		mark = "*"
	}
	d.print(shopLine, c.ID, mark, c.Subject.ID, strings.TrimSpace(c.Terms.Network+" "+c.Terms.ReasonCode), inDispute(c), how, strings.Join(why, ", "))
}

func (d *show) print(format string, args ...any) {
	fmt.Fprintln(d.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// line prints a case on one line.
func (d *show) line(c countersign.Case, script string) {
	how := ending(c)
	d.endings[standing{c.Status == countersign.Closed, how}]++
	var why []string
	if c.Verdict != nil {
		for _, r := range c.Verdict.Reasons {
			why = append(why, words(r.Code))
			d.reasons[r.Code]++
		}
	}
	mark := " "
	if script != "" {
		mark = "*"
	}
	d.print(tableLine, c.ID, mark, words(c.Reason), c.Amount, how, strings.Join(why, ", "))
}

// words is a code as people read it.
func words[T ~string](code T) string { return strings.ReplaceAll(string(code), "_", " ") }

// standing is how a case stands, and whether that is its end.
type standing struct {
	closed bool
	how    string
}

// ending says in a few words how a case stands.
func ending(c countersign.Case) string {
	switch {
	case c.Status == countersign.Closed && c.HandledBy == countersign.ByPolicy:
		return fmt.Sprintf("%s by policy", c.Fix.Fix.Kind)
	case c.Status == countersign.Closed && c.Fix.State == countersign.FixPosted:
		return fmt.Sprintf("%s by person", c.Fix.Fix.Kind)
	case c.Status == countersign.Closed:
		return fmt.Sprintf("%s by person", c.Outcome)
	case c.Status != countersign.InReview:
		return words(c.Status)
	case c.Fix.State == countersign.FixRefused:
		return "fix did not apply"
	case c.Raised:
		return "an approver decides"
	case c.Recommendation == "CONTEST", c.Recommendation == "ACCEPT":
		return strings.ToLower(c.Recommendation) + " to confirm"
	case c.Recommendation == "reject":
		return "rejection to confirm"
	case c.Recommendation == "resolve" && c.Fix.State == countersign.FixPlanned:
		return "fix to confirm"
	}
	return "a person decides"
}

// meanings says of each reason, in words for somebody who sees it for the first time, why it asks for a person.
var meanings = map[countersign.ReasonCode]string{
	countersign.ModelFailed:          "the model gave no usable answer",
	countersign.BudgetReached:        "the budget for models is spent",
	countersign.OfflineStoodIn:       "the model did not answer, and fixed rules went on in its place",
	countersign.ModelSawPartialCase:  "the model may not have seen the whole case",
	countersign.EvidenceInvalid:      "the proposal cites something that is not there",
	countersign.EvidenceTooLittle:    "the proposal rests on too few records",
	countersign.FactsUnreadable:      "the records could not be read",
	countersign.FactsDisagree:        "the records say something else than the proposal",
	countersign.FactsUnknown:         "the records leave open what a fix would have to know",
	countersign.FraudSuspected:       "there are signs of fraud",
	countersign.AboveCap:             "the amount is not under the limit for automatic fixes",
	countersign.FixDeclined:          "the bank's core did not post the fix",
	countersign.FixOutcomeUnknown:    "nobody knows whether the bank's core posted the fix",
	countersign.NoCapForCurrency:     "no limit is set for that currency",
	countersign.TypeNotAllowed:       "only failed transfers and double charges may be automatic",
	countersign.ConfidenceLow:        "the model was less sure than the policy asks for",
	countersign.RejectionNeedsPerson: "no customer is turned down without a person",
	countersign.ModelAskedForPerson:  "the model itself would leave it to a person",
	countersign.FixNotApplicable:     "the records had changed by the time of the fix",
	countersign.ShadowMode:           "the policy was told to propose only",

	countersign.PersonDecides:             "no chargeback is answered without a person",
	countersign.OrderNotFound:             "the shop's records have no such order",
	countersign.DeadlinePassed:            "the time to answer is over",
	countersign.RefundContradictsContest:  "the model would contest what was refunded already",
	countersign.NoRefundContradictsAccept: "the model would accept, and no refund is on record",
	countersign.PartialRefund:             "a part was refunded already",
	countersign.OpenReturn:                "the customer has a return on file",
	countersign.QuoteUnverified:           "the clauses it rests on are not in the policies",
	countersign.PolicyNewerThanOrder:      "the order was placed before the policies came into force",
	countersign.ReopenedByEvent:           "it was closed, and its network has turned since",
	countersign.RefundHasFailed:           "a refund that the decision had counted on has failed",
}

// summary counts endings and reasons, and verifies the whole record.
func (d *show) summary(s *session) error {
	report, err := d.app.Store.VerifyRecord(s, nil)
	if err != nil {
		return err
	}
	d.print("\n* worked by a script that plays a failing model; every other line is the offline reviewer's\n")
	d.standings("closed", true)
	d.standings("waiting for a person", false)
	d.print("\nWhy a person must look; a case may have several reasons:")
	for _, code := range slices.SortedFunc(maps.Keys(d.reasons), byCount(d.reasons)) {
		d.print("  %3d  %-28s %s", d.reasons[code], words(code), meanings[code])
	}
	d.print("\nThe record: %s", strings.TrimSpace(report.String()))
	return nil
}

func (d *show) standings(title string, closed bool) {
	counts, sum := map[string]int{}, 0
	for s, n := range d.endings {
		if s.closed == closed {
			counts[s.how], sum = n, sum+n
		}
	}
	var parts []string
	for _, how := range slices.SortedFunc(maps.Keys(counts), byCount(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[how], how))
	}
	d.print("%s", wrapped(fmt.Sprintf("%d %s: %s", sum, title, strings.Join(parts, ", "))))
}

// wrapped breaks a list that is longer than a terminal is wide, once.
func wrapped(list string) string {
	const widest = 120
	if len(list) <= widest {
		return list
	}
	at := strings.LastIndex(list[:widest], ", ") + 1
	return list[:at] + "\n  " + strings.TrimSpace(list[at:])
}

// byCount orders what was counted by how often, and then by name.
func byCount[K cmp.Ordered](counts map[K]int) func(a, b K) int {
	return func(a, b K) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }
}

package web_test

import (
	"testing"
	"time"

	"countersign/auth"
	"countersign/desk/bank/records"
	chromium "countersign/internal/browser"
)

var noScript = chromium.Options{NoScript: true}

func TestACaseIsWatchedAndApprovedWithoutScript(t *testing.T) {
	t.Parallel()
	reviewer := make(leash)
	o := newOffice(t, reviewer.models)
	c := o.dispute("T-1")
	s := o.sits(auth.Analyst, noScript)
	s.comesIn()
	s.ClickText("All open 1")
	s.ClickText(string(c.ID))
	s.See("its steps appear below as they happen")

	// The page is loaded again by itself, as long as there is nothing to decide.
	for _, step := range []string{"S2 Read the ledger: 1 entry", "S4 Read device and place"} {
		s.Gone(step)
		reviewer.answers(t)
		s.See(step)
	}
	for range 3 {
		reviewer.answers(t)
	}
	s.See("Post reversal of NGN 24,500.00")
	s.Gone("This case has changed")

	// Citations and facts lead to their rows by the address alone.
	s.ClickText("S3 status = failed")
	s.points("S3/status")
	s.ClickText("failed, final")
	s.points("row-settlements-T-1")

	s.ClickText("Post reversal of NGN 24,500.00")
	s.See("suspense:NGN reversal NGN 24,500.00 new")
	s.ClickText("Post reversal of NGN 24,500.00 to account ****6789")
	s.At("/cases/" + string(c.ID))
	s.See("The reversal of NGN 24,500.00 was posted, and the case is closed.")
	s.See("✓ intact")
	s.goes()
}

func TestEveryOtherDecisionIsMadeWithoutScript(t *testing.T) {
	t.Parallel()
	o := newOffice(t, silentAtFirst)
	failed := o.inReview("T-1")
	o.later(time.Hour)
	other := o.inReview("T-2", func(s *records.Set) { s.Customers[0].Name = "Emeka Eze" })
	s := o.sits(auth.Analyst, noScript)
	s.comesIn()

	// The queue is searched and narrowed by buttons.
	s.Type("#find", "Emeka Eze")
	s.Press("Enter")
	s.At("/queue?q=*")
	s.See(string(other.ID))
	s.Gone(string(failed.ID))
	s.Choose("select[name=why]", "no usable answer · 1")
	s.ClickText("Filter")
	s.See(string(other.ID))
	s.ClickText("Clear")
	s.ClickText("Take the next case")
	s.At("/cases/" + string(failed.ID))
	s.See("You have this case: others see it.")

	// The model said nothing: another investigation.
	s.ClickText("Investigate again")
	s.ClickText("Investigate again")
	s.See("Post reversal of NGN 24,500.00")
	s.See("Investigation 2 began")

	s.ClickText("Edit the message m")
	s.Type("#text", "Dear Adaeze, we look at it.")
	s.ClickText("Keep this draft")
	s.See("as edited by a person Dear Adaeze, we look at it.")
	s.ClickText("Decide otherwise")
	s.ClickText("Close as rejected")
	s.Type("#reason", "the customer took the money in cash")
	s.ClickText("Carry out what is chosen")
	s.See("The case is closed as rejected. No money moved.")

	s.opens("/cases/" + string(other.ID))
	s.ClickText("Escalate e")
	s.Type("#reason", "I know this customer")
	s.Type("#reference", "FRD-17")
	s.ClickText("Escalate")
	s.See("The case is closed as escalated. No money moved.")

	s.ClickText("Keys")
	s.At("/keys")
	s.See("next and previous claim")
	s.goes()
}

func TestRecordsAreVerifiedWithoutScript(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := o.inReview("T-1")
	s := o.sits(auth.Auditor, noScript)
	s.comesIn()
	s.opens("/cases/" + string(c.ID) + "/record")
	s.See("✓ Intact")
	s.ClickText("Record")
	s.ClickText("Verify all records")
	s.At("/record/verify/*")
	s.See("✓ Intact")
	s.See("1 case, 16 rows")
	s.goes()
}

package web_test

import (
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/bank/records"
	chromium "countersign/internal/browser"
)

func TestACaseIsWatchedAndApprovedWithTheMouse(t *testing.T) {
	t.Parallel()
	reviewer := make(leash)
	o := newOffice(t, reviewer.models)
	c := o.dispute("T-1")
	s := o.sits(auth.Analyst, chromium.Options{})
	s.comesIn()
	s.See("Signed in")
	s.See("Nothing waits for a person")

	// She opens the case while it is being investigated.
	s.ClickText("All open 1")
	s.See("being investigated")
	s.ClickText(string(c.ID))
	s.See("its steps appear below as they happen")
	s.See("Investigation began, with the offline reviewer (no AI)")
	s.stays()
	for _, steps := range [][]string{
		{"S1 Read the transaction: NGN 24,500.00, posted", "S2 Read the ledger: 1 entry, nothing given back"},
		{"S3 Read the settlement: failed, final", "S4 Read device and place: trusted device, at home"},
		{"S5 Read the customer's profile: not flagged", "S6 Read the customer's earlier cases: 0 open, 0 closed"},
		{"S7 Read the merchant: none is named", "S8 Read related transactions: 0 possible copies, 0 other debits around it"},
	} {
		for _, step := range steps {
			s.Gone(step)
		}
		reviewer.answers(t)
		for _, step := range steps {
			s.See(step)
		}
	}
	s.Gone("Post reversal")
	reviewer.answers(t)

	// It turns into the page of a decision by itself.
	s.See("Post reversal of NGN 24,500.00")
	s.stayed()
	s.See("Shadow mode: nothing is automatic")

	// What the proposal rests on is one press away, and so is what a fact was read from.
	s.ClickText("S3 status = failed")
	s.points("S3/status")
	s.ClickText("S2 given_back_minor = 0")
	s.points("S2/given_back_minor")
	s.ClickText("failed, final")
	s.points("row-settlements-T-1")
	s.stayed()

	// She approves what she has seen.
	s.ClickText("Post reversal of NGN 24,500.00")
	s.At("/cases/*/approve")
	s.See("account ****6789 reversal NGN 24,500.00 new")
	s.See("suspense:NGN reversal NGN 24,500.00 new")
	s.See("After that nothing is taken from the customer for T-1.")
	s.ClickText("Post reversal of NGN 24,500.00 to account ****6789")
	s.At("/cases/" + string(c.ID))
	s.See("The reversal of NGN 24,500.00 was posted, and the case is closed.")
	s.See("resolved by a person")
	s.See("frozen draft, nothing was sent")
	s.See("Hello Adaeze")
	s.See("✓ intact")
	s.See(o.people[auth.Analyst].Name + " approved the recommendation")
	s.Gone("Decide otherwise")
	s.goes()
}

func TestEveryOtherDecisionIsMadeWithTheMouse(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	timedOut := func(s *records.Set) { s.Settlements[0].Status, s.Settlements[0].Final = records.TimedOut, false }
	back, none, up := o.inReview("T-back", timedOut), o.inReview("T-none"), o.inReview("T-up")
	s := o.sits(auth.Analyst, chromium.Options{})
	s.comesIn()

	// The rail does not say that the transfer failed. She gives the money back all the same, and says why.
	s.ClickText(string(back.ID))
	s.See("By themselves the records support no fix.")
	s.ClickText("Decide otherwise")
	s.See("Close as rejected")
	s.ClickText("Post a refund of NGN 24,500.00 to account ****6789")
	s.See("After that nothing is taken from the customer for T-back.")
	s.Type("#reason", "the payee's bank confirms by telephone that nothing came")
	s.ClickText("Carry out what is chosen")
	s.At("/cases/" + string(back.ID))
	s.See("The refund of NGN 24,500.00 was posted, and the case is closed.")
	s.See(s.person.Name + " decided otherwise: resolved with a refund")
	s.See("the payee's bank confirms by telephone that nothing came")

	// Another was put right elsewhere: nothing moves.
	s.ClickText("Queue")
	s.ClickText(string(none.ID))
	s.ClickText("Decide otherwise")
	s.ClickText("Close as resolved without moving money")
	s.Type("#reason", "paid back over the counter")
	s.ClickText("Carry out what is chosen")
	s.See("The case is closed as resolved. No money moved.")

	// A third is not hers to decide. First she mends what the customer would read.
	s.ClickText("Queue")
	s.ClickText(string(up.ID))
	s.ClickText("Edit the message m")
	s.Type("#text", "Dear Adaeze, a colleague looks at your transfer.")
	s.ClickText("Keep this draft")
	s.At("/cases/" + string(up.ID))
	s.See("The draft was kept. Nothing was sent.")
	s.See("as edited by a person Dear Adaeze, a colleague looks at your transfer.")
	s.ClickText("Escalate e")
	s.Type("#reason", "the payee is my landlord")
	s.ClickText("Escalate")
	s.At("/cases/" + string(up.ID))
	s.See("The case was raised to the approvers. It stays open.")
	s.See(`Raised to approvers by ` + s.person.Name)
	s.See("the payee is my landlord")
	s.ClickText("Queue")
	s.ClickText("Raised to approvers 1")
	s.See(string(up.ID))
	s.Gone(string(none.ID))
	s.goes()
	for id, want := range map[countersign.CaseID]countersign.Outcome{back.ID: countersign.Resolved, none.ID: countersign.Resolved, up.ID: ""} {
		if c := o.latest(id); c.Outcome != want {
			t.Errorf("case %s ended as %q, want %q", id, c.Outcome, want)
		}
	}
}

func TestAFailedInvestigationIsTriedAgainWithTheMouse(t *testing.T) {
	t.Parallel()
	o := newOffice(t, silentAtFirst)
	c := o.inReview("T-1")
	s := o.sits(auth.Analyst, chromium.Options{})
	s.comesIn()
	s.See("no usable answer")
	s.ClickText(string(c.ID))
	s.See("The model gave no usable answer")
	s.See("The model made no proposal: it said nothing.")
	s.ClickText("Investigate again")
	s.See("What this one found stays in the record.")
	s.ClickText("Investigate again")
	s.At("/cases/" + string(c.ID))
	s.See("A new investigation begins.")
	s.See("Post reversal of NGN 24,500.00")
	s.See("Investigation 2 began, with the offline reviewer (no AI)")
	s.See(s.person.Name + " asked for another investigation")
	s.goes()
}

func TestRecordsAreVerifiedAndTakenAwayWithTheMouse(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := o.inReview("T-1")
	s := o.sits(auth.Auditor, chromium.Options{})
	s.comesIn()
	s.ClickText(string(c.ID))
	s.See("Your role reads cases and does not decide them.")
	s.ClickText("Read and verify it row by row")
	s.At("/cases/*/record")
	s.See("✓ Intact")
	s.See("16 rows were recomputed")
	s.ClickText("6 S3 Read the settlement: failed, final")
	s.See("Commitment to the payload")
	s.See(`"status": "failed"`)
	s.ClickText("Verify again")
	s.See("✓ Intact")
	if report := s.export("a[href$='/record/export']"); !report.OK || report.Cases != 1 || report.Rows != 16 {
		t.Errorf("the export of the case: %+v", report)
	}

	s.ClickText("Record")
	s.ClickText("Verify all records")
	s.At("/record/verify/*")
	s.See("✓ Intact")
	s.See("1 case, 16 rows: every hash was recomputed and matches")
	s.ClickText("Back")
	s.At("/record")
	if report := s.export("a[href='/record/export']"); !report.OK || report.Cases != 1 {
		t.Errorf("the export of everything: %+v", report)
	}
	s.goes()
}

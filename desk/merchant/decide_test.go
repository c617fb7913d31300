package merchant_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk/merchant"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/intake"
	"countersign/store"
)

// TestNobodyDecidesOnRecordsTheyHaveNotSeen: the shop refunds between the investigation and the decision. An approval is refused, and so
// is an override, until the person has seen what the records say now; the report is then made of that, and says so.
func TestNobodyDecidesOnRecordsTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	s.alter = func(r *shop.Records) {
		r.Refunds.All = []shop.Refund{{ID: "R-9", Amount: shop.Amount{Money: &countersign.Money{Minor: 120_00, Currency: "USD"}}, State: shop.Returned, Status: "succeeded"}}
	}
	for _, line := range []string{"approve", "override contest: The parcel was delivered.", "override accept: Never mind."} {
		if err := s.decide(line); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "refund_returned was absent and is present USD 120.00, which covers the dispute") {
			t.Errorf("%s answers %v", line, err)
		}
	}
	if s.theCase().Status != countersign.InReview {
		t.Fatal("the case was decided")
	}
	s.must(s.decide("looks at the records"))
	s.must(s.decide("override contest: The refund is the answer."))
	c := s.content()
	if !slices.ContainsFunc(c.Net.Caveats, func(text string) bool {
		return strings.Contains(text, "records changed between the check and the decision")
	}) {
		t.Errorf("the report says nothing of the change: %q", c.Net.Caveats)
	}
	for _, e := range c.Exhibits {
		if e.Step != "" {
			t.Errorf("exhibit %s is said to be what the model was shown in %s", e.ID, e.Step)
		}
	}
	if !s.recordSays("refund_returned was absent") {
		t.Error("the record does not say what the person saw")
	}
	s.holds()
}

// TestWhatCannotBeComparedIsNotSaidToHaveChanged: the shop's database did not answer at the decision, or at the check, or the case was
// judged before its rows had a hash of their own. The report says that, and that nobody can tell.
func TestWhatCannotBeComparedIsNotSaidToHaveChanged(t *testing.T) {
	t.Parallel()
	down := func(r *shop.Records) { r.Refunds = shop.Rows[shop.Refund]{Unread: "it did not answer in time."} }
	for name, row := range map[string]struct {
		check, decision func(*shop.Records)
		old             bool
		want            string
	}{
		"the shop is down at the decision":           {nil, down, false, "could be read again for the decision"},
		"it was down at the check":                   {down, nil, false, "could be read for the check"},
		"it was down both times":                     {down, down, false, ""},
		"a case that was judged before rows had one": {nil, func(r *shop.Records) { r.Order.All[0].Status = "archived" }, true, "they cannot be compared"},
		"and nothing of it is another":               {nil, nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.policy(returnsPolicy(t))
			s.alter = row.check
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
			if row.old {
				s.must(s.store.Write(s.Context(), func(ctx context.Context, tx *store.Tx) error {
					c, err := tx.LockCase(ctx, s.id)
					if err != nil {
						return err
					}
					c.Facts.Rows = ""
					return tx.Save(ctx, &c)
				}))
			}
			s.alter = row.decision
			s.must(s.decide("looks at the records"))
			s.must(s.decide("override contest: It was delivered."))
			c := s.content()
			said := strings.Join(c.Net.Caveats, " ")
			if strings.Contains(said, "records changed between the check and the decision.") || !strings.Contains(said, row.want) || row.want == "" && strings.Contains(said, "cannot be told.") {
				t.Errorf("the report says %q", said)
			}
			if told := c.Exhibits[0].Step == "S1"; told != (row.want == "") {
				t.Errorf("the order is shown as of step %q", c.Exhibits[0].Step)
			}
		})
	}
}

// TestALibraryThatCannotBeReadIsSaid: it is not the records that changed, and nobody can decide until it can be read again.
func TestALibraryThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"for a moment": 1, "for good": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, "nothing-arrived-and-it-did")
			before, failing := s.theCase(), times
			policies := s.library.Policies()
			inForce := policies.InForce
			policies.InForce = func(ctx context.Context, v store.View, placed countersign.When) ([]merchant.Version, error) {
				if failing > 0 {
					failing--
					return nil, errors.New("the disk said no")
				}
				return inForce(ctx, v, placed)
			}
			s.review.Desks[countersign.Merchant] = reviewed(merchant.New(merchant.Config{Order: s.order, Policies: policies, Now: s.store.Now, Version: "test"}))
			err := s.decide("approve")
			if countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), "policy library") || strings.Contains(err.Error(), "changed") {
				t.Errorf("the person is told %v", err)
			}
			if c := s.theCase(); c.Revision != before.Revision || c.Status != before.Status {
				t.Errorf("the case is %s at revision %d", c.Status, c.Revision)
			}
			failing = 0
			s.must(s.decide("approve"))
			s.holds()
		})
	}
}

// TestARevisionThatIsGuessedIsRefused: a decision on the revision that another's act is just making is on records that nobody read for it.
func TestARevisionThatIsGuessedIsRefused(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	ahead := s.act()
	ahead.Revision++
	holding, release, done := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		done <- s.store.Write(s.Context(), func(ctx context.Context, tx *store.Tx) error {
			c, err := tx.LockCase(ctx, s.id)
			close(holding)
			<-release
			if err != nil {
				return err
			}
			c.Message = "a draft"
			return tx.Save(ctx, &c)
		})
	}()
	<-holding
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second) // it has nothing to wait for
	defer cancel()
	_, err := s.review.Override(ctx, ahead, countersign.Contested, "It was delivered.", "")
	close(release)
	s.must(<-done)
	if countersign.KindOf(err) != countersign.Conflict || s.theCase().Status != countersign.InReview {
		t.Errorf("it answers %v, and the case is %s", err, s.theCase().Status)
	}
}

// TestAcceptingWhatWasRefundedIsSaidToPayTwice: it may be right all the same, so it is said, and the record keeps that it was.
func TestAcceptingWhatWasRefundedIsSaidToPayTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.policy(returnsPolicy(t))
	s.alter = func(r *shop.Records) {
		r.Refunds.All = []shop.Refund{{ID: "R-1", Amount: shop.Amount{Money: &countersign.Money{Minor: 120_00, Currency: "USD"}}, State: shop.Returned, Status: "succeeded"}}
	}
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.6"}})
	c := s.theCase()
	if c.Recommendation != "ACCEPT" || len(s.desk.Warn(*c.Facts, countersign.AcceptedOutcome, nil)) != 1 || len(s.desk.Warn(*c.Facts, countersign.Contested, nil)) != 0 {
		t.Fatalf("%s, %q", c.Recommendation, s.desk.Warn(*c.Facts, countersign.AcceptedOutcome, nil))
	}
	s.must(s.decide("approve"))
	if !s.recordSays("Accepting would pay this twice: USD 120.00 went back") {
		t.Error("the record does not say that it was said")
	}
}

// TestContestingWhatWasNotRefundedIsSaidToPayTheRestTwice: nobody is led to name what is left as the part, and who does so all the same
// is told what it costs; the record keeps that they were.
func TestContestingWhatWasNotRefundedIsSaidToPayTheRestTwice(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "partial-refunds-are-not-a-full-one")
	advice := s.desk.Warn(*s.theCase().Facts, countersign.Contested, nil)
	if len(advice) != 1 || !strings.Contains(advice[0], "USD 50.00 went back already. What is not contested is accepted, and would be paid a second time: contest all of it") {
		t.Errorf("who contests is told %q", advice)
	}
	s.must(s.decide("override contest USD 70.00: The rest was delivered."))
	if !s.recordSays("USD 50.00 is accepted besides the USD 50.00 that went back already: what was refunded of it is paid a second time.") {
		t.Error("the record does not say that it was said")
	}
}

// TestAPaymentThatChangedMakesNoRest: a chargeback that names no amount is about what was paid when it was judged. Whoever contests all of
// it accepts nothing, whatever the payments say now, and the report says which of the two amounts is which.
func TestAPaymentThatChangedMakesNoRest(t *testing.T) {
	t.Parallel()
	for _, paid := range []countersign.Money{{Minor: 100_00, Currency: "USD"}, {Minor: 150_00, Currency: "USD"}} {
		s := newScene(t)
		s.policy(returnsPolicy(t))
		back := []shop.Refund{{ID: "R-9", Amount: shop.Amount{Money: &countersign.Money{Minor: 50_00, Currency: "USD"}}, State: shop.Returned, Status: "succeeded"}}
		s.alter = func(r *shop.Records) { r.Refunds.All = back }
		s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
		s.alter = func(r *shop.Records) { r.Refunds.All, r.Payments.All[0].Amount.Money = back, &paid }
		s.must(s.decide("looks at the records"))
		s.must(s.decide("override contest: It was delivered."))
		if s.recordSays("is accepted besides") {
			t.Errorf("paid is %s now: the record says that a part was accepted", paid)
		}
		c := s.content()
		i := slices.IndexFunc(c.Facts, func(f report.Fact) bool { return f.Name == "disputed" })
		if want := paid.String() + " by the records now; this decision is about USD 120.00"; c.Dispute.Amount.Text != "USD 120.00" || c.Decision.Contested.Text != "USD 120.00" || c.Facts[i].Value != want {
			t.Errorf("in dispute %s, contested %s, %+v", c.Dispute.Amount.Text, c.Decision.Contested.Text, c.Facts[i])
		}
	}
}

// TestAPartThatIsTheWholeIsTheWhole: nobody accepts USD 0.00.
func TestAPartThatIsTheWholeIsTheWhole(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "partial-refunds-are-not-a-full-one")
	s.must(s.decide("override contest USD 120.00: All of it was delivered."))
	if c := s.theCase(); c.Contested != nil {
		t.Errorf("%s is contested as a part", c.Contested)
	}
	if d := s.content().Decision; d.Contested.Text != "USD 120.00" || d.Accepted.Text != "USD 0.00" {
		t.Errorf("%+v", d)
	}
	if s.recordSays(`"part"`) || s.recordSays("is accepted besides") {
		t.Error("the record speaks of a part")
	}
}

// TestAnAnswerThatSaysNothingIsRefused: it would put a model's words under a person's name who meant to take them out.
func TestAnAnswerThatSaysNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	for _, empty := range []string{" ", "\n\n", "\u00a0\u2003", "\u200b\u200d"} {
		act := s.act()
		act.Answer = empty
		if _, err := s.review.Approve(s.Context(), act); countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "answer") {
			t.Errorf("the answer %q: %v", empty, err)
		}
		if err := s.contests(s.act(), empty); countersign.KindOf(err) != countersign.Invalid {
			t.Errorf("the reason %q: %v", empty, err)
		}
	}
	if s.theCase().Status != countersign.InReview {
		t.Error("it was decided")
	}
}

package merchant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
)

// TestEvidenceThatHurtsUsIsInThePackUnlessAPersonLeavesItOut: what hurts is in it, marked, unless a person leaves it out by choice; then nothing of the
// report tells it, and the record does.
func TestEvidenceThatHurtsUsIsInThePackUnlessAPersonLeavesItOut(t *testing.T) {
	t.Parallel()
	for name, model := range map[string]func(*scene){
		"said by a model that counts refunds": func(s *scene) {
			s.model = s.script(strings.Replace(contest, "S1 order.number = 1001", "S4 refunds[0].state = returned\n  S1 order.number = 1001", 1))
		},
		"told by the offline reviewer, row by row": func(*scene) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.records([]byte(`{"refunds": {"rows": [{"id": "RF-77", "reference": "re_77", "amount": {"money": {"minor": 5000, "currency": "USD"}, "text": "50.00"}, "state": "returned", "status": "succeeded", "refunded_at": {"when": "2026-11-12"}}]}}`))
			s.policy(returnsPolicy(t))
			model(s)
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})

			act := s.act()
			act.Withhold = []string{"refund_returned"}
			over := func(act review.Act) error {
				_, err := s.review.Override(s.Context(), act, countersign.Contested, "It was delivered.", "")
				return err
			}
			if err := over(act); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("without a reason it is left out: %v", err)
			}
			act.Why = "Settled with the customer apart from this."
			act.Withhold = []string{"refunds_returned"}
			if err := over(act); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("a fact that is none is left out: %v", err)
			}
			act.Withhold = []string{"refund_returned"}
			s.must(over(act))
			kept, err := s.store.Report(s.Context(), s.id)
			s.must(err)
			for _, tells := range []string{"RF-77", "re_77", "50.00", "2026-11-12", "refund_returned", "partial_refund"} {
				if strings.Contains(string(kept.Content), tells) {
					t.Errorf("the report still says %q:\n%s", tells, kept.Content)
				}
			}
			want := []report.Withheld{{What: report.FactWithheld, Count: 1, By: "ada", At: report.At(today), Why: act.Why}}
			if diff := cmp.Diff(want, s.content().Withheld); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !s.recordSays("refund_returned") || !s.recordSays(act.Why) {
				t.Error("the record does not hold the choice")
			}
			s.holds()
		})
	}
}

// Whoever leaves a fact out and repeats it in their own words has left out nothing: they are told, and nothing is decided.
func TestAPersonsOwnWordsMayStillTellWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "partial-refunds-are-not-a-full-one")
	for _, row := range []struct{ reason, why string }{
		{"We gave USD 50.00 back, and the rest was delivered.", "It was settled."},
		{"The rest was delivered.", "The USD 50.00 were settled apart."},
	} {
		act := s.act()
		act.Withhold, act.Why = []string{"refund_returned"}, row.why
		if _, err := s.review.Override(s.Context(), act, countersign.Contested, row.reason, ""); countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "withhold") {
			t.Errorf("%q, %q: %v", row.reason, row.why, err)
		}
	}
	if _, there := s.report(); there || s.theCase().Status != countersign.InReview {
		t.Errorf("the case is %s", s.theCase().Status)
	}
	s.holds()
}

// What is approved as it was recommended is claimed in the model's words: not where those were written in view of what is withheld.
func TestAnApprovalThatLeavesAFactOutDoesNotClaimTheModelsWords(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "the-offline-reviewer-contests-what-was-delivered")
	act := s.act()
	act.Withhold, act.Why = []string{"delivered"}, "The carrier asks for it."
	_, err := s.review.Approve(s.Context(), act)
	s.must(err)
	if c := s.content(); strings.Contains(c.Decision.Summary+c.Proposal.Summary, "deliver") || strings.Contains(fmt.Sprint(c.Exhibits, c.Timeline), "1Z-1001") {
		t.Errorf("the report says %q and shows %v", c.Decision.Summary, c.Timeline)
	}
	s.holds()
}

func (s *scene) recordSays(text string) (says bool) {
	s.Helper()
	for row, err := range s.store.RecordRows(s.Context(), s.id, 0) {
		s.must(err)
		says = says || row.Kind == audit.Decision && strings.Contains(string(row.Payload.Bytes), text)
	}
	return says
}

// TestWhatIsWithheldIsToldNowhereElse: an order that the shop calls "partially_refunded" tells of the refund, and so does a reason that was
// given when less of it had gone back.
func TestWhatIsWithheldIsToldNowhereElse(t *testing.T) {
	t.Parallel()
	fifty := []byte(`{"refunds": {"rows": [{"id": "RF-77", "reference": "re_77", "amount": {"money": {"minor": 5000, "currency": "USD"}, "text": "50.00"}, "state": "returned", "status": "succeeded", "refunded_at": {"when": "2026-11-12"}}]}}`)
	for name, row := range map[string]struct {
		fact          string
		before, after func(*shop.Records)
		tells         []string
	}{
		"by the shop's word for the order and its payment": {fact: "refund_returned", before: func(r *shop.Records) {
			r.Order.All[0].Status, r.Payments.All[0].Status = "partially_refunded", "refunded_in_part"
		}, tells: []string{"partially_refunded", "refunded_in_part", "RF-77", "50.00"}},
		"by a return that the order's status repeats": {fact: "return_on_file", before: func(r *shop.Records) {
			r.Order.All[0].Status = "return_requested"
			r.Refunds = shop.Rows[shop.Refund]{}
			r.Returns.All = []shop.Return{{ID: "RT-5", State: shop.Open, Status: "requested", Reason: "defective"}}
		}, tells: []string{"return_requested", "RT-5", "defective", "open_return", "return on file"}},
		"by what it was when the case was judged": {fact: "refund_returned", after: func(r *shop.Records) {
			r.Refunds.All[0].Amount.Money = &countersign.Money{Minor: 60_00, Currency: "USD"}
		}, tells: []string{"50.00", "60.00", "partial_refund", "RF-77"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.records(fifty)
			s.alter = row.before
			s.policy(returnsPolicy(t))
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
			if row.after != nil {
				s.alter = row.after
				s.must(s.decide("looks at the records"))
			}
			act := s.act()
			act.Facts, act.Withhold, act.Why = s.seen, []string{row.fact}, "Settled."
			_, err := s.review.Override(s.Context(), act, countersign.Contested, "It was delivered.", "")
			s.must(err)
			kept, err := s.store.Report(s.Context(), s.id)
			s.must(err)
			for _, tells := range row.tells {
				if strings.Contains(string(kept.Content), tells) {
					t.Errorf("the report still says %q:\n%s", tells, kept.Content)
				}
			}
			s.holds()
		})
	}
}

// TestWhatMayBeLeftOutIsWhatTheReportMarks: in every scenario the facts that a person may leave out of a contest are those that its report
// says speak against it, and the other way round.
func TestWhatMayBeLeftOutIsWhatTheReportMarks(t *testing.T) {
	t.Parallel()
	marked := map[string]int{}
	for name := range scenarios(t) {
		s := sceneOf(t, name)
		if s.theCase().Status != countersign.InReview {
			continue
		}
		now, err := s.desk.Facts(s.Context(), s.store.View, s.theCase())
		s.must(err)
		offered := s.desk.Against(now, countersign.Contested)
		s.must(s.decide("looks at the records"))
		if err := s.decide("override contest: It was delivered."); countersign.KindOf(err) == countersign.Unprocessed {
			continue // on somebody's word alone
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hurts := []string{}
		for _, f := range s.content().Facts {
			if f.Weight == report.Hurts {
				hurts = append(hurts, f.Name)
				marked[f.Name]++
			}
		}
		if strings.Join(offered, " ") != strings.Join(hurts, " ") {
			t.Errorf("%s: offered are %v, and the report marks %v", name, offered, hurts)
		}
	}
	for _, fact := range []string{"in_time", "refund_returned", "return_on_file", "delivered", "policy_in_force", "order_found"} {
		if marked[fact] == 0 {
			t.Errorf("no report marks %s", fact)
		}
	}
}

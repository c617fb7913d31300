package merchant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/audit"
	"countersign/desk"
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

// TestWhoNamesAnotherAmountTellsNothing: USD 15.00 is not the refund of USD 1,234.56, and what is said twice is listed once.
func TestWhoNamesAnotherAmountTellsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.policy(returnsPolicy(t))
	s.alter = func(r *shop.Records) {
		r.Payments.All[0].Amount.Money = &countersign.Money{Minor: 5000_00, Currency: "USD"}
		r.Refunds.All = []shop.Refund{{ID: "R-9", Amount: shop.Amount{Money: &countersign.Money{Minor: 1234_56, Currency: "USD"}}, State: shop.Returned, Status: "succeeded"}}
	}
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	act := s.act()
	act.Withhold, act.Why = []string{"refund_returned"}, "Settled apart."
	for _, reason := range []string{"USD 1,234.56 went back.", "USD 1234.56 went back."} {
		if err := s.contests(act, reason); countersign.KindOf(err) != countersign.Unprocessed || strings.Count(err.Error(), "with USD 1,234.56") != 1 {
			t.Errorf("%s: %v", reason, err)
		}
	}
	s.must(s.contests(act, "It was delivered; shipping alone was USD 15.00."))
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

// quotesTwo is a case whose proposal quotes two clauses that stand side by side: one says when an order counts as delivered, the other
// that the money goes back.
func quotesTwo(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.policy(txtar.File{Name: "policy terms.md from 2026-01-01", Data: []byte("# Terms\n\n" + countsClause + "\n\n" + againstClause + "\n\nWrite to us.\n")})
	s.model = s.script("decides CONTEST 1.0\n  S1 order.number = 1001\n  S2 payments[0].state = paid\n  quotes Terms: " + againstClause + "\n  quotes Terms: " + countsClause)
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	return s
}

const (
	countsClause  = "An order counts as delivered when the carrier records it."
	againstClause = "Whatever arrives damaged we refund in full."
)

// TestAQuotedClauseIsLeftOutByChoice: who approves, or decides otherwise, may leave out what a model quoted to the shop's harm. Nothing of
// the report tells it then, not what stands around another clause either; the record does, and the decision stands.
func TestAQuotedClauseIsLeftOutByChoice(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*scene, review.Act) error{
		"by approving":          func(s *scene, act review.Act) error { _, err := s.review.Approve(s.Context(), act); return err },
		"by deciding otherwise": func(s *scene, act review.Act) error { return s.contests(act, "It was delivered.") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quotesTwo(t)
			clauses, err := s.desk.Clauses(s.Context(), s.store.View, s.theCase())
			s.must(err)
			want := []desk.Clause{{Name: "clause_1", Document: "Terms", Version: "v1", Quote: againstClause, Found: "stands there, word for word"},
				{Name: "clause_2", Document: "Terms", Version: "v1", Quote: countsClause, Found: "stands there, word for word"}}
			if diff := cmp.Diff(want, clauses); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			act := s.act()
			act.Withhold = []string{"clause_1"}
			if err := decide(s, act); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("without a reason it is left out: %v", err)
			}
			act.Withhold, act.Why = []string{"clause_3"}, "It is about damage, and none is claimed."
			if err := decide(s, act); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("a clause that is none is left out: %v", err)
			}
			act.Withhold = []string{"clause_1"}
			s.must(decide(s, act))
			c := s.content()
			kept, err := s.store.Report(s.Context(), s.id)
			s.must(err)
			if strings.Contains(string(kept.Content), "refund in full") {
				t.Errorf("the report still says it:\n%s", kept.Content)
			}
			if len(c.Clauses) != 1 || c.Clauses[0].ID != "E7" || c.Clauses[0].Quote != countsClause || !strings.Contains(c.Clauses[0].Before, "Terms") {
				t.Errorf("the report quotes %+v", c.Clauses)
			}
			if diff := cmp.Diff([]report.Withheld{{What: report.ClauseWithheld, Count: 1, By: "ada", At: report.At(today), Why: act.Why}}, c.Withheld); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !s.recordSays(`"withheld":["clause_1"]`) {
				t.Error("the record does not hold the choice")
			}
			s.holds()
		})
	}
	t.Run("all of them, and the decision still stands", func(t *testing.T) {
		t.Parallel()
		s := quotesTwo(t)
		act := s.act()
		act.Withhold, act.Why = []string{"clause_2", "clause_1"}, "None is needed."
		_, err := s.review.Approve(s.Context(), act)
		s.must(err)
		if c := s.content(); len(c.Clauses) != 0 || len(c.Withheld) != 1 || c.Withheld[0].Count != 2 || s.theCase().Outcome != countersign.Contested {
			t.Errorf("the report quotes %v, withheld are %v", c.Clauses, c.Withheld)
		}
		s.holds()
	})
	t.Run("and who quotes it themselves is told", func(t *testing.T) {
		t.Parallel()
		s := quotesTwo(t)
		act := s.act()
		act.Withhold, act.Why, act.Answer = []string{"clause_1"}, "None is needed.", "Our terms say:\nWhatever arrives damaged\nwe refund in full."
		if _, err := s.review.Approve(s.Context(), act); countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "decision.summary") {
			t.Errorf("got %v", err)
		}
		if s.theCase().Status != countersign.InReview {
			t.Error("it was decided")
		}
	})
}

// TestAClauseThatIsLeftOutIsNotRepeated: with other glyphs, without its last words, or in the model's summary that a person adopts as the
// answer, it is told all the same. Who decides is told by which words, and may say it otherwise.
func TestAClauseThatIsLeftOutIsNotRepeated(t *testing.T) {
	t.Parallel()
	const clause = "Opened software is taken back in the customer’s own region within thirty days of delivery."
	const quotes = "decides CONTEST 1.0\n  S1 order.number = 1001\n  S2 payments[0].state = paid\n  quotes Terms: " + clause
	for name, row := range map[string]struct {
		answer, words string
	}{
		"with other glyphs":       {"Our terms say: Opened software is taken back in the customer's\nown region within thirty days of delivery.", "opened software is taken back in the customers"},
		"without its last words":  {"Our terms say that opened software is taken back in the customer’s own region.", "opened software is taken back in the customers"},
		"by the model's summary":  {"", "software is taken back in the customers own"},
		"in words of one's own":   {"It was delivered, and nothing was sent back.", ""},
		"of which few are shared": {"Software that was opened is taken back within thirty days.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.policy(txtar.File{Name: "policy terms.md from 2026-01-01", Data: []byte("# Terms\n\n" + clause + "\n\nWrite to us.\n")})
			s.model = s.script(quotes)
			if row.answer == "" {
				s.model = s.script(quotes + "\n  sums up: The terms say that software is taken back in the customer's own region.")
			}
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
			act := s.act()
			act.Withhold, act.Why, act.Answer = []string{"clause_1"}, "It is about software, and none was bought.", row.answer
			_, err := s.review.Approve(s.Context(), act)
			if row.words == "" {
				s.must(err)
				kept, err := s.store.Report(s.Context(), s.id)
				s.must(err)
				if strings.Contains(string(kept.Content), "region") {
					t.Errorf("the report still says it:\n%s", kept.Content)
				}
				s.holds()
				return
			}
			if countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "with “"+row.words) || s.theCase().Status != countersign.InReview {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestWhatIsLeftBesideATypedInFactIsAsked: whoever leaves the only record out contests on somebody's word alone.
func TestWhatIsLeftBesideATypedInFactIsAsked(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.policy(returnsPolicy(t))
	s.alter = func(r *shop.Records) {
		r.Payments, r.Fulfillments = shop.Rows[shop.Payment]{}, shop.Rows[shop.Fulfillment]{}
	}
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	s.must(s.decide("states delivery: The neighbour has it."))
	s.must(s.decide("looks at the records"))
	act := s.act()
	act.Facts, act.Withhold, act.Why = s.seen, []string{"order_found"}, "Apart."
	if err := s.contests(act, "It came."); countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "typed-in facts alone") {
		t.Errorf("got %v", err)
	}
	act.Withhold, act.Why = nil, ""
	s.must(s.contests(act, "It came."))
	s.holds()
}

// TestWhatIsSentTwiceIsLeftOutOnce: a fact and a clause, in the report's count and in the record.
func TestWhatIsSentTwiceIsLeftOutOnce(t *testing.T) {
	t.Parallel()
	s := quotesTwo(t)
	act := s.act()
	act.Withhold, act.Why = []string{"clause_1", "delivered", "clause_1", "delivered"}, "Settled apart."
	s.must(s.contests(act, "It came."))
	c := s.content()
	if len(c.Clauses) != 1 || len(c.Withheld) != 2 || c.Withheld[0].Count != 1 || c.Withheld[1].Count != 1 {
		t.Errorf("%d clauses are left, and withheld are %+v", len(c.Clauses), c.Withheld)
	}
	if !s.recordSays(`"withheld":["clause_1","delivered"]`) {
		t.Error("the record does not say each once")
	}
	s.holds()
}

// contests is an override of the analyst's.
func (s *scene) contests(act review.Act, reason string) error {
	_, err := s.review.Override(s.Context(), act, countersign.Contested, reason, "")
	return err
}

// TestClausesThatShareWordsGoTogether: leaving one out of two that overlap would leave half of it in.
func TestClausesThatShareWordsGoTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const first, second, third = "Goods may be sent back within 30 days.", "They must be unused.", "The refund is paid in full."
	s.policy(txtar.File{Name: "policy terms.md from 2026-01-01", Data: []byte("# Terms\n\n" + first + " " + second + " " + third + "\n")})
	s.model = s.script("decides CONTEST 1.0\n  S1 order.number = 1001\n  S2 payments[0].state = paid\n  quotes Terms: " + first + " " + second + "\n  quotes Terms: " + second + " " + third)
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	act := s.act()
	act.Withhold, act.Why = []string{"clause_2"}, "None is needed."
	if err := s.contests(act, "It was delivered."); countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "Goods may be sent back") {
		t.Errorf("got %v", err)
	}
	act.Withhold = []string{"clause_1", "clause_2"}
	s.must(s.contests(act, "It was delivered."))
	s.holds()
}

// TestWhoSaysTheSameInTheirOwnWordsFollows: to decide what is recommended, with a reason of one's own, is not against it, and the answer
// is the person's.
func TestWhoSaysTheSameInTheirOwnWordsFollows(t *testing.T) {
	t.Parallel()
	for line, followed := range map[string]bool{
		"override contest: It was delivered on the 6th.":            true,
		"override contest USD 120.00: It was delivered on the 6th.": true,
		"override contest USD 70.00: It was delivered on the 6th.":  false,
		"override accept: It was delivered on the 6th.":             false,
	} {
		s := sceneOf(t, "nothing-arrived-and-it-did")
		s.must(s.decide(line))
		if d := s.content().Decision; d.Followed != followed || d.Summary != "It was delivered on the 6th." || d.Reason != d.Summary {
			t.Errorf("%s: %+v", line, d)
		}
		s.holds()
	}
}

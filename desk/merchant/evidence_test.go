package merchant_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
	"countersign/store"
)

// sceneOf is the stage with that scenario's sections up to its first want carried out.
func sceneOf(t *testing.T, name string) *scene {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t)
	for _, section := range archive.Files {
		kind, _, _ := strings.Cut(section.Name, " ")
		if kind == "want" {
			return s
		}
		sections[kind](s, section)
	}
	return s
}

// act is a decision of the analyst's on the case as it stands.
func (s *scene) act() review.Act {
	return review.Act{Case: s.id, Revision: s.theCase().Revision, Actor: analyst}
}

// unseen shows that a person cannot decide on records that changed behind their back, and lets them look.
func (s *scene) unseen(line, what string) {
	s.Helper()
	if err := s.decide(line); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), what) {
		s.Errorf("%s on records that nobody saw answers %v", line, err)
	}
	s.must(s.decide("looks at the records"))
}

func (s *scene) content() report.Content {
	s.Helper()
	content, there := s.report()
	if !there {
		s.Fatal("the case has no report")
	}
	return content
}

// partial is a decided case: fifty dollars of a hundred and twenty went back, and the rest is contested.
func partial(t *testing.T) *scene {
	t.Helper()
	s := sceneOf(t, "partial-refunds-are-not-a-full-one")
	s.must(s.decide("override contest USD 70.00: The rest was delivered."))
	return s
}

func TestTheReportSaysWhatTheRecordsSay(t *testing.T) {
	t.Parallel()
	s := partial(t)
	c, c0 := s.content(), s.theCase()
	usd := func(minor int64) report.Amount {
		return report.AmountOf(&countersign.Money{Minor: minor, Currency: "USD"})
	}

	t.Run("the dispute is as it came", func(t *testing.T) {
		want := report.Dispute{Network: "visa", ReasonCode: "13.1", ReasonText: "merchandise or services not received", Stage: "chargeback", Amount: usd(120_00),
			Claim: "The cardholder states that the goods or services of this order were not received.", DueAt: "2026-12-20T17:00:00Z", DueSource: "provider"}
		if diff := cmp.Diff(want, c.Dispute); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("what is contested and what is accepted add up to what is disputed", func(t *testing.T) {
		want := report.Decision{Outcome: "contest", Contested: usd(70_00), Accepted: usd(50_00), By: "ada", At: "2026-12-01T10:00:00Z",
			Reason: "The rest was delivered.", Summary: "The rest was delivered."}
		if diff := cmp.Diff(want, c.Decision); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("what the model wanted stands beside what the net made of it", func(t *testing.T) {
		if c.Proposal.Recommendation != "CONTEST" || c.Proposal.Confidence != "1" || c.Net.Recommendation != "MANUAL_REVIEW_REQUIRED" || len(c.Net.Caveats) != 1 {
			t.Errorf("%+v, %+v", c.Proposal, c.Net)
		}
		var codes []string
		for _, r := range c.Net.Reasons {
			codes = append(codes, r.Code)
		}
		if !slices.Equal(codes, []string{"partial_refund", "person_decides"}) {
			t.Errorf("the reasons are %v", codes)
		}
	})
	t.Run("every row that was read stands in an exhibit", func(t *testing.T) {
		want := map[string][][]string{
			"E1 orders S1":       {{"1001", "Margaret Hollis", "2026-11-01T09:30:00.000000Z", "done", "USD 120.00", "12 Harbour Road, Portland OR 97201, USA"}},
			"E2 payments S2":     {{"P-1", "paid", "captured", "2026-11-01T09:31:00.000000Z", "ch_1001", "USD 120.00"}},
			"E3 fulfillments S3": {{"F-1", "delivered", "delivered", "UPS", "1Z-1001", "2026-11-03", "2026-11-06T14:05:00.000000Z"}},
			"E4 refunds S4":      {{"R-1", "returned", "succeeded", "2026-11-12T08:00:00.000000Z", "re_1", "USD 30.00"}, {"R-2", "returned", "succeeded", "2026-11-20T08:00:00.000000Z", "re_2", "USD 20.00"}},
			"E5 returns S5":      {},
		}
		got := map[string][][]string{}
		for _, e := range c.Exhibits {
			got[e.ID+" "+e.Table+" "+e.Step] = e.Rows
			if e.ReadAt != "2026-12-01T10:00:00Z" || e.TypedBy != "" {
				t.Errorf("%s was read at %s, typed by %q", e.ID, e.ReadAt, e.TypedBy)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if c.Exhibits[4].Note != "no rows" || c.Exhibits[0].Note != "" {
			t.Errorf("the notes are %q and %q", c.Exhibits[4].Note, c.Exhibits[0].Note)
		}
	})
	t.Run("the clause stands in its context", func(t *testing.T) {
		want := []report.Clause{{ID: "E6", Document: "Returns and Refunds", Version: "v1", ValidFrom: "2026-01-01", SHA256: fmt.Sprintf("%x", sha256.Sum256(returnsPolicy(t).Data)), Status: "exact",
			Before: "Returns and Refunds When an order counts as delivered",
			Quote:  "An order counts as delivered when the carrier records the delivery at the address given in the order.",
			After:  "Sending goods back Goods may be sent back within 30 days of delivery, unused and in their box. The refund is paid within 10 working days after the goods have arrived with us. Damaged goods Damaged goods must be reported within 7 days of delivery, with two photographs of the damage."}}
		if diff := cmp.Diff(want, c.Clauses); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("what happened is told in the order in which it happened", func(t *testing.T) {
		want := []report.Event{
			{At: "2026-11-01T09:30:00.000000Z", What: "Order placed", Source: "orders"},
			{At: "2026-11-01T09:31:00.000000Z", What: "Payment paid: USD 120.00", Source: "payments"},
			{At: "2026-11-03", What: "Parcel UPS · 1Z-1001 shipped", Source: "fulfillments"},
			{At: "2026-11-06T14:05:00.000000Z", What: "Parcel UPS · 1Z-1001 delivered", Source: "fulfillments"},
			{At: "2026-11-12T08:00:00.000000Z", What: "Refund returned: USD 30.00", Source: "refunds"},
			{At: "2026-11-20T08:00:00.000000Z", What: "Refund returned: USD 20.00", Source: "refunds"},
			{At: "2026-12-01T10:00:00Z", What: "Chargeback received", Source: "case record"},
			{At: "2026-12-01T10:00:00Z", What: "Decided by ada: contest", Source: "case record"},
		}
		if diff := cmp.Diff(want, c.Timeline); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("each fact says what it does for the merchant, and where it is shown", func(t *testing.T) {
		want := map[string]string{
			"order_found": "neutral E1", "paid": "supports E2", "disputed": "neutral ", "refund_returned": "hurts E4", "refund_pending": "neutral E4",
			"return_on_file": "supports E5", "delivered": "supports E3", "in_time": "neutral ", "policy_in_force": "supports ",
		}
		got := map[string]string{}
		for _, f := range c.Facts {
			got[f.Name] = string(f.Weight) + " " + strings.Join(f.Exhibits, " ")
			if f.Title == f.Name {
				t.Errorf("%s has no title for people", f.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("it is tied to the record as it stood before the decision", func(t *testing.T) {
		for row, err := range s.store.RecordRows(s.Context(), s.id, c.Audit.Rows-1) {
			s.must(err)
			if row.Hash.String() != c.Audit.Head || row.Kind == audit.Decision {
				t.Errorf("row %d, %s, has the hash %s; the report says %s", row.Seq, row.Kind, row.Hash, c.Audit.Head)
			}
			break
		}
		if c.Audit.PolicyVersion != c0.Verdict.PolicyVersion || c.Audit.Program != "test" || c.Audit.MadeAt != "2026-12-01T10:00:00Z" {
			t.Errorf("%+v", c.Audit)
		}
	})
	t.Run("the record names the report", func(t *testing.T) {
		kept, err := s.store.Report(s.Context(), s.id)
		s.must(err)
		if said := s.notes(); !slices.ContainsFunc(said, func(n string) bool { return strings.Contains(n, kept.Fingerprint) }) {
			t.Errorf("the notes are %q, and the report is %s", said, kept.Fingerprint)
		}
	})
	s.verifies()
}

// notes are the payloads of the record's notes.
func (s *scene) notes() (all []string) {
	s.Helper()
	for row, err := range s.store.RecordRows(s.Context(), s.id, 0) {
		s.must(err)
		if row.Kind == audit.Note {
			all = append(all, string(row.Payload.Bytes))
		}
	}
	return all
}

// Two investigations of the same order say the same, but for what is of one case alone: its id, and the salted record behind it.
func TestTheSameRecordsGiveTheSameReport(t *testing.T) {
	t.Parallel()
	a, b := partial(t).content(), partial(t).content()
	for _, c := range []*report.Content{&a, &b} {
		c.Case.ID, c.Audit.Head = "C-1", strings.Repeat("0", 64)
	}
	first, err := report.Seal(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := report.Seal(b)
	if err != nil {
		t.Fatal(err)
	}
	if first.Fingerprint() != second.Fingerprint() {
		t.Errorf("(-first +second):\n%s", cmp.Diff(a, b))
	}
}

// What an accept and a contest stand on is not the same: a fact that hurts one may help the other.
func TestAFactHurtsTheDecisionThatItContradicts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scenario, decision, fact string
		want                     report.Weight
	}{
		{"a-contest-of-what-was-refunded", "override contest: It was another order.", "refund_returned", report.Hurts},
		{"a-contest-of-what-was-refunded", "override accept: It was refunded.", "refund_returned", report.Supports},
		{"a-contest-of-what-was-refunded", "override accept: It was refunded.", "delivered", report.Neutral},
		{"an-accept-without-a-refund", "override accept: It is not worth it.", "refund_returned", report.Hurts},
		{"an-accept-without-a-refund", "override contest: It was delivered.", "refund_returned", report.Supports},
		{"nothing-arrived-and-nothing-was-sent", "override contest: It will arrive.", "delivered", report.Hurts},
		{"a-deadline-that-has-passed", "override contest: They may take it.", "in_time", report.Hurts},
		{"goods-on-their-way-back", "override contest: The goods never came.", "return_on_file", report.Hurts},
		{"the-refunds-could-not-be-read", "override contest: It was delivered.", "refund_returned", report.Hurts},
	} {
		t.Run(row.scenario+", "+row.decision, func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, row.scenario)
			s.must(s.decide(row.decision))
			for _, f := range s.content().Facts {
				if f.Name == row.fact && f.Weight != row.want {
					t.Errorf("%s %s: %s, want %s", f.Name, f.State, f.Weight, row.want)
				}
			}
		})
	}
}

// TestASystemFailureIsNotShownAsNoEvidence: the connector times out on one of five tables.
func TestASystemFailureIsNotShownAsNoEvidence(t *testing.T) {
	t.Parallel()
	const why = "the shop's database did not answer within 10 s."
	for kind, spoil := range map[string]func(*shop.Records){
		"payments":     func(r *shop.Records) { r.Payments = shop.Rows[shop.Payment]{Unread: why} },
		"fulfillments": func(r *shop.Records) { r.Fulfillments = shop.Rows[shop.Fulfillment]{Unread: why} },
		"refunds":      func(r *shop.Records) { r.Refunds = shop.Rows[shop.Refund]{Unread: why} },
		"returns":      func(r *shop.Records) { r.Returns = shop.Rows[shop.Return]{Unread: why} },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.alter = spoil
			s.model = s.script(contest)
			s.policy(returnsPolicy(t))
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
			c := s.theCase()
			if c.Recommendation != "MANUAL_REVIEW_REQUIRED" || !hasReason(c, countersign.FactsUnknown) || !strings.Contains(fmt.Sprint(c.Verdict.Caveats), why) {
				t.Errorf("it recommends %s, caveats %q", c.Recommendation, c.Verdict.Caveats)
			}
			for _, f := range c.Facts.Items {
				if strings.HasPrefix(f.Source, kind) && f.State != countersign.Unknown {
					t.Errorf("%s is %s", f.Name, f.State)
				}
			}
			if _, err := s.review.Retry(s.Context(), s.act()); err != nil {
				t.Errorf("it cannot be tried again: %v", err)
			}
			s.work()
			s.must(s.decide("override contest: It was delivered."))
			for _, e := range s.content().Exhibits {
				if want := e.Table == kind; strings.Contains(e.Note, why) != want {
					t.Errorf("the exhibit of %s says %q", e.Table, e.Note)
				}
			}
			s.verifies()
		})
	}
}

// contest is a model that contests a delivered order, and quotes the policy exactly.
const contest = `decides CONTEST 1.0
  S1 order.number = 1001
  S6 passages[0].document = Returns and Refunds
  quotes Returns and Refunds: An order counts as delivered when the carrier records the delivery at the address given in the order.
`

func hasReason(c countersign.Case, code countersign.ReasonCode) bool {
	return slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == code })
}

// A report that cannot be made keeps nobody from deciding: the deadline is the merchant's. The record says that there is none, and
// why.
func TestADecisionStandsWithoutAReport(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	s.alter = func(r *shop.Records) { r.Order.All[0].Customer = "Jos\xe9" } // no UTF-8: somebody's Latin-1
	s.unseen("override contest: It was delivered.", "the records changed")
	s.must(s.decide("override contest: It was delivered."))
	if c := s.theCase(); c.Status != countersign.Closed || c.Outcome != countersign.Contested {
		t.Errorf("the case is %s %s", c.Status, c.Outcome)
	}
	if _, there := s.report(); there {
		t.Error("there is a report")
	}
	if said := s.notes(); !slices.ContainsFunc(said, func(n string) bool {
		return strings.Contains(n, "not made: exhibits[0].rows[0][1]: it is not UTF-8 text")
	}) {
		t.Errorf("the notes are %q", said)
	}
	s.holds()
}

// TestDecisionAndReportCommitTogether: whatever fails after the report was written takes it back with the decision, and nothing is
// half done.
func TestDecisionAndReportCommitTogether(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	fresh := s.desk.Fresh
	broken := errors.New("the power failed")
	d := s.review.Desks[countersign.Merchant]
	d.Fresh = func(ctx context.Context, v store.View, c countersign.Case) (review.Fresh, error) {
		now, err := fresh(ctx, v, c)
		keep := now.Keep
		now.Keep = func(ctx context.Context, tx *store.Tx, c countersign.Case, d review.Decided) ([]store.Note, error) {
			if _, err := keep(ctx, tx, c, d); err != nil {
				return nil, err
			}
			return nil, broken
		}
		return now, err
	}
	s.review.Desks[countersign.Merchant] = d
	if err := s.decide("approve"); !errors.Is(err, broken) {
		t.Errorf("the decision ends with %v", err)
	}
	if _, there := s.report(); there || s.theCase().Status != countersign.InReview || len(s.notes()) != 0 {
		t.Errorf("the case is %s, with a report: %v, notes %q", s.theCase().Status, there, s.notes())
	}
	d.Fresh = fresh
	s.review.Desks[countersign.Merchant] = d
	s.must(s.decide("approve"))
	s.content()
	s.holds()
}

// TestApprovedTwiceAndConcurrently: one decision stands, with one report.
func TestApprovedTwiceAndConcurrently(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	act := s.act()
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = s.review.Approve(s.Context(), act) })
	}
	all.Wait()
	done := 0
	for _, err := range errs {
		switch {
		case err == nil:
			done++
		case countersign.KindOf(err) != countersign.Conflict:
			t.Errorf("one of them ends with %v", err)
		}
	}
	if done != 1 || len(s.notes()) != 1 {
		t.Errorf("%d decisions stand, with the notes %q", done, s.notes())
	}
	s.content()
	s.holds()
}

// TestAQuoteOfAVersionThatIsNotInForceAnyMore: between the review and the decision the policies changed. The decision is a person's;
// the report does not claim a clause that it cannot find.
func TestAQuoteOfAVersionThatIsNotInForceAnyMore(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	s.policy(txtar.File{Name: "policy returns.md from 2026-06-01", Data: []byte("# Returns and Refunds\n\nEverything is final, and nothing comes back.\n")})
	if err := s.decide("approve"); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "policy_in_force") {
		t.Errorf("approving on other policies answers %v", err)
	}
	s.unseen("override contest: It was delivered.", "policy_in_force")
	s.must(s.decide("override contest: It was delivered."))
	if clauses := s.content().Clauses; len(clauses) != 0 {
		t.Errorf("the report quotes %+v", clauses)
	}
	s.holds()
}

// TestADeadlineThatPassesWhileAPersonLooks: what was in time when it was recommended is not when it is approved. The approval is
// refused and says so; a person may still decide, and the report says that it was late.
func TestADeadlineThatPassesWhileAPersonLooks(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "nothing-arrived-and-it-did")
	s.now = today.AddDate(0, 1, 0)
	if err := s.decide("approve"); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "in_time was present 2026-12-20T17:00:00Z and is absent") {
		t.Errorf("approving too late answers %v", err)
	}
	s.unseen("override contest: They take it until January.", "in_time")
	s.must(s.decide("override contest: They take it until January."))
	saysNothingOfTheShop(s)
	for _, f := range s.content().Facts {
		if f.Name == "in_time" && (f.State != "absent" || f.Weight != report.Hurts) {
			t.Errorf("%+v", f)
		}
	}
	s.holds()
}

// TestADeadlineThatIsEditedIsNoChangeOfTheShops: whatever a person does to a case meanwhile, the bank is not told that the shop's records
// changed, and the rows are said to be those that the model was shown. The decision still notices it.
func TestADeadlineThatIsEditedIsNoChangeOfTheShops(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]struct {
		does    func(*scene) error
		notices string
	}{
		"a deadline that has passed is set": {func(s *scene) error {
			_, err := s.review.Deadline(s.Context(), s.act(), today.AddDate(0, 0, -30))
			return err
		}, "in_time was present 2026-12-20T17:00:00Z and is absent 2026-11-01"},
		"a refund is typed in": {func(s *scene) error { return s.decide("states refund USD 20.00: In cash, at the counter.") }, "refund_typed_in was not there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, "nothing-arrived-and-it-did")
			s.must(meanwhile.does(s))
			if err := s.decide("approve"); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), meanwhile.notices) {
				t.Errorf("approving answers %v", err)
			}
			s.must(s.decide("looks at the records"))
			s.must(s.decide("override contest: It was delivered."))
			saysNothingOfTheShop(s)
			s.holds()
		})
	}
}

func saysNothingOfTheShop(s *scene) {
	s.Helper()
	c := s.content()
	if said := strings.Join(c.Net.Caveats, " "); strings.Contains(said, "between the check and the decision") {
		s.Errorf("the report says %q", said)
	}
	if c.Exhibits[0].Step != "S1" {
		s.Errorf("the order is shown as of step %q", c.Exhibits[0].Step)
	}
}

// A clause of a long document stands in as much of it as shows what it is about, cut between words and never inside a letter.
func TestAClauseStandsInItsContext(t *testing.T) {
	t.Parallel()
	const quote = "Goods may be sent back within 30 days of delivery, unused and in their box."
	around := strings.Repeat("Ọjà tí a kò lò ni a lè dá padà láàrin ọgbọ̀n ọjọ́. ", 60)
	s := newScene(t)
	s.policy(txtar.File{Name: "policy terms.md", Data: []byte("# Terms\n\n" + around + "\n\n" + quote + "\n\n" + around)})
	s.model = s.script("decides CONTEST 1.0\n  S1 order.number = 1001\n  S2 payments[0].state = paid\n  quotes Terms: " + quote)
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	s.must(s.decide("approve"))
	clauses := s.content().Clauses
	if len(clauses) != 1 || clauses[0].Quote != quote {
		t.Fatalf("the clauses are %+v", clauses)
	}
	before, cut := strings.CutPrefix(clauses[0].Before, "… ")
	after, cutToo := strings.CutSuffix(clauses[0].After, " …")
	if !cut || !cutToo || len(before) < 300 || len(before) > 400 || len(after) < 300 || len(after) > 400 {
		t.Errorf("before it stand %q, and after it %q", clauses[0].Before, clauses[0].After)
	}
	words := " " + around
	if !strings.Contains(words, " "+before) || !strings.Contains(words, after+" ") {
		t.Errorf("a word is cut: before it stand %q, and after it %q", before, after)
	}
}

// An exhibit says what it does not hold: a reader must not take what is missing for what is not there.
func TestAnExhibitSaysWhatItDoesNotHold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.alter = func(r *shop.Records) {
		r.Fulfillments = shop.Rows[shop.Fulfillment]{Unmapped: true}
		r.Payments.Cut = true
		r.Refunds = shop.Rows[shop.Refund]{Unread: "it took too long."}
	}
	s.policy(returnsPolicy(t))
	s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
	s.must(s.decide("override contest: It was delivered."))
	want := map[string]string{"orders": "", "payments": "the first 1 rows; there are more", "fulfillments": "the shop's mapping does not say where these are kept",
		"refunds": "could not be read: it took too long.", "returns": "no rows"}
	for _, e := range s.content().Exhibits {
		if e.Note != want[e.Table] {
			t.Errorf("%s: %q, want %q", e.Table, e.Note, want[e.Table])
		}
	}
	for _, f := range s.content().Facts {
		if slices.Contains([]string{"paid", "delivered", "refund_returned"}, f.Name) && f.State != "unknown" {
			t.Errorf("%s is %s", f.Name, f.State)
		}
	}
}

// A report in yen has no cents, and one in dinars has thousandths.
func TestZeroDecimalAndThreeDecimalCurrenciesAreNotOffByAHundred(t *testing.T) {
	t.Parallel()
	for currency, row := range map[string]struct {
		minor int64
		text  string
	}{"JPY": {5800, "JPY 5,800"}, "KRW": {12000, "KRW 12,000"}, "KWD": {1250, "KWD 1.250"}, "NGN": {50_000_00, "NGN 50,000.00"}} {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			paid := shop.Amount{Money: &countersign.Money{Minor: row.minor, Currency: currency}}
			s.alter = func(r *shop.Records) { r.Order.All[0].Total, r.Payments.All[0].Amount = paid, paid }
			s.model = s.script(contest)
			s.policy(returnsPolicy(t))
			s.open(intake.Request{SubjectID: "1001", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1"}})
			if c := s.theCase(); c.Amount != *paid.Money || c.Facts.Fact("paid").Value != row.text {
				t.Errorf("the case is about %s, paid %q", c.Amount, c.Facts.Fact("paid").Value)
			}
			s.must(s.decide("approve"))
			c := s.content()
			if c.Decision.Contested.Text != row.text || c.Exhibits[1].Rows[0][5] != row.text || c.Decision.Contested.Minor != fmt.Sprint(row.minor) {
				t.Errorf("the report contests %+v and shows %v", c.Decision.Contested, c.Exhibits[1].Rows)
			}
		})
	}
}

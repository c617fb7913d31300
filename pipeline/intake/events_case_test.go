package intake_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/store"
)

// casesOf are the cases of a dispute.
func (w *till) casesOf(dispute string) []countersign.Case {
	w.Helper()
	return w.standing(dispute).Cases
}

// held puts a case into a worker's hands.
func (w *till) held(id countersign.CaseID) (lease store.Lease) {
	w.Helper()
	w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		lease, _, err = tx.TakeLease(ctx, id, time.Minute)
		return err
	}))
	return lease
}

// rows counts those of a kind in a case's record.
func (w *till) rows(id countersign.CaseID, kind audit.Kind) (n int) {
	w.Helper()
	for row, err := range w.Store.RecordRows(ctx, id, 0) {
		w.must(err)
		if row.Kind == kind {
			n++
		}
	}
	return n
}

// What an event says of one stage waits while the case of another is investigated, and the record of its own is told of it once.
func TestAnEventThatWaitsForAnotherStageIsToldOnce(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		inquiry := w.deliver(word{stage: "inquiry", status: "needs_response"}.body("dp-two", 0)).Cases[0].ID
		w.held(inquiry)
		got := w.deliver(word{hour: 1, stage: "chargeback", status: "needs_response", order: "1042"}.body("dp-two", 1))
		for range 3 {
			w.must(w.Sweep(ctx))
		}
		if n := w.rows(got.Cases[0].ID, audit.Event); n != 1 || got.Event.State != store.EventWaiting {
			t.Errorf("it is %s, and %d rows tell of it", got.Event.State, n)
		}
		w.reviewed(inquiry, func(*countersign.Case) {})
		w.must(w.CatchUp(ctx, inquiry))
		w.must(w.Sweep(ctx))
		for _, c := range w.casesOf("dp-two") {
			if c.Subject.ID != "1042" {
				t.Errorf("the case at %s is about %q", c.Stage, c.Subject.ID)
			}
		}
		if n := w.rows(got.Cases[0].ID, audit.Event); n != 1 {
			t.Errorf("in the end %d rows tell of it", n)
		}
	})
}

// reviewed is a case whose investigation has ended, as f has it.
func (w *till) reviewed(id countersign.CaseID, f func(*countersign.Case)) {
	w.Helper()
	w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, id)
		if err != nil {
			return err
		}
		c.Status = countersign.InReview
		f(&c)
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, actor, store.Note{Kind: audit.Verdict, Payload: map[string]any{"status": c.Status}})
	}))
}

// A person who set another deadline knew the provider's: an event that says nothing new of it leaves theirs, and a sooner one counts.
func TestADeadlineThatAPersonSetOutlivesAnEventThatRepeatsIt(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response", order: "1042", due: 7}.body("dp-due", 0)).Cases[0].ID
		w.reviewed(id, func(c *countersign.Case) { c.DueAt, c.DueSource = on(10), countersign.DueManual })
		w.deliver(word{hour: 1, stage: "chargeback", status: "under_review"}.body("dp-due", 1))
		c, err := w.Store.Case(ctx, id)
		if err != nil || !c.DueAt.Equal(*on(10)) || c.DueSource != countersign.DueManual {
			t.Errorf("it is due %v by %s, %v", c.DueAt, c.DueSource, err)
		}
		w.deliver(word{hour: 2, stage: "chargeback", status: "under_review", due: 6}.body("dp-due", 2))
		if c, err = w.Store.Case(ctx, id); err != nil || !c.DueAt.Equal(noon.AddDate(0, 0, 6)) || c.DueSource != countersign.DueFromProvider {
			t.Errorf("after a sooner one it is due %v by %s, %v", c.DueAt, c.DueSource, err)
		}
	})
}

// report is a dispute as somebody hands it over who is not its provider.
func (w *till) report(dispute, order string, due *time.Time) (intake.Opened, error) {
	w.Helper()
	return w.Open(ctx, w.Desks[countersign.Merchant], actor, intake.Request{SubjectID: order, SubjectField: "order_id", Reason: countersign.OtherReason, Channel: "import",
		DueAt: due, Stage: "chargeback", Terms: countersign.Terms{Network: "visa", ReasonCode: "13.1", Reference: dispute}})
}

// A dispute that a provider told of without an order is the one that another channel reports with it: the deadline counts, the order is a
// person's to attach, and no second case is opened.
func TestADisputeWhoseOrderIsNotKnownIsOpenOnce(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		w.deliver(word{stage: "chargeback", status: "needs_response", due: 7}.body("dp-named", 0))
		_, err := w.report("dp-named", "1042", on(5))
		if countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "order_id: is 1042 here, and not known in case C-") || !strings.Contains(err.Error(), "with attach") {
			t.Errorf("the report was answered %v", err)
		}
		if all := w.casesOf("dp-named"); len(all) != 1 || !all[0].DueAt.Equal(*on(5)) {
			t.Errorf("got %+v", all)
		}
		w.deliver(word{hour: 1, stage: "chargeback", status: "needs_response", order: "1042", due: 7}.body("dp-named", 1))
		if _, err := w.report("dp-named", "1042", nil); err != nil {
			t.Errorf("with the order that it has now: %v", err)
		}
		if all := w.casesOf("dp-named"); len(all) != 1 || all[0].Subject.ID != "1042" {
			t.Errorf("got %+v", all)
		}
	})
}

// Two open cases of one dispute, one of which knows its order: an event that names it cannot give both one name, and is not held up by that.
func TestAnEventIsNotHeldUpByAnotherCaseOfItsName(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response"}.body("dp-twin", 0)).Cases[0].ID
		w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			twin, err := tx.LockCase(ctx, id)
			twin.ID, twin.Subject.ID = "C-TWIN", "1042"
			if err != nil {
				return err
			}
			return tx.Birth(ctx, twin, 0, actor, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": twin.Status}})
		}))
		w.deliver(word{hour: 1, stage: "chargeback", status: "lost", order: "1042", due: 3, amount: 4999}.body("dp-twin", 1))
		w.standing("dp-twin") // nothing waits
		c, err := w.Store.Case(ctx, id)
		if err != nil || c.Subject.ID != "" || c.Result == nil || c.DueAt == nil || c.Amount.Minor != 4999 {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}

// An order that is named when a case was investigated without it has it investigated anew, as if a person had attached it.
func TestAnOrderThatIsNamedLaterHasTheCaseInvestigatedAnew(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response", due: 7}.body("dp-order", 0)).Cases[0].ID
		w.reviewed(id, func(c *countersign.Case) {
			c.Verdict = &countersign.Verdict{Reasons: []countersign.Reason{{Code: countersign.OrderNotFound}}}
		})
		jobs := count(t, w.Store).Jobs
		w.deliver(word{hour: 1, stage: "chargeback", status: "needs_response", order: "1042", due: 7}.body("dp-order", 1))
		c, err := w.Store.Case(ctx, id)
		if err != nil || c.Subject.ID != "1042" || c.Status != countersign.Queued || c.Round != 2 || c.Verdict != nil || c.Reopened != nil || !c.DueAt.Equal(noon.AddDate(0, 0, 7)) {
			t.Errorf("got %+v, %v", c, err)
		}
		if n := count(t, w.Store).Jobs - jobs; n != 1 || w.rows(id, audit.Reopened) != 0 {
			t.Errorf("%d jobs more, and %d rows that say it was opened again", n, w.rows(id, audit.Reopened))
		}
		w.standing("dp-order")
	})
}

// What an event said of an open case was said: the same deadline by another channel is late once a person has set another, and another
// amount is refused before anything is taken over.
func TestWhatAnEventSaidWasSaid(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response", order: "1042"}.body("dp-said", 0)).Cases[0].ID
		w.deliver(word{hour: 1, stage: "chargeback", status: "needs_response", due: 7, amount: 4999}.body("dp-said", 1))
		w.reviewed(id, func(c *countersign.Case) { c.DueAt, c.DueSource = on(10), countersign.DueManual })
		theirs := noon.AddDate(0, 0, 7)
		if got, err := w.report("dp-said", "1042", &theirs); err != nil || got.Sooner {
			t.Errorf("the deadline that the event had: %+v, %v", got, err)
		}
		other := intake.Request{SubjectID: "1042", SubjectField: "order_id", Reason: countersign.OtherReason, DueAt: on(3), Stage: "chargeback",
			Amount: &countersign.Money{Minor: 3000, Currency: "USD"}, Terms: countersign.Terms{Reference: "dp-said"}}
		if _, err := w.Open(ctx, w.Desks[countersign.Merchant], actor, other); countersign.KindOf(err) != countersign.Conflict || strings.Contains(err.Error(), "taken over") {
			t.Errorf("another amount: %v", err)
		}
		if c, err := w.Store.Case(ctx, id); err != nil || !c.DueAt.Equal(*on(10)) || c.DueSource != countersign.DueManual || c.Amount.Minor != 4999 {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}

// A refund that fails while somebody is about to decide makes the page before them one that is out of date; one that succeeds does not.
func TestWhoDecidesSeesThatARefundFailed(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		id := w.deliver(word{stage: "chargeback", status: "needs_response", order: "1042"}.body("dp-eyes", 0)).Cases[0].ID
		w.reviewed(id, func(*countersign.Case) {})
		before, err := w.Store.Case(ctx, id)
		w.must(err)
		for _, row := range []struct {
			status string
			moves  int64
		}{{"succeeded", 0}, {"failed", 1}} {
			w.deliver(refund("1042", row.status, 1+int(row.moves)))
			c, err := w.Store.Case(ctx, id)
			if err != nil || int64(c.Revision)-int64(before.Revision) != row.moves || c.Status != countersign.InReview {
				t.Errorf("after a refund that %s the case is at revision %d, and was at %d: %v", row.status, c.Revision, before.Revision, err)
			}
		}
		w.standing("dp-eyes")
	})
}

// What a story comes to: the last round's amount, deadline and result, and the order and the stages that were named on the way. That it is
// the same in every other order is another test's.
func TestAStoryEndsAsItsProviderToldIt(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		for n, want := range map[int]struct {
			order, stages, result string
			round                 int // of the dispute
			due                   int // days after noon; 0 for none
			amount                int64
			turned                string
		}{
			0: {"1042", "chargeback", "lost", 1, 7, 4999, ""},
			1: {"1042", "chargeback", "lost", 1, 7, 4999, ""},
			2: {"1042", "chargeback", "lost", 2, 12, 3000, "Another round has begun."},
			3: {"1042", "chargeback inquiry", "", 0, 9, 4999, ""},
			4: {"1042", "chargeback", "", 0, 7, 0, ""},
			5: {"1042", "chargeback", "", 0, 9, 0, ""},
		} {
			t.Run(stories[n].name, func(t *testing.T) {
				w := w.in(t)
				story := stories[n].words
				for _, decided := range []bool{false, n == 2} {
					cases := w.casesOf(w.tell(story, orders(len(story))[0], decided, false))
					c, stages, result, round, turned := cases[0], []string{}, "", 0, ""
					for _, c := range cases {
						stages = append(stages, c.Stage)
					}
					if c.Result != nil {
						result, round = c.Result.State, c.Result.Round
					}
					if c.Reopened != nil {
						turned = c.Reopened.Text
					}
					if c.Subject.ID != want.order || strings.Join(stages, " ") != want.stages || result != want.result || round != want.round || c.Amount.Minor != want.amount ||
						!c.DueAt.Equal(noon.AddDate(0, 0, want.due)) || decided && turned != want.turned || c.Status != countersign.Queued {
						t.Errorf("decided %t, it ends as %+v with the result %+v", decided, c, c.Result)
					}
				}
			})
		}
	})
}

package intake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant"
	"countersign/events"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/store"
	"countersign/store/storetest"
)

// till is a provider that sends events to the merchant's desk of a real store.
type till struct {
	*testing.T
	intake.Events
	faults *storetest.Faults
	source store.EventSource
	sent   int
}

func newTill(t *testing.T, database string) *till {
	t.Helper()
	in, faults := setUpFaulty(t, database)
	w := &till{T: t, faults: faults, source: store.EventSource{Name: "till", Desk: countersign.Merchant, Window: time.Minute}}
	w.Events = intake.Events{Intake: in, Desks: map[countersign.DeskName]intake.Desk{countersign.Merchant: merchant.New(merchant.Config{}).Desk}}
	w.must(in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.AddEventSource(ctx, w.source, actor) }))
	return w
}

func (w *till) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// in is the till for a part of a test.
func (w *till) in(t *testing.T) *till {
	part := *w
	part.T = t
	return &part
}

// deliver sends a body that was signed, and fails the test if it is not taken.
func (w *till) deliver(body string) intake.Received {
	w.Helper()
	got, err := w.Receive(ctx, w.delivery(body))
	w.must(err)
	return got
}

func (w *till) delivery(body string) intake.Delivery {
	return intake.Delivery{Source: w.source, Body: []byte(body), Plain: []byte(body), SignedAt: w.Store.Now()}
}

// noon is when the provider's stories begin.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// word is one event of a story: how many hours after noon the provider says it, and what.
type word struct {
	hour          int
	stage, status string
	round         int
	due           int // days after noon; 0 for none
	order         string
	amount        int64
}

// body is the word as an event about that dispute.
func (e word) body(dispute string, n int) string {
	said := events.Event{Version: 1, ID: fmt.Sprint("ev-", dispute, "-", n), Type: "dispute." + e.status, CreatedAt: noon.Add(time.Duration(e.hour) * time.Hour),
		Dispute: &events.Dispute{ID: dispute, OrderID: e.order, PaymentID: "ch_1", Stage: events.Stage(e.stage), Status: events.Status(e.status), Round: e.round,
			ReasonCode: "13.1", Network: "visa"}}
	if e.due > 0 {
		due := noon.AddDate(0, 0, e.due)
		said.Dispute.DueAt = &due
	}
	if e.amount > 0 {
		said.Dispute.Amount = &countersign.Money{Minor: e.amount, Currency: "USD"}
	}
	return said.Said()
}

// standing is everything that the cases of a dispute, and the fold of its events, come to; what depends on the clock here and on how often
// something was saved is left out.
type standing struct {
	Cases []countersign.Case
	Fold  []events.Standing
	Steps int
}

func (w *till) standing(dispute string) (s standing) {
	w.Helper()
	rows, err := w.Store.DB().Query("SELECT id FROM cases WHERE provider_ref = '" + dispute + "' ORDER BY stage")
	w.must(err)
	var ids []countersign.CaseID
	for rows.Next() {
		var id countersign.CaseID
		w.must(rows.Scan(&id))
		ids = append(ids, id)
	}
	w.must(rows.Close())
	for _, id := range ids {
		c, err := w.Store.Case(ctx, id)
		w.must(err)
		report, err := w.Store.VerifyCase(ctx, id)
		w.must(err)
		if !report.OK {
			w.Errorf("the record of %s: %v", id, report)
		}
		c.ID, c.Revision, c.OpenedAt, c.UpdatedAt, c.Terms.Reference = "", 0, time.Time{}, time.Time{}, ""
		s.Cases = append(s.Cases, c)
	}
	kept, err := w.Store.EventsOf(ctx, "till", dispute)
	w.must(err)
	for _, k := range kept {
		if k.State != store.EventApplied {
			w.Errorf("event %s is %s: %s", k.EventID, k.State, k.Why)
		}
	}
	known, err := intake.KnownEvents(kept)
	w.must(err)
	var steps []events.Step
	s.Fold, steps = events.Fold(known)
	s.Steps = len(steps)
	return s
}

// stories are sequences of events that real providers have sent, in the order in which things happened there.
var stories = []struct {
	name  string
	words []word
}{
	{"a burst that ends lost", []word{{hour: 0, stage: "chargeback", status: "needs_response", due: 7, order: "1042", amount: 4999},
		{hour: 1, stage: "chargeback", status: "under_review"}, {hour: 2, stage: "chargeback", status: "lost"}}},
	{"the same, all of one moment", []word{{stage: "chargeback", status: "needs_response", due: 7, order: "1042", amount: 4999},
		{stage: "chargeback", status: "under_review"}, {stage: "chargeback", status: "lost"}}},
	{"lost, then won, then lost in a second chargeback", []word{{hour: 0, stage: "chargeback", status: "needs_response", due: 7, order: "1042", amount: 4999},
		{hour: 24, stage: "chargeback", status: "lost"}, {hour: 48, stage: "chargeback", status: "won"}, {hour: 72, stage: "chargeback", status: "lost", round: 2, due: 12, amount: 3000}}},
	{"an inquiry that becomes a chargeback", []word{{hour: 0, stage: "inquiry", status: "needs_response", due: 3, order: "1042", amount: 4999},
		{hour: 5, stage: "inquiry", status: "closed"}, {hour: 9, stage: "chargeback", status: "needs_response", due: 9, order: "1042", amount: 4999}}},
	{"a payment that nobody has seen, and whose order is named later", []word{{hour: 0, stage: "chargeback", status: "needs_response", due: 7},
		{hour: 3, stage: "chargeback", status: "needs_response", due: 7, order: "1042"}, {hour: 4, stage: "chargeback", status: "under_review"}}},
	{"a deadline that is brought forward and then extended", []word{{hour: 0, stage: "chargeback", status: "needs_response", due: 7, order: "1042"},
		{hour: 1, stage: "chargeback", status: "needs_response", due: 2}, {hour: 2, stage: "chargeback", status: "needs_response", due: 9}}},
}

// TestEveryOrderOfEventsEndsTheSame delivers every story in every order, and all of it at once, on both databases, to a case that nobody has
// decided and to one that was closed after the first event: the cases and what is known of the dispute are the same.
func TestEveryOrderOfEventsEndsTheSame(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		for _, story := range stories {
			for _, decided := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, decided %t", story.name, decided), func(t *testing.T) {
					w := w.in(t)
					var want *standing
					compare := func(how string, dispute string) {
						got := w.standing(dispute)
						if want == nil {
							want = &got
						}
						if diff := cmp.Diff(*want, got); diff != "" {
							t.Errorf("%s ends otherwise (-in order +so):\n%s", how, diff)
						}
					}
					for _, order := range orders(len(story.words)) {
						compare(fmt.Sprint(order), w.tell(story.words, order, decided, false))
					}
					compare("at once", w.tell(story.words, orders(len(story.words))[0], decided, true))
				})
			}
		}
	})
}

// tell delivers a story as a dispute of its own and returns its id. Decided closes the case that the first event opened before the rest is
// told.
func (w *till) tell(story []word, order []int, decided, atOnce bool) string {
	w.Helper()
	w.sent++
	dispute := fmt.Sprintf("dp-%s-%d", strings.ToLower(strings.Map(letters, w.Name())), w.sent)
	if decided {
		w.deliver(story[0].body(dispute, 0))
		w.decide(dispute)
	}
	var all sync.WaitGroup
	for _, i := range order {
		if atOnce {
			all.Go(func() {
				if _, err := w.Receive(ctx, w.delivery(story[i].body(dispute, i))); err != nil {
					w.Error(err)
				}
			})
			continue
		}
		w.deliver(story[i].body(dispute, i))
	}
	all.Wait()
	w.must(w.Sweep(ctx))
	return dispute
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return -1
}

// decide closes the case of a dispute, as a person would.
func (w *till) decide(dispute string) countersign.CaseID {
	w.Helper()
	var id countersign.CaseID
	w.must(w.Store.DB().QueryRow("SELECT id FROM cases WHERE provider_ref = '" + dispute + "' AND status <> 'closed'").Scan(&id))
	w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, id)
		if err != nil {
			return err
		}
		c.Status, c.Outcome, c.HandledBy = countersign.Closed, countersign.Contested, countersign.ByPerson
		c.Facts = &countersign.Facts{Items: []countersign.Fact{{Name: "refund_returned", State: countersign.Present}}}
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, actor, store.Note{Kind: audit.Closed, Payload: store.Closing(c)})
	}))
	return id
}

// orders are all orders of n things, the one in which they are first.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range orders(n - 1) {
		for at := len(shorter); at >= 0; at-- {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

// TestWhateverArrivesEndsTheSame draws sets of events, orders and repeats: the end depends on the set alone.
func TestWhateverArrivesEndsTheSame(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		rapid.Check(t, func(r *rapid.T) {
			var story []word
			for n := range rapid.IntRange(1, 6).Draw(r, "events") {
				label := fmt.Sprint("event ", n)
				story = append(story, word{hour: rapid.IntRange(0, 5).Draw(r, label+" hour"), stage: string(rapid.SampledFrom(events.Stages[:2]).Draw(r, label+" stage")),
					status: string(rapid.SampledFrom(events.Statuses).Draw(r, label+" status")), round: rapid.IntRange(1, 2).Draw(r, label+" round"),
					due: rapid.IntRange(0, 9).Draw(r, label+" due"), order: rapid.SampledFrom([]string{"", "1042", "1043"}).Draw(r, label+" order"),
					amount: rapid.SampledFrom([]int64{0, 4999, 3000}).Draw(r, label+" amount")})
			}
			decided := rapid.Bool().Draw(r, "decided")
			var first []int
			for i := range story {
				first = append(first, i)
			}
			other := rapid.Permutation(append(slices.Clone(first), rapid.SliceOfN(rapid.SampledFrom(first), 0, 4).Draw(r, "repeats")...)).Draw(r, "order")
			want, got := w.standing(w.tell(story, first, decided, false)), w.standing(w.tell(story, other, decided, false))
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("in another order it ends otherwise (-first +other):\n%s", diff)
			}
		})
	})
}

// A burst of the same delivery is one event, one case and one job, and so is one that comes again much later or under another id.
func TestTheSameEventIsOne(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		body := stories[0].words[0].body("dp-burst", 0)
		var all sync.WaitGroup
		for range 24 {
			all.Go(func() {
				if _, err := w.Receive(ctx, w.delivery(body)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		kept, err := w.Store.EventsOf(ctx, "till", "dp-burst")
		if err != nil || len(kept) != 1 || kept[0].Seen != 24 || kept[0].State != store.EventApplied {
			t.Fatalf("%d events, %v: %+v", len(kept), err, kept)
		}
		one := count(t, w.Store)
		if one.Cases != 1 || one.Jobs != 1 || one.Rows != 2 {
			t.Errorf("stored %+v", one)
		}
		for what, again := range map[string]string{"under another id": strings.Replace(body, `"id":"ev-dp-burst-0"`, `"id":"ev-again"`, 1),
			"with another spelling": strings.Replace(body, `{"version"`, "{\n  \"version\"", 1)} {
			if again == body {
				t.Fatal("it is the same body")
			}
			got := w.in(t).deliver(again)
			if !got.Again || got.Event.ID != kept[0].ID || count(t, w.Store) != one {
				t.Errorf("%s: %+v", what, got)
			}
		}
		t.Run("of another moment, it is told once more and does nothing", func(t *testing.T) {
			w := w.in(t)
			later := stories[0].words[0]
			later.hour = 3
			w.deliver(later.body("dp-burst", 9))
			got := w.standing("dp-burst")
			if got.Steps != 1 || count(t, w.Store).Jobs != 1 {
				t.Errorf("%+v", got)
			}
		})
		t.Run("an id that said something else before is kept, and refused", func(t *testing.T) {
			other := strings.Replace(body, `"status":"needs_response"`, `"status":"lost"`, 1)
			for range 2 {
				got, err := w.Receive(ctx, w.delivery(other))
				if countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "said something else before") || got.Event.State != store.EventUnreadable {
					t.Errorf("got %+v, %v", got, err)
				}
			}
			if s := w.in(t).standing("dp-burst"); s.Cases[0].Result != nil {
				t.Error("it counted")
			}
		})
	})
}

// Each statement of taking in an event fails once, in every way: asked again, and swept, it ends as if none had.
func TestAnEventThatFailsAtAnyStatementIsNeitherLostNorDoubled(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		story := stories[2].words
		want := w.standing(w.tell(story, []int{0, 1, 2, 3}, true, false))
		for _, way := range w.faults.Ways {
			for n, fired, failed := 1, true, 0; fired; n++ {
				w.sent++
				dispute := fmt.Sprint("dp-fault-", w.sent)
				w.deliver(story[0].body(dispute, 0))
				w.decide(dispute)
				w.faults.At(n, way)
				var errs []error
				for i := range story {
					_, err := w.Receive(ctx, w.delivery(story[i].body(dispute, i)))
					errs = append(errs, err)
				}
				fired = w.faults.Fired()
				for i, err := range errs {
					if err != nil { // the sender tries again
						failed++
						w.deliver(story[i].body(dispute, i))
					}
				}
				w.must(w.Sweep(ctx))
				if diff := cmp.Diff(want, w.standing(dispute)); diff != "" {
					t.Fatalf("%s, number %d (-want +got):\n%s", way, n, diff)
				}
				if !fired && n < 40 {
					t.Errorf("%s: only %d statements were there to fail", way, n-1)
				}
			}
		}
	})
}

// A case that a worker has is left alone; what arrives meanwhile waits, and is there when it ends.
func TestEventsWaitForAnInvestigation(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		story := stories[0].words
		id := w.deliver(story[0].body("dp-busy", 0)).Cases[0].ID
		var lease store.Lease
		w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			lease, _, err = tx.TakeLease(ctx, id, time.Minute)
			return err
		}))
		before, err := w.Store.Case(ctx, id)
		w.must(err)
		got := w.deliver(story[2].body("dp-busy", 2))
		after, err := w.Store.Case(ctx, id)
		w.must(err)
		if diff := cmp.Diff(before, after); diff != "" || got.Event.State != store.EventWaiting {
			t.Errorf("the event is %s, and the case under investigation changed:\n%s", got.Event.State, diff)
		}
		w.must(w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.HoldLease(ctx, lease, time.Minute); err != nil {
				return err
			}
			after.Status = countersign.InReview
			if err := tx.Save(ctx, &after); err != nil {
				return err
			}
			return tx.Record(ctx, id, actor, store.Note{Kind: audit.Verdict, Payload: map[string]any{"status": after.Status}})
		}))
		w.must(w.CatchUp(ctx, id))
		if s := w.standing("dp-busy"); s.Cases[0].Result == nil || s.Cases[0].Result.State != "lost" || s.Cases[0].Status != countersign.InReview {
			t.Errorf("after the investigation: %+v", s.Cases[0])
		}
	})
}

// refund is an event about a refund of an order, of so many days after noon.
func refund(order, status string, day int) string {
	return events.Event{Version: 1, ID: fmt.Sprint("rf-", order, day), Type: "refund." + status, CreatedAt: noon.AddDate(0, 0, day),
		Refund: &events.Refund{ID: "R-1", OrderID: order, Status: events.RefundStatus(status), Amount: &countersign.Money{Minor: 10000, Currency: "USD"}}}.Said()
}

// A refund that fails days later opens the decision again that had counted on it, whichever came first, and says so.
func TestARefundThatFailsLaterOpensTheDecisionAgain(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newTill(t, database)
		for n, days := range [][]int{{0, 3}, {3, 0}, {3, 0, 3}} {
			t.Run(fmt.Sprint("in the order ", days), func(t *testing.T) {
				w := w.in(t)
				order, dispute := fmt.Sprint("O-", n), fmt.Sprint("dp-refund-", n)
				w.deliver(word{stage: "chargeback", status: "needs_response", order: order}.body(dispute, 0))
				id := w.decide(dispute)
				for _, day := range days {
					w.deliver(refund(order, map[int]string{0: "succeeded", 3: "failed"}[day], day))
				}
				c, err := w.Store.Case(ctx, id)
				w.must(err)
				if c.Status != countersign.Queued || c.Round != 2 || c.Outcome != "" || c.Reopened == nil || c.Reopened.Code != countersign.RefundHasFailed ||
					!strings.Contains(c.Reopened.Text, "Refund R-1 of USD 100.00 failed on 2026-12-04") {
					t.Errorf("got %+v", c)
				}
				var reopened int
				for row, err := range w.Store.RecordRows(ctx, id, 0) {
					w.must(err)
					if row.Kind == audit.Reopened && json.Valid(row.Payload.Bytes) {
						reopened++
					}
				}
				if reopened != 1 {
					t.Errorf("%d rows say that it was opened again", reopened)
				}
				w.standing(dispute)
			})
		}
	})
}

package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/store"
)

// tills finds every order, takes the deadline and the amount as the request has them, and knows of stages.
var tills = intake.Desk{Name: countersign.Merchant, Prefix: "C-", Find: func(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
	found := intake.Found{Subject: countersign.Subject{Kind: countersign.OrderSubject, ID: r.SubjectID}, Stage: r.Stage, DueAt: r.DueAt, DueSource: countersign.DueUnknown}
	if r.DueAt != nil {
		found.DueSource = countersign.DueFromProvider
	}
	if r.Amount != nil {
		found.Amount = *r.Amount
	}
	return found, nil
}}

func chargeback(order string, due *time.Time) intake.Request {
	return intake.Request{SubjectID: order, SubjectField: "order_id", Reason: countersign.OtherReason, Stage: "chargeback", DueAt: due}
}

// on is noon of a day of December 2026.
func on(day int) *time.Time {
	at := time.Date(2026, 12, day, 12, 0, 0, 0, time.UTC)
	return &at
}

// TestADeadlineThatIsSaidAgainIsNotLost: an open case takes over one that it does not know or that is sooner, and says in its record that
// it did; a later one changes nothing, in whatever order they come.
func TestADeadlineThatIsSaidAgainIsNotLost(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		for _, row := range []struct {
			sentence    string
			first, then *time.Time
			want        *time.Time
			sooner      bool
		}{
			{"none was known", nil, on(20), on(20), true},
			{"a sooner one", on(20), on(18), on(18), true},
			{"a later one", on(20), on(22), on(20), false},
			{"the same", on(20), on(20), on(20), false},
			{"none is said the second time", on(20), nil, on(20), false},
			{"none ever", nil, nil, nil, false},
		} {
			t.Run(row.sentence, func(t *testing.T) {
				first, err := in.Open(ctx, tills, actor, chargeback(row.sentence, row.first))
				if err != nil {
					t.Fatal(err)
				}
				before := count(t, in.Store)
				again, err := in.Open(ctx, tills, actor, chargeback(row.sentence, row.then))
				if err != nil || again.Created || again.Case.ID != first.Case.ID || again.Sooner != row.sooner {
					t.Fatalf("%+v, %v", again, err)
				}
				c, err := in.Store.Case(ctx, first.Case.ID)
				if err != nil || (c.DueAt == nil) != (row.want == nil) || row.want != nil && (!c.DueAt.Equal(*row.want) || c.DueSource != countersign.DueFromProvider) {
					t.Errorf("it is due %v by %s, %v", c.DueAt, c.DueSource, err)
				}
				after := count(t, in.Store)
				if rows := after.Rows - before.Rows; (rows == 1) != row.sooner || after.Cases != before.Cases || c.Revision != 1+rows {
					t.Errorf("%d rows were written, and the case has revision %d", rows, c.Revision)
				}
				if row.sooner {
					saysAgain(t, in.Store, c)
				}
				if r, err := in.Store.VerifyCase(ctx, c.ID); err != nil || !r.OK {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	})
}

func saysAgain(t *testing.T, s *store.Store, c countersign.Case) {
	t.Helper()
	var last store.RecordRow
	for row, err := range s.RecordRows(ctx, c.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = row
	}
	var said struct {
		Again string
		Due   time.Time `json:"due_at"`
	}
	if err := json.Unmarshal(last.Payload.Bytes, &said); err != nil || last.Kind != audit.Note || last.Actor != actor.String() || said.Again != "api" || !said.Due.Equal(*c.DueAt) {
		t.Errorf("the last row is %s by %s: %s, %v", last.Kind, last.Actor, last.Payload.Bytes, err)
	}
}

// TestAnInquiryAndItsChargebackAreTwoCases: the second has a clock of its own, and neither swallows the other.
func TestAnInquiryAndItsChargebackAreTwoCases(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		asked := chargeback("1001", on(20))
		asked.Stage, asked.Terms.Reference = "inquiry", "dp_1"
		first, err := in.Open(ctx, tills, actor, asked)
		if err != nil {
			t.Fatal(err)
		}
		took := asked
		took.Stage, took.DueAt = "chargeback", on(10)
		second, err := in.Open(ctx, tills, actor, took)
		if err != nil || !second.Created || second.Case.Stage != "chargeback" || !second.Case.DueAt.Equal(*on(10)) {
			t.Fatalf("%+v, %v", second, err)
		}
		for _, again := range []struct {
			request intake.Request
			id      countersign.CaseID
		}{{asked, first.Case.ID}, {took, second.Case.ID}} {
			if got, err := in.Open(ctx, tills, actor, again.request); err != nil || got.Created || got.Case.ID != again.id {
				t.Errorf("%s again: %+v, %v", again.request.Stage, got, err)
			}
		}
	})
}

// TestWhatAnOpenCaseDoesNotHoldIsRefused: a caller who is answered "it is open" would believe that what they said counts.
func TestWhatAnOpenCaseDoesNotHoldIsRefused(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		r := chargeback("1001", on(20))
		r.Amount, r.Terms = &countersign.Money{Minor: 12000, Currency: "USD"}, countersign.Terms{Network: " Visa", ReasonCode: "13.1 "}
		if _, err := in.Open(ctx, tills, actor, r); err != nil {
			t.Fatal(err)
		}
		if got, err := in.Open(ctx, tills, actor, r); err != nil || got.Created {
			t.Errorf("the same again: %+v, %v", got, err)
		}
		for _, row := range []struct {
			field, says string
			change      func(*intake.Request)
		}{
			{"amount", "is USD 20.00 here, and USD 120.00 in case C-", func(r *intake.Request) { r.Amount = &countersign.Money{Minor: 2000, Currency: "USD"} }},
			{"amount", "is EUR 120.00 here", func(r *intake.Request) { r.Amount = &countersign.Money{Minor: 12000, Currency: "EUR"} }},
			{"network", "is amex here, and visa in case C-", func(r *intake.Request) { r.Terms.Network = "amex" }},
			{"reason_code", "is 13.2 here, and 13.1 in case C-", func(r *intake.Request) { r.Terms.ReasonCode = "13.2" }},
		} {
			t.Run(row.says, func(t *testing.T) {
				other, before := r, count(t, in.Store)
				other.DueAt = on(1)
				row.change(&other)
				_, err := in.Open(ctx, tills, actor, other)
				var e *countersign.Error
				if !errors.As(err, &e) || e.Kind != countersign.Conflict || e.Field != row.field || !strings.Contains(e.Message, row.says) || e.Hint == "" {
					t.Errorf("%v", err)
				}
				if after := count(t, in.Store); after != before {
					t.Errorf("it left %+v where there was %+v", after, before)
				}
			})
		}
	})
}

// TestACaseUnderInvestigationTakesNoDeadline: its worker would write the old one over it. Whoever sends it is told to come back.
func TestACaseUnderInvestigationTakesNoDeadline(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		first, err := in.Open(ctx, tills, actor, chargeback("1001", nil))
		if err != nil {
			t.Fatal(err)
		}
		err = in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := tx.TakeLease(ctx, first.Case.ID, time.Minute)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Open(ctx, tills, actor, chargeback("1001", on(20)))
		if countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), "send it again in a minute") {
			t.Errorf("%v", err)
		}
		if again, err := in.Open(ctx, tills, actor, chargeback("1001", nil)); err != nil || again.Case.ID != first.Case.ID {
			t.Errorf("nothing new: %+v, %v", again, err)
		}
	})
}

// TestOfManyDeadlinesAtOnceTheSoonestStands, under a key each, so that each is answered with the one case.
func TestOfManyDeadlinesAtOnceTheSoonestStands(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		answers, created := atOnce(t, 20, func(i int) (intake.Opened, error) {
			r := chargeback("1001", on(30-i))
			r.Key = key(string(rune('a'+i)), "b")
			return in.Open(ctx, tills, actor, r)
		})
		if len(answers) != 1 || created != 1 {
			t.Fatalf("answers %v, created %d", answers, created)
		}
		for id := range answers {
			c, err := in.Store.Case(ctx, id)
			if err != nil || !c.DueAt.Equal(*on(11)) {
				t.Errorf("it is due %v, %v", c.DueAt, err)
			}
		}
		if r, err := in.Store.VerifyRecord(ctx, nil); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestADeadlineThatAPersonSetOutlivesALateMessage: the provider's first message, delivered once more, takes no extension back. A deadline
// that nobody had said does.
func TestADeadlineThatAPersonSetOutlivesALateMessage(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		first, err := in.Open(ctx, tills, actor, chargeback("1001", on(10)))
		if err != nil {
			t.Fatal(err)
		}
		c := first.Case
		c.DueAt, c.DueSource = on(20), countersign.DueManual
		if err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Save(ctx, &c) }); err != nil {
			t.Fatal(err)
		}
		for _, row := range []struct {
			due, want *time.Time
			sooner    bool
		}{{on(10), on(20), false}, {on(15), on(15), true}, {on(10), on(10), true}} {
			again, err := in.Open(ctx, tills, actor, chargeback("1001", row.due))
			if err != nil || again.Sooner != row.sooner || !again.Case.DueAt.Equal(*row.want) {
				t.Errorf("said again for the %dth it is due %v, sooner %v, %v", row.due.Day(), again.Case.DueAt, again.Sooner, err)
			}
		}
	})
}

// TestTheDeadlineOfAFullerNoticeIsTaken: where the case holds no word of anybody's, the deadline is taken over before the rest is refused.
func TestTheDeadlineOfAFullerNoticeIsTaken(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		first, err := in.Open(ctx, tills, actor, chargeback("1001", nil))
		if err != nil {
			t.Fatal(err)
		}
		c := first.Case
		c.Amount = countersign.Money{Minor: 12000, Currency: "USD"} // as the order was read
		if err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Save(ctx, &c) }); err != nil {
			t.Fatal(err)
		}
		fuller := chargeback("1001", on(12))
		fuller.Amount, fuller.Terms.Network, fuller.Key = &countersign.Money{Minor: 5000, Currency: "USD"}, "visa", key("k", "b")
		_, err = in.Open(ctx, tills, actor, fuller)
		if countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "only its deadline was taken over") || !strings.Contains(err.Error(), "network is visa here, and not known there") {
			t.Errorf("%v", err)
		}
		if now, err := in.Store.Case(ctx, c.ID); err != nil || now.DueAt == nil || !now.DueAt.Equal(*on(12)) || now.Amount != c.Amount {
			t.Errorf("%+v, %v", now, err)
		}
		if n := count(t, in.Store); n.Keys != 0 {
			t.Errorf("%d keys are remembered of a request that was refused", n.Keys)
		}
	})
}

// TestAProvidersReferenceIsOneDispute: the same reference again is the same case, with less said or with more, and a conflict where the code
// is another.
func TestAProvidersReferenceIsOneDispute(t *testing.T) {
	coded := tills
	coded.Find = func(ctx context.Context, v store.View, r intake.Request, now time.Time) (intake.Found, error) {
		found, err := tills.Find(ctx, v, r, now)
		if r.Terms.ReasonCode == "13.1" {
			found.Reason = countersign.NotReceived
		}
		return found, err
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		r := chargeback("1001", nil)
		r.Terms = countersign.Terms{Network: "visa", ReasonCode: "13.1", Reference: "dp_1"}
		first, err := in.Open(ctx, coded, actor, r)
		if err != nil {
			t.Fatal(err)
		}
		bare := chargeback("1001", on(12))
		bare.Terms.Reference = "dp_1"
		if got, err := in.Open(ctx, coded, actor, bare); err != nil || got.Created || got.Case.ID != first.Case.ID || !got.Sooner {
			t.Errorf("with less said it is %+v, %v", got, err)
		}
		r.Terms.ReasonCode = "10.4"
		if _, err := in.Open(ctx, coded, actor, r); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "is 10.4 here, and 13.1 in case") {
			t.Errorf("with another code: %v", err)
		}
		r.Terms.Reference = "dp_2"
		if got, err := in.Open(ctx, coded, actor, r); err != nil || !got.Created {
			t.Errorf("another reference: %+v, %v", got, err)
		}
	})
}

package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// list reads every page and returns the ids in order.
func list(t testing.TB, v store.View, f store.Filter) (ids []string) {
	t.Helper()
	for pages := 0; ; pages++ {
		cases, end, err := v.Cases(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			ids = append(ids, string(c.ID))
		}
		if len(cases) > f.Limit || pages > 100 {
			t.Fatalf("page %d has %d cases, of at most %d", pages, len(cases), f.Limit)
		}
		if end == (store.Place{}) {
			return ids
		}
		f.After = end
	}
}

// shelve stores a case as it stands, whatever it says.
func shelve(t testing.TB, s *store.Store, c countersign.Case) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": c.Status, "outcome": c.Outcome}})
	})
}

func TestCasesComeMostAtRiskFirst(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		due := func(days int) *time.Time { d := day.AddDate(0, 0, days); return &d }
		rows := []struct { // as they must be listed
			id     countersign.CaseID
			due    *time.Time
			status countersign.Status
		}{
			{"unknown A", nil, countersign.Queued}, {"unknown a", nil, countersign.InReview}, {"unknown b", nil, countersign.Investigating},
			{"overdue", due(-400), countersign.InReview}, {"today b", due(0), countersign.Queued}, {"today c", due(0), countersign.Queued},
			{"next week", due(7), countersign.AwaitingSecondApproval}, {"a next year", due(365), countersign.Queued},
			{"A closed", due(1), countersign.Closed}, {"closed", nil, countersign.Closed},
		}
		var want []string
		for _, row := range slices.Backward(rows) { // so that the order of storing is not what orders them
			c := queued(row.id)
			c.DueAt, c.Status = row.due, row.status
			shelve(t, s, c)
			want = slices.Insert(want, 0, string(row.id))
		}
		for _, limit := range []int{1, 2, 3, 9, 10, 11, 50} {
			if diff := cmp.Diff(want, list(t, s.View, store.Filter{Limit: limit})); diff != "" {
				t.Errorf("in pages of %d (-want +got):\n%s", limit, diff)
			}
		}
		t.Run("a case that is closed moves to the end", func(t *testing.T) {
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				c, err := tx.LockCase(ctx, "overdue")
				c.Status = countersign.Closed
				return errors.Join(err, tx.Save(ctx, &c))
			})
			if got := list(t, s.View, store.Filter{Limit: 3}); got[len(got)-1] != "overdue" || len(got) != len(want) {
				t.Errorf("got %q", got)
			}
		})
		t.Run("no limit is a page that a screen can draw", func(t *testing.T) {
			cases, end, err := s.Cases(ctx, store.Filter{})
			if err != nil || len(cases) != len(want) || end != (store.Place{}) {
				t.Errorf("got %d cases, then %v, %v", len(cases), end, err)
			}
		})
		t.Run("none fits", func(t *testing.T) {
			if got := list(t, s.View, store.Filter{Limit: 5, CustomerID: "nobody"}); got != nil {
				t.Errorf("got %q", got)
			}
		})
	})
}

func TestFilters(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		reasons := func(codes ...countersign.ReasonCode) *countersign.Verdict {
			v := &countersign.Verdict{Kind: countersign.Review}
			for _, code := range codes {
				v.Reasons = append(v.Reasons, countersign.Reason{Code: code, Text: "because"})
			}
			return v
		}
		for _, change := range []func(*countersign.Case){
			func(c *countersign.Case) { c.ID = "D-100" },
			func(c *countersign.Case) {
				c.ID, c.Desk, c.Subject.Kind = "C-100", countersign.Merchant, countersign.OrderSubject
			},
			func(c *countersign.Case) { c.ID, c.Status, c.Recommendation = "D-200", countersign.InReview, "resolve" },
			func(c *countersign.Case) { c.ID, c.CustomerID, c.Subject.ID = "D-300", "C%", "T_1" },
			func(c *countersign.Case) { c.ID, c.Verdict = "D-%00", reasons("facts_unknown", "above_cap") },
			func(c *countersign.Case) {
				c.ID, c.Verdict = `D-\00`, reasons("facts_unknown_too", "no_cap_for_currency")
			},
			func(c *countersign.Case) { c.ID, c.Verdict, c.Subject.ID = "D-_00", reasons(), "TX1" },
			func(c *countersign.Case) { c.ID, c.Subject.ID = "d-400", "d-4" },
			func(c *countersign.Case) { c.ID, c.Subject.ID = "Ä-1", "' OR 1=1 --" },
		} {
			c := queued("")
			c.Subject.ID = ""
			change(&c)
			if c.Subject.ID == "" {
				c.Subject.ID = "T-" + string(c.ID)
			}
			shelve(t, s, c)
		}
		for _, row := range []struct {
			name string
			f    store.Filter
			want []string
		}{
			{"everything", store.Filter{}, []string{"C-100", "D-%00", "D-100", "D-200", "D-300", `D-\00`, "D-_00", "d-400", "Ä-1"}},
			{"a desk", store.Filter{Desk: countersign.Merchant}, []string{"C-100"}},
			{"a status", store.Filter{Status: countersign.InReview}, []string{"D-200"}},
			{"a recommendation", store.Filter{Recommendation: "resolve"}, []string{"D-200"}},
			{"a customer", store.Filter{CustomerID: "C%"}, []string{"D-300"}},
			{"a reason, as a whole word", store.Filter{Reason: "facts_unknown"}, []string{"D-%00"}},
			{"a reason, the last of several", store.Filter{Reason: "above_cap"}, []string{"D-%00"}},
			{"a reason that is a part of others", store.Filter{Reason: "facts"}, nil},
			{"a reason with a wild card in it", store.Filter{Reason: "%"}, nil},
			{"a reason in which any letter would do", store.Filter{Reason: "factsXunknown"}, nil},
			{"a reason whose letters are wild cards", store.Filter{Reason: "_____________"}, nil},
			{"the id of a case", store.Filter{Query: "D-100"}, []string{"D-100"}},
			{"the beginning of an id", store.Filter{Query: "D-"}, []string{"D-%00", "D-100", "D-200", "D-300", `D-\00`, "D-_00"}},
			{"the beginning of an id in small letters", store.Filter{Query: "d-1"}, []string{"D-100"}},
			{"small letters of an id that has them", store.Filter{Query: "d-4"}, []string{"d-400"}},
			{"capitals are only themselves", store.Filter{Query: "D-4"}, nil},
			{"blanks around it", store.Filter{Query: " D-100 "}, []string{"D-100"}},
			{"a beginning that is not ASCII", store.Filter{Query: "Ä"}, []string{"Ä-1"}},
			{"a percent sign is no wild card", store.Filter{Query: "%"}, nil},
			{"a percent sign is itself", store.Filter{Query: "D-%"}, []string{"D-%00"}},
			{"an underscore is no wild card", store.Filter{Query: "D-_"}, []string{"D-_00"}},
			{"a backslash is itself", store.Filter{Query: `D-\`}, []string{`D-\00`}},
			{"the id of a transaction, as a whole", store.Filter{Query: "T_1"}, []string{"D-300"}},
			{"an injection finds what it names", store.Filter{Query: "' OR 1=1 --"}, []string{"Ä-1"}},
			{"two at once", store.Filter{Desk: countersign.Bank, Query: "C-100"}, nil},
		} {
			t.Run(row.name, func(t *testing.T) {
				row.f.Limit = 3
				if diff := cmp.Diff(row.want, list(t, s.View, row.f)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

// What narrows the queue beside what the API knows of.
func TestQueueFilters(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
		due := func(after time.Duration) func(*countersign.Case) {
			return func(c *countersign.Case) { at := now.Add(after); c.DueAt = &at }
		}
		for id, change := range map[countersign.CaseID]func(*countersign.Case){
			"overdue":   due(-time.Microsecond),
			"now":       due(0),
			"tomorrow":  due(24 * time.Hour),
			"later":     due(24*time.Hour + time.Microsecond),
			"undated":   func(c *countersign.Case) {},
			"review":    func(c *countersign.Case) { c.Status = countersign.InReview },
			"second":    func(c *countersign.Case) { c.Status = countersign.AwaitingSecondApproval },
			"raised":    func(c *countersign.Case) { c.Status, c.Raised = countersign.InReview, true },
			"duplicate": func(c *countersign.Case) { c.Reason = countersign.DuplicateCharge },
			"closed": func(c *countersign.Case) {
				due(-time.Hour)(c)
				c.Status, c.Raised = countersign.Closed, true
			},
		} {
			c := queued(id)
			change(&c)
			shelve(t, s, c)
		}
		for _, row := range []struct {
			name string
			f    store.Filter
			want []string
		}{
			{"open", store.Filter{Open: true}, []string{"duplicate", "raised", "review", "second", "undated", "overdue", "now", "tomorrow", "later"}},
			{"for a person", store.Filter{ForPerson: true}, []string{"raised", "review", "second"}},
			{"for a person, and queued", store.Filter{ForPerson: true, Status: countersign.Queued}, nil},
			{"a complaint", store.Filter{Complaint: countersign.DuplicateCharge}, []string{"duplicate"}},
			{"overdue", store.Filter{Due: store.Overdue}, []string{"overdue"}},
			{"due within a day", store.Filter{Due: store.DueSoon}, []string{"now", "tomorrow"}},
			{"without a deadline", store.Filter{Due: store.Undated, Status: countersign.InReview}, []string{"raised", "review"}},
			{"raised", store.Filter{Raised: true}, []string{"raised"}},
			{"not raised", store.Filter{Unraised: true, ForPerson: true}, []string{"review", "second"}},
			{"raised and not", store.Filter{Unraised: true, Raised: true}, nil},
		} {
			t.Run(row.name, func(t *testing.T) {
				row.f.Limit, row.f.Now = 3, now
				if diff := cmp.Diff(row.want, list(t, s.View, row.f)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestACaseIsKeptWhole(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		due := time.Date(2026, 12, 24, 12, 0, 0, 123_000, time.UTC)
		want := queued("D-1")
		want.Notes, want.Channel = "line\n\"quoted\" \u202e😀", "whatsapp"
		want.DueAt, want.DueSource = &due, countersign.DueFromRule
		shelve(t, s, want)
		want.Stage, want.Status, want.Recommendation, want.Raised, want.Round = "pre-arbitration", countersign.InReview, "resolve", true, 2
		want.Proposal = &countersign.Proposal{Recommendation: "resolve", Confidence: 0.1 + 0.2, Claims: []countersign.Claim{{Text: "it failed",
			Citations: []countersign.Citation{{Ref: "S1", Field: "status", Value: "failed", Status: countersign.CitationVerified}}}}}
		want.Facts = &countersign.Facts{Items: []countersign.Fact{{Name: "debit_posted", State: countersign.Present, Value: "NGN 1.00"}},
			Fix: countersign.NewFix(countersign.Reversal, "T-1", "A1", ngn(100)), Doubts: []countersign.Doubt{}, Seen: "abc"}
		want.Verdict = &countersign.Verdict{Kind: countersign.Review, Reasons: []countersign.Reason{{Code: countersign.AboveCap, Text: "much"}}, Caveats: []string{}}
		want.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: want.Facts.Fix}
		want.Message, want.Model = "Dear Ada", countersign.ModelUse{Provider: "rulebook", InputTokens: 1 << 40}
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			err := tx.Save(ctx, &want)
			if !want.UpdatedAt.Equal(tx.Now) || want.Revision != 2 {
				t.Errorf("saved at %v as revision %d", want.UpdatedAt, want.Revision)
			}
			return err
		})
		got, err := s.Case(ctx, "D-1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-saved +read):\n%s", diff)
		}
		t.Run("one that was changed meanwhile is not overwritten", func(t *testing.T) {
			stale := got
			stale.Revision--
			stale.Message = "Dear nobody"
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Save(ctx, &stale) })
			if now, _ := s.Case(ctx, "D-1"); countersign.KindOf(err) != countersign.Conflict || now.Message != "Dear Ada" {
				t.Errorf("got %v, and the message %q", err, now.Message)
			}
		})
		t.Run("a second open one about the same thing is a conflict", func(t *testing.T) {
			twin := queued("D-2")
			twin.Subject, twin.Stage = want.Subject, want.Stage
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.Birth(ctx, twin, 0, worker, store.Note{Kind: audit.Opened, Payload: struct{}{}})
			})
			if n := number(t, s, "SELECT COUNT(*) FROM record_rows"); countersign.KindOf(err) != countersign.Conflict || n != 1 {
				t.Errorf("got %v and %d rows", err, n)
			}
		})
		t.Run("one that does not exist is not found", func(t *testing.T) {
			_, err := s.Case(ctx, "D-9")
			_, errHead := s.Head(ctx, "D-9")
			if countersign.KindOf(err) != countersign.NotFound || countersign.KindOf(errHead) != countersign.NotFound {
				t.Errorf("got %v and %v", err, errHead)
			}
		})
	})
}

func TestWaitingCountsByStatus(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i, status := range slices.Concat(countersign.Statuses, countersign.Statuses[:1], []countersign.Status{"a later status"}) {
			c := queued(id(i))
			c.Status = status
			shelve(t, s, c)
		}
		got, err := s.Waiting(ctx)
		if want := (store.Waiting{Queued: 2, Investigating: 1, InReview: 2, Closed: 1}); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

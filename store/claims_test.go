package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// hall is a store with a clock that a test sets, where people claim cases.
type hall struct {
	*testing.T
	*store.Store
	now time.Time
}

func inHall(t *testing.T, run func(t *testing.T, h *hall)) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := &hall{T: t, now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)}
		h.Store = open(t, database, store.Options{Now: func() time.Time { return h.now }})
		run(t, h)
	})
}

// waiting shelves a case in a status, due in so many days.
func (h *hall) waiting(id countersign.CaseID, s countersign.Status, days int) {
	h.Helper()
	c, due := queued(id), h.now.AddDate(0, 0, days)
	c.Status, c.DueAt = s, &due
	shelve(h, h.Store, c)
}

const span = 10 * time.Minute

func (h *hall) claim(id countersign.CaseID, person string) (from store.Claim, err error) {
	err = h.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		from, err = tx.Claim(ctx, id, person, tx.Now.Add(span))
		return err
	})
	return from, err
}

func (h *hall) take(person string, f store.Filter) (id countersign.CaseID, ok bool) {
	h.Helper()
	write(h, h.Store, func(ctx context.Context, tx *store.Tx) (err error) {
		id, ok, err = tx.TakeNext(ctx, person, f, tx.Now.Add(span))
		return err
	})
	return id, ok
}

// has fails unless a case is the person's, or nobody's if it is nobody.
func (h *hall) has(id countersign.CaseID, person string) (c store.Claim) {
	h.Helper()
	c, ok, err := h.Holder(ctx, id, h.now)
	if err != nil || ok != (person != "") || c.PersonID != person {
		h.Errorf("%s is with %+v, %v, want %q", id, c, err, person)
	}
	return c
}

func TestClaims(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		h.waiting("D-1", countersign.InReview, 1)
		h.waiting("D-2", countersign.Queued, 1)
		began := h.now
		t.Run("whoever claims a case has it, until a time", func(t *testing.T) {
			h.has("D-1", "")
			if from, err := h.claim("D-1", "ada"); err != nil || from != (store.Claim{}) {
				t.Errorf("got %+v, %v", from, err)
			}
			if diff := cmp.Diff(store.Claim{PersonID: "ada", Since: began, Until: began.Add(span)}, h.has("D-1", "ada")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		t.Run("claiming it again puts the time off, and takes it from nobody", func(t *testing.T) {
			h.now = began.Add(time.Minute)
			if from, err := h.claim("D-1", "ada"); err != nil || from != (store.Claim{}) {
				t.Errorf("got %+v, %v", from, err)
			}
			if c := h.has("D-1", "ada"); c.Since != began || c.Until != h.now.Add(span) {
				t.Errorf("got %+v", c)
			}
		})
		t.Run("somebody else takes it over, and learns from whom", func(t *testing.T) {
			if from, err := h.claim("D-1", "bola"); err != nil || from.PersonID != "ada" || from.Since != began {
				t.Errorf("got %+v, %v", from, err)
			}
			if c := h.has("D-1", "bola"); c.Since != h.now {
				t.Errorf("got %+v", c)
			}
		})
		renew := func(person string) (ok bool) {
			write(t, h.Store, func(ctx context.Context, tx *store.Tx) (err error) {
				ok, err = tx.Renew(ctx, "D-1", person, tx.Now.Add(span))
				return err
			})
			return ok
		}
		release := func(person string) {
			write(t, h.Store, func(ctx context.Context, tx *store.Tx) error { return tx.Release(ctx, "D-1", person) })
		}
		t.Run("only who has it can renew or release it", func(t *testing.T) {
			before := h.has("D-1", "bola")
			h.now = h.now.Add(time.Minute)
			release("ada")
			if renew("ada") || h.has("D-1", "bola") != before {
				t.Error("ada, who has it no more, changed the claim")
			}
			if !renew("bola") || h.has("D-1", "bola").Until != h.now.Add(span) {
				t.Error("bola could not renew hers")
			}
			release("bola")
			h.has("D-1", "")
		})
		t.Run("a claim that ran out counts as none", func(t *testing.T) {
			h.claim("D-1", "ada")
			h.now = h.now.Add(span)
			h.has("D-1", "")
			if renew("ada") {
				t.Error("ada renewed a claim that had run out")
			}
			if from, err := h.claim("D-1", "bola"); err != nil || from != (store.Claim{}) {
				t.Errorf("got %+v, %v", from, err)
			}
		})
		t.Run("it ends when the case leaves review", func(t *testing.T) {
			if got := list(t, h.View, store.Filter{Holder: "bola", Now: h.now, Limit: 5}); len(got) != 1 {
				t.Errorf("bola's cases are %q", got)
			}
			exec(t, h.Store, "UPDATE cases SET status = 'queued' WHERE id = 'D-1'")
			h.has("D-1", "")
			if got := list(t, h.View, store.Filter{Holder: "bola", Now: h.now, Limit: 5}); got != nil {
				t.Errorf("bola's cases are %q", got)
			}
			exec(t, h.Store, "UPDATE cases SET status = 'in_review' WHERE id = 'D-1'")
		})
		t.Run("a case that waits for no person cannot be claimed", func(t *testing.T) {
			if _, err := h.claim("D-2", "ada"); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("got %v", err)
			}
			if _, err := h.claim("D-9", "ada"); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("got %v", err)
			}
		})
		t.Run("what ran out is cleared away with the next release", func(t *testing.T) {
			h.now = h.now.AddDate(0, 0, 1)
			write(t, h.Store, func(ctx context.Context, tx *store.Tx) error { return tx.Release(ctx, "D-2", "bola") })
			if n := number(t, h.Store, "SELECT COUNT(*) FROM claims"); n != 0 {
				t.Errorf("%d claims are left", n)
			}
		})
		t.Run("the record says nothing of it", func(t *testing.T) { intact(t, h.Store, 2, 2) })
	})
}

func TestTakeNext(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		h.waiting("queued", countersign.Queued, -9)
		h.waiting("closed", countersign.Closed, -9)
		h.waiting("second", countersign.AwaitingSecondApproval, -9)
		h.waiting("soon", countersign.InReview, 1)
		h.waiting("late", countersign.InReview, 5)
		h.waiting("held", countersign.InReview, 0)
		h.claim("held", "bola")
		for _, want := range []countersign.CaseID{"soon", "late", ""} {
			if got, ok := h.take("ada", store.Filter{}); got != want || ok != (want != "") {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		h.has("soon", "ada")
		h.has("held", "bola")
		t.Run("the filter chooses among them", func(t *testing.T) {
			if got, _ := h.take("ada", store.Filter{Raised: true}); got != "" {
				t.Errorf("got %q, which is not raised", got)
			}
			if got, _ := h.take("ada", store.Filter{Status: countersign.AwaitingSecondApproval}); got != "second" {
				t.Errorf("got %q", got)
			}
			if got, _ := h.take("ada", store.Filter{Status: countersign.Queued}); got != "" {
				t.Errorf("got %q, which waits for no person", got)
			}
		})
		t.Run("what ran out is free again", func(t *testing.T) {
			h.now = h.now.Add(span)
			if got, _ := h.take("ada", store.Filter{Query: "he"}); got != "held" {
				t.Errorf("got %q", got)
			}
			h.has("held", "ada")
		})
	})
}

func TestTwoPeopleNeverTakeTheSameCase(t *testing.T) {
	inHall(t, func(t *testing.T, h *hall) {
		const people, cases = 20, 50
		for i := range cases {
			h.waiting(id(i), countersign.InReview, i)
		}
		taken := make([][]countersign.CaseID, people)
		for _, err := range parallel(people, func(i int) error {
			for {
				got, ok := countersign.CaseID(""), false
				err := h.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
					got, ok, err = tx.TakeNext(ctx, fmt.Sprint("usr_", i), store.Filter{}, tx.Now.Add(span))
					return err
				})
				if err != nil || !ok {
					return err
				}
				taken[i] = append(taken[i], got)
			}
		}) {
			t.Error(err)
		}
		holders := map[countersign.CaseID]string{}
		for i, ids := range taken {
			for _, id := range ids {
				if other := holders[id]; other != "" {
					t.Errorf("%s was given to %s and to usr_%d", id, other, i)
				}
				holders[id] = fmt.Sprint("usr_", i)
			}
		}
		all := make([]countersign.CaseID, cases)
		for i := range all {
			all[i] = id(i)
		}
		stored, err := h.Holders(ctx, all, h.now)
		if err != nil || len(holders) != cases || len(stored) != cases {
			t.Fatalf("%d of %d cases were given away, %d claims are stored, %v", len(holders), cases, len(stored), err)
		}
		for id, c := range stored {
			if holders[id] != c.PersonID {
				t.Errorf("%s was given to %s, and is with %s", id, holders[id], c.PersonID)
			}
		}
	})
}

package store_test

import (
	"context"
	"testing"
	"time"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

func TestUnattended(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		now := time.Now().UTC()
		for id, in := range map[countersign.CaseID]struct {
			due    time.Duration
			status countersign.Status
		}{
			"D-LATE": {-time.Hour, countersign.InReview}, "D-SOON": {47 * time.Hour, countersign.InReview}, "D-FAR": {49 * time.Hour, countersign.InReview},
			"D-WORK": {time.Hour, countersign.Investigating}, "D-DONE": {time.Hour, countersign.Closed}, "D-HELD": {time.Hour, countersign.InReview}, "D-WAS": {time.Hour, countersign.InReview},
		} {
			c := queued(id)
			due := now.Add(in.due)
			c.Status, c.DueAt, c.DueSource, c.Subject.ID = in.status, &due, countersign.DueFromRule, string(id)
			shelve(t, s, c)
		}
		c := queued("D-NONE")
		c.Status, c.Subject.ID = countersign.InReview, "none"
		shelve(t, s, c)
		for id, until := range map[countersign.CaseID]time.Time{"D-HELD": now.Add(time.Hour), "D-WAS": now.Add(-time.Hour)} {
			if err := s.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Claim(ctx, id, "usr_ada", until)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Unattended(t.Context(), now.Add(48*time.Hour), now); err != nil || n != 3 {
			t.Errorf("%d, %v; want 3: the overdue one, the one due in 47 hours, and the one whose claim has run out", n, err)
		}
	})
}

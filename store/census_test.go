package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

func TestCensus(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		now := time.Now().UTC().Truncate(time.Microsecond)
		for id, in := range map[countersign.CaseID]struct {
			desk    countersign.DeskName
			status  countersign.Status
			due     time.Duration // from now; unknown when zero
			changed time.Duration // ago
		}{
			"D-Q1": {countersign.Bank, countersign.Queued, 0, 10 * time.Minute}, "D-Q2": {countersign.Bank, countersign.Queued, 72 * time.Hour, time.Hour},
			"C-Q1": {countersign.Merchant, countersign.Queued, -time.Minute, time.Minute},
			"D-R1": {countersign.Bank, countersign.InReview, -time.Hour, 9 * time.Hour}, "D-R2": {countersign.Bank, countersign.InReview, 23 * time.Hour, 0},
			"D-R3": {countersign.Bank, countersign.InReview, 24 * time.Hour, 0}, "D-R4": {countersign.Bank, countersign.InReview, 48 * time.Hour, 0},
			"D-2A": {countersign.Bank, countersign.AwaitingSecondApproval, 0, 0},
			"D-CL": {countersign.Bank, countersign.Closed, time.Hour, 90 * time.Hour},
		} {
			c := queued(id)
			c.Desk, c.Status, c.UpdatedAt = in.desk, in.status, now.Add(-in.changed)
			if due := now.Add(in.due); in.due != 0 {
				c.DueAt, c.DueSource = &due, countersign.DueFromRule
			}
			shelve(t, s, c)
		}
		for id, until := range map[countersign.CaseID]time.Duration{"D-HELD": time.Minute, "D-GONE": -time.Minute} {
			newCase(t, s, id)
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, _, err := tx.TakeLease(ctx, id, until)
				return err
			})
		}
		got, err := s.Census(ctx, now)
		if err != nil {
			t.Fatal(err)
		}
		want := store.Census{At: now,
			Cases: map[countersign.DeskName]map[countersign.Status]int64{
				countersign.Bank:     {countersign.Queued: 2, countersign.Investigating: 2, countersign.InReview: 4, countersign.AwaitingSecondApproval: 1},
				countersign.Merchant: {countersign.Queued: 1}},
			Due: map[countersign.DeskName]store.Deadlines{
				countersign.Bank: {Overdue: 1, Day: 1, TwoDays: 1, Later: 2, Unknown: 4}, countersign.Merchant: {Overdue: 1}},
			QueuedSince: map[countersign.DeskName]time.Time{countersign.Bank: now.Add(-time.Hour), countersign.Merchant: now.Add(-time.Minute)},
			Held:        1, Lapsed: 1, Unattended: 3}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the census differs (-want +got):\n%s", diff)
		}
	})
}

// TestWhoCountsLeasesGoesByTheirClock: a process whose own clock is wrong says the same of the workers as every other does.
func TestWhoCountsLeasesGoesByTheirClock(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		leases := at(time.Now())
		s := open(t, database, store.Options{Leases: leases.Now})
		newCase(t, s, "D-1")
		if _, ok := take(t, s, "D-1"); !ok {
			t.Fatal("the lease was not taken")
		}
		for _, wrong := range []time.Duration{0, time.Hour, -time.Hour} {
			c, err := s.Census(ctx, time.Now().Add(wrong))
			if err != nil || c.Held != 1 || c.Lapsed != 0 {
				t.Errorf("by a clock that is %s off %d leases are held and %d lapsed: %v", wrong, c.Held, c.Lapsed, err)
			}
		}
		leases.advance(leaseTime + time.Second)
		if c, err := s.Census(ctx, time.Now()); err != nil || c.Held != 0 || c.Lapsed != 1 {
			t.Errorf("when it has run out %d leases are held and %d lapsed: %v", c.Held, c.Lapsed, err)
		}
		leases.advance(-24 * time.Hour)
		if c, err := s.Census(ctx, time.Now()); err != nil || c.Held != 0 || c.Lapsed != 1 {
			t.Errorf("one that a wrong clock gave is held by %d and lapsed by %d: %v", c.Held, c.Lapsed, err)
		}
	})
}

func TestTheLastVerificationIsRemembered(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		if r, err := s.RecordStanding(ctx); err != nil || r.Rows != 1 || r.Verified != nil {
			t.Fatalf("before the first verification: %+v, %v", r, err)
		}
		for _, ok := range []bool{true, false} {
			before := s.Now()
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.KeepVerified(ctx, audit.Report{OK: ok, Cases: 1, Rows: 1})
			})
			r, err := s.RecordStanding(ctx)
			if err != nil || r.Verified == nil || r.Verified.OK != ok || r.Verified.Rows != 1 || r.Verified.At.Before(before.Truncate(time.Microsecond)) {
				t.Errorf("remembered: %+v, %v", r.Verified, err)
			}
		}
	})
}

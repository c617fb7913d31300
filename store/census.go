package store

import (
	"context"
	"time"

	"countersign"
)

// Census is how the open cases stand, all of them, for whoever watches the program and not a case.
type Census struct {
	At          time.Time
	Cases       map[countersign.DeskName]map[countersign.Status]int64
	Due         map[countersign.DeskName]Deadlines
	QueuedSince map[countersign.DeskName]time.Time // since when the case that has waited longest for a worker has; missing when none waits
	Held        int64                              // a worker has the case
	Lapsed      int64                              // a worker had it, has not been heard of in time, and nobody has taken it over yet
	Unattended  int                                // as Unattended counts them, due within 48 hours
}

// Deadlines counts open cases by when they are due; each case is in one of them.
type Deadlines struct{ Overdue, Day, TwoDays, Later, Unknown int64 }

// Census counts. It reads every open case once, in an index that has all that is counted, so it takes the longer the more
// there are: some tenths of a second for a million. Closed ones, which only grow in number, are not counted.
func (s *Store) Census(ctx context.Context, now time.Time) (Census, error) {
	c := Census{At: now, Cases: map[countersign.DeskName]map[countersign.Status]int64{}, Due: map[countersign.DeskName]Deadlines{},
		QueuedSince: map[countersign.DeskName]time.Time{}}
	err := s.ask(ctx, s.countStanding(&c), s.queuedSince(&c), s.countLeases(&c))
	if err != nil {
		return c, wrap(err, "count the open cases")
	}
	c.Unattended, err = s.Unattended(ctx, now.Add(48*time.Hour), now)
	return c, err
}

func (v View) countStanding(c *Census) question {
	now := c.At
	return question{`SELECT desk, status, COUNT(*), COUNT(CASE WHEN risk = 0 THEN 1 END), COUNT(CASE WHEN risk > 0 AND risk < $1 THEN 1 END),
		COUNT(CASE WHEN risk >= $1 AND risk < $2 THEN 1 END), COUNT(CASE WHEN risk >= $2 AND risk < $3 THEN 1 END)
		FROM ` + v.d.counted + " WHERE status <> 'closed' GROUP BY desk, status",
		[]any{now.UnixMicro(), now.Add(24 * time.Hour).UnixMicro(), now.Add(48 * time.Hour).UnixMicro()}, func(row scanner) error {
			var desk countersign.DeskName
			var status countersign.Status
			var all int64
			var due Deadlines
			if err := row.Scan(&desk, &status, &all, &due.Unknown, &due.Overdue, &due.Day, &due.TwoDays); err != nil {
				return err
			}
			due.Later = all - due.Unknown - due.Overdue - due.Day - due.TwoDays
			if c.Cases[desk] == nil {
				c.Cases[desk] = map[countersign.Status]int64{}
			}
			c.Cases[desk][status] = all
			c.Due[desk] = c.Due[desk].plus(due)
			return nil
		}}
}

func (d Deadlines) plus(o Deadlines) Deadlines {
	return Deadlines{d.Overdue + o.Overdue, d.Day + o.Day, d.TwoDays + o.TwoDays, d.Later + o.Later, d.Unknown + o.Unknown}
}

// queuedSince looks at when a queued case last changed: that is when it was opened, or sent back for another round.
func (v View) queuedSince(c *Census) question {
	return question{"SELECT desk, MIN(updated_at) FROM cases WHERE status = 'queued' GROUP BY desk", nil, func(row scanner) error {
		var desk countersign.DeskName
		var since time.Time
		err := row.Scan(&desk, scanMicros{&since})
		c.QueuedSince[desk] = since
		return err
	}}
}

// countLeases goes by the clock of leases, so that one machine whose own is wrong does not call the others' workers silent.
func (s *Store) countLeases(c *Census) question {
	return question{"SELECT COUNT(*), COUNT(CASE WHEN " + s.d.lapsed("lease_until", 1) + " THEN 1 END) FROM cases WHERE status = 'investigating'",
		[]any{s.leaseClock(c.At)}, func(row scanner) error {
			var all int64
			err := row.Scan(&all, &c.Lapsed)
			c.Held = all - c.Lapsed
			return err
		}}
}

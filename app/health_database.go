package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"countersign"
	"countersign/store"
)

// examineGuards looks at what the database itself refuses: the program's promises about the record do not rest on the program alone.
func (c Config) examineGuards(ctx context.Context, db *store.Store) Finding {
	f := Finding{What: "guards", OK: true, Says: "the database can be written to, and refuses to change the record"}
	if err := db.Writable(ctx); err != nil {
		return wrong("guards", err)
	}
	missing, err := db.Unguarded(ctx)
	switch {
	case err != nil:
		return wrong("guards", err)
	case len(missing) > 0:
		return f.bad("the database lacks these triggers, or somebody switched them off: "+strings.Join(missing, ", "),
			"find out who did that and verify the record (countersign audit verify); then restore the schema from a backup")
	}
	loose, err := db.Loose(ctx)
	switch {
	case err != nil:
		return wrong("guards", err)
	case len(loose) > 0:
		return f.bad(strings.Join(loose, ", "), "keep "+c.Database+" on a disk of this machine that allows memory-mapped files")
	}
	return f
}

// skew is how far two clocks may be apart. A lease lasts fifteen seconds and is renewed every five, each by the clock of its
// worker's machine: with more than this between them, workers would take cases from each other.
const skew = 3 * time.Second

// sane is before any clock that is right.
var sane = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// examineClock compares this machine's clock with the newest thing on record, and with the clock of the database's server: a
// clock that was set back would put deadlines and the record's times out of order.
func examineClock(ctx context.Context, db *store.Store) Finding {
	newest, err := db.Newest(ctx)
	if err != nil {
		return wrong("clock", err)
	}
	ahead, err := db.Ahead(ctx)
	if err != nil {
		return wrong("clock", err)
	}
	now := db.Now()
	f := Finding{What: "clock", OK: true, Says: now.UTC().Format(time.RFC3339)}
	switch {
	case now.Before(sane):
		return f.bad("which cannot be", "set this machine's clock")
	case newest.After(now.Add(time.Minute)):
		return f.bad("and the newest row on record is from "+newest.Format(time.RFC3339), "set this machine's clock")
	case ahead.Abs() > skew:
		return f.bad(fmt.Sprintf("and the database's server is %s off", ahead.Round(time.Millisecond)),
			"keep the clocks of all machines together, with chrony or NTP: leases are held by them")
	}
	if db.Engine() == "postgres" {
		f.Says += fmt.Sprintf(", %s from the database's server", ahead.Abs().Round(time.Millisecond))
	}
	return f
}

// examineQueue looks for cases that wait and should not.
func examineQueue(ctx context.Context, db *store.Store) Finding {
	now := db.Now()
	census, err := db.Census(ctx, now)
	if err != nil {
		return wrong("queue", err)
	}
	stranded, err := db.Stranded(ctx, false)
	if err != nil {
		return wrong("queue", err)
	}
	sum := func(statuses ...countersign.Status) (n int64) {
		for _, desk := range census.Cases {
			for _, status := range statuses {
				n += desk[status]
			}
		}
		return n
	}
	f := Finding{What: "queue", OK: true, Says: fmt.Sprintf("%d waiting for a worker, %d being investigated, %d waiting for a person",
		sum(countersign.Queued), sum(countersign.Investigating), sum(countersign.InReview, countersign.AwaitingSecondApproval))}
	for _, since := range census.QueuedSince {
		if waits := now.Sub(since); waits > time.Minute {
			f = f.note(fmt.Sprintf("the oldest has waited %s for a worker", waits.Round(time.Second)), "is a worker running (countersign serve, or countersign worker)?")
			break
		}
	}
	if len(stranded) > 0 {
		f = f.note(fmt.Sprintf("%d stranded: their worker is gone", len(stranded)), "the next worker that starts takes them up by itself; nothing is lost")
	}
	return f
}

// spot is how many chains doctor verifies. Which, chance says: who asks often sees many.
const spot = 25

// examineRecord verifies a few chains, and says when all of them were verified last.
func examineRecord(ctx context.Context, db *store.Store) Finding {
	standing, err := db.RecordStanding(ctx)
	if err != nil {
		return wrong("record", err)
	}
	size, err := db.RecordSize(ctx)
	if err != nil {
		return wrong("record", err)
	}
	ids, err := db.SomeCases(ctx, rand.Int64N(max(size.Cases-spot, 0)+1), spot)
	if err != nil {
		return wrong("record", err)
	}
	f := Finding{What: "record", OK: true}
	for _, id := range ids {
		report, err := db.VerifyCase(ctx, id)
		switch {
		case err != nil:
			return wrong("record", err)
		case !report.OK:
			f.Says = fmt.Sprintf("%d cases, %d rows", size.Cases, size.Rows)
			return f.bad(fmt.Sprintf("case %s is broken at row %d: %s", id, report.Breaks[0].Seq, report.Breaks[0].Why),
				"stop, keep a copy of the database, and run countersign audit verify")
		}
	}
	f.Says = fmt.Sprintf("%d cases, %d rows; %d chains verified now", size.Cases, size.Rows, len(ids))
	switch last := standing.Verified; {
	case last == nil && size.Cases > 0:
		return f.note("all of them never", "countersign audit verify")
	case last != nil && !last.OK:
		return f.bad("the last verification of all, on "+last.At.Format(time.DateOnly)+", found a break", "run countersign audit verify, which names it")
	case last != nil:
		f.Says += fmt.Sprintf(", all on %s, and %d rows since", last.At.Format(time.DateOnly), max(size.Rows-last.Rows, 0))
	}
	return f
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// Claim says that somebody has a case on their desk, until a time that they put off for as long as they have it before them.
//
// It keeps two people from doing the same work and does nothing else. It informs and never blocks: anybody who may decide
// decides, whoever has the case, and takes it over without asking. For that reason it is no part of the record, which says
// what was decided and by whom, and whose rows nobody may remove: a claim comes and goes a hundred times a day, is forgotten
// when it runs out, and a case that was decided while somebody else had it was decided no differently.
//
// A claim counts only while its case waits for a person.
type Claim struct {
	PersonID     string
	Since, Until time.Time
}

func (c Claim) lasts(now time.Time) bool { return c.PersonID != "" && c.Until.After(now) }

const claimColumns = "person_id, since, until"

func (c *Claim) into() []any { return []any{&c.PersonID, scanMicros{&c.Since}, scanMicros{&c.Until}} }

// Claim gives a case to somebody until a time, and returns the claim it was taken from: the zero one if nobody had it, or
// they themselves. Whoever has it already keeps the time since when. A case that does not wait for a person is a Conflict.
func (t *Tx) Claim(ctx context.Context, id countersign.CaseID, personID string, until time.Time) (from Claim, err error) {
	// The case is locked, and not its claim: a row that is not there cannot be.
	var status countersign.Status
	err = t.q.QueryRowContext(ctx, "SELECT status FROM cases WHERE id = $1"+t.d.lock, string(id)).Scan(&status)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return from, countersign.Errorf(countersign.NotFound, "there is no case %q", string(id))
	case err != nil:
		return from, fmt.Errorf("claim case %s: %w", id, err)
	case !waitsForPerson(status):
		return from, countersign.Errorf(countersign.Conflict, "case %s does not wait for a person: it is %s", id, status)
	}
	from, err = t.claimOf(ctx, id)
	if err != nil {
		return from, err
	}
	since := t.Now
	if from.PersonID == personID && from.lasts(t.Now) {
		since = from.Since
	}
	if from.PersonID == personID || !from.lasts(t.Now) {
		from = Claim{}
	}
	_, err = t.exec(ctx, `INSERT INTO claims (case_id, person_id, since, until) VALUES ($1, $2, $3, $4)
		ON CONFLICT (case_id) DO UPDATE SET person_id = excluded.person_id, since = excluded.since, until = excluded.until`,
		string(id), personID, since.UnixMicro(), until.UnixMicro())
	return from, wrap(err, "claim case %s", id)
}

func (v View) claimOf(ctx context.Context, id countersign.CaseID) (c Claim, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT "+claimColumns+" FROM claims WHERE case_id = $1", string(id)).Scan(c.into()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Claim{}, nil
	}
	return c, wrap(err, "read who has case %s", id)
}

// Renew puts off the end of somebody's claim. False means that they do not have the case any more.
func (t *Tx) Renew(ctx context.Context, id countersign.CaseID, personID string, until time.Time) (bool, error) {
	n, err := t.exec(ctx, "UPDATE claims SET until = $3 WHERE case_id = $1 AND person_id = $2 AND until > $4",
		string(id), personID, until.UnixMicro(), t.Now.UnixMicro())
	return n == 1, wrap(err, "renew the claim on case %s", id)
}

// Release ends somebody's claim on a case, if they have it, and clears away those of theirs that ran out.
func (t *Tx) Release(ctx context.Context, id countersign.CaseID, personID string) error {
	_, err := t.exec(ctx, "DELETE FROM claims WHERE person_id = $2 AND (case_id = $1 OR until <= $3)", string(id), personID, t.Now.UnixMicro())
	return wrap(err, "release case %s", id)
}

// TakeNext claims the case most at risk, of those that fit the filter and wait for a person, that nobody has: in review, if
// the filter names no status. Two people who ask at once never get the same one. False means that there is none.
func (t *Tx) TakeNext(ctx context.Context, personID string, f Filter, until time.Time) (countersign.CaseID, bool, error) {
	if f.Status == "" {
		f.Status = countersign.InReview
	}
	f.ForPerson, f.Now = true, t.Now
	found, err := t.find(ctx, f.Query)
	if err != nil || found.none {
		return "", false, err
	}
	c := t.choose(f, found)
	c.and("NOT EXISTS (SELECT 1 FROM claims WHERE claims.case_id = cases.id AND claims.until > ?)", t.Now.UnixMicro())
	for {
		id, ok, err := t.next(ctx, c)
		if err != nil || !ok {
			return "", false, err
		}
		if ok, err = t.claimFree(ctx, id, personID, until); err != nil || ok {
			return id, ok, err
		}
	}
}

// next is the first case of the choice that nobody else is about to take or to decide.
func (t *Tx) next(ctx context.Context, c choice) (id countersign.CaseID, ok bool, err error) {
	err = t.q.QueryRowContext(ctx, "SELECT id FROM "+c.cases+" WHERE "+c.where+" ORDER BY risk, id LIMIT 1"+t.d.skip, c.args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return id, err == nil, wrap(err, "look for the next case")
}

// claimFree claims a case unless somebody has it. That decides between two who ask at once: on PostgreSQL one of them may
// have looked before the other's claim was committed, and then finds the case's lock free.
func (t *Tx) claimFree(ctx context.Context, id countersign.CaseID, personID string, until time.Time) (bool, error) {
	n, err := t.exec(ctx, `INSERT INTO claims (case_id, person_id, since, until) VALUES ($1, $2, $3, $4)
		ON CONFLICT (case_id) DO UPDATE SET person_id = excluded.person_id, since = excluded.since, until = excluded.until
		WHERE claims.until <= $3`, string(id), personID, t.Now.UnixMicro(), until.UnixMicro())
	return n == 1, wrap(err, "claim case %s", id)
}

// Holders says who has which of the cases now.
func (v View) Holders(ctx context.Context, ids []countersign.CaseID, now time.Time) (map[countersign.CaseID]Claim, error) {
	c := choice{where: "c.id = k.case_id"}
	c.and("k.case_id "+v.d.inList, listed(ids))
	c.and("k.until > ? AND c."+forPerson, now.UnixMicro())
	rows, err := v.q.QueryContext(ctx, "SELECT k.case_id, "+claimColumns+" FROM claims k, cases c WHERE "+c.where, c.args...)
	if err != nil {
		return nil, fmt.Errorf("read who has which case: %w", err)
	}
	holders := map[countersign.CaseID]Claim{}
	_, err = collect(rows, func(row scanner) (c Claim, err error) {
		var id countersign.CaseID
		if err = row.Scan(append([]any{&id}, c.into()...)...); err == nil {
			holders[id] = c
		}
		return c, err
	})
	return holders, wrap(err, "read who has which case")
}

// Holder says who has a case now; false when nobody does.
func (v View) Holder(ctx context.Context, id countersign.CaseID, now time.Time) (Claim, bool, error) {
	holders, err := v.Holders(ctx, []countersign.CaseID{id}, now)
	c, ok := holders[id]
	return c, ok, err
}

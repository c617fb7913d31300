package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign"
	"countersign/audit"
)

// Report is the evidence report of one round of a case, as it was approved. It is written in the transaction of the decision and
// never again.
type Report struct {
	CaseID      countersign.CaseID
	Round       int
	Fingerprint string
	Content     []byte // canonical: every rendering is made of it
	CreatedAt   time.Time
	CreatedBy   string // an actor
}

// Report reads the report of the last round that has one; a NotFound error if the case has none. There is no other way to a stored
// report: one that is not, byte for byte, what the record of its case sealed is an Altered error, and nothing of it is returned.
// Inside a transaction that sees what others commit meanwhile it may find a record broken that only grew: see the Store's.
func (v View) Report(ctx context.Context, id countersign.CaseID) (Report, error) {
	return v.ReportOfRound(ctx, id, 0)
}

// ReportOfRound is Report for the report of that round; 0 is the last one that has one.
func (v View) ReportOfRound(ctx context.Context, id countersign.CaseID, round int) (Report, error) {
	r, err := v.lastReport(ctx, id, round)
	if err == nil {
		err = v.asSealed(ctx, id, keptReport(r))
	}
	if err != nil {
		return Report{}, err
	}
	return r, nil
}

// Report reads a report and the record that it is held against in one snapshot.
func (s *Store) Report(ctx context.Context, id countersign.CaseID) (Report, error) {
	return s.ReportOfRound(ctx, id, 0)
}

// ReportOfRound reads the report of a round, and the record that it is held against, in one snapshot.
func (s *Store) ReportOfRound(ctx context.Context, id countersign.CaseID, round int) (r Report, err error) {
	err = s.Snapshot(ctx, func(v View) error {
		r, err = v.ReportOfRound(ctx, id, round)
		return err
	})
	return r, err
}

func (v View) lastReport(ctx context.Context, id countersign.CaseID, round int) (r Report, err error) {
	err = v.q.QueryRowContext(ctx, `SELECT case_id, round, fingerprint, content, created_at, created_by FROM reports
		WHERE case_id = $1 AND (round = $2 OR $2 = 0) ORDER BY round DESC LIMIT 1`, string(id), round).Scan(&r.CaseID, &r.Round, &r.Fingerprint, &r.Content, scanMicros{&r.CreatedAt}, &r.CreatedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return r, countersign.Errorf(countersign.NotFound, "case %s has no evidence report", id).Try("a report is made when a person decides the case")
	}
	return r, wrap(err, "read the report of case %s", id)
}

// AddReport keeps the report of a round. A second one for the same round is a Conflict: the first is what was approved.
func (t *Tx) AddReport(ctx context.Context, r Report, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a report")
	}
	n, err := t.exec(ctx, `INSERT INTO reports (case_id, round, fingerprint, content, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (case_id, round) DO NOTHING`, string(r.CaseID), r.Round, r.Fingerprint, r.Content, t.Now.UnixMicro(), by.String())
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.Conflict, "round %d of case %s has its report", r.Round, r.CaseID)
	}
	return wrap(raced(err), "keep the report of case %s", r.CaseID)
}

// Pack is a report merged with the files of its case. The fingerprint stays the content's; the hash here is of these bytes.
type Pack struct {
	SHA256    string
	Pages     int
	Bytes     []byte
	CreatedAt time.Time
}

// Pack reads the pack of a round, false if none was made yet. Like a report it is what the record sealed, or an Altered error. One that
// was kept before packs were sealed is none: it stays where it is, for a pack cannot be replaced, and is read by nobody.
func (v View) Pack(ctx context.Context, id countersign.CaseID, round int) (p Pack, ok bool, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT sha256, pages, bytes, created_at FROM report_packs WHERE case_id = $1 AND round = $2", string(id), round).
		Scan(&p.SHA256, &p.Pages, &p.Bytes, scanMicros{&p.CreatedAt})
	if errors.Is(err, sql.ErrNoRows) {
		return Pack{}, false, nil
	}
	if err == nil {
		err = v.asSealed(ctx, id, keptPack(round, p))
	}
	switch {
	case errors.Is(err, errNeverSealed):
		return Pack{}, false, nil
	case err != nil:
		return Pack{}, false, wrap(err, "read the pack of case %s", id)
	}
	return p, true, nil
}

// Pack reads a pack and the record that it is held against in one snapshot.
func (s *Store) Pack(ctx context.Context, id countersign.CaseID, round int) (p Pack, ok bool, err error) {
	err = s.Snapshot(ctx, func(v View) error {
		p, ok, err = v.Pack(ctx, id, round)
		return err
	})
	return p, ok, err
}

// packed is the payload of a row of kind note: that a pack was made, whose bytes no rule could make again.
type packed struct {
	Round int    `json:"round"`
	Pack  string `json:"pack"` // the SHA-256 of its bytes
	Pages int    `json:"pages"`
}

// KeepPack keeps the pack of a round and seals its hash in the record. False means that there is one already: of two that are made at
// once the first is kept, and that one is to be read.
func (t *Tx) KeepPack(ctx context.Context, id countersign.CaseID, round int, p Pack, by countersign.Actor) (bool, error) {
	n, err := t.exec(ctx, `INSERT INTO report_packs (case_id, round, sha256, pages, bytes, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (case_id, round) DO NOTHING`, string(id), round, p.SHA256, p.Pages, p.Bytes, t.Now.UnixMicro())
	if err != nil || n == 0 {
		return false, wrap(err, "keep the pack of case %s", id)
	}
	return true, t.Record(ctx, id, by, Note{Kind: audit.Note, Payload: packed{round, p.SHA256, p.Pages}})
}

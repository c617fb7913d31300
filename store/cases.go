package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"countersign"
)

// caseColumns is the order in which every query names a case's columns and scanCase reads them.
const caseColumns = `id, desk, subject_kind, subject_id, customer_id, channel, reason, notes, amount_minor, currency, status, stage,
	recommendation, outcome, handled_by, raised, opened_at, updated_at, due_at, due_source, round, revision, proposal, facts,
	verdict, fix, message, model`

func scanCase(row scanner) (c countersign.Case, err error) {
	var due sql.NullInt64
	err = row.Scan(&c.ID, &c.Desk, &c.Subject.Kind, &c.Subject.ID, &c.CustomerID, &c.Channel, &c.Reason, &c.Notes, &c.Amount.Minor,
		&c.Amount.Currency, &c.Status, &c.Stage, &c.Recommendation, &c.Outcome, &c.HandledBy, &c.Raised, scanMicros{&c.OpenedAt},
		scanMicros{&c.UpdatedAt}, &due, &c.DueSource, &c.Round, &c.Revision, asJSON{&c.Proposal}, asJSON{&c.Facts}, asJSON{&c.Verdict},
		asJSON{&c.Fix}, &c.Message, asJSON{&c.Model})
	if due.Valid {
		at := time.UnixMicro(due.Int64).UTC()
		c.DueAt = &at
	}
	return c, err
}

// Case reads a case; a NotFound error if there is none of that id.
func (v View) Case(ctx context.Context, id countersign.CaseID) (countersign.Case, error) {
	return v.oneCase(ctx, id, "")
}

// LockCase reads a case and holds it until the transaction ends: two people who decide at once take turns.
func (t *Tx) LockCase(ctx context.Context, id countersign.CaseID) (countersign.Case, error) {
	return t.oneCase(ctx, id, t.d.lock)
}

func (v View) oneCase(ctx context.Context, id countersign.CaseID, lock string) (countersign.Case, error) {
	c, err := scanCase(v.q.QueryRowContext(ctx, "SELECT "+caseColumns+" FROM cases WHERE id = $1"+lock, string(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return c, countersign.Errorf(countersign.NotFound, "there is no case %q", string(id))
	}
	return c, wrap(err, "read case %s", id)
}

// OpenCase is the open case about the same subject for the same reason, if there is one.
func (v View) OpenCase(ctx context.Context, desk countersign.DeskName, subject countersign.Subject, reason countersign.DisputeReason) (countersign.Case, bool, error) {
	c, err := scanCase(v.q.QueryRowContext(ctx, "SELECT "+caseColumns+` FROM cases
		WHERE desk = $1 AND subject_kind = $2 AND subject_id = $3 AND reason = $4 AND status <> 'closed'`,
		string(desk), string(subject.Kind), subject.ID, string(reason)))
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	return c, err == nil, wrap(err, "look for an open case")
}

// Birth stores a new case with the first rows of its record. A case about the same subject for the same reason that is
// still open is a Conflict, whoever was first.
func (t *Tx) Birth(ctx context.Context, c countersign.Case, jobID int64, actor countersign.Actor, notes ...Note) error {
	err := t.later(ctx, func(_ int64, err error) error {
		if isUnique(err) {
			e := countersign.Errorf(countersign.Conflict, "a case about %s %s is already open", c.Subject.Kind, c.Subject.ID)
			e.Err = err
			return e
		}
		return wrap(err, "store case %s", c.ID)
	}, "INSERT INTO cases ("+caseColumns+", risk, reasons, lease_token, lease_until, job_id) VALUES "+t.d.values(1, 33),
		append(caseArgs(c), risk(c), reasons(c), 0, 0, jobID)...)
	if err != nil {
		return err
	}
	return t.begin(ctx, c.ID, actor, notes...)
}

// Save writes a case back with its revision one higher. What happened must be recorded in the same transaction.
func (t *Tx) Save(ctx context.Context, c *countersign.Case) error {
	c.Revision++
	c.UpdatedAt = t.Now
	id := c.ID
	return t.later(ctx, func(n int64, err error) error {
		if err == nil && n == 0 {
			return countersign.Errorf(countersign.Conflict, "case %s changed while it was being worked on", id)
		}
		return wrap(err, "save case %s", id)
	}, `UPDATE cases SET status=$2, stage=$3, recommendation=$4, outcome=$5, handled_by=$6, raised=$7, updated_at=$8,
		round=$9, revision=$10, proposal=$11, facts=$12, verdict=$13, fix=$14, message=$15, model=$16, risk=$17, reasons=$18,
		lease_until=0 WHERE id = $1 AND revision = $19`,
		string(c.ID), string(c.Status), c.Stage, c.Recommendation, string(c.Outcome), string(c.HandledBy), c.Raised, t.Now.UnixMicro(),
		c.Round, c.Revision, optional(c.Proposal), optional(c.Facts), optional(c.Verdict), asJSON{c.Fix}, c.Message, asJSON{c.Model},
		risk(*c), reasons(*c), c.Revision-1)
}

func caseArgs(c countersign.Case) []any {
	var due any
	if c.DueAt != nil {
		due = c.DueAt.UnixMicro()
	}
	return []any{string(c.ID), string(c.Desk), string(c.Subject.Kind), c.Subject.ID, c.CustomerID, c.Channel, string(c.Reason), c.Notes,
		c.Amount.Minor, c.Amount.Currency, string(c.Status), c.Stage, c.Recommendation, string(c.Outcome), string(c.HandledBy), c.Raised,
		c.OpenedAt.UnixMicro(), c.UpdatedAt.UnixMicro(), due, string(c.DueSource), c.Round, c.Revision, optional(c.Proposal),
		optional(c.Facts), optional(c.Verdict), asJSON{c.Fix}, c.Message, asJSON{c.Model}}
}

// optional keeps nil as the empty string.
func optional[T any](value *T) any {
	if value == nil {
		return ""
	}
	return asJSON{value}
}

// risk is the queue's order: no known deadline first, then the nearest, closed cases last.
func risk(c countersign.Case) int64 {
	switch {
	case c.Status == countersign.Closed:
		return math.MaxInt64
	case c.DueAt == nil:
		return 0
	}
	return c.DueAt.UnixMicro()
}

func reasons(c countersign.Case) string {
	if c.Verdict == nil {
		return " "
	}
	var b strings.Builder
	b.WriteByte(' ')
	for _, r := range c.Verdict.Reasons {
		b.WriteString(string(r.Code))
		b.WriteByte(' ')
	}
	return b.String()
}

// Filter narrows a list of cases; empty fields do not narrow.
type Filter struct {
	Desk           countersign.DeskName
	Status         countersign.Status
	Recommendation string
	Reason         countersign.ReasonCode
	CustomerID     string
	Query          string // the beginning of an id, or the whole id of a transaction or order
	After          Place  // the last case of the page before
	Limit          int    // cases on a page, 50 when zero
}

// Place is where a page ended.
type Place struct {
	Risk int64
	ID   countersign.CaseID
}

// Cases lists cases, most at risk first, and where the page ended; the place is zero on the last page.
func (v View) Cases(ctx context.Context, f Filter) ([]countersign.Case, Place, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	where, args := f.where()
	args = append(args, f.After.Risk, string(f.After.ID), f.Limit+1)
	n := len(args)
	rows, err := v.q.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM cases WHERE %s AND (risk, id) > ($%d, $%d) ORDER BY risk, id LIMIT $%d",
		caseColumns, where, n-2, n-1, n), args...)
	if err != nil {
		return nil, Place{}, fmt.Errorf("list cases: %w", err)
	}
	cases, err := collect(rows, scanCase)
	if err != nil || len(cases) <= f.Limit {
		return cases, Place{}, wrap(err, "list cases")
	}
	cases = cases[:f.Limit]
	last := cases[f.Limit-1]
	return cases, Place{risk(last), last.ID}, nil
}

func (f Filter) where() (string, []any) {
	where, args := "1 = 1", []any{}
	add := func(condition string, values ...any) {
		for _, value := range values {
			args = append(args, value)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where += " AND " + condition
	}
	if f.Desk != "" {
		add("desk = ?", string(f.Desk))
	}
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.Recommendation != "" {
		add("recommendation = ?", f.Recommendation)
	}
	if f.CustomerID != "" {
		add("customer_id = ?", f.CustomerID)
	}
	if f.Reason != "" {
		add(`reasons LIKE ? ESCAPE '\'`, "% "+escapeLike(string(f.Reason))+" %")
	}
	if f.Query != "" {
		// Not LIKE: that takes D-1 for d-1 in one of the two databases.
		add("(subject_id = ? OR SUBSTR(id, 1, LENGTH(?)) = ?)", f.Query, f.Query, f.Query)
	}
	return where, args
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// collect reads every row and closes them.
func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// ClosedRow is the payload of a record row of kind closed.
type ClosedRow struct {
	Round     int                   `json:"round"`
	Status    countersign.Status    `json:"status"`
	Outcome   countersign.Outcome   `json:"outcome"`
	HandledBy countersign.HandledBy `json:"handled_by"`
}

// Closing is how a case that was just closed stands in its record.
func Closing(c countersign.Case) ClosedRow {
	return ClosedRow{c.Round, c.Status, c.Outcome, c.HandledBy}
}

// Waiting counts open cases by where they wait.
type Waiting struct{ Queued, Investigating, InReview, Closed int64 }

// Waiting counts cases by status.
func (v View) Waiting(ctx context.Context) (w Waiting, err error) {
	rows, err := v.q.QueryContext(ctx, "SELECT status, COUNT(*) FROM cases GROUP BY status")
	if err != nil {
		return w, fmt.Errorf("count cases: %w", err)
	}
	into := map[countersign.Status]*int64{countersign.Queued: &w.Queued, countersign.Investigating: &w.Investigating,
		countersign.InReview: &w.InReview, countersign.AwaitingSecondApproval: &w.InReview, countersign.Closed: &w.Closed}
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var status countersign.Status
		var n int64
		err := row.Scan(&status, &n)
		if counter := into[status]; counter != nil {
			*counter += n
		}
		return struct{}{}, err
	})
	return w, wrap(err, "count cases")
}

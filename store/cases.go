package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"countersign"
)

// caseColumns is the order in which every query names a case's columns and scanCase reads them.
const caseColumns = `id, desk, subject_kind, subject_id, customer_id, channel, reason, notes, amount_minor, currency, status, stage,
	recommendation, outcome, handled_by, raised, opened_at, updated_at, due_at, due_source, round, revision, proposal, facts,
	verdict, fix, message, model, terms, provider_ref, contested, result, reopened`

func scanCase(row scanner) (c countersign.Case, err error) {
	var due sql.NullInt64
	err = row.Scan(&c.ID, &c.Desk, &c.Subject.Kind, &c.Subject.ID, &c.CustomerID, &c.Channel, &c.Reason, &c.Notes, &c.Amount.Minor,
		&c.Amount.Currency, &c.Status, &c.Stage, &c.Recommendation, &c.Outcome, &c.HandledBy, &c.Raised, scanMicros{&c.OpenedAt},
		scanMicros{&c.UpdatedAt}, &due, &c.DueSource, &c.Round, &c.Revision, asJSON{&c.Proposal}, asJSON{&c.Facts}, asJSON{&c.Verdict},
		asJSON{&c.Fix}, &c.Message, asJSON{&c.Model}, asJSON{&c.Terms}, &c.Terms.Reference, asJSON{&c.Contested}, asJSON{&c.Result}, asJSON{&c.Reopened})
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

// OpenCase is the open case about the same subject for the same reason, of the same provider's reference and at the same stage where
// there are any, if there is one. A provider's reference is one dispute, whatever reason was given with it, and also where nobody knows yet
// what it is about.
func (v View) OpenCase(ctx context.Context, desk countersign.DeskName, subject countersign.Subject, reason countersign.DisputeReason, reference, stage string) (countersign.Case, bool, error) {
	c, err := scanCase(v.q.QueryRowContext(ctx, "SELECT "+caseColumns+` FROM cases
		WHERE desk = $1 AND subject_kind = $2 AND subject_id IN ($3, CASE WHEN $5 <> '' THEN '' ELSE $3 END) AND (reason = $4 OR $5 <> '')
		AND provider_ref = $5 AND stage = $6 AND status <> 'closed'
		ORDER BY subject_id = $3 DESC, reason = $4 DESC, opened_at, id LIMIT 1`,
		string(desk), string(subject.Kind), subject.ID, string(reason), reference, stage))
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
	}, "INSERT INTO cases ("+caseColumns+", risk, reasons, lease_token, lease_until, job_id) VALUES "+t.d.values(1, 38),
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
		amount_minor=$19, currency=$20, due_at=$21, due_source=$22, contested=$23, result=$24, reopened=$25, lease_until=0
		WHERE id = $1 AND revision = $26`,
		string(c.ID), string(c.Status), c.Stage, c.Recommendation, string(c.Outcome), string(c.HandledBy), c.Raised, t.Now.UnixMicro(),
		c.Round, c.Revision, optional(c.Proposal), optional(c.Facts), optional(c.Verdict), asJSON{c.Fix}, c.Message, asJSON{c.Model},
		risk(*c), reasons(*c), c.Amount.Minor, c.Amount.Currency, dueMicros(*c), string(c.DueSource), optional(c.Contested), optional(c.Result), optional(c.Reopened),
		c.Revision-1)
}

func caseArgs(c countersign.Case) []any {
	return []any{string(c.ID), string(c.Desk), string(c.Subject.Kind), c.Subject.ID, c.CustomerID, c.Channel, string(c.Reason), c.Notes,
		c.Amount.Minor, c.Amount.Currency, string(c.Status), c.Stage, c.Recommendation, string(c.Outcome), string(c.HandledBy), c.Raised,
		c.OpenedAt.UnixMicro(), c.UpdatedAt.UnixMicro(), dueMicros(c), string(c.DueSource), c.Round, c.Revision, optional(c.Proposal),
		optional(c.Facts), optional(c.Verdict), asJSON{c.Fix}, c.Message, asJSON{c.Model}, asJSON{c.Terms}, c.Terms.Reference, optional(c.Contested),
		optional(c.Result), optional(c.Reopened)}
}

func dueMicros(c countersign.Case) any {
	if c.DueAt == nil {
		return nil
	}
	return c.DueAt.UnixMicro()
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
	Open           bool // not closed
	ForPerson      bool // waiting for a person: in review, or for a second approval
	Complaint      countersign.DisputeReason
	Reason         countersign.ReasonCode
	Recommendation string
	CustomerID     string
	Due            Due    // only open cases are due
	Raised         bool   // open, and raised to the approvers
	Unraised       bool   // open, and not raised
	Holder         string // the person who has claimed it
	Query          string // what a person types to find a case: see search.go
	// Now is when Due and Holder are looked at. A list and the counts beside it agree if they are asked with the same.
	Now    time.Time
	After  Place // the last case of the page before
	Before Place // the first case of the page behind
	Limit  int   // cases on a page, 50 when zero
}

// Due says how near the deadline of an open case is.
type Due string

const (
	Overdue Due = "overdue"
	DueSoon Due = "soon"    // within a day from now
	Undated Due = "unknown" // no deadline is known
)

// Dues lists what Due can say.
var Dues = []Due{Overdue, DueSoon, Undated}

// Place is where a page begins or ends: a case, and what its list is ordered by.
type Place struct {
	Risk int64
	ID   countersign.CaseID
}

// Page is one page of a list, and the places that the pages beside it are read from: zero where there is none.
type Page struct {
	Cases        []countersign.Case
	Before, Next Place
	Capped       bool // the query names more customers than were looked at: see mostCustomers
}

// Cases lists cases, most at risk first, and where the page ended; the place is zero on the last page.
func (v View) Cases(ctx context.Context, f Filter) ([]countersign.Case, Place, error) {
	page, err := v.Page(ctx, f)
	return page.Cases, page.Next, err
}

// Page lists cases, most at risk first; closed ones alone, by Status, the latest first. Where f says Before, the page is the one
// that ends there, or the first one if that is not a whole page.
func (v View) Page(ctx context.Context, f Filter) (Page, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	found, err := v.find(ctx, f.Query)
	if err != nil || found.none || f.Status == countersign.Closed && f.open() {
		return Page{Capped: found.capped}, err
	}
	p, err := v.page(ctx, f, v.choose(f, found))
	p.Capped = found.capped
	return p, wrap(err, "list cases")
}

func (v View) page(ctx context.Context, f Filter, c choice) (Page, error) {
	if f.Before != (Place{}) {
		if p, ok, err := v.pageBefore(ctx, f, c); err != nil || ok {
			return p, err
		}
		f.After = Place{}
	}
	return v.pageAfter(ctx, f, c)
}

func (v View) pageAfter(ctx context.Context, f Filter, c choice) (p Page, err error) {
	if p.Cases, err = v.read(ctx, f, c, false); err != nil {
		return Page{}, err
	}
	more := len(p.Cases) > f.Limit
	p.Cases = p.Cases[:min(len(p.Cases), f.Limit)]
	if more {
		p.Next = f.place(p.Cases[f.Limit-1])
	}
	if f.After != (Place{}) && len(p.Cases) > 0 {
		p.Before = f.place(p.Cases[0])
	}
	return p, nil
}

// pageBefore is false if the page before the place is the first one, or less than that.
func (v View) pageBefore(ctx context.Context, f Filter, c choice) (p Page, ok bool, err error) {
	if f.Before == (Place{}) {
		return p, false, nil
	}
	p.Cases, err = v.read(ctx, f, c, true)
	if err != nil || len(p.Cases) <= f.Limit {
		return Page{}, false, err
	}
	p.Cases = p.Cases[:f.Limit]
	slices.Reverse(p.Cases)
	p.Before, p.Next = f.place(p.Cases[0]), f.place(p.Cases[f.Limit-1])
	return p, true, nil
}

// place is where a case stands in the filter's list.
func (f Filter) place(c countersign.Case) Place {
	if f.Status == countersign.Closed {
		return Place{c.UpdatedAt.UnixMicro(), c.ID}
	}
	return Place{risk(c), c.ID}
}

// walk is a way through a list: what lies beyond a place, and the order it comes in.
type walk struct{ beyond, sort string }

var (
	onward    = walk{"(risk, id) > (?, ?)", "risk, id"}
	backward  = walk{"(risk, id) < (?, ?)", "risk DESC, id DESC"}
	toEarlier = walk{"(updated_at, id) < (?, ?)", "updated_at DESC, id DESC"}
	toLater   = walk{"(updated_at, id) > (?, ?)", "updated_at, id"}
)

func (f Filter) walk(back bool) (walk, Place) {
	switch {
	case f.Status == countersign.Closed && back:
		return toLater, f.Before
	case f.Status == countersign.Closed:
		return toEarlier, f.After
	case back:
		return backward, f.Before
	}
	return onward, f.After
}

// read reads one case more than a page has. Which cases they are is found in an index alone, and only those are then read: a
// case is wide.
func (v View) read(ctx context.Context, f Filter, c choice, back bool) ([]countersign.Case, error) {
	w, from := f.walk(back)
	if from != (Place{}) {
		c.and(w.beyond, from.Risk, string(from.ID))
	}
	c.args = append(c.args, f.Limit+1)
	rows, err := v.q.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM cases WHERE id IN (SELECT id FROM %s WHERE %s ORDER BY %s LIMIT $%d) ORDER BY %s",
		caseColumns, c.cases, c.where, w.sort, len(c.args), w.sort), c.args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanCase)
}

// choice is a filter as SQL.
type choice struct {
	cases string // the table, and on SQLite the index
	where string
	args  []any
}

// and adds a condition with its values, which stand in it as question marks.
func (c *choice) and(condition string, values ...any) {
	for _, value := range values {
		c.args = append(c.args, value)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(c.args)), 1)
	}
	c.where += " AND " + condition
}

// choose makes SQL of a filter.
func (v View) choose(f Filter, found found) choice {
	c := choice{cases: v.d.inOrder, where: "1 = 1"}
	switch {
	case f.Status == countersign.Closed:
		c.cases = v.d.closed
		c.and("status = 'closed'")
	case f.Status != "" || f.open():
		c.and(isOpen)
		f.amongOpen(&c)
	}
	f.facets(&c)
	f.narrow(v.d, &c, found)
	return c
}

// isOpen is said of the risk, which is the largest number when a case is closed: the index that lists are read from begins with it.
const isOpen = "risk < 9223372036854775807"

// open reports whether only open cases can fit.
func (f Filter) open() bool { return f.Open || f.ForPerson || f.waiting() }

// waiting reports whether the filter asks for what only an open case can be, besides its status.
func (f Filter) waiting() bool { return f.Due != "" || f.Raised || f.Unraised || f.Holder != "" }

// amongOpen adds what narrows open cases only.
func (f Filter) amongOpen(c *choice) {
	if f.Status != "" {
		c.and("status = ?", string(f.Status))
	}
	if f.ForPerson {
		c.and(forPerson)
	}
	if f.Raised {
		c.and("raised")
	}
	if f.Unraised {
		c.and("NOT raised")
	}
	now := f.Now.UnixMicro()
	switch f.Due {
	case Overdue:
		c.and("risk > 0 AND risk < ?", now)
	case DueSoon:
		c.and("risk >= ? AND risk <= ?", now, f.soon())
	case Undated:
		c.and("risk = 0")
	}
}

const forPerson = "status IN ('in_review', 'awaiting_second_approval')"

// waitsForPerson is forPerson for a case that was read.
func waitsForPerson(s countersign.Status) bool {
	return s == countersign.InReview || s == countersign.AwaitingSecondApproval
}

// soon is the end of the day from now.
func (f Filter) soon() int64 { return f.Now.Add(24 * time.Hour).UnixMicro() }

// faceted reports whether the filter asks for one of several kinds of cases.
func (f Filter) faceted() bool {
	return f.Desk != "" || f.Complaint != "" || f.Recommendation != "" || f.Reason != ""
}

// facets adds what faceted looks for.
func (f Filter) facets(c *choice) {
	if f.Desk != "" {
		c.and("desk = ?", string(f.Desk))
	}
	if f.Complaint != "" {
		c.and("reason = ?", string(f.Complaint))
	}
	if f.Recommendation != "" {
		c.and("recommendation = ?", f.Recommendation)
	}
	if f.Reason != "" {
		c.and(`reasons LIKE ? ESCAPE '\'`, "% "+escapeLike(string(f.Reason))+" %")
	}
}

// narrow adds what leaves a few cases, which are then found by that and not on a walk through a list.
func (f Filter) narrow(d dialect, c *choice, found found) {
	if f.CustomerID != "" {
		c.cases = d.byCustomer
		c.and("customer_id = ?", f.CustomerID)
	}
	if f.Holder != "" {
		c.cases = d.byID
		c.and("id IN (SELECT case_id FROM claims WHERE person_id = ? AND until > ?) AND "+forPerson, f.Holder, f.Now.UnixMicro())
	}
	if found.condition != "" && !found.many {
		c.cases = d.byID
	}
	if found.condition != "" {
		c.and("("+found.condition+")", found.values...)
	}
}

// EarlierCases lists the other cases of a case's customer, latest first; where the customer is not known, those about the same
// subject.
func (v View) EarlierCases(ctx context.Context, c countersign.Case, limit int) ([]countersign.Case, error) {
	if c.CustomerID == "" && c.Subject.ID == "" {
		return nil, nil // a case without an order has nothing in common with the next one
	}
	query, args := "SELECT "+caseColumns+` FROM cases WHERE customer_id = $1 AND id <> $2 ORDER BY opened_at DESC, id DESC LIMIT $3`,
		[]any{c.CustomerID, string(c.ID), limit}
	if c.CustomerID == "" {
		query, args = "SELECT "+caseColumns+` FROM cases WHERE subject_id = $1 AND subject_kind = $2 AND id <> $3 ORDER BY opened_at DESC, id DESC LIMIT $4`,
			[]any{c.Subject.ID, string(c.Subject.Kind), string(c.ID), limit}
	}
	rows, err := v.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list the cases beside %s: %w", c.ID, err)
	}
	cases, err := collect(rows, scanCase)
	return cases, wrap(err, "list the cases beside %s", c.ID)
}

// CasesAbout lists the cases about a subject, and those that a provider knows by a reference unless that is empty, latest first.
func (v View) CasesAbout(ctx context.Context, subject countersign.Subject, reference string, limit int) ([]countersign.Case, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+caseColumns+` FROM cases WHERE (subject_id = $1 AND subject_kind = $2) OR (provider_ref = $3 AND provider_ref <> '')
		ORDER BY opened_at DESC, id DESC LIMIT $4`, subject.ID, string(subject.Kind), reference, limit)
	if err != nil {
		return nil, fmt.Errorf("list the cases about %s: %w", subject.ID, err)
	}
	cases, err := collect(rows, scanCase)
	return cases, wrap(err, "list the cases about %s", subject.ID)
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

package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign"
)

// Counts says beside each way to narrow the queue how many cases it would list: those that fit all of a filter but what it
// says of that way already.
//
// Open cases are counted, all of them. Closed ones only grow in number, so they are counted where that takes no longer with
// the years: up to MostCounted, and not beside a desk, a complaint, a reason or a recommendation. What was not counted is
// missing: of Status the closed ones, and the maps of those four, as nil, where they would have to count closed ones too.
type Counts struct {
	Status           map[countersign.Status]int
	Open, ForPerson  int
	Raised, Unraised int
	Due              map[Due]int
	Desk             map[countersign.DeskName]int
	Complaint        map[countersign.DisputeReason]int
	Reason           map[countersign.ReasonCode]int
	Recommendation   map[string]int
}

// MostCounted is where counting closed cases ends: there are that many, or more.
const MostCounted = 1000

// QueueCounts counts what each part of a filter would list. Asked with the same Now it agrees with the list beside it, unless
// something happens in between.
func (v View) QueueCounts(ctx context.Context, f Filter) (Counts, error) {
	found, err := v.find(ctx, f.Query)
	if err != nil {
		return Counts{}, err
	}
	counts := f.uncounted()
	questions := []question{v.countOpen(f, found, &counts)}
	switch {
	case f.waiting() || found.none:
		counts.Status[countersign.Closed] = 0
	case !f.faceted() && !found.many:
		questions = append(questions, v.countClosed(f, found, &counts))
	}
	return counts, wrap(v.ask(ctx, questions...), "count the queue")
}

// uncounted has a map for all that is counted.
func (f Filter) uncounted() Counts {
	c := Counts{Status: map[countersign.Status]int{}, Due: map[Due]int{}}
	if f.Status != countersign.Closed && (f.Status != "" || f.open()) {
		c.Desk, c.Complaint = map[countersign.DeskName]int{}, map[countersign.DisputeReason]int{}
		c.Reason, c.Recommendation = map[countersign.ReasonCode]int{}, map[string]int{}
	}
	return c
}

// alike is how many open cases agree in everything that a filter can ask for.
type alike struct {
	desk           countersign.DeskName
	status         countersign.Status
	complaint      countersign.DisputeReason
	recommendation string
	raised         bool
	reasons        []countersign.ReasonCode
	all            int
	due            [3]int // in the order of Dues
}

// countOpen reads the open cases in groups and not one by one, from an index that has them so.
func (v View) countOpen(f Filter, found found, counts *Counts) question {
	c := choice{cases: v.d.counted, where: "status <> 'closed'", args: []any{f.Now.UnixMicro(), f.soon()}}
	f.narrow(v.d, &c, found)
	last, reasons := "", []countersign.ReasonCode(nil)
	return question{`SELECT desk, status, reason, recommendation, raised, reasons, COUNT(*),
		COUNT(CASE WHEN risk > 0 AND risk < $1 THEN 1 END), COUNT(CASE WHEN risk >= $1 AND risk <= $2 THEN 1 END), COUNT(CASE WHEN risk = 0 THEN 1 END)
		FROM ` + c.cases + " WHERE " + c.where + " GROUP BY reasons, desk, status, reason, recommendation, raised", c.args, func(row scanner) error {
		a := alike{}
		codes := ""
		err := row.Scan(&a.desk, &a.status, &a.complaint, &a.recommendation, &a.raised, &codes, &a.all, &a.due[0], &a.due[1], &a.due[2])
		if codes != last {
			last, reasons = codes, codesOf(codes)
		}
		a.reasons = reasons
		counts.add(f, a)
		return err
	}}
}

func codesOf(reasons string) (codes []countersign.ReasonCode) {
	for _, code := range strings.Fields(reasons) {
		codes = append(codes, countersign.ReasonCode(code))
	}
	return codes
}

// due is how many of them have the deadline that a filter asks for.
func (a *alike) dueBy(d Due) int {
	if i := slices.Index(Dues, d); i >= 0 {
		return a.due[i]
	}
	return a.all
}

// add counts a group in each part of the filter that all the other parts leave it to.
func (c *Counts) add(f Filter, a alike) {
	status := (f.Status == "" || f.Status == a.status) && (!f.ForPerson || waitsForPerson(a.status))
	desk := f.Desk == "" || f.Desk == a.desk
	complaint := f.Complaint == "" || f.Complaint == a.complaint
	reason := f.Reason == "" || slices.Contains(a.reasons, f.Reason)
	recommendation := f.Recommendation == "" || f.Recommendation == a.recommendation
	raised := !(f.Raised && !a.raised) && !(f.Unraised && a.raised)
	misfits := 0
	for _, fits := range [...]bool{status, desk, complaint, reason, recommendation, raised} {
		if !fits {
			misfits++
		}
	}
	n := a.dueBy(f.Due)
	// left says how many the parts beside this one leave.
	left := func(fits bool) int {
		if misfits == 0 || misfits == 1 && !fits {
			return n
		}
		return 0
	}
	c.stand(a, left(status), left(raised))
	tally(c.Desk, a.desk, left(desk))
	tally(c.Complaint, a.complaint, left(complaint))
	tally(c.Recommendation, a.recommendation, left(recommendation))
	for _, code := range a.reasons {
		tally(c.Reason, code, left(reason))
	}
	for i, due := range Dues {
		if misfits == 0 {
			tally(c.Due, due, a.due[i])
		}
	}
}

func (c *Counts) stand(a alike, status, raised int) {
	tally(c.Status, a.status, status)
	c.Open += status
	if waitsForPerson(a.status) {
		c.ForPerson += status
	}
	if a.raised {
		c.Raised += raised
	} else {
		c.Unraised += raised
	}
}

// tally leaves out what is not counted, and what nobody can ask for: an empty filter does not narrow.
func tally[K ~string](in map[K]int, key K, n int) {
	if in != nil && key != "" && n > 0 {
		in[key] += n
	}
}

// countClosed stops at MostCounted.
func (v View) countClosed(f Filter, found found, counts *Counts) question {
	c := choice{cases: v.d.closed, where: "status = 'closed'"}
	f.narrow(v.d, &c, found)
	c.args = append(c.args, MostCounted)
	return question{fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM %s WHERE %s LIMIT $%d) AS counted", c.cases, c.where, len(c.args)), c.args,
		func(row scanner) error {
			var n int
			err := row.Scan(&n)
			counts.Status[countersign.Closed] = n
			return err
		}}
}

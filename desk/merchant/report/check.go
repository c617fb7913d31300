package report

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign"
)

// Check finds the first thing that no report may be without or must not say. The error names the field.
func (c Content) Check() error {
	return first(
		c.checkTexts,
		func() error { return is("format", strconv.Itoa(c.Format), "1", strconv.Itoa(FormatVersion)) },
		func() error { return needed("case.id", c.Case.ID) },
		func() error { return needed("case.order", c.Case.Order) },
		c.checkDecision, c.checkAmounts, c.checkTimes, c.checkExhibits, c.checkFacts, c.checkWithheld,
		func() error { return digest("audit.head", c.Audit.Head) },
	)
}

func first(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func wrong(field, format string, args ...any) error {
	return countersign.Errorf(countersign.Invalid, format, args...).In(field)
}

func is(field, got string, want ...string) error {
	if slices.Contains(want, got) {
		return nil
	}
	return wrong(field, "%q is not %s", got, strings.Join(want, " or "))
}

func needed(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return wrong(field, "a report cannot be without it")
	}
	return nil
}

func digest(field, text string) error {
	if b, err := hex.DecodeString(text); err != nil || len(b) != 32 || strings.ToLower(text) != text {
		return wrong(field, "%q is not a SHA-256 in 64 small hex digits", text)
	}
	return nil
}

func (c Content) checkTexts() (err error) {
	c.texts(func(path, text string) {
		if err == nil && !utf8.ValidString(text) {
			err = wrong(path, "it is not UTF-8 text")
		}
	})
	return err
}

// outcomes are what a person may decide about a chargeback.
var outcomes = []string{"contest", "accept"}

// checkDecision holds the decision to a person: there is no report that nobody stands behind.
func (c Content) checkDecision() error {
	d := c.Decision
	return first(
		func() error { return is("decision.outcome", d.Outcome, outcomes...) },
		func() error { return needed("decision.by", d.By) },
		func() error { return needed("decision.at", d.At) },
		func() error {
			if !d.Followed && strings.TrimSpace(d.Reason) == "" {
				return wrong("decision.reason", "who decides against the recommendation says why")
			}
			return nil
		},
	)
}

func (c Content) checkAmounts() error {
	return first(
		func() error { return c.Dispute.Amount.check("dispute.amount") },
		func() error { return c.Decision.Contested.check("decision.contested") },
		func() error { return c.Decision.Accepted.check("decision.accepted") },
	)
}

// check holds an amount to its currency: the text is what Money makes of the number, or a person would read another amount than
// a program.
func (a Amount) check(field string) error {
	if a == (Amount{}) {
		return nil
	}
	minor, err := strconv.ParseInt(a.Minor, 10, 64)
	if err != nil || strconv.FormatInt(minor, 10) != a.Minor {
		return wrong(field+".minor", "%q is not a whole number", a.Minor)
	}
	if !countersign.KnownCurrency(a.Currency) {
		return wrong(field+".currency", "%q is not a currency", a.Currency)
	}
	return is(field+".text", a.Text, (countersign.Money{Minor: minor, Currency: a.Currency}).String())
}

func (c Content) checkTimes() error {
	times := map[string]string{"case.opened_at": c.Case.OpenedAt, "dispute.due_at": c.Dispute.DueAt, "decision.at": c.Decision.At,
		"proposal.at": c.Proposal.At, "audit.made_at": c.Audit.MadeAt}
	for i, w := range c.Withheld {
		times[fmt.Sprintf("withheld[%d].at", i)] = w.At
	}
	for i, e := range c.Exhibits {
		times[fmt.Sprintf("exhibits[%d].read_at", i)] = e.ReadAt
	}
	for i, e := range c.Clauses {
		times[fmt.Sprintf("clauses[%d].valid_from", i)] = e.ValidFrom
	}
	for i, e := range c.Timeline {
		times[fmt.Sprintf("timeline[%d].at", i)] = e.At
	}
	for i, a := range c.Attachments {
		times[fmt.Sprintf("attachments[%d].added_at", i)] = a.AddedAt
	}
	for _, field := range slices.Sorted(maps.Keys(times)) {
		if text := times[field]; !isTime(text) {
			return wrong(field, "%q is neither a time in UTC (2026-12-01T09:14:03Z) nor a date (2026-12-01)", text)
		}
	}
	return nil
}

func isTime(text string) bool {
	if text == "" {
		return true
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return true
	}
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && strings.HasSuffix(text, "Z")
}

func (c Content) checkFacts() error {
	shown := c.exhibitIDs()
	for i, f := range c.Facts {
		at := fmt.Sprintf("facts[%d]", i)
		err := first(
			func() error { return needed(at+".title", f.Title) },
			func() error { return is(at+".state", f.State, "present", "absent", "unknown") },
			func() error {
				return is(at+".weight", string(f.Weight), string(Supports), string(Neutral), string(Hurts))
			},
		)
		for _, id := range f.Exhibits {
			if err == nil && !slices.Contains(shown, id) {
				err = wrong(at+".exhibits", "%q is no exhibit of this report", id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exhibitIDs are the ids in the order of the report: tables, clauses, attachments.
func (c Content) exhibitIDs() (ids []string) {
	for _, e := range c.Exhibits {
		ids = append(ids, e.ID)
	}
	for _, q := range c.Clauses {
		ids = append(ids, q.ID)
	}
	for _, a := range c.Attachments {
		ids = append(ids, a.ID)
	}
	return ids
}

func (c Content) checkExhibits() error {
	last := 0
	for _, id := range c.exhibitIDs() {
		n, err := strconv.Atoi(strings.TrimPrefix(id, "E"))
		if err != nil || id != "E"+strconv.Itoa(n) || n <= last {
			return wrong("exhibits", "%q is not a number after E%d: tables, clauses and attachments are E1, E2, … in one sequence", id, last)
		}
		last = n
	}
	for i, e := range c.Exhibits {
		if err := e.check(fmt.Sprintf("exhibits[%d]", i)); err != nil {
			return err
		}
	}
	for i, q := range c.Clauses {
		if err := first(func() error { return needed(fmt.Sprintf("clauses[%d].quote", i), q.Quote) },
			func() error { return is(fmt.Sprintf("clauses[%d].status", i), q.Status, "exact", "folded") }); err != nil {
			return err
		}
	}
	for i, a := range c.Attachments {
		if err := digest(fmt.Sprintf("attachments[%d].sha256", i), a.SHA256); err != nil {
			return err
		}
	}
	return nil
}

func (e Exhibit) check(field string) error {
	if (e.TypedBy == "") == (e.Table == "") {
		return wrong(field+".table", "a table of evidence was read from a table or typed in by a person: one of the two")
	}
	for i, col := range e.Columns {
		if err := is(fmt.Sprintf("%s.columns[%d].kind", field, i), string(col.Kind), string(TextColumn), string(AmountColumn), string(TimeColumn), string(IDColumn)); err != nil {
			return err
		}
	}
	for i, row := range e.Rows {
		if len(row) != len(e.Columns) {
			return wrong(fmt.Sprintf("%s.rows[%d]", field, i), "it has %d cells for %d columns", len(row), len(e.Columns))
		}
	}
	return nil
}

func (c Content) checkWithheld() error {
	for i, w := range c.Withheld {
		at := fmt.Sprintf("withheld[%d]", i)
		if w.Count < 1 {
			return wrong(at+".count", "%d cannot be withheld", w.Count)
		}
		what := []string{FactWithheld, ClauseWithheld}
		if c.Format < 2 {
			what = []string{""}
		}
		if err := first(func() error { return is(at+".what", w.What, what...) }, func() error { return needed(at+".by", w.By) }, func() error { return needed(at+".why", w.Why) }); err != nil {
			return err
		}
	}
	return nil
}

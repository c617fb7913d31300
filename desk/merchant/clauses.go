package merchant

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/report"
	"countersign/pipeline/verify"
	"countersign/store"
)

// quoted is a verified quote, and where it stands in the version that was in force.
type quoted struct {
	report.Clause
	name       string // clause_2 is the second quote of the proposal: by it a person leaves it out, and the record keeps that
	in         verify.Document
	start, end int
}

// quoted are the quotes that a report may rest on.
func (e evidence) quoted(c countersign.Case) (all []quoted) {
	if c.Proposal == nil {
		return nil
	}
	for i, q := range c.Proposal.Quotes {
		d, known := verify.Named(e.documents, q.Document)
		if !known || !verified(q) || d.Version != q.Version || q.Start < 0 || q.Start > q.End || q.End > len(d.Text) {
			continue // of another version than the decision was made on
		}
		from := e.version(d.ID)
		all = append(all, quoted{report.Clause{Document: d.Title, Version: d.Version, ValidFrom: from.ValidFrom.String(), SHA256: from.SHA256, Page: q.Page,
			Quote: flat(d.Text[q.Start:q.End]), Status: q.Status}, desk.ClausePrefix + strconv.Itoa(i+1), d, q.Start, q.End})
	}
	return all
}

// clauses are the quotes as a report shows them, each in what stands around it, after so many other exhibits. What stands around one
// does not show another that is left out; that one's number stays free until it is taken out.
func (e evidence) clauses(c countersign.Case, after int, without []string) []report.Clause {
	all := []report.Clause{}
	for i, q := range e.quoted(c) {
		from, to := 0, len(q.in.Text)
		for _, gone := range e.quoted(c) {
			if gone.in.ID != q.in.ID || !slices.Contains(without, gone.name) {
				continue
			}
			if gone.end <= q.start {
				from = max(from, gone.end)
			} else if gone.start >= q.end {
				to = min(to, gone.start)
			}
		}
		q.ID, q.Before, q.After = fmt.Sprintf("E%d", after+i+1), lead(q.in.Text[from:q.start]), trail(q.in.Text[q.end:to])
		all = append(all, q.Clause)
	}
	return all
}

// clausesOf is what a report of the case would quote, for whoever decides.
func (c Config) clausesOf(ctx context.Context, v store.View, of countersign.Case) (all []desk.Clause, err error) {
	versions, err := c.reader(ctx, v, of).versions()
	if err != nil {
		return nil, err
	}
	for _, q := range (evidence{documents: quotable(versions), versions: versions}).quoted(of) {
		all = append(all, desk.Clause{Name: q.name, Document: q.Document, Version: q.Version, Page: q.Page, Quote: q.Quote, Found: report.Found[q.Status]})
	}
	return all, nil
}

func (e evidence) version(id string) Version {
	return e.versions[slices.IndexFunc(e.versions, func(v Version) bool { return v.ID == id })] // its document was made of it
}

// contextBytes is how much of a policy stands before a clause, and after it.
const contextBytes = 400

func lead(s string) string {
	if len(s) > contextBytes {
		_, s, _ = strings.Cut(strings.ToValidUTF8(s[len(s)-contextBytes:], ""), " ")
		return "… " + flat(s)
	}
	return flat(s)
}

func trail(s string) string {
	if len(s) > contextBytes {
		s = strings.ToValidUTF8(s[:contextBytes], "")
		return flat(s[:max(strings.LastIndexByte(s, ' '), 0)]) + " …"
	}
	return flat(s)
}

// flat is a text on one line, without the marks that only say that a line is a heading.
func flat(s string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(s), func(word string) bool { return strings.Trim(word, "#") == "" }), " ")
}

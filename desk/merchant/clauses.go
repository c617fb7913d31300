package merchant

import (
	"fmt"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/merchant/report"
	"countersign/pipeline/verify"
)

// clauses are the verified quotes, each in what stands around it in the version that was in force, after so many other exhibits.
func (e evidence) clauses(c countersign.Case, after int) []report.Clause {
	all := []report.Clause{}
	if c.Proposal == nil {
		return all
	}
	for _, q := range c.Proposal.Quotes {
		d, known := verify.Named(e.documents, q.Document)
		if !known || !verified(q) || d.Version != q.Version || q.Start < 0 || q.Start > q.End || q.End > len(d.Text) {
			continue // of another version than the decision was made on
		}
		from := e.version(d.ID)
		all = append(all, report.Clause{ID: fmt.Sprintf("E%d", after+len(all)+1), Document: d.Title, Version: d.Version, ValidFrom: from.ValidFrom.String(), SHA256: from.SHA256, Page: q.Page,
			Before: lead(d.Text[:q.Start]), Quote: flat(d.Text[q.Start:q.End]), After: trail(d.Text[q.End:]), Status: q.Status})
	}
	return all
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

package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/desk"
)

// clauseShown is a clause that the report would quote, with the box that leaves it out.
type clauseShown struct {
	desk.Clause
	Where  string // in which document
	Ticked bool
}

// hurting are the facts that the report of a contest would mark as speaking against the shop, by what the records say now.
func (v *visit) hurting(f *file) (all []picked) {
	if f.desk.Against == nil || f.Facts == nil {
		return nil
	}
	facts := *f.Facts
	if f.now.Seen != "" {
		facts = f.now
	}
	against := f.desk.Against(facts, f.desk.Split)
	for _, g := range f.desk.FactGroups {
		for _, t := range g.Facts {
			if slices.Contains(against, t.Name) {
				fact := facts.Fact(t.Name)
				all = append(all, picked{Value: t.Name, Title: t.Title + ": " + strings.TrimSpace(stateWords[fact.State]+" "+v.readable(fact.Value))})
			}
		}
	}
	return all
}

// quotes puts on the page what the report would quote, and says what else it tells of the case.
func (v *visit) quotes(f *file, p *decideScreen) {
	if !f.desk.Reports || p.Over != "" {
		return
	}
	p.Also = "The evidence report also says how this was decided: what a model proposed, and why a person had to look."
	if f.desk.Clauses == nil {
		return
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), longestLook)
	defer cancel()
	clauses, err := f.desk.Clauses(ctx, v.Store.View, f.Case)
	if err != nil {
		v.Log.WarnContext(v.r.Context(), "the clauses of a case cannot be read", "case", string(f.ID), "error", err)
		p.Unread = "The clauses that the report would quote cannot be shown now: the policies could not be read. Open this page again before you decide."
		return
	}
	for _, c := range clauses {
		c.Document, c.Quote = legible(c.Document), legible(c.Quote)
		shown := clauseShown{Clause: c, Where: strings.TrimSpace(c.Document + " " + legible(c.Version))}
		if c.Page > 0 {
			shown.Where += fmt.Sprintf(", page %d", c.Page)
		}
		p.Clauses = append(p.Clauses, shown)
	}
}

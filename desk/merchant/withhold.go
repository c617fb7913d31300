package merchant

import (
	"slices"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/report"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
)

// leaveOut takes what a person left out from the content: facts, and then clauses.
func (e evidence) leaveOut(content *report.Content, c countersign.Case, d review.Decided) error {
	var clauses []string
	for _, name := range d.Withhold {
		if strings.HasPrefix(name, desk.ClausePrefix) {
			clauses = append(clauses, name)
		} else if err := e.withhold(content, c.Facts, name, d.Why); err != nil {
			return err
		}
	}
	if len(clauses) == 0 {
		return nil
	}
	return e.withholdClauses(content, c, clauses, d.Why)
}

// withholdClauses leaves quoted clauses out, and the model's summary, which may tell of them in other words. A summary that the person
// adopted as the answer is theirs, and stays unless it repeats one. Nothing that was judged is another for it: what a policy says was the
// model's argument, and the decision is a person's.
func (e evidence) withholdClauses(content *report.Content, c countersign.Case, names []string, why string) error {
	all, ids := e.quoted(c), []string{}
	for _, name := range names {
		i := slices.IndexFunc(all, func(q quoted) bool { return q.name == name })
		if i < 0 {
			return countersign.Errorf(countersign.Invalid, "%q is no clause that this report quotes", name).In("withhold").Try("look at the clauses again: the policies may have changed")
		}
		ids = append(ids, content.Clauses[i].ID)
	}
	if content.Proposal.Summary != content.Decision.Summary {
		content.Proposal.Summary = leftOut
	}
	if err := stillSaid(shared(all, names), "leave out both, or leave the clause in"); err != nil {
		return err
	}
	still, err := content.WithholdClauses(ids, content.Decision.By, content.Decision.At, why, verify.Repeats)
	if err != nil {
		return err
	}
	return stillSaid(still, "leave the clause in, or write an answer and a reason of your own that do not repeat it")
}

// shared names the clauses that stay and have words of one that goes.
func shared(all []quoted, gone []string) (names []string) {
	for _, q := range all {
		if !slices.Contains(gone, q.name) && slices.ContainsFunc(all, func(g quoted) bool {
			return slices.Contains(gone, g.name) && g.in.ID == q.in.ID && g.start < q.end && q.start < g.end
		}) {
			names = append(names, "the clause “"+q.Quote+"”")
		}
	}
	return names
}

func stillSaid(where []string, try string) error {
	if len(where) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.Unprocessed, "the report would still say it: %s", strings.Join(where, ", ")).In("withhold").Try(try)
}

// withhold leaves a fact out of the report, with what only it is told by: the reasons that it gave rise to, now and when the case was
// judged, what happened in its table, the statuses in other tables that repeat it, and the model's summary, which is words of its own
// about all it saw. The record keeps all of them, and the choice. What would still tell is an error: half a choice is none.
func (e evidence) withhold(content *report.Content, judged *countersign.Facts, name, why string) error {
	fact, doubts := e.facts.Fact(name), e.facts.Doubts
	told := []string{words(fact)}
	if judged != nil {
		doubts, told = slices.Concat(doubts, judged.Doubts), append(told, words(judged.Fact(name)))
	}
	for _, doubt := range doubts {
		if doubt.Fact == name {
			content.Net.Reasons = slices.DeleteFunc(content.Net.Reasons, func(r report.Reason) bool { return strings.Contains(r.Text, doubt.Reason.Text) })
			content.Net.Caveats = slices.DeleteFunc(content.Net.Caveats, func(text string) bool { return strings.Contains(text, doubt.Reason.Text) })
		}
	}
	table, _, _ := strings.Cut(fact.Source, " ")
	content.Timeline = slices.DeleteFunc(content.Timeline, func(event report.Event) bool { return event.Source == table })
	unshow(content, name)
	if table == "refunds" || table == "returns" || table == "typed_refund" || table == "typed_return" {
		hideStatuses(content)
	}
	if content.Decision.Summary == content.Proposal.Summary { // adopted as the answer
		content.Decision.Summary = leftOut
	}
	content.Proposal.Summary = leftOut
	still, err := content.Withhold(name, content.Decision.By, content.Decision.At, why)
	if err != nil {
		return err
	}
	if len(still) == 0 { // else they are told where already
		still = repeated(told, content.Decision.Reason, content.Decision.Summary, why)
	}
	return stillSaid(still, "leave the fact in, or write a reason that does not repeat it")
}

// words are those of a fact that nobody repeats by chance: its amount, where it has one, else what stands before a comma and a space.
func words(f countersign.Fact) string {
	if f.Amount != nil {
		return f.Amount.String()
	}
	first, _, _ := strings.Cut(f.Value, ", ")
	return first
}

// repeated says which of the words of a fact stand in what a person wrote, each once.
func repeated(told []string, written ...string) (still []string) {
	for i, value := range told {
		if !slices.Contains(told[:i], value) && slices.ContainsFunc(written, func(text string) bool { return report.Says(text, value) }) {
			still = append(still, "the reason, with "+value)
		}
	}
	return still
}

const leftOut = "Left out: it was written in view of what is withheld."

// hideStatuses takes the shop's own words for the state of an order and of its payments out: "partially_refunded" and
// "return_requested" tell of the refund or the return that is withheld. All of them go, for what a shop calls things nobody can list.
func hideStatuses(content *report.Content) {
	for i, e := range content.Exhibits {
		if e.Table != "orders" && e.Table != "payments" {
			continue
		}
		rows := make([][]string, len(e.Rows))
		for r, row := range e.Rows {
			rows[r] = slices.Clone(row)
			for c, column := range e.Columns {
				if column.Title == statusColumn || column.Title == shopStatusColumn {
					rows[r][c] = "withheld"
				}
			}
		}
		content.Exhibits[i].Rows = rows
	}
}

// unshow takes the exhibits of a fact from the other facts that were read from the same table: they would go on showing it.
func unshow(content *report.Content, name string) {
	var shown []string
	for _, f := range content.Facts {
		if f.Name == name {
			shown = f.Exhibits
		}
	}
	for i, f := range content.Facts {
		if f.Name != name {
			content.Facts[i].Exhibits = slices.DeleteFunc(slices.Clone(f.Exhibits), func(id string) bool { return slices.Contains(shown, id) })
		}
	}
}

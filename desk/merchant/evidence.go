package merchant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/pipeline/review"
	"countersign/pipeline/verify"
	"countersign/store"
)

// fresh reads the shop and the library again for a person who decides, and keeps the evidence report of what they decide: made of
// what was just read, sealed in the decision's own transaction, and never made again.
func (c Config) fresh(ctx context.Context, v store.View, of countersign.Case) (review.Fresh, error) {
	e, err := c.gather(ctx, v, of)
	if err != nil {
		return review.Fresh{}, err
	}
	return review.Fresh{Facts: e.facts, Keep: e.keep}, ctx.Err()
}

// evidence is what a report is made of.
type evidence struct {
	Config
	shop      string // what it is called
	records   shop.Records
	facts     countersign.Facts
	documents []verify.Document
	policies  []rules.Policy
}

func (c Config) gather(ctx context.Context, v store.View, of countersign.Case) (evidence, error) {
	r := c.reader(ctx, v, of)
	in, err := r.input(ctx, c.Now())
	if err != nil {
		return evidence{}, err
	}
	documents, err := r.documents(ctx)
	if err != nil {
		return evidence{}, fmt.Errorf("read the policies for the report: %w", err)
	}
	e := evidence{Config: c, records: r.order(), facts: rules.Judge(in), documents: documents, policies: in.Policies}
	if c.Shop != nil {
		e.shop = c.Shop(ctx)
	}
	return e, nil
}

// keep seals the report and stores it. A report that cannot be made is said in the record and keeps nobody from deciding: the
// deadline is the merchant's.
func (e evidence) keep(ctx context.Context, tx *store.Tx, c countersign.Case, d review.Decided) ([]store.Note, error) {
	content, err := e.content(ctx, tx.View, tx.Now, c, d)
	if err != nil {
		return nil, err
	}
	for _, fact := range d.Withhold {
		if err := e.withhold(&content, fact, d.Why); err != nil {
			return nil, err
		}
	}
	sealed, err := report.Seal(content)
	if err != nil {
		return []store.Note{{Kind: audit.Note, Payload: note{Round: c.Round, Report: "not made: " + err.Error()}}}, nil
	}
	err = tx.AddReport(ctx, store.Report{CaseID: c.ID, Round: c.Round, Fingerprint: sealed.Fingerprint(), Content: sealed.Canonical()}, d.By)
	return []store.Note{{Kind: audit.Note, Payload: note{c.Round, "evidence report " + sealed.Fingerprint()}}}, err
}

// withhold leaves a fact out of the report, with what only it is told by: the reasons that it gave rise to, and what happened in its
// table, and with the model's summary, which is words of its own about all it saw. The record keeps all of them, and the choice. What
// would still tell is an error: half a choice is none.
func (e evidence) withhold(content *report.Content, name, why string) error {
	fact := e.facts.Fact(name)
	for _, doubt := range e.facts.Doubts {
		if doubt.Fact == name {
			content.Net.Reasons = slices.DeleteFunc(content.Net.Reasons, func(r report.Reason) bool { return strings.Contains(r.Text, doubt.Reason.Text) })
			content.Net.Caveats = slices.DeleteFunc(content.Net.Caveats, func(text string) bool { return strings.Contains(text, doubt.Reason.Text) })
		}
	}
	table, _, _ := strings.Cut(fact.Source, " ")
	content.Timeline = slices.DeleteFunc(content.Timeline, func(event report.Event) bool { return event.Source == table })
	unshow(content, name)
	content.Proposal.Summary = "Left out: it was written in view of what is withheld."
	if content.Decision.Followed {
		content.Decision.Summary = content.Proposal.Summary
	}
	still, err := content.Withhold(name, content.Decision.By, content.Decision.At, why)
	if told, _, _ := strings.Cut(fact.Value, ","); len(told) > 4 && strings.Contains(content.Decision.Reason+" "+why, told) {
		still = append(still, "the reason, with "+told)
	}
	if err == nil && len(still) > 0 {
		err = countersign.Errorf(countersign.Unprocessed, "the report would still say it: %s", strings.Join(still, ", ")).In("withhold").
			Try("leave the fact in, or write a reason that does not repeat it")
	}
	return err
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

// note is what the record says of a report.
type note struct {
	Round  int    `json:"round"`
	Report string `json:"report"`
}

// content is what the report of a case says that was decided so, at that time.
func (e evidence) content(ctx context.Context, v store.View, at time.Time, c countersign.Case, d review.Decided) (report.Content, error) {
	head, err := v.Head(ctx, c.ID)
	if err != nil {
		return report.Content{}, err
	}
	names, err := namesOf(ctx, v)
	if err != nil {
		return report.Content{}, err
	}
	files, err := v.Exhibits(ctx, c.ID)
	if err != nil {
		return report.Content{}, err
	}
	by := cmp.Or(names[d.By.ID], d.By.ID)
	exhibits := e.exhibits(at)
	clauses := e.clauses(c, len(exhibits))
	return report.Content{
		Format:   report.FormatVersion,
		Case:     report.Case{ID: string(c.ID), Round: c.Round, Order: c.Subject.ID, Shop: e.shop, OpenedAt: report.At(c.OpenedAt)},
		Dispute:  disputeOf(c),
		Decision: decisionOf(c, d, by, at),
		Proposal: proposalOf(c),
		Net:      netOf(c),
		Facts:    e.reportFacts(c, d, exhibits),
		Exhibits: exhibits, Clauses: clauses, Timeline: e.timeline(c, by, at),
		Withheld: []report.Withheld{}, Attachments: pack.Listed(files, len(exhibits)+len(clauses), names),
		Audit: report.Audit{Rows: head.Seq, Head: head.Hash.String(), PolicyVersion: policyVersion(c), Program: cmp.Or(e.Version, "development"), MadeAt: report.At(at)},
	}, nil
}

// namesOf are what people and tokens are called, by their ids.
func namesOf(ctx context.Context, v store.View) (map[string]string, error) {
	names, err := v.Names(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := v.ListTokens(ctx)
	for _, t := range tokens {
		names[t.ID] = "token " + t.Name
	}
	return names, err
}

func policyVersion(c countersign.Case) string {
	if c.Verdict == nil {
		return ""
	}
	return c.Verdict.PolicyVersion
}

func disputeOf(c countersign.Case) report.Dispute {
	d := report.Dispute{Network: c.Terms.Network, ReasonCode: c.Terms.ReasonCode, ReasonText: NameOf(c.Terms), Claim: claimed[c.Reason], Stage: c.Stage,
		Provider: carriers[c.Terms.Network], ProviderRef: c.Terms.Reference, Amount: amountOf(c.Amount), DueSource: string(c.DueSource)}
	if c.DueAt != nil {
		d.DueAt = report.At(*c.DueAt)
	}
	return d
}

// claimed is what the cardholder claims, in a sentence of ours.
var claimed = map[countersign.DisputeReason]string{
	countersign.Unauthorised:    "The cardholder states that they did not make this purchase.",
	countersign.NotReceived:     "The cardholder states that the goods or services of this order were not received.",
	countersign.DuplicateCharge: "The cardholder states that this order was charged more than once, or paid by other means.",
	countersign.WrongAmount:     "The cardholder states that the amount charged was wrong.",
	countersign.OtherReason:     "The cardholder disputes this payment.",
}

func amountOf(m countersign.Money) report.Amount {
	if m.Currency == "" {
		return report.Amount{}
	}
	return report.AmountOf(&m)
}

// decisionOf says how the amount in dispute is split between what is contested and what is accepted.
func decisionOf(c countersign.Case, d review.Decided, by string, at time.Time) report.Decision {
	contested, accepted := c.Amount, countersign.Money{Currency: c.Amount.Currency}
	switch {
	case d.Outcome == countersign.AcceptedOutcome:
		contested, accepted = accepted, contested
	case d.Part != nil:
		contested, accepted = *d.Part, countersign.Money{Minor: c.Amount.Minor - d.Part.Minor, Currency: c.Amount.Currency}
	}
	summary := d.Reason
	if d.Followed && c.Proposal != nil {
		summary = c.Proposal.Summary
	}
	return report.Decision{Outcome: string(d.Outcome), Contested: amountOf(contested), Accepted: amountOf(accepted), By: by, At: report.At(at),
		Followed: d.Followed, Reason: d.Reason, Summary: summary}
}

func proposalOf(c countersign.Case) report.Proposal {
	p := report.Proposal{Model: strings.TrimSpace(c.Model.Provider + " · " + c.Model.Name)}
	if c.Proposal != nil {
		p.Recommendation, p.Summary = c.Proposal.Recommendation, c.Proposal.Summary
		p.Confidence = strconv.FormatFloat(c.Proposal.Confidence, 'f', -1, 64)
	}
	return p
}

func netOf(c countersign.Case) report.Net {
	n := report.Net{Recommendation: c.Recommendation, Reasons: []report.Reason{}, Caveats: []string{}}
	if c.Verdict == nil {
		return n
	}
	for _, r := range c.Verdict.Reasons {
		n.Reasons = append(n.Reasons, report.Reason{Code: string(r.Code), Text: r.Text})
	}
	n.Caveats = append(n.Caveats, c.Verdict.Caveats...)
	return n
}

// reportFacts are the facts as the decision was made on them, each with what it does for that decision.
func (e evidence) reportFacts(c countersign.Case, d review.Decided, exhibits []report.Exhibit) []report.Fact {
	all := []report.Fact{}
	for _, f := range e.facts.Items {
		all = append(all, report.Fact{Name: f.Name, Title: titleOf(f.Name), State: string(f.State), Value: f.Value, Source: f.Source,
			Weight: e.weight(f, d), Exhibits: shownIn(f, exhibits)})
	}
	return all
}

func titleOf(name string) string {
	for _, g := range factGroups {
		for _, f := range g.Facts {
			if f.Name == name {
				return f.Title
			}
		}
	}
	return name
}

// weight is what a fact does for what was decided: it hurts when a rule found a doubt in it that speaks against that decision.
func (e evidence) weight(f countersign.Fact, d review.Decided) report.Weight {
	wants := map[countersign.Outcome]string{countersign.Contested: "CONTEST", countersign.AcceptedOutcome: "ACCEPT"}[d.Outcome]
	if slices.ContainsFunc(e.facts.Doubts, func(doubt countersign.Doubt) bool {
		return doubt.Fact == f.Name && (doubt.Wanting == "" || doubt.Wanting == wants)
	}) {
		return report.Hurts
	}
	if f.State == countersign.Present && (f.Name == "delivered" || f.Name == "paid" || f.Name == "policy_in_force") || f.State == countersign.Absent && (f.Name == "refund_returned" || f.Name == "return_on_file") {
		return report.Supports
	}
	return report.Neutral
}

// shownIn are the exhibits of the table that a fact was read from.
func shownIn(f countersign.Fact, exhibits []report.Exhibit) []string {
	table, _, _ := strings.Cut(f.Source, " ")
	ids := []string{}
	for _, e := range exhibits {
		if e.Table == table {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

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
		all = append(all, report.Clause{ID: fmt.Sprintf("E%d", after+len(all)+1), Document: d.Title, Version: d.Version, ValidFrom: e.since(d.ID), Page: q.Page,
			Before: lead(d.Text[:q.Start]), Quote: flat(d.Text[q.Start:q.End]), After: trail(d.Text[q.End:]), Status: q.Status})
	}
	return all
}

// since is the day from which a version counts, empty for one that always did.
func (e evidence) since(version string) string {
	for _, p := range e.policies {
		if p.ID == version {
			return p.ValidFrom.String()
		}
	}
	return ""
}

// context is how much of a policy stands around a clause, in bytes.
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

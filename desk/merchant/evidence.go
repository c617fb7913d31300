package merchant

import (
	"cmp"
	"context"
	"fmt"
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
	versions  []Version // the same, with where they come from
}

func (c Config) gather(ctx context.Context, v store.View, of countersign.Case) (evidence, error) {
	r := c.reader(ctx, v, of)
	in, err := r.input(ctx, c.Now())
	if err != nil {
		return evidence{}, err
	}
	versions, err := r.versions()
	if err != nil {
		e := countersign.Errorf(countersign.Unavailable, "the policy library could not be read; nothing was decided").Try("try again in a moment; the log says what is wrong with it")
		e.Err = err
		return evidence{}, e
	}
	e := evidence{Config: c, records: r.order(), facts: rules.Judge(in), documents: quotable(versions), versions: versions}
	if c.Shop != nil {
		e.shop = c.Shop(ctx)
	}
	return e, nil
}

// keep seals the report and stores it. A report that cannot be made is said in the record and keeps nobody from deciding: the
// deadline is the merchant's.
func (e evidence) keep(ctx context.Context, tx *store.Tx, c countersign.Case, d review.Decided) ([]store.Note, error) {
	if d.Outcome == countersign.Contested && c.Subject.ID == "" {
		return nil, countersign.Errorf(countersign.Unprocessed, "nobody can contest a dispute that names no order: there would be nothing to answer it with").
			Try("attach its order first")
	}
	content, err := e.content(ctx, tx.View, tx.Now, c, d)
	if err != nil {
		return nil, err
	}
	if err := e.leaveOut(&content, c, d); err != nil {
		return nil, err
	}
	if err := onWordAlone(d.Outcome, content); err != nil {
		return nil, err
	}
	sealed, err := report.Seal(content)
	if err != nil {
		return []store.Note{{Kind: audit.Note, Payload: note{Round: c.Round, Report: "not made: " + err.Error()}}}, nil
	}
	err = tx.AddReport(ctx, store.Report{CaseID: c.ID, Round: c.Round, Fingerprint: sealed.Fingerprint(), Content: sealed.Canonical()}, d.By)
	return []store.Note{{Kind: audit.Note, Payload: note{c.Round, audit.ReportMade + sealed.Fingerprint()}}}, err
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
	names, err := v.Names(ctx)
	if err != nil {
		return report.Content{}, err
	}
	files, err := v.Exhibits(ctx, c.ID)
	if err != nil {
		return report.Content{}, err
	}
	proposed, err := proposalOf(ctx, v, c)
	if err != nil {
		return report.Content{}, err
	}
	by := cmp.Or(names[d.By.ID], d.By.ID)
	typed, err := v.TypedFacts(ctx, c.ID)
	if err != nil {
		return report.Content{}, err
	}
	since := e.since(c)
	exhibits := e.exhibits(at, since == "")
	exhibits = append(exhibits, typedExhibits(typed, len(exhibits), names)...)
	clauses := e.clauses(c, len(exhibits), d.Withhold)
	return report.Content{
		Format:   report.FormatVersion,
		Case:     report.Case{ID: string(c.ID), Round: c.Round, Order: c.Subject.ID, Shop: e.shop, OpenedAt: report.At(c.OpenedAt)},
		Dispute:  disputeOf(c),
		Decision: decisionOf(c, d, by, at),
		Proposal: proposed,
		Net:      netOf(c, since),
		Facts:    e.reportFacts(c, d, exhibits),
		Exhibits: exhibits, Clauses: clauses, Timeline: e.timeline(c, by, at),
		Withheld: []report.Withheld{}, Attachments: pack.Listed(files, len(exhibits)+len(clauses), names),
		Audit: report.Audit{Rows: head.Seq, Head: head.Hash.String(), PolicyVersion: policyVersion(c), Program: cmp.Or(e.Version, "development"), MadeAt: report.At(at)},
	}, nil
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
	summary := cmp.Or(d.Answer, d.Reason)
	if summary == "" && c.Proposal != nil {
		summary = c.Proposal.Summary // who approves as it stands adopts it
	}
	return report.Decision{Outcome: string(d.Outcome), Contested: amountOf(contested), Accepted: amountOf(accepted), By: by, At: report.At(at),
		Followed: d.Followed, Reason: d.Reason, Summary: summary}
}

// proposalOf is what the model wanted, and when the last of its proposals was recorded.
func proposalOf(ctx context.Context, v store.View, c countersign.Case) (report.Proposal, error) {
	p := report.Proposal{Model: strings.TrimSpace(c.Model.Provider + " · " + c.Model.Name)}
	if c.Proposal == nil {
		return p, nil
	}
	p.Recommendation, p.Summary = c.Proposal.Recommendation, c.Proposal.Summary
	p.Confidence = strconv.FormatFloat(c.Proposal.Confidence, 'f', -1, 64)
	for row, err := range v.RecordRows(ctx, c.ID, 0) {
		if err != nil {
			return p, fmt.Errorf("read when the model proposed: %w", err)
		}
		if row.Kind == audit.Proposal {
			p.At = report.At(time.UnixMicro(row.At))
		}
	}
	return p, nil
}

// since says what became of the shop's rows after the recommendation was made on them; empty when they are the same. What could not be
// read, then or now, did not change for that: nobody can tell.
func (e evidence) since(c countersign.Case) string {
	judged := c.Facts
	switch {
	case judged == nil, judged.Seen == "", judged.Seen == e.facts.Seen, judged.Rows != "" && judged.Rows == e.facts.Rows:
		return ""
	case judged.Rows == "": // it was judged before rows had a hash of their own, and a deadline that passed is in Seen too
		return notCompared
	case e.facts.Partial:
		return notReadAgain
	case judged.Partial:
		return notReadBefore
	}
	return changedSince
}

// One of these stands in a report whose rows are not known to be those that the recommendation was made on. None says what changed:
// the rows do, and what is withheld of them is withheld here too.
const (
	changedSince  = "The shop's records changed between the check and the decision." + madeBefore
	notReadAgain  = "Not all of the shop's records could be read again for the decision, so whether they changed since the check cannot be told." + madeBefore
	notReadBefore = "Not all of the shop's records could be read for the check, so whether they changed since cannot be told." + madeBefore
	notCompared   = "Whether the shop's records changed between the check and the decision cannot be told: they cannot be compared." + madeBefore
	madeBefore    = " The facts and rows in this report are those that the decision was made on; the recommendation and its reasons were made before."
)

func netOf(c countersign.Case, since string) report.Net {
	n := report.Net{Recommendation: c.Recommendation, Reasons: []report.Reason{}, Caveats: []string{}}
	if c.Verdict == nil {
		return n
	}
	for _, r := range c.Verdict.Reasons {
		n.Reasons = append(n.Reasons, report.Reason{Code: string(r.Code), Text: r.Text})
	}
	n.Caveats = append(n.Caveats, c.Verdict.Caveats...)
	if since != "" {
		n.Caveats = append(n.Caveats, since)
	}
	return n
}

// reportFacts are the facts as the decision was made on them, each with what it does for that decision.
func (e evidence) reportFacts(c countersign.Case, d review.Decided, exhibits []report.Exhibit) []report.Fact {
	all := []report.Fact{}
	for _, f := range e.facts.Items {
		if f.Name == "disputed" && f.Value != "" && c.Amount.Currency != "" && f.Value != c.Amount.String() {
			f.Value += " by the records now; this decision is about " + c.Amount.String()
		}
		all = append(all, report.Fact{Name: f.Name, Title: titleOf(f.Name), State: string(f.State), Value: f.Value, Source: f.Source,
			Weight: report.Weight(rules.WeightOf(f, e.facts.Doubts, d.Outcome)), Exhibits: shownIn(f, exhibits)})
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

// shownIn are the exhibits of the table that a fact was read from.
func shownIn(f countersign.Fact, exhibits []report.Exhibit) []string {
	table, _, _ := strings.Cut(f.Source, " ")
	ids := []string{}
	for _, e := range exhibits {
		if e.Table == table || states(e, f.Source) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

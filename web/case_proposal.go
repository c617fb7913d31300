package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/merchant/report"
	"countersign/pipeline/verify"
)

// proposalPanel is what the model said. It is shown as a proposal of somebody who may be wrong, beside the facts and never among
// them.
type proposalPanel struct {
	Headline   string // what it wants, in a person's words
	Failed     string // why there is no proposal; everything but Model is then empty
	Confidence string
	Fraud      bool
	Summary    string
	Claims     []claim
	Quotes     []quotation
	Against    []string // where the records, or looking its citations up, say something else
	Stands     string   // what stands after every check, when that is not what the model wanted
	Model      string
	Cost       string // turns, tokens
}

type claim struct {
	Number    int
	Text      string
	Citations []citation
}

type citation struct {
	Ref, Field, Value, Words string
	Found                    bool
	Href                     string
}

var wants = map[string]string{"resolve": "Resolve", "reject": "Reject", "escalate": "Leave it to a person",
	"CONTEST": "Contest it", "ACCEPT": "Accept it", "MANUAL_REVIEW_REQUIRED": "Leave it to a person"}

func (v *visit) proposal(f *file) *proposalPanel {
	p := f.Proposal
	if p == nil {
		return nil
	}
	panel := &proposalPanel{Summary: legible(p.Summary), Fraud: p.FraudSuspected, Model: f.modelName(), Cost: f.cost(), Against: f.against(), Stands: f.stands()}
	if p.Failure != "" {
		panel.Failed = "The model made no proposal: " + failures[p.Failure] + "."
		return panel
	}
	panel.Headline, panel.Confidence = headline(*p), fmt.Sprintf("%.2f", p.Confidence)
	if !f.desk.Reports && len(p.Claims) > 0 {
		panel.Summary = "" // the claims say it, each with what it rests on; only a report prints it
	}
	for i, c := range p.Claims {
		panel.Claims = append(panel.Claims, f.claim(i+1, c))
	}
	for _, q := range p.Quotes {
		panel.Quotes = append(panel.Quotes, f.quotation(q))
	}
	return panel
}

// quotation is a clause that the proposal quotes, in what stands around it in the policy.
type quotation struct {
	Document, Words      string
	Before, Quote, After string
	Found                bool
	Href                 string // the clause on its page of the library
}

// around is how much of a policy is shown before and after a clause, in bytes.
const around = 240

func (f *file) quotation(q countersign.Quote) quotation {
	shown := quotation{Document: legible(q.Document), Quote: legible(q.Quote), Words: cmp.Or(report.Found[q.Status], quoteWords[q.Status])}
	if q.Status != countersign.QuoteExact && q.Status != countersign.QuoteFolded {
		return shown
	}
	shown.Found, shown.Document = true, strings.TrimSpace(shown.Document+" "+legible(q.Version))
	if q.Page > 0 {
		shown.Document += fmt.Sprintf(", page %d", q.Page)
	}
	d, known := verify.Named(f.documents, q.Document)
	if known && d.Version == q.Version && q.Start >= 0 && q.Start <= q.End && q.End <= len(d.Text) {
		shown.Href = fmt.Sprintf("/library/%s?start=%d&end=%d#clause", d.ID, q.Start, q.End)
		shown.Before, shown.Quote, shown.After = before(d.Text, q.Start), oneLine(d.Text[q.Start:q.End]), after(d.Text, q.End)
	}
	return shown
}

// before and after are what stands around a place in a text, from a whole word on.
func before(text string, at int) string {
	if at <= around {
		return oneLine(text[:at])
	}
	_, rest, _ := strings.Cut(strings.ToValidUTF8(text[at-around:at], ""), " ")
	return "… " + oneLine(rest)
}

func after(text string, at int) string {
	if len(text)-at <= around {
		return oneLine(text[at:])
	}
	rest := strings.ToValidUTF8(text[at:at+around], "")
	return oneLine(rest[:max(strings.LastIndexByte(rest, ' '), 0)]) + " …"
}

// oneLine is a part of a policy on one line, without the marks that only say that a line is a heading.
func oneLine(text string) string {
	return legible(strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Trim(word, "#") == "" }), " "))
}

func headline(p countersign.Proposal) string {
	want := wants[p.Recommendation]
	if want == "" {
		want = plain(p.Recommendation)
	}
	if p.Category == "" {
		return want
	}
	return want + ": " + complaint(p.Category)
}

func (f *file) claim(n int, c countersign.Claim) claim {
	shown := claim{Number: n, Text: legible(c.Text)}
	for _, cited := range c.Citations {
		shown.Citations = append(shown.Citations, citation{legible(string(cited.Ref)), legible(cited.Field), legible(cited.Value), citationWords[cited.Status],
			cited.Status == countersign.CitationVerified, stepHref(string(cited.Ref), cited.Field)})
	}
	return shown
}

// against are the reasons that contradict what the model says, as the policy worded them.
func (f *file) against() (all []string) {
	if f.Verdict == nil {
		return nil
	}
	if len(f.Verdict.Caveats) > 0 {
		return f.Verdict.Caveats
	}
	for _, r := range f.Verdict.Reasons {
		if slices.Contains([]countersign.ReasonCode{countersign.FactsDisagree, countersign.EvidenceInvalid, countersign.FixNotApplicable}, r.Code) {
			all = append(all, r.Text)
		}
	}
	return all
}

func (f *file) stands() string {
	if f.Recommendation == "" || f.Recommendation == f.Proposal.Recommendation || f.Proposal.Failure != "" {
		return ""
	}
	return "After every check this stands: " + wants[f.Recommendation] + "."
}

func (f *file) modelName() string {
	if f.Model.Provider == "rulebook" {
		return "Offline reviewer: fixed rules, no AI"
	}
	return f.Model.Name + " (" + f.Model.Provider + ")"
}

func (f *file) cost() string {
	var parts []string
	if f.Model.InputTokens+f.Model.OutputTokens > 0 {
		parts = append(parts, count(f.Model.InputTokens)+" tokens read, "+count(f.Model.OutputTokens)+" written")
	}
	if f.Model.AssumedTokens > 0 {
		parts = append(parts, "about "+count(f.Model.AssumedTokens)+" that no server counted, and that may have to be paid")
	}
	if cost := f.Model.Cost.String(); cost != "" {
		parts = append(parts, cost)
	}
	return strings.Join(parts, " · ")
}

// why is one reason for a person: what kind it is, and what it is in this case.
type why struct{ Code, Words, Text string }

func (f *file) why() (all []why) {
	if f.Verdict == nil {
		return nil
	}
	for _, r := range telling(f.Verdict.Reasons) {
		words := reasonWords[r.Code]
		if words == "" {
			words = capital(plain(r.Code))
		}
		all = append(all, said(string(r.Code), words, r.Text))
	}
	return all
}

// said puts the kind of a reason before its sentence, unless the sentence begins with it.
func said(code, words, text string) why {
	if strings.HasPrefix(strings.ToLower(text), strings.ToLower(words)) {
		return why{Code: code, Words: text}
	}
	return why{code, words + ".", text}
}

// stepHref leads to the cited value: its row in the table of its step.
func stepHref(ref, field string) string { return fragment(stepID(ref, field)) }

func stepID(ref, field string) string { return ref + "/" + field }

// fragment is the address of a place on the page. A colon is escaped too: what stands before one is taken for a scheme.
func fragment(id string) string { return "#" + strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

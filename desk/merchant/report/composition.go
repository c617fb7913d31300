package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign"
)

// composition is the report as its reader meets it, for whoever draws it: what comes after what, under which headings, in which
// words. HTML and PDF draw this and nothing else, so neither can say what the other does not.
type composition struct {
	Order, Case string
	Headline    string // "Chargeback contested"
	Standing    string // one line under it
	Amounts     []pair // the largest thing on the page
	Particulars []pair
	Opening     []block // the rest of the first page
	Sections    []section
	Fingerprint string
	Producer    string
}

type section struct {
	Title  string
	Lead   string // what this is and where it comes from
	Blocks []block
}

// block is one thing under a heading: the one field that is set.
type block struct {
	Text   *passage
	Pairs  []pair
	Table  *table
	Clause *clause
	Notice string // something that the reader must not miss
}

// passage is a text with who speaks in it.
type passage struct{ Label, Body, Voice string }

type pair struct {
	Label, Value string
	Kind         ColumnKind
}

// table is an exhibit, or another list. Rows are drawn as they are, and headings again on each page.
type table struct {
	ID, Title, Source, Note string
	Columns                 []Column
	Rows                    [][]cell
	Listed                  bool // each row reads better as labels and values: there is but one, or it is wider than a page
}

// Records are the rows of a table that is Listed, as labels and values.
func (t table) Records() (records [][]pair) {
	for _, row := range t.Rows {
		var record []pair
		for i, c := range row {
			kind := t.Columns[i].Kind
			if c.Text == "" {
				c.Text, kind = "not recorded", TextColumn
			}
			record = append(record, pair{t.Columns[i].Title, c.Text, kind})
		}
		records = append(records, record)
	}
	return records
}

type cell struct {
	Text string
	Tone string // supports, hurts, unknown: said in words too
}

type clause struct{ ID, Title, Source, Before, Quote, After string }

func (r Report) compose() composition {
	c := r.content
	return composition{
		Order: c.Case.Order, Case: c.Case.ID,
		Headline:    headline(c.Decision),
		Standing:    standing(c),
		Amounts:     []pair{{"In dispute", amount(c.Dispute.Amount), AmountColumn}, {"Contested", amount(c.Decision.Contested), AmountColumn}, {"Accepted", amount(c.Decision.Accepted), AmountColumn}},
		Particulars: particulars(c),
		Opening:     opening(c),
		Sections:    sections(c, r.fingerprint),
		Fingerprint: r.fingerprint,
		Producer:    Renderer,
	}
}

// particulars leave out who passed the dispute on and the shop's name where there is none: not every dispute comes through somebody,
// and the merchant knows who they are. What a reader would ask for is there, if only to say that it is not known.
func particulars(c Content) []pair {
	all := []pair{{"Network", named(c.Dispute.Network), TextColumn}, {"Reason", reason(c.Dispute), TextColumn}}
	if c.Dispute.Provider != "" {
		all = append(all, pair{"Passed on by", named(c.Dispute.Provider), TextColumn})
	}
	all = append(all, pair{"Reference", known(c.Dispute.ProviderRef), IDColumn}, pair{"Stage", spaced(known(c.Dispute.Stage)), TextColumn},
		pair{"Answer due", due(c.Dispute), TextColumn}, pair{"Decided by", c.Decision.By, TextColumn}, pair{"Decided", moment(c.Decision.At), TextColumn})
	if c.Case.Shop != "" {
		all = append(all, pair{"Shop", c.Case.Shop, TextColumn})
	}
	return append(all, pair{"Case", fmt.Sprintf("%s, round %d, opened %s", c.Case.ID, c.Case.Round, day(c.Case.OpenedAt)), TextColumn})
}

func headline(d Decision) string {
	switch none := (Amount{}); {
	case d.Outcome == "accept":
		return "Chargeback accepted"
	case d.Accepted != none && d.Accepted.Minor != "0":
		return inPart
	}
	return "Chargeback contested"
}

const inPart = "Chargeback contested in part"

func standing(c Content) string {
	return fmt.Sprintf("Order %s · evidence report of %s", c.Case.Order, day(c.Decision.At))
}

func reason(d Dispute) string {
	return known(strings.TrimSpace(d.ReasonCode + " " + d.ReasonText))
}

func due(d Dispute) string {
	if d.DueAt == "" {
		return "no deadline is known"
	}
	if d.DueSource == "" {
		return moment(d.DueAt)
	}
	return moment(d.DueAt) + ", from " + dueSources[d.DueSource]
}

var dueSources = map[string]string{"provider": "the provider", "rule": "the network's rule", "manual": "a person", "unknown": "an unknown source"}

func opening(c Content) []block {
	blocks := []block{}
	if c.Dispute.Claim != "" {
		blocks = append(blocks, block{Text: &passage{"The claim", c.Dispute.Claim, "as the dispute states it"}})
	}
	if c.Decision.Summary != "" {
		blocks = append(blocks, block{Text: &passage{"The answer", c.Decision.Summary, answering(c)}})
	}
	if facts := factTable("The facts that matter", c.Facts, Supports, Hurts); facts != nil {
		blocks = append(blocks, block{Table: facts})
	}
	for _, w := range c.Withheld {
		blocks = append(blocks, block{Notice: withheldLine(w)})
	}
	return blocks
}

// answering says whose words the answer is. A model's stay a model's, whoever adopted them.
func answering(c Content) string {
	if c.Decision.Followed && c.Decision.Summary == c.Proposal.Summary {
		return "written by a model, read and approved by " + c.Decision.By
	}
	return c.Decision.By + ", for the merchant"
}

func withheldLine(w Withheld) string {
	what := cmp.Or(w.What, FactWithheld)
	if w.Count > 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s withheld by %s: %s", w.Count, what, w.By, w.Why)
}

// factTable lists the facts of these weights, nil if there is none.
func factTable(title string, facts []Fact, weights ...Weight) *table {
	t := &table{Title: title, Columns: []Column{{"Fact", TextColumn}, {"What the records say", TextColumn}, {"For the merchant", TextColumn}, {"Exhibit", TextColumn}}}
	for _, weight := range weights {
		for _, f := range facts {
			if f.Weight == weight {
				t.Rows = append(t.Rows, []cell{{Text: f.Title}, {Text: finding(f), Tone: toneOf(f)}, {Text: weightWords[f.Weight], Tone: string(f.Weight)}, {Text: strings.Join(f.Exhibits, ", ")}})
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

var weightWords = map[Weight]string{Supports: "✓ supports", Hurts: "✗ speaks against", Neutral: "neutral"}

func finding(f Fact) string {
	switch {
	case f.State == "unknown":
		return strings.TrimSpace("? unknown " + f.Value)
	case f.State == "absent" && f.Value == "":
		return "none on record"
	case f.Value == "":
		return "on record"
	}
	return f.Value
}

func toneOf(f Fact) string {
	if f.State == "unknown" {
		return "unknown"
	}
	return ""
}

func sections(c Content, fingerprint string) []section {
	all := []section{
		factSection(c), exhibitSection(c), typedSection(c), clauseSection(c), timelineSection(c), attachmentSection(c), decisionSection(c), recordSection(c, fingerprint),
	}
	var filled []section
	for _, s := range all {
		if len(s.Blocks) > 0 {
			filled = append(filled, s)
		}
	}
	return filled
}

func factSection(c Content) section {
	s := section{Title: "Also read", Lead: "Facts that speak neither for nor against the merchant, read by code in the same records."}
	if t := factTable("", c.Facts, Neutral); t != nil {
		s.Blocks = []block{{Table: t}}
	}
	return s
}

func exhibitSection(c Content) section {
	s := section{Title: "Exhibits", Lead: "Rows of the merchant's own records, as they were read: read only, and every row that belongs to the order unless a note says otherwise."}
	for _, e := range c.Exhibits {
		if e.TypedBy == "" {
			s.Blocks = append(s.Blocks, block{Table: exhibitTable(e)})
		}
	}
	return s
}

func typedSection(c Content) section {
	s := section{Title: "Stated by people", Lead: "Typed in by people of the merchant, each by name. No record of the merchant's shows it, and no fact that supports the merchant rests on it."}
	for _, e := range c.Exhibits {
		if e.TypedBy != "" {
			s.Blocks = append(s.Blocks, block{Table: exhibitTable(e)})
		}
	}
	return s
}

// mostColumns is how many stand beside each other on a page and can be read.
const mostColumns = 9

func exhibitTable(e Exhibit) *table {
	t := &table{ID: e.ID, Title: e.Title, Source: exhibitSource(e), Note: e.Note, Columns: e.Columns, Listed: len(e.Rows) == 1 && len(e.Columns) > 3 || len(e.Columns) > mostColumns}
	for _, row := range e.Rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i].Text = cellText(text, e.Columns[i].Kind)
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(e.Rows) == 0 && e.Note == "" {
		t.Note = "There are no rows."
	}
	return t
}

func exhibitSource(e Exhibit) string {
	if e.TypedBy != "" {
		return "typed in by " + e.TypedBy + ", " + moment(e.ReadAt)
	}
	from := e.Table
	if e.Database != "" {
		from += " of " + e.Database
	}
	if e.Step != "" {
		return "read from " + from + ", " + moment(e.ReadAt) + " · step " + e.Step
	}
	return "read from " + from + ", " + moment(e.ReadAt)
}

// cellText is a cell as it was read, but for times that are in our own form: those lose what nobody reads.
func cellText(text string, kind ColumnKind) string {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && kind == TimeColumn {
		return t.UTC().Format("2006-01-02 15:04:05.999999 UTC")
	}
	return text
}

func clauseSection(c Content) section {
	s := section{Title: "Clauses quoted", Lead: "From the merchant's own documents, found by code in the text of the version named, and shown in their context."}
	for _, q := range c.Clauses {
		s.Blocks = append(s.Blocks, block{Clause: &clause{ID: q.ID, Title: q.Document, Source: clauseSource(q), Before: q.Before, Quote: q.Quote, After: q.After}})
	}
	return s
}

// Found says what it is to be found, by the status of a clause: in a report, and wherever else a clause is shown.
var Found = map[string]string{countersign.QuoteExact: "stands there, word for word", countersign.QuoteFolded: "stands there, but for the typesetting"}

func clauseSource(q Clause) string {
	parts := []string{}
	if q.Version != "" {
		parts = append(parts, "version "+q.Version)
	}
	if q.ValidFrom != "" {
		parts = append(parts, "in force from "+day(q.ValidFrom))
	}
	if q.Page > 0 {
		parts = append(parts, "page "+strconv.Itoa(q.Page))
	}
	if q.SHA256 != "" {
		parts = append(parts, "file "+q.SHA256[:min(12, len(q.SHA256))]+"…")
	}
	parts = append(parts, Found[q.Status])
	return strings.Join(parts, " · ")
}

func timelineSection(c Content) section {
	s := section{Title: "Timeline"}
	if len(c.Timeline) == 0 {
		return s
	}
	t := &table{Columns: []Column{{"When", TimeColumn}, {"What happened", TextColumn}, {"Source", TextColumn}}}
	for _, e := range c.Timeline {
		t.Rows = append(t.Rows, []cell{{Text: known(cellText(e.At, TimeColumn))}, {Text: e.What}, {Text: e.Source}})
	}
	s.Blocks = []block{{Table: t}}
	return s
}

func attachmentSection(c Content) section {
	s := section{Title: "Attached files", Lead: "Added by a person. The hash is of the file as it was added."}
	if len(c.Attachments) == 0 {
		return s
	}
	t := &table{Columns: []Column{{"Exhibit", TextColumn}, {"File", TextColumn}, {"Pages", AmountColumn}, {"Bytes", AmountColumn}, {"Added by", TextColumn}, {"SHA-256", IDColumn}}}
	for _, a := range c.Attachments {
		name := a.Name
		if a.Description != "" {
			name += "\n" + a.Description
		}
		t.Rows = append(t.Rows, []cell{{Text: a.ID}, {Text: name}, {Text: strconv.Itoa(a.Pages)}, {Text: strconv.FormatInt(a.Size, 10)}, {Text: a.AddedBy + "\n" + moment(a.AddedAt)}, {Text: Short(a.SHA256)}})
	}
	s.Blocks = []block{{Table: t}}
	return s
}

func decisionSection(c Content) section {
	s := section{Title: "How this was decided", Lead: "A model proposed, code checked the proposal against the records, and a person decided."}
	s.Blocks = append(s.Blocks, block{Pairs: []pair{
		{"The model wanted", known(c.Proposal.Recommendation), TextColumn},
		{"Stated confidence", known(c.Proposal.Confidence), TextColumn},
		{"Model", known(c.Proposal.Model), TextColumn},
		{"Proposed", moment(c.Proposal.At), TextColumn},
		{"After every check", known(c.Net.Recommendation), TextColumn},
		{"The person decided", strings.ToUpper(c.Decision.Outcome) + followed(c), TextColumn},
		{"Policy", known(c.Audit.PolicyVersion), IDColumn},
	}})
	if c.Proposal.Summary != "" {
		s.Blocks = append(s.Blocks, block{Text: &passage{"The model's summary", c.Proposal.Summary, "a proposal, not a decision"}})
	}
	if len(c.Net.Reasons) > 0 {
		t := &table{Title: "Why a person had to look", Columns: []Column{{"Reason", IDColumn}, {"In words", TextColumn}}}
		for _, r := range c.Net.Reasons {
			t.Rows = append(t.Rows, []cell{{Text: r.Code}, {Text: r.Text}})
		}
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	for _, caveat := range c.Net.Caveats {
		s.Blocks = append(s.Blocks, block{Notice: caveat})
	}
	if c.Decision.Reason != "" {
		s.Blocks = append(s.Blocks, block{Text: &passage{"The person's reason", c.Decision.Reason, c.Decision.By + ", " + moment(c.Decision.At)}})
	}
	return s
}

// followed says what a decision is beside the recommendation that stood. Who decides the same and says why in their own words decides
// nothing against it; where a person was asked for, there was nothing to be against.
func followed(c Content) string {
	switch d := c.Decision; {
	case !strings.EqualFold(d.Outcome, c.Net.Recommendation) && isOutcome(c.Net.Recommendation):
		return ", against the recommendation"
	case d.Followed && d.Reason == "":
		return ", as recommended"
	case !isOutcome(c.Net.Recommendation):
		return ", and no outcome was recommended"
	case headline(d) == inPart:
		return ", for a part; the whole was recommended"
	}
	return ", as recommended, in their own words"
}

// isOutcome reports whether a recommendation names what a person may decide: a desk may also recommend that a person decides.
func isOutcome(recommendation string) bool {
	return slices.Contains(outcomes, strings.ToLower(recommendation))
}

func recordSection(c Content, fingerprint string) section {
	return section{Title: "The record", Lead: "Every step of the case is a row of a chain in which each row holds a hash of the one before it.", Blocks: []block{
		{Pairs: []pair{
			{"Rows", strconv.FormatInt(c.Audit.Rows, 10), TextColumn},
			{"Made", moment(c.Audit.MadeAt) + " by countersign " + known(c.Audit.Program), TextColumn},
			{"Head of the record", Short(c.Audit.Head), IDColumn},
			{"Fingerprint", Short(fingerprint), IDColumn},
		}},
		{Text: &passage{"To check this report", checking, ""}},
	}}
}

const checking = "The fingerprint is the SHA-256 of the report's content, which is inside this file as JSON. “countersign report verify FILE” computes it " +
	"again, draws the report again and compares every byte; the page “report format” of its documentation says how to do it without the program. Compare the fingerprint with the one " +
	"that the merchant's case record holds: a report that was changed has another."

func amount(a Amount) string { return known(a.Text) }

// known says so where nothing is known: an empty place could be an oversight.
func known(text string) string {
	if strings.TrimSpace(text) == "" {
		return "not known"
	}
	return text
}

var names = map[string]string{"visa": "Visa", "mastercard": "Mastercard", "amex": "American Express", "discover": "Discover", "diners": "Diners Club",
	"stripe": "Stripe", "adyen": "Adyen", "paypal": "PayPal"}

func named(name string) string {
	if proper, ok := names[strings.ToLower(name)]; ok {
		return proper
	}
	return known(name)
}

func spaced(word string) string { return strings.ReplaceAll(word, "_", "-") }

// moment is a time for people, always with its zone.
func moment(text string) string {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC().Format("2 Jan 2006 15:04:05 UTC")
	}
	return day(text)
}

func day(text string) string {
	if len(text) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			return t.Format("2 Jan 2006")
		}
	}
	return known(text)
}

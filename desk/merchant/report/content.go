package report

import (
	"strconv"
	"time"

	"countersign"
)

// FormatVersion is the version of the canonical content that is written. A change of any field, name or rule of writing is a new
// version, and reports keep theirs: a field that came later is not in them, and says so in its tag. Version 1 has no withheld[].what.
// docs/report-format.md describes it for strangers.
const FormatVersion = 2

// Content is everything that one evidence report says, as text and whole numbers. Times are RFC 3339 in UTC (At), or a bare date
// where nobody recorded more; empty is "not known", and the renderings say so. Lists are in the order in which they are printed.
type Content struct {
	Format      int          `json:"format"` // FormatVersion, or the one that it was written in
	Case        Case         `json:"case"`
	Dispute     Dispute      `json:"dispute"`
	Decision    Decision     `json:"decision"`
	Proposal    Proposal     `json:"proposal"`
	Net         Net          `json:"net"`
	Facts       []Fact       `json:"facts"`
	Withheld    []Withheld   `json:"withheld"` // made by Withhold and WithholdClauses
	Exhibits    []Exhibit    `json:"exhibits"`
	Clauses     []Clause     `json:"clauses"`
	Timeline    []Event      `json:"timeline"`
	Attachments []Attachment `json:"attachments"`
	Audit       Audit        `json:"audit"`
}

// Case says which case of which shop, and which round of it.
type Case struct {
	ID       string `json:"id"`
	Round    int    `json:"round"`
	Order    string `json:"order"` // as the merchant's customer knows it
	Shop     string `json:"shop"`
	OpenedAt string `json:"opened_at"`
}

// Dispute is the chargeback as the provider or the network told it.
type Dispute struct {
	Network     string `json:"network"`      // "visa"
	ReasonCode  string `json:"reason_code"`  // means something only with its network
	ReasonText  string `json:"reason_text"`  // what the code says, in words
	Claim       string `json:"claim"`        // what the cardholder claims, in one sentence
	Stage       string `json:"stage"`        // inquiry, chargeback, pre_arbitration, arbitration
	Provider    string `json:"provider"`     // who passed it on
	ProviderRef string `json:"provider_ref"` // under which reference
	Amount      Amount `json:"amount"`
	DueAt       string `json:"due_at"`
	DueSource   string `json:"due_source"` // provider, rule, manual, unknown
}

// Decision is what a person decided. The report is of this decision; without one there is none.
type Decision struct {
	Outcome   string `json:"outcome"` // contest, accept
	Contested Amount `json:"contested"`
	Accepted  Amount `json:"accepted"`
	By        string `json:"by"` // the person's name
	At        string `json:"at"`
	Followed  bool   `json:"followed"` // the recommendation that stood; false when the person overruled it
	Reason    string `json:"reason"`   // the person's own words; required when not Followed
	Summary   string `json:"summary"`  // what the report claims, in a few sentences that this person stands behind
}

// Proposal is what the model wanted. It decided nothing.
type Proposal struct {
	Model          string `json:"model"` // provider and name
	Recommendation string `json:"recommendation"`
	Confidence     string `json:"confidence"` // as stated, decimal text: there are no floats in the content
	Summary        string `json:"summary"`
	At             string `json:"at"`
}

// Net is what the safety net made of the proposal.
type Net struct {
	Recommendation string   `json:"recommendation"` // what stood after every check
	Reasons        []Reason `json:"reasons"`
	Caveats        []string `json:"caveats"`
}

// Reason is why a person had to look.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Weight says what a fact does for the merchant's side.
type Weight string

const (
	Supports Weight = "supports"
	Neutral  Weight = "neutral"
	Hurts    Weight = "hurts"
)

// Fact is one thing that code read in the records.
type Fact struct {
	Name     string   `json:"name"`  // stable, snake case
	Title    string   `json:"title"` // for people: "delivered"
	State    string   `json:"state"` // present, absent, unknown
	Value    string   `json:"value"`
	Source   string   `json:"source"`
	Weight   Weight   `json:"weight"`
	Exhibits []string `json:"exhibits"` // the ids of exhibits and clauses that show it
}

// Withheld says that facts or clauses were left out, and nothing of what they were.
type Withheld struct {
	What  string `json:"what" since:"2"` // fact, clause; empty where only facts could be
	Count int    `json:"count"`
	By    string `json:"by"`
	At    string `json:"at"`
	Why   string `json:"why"`
}

// Exhibit is a table of evidence, as it was read.
type Exhibit struct {
	ID       string     `json:"id"` // E1, E2, … in one sequence with clauses and attachments
	Title    string     `json:"title"`
	Database string     `json:"database"` // where it was read; empty when a person typed it in
	Table    string     `json:"table"`
	Step     string     `json:"step"` // the step of the investigation that shows the same, S1
	ReadAt   string     `json:"read_at"`
	TypedBy  string     `json:"typed_by"` // the person who typed it in; empty when code read it
	Note     string     `json:"note"`     // "first 500 of 812 rows", "no rows"
	Columns  []Column   `json:"columns"`
	Rows     [][]string `json:"rows"` // each as long as Columns
}

// Column is one column of an exhibit.
type Column struct {
	Title string     `json:"title"`
	Kind  ColumnKind `json:"kind"`
}

// ColumnKind is how a column is set: amounts line up on the right, ids stand in a fixed pitch.
type ColumnKind string

const (
	TextColumn   ColumnKind = "text"
	AmountColumn ColumnKind = "amount"
	TimeColumn   ColumnKind = "time"
	IDColumn     ColumnKind = "id"
)

// Clause is a quoted passage of one of the merchant's documents, found by code in the text of that version.
type Clause struct {
	ID        string `json:"id"` // E5
	Document  string `json:"document"`
	Version   string `json:"version"`
	ValidFrom string `json:"valid_from"`
	SHA256    string `json:"sha256"` // of the document's original bytes
	Page      int    `json:"page"`   // 0 where the document has no pages
	Before    string `json:"before"` // the clause in its context
	Quote     string `json:"quote"`
	After     string `json:"after"`
	Status    string `json:"status"` // exact, folded: Found says it in words
}

// Event is one line of the timeline.
type Event struct {
	At     string `json:"at"`
	What   string `json:"what"`
	Source string `json:"source"` // "shop: fulfilments", "case record", a person
}

// Attachment is a file that a person added.
type Attachment struct {
	ID          string `json:"id"` // E7
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"` // application/pdf, image/png, image/jpeg
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"`
	Pages       int    `json:"pages"`
	AddedBy     string `json:"added_by"`
	AddedAt     string `json:"added_at"`
}

// Audit ties the report to the case's record, as it stood when the report was made.
type Audit struct {
	Rows          int64  `json:"rows"`
	Head          string `json:"head"` // hash of the last of those rows
	PolicyVersion string `json:"policy_version"`
	Program       string `json:"program"` // version of this program
	MadeAt        string `json:"made_at"`
}

// Amount is an amount of money. Minor is text: a reader's JSON numbers may not hold it.
type Amount struct {
	Minor    string `json:"minor"`
	Currency string `json:"currency"`
	Text     string `json:"text"` // for people
}

// AmountOf writes an amount. Nil is the amount that nobody knows, the zero Amount.
func AmountOf(m *countersign.Money) Amount {
	if m == nil {
		return Amount{}
	}
	return Amount{Minor: strconv.FormatInt(m.Minor, 10), Currency: m.Currency, Text: m.String()}
}

// At writes an instant, to the second; the zero time is empty.
func At(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

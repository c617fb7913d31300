package countersign

// Proposal is what the model wants. It is untrusted input: nothing in it names an account, an amount or a threshold that
// anything acts on.
type Proposal struct {
	Recommendation  string        `json:"recommendation"` // in the desk's own words: resolve|escalate|reject, CONTEST|ACCEPT|MANUAL_REVIEW_REQUIRED
	Category        DisputeReason `json:"category,omitempty"`
	Confidence      float64       `json:"confidence"` // as stated, 0 to 1; it can only ever tighten
	FraudSuspected  bool          `json:"fraud_suspected"`
	Summary         string        `json:"summary"`
	CustomerMessage string        `json:"customer_message,omitempty"`
	Claims          []Claim       `json:"claims"`
	Quotes          []Quote       `json:"quotes,omitempty"`

	Turn    int     `json:"turn"`              // the turn that submitted it
	Failure Failure `json:"failure,omitempty"` // set when the model never produced one and this is the hard-coded escalation
	Partial string  `json:"partial,omitempty"` // why we think the model did not see the whole case; empty when it did
	// StoodIn says for whom the offline reviewer went on, in a sentence: the models that were to be asked gave no answer. It is no AI, and
	// what failed must not end in an automatic act. Empty when it was the one to be asked, or was not.
	StoodIn string `json:"stood_in,omitempty"`
	Budget  string `json:"budget,omitempty"` // which budget has no room for the models that were to be asked, when it came to that
}

// Failure names how a model failed to produce a proposal. Empty means that it did produce one.
type Failure string

const (
	NoAnswer        Failure = "no_answer"         // empty content, no choices, reasoning only
	NoDecision      Failure = "no_decision"       // every turn used and still no decision
	MalformedTwice  Failure = "malformed_twice"   // the decision was malformed, and again after the error went back
	CutReply        Failure = "cut_reply"         // the server stopped in the middle of an answer
	Unreachable     Failure = "unreachable"       // the server could not be reached, or kept failing
	RefusedByServer Failure = "refused_by_server" // the server answered that the request is wrong; retrying cannot help
	TimedOut        Failure = "timed_out"         // wall clock used up
	BudgetSpent     Failure = "budget_spent"      // the bounds of one conversation: its tokens or tool calls are used up
	Unfunded        Failure = "unfunded"          // a budget for models, of the case or of the day, has no room for another call
	Interrupted     Failure = "interrupted"       // our own doing: the investigation kept stopping before its end
	BrokenProgram   Failure = "broken_program"    // our own doing: a part of the program failed
)

// Claim is one sentence of the model's, with what it says supports it.
type Claim struct {
	Text      string     `json:"text"`
	Citations []Citation `json:"citations"`
}

// Citation points at one value in one step. Value is always text, spelled as JSON spells it in the result the model was
// shown; Field is a dotted path inside the result, list items as [0].
type Citation struct {
	Ref    StepRef        `json:"ref"`
	Field  string         `json:"field"`
	Value  string         `json:"value"`
	Status CitationStatus `json:"status,omitempty"` // set by verify, never by the model
}

// CitationStatus is what verify found. Only CitationVerified means that the value is really there, and even that never
// means that the claim is true.
type CitationStatus string

const (
	CitationVerified       CitationStatus = "verified"
	CitationUnknownStep    CitationStatus = "unknown_step"
	CitationFailedStep     CitationStatus = "failed_step"
	CitationValueMismatch  CitationStatus = "value_mismatch"
	CitationNotYetFinished CitationStatus = "not_yet_finished"
)

// What verify found of a quote. Only the first two mean that the document says it.
const (
	QuoteExact           = "exact"
	QuoteFolded          = "folded" // but for glyphs that mean the same: curly quotes, a hyphen at the end of a line
	QuoteNotFound        = "not_found"
	QuoteUnknownDocument = "unknown_document" // no document answers to the name, or more than one
	QuoteTooShort        = "too_short"
	QuoteLeavesOut       = "leaves_out" // a part of a sentence without its "not", its "unless", or the marks that strike it out
)

// Quote is text the model says it copied from a document. Every field but the first two is set by verify, never by the model.
type Quote struct {
	Document string `json:"document"`
	Quote    string `json:"quote"`
	Version  string `json:"version,omitempty"`
	Status   string `json:"status,omitempty"`
	Start    int    `json:"start,omitempty"`
	End      int    `json:"end,omitempty"`
	Page     int    `json:"page,omitempty"`
}

// Evidence is what verify makes of a proposal: the claims with every citation's status, and how many distinct successful
// steps a verified citation points at.
type Evidence struct {
	Claims  []Claim   `json:"claims"`
	Quotes  []Quote   `json:"quotes,omitempty"`
	Steps   []StepRef `json:"steps"`   // one piece of evidence is one distinct step, so len(Steps) is the count
	Invalid []string  `json:"invalid"` // one sentence for each citation that names nothing real; any makes the proposal invalid
}

package countersign

import "time"

// CaseID names a case. It is opaque: never parse it, never count on its order.
type CaseID string

// DeskName is the desk that works a case.
type DeskName string

const (
	Bank     DeskName = "bank"
	Merchant DeskName = "merchant"
)

// Desks lists every desk.
var Desks = []DeskName{Bank, Merchant}

// Status says who holds the case now.
type Status string

const (
	Queued                 Status = "queued"                   // stored, waiting for a worker
	Investigating          Status = "investigating"            // a worker holds the lease
	InReview               Status = "in_review"                // waiting for a person
	AwaitingSecondApproval Status = "awaiting_second_approval" // decided by one person, waiting for another
	AwaitingConfirmation   Status = "awaiting_confirmation"    // decided, and carried out elsewhere: whether it was is being asked
	Closed                 Status = "closed"                   // decided; closed is not final, a network may reopen it
)

// Statuses lists every status in the order a case meets them.
var Statuses = []Status{Queued, Investigating, InReview, AwaitingSecondApproval, AwaitingConfirmation, Closed}

// Outcome is how a closed case ended. It is empty until then.
type Outcome string

const (
	Resolved        Outcome = "resolved"
	Rejected        Outcome = "rejected"
	Escalated       Outcome = "escalated"
	Contested       Outcome = "contest"
	AcceptedOutcome Outcome = "accept"
)

// HandledBy says what closed a case: the fixed policy, or a person.
type HandledBy string

const (
	ByPolicy HandledBy = "policy"
	ByPerson HandledBy = "person"
)

// DisputeReason is what the customer says went wrong. It is the customer's word, not a finding.
type DisputeReason string

const (
	FailedTransfer  DisputeReason = "failed_transfer"
	DuplicateCharge DisputeReason = "duplicate_charge"
	Unauthorised    DisputeReason = "unauthorised"
	NotReceived     DisputeReason = "not_received"
	WrongAmount     DisputeReason = "wrong_amount"
	OtherReason     DisputeReason = "other"
)

// DisputeReasons lists every reason a bank customer can give; the model's category uses the same words.
var DisputeReasons = []DisputeReason{FailedTransfer, DuplicateCharge, Unauthorised, NotReceived, WrongAmount, OtherReason}

// DueSource says where a deadline came from, so that nobody mistakes a guess for a rule.
type DueSource string

const (
	DueUnknown      DueSource = "unknown" // no deadline is known: the case sorts to the top of the queue
	DueFromRule     DueSource = "rule"
	DueFromProvider DueSource = "provider"
	DueManual       DueSource = "manual"
)

// Subject is what a case is about: at the bank desk a transaction, at the merchant desk an order.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   string      `json:"id"`
}

// SubjectKind is transaction or order.
type SubjectKind string

const (
	TransactionSubject SubjectKind = "transaction"
	OrderSubject       SubjectKind = "order"
)

// Terms are what the card network or the provider that carries a dispute says of it. A dispute that a bank's own customer raises
// has none. A reason code means something only together with its network.
type Terms struct {
	Network    string `json:"network,omitempty"`     // visa, mastercard, amex, discover, … in lower case
	ReasonCode string `json:"reason_code,omitempty"` // as the network spells it: 13.1, 4853, C08
	Reference  string `json:"provider_ref,omitempty"`
}

// Case is one dispute as the store holds it now. Everything in it is a projection of the case's record, kept beside it
// in the same transaction so that a queue can be drawn without reading the chain; audit.Verify compares the two.
type Case struct {
	ID         CaseID
	Desk       DeskName
	Subject    Subject
	CustomerID string // derived from the subject at intake, never taken from the request
	Channel    string // how the dispute reached us: api, dashboard, whatsapp, …
	Reason     DisputeReason
	Notes      string // the customer's own words: untrusted
	Amount     Money  // zero, without a currency, until it is known
	Terms      Terms

	Status         Status
	Stage          string
	Recommendation string // what stands after every check; Proposal.Recommendation is what the model wanted
	Outcome        Outcome
	HandledBy      HandledBy
	Raised         bool // a person escalated it: it waits for an approver

	OpenedAt  time.Time
	UpdatedAt time.Time
	DueAt     *time.Time // nil when no deadline is known
	DueSource DueSource

	Round    int   // which investigation this is; retry starts the next one
	Revision int64 // grows with every change a person could see; a decision carries the revision it saw

	Proposal  *Proposal // nil until an investigation ended
	Facts     *Facts
	Verdict   *Verdict
	Fix       FixOutcome
	Message   string // draft to the customer: nothing is sent, closing freezes it
	Contested *Money // of Amount, what a person decided to contest; nil while nobody split it
	Model     ModelUse

	Result   *Result   // how the network decided, as its provider says; Outcome stays what was decided here
	Reopened *Reopened // why the case was opened again, last; nil when it never was
}

// NextRound empties what the round before found, which stays in the record, and waits for a worker.
func (c *Case) NextRound() {
	c.Round++
	c.Status, c.Recommendation, c.Raised = Queued, "", false
	c.Proposal, c.Facts, c.Verdict, c.Fix, c.Message = nil, nil, nil, FixOutcome{State: FixNone}, ""
}

// Result is the network's own decision. Closed is not final: the latest one counts, and a network may take it back.
type Result struct {
	State string    `json:"state"` // won, lost, reversed, withdrawn, accepted, expired, closed
	At    time.Time `json:"at"`    // by the provider's clock
	Round int       `json:"round"` // of the dispute: a second chargeback is 2
}

// Reopened says why a closed case is open again, and from which of its rounds on.
type Reopened struct {
	Reason
	At    time.Time `json:"at"`
	Round int       `json:"round"`
}

// ModelUse sums what the model's turns of a case cost, over all rounds.
type ModelUse struct {
	Provider     string `json:"provider"`
	Name         string `json:"name"`
	Attempts     int    `json:"attempts"` // HTTP requests made, retries included
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	// AssumedTokens are counted for calls of which no server said what they used, and which may have to be paid all the same.
	AssumedTokens int64 `json:"assumed_tokens,omitempty"`
	Cost          Costs `json:"cost"` // of both, as "USD 0.0123"; empty while no price is set
}

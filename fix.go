package countersign

import "time"

// FixKind is what a fix does to its transaction.
type FixKind string

const (
	Reversal FixKind = "reversal" // a failed transfer's debit is undone
	Refund   FixKind = "refund"   // the later of two equal charges is given back
)

// Direction of a ledger entry or transaction, seen from the account.
type Direction string

const (
	Debit  Direction = "debit"
	Credit Direction = "credit"
)

// Fix is what execution would do: give back this amount of this transaction by these two entries. It is unique by
// transaction and kind, so delivering it twice does it once.
type Fix struct {
	Kind          FixKind `json:"kind"`
	TransactionID string  `json:"transaction_id"` // the transaction that is given back: not always the disputed one
	AccountID     string  `json:"account_id"`
	Amount        Money   `json:"amount"`
	Entries       []Entry `json:"entries"` // exactly one credit and one debit of Amount
}

// Entry is one side of a double entry.
type Entry struct {
	AccountID string    `json:"account_id"`
	Direction Direction `json:"direction"`
	Amount    Money     `json:"amount"`
	Kind      FixKind   `json:"kind"`
}

// NewFix builds the balanced pair: the customer's account is credited against the bank's suspense account of the same
// currency.
func NewFix(kind FixKind, transactionID, accountID string, amount Money) *Fix {
	return &Fix{Kind: kind, TransactionID: transactionID, AccountID: accountID, Amount: amount, Entries: []Entry{
		{AccountID: accountID, Direction: Credit, Amount: amount, Kind: kind},
		{AccountID: SuspenseAccount(amount.Currency), Direction: Debit, Amount: amount, Kind: kind},
	}}
}

// SuspenseAccount is the bank's internal account that corrections of one currency are posted against until operations
// settle them.
func SuspenseAccount(currency string) string { return "suspense:" + currency }

// FixState says how far a case's fix came.
type FixState string

const (
	FixNone    FixState = "none"
	FixPlanned FixState = "planned" // the facts support it; a person may post it
	FixPosted  FixState = "posted"
	FixRefused FixState = "refused" // the executor would not apply it

	FixRequested FixState = "requested" // others were asked to post it, and have not confirmed that they did
	FixRejected  FixState = "rejected"  // they said that they will not: nothing was posted
	FixUnknown   FixState = "unknown"   // they were asked, and whether they did it cannot be found out
)

// FixOutcome is the fix of a case and what became of it.
type FixOutcome struct {
	State FixState `json:"state"`
	Why   string   `json:"why,omitempty"` // for refused: the executor's sentence; for unknown: what went wrong, in our words
	Fix   *Fix     `json:"fix,omitempty"`
	// Instruction is the last one to others that the fix was sent as; nil for a fix that is posted here.
	Instruction *Instruction `json:"instruction,omitempty"`
}

// Instruction is a fix that others are asked to post, once: its id is the key under which they do it, however often it arrives.
type Instruction struct {
	ID          string           `json:"id"`
	State       InstructionState `json:"state"`
	Reference   string           `json:"reference,omitempty"` // theirs: text that strangers wrote
	Said        string           `json:"said,omitempty"`      // why they rejected it, in their words: text that strangers wrote
	Attempts    int              `json:"attempts"`            // how often they were asked, or were about to be
	RequestedAt time.Time        `json:"requested_at"`
	AskedAt     *time.Time       `json:"asked_at,omitempty"` // when they were last asked
	Booked      bool             `json:"booked,omitempty"`   // an import had brought its entries when it was settled: none were made
}

// InstructionState says what is known of an instruction.
type InstructionState string

const (
	Requested InstructionState = "requested" // it is being sent, or asked about
	Confirmed InstructionState = "confirmed" // they posted it
	Declined  InstructionState = "rejected"  // they did not, and will not
	Unsettled InstructionState = "unknown"   // nobody knows; nothing else of the same fix is sent meanwhile
)

// Open reports whether it may still be carried out, or may have been.
func (s InstructionState) Open() bool { return s == Requested || s == Unsettled }

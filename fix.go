package countersign

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
)

// FixOutcome is the fix of a case and what became of it.
type FixOutcome struct {
	State FixState `json:"state"`
	Why   string   `json:"why,omitempty"` // for refused: the executor's sentence
	Fix   *Fix     `json:"fix,omitempty"`
}

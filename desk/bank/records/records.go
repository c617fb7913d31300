// Package records is a bank's books as this product reads them: customers, accounts, merchants, devices, transactions,
// ledger entries and settlements. It reads and checks what somebody imports, and refuses what it would have to guess.
//
// It is pure: no database, no clock, no file. The store keeps these rows and package rules judges them.
package records

import "countersign"

// Set is one import: any of the seven arrays.
type Set struct {
	Customers     []Customer
	Accounts      []Account
	Merchants     []Merchant
	Devices       []Device
	Transactions  []Transaction
	LedgerEntries []LedgerEntry
	Settlements   []Settlement
}

// Customer is a person or firm that holds accounts.
type Customer struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Email       string           `json:"email"`
	Phone       string           `json:"phone"`
	HomeCity    string           `json:"home_city"`
	HomeCountry string           `json:"home_country"`
	JoinedAt    countersign.When `json:"joined_at"`
	Flags       []string         `json:"flags"` // any flag at all is a fraud signal: what it means is the bank's business
}

// Account belongs to one customer, for good. Number is shown only as ****1234.
type Account struct {
	ID         string `json:"id"`
	CustomerID string `json:"customer_id"`
	Number     string `json:"number"`
	Currency   string `json:"currency"`
	Kind       string `json:"kind"`
	Status     string `json:"status"`
}

// Merchant is a card acceptor.
type Merchant struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // written by somebody else: untrusted
	Category string `json:"category"`
	Country  string `json:"country"`
	Flagged  bool   `json:"flagged"`
}

// Device is a phone or browser a customer has used. Trusted nil is not recorded, which is not the same as false.
type Device struct {
	ID          string           `json:"id"`
	CustomerID  string           `json:"customer_id"`
	Label       string           `json:"label"`
	FirstSeenAt countersign.When `json:"first_seen_at"`
	LastSeenAt  countersign.When `json:"last_seen_at"`
	City        string           `json:"city"`
	Country     string           `json:"country"`
	Trusted     *bool            `json:"trusted"`
}

// TransactionKind is how the money moved.
type TransactionKind string

const (
	Transfer TransactionKind = "transfer"
	Card     TransactionKind = "card"
	ATM      TransactionKind = "atm"
	Bill     TransactionKind = "bill"
	Fee      TransactionKind = "fee"
	Other    TransactionKind = "other"
)

// TransactionStatus is where a transaction stands in our books.
type TransactionStatus string

const (
	Posted   TransactionStatus = "posted"
	Pending  TransactionStatus = "pending"
	Failed   TransactionStatus = "failed"
	Reversed TransactionStatus = "reversed"
)

// Transaction is one movement on one account. Its owner is its account's customer; nothing else may say who owns it.
type Transaction struct {
	ID                  string                `json:"id"`
	AccountID           string                `json:"account_id"`
	Kind                TransactionKind       `json:"kind"`
	Direction           countersign.Direction `json:"direction"`
	AmountMinor         int64                 `json:"amount_minor"` // always positive: the direction carries the sign
	Currency            string                `json:"currency"`
	Status              TransactionStatus     `json:"status"`
	OccurredAt          countersign.When      `json:"occurred_at"`
	PostedAt            countersign.When      `json:"posted_at"`
	MerchantID          string                `json:"merchant_id"`
	CounterpartyName    string                `json:"counterparty_name"` // untrusted
	CounterpartyAccount string                `json:"counterparty_account"`
	Reference           string                `json:"reference"` // untrusted
	EndToEndID          string                `json:"end_to_end_id"`
	Channel             string                `json:"channel"`
	DeviceID            string                `json:"device_id"`
	City                string                `json:"city"`
	Country             string                `json:"country"`
	Memo                string                `json:"memo"` // untrusted
}

// Amount is the transaction's amount as Money.
func (t Transaction) Amount() countersign.Money {
	return countersign.Money{Minor: t.AmountMinor, Currency: t.Currency}
}

// EntryKind is why a ledger entry was posted.
type EntryKind string

const (
	Original      EntryKind = "original"
	ReversalEntry EntryKind = "reversal"
	RefundEntry   EntryKind = "refund"
	FeeEntry      EntryKind = "fee"
	Adjustment    EntryKind = "adjustment"
)

// LedgerEntry is one posting. Imported history may be one-sided; what this product posts always comes in pairs.
type LedgerEntry struct {
	ID            string                `json:"id"`
	TransactionID string                `json:"transaction_id"`
	AccountID     string                `json:"account_id"`
	Direction     countersign.Direction `json:"direction"`
	AmountMinor   int64                 `json:"amount_minor"`
	Currency      string                `json:"currency"`
	Kind          EntryKind             `json:"kind"`
	PostedAt      countersign.When      `json:"posted_at"`
	Memo          string                `json:"memo"` // untrusted
}

// SettlementStatus is what the rail says of a transaction. A time-out is not a failure: an inward credit may still land.
type SettlementStatus string

const (
	Settled           SettlementStatus = "settled"
	SettlementFailed  SettlementStatus = "failed"
	Returned          SettlementStatus = "returned"
	SettlementPending SettlementStatus = "pending"
	TimedOut          SettlementStatus = "timed_out"
	UnknownStatus     SettlementStatus = "unknown"
)

// Settlement is the rail's word on one transaction, keyed by it.
type Settlement struct {
	TransactionID string           `json:"transaction_id"`
	Status        SettlementStatus `json:"status"`
	Final         bool             `json:"final"` // the rail will not change its mind
	UpdatedAt     countersign.When `json:"updated_at"`
	Rail          string           `json:"rail"`
	Reference     string           `json:"reference"`
	FailureReason string           `json:"failure_reason"` // untrusted
}

// Book is everything in a bank's records that bears on one disputed transaction: what the rules judge and the tools show.
type Book struct {
	Transaction Transaction
	Account     Account
	Customer    Customer
	Merchant    *Merchant // nil when the transaction names none, or names one that is not on record
	Device      *Device   // the transaction's own device; nil when none is on record
	Devices     []Device  // every device of the customer
	Settlement  *Settlement
	Entries     []LedgerEntry // of the disputed transaction
	// Like holds every other transaction on the same account with the same direction, amount and currency and the same
	// merchant or counterparty account, with their ledger entries: the candidates for a duplicate. Oldest first.
	Like        []Transaction
	LikeEntries []LedgerEntry
	// Recent holds the account's debits that occurred within a day either side, the disputed one included, oldest first.
	Recent []Transaction
	// SameEndToEnd holds every other transaction, on any account, that carries the same non-empty end-to-end id.
	SameEndToEnd []Transaction
	// Fixed lists the fixes this product has already posted against the transaction or any of Like, as transaction ids.
	Fixed []string
}

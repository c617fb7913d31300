package bank

import (
	"context"
	"encoding/json"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/pipeline/investigate"
	"countersign/store"
)

// tools are the eight that the model gets. None takes an argument: which records they show is settled by the case, so there
// is nothing a model could be talked into filling in. Each reads the books when it is called and refuses if the transaction
// is not the case's customer's.
//
// A record that is not there is said to be not there. A record that cannot be read is an error, which is something else.
func tools(v store.View, c countersign.Case) []investigate.Tool {
	r := reader{v, c}
	return []investigate.Tool{
		tool("get_transaction", "The disputed transaction and the account it is on.", r.onBooks(transactionResult, store.Nothing)),
		tool("get_ledger_entries", "What was posted on the ledger for the transaction, what was taken from the account and what was given back.", r.onBooks(ledgerResult, store.Entries, store.SameEndToEnd, store.Fixed)),
		tool("get_settlement_status", "What the payment rail says became of the transaction, and whether that is its last word.", r.onBooks(settlementResult, store.Settlement)),
		tool("get_device_and_location", "The device and place of the transaction, beside the customer's home and other devices.", r.onBooks(deviceResult, store.Devices)),
		tool("get_customer_profile", "Who the customer is to the bank: home, since when, and any flags.", r.profile),
		tool("get_customer_history", "Other disputes of the same customer, open and closed.", r.history),
		tool("get_merchant_info", "The merchant that the transaction names, if it names one.", r.onBooks(merchantResult, store.Merchant)),
		tool("get_related_transactions", "Other transactions of the account that could be copies of this one, and the account's debits around the same time.", r.onBooks(relatedResult, store.Like, store.Entries, store.Recent, store.SameEndToEnd, store.Fixed)),
	}
}

// noArguments is the schema of a tool that takes none.
var noArguments = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

func tool(name, description string, read func(context.Context) (any, error)) investigate.Tool {
	return investigate.Tool{
		Tool: llm.Tool{Name: name, Description: description, Schema: noArguments},
		Run:  func(ctx context.Context, _ json.RawMessage) (any, error) { return read(ctx) },
	}
}

// reader reads the records of one case.
type reader struct {
	view store.View
	c    countersign.Case
}

// onBooks is a tool that shows these parts of what bears on the transaction.
func (r reader) onBooks(show func(records.Book) any, parts ...store.Part) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		b, err := book(ctx, r.view, r.c, parts...)
		if err != nil {
			return nil, err
		}
		return show(b), nil
	}
}

// account reads the account that the transaction is on, for tools that need no more of the books.
func (r reader) account(ctx context.Context) (records.Account, error) {
	t, err := r.view.Transaction(ctx, r.c.Subject.ID)
	if err != nil {
		return records.Account{}, err
	}
	account, err := r.view.Account(ctx, t.AccountID)
	if err != nil {
		return records.Account{}, err
	}
	return account, owned(r.c, account)
}

// notFound is the result of a record that is not there.
type notFound struct {
	Found bool   `json:"found"` // always false
	Note  string `json:"note"`
}

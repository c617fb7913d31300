package bank

import (
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// transactionShown is the result of get_transaction.
type transactionShown struct {
	ID        string                    `json:"id"`
	Kind      records.TransactionKind   `json:"kind"`
	Direction string                    `json:"direction"`
	Status    records.TransactionStatus `json:"status"`
	amount
	OccurredAt          string       `json:"occurred_at"`
	PostedAt            string       `json:"posted_at"`
	CounterpartyName    fence.Words  `json:"counterparty_name"`
	CounterpartyAccount string       `json:"counterparty_account"`
	Reference           fence.Words  `json:"reference"`
	EndToEndID          fence.Words  `json:"end_to_end_id"`
	Memo                fence.Words  `json:"memo"`
	Channel             any          `json:"channel"`
	City                any          `json:"city"`
	Country             any          `json:"country"`
	Account             accountShown `json:"account"`
}

// accountShown is the customer's account.
type accountShown struct {
	Number   string `json:"number"`
	Currency string `json:"currency"`
	Kind     any    `json:"kind"`
	Status   any    `json:"status"`
}

func transactionResult(b records.Book) any {
	t := b.Transaction
	return transactionShown{
		ID: t.ID, Kind: t.Kind, Direction: string(t.Direction), Status: t.Status, amount: shownAmount(t.Amount()),
		OccurredAt: when(t.OccurredAt), PostedAt: when(t.PostedAt),
		CounterpartyName: fence.Words(t.CounterpartyName), CounterpartyAccount: maskedNumber(t.CounterpartyAccount),
		Reference: fence.Words(t.Reference), EndToEndID: fence.Words(t.EndToEndID), Memo: fence.Words(t.Memo),
		Channel: word(t.Channel), City: word(t.City), Country: word(t.Country), Account: shownAccount(b.Account),
	}
}

func shownAccount(a records.Account) accountShown {
	return accountShown{maskedNumber(a.Number), a.Currency, word(a.Kind), word(a.Status)}
}

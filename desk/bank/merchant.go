package bank

import (
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// merchantShown is the result of get_merchant_info when the merchant is on record.
type merchantShown struct {
	Found    bool        `json:"found"`
	ID       string      `json:"id"`
	Name     fence.Words `json:"name"`
	Category any         `json:"category"`
	Country  any         `json:"country"`
	Flagged  bool        `json:"flagged"`
}

func merchantResult(b records.Book) any {
	m := b.Merchant
	switch {
	case m != nil:
		return merchantShown{true, m.ID, fence.Words(m.Name), word(m.Category), word(m.Country), m.Flagged}
	case b.Transaction.MerchantID != "":
		return notFound{Note: "the transaction names a merchant that is not on record"}
	}
	return notFound{Note: "the transaction names no merchant"}
}

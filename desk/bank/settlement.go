package bank

import (
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// settlementShown is the result of get_settlement_status when the rail has said something.
type settlementShown struct {
	Found         bool                     `json:"found"`
	Status        records.SettlementStatus `json:"status"`
	Final         bool                     `json:"final"`
	UpdatedAt     string                   `json:"updated_at"`
	Rail          any                      `json:"rail"`
	Reference     fence.Words              `json:"reference"`
	FailureReason fence.Words              `json:"failure_reason"`
}

func settlementResult(b records.Book) any {
	s := b.Settlement
	if s == nil {
		return notFound{Note: "no settlement of this transaction is on record"}
	}
	return settlementShown{
		Found: true, Status: s.Status, Final: s.Final, UpdatedAt: when(s.UpdatedAt), Rail: word(s.Rail),
		Reference: fence.Words(s.Reference), FailureReason: fence.Words(s.FailureReason),
	}
}

package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"countersign"
	"countersign/desk/merchant/shop"
)

// Seen is a SHA-256, in hexadecimal, over everything that Judge reads, with the deadline as passed or not. A person's approval
// counts only while the records still have the same one.
func Seen(in Input) string {
	b, err := json.Marshal(struct {
		Form     string                  `json:"form"`
		Records  shop.Records            `json:"records"`
		Reason   string                  `json:"reason"`
		Disputed *countersign.Money      `json:"disputed"`
		Late     bool                    `json:"late"`
		Policies []Policy                `json:"policies"`
		Library  string                  `json:"library"`
		Typed    []countersign.TypedFact `json:"typed,omitempty"`
	}{"countersign/merchant/seen/1", in.Records, string(in.Reason), in.Disputed, in.DueAt != nil && !in.Now.Before(*in.DueAt), in.Policies, in.Library, in.Typed})
	return hashed(b, err)
}

// Rows is a SHA-256, in hexadecimal, over the shop's rows alone. A report says that they changed where they did, and not where a
// deadline passed or somebody set another.
func Rows(records shop.Records) string { return hashed(json.Marshal(records)) }

func hashed(b []byte, err error) string {
	if err != nil {
		return "" // unreachable: nothing in it can fail to marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

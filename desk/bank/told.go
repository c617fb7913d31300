package bank

import (
	"encoding/json"
	"fmt"
	"strings"

	"countersign"
	"countersign/desk"
)

// tell says what a step read, to somebody who watches: in counts and the bank's own codes.
var tell = desk.Teller(reads, gist)

var reads = map[string]string{
	"get_transaction":          "the transaction",
	"get_ledger_entries":       "the ledger",
	"get_settlement_status":    "the settlement",
	"get_device_and_location":  "device and place",
	"get_customer_profile":     "the customer's profile",
	"get_customer_history":     "the customer's earlier cases",
	"get_merchant_info":        "the merchant",
	"get_related_transactions": "related transactions",
}

// result is what gist reads of the eight results. Fields of one name mean the same wherever they occur.
type result struct {
	Found   bool   `json:"found"`
	Amount  string `json:"amount"`
	Status  string `json:"status"`
	Final   bool   `json:"final"`
	Flagged bool   `json:"flagged"`
	Back    int64  `json:"given_back_minor"`
	Entries []any  `json:"entries"`
	Copies  []any  `json:"possible_copies"`
	Debits  []any  `json:"debits_around"`
	Open    int    `json:"open"`
	Closed  int    `json:"closed"`
	Home    answer `json:"place_is_home"`
	Device  struct {
		Trusted answer `json:"trusted"`
	} `json:"device"`
}

// gist is empty when there is nothing short to say, and when the result has another form than this version writes.
func gist(s countersign.Step) string {
	var r result
	if json.Unmarshal(s.Result, &r) != nil {
		return ""
	}
	switch s.Tool {
	case "get_transaction":
		return r.Amount + ", " + spoken(r.Status)
	case "get_ledger_entries":
		if r.Back > 0 {
			return counted(len(r.Entries), "entry", "entries") + ", something given back"
		}
		return counted(len(r.Entries), "entry", "entries") + ", nothing given back"
	case "get_settlement_status":
		return settled(r)
	case "get_device_and_location":
		return placed(r)
	case "get_customer_profile":
		return flagged(r.Flagged)
	case "get_customer_history":
		return fmt.Sprintf("%d open, %d closed", r.Open, r.Closed)
	case "get_merchant_info":
		if !r.Found {
			return "none is named"
		}
		return flagged(r.Flagged)
	case "get_related_transactions":
		return counted(len(r.Copies), "possible copy", "possible copies") + ", " + counted(len(r.Debits), "other debit", "other debits") + " around it"
	}
	return ""
}

func settled(r result) string {
	switch {
	case !r.Found:
		return "none on record"
	case r.Final:
		return spoken(r.Status) + ", final"
	}
	return spoken(r.Status) + ", not final"
}

// spoken is one of the bank's codes as people say it.
func spoken(code string) string { return strings.ReplaceAll(code, "_", " ") }

func placed(r result) string {
	if !r.Found {
		return "no device on record"
	}
	return map[answer]string{yes: "trusted device", no: "untrusted device", unknown: "device of unknown trust"}[r.Device.Trusted] +
		map[answer]string{yes: ", at home", no: ", away from home", unknown: ""}[r.Home]
}

func flagged(is bool) string {
	if is {
		return "flagged"
	}
	return "not flagged"
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

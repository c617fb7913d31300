package merchant

import (
	"encoding/json"
	"fmt"
	"strings"

	"countersign"
	"countersign/desk"
)

// tell says what a step read, to somebody who watches: in counts.
var tell = desk.Teller(reads, gist)

var reads = map[string]string{
	"read_order":        "the order",
	"read_payments":     "the payments",
	"read_fulfillments": "the deliveries",
	"read_refunds":      "the refunds",
	"read_returns":      "the returns",
	"read_policies":     "the policies",
	"search_policies":   "the policies again",
}

// stated is a row of any kind, of which only what it means is told.
type stated struct {
	State string `json:"state"`
}

func gist(s countersign.Step) string {
	var r struct {
		Found        *bool    `json:"found"`
		Payments     []stated `json:"payments"`
		Fulfillments []stated `json:"fulfillments"`
		Refunds      []stated `json:"refunds"`
		Returns      []stated `json:"returns"`
		Passages     *[]any   `json:"passages"`
	}
	if json.Unmarshal(s.Result, &r) != nil {
		return ""
	}
	switch {
	case r.Found != nil && !*r.Found:
		return "the shop has none of this number"
	case r.Passages != nil:
		return counted(len(*r.Passages), "passage")
	}
	for _, list := range [][]stated{r.Payments, r.Fulfillments, r.Refunds, r.Returns} {
		if len(list) > 0 {
			return tally(list)
		}
	}
	if r.Found == nil {
		return "none"
	}
	return ""
}

// tally counts rows by what they mean: "2 failed, 1 returned".
func tally(list []stated) string {
	var order []string
	count := map[string]int{}
	for _, row := range list {
		if count[row.State] == 0 {
			order = append(order, row.State)
		}
		count[row.State]++
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%d %s", count[name], strings.ReplaceAll(name, "_", " "))
	}
	return strings.Join(order, ", ")
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

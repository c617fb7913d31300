package rules

import (
	"fmt"

	"countersign"
	"countersign/desk/merchant/shop"
)

// returnRules is the third rule of the net. It was added after models contested orders whose defective goods were on their way
// back, although they had been told not to; so it asks nobody. A closed return counts like an open one: that the parcel arrived
// does not say that the money went back.
func returnRules(list shop.Rows[shop.Return], m money) []finding {
	const name = "return_on_file"
	if why := unread(list); why != "" {
		return []finding{unknown(name, "", "returns").cannotTell("Whether the customer returned anything is not known: %s", why)}
	}
	if len(list.All) == 0 {
		return []finding{absent(name, "", "returns")}
	}
	f := present(name, returnsInWords(list.All), rows("returns", returnIDs(list.All)...))
	if m.cover != coverAll {
		f = f.because(countersign.OpenReturn, "The customer has a return on file (%s), and no refund that covers the dispute: look at it before deciding.", f.fact.Value)
	}
	return []finding{f}
}

func returnsInWords(all []shop.Return) string {
	open, unseen := 0, 0
	for _, r := range all {
		switch r.State {
		case shop.Open:
			open++
		case shop.Closed:
		default:
			unseen++
		}
	}
	words := fmt.Sprintf("%d open, %d closed", open, len(all)-open-unseen)
	if unseen > 0 {
		words += fmt.Sprintf(", %d of unknown state", unseen)
	}
	return words
}

func returnIDs(all []shop.Return) []string {
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	return ids
}

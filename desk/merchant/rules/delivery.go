package rules

import (
	"fmt"
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
)

// deliveryRules keep anybody from contesting "it never arrived" without a delivery on record. For every other claim the delivery is
// a fact and no rule.
func deliveryRules(in Input) []finding {
	f := delivered(in.Records.Fulfillments)
	if in.Reason != countersign.NotReceived {
		return []finding{f}
	}
	switch f.fact.State {
	case countersign.Absent:
		f = f.against(Contest, countersign.FactsDisagree, "The claim is that nothing arrived, and the records show no delivery.")
	case countersign.Unknown:
		f = f.against(Contest, countersign.FactsUnknown, "The claim is that nothing arrived, and whether everything was delivered is not known: %s", f.fact.Value)
	}
	return []finding{f}
}

// delivered is present only when every parcel arrived: one of two parcels leaves the other open.
func delivered(list shop.Rows[shop.Fulfillment]) finding {
	const name = "delivered"
	if why := unread(list); why != "" {
		return unknown(name, why, "fulfillments")
	}
	var arrived, waiting, ids []string
	for _, p := range list.All {
		ids = append(ids, p.ID)
		switch p.State {
		case shop.Delivered:
			arrived = append(arrived, parcel(p))
		case shop.InTransit, shop.NotShipped:
			waiting = append(waiting, parcel(p))
		default:
			return unknown(name, unseen(part{id: p.ID, status: p.Status}), rows("fulfillments", p.ID))
		}
	}
	source := rows("fulfillments", ids...)
	switch {
	case len(arrived) > 0 && len(waiting) > 0:
		return unknown(name, fmt.Sprintf("%d of %d parcels arrived.", len(arrived), len(ids)), source)
	case len(arrived) > 0:
		return present(name, strings.Join(arrived[:min(len(arrived), 3)], "; "), source)
	}
	return absent(name, strings.Join(waiting[:min(len(waiting), 3)], "; "), source)
}

// parcel is one parcel in a few words: "delivered 2026-11-02, UPS 1Z…".
func parcel(p shop.Fulfillment) string {
	words := strings.ReplaceAll(string(p.State), "_", " ")
	for _, at := range []shop.Moment{p.DeliveredAt, p.ShippedAt} {
		if s := at.When.String(); s != "" {
			words += " " + s[:len("2006-01-02")]
			break
		}
	}
	if tracking := strings.TrimSpace(printable(p.Carrier) + " " + printable(p.Tracking)); tracking != "" {
		words += ", " + tracking
	}
	return words
}

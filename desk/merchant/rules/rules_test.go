package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/desk/merchant/shop"
)

// noon is when everything here is looked at.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func day(s string) shop.Moment {
	w, err := countersign.ParseWhen(s)
	if err != nil {
		panic(err)
	}
	return shop.Moment{When: w, Text: s}
}

// local is a moment of a shop whose zone is known.
func local(date, at string) shop.Moment {
	m := day(at)
	m.Day = date
	return m
}

func usd(minor int64) shop.Amount { return of(minor, "USD") }

func of(minor int64, currency string) shop.Amount {
	m := countersign.Money{Minor: minor, Currency: currency}
	return shop.Amount{Money: &m, Text: m.String()}
}

func stake1(minor int64, currency string) *countersign.Money {
	return &countersign.Money{Minor: minor, Currency: currency}
}

// delivered1 is an order of 100 dollars that was paid, delivered and never came back. Each row of a table changes one thing.
func delivered1() Input {
	due := noon.Add(72 * time.Hour)
	return Input{
		Records: shop.Records{
			Order:        shop.Rows[shop.Order]{All: []shop.Order{{ID: "O-1", Number: "1042", PlacedAt: local("2026-11-01", "2026-11-01T10:00:00Z"), Total: usd(100_00)}}},
			Payments:     shop.Rows[shop.Payment]{All: []shop.Payment{{ID: "P-1", Amount: usd(100_00), State: shop.Paid, Status: "captured"}}},
			Fulfillments: shop.Rows[shop.Fulfillment]{All: []shop.Fulfillment{{ID: "F-1", State: shop.Delivered, Carrier: "UPS", Tracking: "1Z", DeliveredAt: day("2026-11-04T09:00:00Z")}}},
		},
		Reason: countersign.NotReceived, DueAt: &due, Now: noon,
		Policies: []Policy{{ID: "V-1", Title: "Shipping", Version: "v1", ValidFrom: day("2026-01-01").When}},
	}
}

func refund(id, reference string, minor int64, s shop.State, at string) shop.Refund {
	return shop.Refund{ID: id, Reference: reference, Amount: usd(minor), State: s, Status: string(s), RefundedAt: day(at)}
}

// against lists the reasons that speak against a recommendation, each once, in order.
func against(f countersign.Facts, recommendation string) (codes []string) {
	for _, d := range f.Doubts {
		if d.Wanting == "" || d.Wanting == recommendation {
			codes = append(codes, string(d.Reason.Code))
		}
	}
	return slices.Compact(codes)
}

// TestRules has a row for every reason that the net can give. The names are the sentences that a risk officer would check.
func TestRules(t *testing.T) {
	for _, row := range []struct {
		name     string
		change   func(*Input)
		contest  string // the reasons against contesting
		accept   string // the reasons against accepting
		sentence string // what one of them says
	}{
		{"a delivered order without a refund can be contested, and accepting it needs a person",
			func(*Input) {}, "", "no_refund_contradicts_accept", "There is no refund on record yet"},
		{"a refund that covers the dispute contradicts a contest",
			func(in *Input) {
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "", 100_00, shop.Returned, "2026-11-10T00:00:00Z")}
			},
			"refund_contradicts_contest", "", "USD 100.00 was already refunded"},
		{"a second attempt that failed does not undo a refund of another amount",
			func(in *Input) {
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "card", 100_00, shop.Returned, "2026-11-12T08:00:00Z"), refund("R-2", "card", 5_00, shop.NotReturned, "2026-11-13T08:00:00Z")}
			},
			"facts_unknown", "facts_unknown", "rows R-1 and R-2 have the reference “card” and not the same amount"},
		{"a part that was refunded leaves a rest for a person to weigh",
			func(in *Input) {
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "", 30_00, shop.Returned, "2026-11-10T00:00:00Z")}
			},
			"partial_refund", "partial_refund", "USD 30.00 of the USD 100.00 in dispute was already refunded, USD 70.00 was not."},
		{"an open return without the money back is looked at by a person",
			func(in *Input) {
				in.Records.Returns.All = []shop.Return{{ID: "T-1", State: shop.Open, Reason: "defective"}}
			},
			"open_return", "no_refund_contradicts_accept open_return", "1 open, 0 closed"},
		{"a closed return counts like an open one",
			func(in *Input) { in.Records.Returns.All = []shop.Return{{ID: "T-1", State: shop.Closed}} },
			"open_return", "no_refund_contradicts_accept open_return", "0 open, 1 closed"},
		{"so does a return of a state that nobody explained",
			func(in *Input) {
				in.Records.Returns.All = []shop.Return{{ID: "T-1", State: shop.Unseen, Status: "limbo"}}
			},
			"open_return", "no_refund_contradicts_accept open_return", "1 of unknown state"},
		{"a return whose money went back is no reason of its own",
			func(in *Input) {
				in.Records.Returns.All = []shop.Return{{ID: "T-1", State: shop.Closed}}
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "", 100_00, shop.Returned, "2026-11-10T00:00:00Z")}
			}, "refund_contradicts_contest", "", "already refunded"},
		{"a refund under way of no amount is not understood",
			func(in *Input) {
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "", 0, shop.InProgress, "2026-11-10T00:00:00Z")}
			},
			"facts_unknown", "no_refund_contradicts_accept facts_unknown", "Whether a refund is under way is not known"},
		{"an order that is not there cannot be argued about",
			func(in *Input) { in.Records.Order.All = nil }, "order_not_found", "order_not_found", "no order of this number"},
		{"an order that could not be read is not one that is not there",
			func(in *Input) {
				in.Records.Order = shop.Rows[shop.Order]{Unread: "the shop's database did not answer in time."}
			},
			"facts_unreadable", "facts_unreadable", "did not answer in time"},
		{"two orders of one number are none",
			func(in *Input) { in.Records.Order.All = append(in.Records.Order.All, shop.Order{ID: "O-2"}) },
			"facts_unknown", "facts_unknown", "More than one order"},
		{"without a connected shop nothing is known",
			func(in *Input) { in.Records.Order = shop.Rows[shop.Order]{Unmapped: true} }, "facts_unreadable", "facts_unreadable", "No shop is connected"},
		{"refunds that could not be read are not absent",
			func(in *Input) { in.Records.Refunds = shop.Rows[shop.Refund]{Unread: "the column status is gone."} },
			"facts_unknown", "facts_unknown", "the column status is gone"},
		{"returns that the mapping does not know are not absent",
			func(in *Input) { in.Records.Returns = shop.Rows[shop.Return]{Unmapped: true} },
			"facts_unknown", "no_refund_contradicts_accept facts_unknown", "does not say where they are kept"},
		{"more refunds than are ever read are not all of them",
			func(in *Input) { in.Records.Refunds.Cut = true }, "facts_unknown", "facts_unknown", "more rows than are ever read"},
		{"an order that nobody paid is not understood",
			func(in *Input) { in.Records.Payments.All[0].State = shop.Failed },
			"facts_disagree facts_unknown", "facts_disagree facts_unknown no_refund_contradicts_accept", "No payment of this order is on record as paid"},
		{"a dispute about more than was paid is not understood",
			func(in *Input) { in.Disputed = stake1(100_01, "USD") }, "facts_disagree", "facts_disagree no_refund_contradicts_accept", "only USD 100.00 was paid"},
		{"a dispute in another currency cannot be compared",
			func(in *Input) { in.Disputed = stake1(90_00, "EUR") }, "facts_unknown", "facts_unknown no_refund_contradicts_accept", "paid in USD"},
		{"nobody contests that nothing arrived when nothing did",
			func(in *Input) { in.Records.Fulfillments.All[0].State = shop.InTransit },
			"facts_disagree", "no_refund_contradicts_accept", "the records show no delivery"},
		{"one parcel of two is not everything",
			func(in *Input) {
				in.Records.Fulfillments.All = append(in.Records.Fulfillments.All, shop.Fulfillment{ID: "F-2", State: shop.InTransit})
			},
			"facts_unknown", "no_refund_contradicts_accept", "1 of 2 parcels arrived"},
		{"about goods that are not as described, delivery is a fact and no rule",
			func(in *Input) {
				in.Reason = countersign.OtherReason
				in.Records.Fulfillments.All[0].State = shop.InTransit
			},
			"", "no_refund_contradicts_accept", "no refund on record"},
		{"what is late is not answered without a person",
			func(in *Input) { in.Now = *in.DueAt }, "deadline_passed", "no_refund_contradicts_accept deadline_passed", "The deadline has passed"},
		{"a policy of after the order does not bind it",
			func(in *Input) { in.Policies[0].ValidFrom = day("2026-11-02").When },
			"policy_newer_than_order", "no_refund_contradicts_accept policy_newer_than_order", "before these came into force: Shipping v1"},
		{"one of the same day does",
			func(in *Input) { in.Policies[0].ValidFrom = day("2026-11-01").When }, "", "no_refund_contradicts_accept", "no refund on record"},
		{"a refund that a person states is enough not to contest, and no refund on record",
			func(in *Input) {
				in.Typed = []countersign.TypedFact{{ID: "T1", Kind: TypedRefund, Text: "in cash", On: "2026-11-10", Amount: stake1(100_00, "USD")}, {ID: "T2", Kind: TypedRefund, Text: "and again"}}
			},
			"refund_contradicts_contest", "no_refund_contradicts_accept", "A person states a refund (USD 100.00, 2026-11-10, in cash, and more)"},
		{"a return that a person states is looked at like one on file",
			func(in *Input) {
				in.Typed = []countersign.TypedFact{{ID: "T1", Kind: TypedReturn, Text: "she sent it back"}}
			},
			"open_return", "no_refund_contradicts_accept open_return", "A person states a return (she sent it back)"},
		{"but not when the money is back",
			func(in *Input) {
				in.Typed = []countersign.TypedFact{{ID: "T1", Kind: TypedReturn, Text: "she sent it back"}}
				in.Records.Refunds.All = []shop.Refund{refund("R-1", "", 100_00, shop.Returned, "2026-11-10T00:00:00Z")}
			},
			"refund_contradicts_contest", "", "already refunded"},
		{"a delivery that a person states is no delivery on record",
			func(in *Input) {
				in.Records.Fulfillments.All[0].State = shop.InTransit
				in.Typed = []countersign.TypedFact{{ID: "T1", Kind: TypedDelivery, Text: "I saw it"}}
			},
			"facts_disagree", "no_refund_contradicts_accept", "the records show no delivery"},
		{"the day of an order is the shop's own: in New York it is still the 31st",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = local("2026-10-31", "2026-11-01T01:00:00Z")
				in.Policies[0].ValidFrom = day("2026-11-01").When
			},
			"policy_newer_than_order", "no_refund_contradicts_accept policy_newer_than_order", "The order was placed on 2026-10-31, before these came into force: Shipping v1"},
		{"and in Tokyo already the 2nd",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = local("2026-11-02", "2026-11-01T16:00:00Z")
				in.Policies[0].ValidFrom = day("2026-11-02").When
			}, "", "no_refund_contradicts_accept", "no refund on record"},
		{"a version that came into force while it was two days in the world binds nobody where the shop's zone is not known",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = day("2026-11-01T01:00:00Z")
				in.Policies[0].ValidFrom = day("2026-11-01").When
			},
			"facts_unknown", "no_refund_contradicts_accept facts_unknown", "placed between 2026-10-31 and 2026-11-01, for the shop's time zone is not known, and these came into force meanwhile: Shipping v1"},
		{"nor one of the day after, an hour before it began in the east",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = day("2026-11-01T11:00:00Z")
				in.Policies[0].ValidFrom = day("2026-11-02").When
			},
			"facts_unknown", "no_refund_contradicts_accept facts_unknown", "between 2026-10-31 and 2026-11-02"},
		{"one of a day that it was nowhere any more does",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = day("2026-11-01T13:00:00Z")
				in.Policies[0].ValidFrom = day("2026-11-01").When
			}, "", "no_refund_contradicts_accept", "no refund on record"},
		{"a bare date is the shop's own",
			func(in *Input) {
				in.Records.Order.All[0].PlacedAt = day("2026-11-01")
				in.Policies[0].ValidFrom = day("2026-11-01").When
			}, "", "no_refund_contradicts_accept", "no refund on record"},
		{"an order of an unknown day is bound by no dated policy",
			func(in *Input) { in.Records.Order.All[0].PlacedAt = shop.Moment{} }, "facts_unknown", "no_refund_contradicts_accept facts_unknown", "The day of the order is not known"},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := delivered1()
			row.change(&in)
			facts := Judge(in)
			if got := strings.Join(against(facts, Contest), " "); got != row.contest {
				t.Errorf("against contesting: %q, want %q", got, row.contest)
			}
			if got := strings.Join(against(facts, Accept), " "); got != row.accept {
				t.Errorf("against accepting: %q, want %q", got, row.accept)
			}
			if !slices.ContainsFunc(facts.Doubts, func(d countersign.Doubt) bool { return strings.Contains(d.Reason.Text, row.sentence) }) {
				t.Errorf("no doubt says %q: %+v", row.sentence, facts.Doubts)
			}
		})
	}
}

// TestRefunds is the truth table of money that went back.
func TestRefunds(t *testing.T) {
	yen := func(minor int64, s shop.State) shop.Refund {
		return shop.Refund{ID: "R-1", Amount: of(minor, "JPY"), State: s}
	}
	for _, row := range []struct {
		name     string
		stake    *countersign.Money
		rows     []shop.Refund
		returned string
		pending  string
		cover    cover
	}{
		{"none", stake1(100_00, "USD"), nil, "", "", coverNone},
		{"failed, then succeeded", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 100_00, shop.NotReturned, "2026-11-01T00:00:00Z"), refund("R-2", "", 100_00, shop.Returned, "2026-11-02T00:00:00Z")}, "USD 100.00", "", coverAll},
		{"the same refund succeeded, then failed days later", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "re_1", 100_00, shop.Returned, "2026-11-01T00:00:00Z"), refund("R-2", "re_1", 100_00, shop.NotReturned, "2026-11-04T00:00:00Z")}, "", "", coverNone},
		{"the same refund failed, then succeeded", stake1(100_00, "USD"), []shop.Refund{refund("R-2", "re_1", 100_00, shop.Returned, "2026-11-04T00:00:00Z"), refund("R-1", "re_1", 100_00, shop.NotReturned, "2026-11-01T00:00:00Z")}, "USD 100.00", "", coverAll},
		{"which word on it came last is not recorded", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "re_1", 100_00, shop.Returned, ""), refund("R-2", "re_1", 100_00, shop.NotReturned, "2026-11-04T00:00:00Z")}, "unknown", "unknown", coverUnknown},
		{"a bare date does not say which came first", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "re_1", 100_00, shop.Returned, "2026-11-04"), refund("R-2", "re_1", 100_00, shop.NotReturned, "2026-11-04T00:00:00Z")}, "unknown", "unknown", coverUnknown},
		{"the same word twice is one refund", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "re_1", 60_00, shop.Returned, ""), refund("R-2", "re_1", 60_00, shop.Returned, "")}, "USD 60.00", "", coverPart},
		{"a part that failed later under the reference of the whole leaves open what went back", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.Returned, "2026-11-12T08:00:00Z"), refund("R-2", "card", 5_00, shop.NotReturned, "2026-11-13T08:00:00Z")}, "unknown", "unknown", coverUnknown},
		{"so does a part that went back later", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.Returned, "2026-11-12T08:00:00Z"), refund("R-2", "card", 5_00, shop.Returned, "2026-11-13T08:00:00Z")}, "unknown", "unknown", coverUnknown},
		{"and one that is under way", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.NotReturned, "2026-11-12T08:00:00Z"), refund("R-2", "card", 5_00, shop.InProgress, "2026-11-13T08:00:00Z")}, "unknown", "unknown", coverUnknown},
		{"and one whose amount is not recorded", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.Returned, "2026-11-12T08:00:00Z"), {ID: "R-2", Reference: "card", State: shop.NotReturned, RefundedAt: day("2026-11-13T08:00:00Z")}}, "unknown", "unknown", coverUnknown},
		{"and one in another currency", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.Returned, "2026-11-12T08:00:00Z"), {ID: "R-2", Reference: "card", Amount: of(120_00, "EUR"), State: shop.NotReturned, RefundedAt: day("2026-11-13T08:00:00Z")}}, "unknown", "unknown", coverUnknown},
		{"attempts of different amounts that all failed gave nothing back", stake1(120_00, "USD"), []shop.Refund{refund("R-1", "card", 120_00, shop.NotReturned, ""), refund("R-2", "card", 5_00, shop.NotReturned, "2026-11-13T08:00:00Z")}, "", "", coverNone},
		{"pending for ever", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 100_00, shop.InProgress, "2024-01-01")}, "", "USD 100.00", coverNone},
		{"a part went back and a part is under way", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 40_00, shop.Returned, "2026-11-01"), refund("R-2", "", 60_00, shop.InProgress, "2026-11-02")}, "USD 40.00", "USD 60.00", coverPart},
		{"two equal parts are two refunds", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 30_00, shop.Returned, "2026-11-01"), refund("R-2", "", 30_00, shop.Returned, "2026-11-01")}, "USD 60.00", "", coverPart},
		{"two parts that make the whole", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 30_00, shop.Returned, "2026-11-01"), refund("R-2", "", 70_00, shop.Returned, "2026-11-02")}, "USD 100.00", "", coverAll},
		{"a part covers a dispute about less", stake1(50_00, "USD"), []shop.Refund{refund("R-1", "", 50_00, shop.Returned, "2026-11-01")}, "USD 50.00", "", coverAll},
		{"one cent short is a part", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 99_99, shop.Returned, "2026-11-01")}, "USD 99.99", "", coverPart},
		{"another currency", stake1(100_00, "EUR"), []shop.Refund{refund("R-1", "", 100_00, shop.Returned, "2026-11-01")}, "USD 100.00", "", coverUnknown},
		{"two currencies", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 100_00, shop.Returned, "2026-11-01"), {ID: "R-2", Amount: of(1, "JPY"), State: shop.Returned}}, "unknown", "", coverUnknown},
		{"yen have no cents", stake1(5800, "JPY"), []shop.Refund{yen(5800, shop.Returned)}, "JPY 5,800", "", coverAll},
		{"a hundredth of the yen is a part", stake1(5800, "JPY"), []shop.Refund{yen(58, shop.Returned)}, "JPY 58", "", coverPart},
		{"dinars have three digits", stake1(1_250, "KWD"), []shop.Refund{{ID: "R-1", Amount: of(1_250, "KWD"), State: shop.Returned}}, "KWD 1.250", "", coverAll},
		{"a negative row is not understood", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", -100_00, shop.Returned, "2026-11-01")}, "unknown", "", coverUnknown},
		{"a row of nothing is not understood", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 0, shop.Returned, "2026-11-01")}, "unknown", "", coverUnknown},
		{"a status that nobody explained", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 100_00, shop.Unseen, "2026-11-01")}, "unknown", "unknown", coverUnknown},
		{"an amount that is none", stake1(100_00, "USD"), []shop.Refund{{ID: "R-1", Amount: shop.Amount{Text: "87.957975", Problem: "is not exactly an amount of USD."}, State: shop.Returned}}, "unknown", "", coverUnknown},
		{"one of a failed refund does not matter", stake1(100_00, "USD"), []shop.Refund{{ID: "R-1", Amount: shop.Amount{Text: "?"}, State: shop.NotReturned}}, "", "", coverNone},
		{"more than an amount can hold", stake1(100_00, "USD"), []shop.Refund{refund("R-1", "", 1<<62, shop.Returned, "2026-11-01"), refund("R-2", "", 1<<62, shop.Returned, "2026-11-01")}, "unknown", "", coverUnknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := refunds(shop.Rows[shop.Refund]{All: row.rows}, row.stake)
			if got := inWords(m.returned); got != row.returned {
				t.Errorf("returned %q, want %q", got, row.returned)
			}
			if got := inWords(m.pending); got != row.pending {
				t.Errorf("under way %q, want %q", got, row.pending)
			}
			if m.cover != row.cover {
				t.Errorf("%s, want %s", m.cover, row.cover)
			}
		})
	}
}

func inWords(t total) string {
	switch {
	case !t.known():
		return "unknown"
	case t.money == nil:
		return ""
	}
	return t.money.String()
}

package rules

import (
	"testing"

	"pgregory.net/rapid"

	"countersign"
	"countersign/desk/merchant/shop"
)

// stands reports whether nothing speaks against a recommendation.
func stands(in Input, recommendation string) bool {
	return len(against(Judge(in), recommendation)) == 0
}

// orders draws an order near the edges: most parts are sound, so that recommendations stand often enough to say something.
func orders() *rapid.Generator[Input] {
	return rapid.Custom(func(t *rapid.T) Input {
		in := delivered1()
		in.Reason = rapid.SampledFrom(countersign.DisputeReasons).Draw(t, "reason")
		if rapid.Bool().Draw(t, "amount said") {
			in.Disputed = stake1(rapid.SampledFrom([]int64{100_00, 50_00, 1, 100_01}).Draw(t, "disputed"), "USD")
		}
		in.Records.Refunds.All = rapid.SliceOfN(drawRefund(), 0, 3).Draw(t, "refunds")
		in.Records.Returns.All = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shop.Return {
			return shop.Return{ID: "T", State: rapid.SampledFrom([]shop.State{shop.Open, shop.Closed, shop.Unseen}).Draw(t, "state")}
		}), 0, 1).Draw(t, "returns")
		in.Records.Fulfillments.All = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shop.Fulfillment {
			return shop.Fulfillment{ID: "F", State: rapid.SampledFrom([]shop.State{shop.Delivered, shop.Delivered, shop.InTransit, shop.NotShipped, shop.Unseen}).Draw(t, "state")}
		}), 0, 2).Draw(t, "parcels")
		return in
	})
}

func drawRefund() *rapid.Generator[shop.Refund] {
	return rapid.Custom(func(t *rapid.T) shop.Refund {
		return refund(rapid.SampledFrom([]string{"R-1", "R-2", "R-3"}).Draw(t, "id"), rapid.SampledFrom([]string{"", "", "re_1"}).Draw(t, "reference"),
			rapid.SampledFrom([]int64{100_00, 50_00, 1, 0, -5}).Draw(t, "minor"),
			rapid.SampledFrom([]shop.State{shop.Returned, shop.Returned, shop.InProgress, shop.NotReturned, shop.Unseen}).Draw(t, "state"),
			rapid.SampledFrom([]string{"", "2026-11-02", "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z"}).Draw(t, "at"))
	})
}

// unreadable makes one kind of record unreadable.
var unreadable = map[string]func(*Input){
	"the order":      func(in *Input) { in.Records.Order = shop.Rows[shop.Order]{Unread: "gone."} },
	"the payments":   func(in *Input) { in.Records.Payments = shop.Rows[shop.Payment]{Unread: "gone."} },
	"the deliveries": func(in *Input) { in.Records.Fulfillments = shop.Rows[shop.Fulfillment]{Unread: "gone."} },
	"the refunds":    func(in *Input) { in.Records.Refunds = shop.Rows[shop.Refund]{Unread: "gone."} },
	"the returns":    func(in *Input) { in.Records.Returns = shop.Rows[shop.Return]{Unread: "gone."} },
}

// What stands without having read something must stand whatever would have been read: not being able to read allows nothing.
func TestNotBeingAbleToReadAllowsNothing(t *testing.T) {
	stood := 0
	for name, spoil := range unreadable {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			in := orders().Draw(t, "order")
			blind := in
			spoil(&blind)
			for _, want := range []string{Contest, Accept} {
				if stands(in, want) {
					stood++
				}
				if stands(blind, want) && !stands(in, want) {
					t.Fatalf("%s stands without having read %s, and not with it", want, name)
				}
			}
		}))
	}
	if stood == 0 {
		t.Error("no recommendation stood, so nothing was checked")
	}
}

// Contest and accept never stand together: what the records leave to both, they leave to a person.
func TestContestAndAcceptNeverStandTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if in := orders().Draw(t, "order"); stands(in, Contest) && stands(in, Accept) {
			t.Fatalf("both stand: %+v", in.Records)
		}
	})
}

// A doubt is never lost by what else is found: with money under way, or a return without a refund, nothing stands.
func TestWhatIsOpenStopsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := orders().Draw(t, "order")
		open := rapid.SampledFrom([]func(){
			func() {
				in.Records.Refunds.All = append(in.Records.Refunds.All, refund("R-9", "", 1, shop.InProgress, ""))
			},
			func() { in.Records.Refunds.All = append(in.Records.Refunds.All, refund("R-9", "", 1, shop.Unseen, "")) },
			func() { in.Records.Refunds.Cut = true },
			func() { in.Records.Payments.All[0].State = shop.Unseen },
		}).Draw(t, "what is open")
		open()
		if stands(in, Contest) || stands(in, Accept) {
			t.Fatalf("%+v", in.Records)
		}
	})
}

func TestTheSameRecordsGiveTheSameFacts(t *testing.T) {
	a, b := Judge(delivered1()), Judge(delivered1())
	if a.Seen != b.Seen || a.Seen == "" {
		t.Errorf("%q and %q", a.Seen, b.Seen)
	}
	for name, change := range unreadable {
		in := delivered1()
		change(&in)
		if Seen(in) == a.Seen {
			t.Errorf("%s went unread, and the hash is the same", name)
		}
	}
	in := delivered1()
	in.Now = *in.DueAt
	if Seen(in) == a.Seen {
		t.Error("the deadline passed, and the hash is the same")
	}
}

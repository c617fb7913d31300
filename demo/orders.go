package demo

import (
	"time"

	"countersign"
	"countersign/desk/merchant/rules"
	"countersign/pipeline/intake"
)

// order is one order of the invented shop, with what became of it. Times are counted back from now.
type order struct {
	no, buyer, mail, to string
	ago                 time.Duration
	state, sum, cur     string
	takings             []money
	parcels             []parcel
	paybacks            []money
	sendbacks           []sendback
}

type money struct {
	sum, state string
	ago        time.Duration
	ref        string
}

type parcel struct {
	state, by, track string
	ago              time.Duration // when it arrived, if it did
}

type sendback struct {
	state, why string
	ago        time.Duration
}

// Chargeback is one chargeback against the shop, how it is worked, and how it must end.
type Chargeback struct {
	Order      string
	Network    string
	ReasonCode string
	Stage      string             // chargeback when empty
	Amount     *countersign.Money // nil when the network names none
	Due        time.Duration      // from now; 0 when nobody said
	Reference  string
	Notes      string
	Title      string

	Script string // names the scripted model that works it; empty is the offline reviewer
	Then   *Act

	Want        []countersign.ReasonCode // of the verdict, beside person_decides, which all of them have
	WantOutcome countersign.Outcome
}

// Chargebacks are what the invented shop has to answer, in the order in which the demo works them.
func Chargebacks() []Chargeback {
	all := make([]Chargeback, len(plays))
	for i, p := range plays {
		all[i] = p.Chargeback
	}
	return all
}

// Request is the chargeback as intake takes it.
func (c Chargeback) Request(now time.Time) intake.Request {
	r := intake.Request{SubjectID: c.Order, SubjectField: "order_id", Reason: countersign.OtherReason, Notes: c.Notes, Channel: "demo", Amount: c.Amount,
		Stage: c.Stage, Terms: countersign.Terms{Network: c.Network, ReasonCode: c.ReasonCode, Reference: c.Reference}}
	if c.Due != 0 {
		due := now.Add(c.Due)
		r.DueAt = &due
	}
	return r
}

// play is a chargeback and the order that it is about; no order for the one that names none of the shop's.
type play struct {
	Chargeback
	order *order
}

var orders = func() (all []order) {
	for _, p := range plays {
		if p.order != nil {
			all = append(all, *p.order)
		}
	}
	return all
}()

func taken(sum string, ago time.Duration) []money { return []money{{sum, "taken", ago, ""}} }

func handedOver(by, track string, ago time.Duration) []parcel {
	return []parcel{{"handed over", by, track, ago}}
}

// sold is a paid and delivered order that each play changes.
func sold(no, buyer, sum string, ago time.Duration, change func(*order)) *order {
	o := &order{no: no, buyer: buyer, mail: "customer" + no + "@example.com", to: "12 Harbour Road, Portland OR 97201, USA", ago: ago, state: "done", sum: sum, cur: "USD",
		takings: taken(sum, ago), parcels: handedOver("UPS", "1Z-"+no, ago-4*day)}
	if change != nil {
		change(o)
	}
	return o
}

func usDollars(minor int64) *countersign.Money {
	return &countersign.Money{Minor: minor, Currency: "USD"}
}

// plays are told in this order.
var plays = []play{
	{Chargeback{Order: "20140", Network: "visa", ReasonCode: "13.1", Amount: usDollars(149_00), Due: 9 * day, Reference: "dp_20140",
		Title: "\"nothing arrived\", and the carrier delivered", Notes: "Cardholder states that the merchandise was never received.",
		Then: &Act{Verb: "approve"}, WantOutcome: countersign.Contested},
		sold("20140", "Margaret Hollis", "149.00", 24*day, nil)},
	{Chargeback{Order: "20155", Network: "mastercard", ReasonCode: "4853", Amount: usDollars(89_50), Due: 20 * day,
		Title: "already refunded in full", Notes: "Goods not as described. Cardholder returned them.",
		Then: &Act{Verb: "approve"}, WantOutcome: countersign.AcceptedOutcome},
		sold("20155", "Tomasz Wójcik", "89.50", 31*day, func(o *order) {
			o.paybacks = []money{{"89.50", "paid back", 12 * day, "re_1"}}
			o.sendbacks = []sendback{{"received", "too small", 15 * day}}
		})},
	{Chargeback{Order: "20163", Network: "visa", ReasonCode: "13.3", Amount: usDollars(240_00), Due: 5 * day, Script: "fighter",
		Title: "a model contests what was refunded", Want: []countersign.ReasonCode{countersign.RefundContradictsContest}},
		sold("20163", "Ines Carvalho", "240.00", 28*day, func(o *order) { o.paybacks = []money{{"240.00", "paid back", 9 * day, "re_2"}} })},
	{Chargeback{Order: "20171", Network: "visa", ReasonCode: "13.1", Amount: usDollars(62_00), Due: 6 * day, Script: "yielder",
		Title: "a model gives in without a refund on record", Want: []countersign.ReasonCode{countersign.NoRefundContradictsAccept}},
		sold("20171", "Devon Blake", "62.00", 22*day, nil)},
	{Chargeback{Order: "20188", Network: "visa", ReasonCode: "13.3", Amount: usDollars(310_00), Due: 3 * day, Script: "fighter",
		Title: "a model contests while the goods are on their way back", Notes: "Defective on arrival, customer shipped it back.",
		Want: []countersign.ReasonCode{countersign.OpenReturn}},
		sold("20188", "Oluwaseun Adéyẹmí", "310.00", 19*day, func(o *order) { o.sendbacks = []sendback{{"on its way", "defective", 5 * day}} })},
	{Chargeback{Order: "20192", Network: "amex", ReasonCode: "C31", Amount: usDollars(120_00), Due: 14 * day,
		Title: "a part was refunded", Want: []countersign.ReasonCode{countersign.PartialRefund},
		Then: &Act{Verb: "override", Outcome: countersign.Contested, Reason: "The refund of 45.00 covers the broken cup; the rest of the set was delivered whole.", Part: usDollars(75_00)}, WantOutcome: countersign.Contested},
		sold("20192", "Yuki Tanaka", "120.00", 35*day, func(o *order) { o.paybacks = []money{{"45.00", "paid back", 20 * day, "re_3"}} })},
	{Chargeback{Order: "20201", Network: "visa", ReasonCode: "13.6", Amount: usDollars(75_25), Due: 8 * day,
		Title: "a refund bounced, and the second try arrived", Then: &Act{Verb: "approve"}, WantOutcome: countersign.AcceptedOutcome},
		sold("20201", "Peter Obi-Grant", "75.25", 40*day, func(o *order) {
			o.paybacks = []money{{"75.25", "bounced", 21 * day, "re_4"}, {"75.25", "paid back", 18 * day, "re_5"}}
		})},
	{Chargeback{Order: "20207", Network: "mastercard", ReasonCode: "4860", Amount: usDollars(54_00), Due: 11 * day,
		Title: "a refund is still under way", Want: []countersign.ReasonCode{countersign.FactsUnknown, countersign.ModelAskedForPerson}},
		sold("20207", "Amara Nwosu", "54.00", 26*day, func(o *order) { o.paybacks = []money{{"54.00", "sent to bank", 4 * day, "re_6"}} })},
	{Chargeback{Order: "20212", Network: "visa", ReasonCode: "13.6", Amount: usDollars(33_00), Due: 7 * day,
		Title: "a refund with a status that nobody explained", Want: []countersign.ReasonCode{countersign.FactsUnknown, countersign.ModelAskedForPerson}},
		sold("20212", "Hana Kovář", "33.00", 30*day, func(o *order) { o.paybacks = []money{{"33.00", "parked", 10 * day, "re_7"}} })},
	{Chargeback{Order: "20219", Network: "visa", ReasonCode: "13.1", Amount: usDollars(98_00), Due: 2 * day,
		Title: "\"nothing arrived\", and nothing shows that it did", Want: []countersign.ReasonCode{countersign.ModelAskedForPerson}},
		sold("20219", "Sofia Marchetti", "98.00", 12*day, func(o *order) { o.parcels = []parcel{{"on its way", "DHL", "JD-20219", 0}} })},
	{Chargeback{Order: "20226", Network: "visa", ReasonCode: "13.1", Amount: usDollars(180_00), Due: 10 * day, Script: "misquotes",
		Title: "a model quotes a clause that is not there", Want: []countersign.ReasonCode{countersign.QuoteUnverified}},
		sold("20226", "Liam O'Shea", "180.00", 20*day, nil)},
	{Chargeback{Order: "20231", Network: "discover", ReasonCode: "RG", Amount: usDollars(45_00), Due: -2 * day,
		Title: "the deadline has passed", Want: []countersign.ReasonCode{countersign.DeadlinePassed}},
		sold("20231", "Grace Kim", "45.00", 45*day, nil)},
	{Chargeback{Order: "19004", Network: "visa", ReasonCode: "13.1", Amount: usDollars(130_00), Due: 12 * day,
		Title: "an order from before the policies", Want: []countersign.ReasonCode{countersign.PolicyNewerThanOrder}},
		sold("19004", "Robert Lindqvist", "130.00", 400*day, nil)},
	{Chargeback{Order: "99999", Network: "visa", ReasonCode: "10.4", Amount: usDollars(75_00), Due: 15 * day,
		Title: "an order that the shop does not know", Want: []countersign.ReasonCode{countersign.EvidenceTooLittle, countersign.OrderNotFound, countersign.ModelAskedForPerson}}, nil},
	{Chargeback{Order: "20244", Network: "visa", ReasonCode: "12.6.1", Amount: usDollars(210_00), Due: 16 * day,
		Title: "\"charged twice\", and paid once", Then: &Act{Verb: "approve"}, WantOutcome: countersign.Contested},
		sold("20244", "Priya Raman", "210.00", 18*day, nil)},
	{Chargeback{Order: "20250", Network: "visa", ReasonCode: "13.1", Amount: &countersign.Money{Minor: 5800, Currency: "JPY"}, Due: 13 * day,
		Title: "a sale in yen, which have no cents"},
		sold("20250", "石田 さくら", "5800", 16*day, func(o *order) { o.cur, o.to = "JPY", "2-11-3 Meguro, Tokyo 153-0063, Japan" })},
	{Chargeback{Order: "20258", Network: "visa", ReasonCode: "13.1", Amount: usDollars(400_00), Due: 9 * day,
		Title: "the dispute is about more than was paid", Want: []countersign.ReasonCode{countersign.FactsDisagree}},
		sold("20258", "Carlos Mendes", "40.00", 15*day, nil)},
	{Chargeback{Order: "20263", Network: "visa", ReasonCode: "10.4", Amount: usDollars(520_00), Due: 18 * day,
		Title: "\"not my purchase\", decided by a person", Notes: "Cardholder does not recognise the transaction.", Want: []countersign.ReasonCode{countersign.ModelAskedForPerson},
		Then: &Act{Verb: "override", Outcome: countersign.Contested, Reason: "The issuer's one-time code was entered, and the parcel was signed for by the cardholder."}, WantOutcome: countersign.Contested},
		sold("20263", "Emeka Danjuma", "520.00", 14*day, nil)},
	{Chargeback{Order: "20270", Network: "visa", ReasonCode: "13.1", Stage: "inquiry", Amount: usDollars(27_00),
		Title: "an inquiry without a deadline"},
		sold("20270", "Anke de Vries", "27.00", 13*day, nil)},
	{Chargeback{Order: "20277", Network: "mastercard", ReasonCode: "4855", Amount: usDollars(66_00), Due: 21 * day, Script: "cites nothing real",
		Title: "a model cites a delivery that is not on record", Want: []countersign.ReasonCode{countersign.EvidenceInvalid}},
		sold("20277", "Nadia Haddad", "66.00", 17*day, nil)},
	{Chargeback{Order: "20281", Network: "visa", ReasonCode: "13.1", Amount: usDollars(150_00), Due: 4 * day,
		Title: "one parcel of two arrived", Want: []countersign.ReasonCode{countersign.ModelAskedForPerson}},
		sold("20281", "Jonas Brandt", "150.00", 16*day, func(o *order) { o.parcels = append(o.parcels, parcel{"on its way", "UPS", "1Z-20281-B", 0}) })},
	{Chargeback{Order: "20290", Network: "visa", ReasonCode: "13.3", Amount: usDollars(71_00), Due: 10 * day, Script: "silent",
		Title: "a model that does not answer", Want: []countersign.ReasonCode{countersign.ModelFailed}},
		sold("20290", "Miriam Stone", "71.00", 21*day, nil)},
}

func init() {
	scripts["fighter"] = spoiled(recommends(rules.Contest, "The records and the policy are on our side."))
	scripts["yielder"] = spoiled(recommends(rules.Accept, "It is not worth the trouble."))
	scripts["misquotes"] = spoiled(func(d decision) {
		d["quotes"] = []any{map[string]any{"document": "Shipping and Delivery", "quote": "All sales are final and no refund is given under any circumstances."}}
	})
	scripts["cites nothing real"] = spoiled(func(d decision) {
		d["claims"] = append(d.claims(), cites("The carrier photographed the delivery.", "S3", "fulfillments[0].photograph", "yes"))
	})
}

// recommends makes any decision one for this side, with all the certainty there is.
func recommends(what, summary string) func(decision) {
	return func(d decision) { d["recommendation"], d["confidence"], d["summary"] = what, 1.0, summary }
}

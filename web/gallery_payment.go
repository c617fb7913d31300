package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk"
)

// payment is what an invented bank's books hold of a disputed transfer. Everything that a page shows of the books is made from
// it: what the desk displays, what the tools answered, and the facts that code read.
type payment struct {
	id, customer, account, payee, payeeAccount string
	memo, reference, failure                   string // other people's words
	amount                                     countersign.Money
	at                                         time.Time
	settled                                    bool // the money arrived
	noDevice                                   bool // none is on record
	newDevice                                  bool
	twin                                       string // the id of a second charge three minutes later; it is then a card payment
}

func naira(minor int64) countersign.Money { return countersign.Money{Minor: minor, Currency: "NGN"} }

// rent is a transfer that failed.
func rent() payment {
	return payment{id: "TX-880142", customer: "Adaeze Obi", account: "****4321", payee: "A. Friend", payeeAccount: "****6789", memo: "rent balance Nov",
		reference: "NIP/0428817", failure: "beneficiary bank not available", amount: naira(8_420_000), at: galleryTime.Add(-49 * time.Hour)}
}

// fuel is a card payment that was taken twice.
func fuel() payment {
	p := rent()
	p.id, p.payee, p.payeeAccount, p.memo, p.reference, p.failure = "TX-880177", "ADEYEMI FILLING STATION IKEJA", "", "", "POS 77120 0041", ""
	p.amount, p.settled, p.twin = naira(1_700_000), true, "TX-880178"
	return p
}

func (p payment) entryID() string { return "LE-" + p.id + "-1" }

func (p payment) rail() string {
	if p.settled {
		return "settled"
	}
	return "failed"
}

func (p payment) kind() string {
	if p.twin != "" {
		return "card"
	}
	return "transfer"
}

func (p payment) fix() *countersign.Fix {
	if p.twin != "" {
		return countersign.NewFix(countersign.Refund, p.twin, "A-1042-NGN", p.amount)
	}
	return countersign.NewFix(countersign.Reversal, p.id, "A-1042-NGN", p.amount)
}

// display is what the desk shows of the books.
func (p payment) display() desk.Display {
	d := desk.Display{Accounts: map[string]string{"A-1042-NGN": "account " + p.account}, Lines: []desk.Line{
		{Label: "Customer", Cell: desk.Cell{Text: p.customer}},
		{Label: "From account", Cell: desk.Cell{Text: p.account + " · NGN"}},
		{Label: "Paid to", Cell: desk.Cell{Text: strings.TrimSuffix(p.payee+" · "+p.payeeAccount, " · "), By: "the other party"}},
		{Label: "When", Cell: desk.Cell{When: countersign.At(p.at)}},
		{Label: "How", Cell: desk.Cell{Text: p.kind() + " · mobile app · Lagos"}},
		{Label: "Reference", Cell: desk.Cell{Text: p.reference, By: "the customer"}},
		{Label: "Memo", Cell: desk.Cell{Text: p.memo, By: "the customer"}},
		{Label: "Transaction", Cell: desk.Cell{Text: p.id}},
	}}
	d.Lines = slices.DeleteFunc(d.Lines, func(l desk.Line) bool { return l.Cell.Text == "" && l.Cell.When.IsZero() })
	d.Tables = []desk.Table{p.transactions(), p.entries(), p.settlement()}
	if !p.noDevice {
		d.Tables = append(d.Tables, p.device())
	}
	for _, id := range p.charges() {
		d.Ledger = append(d.Ledger, desk.Posting{TransactionID: id, When: countersign.At(p.at.Add(2 * time.Second)),
			Entry: countersign.Entry{AccountID: "A-1042-NGN", Direction: countersign.Debit, Amount: p.amount, Kind: "original"}})
	}
	return d
}

// charges are the disputed transaction and its twin.
func (p payment) charges() []string {
	if p.twin != "" {
		return []string{p.id, p.twin}
	}
	return []string{p.id}
}

// of is when a charge was made.
func (p payment) of(charge string) time.Time {
	if charge == p.twin {
		return p.at.Add(3 * time.Minute)
	}
	return p.at
}

func (p payment) transactions() desk.Table {
	t := desk.Table{Name: "transactions", Title: "Transactions", Cited: []string{"transactions"},
		Columns: []string{"Transaction", "When", "Amount", "Direction", "Kind", "Status", "Reference"}}
	for _, id := range p.charges() {
		t.Rows = append(t.Rows, desk.Row{ID: id, Mine: id == p.id, Cells: []desk.Cell{{Text: id}, {When: countersign.At(p.of(id))}, {Amount: &p.amount}, {Text: "debit"},
			{Text: p.kind()}, {Text: "posted"}, theirCell(p.reference, "the customer")}})
	}
	return t
}

func (p payment) entries() desk.Table {
	t := desk.Table{Name: "ledger_entries", Title: "Ledger entries", Cited: []string{"ledger_entries"},
		Columns: []string{"Entry", "Transaction", "Posted", "Debit", "Credit", "Kind", "Memo"}}
	for _, id := range p.charges() {
		t.Rows = append(t.Rows, desk.Row{ID: "LE-" + id + "-1", Mine: id == p.id, Cells: []desk.Cell{{Text: "LE-" + id + "-1"}, {Text: id},
			{When: countersign.At(p.of(id).Add(2 * time.Second))}, {Amount: &p.amount}, {Text: "–"}, {Text: "original"}, theirCell(p.memo, "the customer")}})
	}
	return t
}

func (p payment) settlement() desk.Table {
	return desk.Table{Name: "settlements", Title: "Settlement", Cited: []string{"settlement of"},
		Columns: []string{"Transaction", "Status", "Final", "Updated", "Rail", "Reason given"},
		Rows: []desk.Row{{ID: p.id, Mine: true, Cells: []desk.Cell{{Text: p.id}, {Text: p.rail()}, {Text: "yes"}, {When: countersign.At(p.at.Add(90 * time.Second))},
			{Text: "NIP"}, theirCell(p.failure, "the rail")}}}}
}

func (p payment) device() desk.Table {
	trusted, seen := "yes", p.at.AddDate(0, -7, 0)
	if p.newDevice {
		trusted, seen = "no", p.at.Add(-20*time.Minute)
	}
	return desk.Table{Name: "devices", Title: "Devices of the customer", Cited: []string{"devices"}, Columns: []string{"Device", "Label", "Trusted", "First seen", "City"},
		Rows: []desk.Row{{ID: "DV-1042-1", Mine: true, Cells: []desk.Cell{{Text: "DV-1042-1"}, theirCell("Tecno Spark 20", "the customer"), {Text: trusted},
			{When: countersign.At(seen)}, {Text: "Lagos"}}}}}
}

func theirCell(text, by string) desk.Cell {
	if text == "" {
		return desk.Cell{}
	}
	return desk.Cell{Text: text, By: by}
}

// quote is text as JSON.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // unreachable: every string marshals
	}
	return string(b)
}

// Marks around other people's words, until it is known how a text is to show them.
const beginsTheirs, endsTheirs = "\ue000", "\ue001"

func theirs(text string) string {
	if text == "" {
		return quote("")
	}
	return quote(beginsTheirs + text + endsTheirs)
}

var (
	unmarked = strings.NewReplacer(beginsTheirs, "", endsTheirs, "")
	fenced   = strings.NewReplacer(beginsTheirs, "<untrusted-mfdijklnboeb>", endsTheirs, "</untrusted-mfdijklnboeb>")
)

// step is the answer of a tool, as it is kept and as the model was shown it.
func (p payment) step(n int, tool string, took time.Duration, format string, args ...any) countersign.Step {
	result := fmt.Sprintf(format, args...)
	ref := countersign.Ref(n)
	return countersign.Step{Ref: ref, Turn: 1, Tool: tool, OK: true, Result: json.RawMessage(unmarked.Replace(result)),
		Shown: fmt.Sprintf(`{"ref":%q,"ok":true,"result":%s}`, ref, fenced.Replace(result)), Took: took}
}

// steps are what the tools answered, and that the proposal was taken.
func (p payment) steps() []countersign.Step {
	at := func(t time.Time) string { return quote(t.Format(time.RFC3339)) }
	entries, copies := "", ""
	for _, id := range p.charges() {
		entries += fmt.Sprintf(`,{"id":%s,"account":"customer","direction":"debit","kind":"original","amount_minor":%d,"currency":"NGN","posted_at":%s,"memo":%s}`,
			quote("LE-"+id+"-1"), p.amount.Minor, at(p.of(id).Add(2*time.Second)), theirs(p.memo))
	}
	if p.twin != "" {
		copies = fmt.Sprintf(`{"id":%s,"seconds_after":180,"amount_minor":%d,"same_reference":"yes","payee":%s}`, quote(p.twin), p.amount.Minor, theirs(p.payee))
	}
	all := []countersign.Step{
		p.step(1, "get_transaction", 3*time.Millisecond, `{"id":%s,"kind":%q,"direction":"debit","status":"posted","amount_minor":%d,"currency":"NGN","amount":%q,`+
			`"occurred_at":%s,"counterparty_name":%s,"counterparty_account":%q,"reference":%s,"memo":%s,"channel":"mobile_app","city":"Lagos","account":{"number":%q,"status":"active"}}`,
			quote(p.id), p.kind(), p.amount.Minor, p.amount, at(p.at), theirs(p.payee), p.payeeAccount, theirs(p.reference), theirs(p.memo), p.account),
		p.step(2, "get_ledger_entries", 12*time.Millisecond, `{"found":true,"currency":"NGN","taken_minor":%d,"given_back_minor":0,"fixed_before":false,"entries":[%s]}`,
			p.amount.Minor, strings.TrimPrefix(entries, ",")),
		p.step(3, "get_settlement_status", 7*time.Millisecond, `{"found":true,"status":%q,"final":true,"updated_at":%s,"rail":"NIP","failure_reason":%s}`,
			p.rail(), at(p.at.Add(90*time.Second)), theirs(p.failure)),
		p.deviceStep(),
		p.step(5, "get_customer_profile", 4*time.Millisecond, `{"name":"Adaeze O.","home_city":"Lagos","joined_at":"2024-03-08T09:00:00Z","flagged":false,"flags":[]}`),
		p.step(6, "get_customer_history", 9*time.Millisecond, `{"cases":[],"open":0,"closed":2,"about_this_transaction":0,"complete":true}`),
		p.step(7, "get_merchant_info", 300*time.Microsecond, `{"found":false,"note":"the transaction names no merchant"}`),
		p.step(8, "get_related_transactions", 21*time.Millisecond, `{"possible_copies":[%s],"debits_around":[],"same_end_to_end_id":[]}`, copies),
		p.step(9, submission, time.Millisecond, `{"accepted":true}`),
	}
	all[8].Turn = 2
	return all
}

func (p payment) deviceStep() countersign.Step {
	if p.noDevice {
		return p.step(4, "get_device_and_location", 5*time.Millisecond, `{"found":false,"note":"no device is on record for this transaction"}`)
	}
	trusted, known := "yes", 18_316_800
	if p.newDevice {
		trusted, known = "no", 1_200
	}
	return p.step(4, "get_device_and_location", 5*time.Millisecond,
		`{"found":true,"device":{"label":%s,"trusted":%q,"seconds_known_before_transaction":%d},"place":{"city":"Lagos"},"home":{"city":"Lagos"},"place_is_home":"yes"}`,
		theirs("Tecno Spark 20"), trusted, known)
}

// facts are what code reads in these books.
func (p payment) facts() *countersign.Facts {
	tx, entry, settlement := "transactions "+p.id, "ledger_entries "+p.entryID(), "settlement of "+p.id
	f := &countersign.Facts{Seen: recordsSeen, Items: []countersign.Fact{
		{Name: "is_transfer", State: countersign.Present, Value: p.kind(), Source: tx},
		{Name: "account", State: countersign.Present, Value: p.account + " in NGN", Source: "accounts A-1042-NGN"},
		{Name: "debit_posted", State: countersign.Present, Value: p.amount.String(), Source: entry},
		{Name: "settlement_failed_final", State: countersign.Present, Value: "failed, final", Source: settlement},
		{Name: "corrected", State: countersign.Absent, Value: "no reversal, refund or other credit", Source: entry},
		{Name: "credit_same_end_to_end_id", State: countersign.Absent, Value: "none", Source: tx},
		{Name: "pending_same_end_to_end_id", State: countersign.Absent, Value: "none", Source: tx},
		{Name: "sent_twice", State: countersign.Absent, Value: "no", Source: tx},
		{Name: "duplicate_window", State: countersign.Present, Value: "10m0s", Source: tx},
		{Name: "coming_back_by_rail", State: countersign.Present, Value: "failed", Source: settlement},
		{Name: "twin", State: countersign.Absent, Value: "none", Source: tx},
		{Name: "device_untrusted", State: countersign.Absent, Value: "trusted", Source: "devices DV-1042-1"},
		{Name: "device_new", State: countersign.Absent, Value: "first seen " + p.at.AddDate(0, -7, 0).Format(time.RFC3339), Source: "devices DV-1042-1"},
		{Name: "city_unusual", State: countersign.Absent, Value: "Lagos, the home city", Source: "customers C-1042"},
		{Name: "many_debits", State: countersign.Absent, Value: "1 in 10 minutes", Source: tx},
		{Name: "merchant_flagged", State: countersign.Absent, Value: "no merchant named", Source: tx},
		{Name: "customer_flagged", State: countersign.Absent, Value: "none", Source: "customers C-1042"},
	}}
	f.Supports, f.Fix = countersign.FailedTransfer, p.fix()
	doubt(f, countersign.DuplicateCharge, "twin", countersign.FactsDisagree, "No other charge of this amount to the same payee lies close to "+p.id+".")
	p.otherwise(f)
	return f
}

// otherwise is where the books are other than those of a transfer that failed.
func (p payment) otherwise(f *countersign.Facts) {
	if p.settled {
		read(f, "settlement_failed_final", countersign.Absent, "settled, final")
		doubt(f, countersign.FailedTransfer, "settlement_failed_final", countersign.FactsDisagree, "The transfer "+p.id+" settled: the money reached the other bank.")
		f.Supports, f.Fix = "", nil
	}
	if p.noDevice {
		read(f, "device_untrusted", countersign.Unknown, "no device on record")
		read(f, "device_new", countersign.Unknown, "no device on record")
		doubt(f, "", "device_untrusted", countersign.FactsUnknown, "No device is on record for "+p.id+", so whether it was the customer's cannot be told.")
	}
	if p.newDevice {
		read(f, "device_untrusted", countersign.Present, "not trusted")
		read(f, "device_new", countersign.Present, "first seen "+p.at.Add(-20*time.Minute).Format(time.RFC3339))
		doubt(f, "", "device_untrusted", countersign.FraudSuspected, "The payment was made with a device that is not trusted.")
		doubt(f, "", "device_new", countersign.FraudSuspected, "The device was first seen 20 minutes before the payment.")
	}
	if p.twin != "" {
		p.twice(f)
	}
}

// twice is the facts of two equal charges.
func (p payment) twice(f *countersign.Facts) {
	both := "transactions " + p.id + ", " + p.twin
	f.Supports, f.Fix, f.Doubts = countersign.DuplicateCharge, p.fix(), f.Doubts[1:]
	doubt(f, countersign.FailedTransfer, "is_transfer", countersign.FactsDisagree, p.id+" is not a transfer (its kind is card), so it cannot be a failed one.")
	read(f, "is_transfer", countersign.Absent, "card")
	read(f, "coming_back_by_rail", countersign.Absent, "settled")
	read(f, "twin", countersign.Present, p.amount.String()+" at "+p.of(p.twin).Format(time.RFC3339))
	read(f, "merchant_flagged", countersign.Absent, "not flagged")
	f.Items = append(f.Items,
		countersign.Fact{Name: "twin_same_kind", State: countersign.Present, Value: "card", Source: both},
		countersign.Fact{Name: "twin_same_payee", State: countersign.Present, Value: "merchant M-003", Source: both},
		countersign.Fact{Name: "twin_debit_posted", State: countersign.Present, Value: p.amount.String(), Source: "ledger_entries LE-" + p.twin + "-1"},
		countersign.Fact{Name: "twin_corrected", State: countersign.Absent, Value: "no reversal, refund or other credit", Source: "ledger_entries LE-" + p.twin + "-1"},
		countersign.Fact{Name: "twin_same_key", State: countersign.Present, Value: "reference at the same merchant", Source: both},
		countersign.Fact{Name: "twin_later", State: countersign.Present, Value: p.twin, Source: both})
}

// read changes what was read of one fact.
func read(f *countersign.Facts, name string, state countersign.FactState, value string) {
	i := slices.IndexFunc(f.Items, func(item countersign.Fact) bool { return item.Name == name })
	f.Items[i].State, f.Items[i].Value = state, value
	if state == countersign.Unknown {
		f.Items[i].Source = f.Items[0].Source
	}
}

func doubt(f *countersign.Facts, against countersign.DisputeReason, fact string, code countersign.ReasonCode, text string) {
	f.Doubts = append(f.Doubts, countersign.Doubt{Against: against, Fact: fact, Reason: countersign.Reason{Code: code, Text: text}})
}

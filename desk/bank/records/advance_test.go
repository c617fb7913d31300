package records

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// one reads one row, which must be valid.
func one(t *testing.T, a Array, row string) (out Row) {
	t.Helper()
	_, err := ReadJSON("new.json", strings.NewReader(document(map[Array]string{a: row})), func(r Row) error { out = r; return nil },
		func(p Problem) { t.Fatal(p) })
	if err != nil || out.Record == nil {
		t.Fatal("no row", err)
	}
	return out
}

func TestAdvance(t *testing.T) {
	tx := func(old, now string) string { return has(Transactions, old, now) }
	pending := tx("posted", "pending")
	reversed := tx("posted", "reversed")
	failed := tx("posted", "failed")
	linked := with(Transactions, `"end_to_end_id":"E-1","reference":"R-1","posted_at":"2026-11-28T10:00:00Z"`)
	settlement := func(status, final string) string {
		return `{"transaction_id":"T-1","status":"` + status + `","final":` + final + `,"updated_at":"2026-11-28T09:20:00Z"}`
	}
	const same = "same"
	for name, c := range map[string]struct {
		array    Array
		old, new string
		want     string // same, changed, or the end of the refusal
	}{
		"the same row again is no change":                        {Transactions, good[Transactions], good[Transactions], same},
		"a row without its optional columns erases nothing":      {Transactions, linked, good[Transactions], same},
		"an empty optional column erases nothing":                {Transactions, with(Transactions, `"city":"Lagos"`), with(Transactions, `"city":""`), same},
		"flags left out are kept":                                {Customers, good[Customers], has(Customers, `,"flags":["watch"]`, ``), same},
		"an empty list of flags clears them":                     {Customers, good[Customers], has(Customers, `["watch"]`, `[]`), "changed"},
		"a merchant's flag left out is kept":                     {Merchants, good[Merchants], has(Merchants, `,"flagged":true`, ``), same},
		"a merchant's flag taken away is a change":               {Merchants, good[Merchants], has(Merchants, `true`, `false`), "changed"},
		"a device becomes trusted":                               {Devices, good[Devices], has(Devices, `false`, `true`), "changed"},
		"a customer moves":                                       {Customers, good[Customers], has(Customers, `Lagos`, `Abuja`), "changed"},
		"an account is closed":                                   {Accounts, good[Accounts], with(Accounts, `"status":"closed"`), "changed"},
		"a pending transaction is posted":                        {Transactions, pending, good[Transactions], "changed"},
		"a pending transaction fails":                            {Transactions, pending, failed, "changed"},
		"a posted transaction is reversed":                       {Transactions, good[Transactions], reversed, "changed"},
		"a posted transaction fails after all":                   {Transactions, good[Transactions], failed, "changed"},
		"what we reversed and the file still calls posted stays": {Transactions, reversed, good[Transactions], same},
		"an end-to-end id is filled in":                          {Transactions, good[Transactions], linked, "changed"},
		"a date gets its time":                                   {Transactions, tx("2026-11-28T09:14:00Z", "2026-11-28"), good[Transactions], "changed"},
		"a settlement becomes final":                             {Settlements, settlement("settled", "false"), settlement("settled", "true"), "changed"},
		"a pending settlement fails for good":                    {Settlements, settlement("pending", "false"), settlement("failed", "true"), "changed"},
		"a settlement that is not final may go back to pending":  {Settlements, settlement("timed_out", "false"), settlement("pending", "false"), "changed"},
		"settled money is returned":                              {Settlements, settlement("settled", "true"), settlement("returned", "true"), "changed"},
		"failed money arrives after all":                         {Settlements, settlement("failed", "true"), settlement("settled", "true"), "changed"},
		"a posted transaction never goes back to pending":        {Transactions, good[Transactions], pending, `status is "pending", expected "posted" as on record: a transaction never goes back from posted to pending`},
		"a reversed one neither":                                 {Transactions, reversed, pending, `status is "pending", expected "reversed" as on record: a transaction never goes back from reversed to pending`},
		"a failed one is not posted later":                       {Transactions, failed, good[Transactions], `status is "posted", expected "failed" as on record: a transaction never goes back from failed to posted`},
		"a settled and final one never goes back to pending":     {Settlements, settlement("settled", "true"), settlement("pending", "false"), `status is "pending" and not final, expected "settled" and final as on record: a final settlement never stops being final`},
		"what is final stays final":                              {Settlements, settlement("failed", "true"), settlement("failed", "false"), `status is "failed" and not final, expected "failed" and final as on record: a final settlement never stops being final`},
		"what is settled for good never fails":                   {Settlements, settlement("settled", "true"), settlement("failed", "true"), `status is "failed" and final, expected "settled" and final as on record: a settlement that is finally settled never becomes failed`},
		"what was returned never fails":                          {Settlements, settlement("returned", "true"), settlement("failed", "true"), `status is "failed" and final, expected "returned" and final as on record: a settlement that is finally returned never becomes failed`},
		"an older settlement does not overwrite a newer one":     {Settlements, settlement("pending", "false"), strings.Replace(settlement("failed", "true"), "09:20", "09:19", 1), `updated_at is 2026-11-28T09:19:00.000000Z, expected 2026-11-28T09:20:00.000000Z as on record: a date may be filled in or move forward, never back`},
		"a device was not seen earlier than we knew":             {Devices, good[Devices], has(Devices, "2025-01", "2020-01"), `first_seen_at is 2019-12-31T23:00:00.000000Z, expected 2024-12-31T23:00:00.000000Z as on record: a date may be filled in or move forward, never back`},
		"an amount never changes":                                {Transactions, good[Transactions], tx("2450000", "2450001"), `amount_minor is 2450001, expected 2450000 as on record: amount_minor never changes`},
		"a currency never changes":                               {Transactions, good[Transactions], tx("NGN", "USD"), `currency is "USD", expected "NGN" as on record: currency never changes`},
		"a direction never changes":                              {Transactions, good[Transactions], tx("debit", "credit"), `direction is "credit", expected "debit" as on record: direction never changes`},
		"a kind never changes":                                   {Transactions, good[Transactions], tx("card", "transfer"), `kind is "transfer", expected "card" as on record: kind never changes`},
		"a transaction never moves to another account":           {Transactions, good[Transactions], tx("A-1", "A-2"), `account_id is "A-2", expected "A-1" as on record: account_id never changes`},
		"nor to another merchant":                                {Transactions, good[Transactions], tx("M-1", "M-2"), `merchant_id is "M-2", expected "M-1" as on record: merchant_id never changes`},
		"a reference never changes":                              {Transactions, linked, strings.Replace(linked, "R-1", "R-2", 1), `reference is "R-2", expected "R-1" as on record: reference never changes`},
		"an account never changes hands":                         {Accounts, good[Accounts], has(Accounts, "C-1", "C-2"), `customer_id is "C-2", expected "C-1" as on record: customer_id never changes`},
		"an account number never changes and is not shown":       {Accounts, good[Accounts], has(Accounts, "0000014579", "0000022222"), `number is ****2222 (10 bytes), expected ****4579 (10 bytes) as on record: number never changes`},
		"a device never changes hands":                           {Devices, good[Devices], has(Devices, "C-1", "C-2"), `customer_id is "C-2", expected "C-1" as on record: customer_id never changes`},
		"a posting's amount never changes":                       {LedgerEntries, good[LedgerEntries], has(LedgerEntries, "2450000", "1"), `amount_minor is 1, expected 2450000 as on record: amount_minor never changes`},
		"a posting's kind never changes":                         {LedgerEntries, good[LedgerEntries], has(LedgerEntries, "original", "refund"), `kind is "refund", expected "original" as on record: kind never changes`},
		"a posting never moves to another transaction":           {LedgerEntries, good[LedgerEntries], has(LedgerEntries, "T-1", "T-2"), `transaction_id is "T-2", expected "T-1" as on record: transaction_id never changes`},
		"a different row is not an update":                       {Merchants, good[Merchants], has(Merchants, "M-1", "M-2"), `id is "M-2", expected "M-1" as on record: id never changes`},
	} {
		t.Run(name, func(t *testing.T) {
			old := one(t, c.array, c.old).Record
			before := Encode(nil, old)
			next, changed, err := one(t, c.array, c.new).Advance(old)
			got := same
			switch {
			case err != nil:
				got = strings.TrimPrefix(err.Error(), "new.json:2: "+string(c.array)+" row 1: ")
			case changed:
				got = "changed"
			}
			if got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
			if string(before) != string(Encode(nil, old)) {
				t.Error("the stored record was written to")
			}
			if err == nil && changed == (string(before) == string(Encode(nil, next))) {
				t.Errorf("changed is %v, and the row says otherwise", changed)
			}
			if p := (Problem{}); err != nil && !errors.As(err, &p) {
				t.Errorf("%T is no Problem", err)
			}
		})
	}
}

func TestAdvanceMergesColumnByColumn(t *testing.T) {
	old := one(t, Transactions, with(Transactions, `"city":"Lagos","reference":"R-1"`)).Record
	next, changed, err := one(t, Transactions, with(Transactions, `"country":"NG","channel":"pos"`)).Advance(old)
	want := *old.(*Transaction)
	want.Country, want.Channel = "NG", "pos"
	if diff := cmp.Diff(&want, next, sameWhen); diff != "" || !changed || err != nil {
		t.Error(changed, err, diff)
	}
	if _, changed, _ := NewRow(next).Advance(next); changed {
		t.Error("the result over itself is a change")
	}
}

func TestAdvanceOfAMadeRowGivesEveryColumn(t *testing.T) {
	next, changed, err := NewRow(&Merchant{ID: "M-1", Name: "x"}).Advance(&Merchant{ID: "M-1", Name: "x", Flagged: true})
	if err != nil || !changed || next.(*Merchant).Flagged {
		t.Errorf("flagged stays: %v %v %v", next, changed, err)
	}
}

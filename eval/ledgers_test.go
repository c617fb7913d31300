package eval

import (
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/desk/bank/records"
)

// promised are the flaws that the product says it is tried against.
var promised = []string{
	"settled", "settlement timed out", "settlement failed, not final", "settlement missing", "reversed in full", "reversed in part", "refunded in full",
	"refunded in part", "pending", "other currency", "at the cap", "above the cap", "new device", "another city", "new device in another city",
	"twin at another merchant", "twin with another amount", "twin in another month", "twin with another reference", "soft twin, without any reference", "three copies",
}

func TestEveryPromisedFlawIsGeneratedAloneAndAmongOthers(t *testing.T) {
	alone, met := map[string]int{}, map[string]int{}
	for i := range usualLedgers {
		l := generate(1, i, "100000")
		for _, name := range l.flaws {
			met[name]++
			if len(l.flaws) == 1 {
				alone[name]++
			}
		}
	}
	for _, name := range promised {
		if alone[name] == 0 || met[name] < 20 {
			t.Errorf("%s: %d ledgers, %d of them with nothing else wrong", name, met[name], alone[name])
		}
	}
	for _, name := range flawNames() {
		if !strings.HasSuffix(name, ", nothing") && alone[name] == 0 {
			t.Errorf("%s is never alone", name)
		}
	}
}

func TestALedgerIsTheSameForTheSameSeed(t *testing.T) {
	for i := range 300 {
		a, b := generate(7, i, "100001"), generate(7, i, "100001")
		if asJSON(a.Set) != asJSON(b.Set) || a.story() != b.story() {
			t.Fatalf("ledger %d differs from itself", i)
		}
	}
	if different := func(seed uint64) (s string) {
		for i := range 100 {
			s += generate(seed, len(rollCall)+i, "1").story() + "\n"
		}
		return s
	}; different(1) == different(2) {
		t.Error("two seeds give the same ledgers")
	}
}

func TestEveryGeneratedRowIsOneThatABankCouldImport(t *testing.T) {
	for i := range 1000 {
		l := generate(1, i, "100002")
		for row := range l.Rows() {
			if bad := row.Record.Validate(); len(bad) > 0 {
				t.Errorf("%s: %v", l.story(), bad)
			}
		}
		l.at() // the disputed transaction is there
	}
}

func TestAFlawTakesTheFixAwayUnlessItIsHarmless(t *testing.T) {
	for i, place := range rollCall {
		l := generate(1, i, "100003")
		if !slices.Equal(l.flaws, []string{place.flaw.name}) || (l.want != nil) != place.flaw.harmless {
			t.Errorf("%d: %s with %q wants %s", i, l.shape, l.flaws, spelled(l.want))
		}
		if sound := place.shape.build("100003", 0); sound.want == nil || asJSON(l.Set) == asJSON(sound.Set) && asJSON(l.Set) == asJSON(place.shape.build("100003", 1).Set) {
			t.Errorf("%s does nothing to a %s", place.flaw.name, l.shape)
		}
	}
}

func TestAnOddPostingIsSeen(t *testing.T) {
	want := countersign.NewFix(countersign.Refund, "T1", "A1", countersign.Money{Minor: 100, Currency: "NGN"})
	entry := func(id, account string, direction countersign.Direction, minor int64) records.LedgerEntry {
		return records.LedgerEntry{ID: id, AccountID: account, Direction: direction, AmountMinor: minor, Currency: "NGN"}
	}
	credit, debit := entry("fix:1", "A1", countersign.Credit, 100), entry("fix:2", "suspense:NGN", countersign.Debit, 100)
	for _, row := range []struct {
		name    string
		status  records.TransactionStatus
		entries []records.LedgerEntry
		odd     bool
	}{
		{"one balanced pair", records.Reversed, []records.LedgerEntry{entry("L1", "A1", countersign.Debit, 100), credit, debit}, false},
		{"nothing was posted", records.Reversed, nil, true},
		{"a credit without its debit", records.Reversed, []records.LedgerEntry{credit}, true},
		{"a pair that is not balanced", records.Reversed, []records.LedgerEntry{credit, entry("fix:2", "suspense:NGN", countersign.Debit, 99)}, true},
		{"a pair of another amount", records.Reversed, []records.LedgerEntry{entry("fix:1", "A1", countersign.Credit, 99), entry("fix:2", "suspense:NGN", countersign.Debit, 99)}, true},
		{"a credit to somebody else", records.Reversed, []records.LedgerEntry{entry("fix:1", "A2", countersign.Credit, 100), debit}, true},
		{"the pair twice", records.Reversed, []records.LedgerEntry{credit, debit, entry("fix:3", "A1", countersign.Credit, 100), entry("fix:4", "suspense:NGN", countersign.Debit, 100)}, true},
		{"a transaction that still counts as posted", records.Posted, []records.LedgerEntry{credit, debit}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			book := records.Book{Transaction: records.Transaction{Status: row.status}, Entries: row.entries}
			if got := oddPosting(book, want); (got != "") != row.odd {
				t.Errorf("got %q", got)
			}
		})
	}
}

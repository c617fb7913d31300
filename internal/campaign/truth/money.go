package truth

import (
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"countersign"
	"countersign/audit"
)

// posted compares the fixes, their rows in the record and their ledger entries with what is owed: each once, whole, or not at all.
func (w *world) posted() error {
	entries := map[string]map[string]int64{} // by transaction and account
	err := w.each("SELECT transaction_id, account_id, direction, amount_minor FROM ledger_entries WHERE id LIKE 'fix:%'", func(r *sql.Rows) error {
		var transaction, account, direction string
		var minor int64
		if err := r.Scan(&transaction, &account, &direction, &minor); err != nil {
			return err
		}
		if entries[transaction] == nil {
			entries[transaction] = map[string]int64{}
		}
		entries[transaction][account] += signed(direction, minor)
		return nil
	})
	if err != nil {
		return err
	}
	owed := map[string]bool{}
	for _, c := range w.want.Cases {
		if c.Fix != nil {
			owed[c.Fix.TransactionID] = true
			w.owed(c, entries[c.Fix.TransactionID])
		}
		for _, p := range w.fixes[c.ID] {
			if c.Fix == nil {
				w.say(NotOwed, "case %s posted a %s of %d %s on %s", c.ID, p.kind, p.minor, p.currency, p.transaction)
			}
		}
	}
	for _, transaction := range slices.Sorted(maps.Keys(entries)) {
		if !owed[transaction] {
			w.say(NotOwed, "there are ledger entries of a fix on %s: %v", transaction, entries[transaction])
		}
	}
	return nil
}

// owed looks for the one fix of a case.
func (w *world) owed(c Case, entries map[string]int64) {
	want := posted{c.Fix.TransactionID, string(c.Fix.Kind), c.Fix.AccountID, c.Fix.Amount.Currency, c.Fix.Amount.Minor}
	switch has := w.fixes[c.ID]; {
	case len(has) == 0:
		w.say(Lost, "case %s: the %s on %s was not posted", c.ID, c.Fix.Kind, c.Fix.TransactionID)
	case len(has) > 1:
		w.say(Doubled, "case %s posted %d fixes", c.ID, len(has))
	case has[0] != want:
		w.say(Wrong, "case %s posted %+v, want %+v", c.ID, has[0], want)
	}
	pair := map[string]int64{}
	for _, e := range c.Fix.Entries {
		pair[e.AccountID] += signed(string(e.Direction), e.Amount.Minor)
	}
	if !maps.Equal(entries, pair) {
		w.say(Wrong, "the ledger entries of the fix on %s are %v, want %v", c.Fix.TransactionID, entries, pair)
	}
	rows := 0
	for _, r := range w.rows[c.ID] {
		var fix countersign.Fix
		if r.kind != audit.Fix {
			continue
		}
		rows++
		if err := json.Unmarshal(r.says.Fix, &fix); err != nil || fix.TransactionID != c.Fix.TransactionID || fix.Kind != c.Fix.Kind || fix.Amount != c.Fix.Amount {
			w.say(Wrong, "case %s: row %d records another fix: %s (%v)", c.ID, r.seq, r.says.Fix, err)
		}
	}
	if rows != 1 {
		w.say(Wrong, "case %s has %d rows of a fix in its record, want one", c.ID, rows)
	}
}

func signed(direction string, minor int64) int64 {
	if direction == string(countersign.Debit) {
		return -minor
	}
	return minor
}

// balances compares what every account holds with what it held before and what it was owed.
func (w *world) balances() error {
	want := maps.Clone(w.want.Before)
	if want == nil {
		return nil
	}
	for _, c := range w.want.Cases {
		if c.Fix == nil {
			continue
		}
		for _, e := range c.Fix.Entries {
			want[e.AccountID] += signed(string(e.Direction), e.Amount.Minor)
		}
	}
	has := map[string]int64{}
	err := w.each("SELECT account_id, direction, SUM(amount_minor) FROM ledger_entries GROUP BY account_id, direction", func(r *sql.Rows) error {
		var account, direction string
		var minor int64
		err := r.Scan(&account, &direction, &minor)
		has[account] += signed(direction, minor)
		return err
	})
	if err != nil {
		return err
	}
	for account, minor := range want {
		if has[account] != minor {
			w.say(Wrong, "account %s holds %d, want %d", account, has[account], minor)
		}
	}
	for account, minor := range has {
		if _, known := want[account]; !known {
			w.say(Wrong, "account %s holds %d, and no books know it", account, minor)
		}
	}
	return nil
}

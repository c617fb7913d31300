package truth

import (
	"database/sql"
	"maps"
	"slices"

	"countersign/desk/bank/records"
)

// books compares the rows of the books with what was imported: each is there, and nothing else.
func (w *world) books() error {
	for array, ids := range w.want.Imported {
		missing := map[string]bool{}
		for _, id := range ids {
			missing[id] = true
		}
		err := w.each(listing[array], func(r *sql.Rows) error {
			var id string
			err := r.Scan(&id)
			if !missing[id] {
				w.say(Doubled, "%s has a row %q that nobody imported", array, id)
			}
			delete(missing, id)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(missing)) {
			w.say(Lost, "%s has no row %q, whose import ended well", array, id)
		}
	}
	return nil
}

var listing = map[records.Array]string{
	records.Customers:     "SELECT id FROM customers",
	records.Accounts:      "SELECT id FROM accounts",
	records.Merchants:     "SELECT id FROM merchants",
	records.Devices:       "SELECT id FROM devices",
	records.Transactions:  "SELECT id FROM transactions",
	records.LedgerEntries: "SELECT id FROM ledger_entries WHERE id NOT LIKE 'fix:%'",
	records.Settlements:   "SELECT transaction_id FROM settlements",
}

// library compares the policies with what was imported: each document once, with so many versions, all of them confirmed.
func (w *world) library() error {
	if w.want.Policies == nil {
		return nil
	}
	has := map[string]int{}
	err := w.each(`SELECT d.title, COUNT(v.id), COALESCE(SUM(CASE WHEN v.confirmed_at IS NULL THEN 1 ELSE 0 END), 0)
		FROM policy_documents d LEFT JOIN policy_versions v ON v.document_id = d.id GROUP BY d.id, d.title`, func(r *sql.Rows) error {
		var title string
		var versions, unconfirmed int
		err := r.Scan(&title, &versions, &unconfirmed)
		if _, twice := has[title]; twice {
			w.say(Doubled, "there are two policies called %q", title)
		}
		if unconfirmed > 0 {
			w.say(Lost, "%d versions of policy %q are not confirmed, and their import ended well", unconfirmed, title)
		}
		has[title] = versions
		return err
	})
	if err != nil {
		return err
	}
	for title, n := range w.want.Policies {
		switch {
		case has[title] < n:
			w.say(Lost, "policy %q has %d versions, want %d", title, has[title], n)
		case has[title] > n:
			w.say(Doubled, "policy %q has %d versions, want %d", title, has[title], n)
		}
	}
	for title := range has {
		if w.want.Policies[title] == 0 {
			w.say(Doubled, "there is a policy %q, which nobody imported", title)
		}
	}
	return nil
}

package bank

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/bank/records"
	"countersign/store"
)

// Who wrote what is not the bank's own word.
const (
	payer     = "the customer"
	payee     = "the other party"
	shop      = "the merchant"
	otherBank = "the rail"
)

// display shows an analyst the disputed payment and the rows that the facts are read from. Account numbers are masked here too:
// the last four digits are what a person compares, and a screen is read over shoulders.
func display(ctx context.Context, v store.View, c countersign.Case) (desk.Display, error) {
	b, err := book(ctx, v, c)
	if err != nil {
		return desk.Display{}, err
	}
	tables := []desk.Table{transactionTable(b), entryTable(b), settlementTable(b), deviceTable(b), merchantTable(b), customerTable(b), accountTable(b)}
	return desk.Display{Lines: lines(b), Tables: slices.DeleteFunc(tables, func(t desk.Table) bool { return len(t.Rows) == 0 }),
		Ledger: ledger(b), Accounts: map[string]string{b.Account.ID: "account " + records.Mask(b.Account.Number)}}, nil
}

func ledger(b records.Book) (all []desk.Posting) {
	for _, e := range slices.Concat(b.Entries, b.LikeEntries) {
		all = append(all, desk.Posting{TransactionID: e.TransactionID, When: e.PostedAt, Entry: countersign.Entry{AccountID: e.AccountID,
			Direction: e.Direction, Amount: countersign.Money{Minor: e.AmountMinor, Currency: e.Currency}, Kind: countersign.FixKind(e.Kind)}})
	}
	return all
}

func lines(b records.Book) []desk.Line {
	t := b.Transaction
	all := []desk.Line{
		{Label: "Customer", Cell: plainly(b.Customer.Name)},
		{Label: "From account", Cell: plainly(records.Mask(b.Account.Number) + " · " + b.Account.Currency)},
		paidTo(b),
		{Label: "When", Cell: desk.Cell{When: t.OccurredAt}},
		{Label: "How", Cell: plainly(joined(string(t.Kind), t.Channel, t.City))},
		{Label: "Reference", Cell: written(t.Reference, payer)},
		{Label: "Memo", Cell: written(t.Memo, payer)},
		{Label: "Transaction", Cell: plainly(t.ID)},
	}
	return slices.DeleteFunc(all, func(l desk.Line) bool { return l.Cell == desk.Cell{} })
}

func paidTo(b records.Book) desk.Line {
	if b.Merchant != nil {
		return desk.Line{Label: "Paid to", Cell: written(b.Merchant.Name, shop)}
	}
	return desk.Line{Label: "Paid to", Cell: written(joined(b.Transaction.CounterpartyName, maskedNumber(b.Transaction.CounterpartyAccount)), payee)}
}

// joined puts together what is recorded of several things.
func joined(parts ...string) string {
	return strings.ReplaceAll(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · "), "_", " ")
}

func plainly(text string) desk.Cell { return desk.Cell{Text: text} }

func written(text, by string) desk.Cell {
	if text == "" {
		return desk.Cell{}
	}
	return desk.Cell{Text: text, By: by}
}

func money(m countersign.Money) desk.Cell { return desk.Cell{Amount: &m} }

func timed(w countersign.When) desk.Cell { return desk.Cell{When: w} }

// transactionTable holds the disputed payment, its copies and what shares its end-to-end id, oldest first.
func transactionTable(b records.Book) desk.Table {
	table := desk.Table{Name: "transactions", Title: "Transactions", Cited: []string{"transactions"},
		Columns: []string{"Transaction", "When", "Amount", "Direction", "Kind", "Status", "Reference", "End-to-end id"}}
	seen := map[string]bool{}
	all := slices.Concat([]records.Transaction{b.Transaction}, b.Like, b.SameEndToEnd)
	slices.SortStableFunc(all, func(a, b records.Transaction) int { return cmp.Compare(a.OccurredAt.String(), b.OccurredAt.String()) })
	for _, t := range all {
		if seen[t.ID] {
			continue
		}
		seen[t.ID] = true
		table.Rows = append(table.Rows, desk.Row{ID: t.ID, Mine: t.ID == b.Transaction.ID, Cells: []desk.Cell{
			plainly(t.ID), timed(t.OccurredAt), money(t.Amount()), plainly(string(t.Direction)), plainly(string(t.Kind)), plainly(string(t.Status)),
			written(t.Reference, payer), written(t.EndToEndID, payer)}})
	}
	return table
}

func entryTable(b records.Book) desk.Table {
	table := desk.Table{Name: "ledger_entries", Title: "Ledger entries", Cited: []string{"ledger_entries"},
		Columns: []string{"Entry", "Transaction", "Posted", "Debit", "Credit", "Kind", "Memo"}}
	for _, e := range slices.Concat(b.Entries, b.LikeEntries) {
		debit, credit := money(countersign.Money{Minor: e.AmountMinor, Currency: e.Currency}), plainly("–")
		if e.Direction == countersign.Credit {
			debit, credit = credit, debit
		}
		table.Rows = append(table.Rows, desk.Row{ID: e.ID, Mine: e.TransactionID == b.Transaction.ID, Cells: []desk.Cell{
			plainly(e.ID), plainly(e.TransactionID), timed(e.PostedAt), debit, credit, plainly(string(e.Kind)), written(e.Memo, payer)}})
	}
	return table
}

func settlementTable(b records.Book) desk.Table {
	table := desk.Table{Name: "settlements", Title: "Settlement", Cited: []string{"settlement of", "settlements"},
		Columns: []string{"Transaction", "Status", "Final", "Updated", "Rail", "Reference", "Reason given"}}
	if s := b.Settlement; s != nil {
		table.Rows = []desk.Row{{ID: s.TransactionID, Mine: true, Cells: []desk.Cell{plainly(s.TransactionID), plainly(string(s.Status)),
			plainly(string(answered(s.Final))), timed(s.UpdatedAt), plainly(s.Rail), written(s.Reference, otherBank), written(s.FailureReason, otherBank)}}}
	}
	return table
}

func deviceTable(b records.Book) desk.Table {
	table := desk.Table{Name: "devices", Title: "Devices of the customer", Cited: []string{"devices"},
		Columns: []string{"Device", "Label", "Trusted", "First seen", "Last seen", "City"}}
	for _, d := range b.Devices {
		trusted := "not recorded"
		if d.Trusted != nil {
			trusted = string(answered(*d.Trusted))
		}
		table.Rows = append(table.Rows, desk.Row{ID: d.ID, Mine: d.ID == b.Transaction.DeviceID, Cells: []desk.Cell{
			plainly(d.ID), written(d.Label, payer), plainly(trusted), timed(d.FirstSeenAt), timed(d.LastSeenAt), plainly(d.City)}})
	}
	return table
}

func merchantTable(b records.Book) desk.Table {
	table := desk.Table{Name: "merchants", Title: "Merchant", Cited: []string{"merchants"},
		Columns: []string{"Merchant", "Name", "Category", "Country", "Flagged"}}
	if m := b.Merchant; m != nil {
		table.Rows = []desk.Row{{ID: m.ID, Mine: true, Cells: []desk.Cell{plainly(m.ID), written(m.Name, shop), plainly(m.Category), plainly(m.Country),
			plainly(string(answered(m.Flagged)))}}}
	}
	return table
}

func customerTable(b records.Book) desk.Table {
	c := b.Customer
	return desk.Table{Name: "customers", Title: "Customer", Cited: []string{"customers"},
		Columns: []string{"Customer", "Name", "Home city", "Joined", "Flags"},
		Rows:    []desk.Row{{ID: c.ID, Mine: true, Cells: []desk.Cell{plainly(c.ID), plainly(c.Name), plainly(c.HomeCity), timed(c.JoinedAt), plainly(strings.Join(c.Flags, ", "))}}}}
}

func accountTable(b records.Book) desk.Table {
	a := b.Account
	return desk.Table{Name: "accounts", Title: "Account", Cited: []string{"accounts"}, Columns: []string{"Account", "Number", "Currency", "Kind", "Status"},
		Rows: []desk.Row{{ID: a.ID, Mine: true, Cells: []desk.Cell{plainly(a.ID), plainly(maskedNumber(a.Number)), plainly(a.Currency), plainly(a.Kind), plainly(a.Status)}}}}
}

// factGroups names the facts of package rules for people.
var factGroups = []desk.FactGroup{
	{Title: "The payment", Facts: []desk.FactTitle{
		{Name: "account", Title: "Account is the customer's"},
		{Name: "debit_posted", Title: "Debit posted for the full amount"},
		{Name: "corrected", Title: "Already given back, whole or part"},
	}},
	{Title: "A failed transfer", About: countersign.FailedTransfer, Facts: []desk.FactTitle{
		{Name: "is_transfer", Title: "It is a transfer"},
		{Name: "settlement_failed_final", Title: "Settlement failed, and that is final"},
		{Name: "credit_same_end_to_end_id", Title: "Credit with the same end-to-end id"},
		{Name: "pending_same_end_to_end_id", Title: "Still pending under the same end-to-end id"},
		{Name: "sent_twice", Title: "The same transfer was sent twice"},
	}},
	{Title: "A double charge", About: countersign.DuplicateCharge, Facts: []desk.FactTitle{
		{Name: "duplicate_window", Title: "Time in which a copy counts"},
		{Name: "coming_back_by_rail", Title: "Coming back by itself through the rail"},
		{Name: "paid_back_same_end_to_end_id", Title: "Paid back under the same end-to-end id"},
		{Name: "twin", Title: "There is a second charge"},
		{Name: "twin_same_kind", Title: "Both are of the same kind"},
		{Name: "twin_same_payee", Title: "Both went to the same payee"},
		{Name: "twin_debit_posted", Title: "Second debit posted for the full amount"},
		{Name: "twin_corrected", Title: "Second charge already given back"},
		{Name: "twin_same_key", Title: "Both carry the same id or reference"},
		{Name: "twin_later", Title: "One of them is the later one"},
	}},
	{Title: "Signs of fraud", Clear: "No signs of fraud in %d checks", Facts: []desk.FactTitle{
		{Name: "device_untrusted", Title: "Device is not trusted"},
		{Name: "device_new", Title: "Device is new"},
		{Name: "city_unusual", Title: "City is unusual"},
		{Name: "many_debits", Title: "Many debits in a short time"},
		{Name: "merchant_flagged", Title: "Merchant is flagged"},
		{Name: "customer_flagged", Title: "Customer is flagged"},
	}},
}

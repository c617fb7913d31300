package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/bank/records"
)

// FoundTransaction is a transaction with what a person knows it by, and what has been opened about it already.
type FoundTransaction struct {
	records.Transaction
	Account  records.Account
	Customer records.Customer
	Merchant string // its name; empty if none is on record
	Open     []OpenDispute
}

// OpenDispute is a case about a transaction that is not closed.
type OpenDispute struct {
	ID     countersign.CaseID
	Reason countersign.DisputeReason
	Status countersign.Status
}

// mostAccounts is how many accounts of those that a query names are looked at.
const mostAccounts = 100

// FindTransactions finds what a dispute can be opened about, latest first: by a transaction's id, reference or end-to-end id,
// a customer's id or name, an account's number or the last four digits of it, or an amount. More says that not all that fits
// was listed, or looked at.
func (v View) FindTransactions(ctx context.Context, query string, limit int) (found []FoundTransaction, more bool, err error) {
	if query = strings.TrimSpace(query); query == "" || !isText(query) {
		return nil, false, nil
	}
	accounts, more, err := v.accountsOf(ctx, query)
	if err != nil {
		return nil, false, err
	}
	amounts, err := v.amounts(ctx, "transactions", query)
	if err != nil {
		return nil, false, err
	}
	all, err := v.latest(ctx, query, accounts, amounts, limit+1)
	if err != nil {
		return nil, false, err
	}
	found, err = v.recognised(ctx, all[:min(len(all), limit)])
	return found, more || len(all) > limit, err
}

// accountsOf finds the accounts that a query may name, in the form they are shown in too: ****1234. More says that there are
// more than are looked at.
func (v View) accountsOf(ctx context.Context, query string) (ids []string, more bool, err error) {
	customers, more, err := v.customersNamed(ctx, query)
	if err != nil {
		return nil, false, err
	}
	named := func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}
	number := strings.TrimLeft(query, "*•")
	questions := []question{
		{"SELECT id FROM accounts WHERE number = $1 LIMIT $2", []any{number, mostAccounts + 1}, named},
		{"SELECT id FROM accounts WHERE customer_id = $1 LIMIT $2", []any{query, mostAccounts + 1}, named}}
	if len(number) == 4 {
		questions = append(questions, question{"SELECT id FROM accounts WHERE SUBSTR(number, LENGTH(number) - 3) = $1 AND LENGTH(number) >= 4 LIMIT $2",
			[]any{number, mostAccounts + 1}, named})
	}
	if len(customers) > 0 {
		questions = append(questions, question{"SELECT id FROM accounts WHERE customer_id " + v.d.in(1) + " ORDER BY customer_id LIMIT $2",
			[]any{listed(customers), mostAccounts + 1}, named})
	}
	err = v.ask(ctx, questions...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), mostAccounts)], more || len(ids) > mostAccounts, wrap(err, "look for accounts")
}

// latest reads the latest transactions of every way in which a query can mean one, and keeps the latest of them all.
func (v View) latest(ctx context.Context, query string, accounts []string, amounts []countersign.Money, limit int) ([]records.Transaction, error) {
	const first = " ORDER BY occurred_at DESC, id DESC LIMIT "
	found := map[string]records.Transaction{}
	firstOf := func(condition string, values ...any) []question {
		return transactions.question(func(t records.Transaction) { found[t.ID] = t }, condition, append(values, limit)...)
	}
	questions := slices.Concat(
		firstOf("id = $1 LIMIT $2", query),
		firstOf("reference = $1 AND reference <> ''"+first+"$2", query),
		firstOf("end_to_end_id = $1 AND end_to_end_id <> ''"+first+"$2", query))
	for _, m := range amounts {
		questions = append(questions, firstOf("amount_minor = $1 AND currency = $2"+first+"$3", m.Minor, m.Currency)...)
	}
	for _, id := range accounts {
		questions = append(questions, firstOf("account_id = $1"+first+"$2", id)...)
	}
	if err := v.ask(ctx, questions...); err != nil {
		return nil, fmt.Errorf("look for transactions: %w", err)
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b records.Transaction) int {
		return cmp.Or(cmp.Compare(b.OccurredAt.String(), a.OccurredAt.String()), cmp.Compare(b.ID, a.ID))
	})
	return all[:min(len(all), limit)], nil
}

// recognised adds to transactions what a person knows them by.
func (v View) recognised(ctx context.Context, all []records.Transaction) ([]FoundTransaction, error) {
	found := make([]FoundTransaction, len(all))
	var ids, accountIDs, merchantIDs []string
	for i, t := range all {
		found[i].Transaction = t
		ids, accountIDs, merchantIDs = append(ids, t.ID), append(accountIDs, t.AccountID), append(merchantIDs, t.MerchantID)
	}
	owners, names, open := map[string]FoundTransaction{}, map[string]string{}, map[string][]OpenDispute{}
	err := v.ask(ctx,
		question{"SELECT " + accounts.list("a") + ", " + customers.list("c") + " FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE a.id " + v.d.in(1),
			[]any{listed(accountIDs)}, func(row scanner) error {
				var f FoundTransaction
				err := row.Scan(scans(slices.Concat(accounts.fields(&f.Account), customers.fields(&f.Customer)))...)
				owners[f.Account.ID] = f
				return err
			}},
		question{"SELECT id, name FROM merchants WHERE id " + v.d.in(1), []any{listed(merchantIDs)}, func(row scanner) error {
			var id, name string
			err := row.Scan(&id, &name)
			names[id] = name
			return err
		}},
		question{"SELECT subject_id, id, reason, status FROM cases WHERE status <> 'closed' AND subject_kind = 'transaction' AND subject_id " + v.d.in(1) +
			" ORDER BY risk, id", []any{listed(ids)}, func(row scanner) error {
			var id string
			var d OpenDispute
			err := row.Scan(&id, &d.ID, &d.Reason, &d.Status)
			open[id] = append(open[id], d)
			return err
		}})
	for i, t := range all {
		found[i].Account, found[i].Customer = owners[t.AccountID].Account, owners[t.AccountID].Customer
		found[i].Merchant, found[i].Open = names[t.MerchantID], open[t.ID]
	}
	return found, wrap(err, "read whose transactions they are")
}

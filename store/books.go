package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// Transaction reads one transaction of the bank's books; a NotFound error if there is none.
func (v View) Transaction(ctx context.Context, id string) (records.Transaction, error) {
	return transactions.one(ctx, v, id)
}

// Account and Customer read one row each, NotFound if there is none.
func (v View) Account(ctx context.Context, id string) (records.Account, error) {
	return accounts.one(ctx, v, id)
}

func (v View) Customer(ctx context.Context, id string) (records.Customer, error) {
	return customers.one(ctx, v, id)
}

// Part is one part of a book that can be read by itself: what to ask once the parts before it are there.
type Part struct {
	after bool // it asks about the copies, so Like comes first if it is wanted too
	ask   func(View, *records.Book) []question
}

// The parts of a book besides the transaction, its account and its customer, which every book has.
var (
	Merchant     = Part{ask: View.merchant}
	Settlement   = Part{ask: View.settlement}
	Devices      = Part{ask: View.devices}
	Like         = Part{ask: View.like}
	Recent       = Part{ask: View.recent}
	SameEndToEnd = Part{ask: View.sameEndToEnd}
	Entries      = Part{after: true, ask: View.entriesOf}
	Fixed        = Part{after: true, ask: View.fixed}
	Nothing      = Part{ask: func(View, *records.Book) []question { return nil }}
)

var wholeBook = []Part{Merchant, Settlement, Devices, Like, Recent, SameEndToEnd, Entries, Fixed}

// Book reads everything that bears on one transaction, or only the parts that are named. Rows that are not there are nil or
// empty; rows that cannot be read are an error, never an absence.
func (v View) Book(ctx context.Context, transactionID string, parts ...Part) (b records.Book, err error) {
	if err = v.owned(ctx, transactionID, &b); err != nil {
		return b, err
	}
	if len(parts) == 0 {
		parts = wholeBook
	}
	for _, after := range []bool{false, true} {
		var questions []question
		for _, part := range parts {
			if part.after == after {
				questions = append(questions, part.ask(v, &b)...)
			}
		}
		if err := v.ask(ctx, questions...); err != nil {
			return b, fmt.Errorf("read the book of transaction %q: %w", transactionID, err)
		}
	}
	if i := slices.IndexFunc(b.Devices, func(d records.Device) bool { return d.ID == b.Transaction.DeviceID }); i >= 0 {
		b.Device = &b.Devices[i]
	}
	return b, nil
}

// owned reads the transaction, its account and the customer who owns it, in one query.
func (v View) owned(ctx context.Context, transactionID string, b *records.Book) error {
	err := v.q.QueryRowContext(ctx, ownedQuery, transactionID).
		Scan(scans(slices.Concat(transactions.fields(&b.Transaction), accounts.fields(&b.Account), customers.fields(&b.Customer)))...)
	if errors.Is(err, sql.ErrNoRows) {
		return countersign.Errorf(countersign.NotFound, "there is no transaction %q", transactionID)
	}
	return wrap(err, "read transaction %q", transactionID)
}

var ownedQuery = "SELECT " + transactions.list("t") + ", " + accounts.list("a") + ", " + customers.list("c") +
	" FROM transactions t JOIN accounts a ON a.id = t.account_id JOIN customers c ON c.id = a.customer_id WHERE t.id = $1"

// list names the columns of a table under an alias.
func (tb table[T]) list(alias string) string {
	return alias + "." + strings.Join(tb.columns, ", "+alias+".")
}

func (v View) merchant(b *records.Book) []question {
	if b.Transaction.MerchantID == "" {
		return nil
	}
	return merchants.question(func(m records.Merchant) { b.Merchant = &m }, "id = $1", b.Transaction.MerchantID)
}

func (v View) settlement(b *records.Book) []question {
	return settlements.question(func(s records.Settlement) { b.Settlement = &s }, "transaction_id = $1", b.Transaction.ID)
}

func (v View) devices(b *records.Book) []question {
	return devices.question(func(d records.Device) { b.Devices = append(b.Devices, d) }, "customer_id = $1 ORDER BY id", b.Customer.ID)
}

// like reads every possible copy of the transaction, however long ago: a copy outside the window is shown too, and one whose
// time of day is not recorded must not be missed. The plus keeps SQLite from looking through the index of amounts, which a search has:
// it would read everybody's payments of a round sum to find those of one account.
func (v View) like(b *records.Book) []question {
	t := b.Transaction
	return transactions.question(func(t records.Transaction) { b.Like = append(b.Like, t) },
		`account_id = $1 AND direction = $2 AND +amount_minor = $3 AND currency = $4 AND id <> $5
		AND ((merchant_id <> '' AND merchant_id = $6) OR (counterparty_account <> '' AND counterparty_account = $7)) ORDER BY occurred_at, id`,
		t.AccountID, string(t.Direction), t.AmountMinor, t.Currency, t.ID, t.MerchantID, t.CounterpartyAccount)
}

// recent reads a day either side by text: RFC 3339 in UTC sorts as time does.
func (v View) recent(b *records.Book) []question {
	at, ok := b.Transaction.OccurredAt.Instant()
	if !ok {
		var err error
		if at, err = time.Parse(time.DateOnly, b.Transaction.OccurredAt.String()); err != nil {
			return nil // no date at all: there is no day to look around
		}
	}
	from, to := countersign.At(at.Add(-24*time.Hour)).String(), countersign.At(at.Add(48*time.Hour)).String()
	return transactions.question(func(t records.Transaction) { b.Recent = append(b.Recent, t) },
		`account_id = $1 AND direction = 'debit' AND occurred_at >= $2 AND occurred_at <= $3 ORDER BY occurred_at, id LIMIT 500`,
		b.Account.ID, from[:10], to)
}

func (v View) sameEndToEnd(b *records.Book) []question {
	if b.Transaction.EndToEndID == "" {
		return nil
	}
	return transactions.question(func(t records.Transaction) { b.SameEndToEnd = append(b.SameEndToEnd, t) },
		"end_to_end_id = $1 AND end_to_end_id <> '' AND id <> $2 ORDER BY occurred_at, id", b.Transaction.EndToEndID, b.Transaction.ID)
}

// entriesOf reads the entries of the transaction and of its copies.
func (v View) entriesOf(b *records.Book) []question {
	ids := withCopies(b)
	return entries.question(func(e records.LedgerEntry) {
		if e.TransactionID == b.Transaction.ID {
			b.Entries = append(b.Entries, e)
		} else {
			b.LikeEntries = append(b.LikeEntries, e)
		}
	}, "transaction_id IN "+v.d.values(1, len(ids))+" ORDER BY id", ids...)
}

// fixed reads which of the transaction and its copies this product has given back already, or has asked others to.
func (v View) fixed(b *records.Book) []question {
	ids := withCopies(b)
	return []question{{"SELECT t.id FROM transactions t WHERE t.id IN " + v.d.values(1, len(ids)) +
		` AND (EXISTS (SELECT 1 FROM fixes f WHERE f.transaction_id = t.id)
		OR EXISTS (SELECT 1 FROM instructions i WHERE i.transaction_id = t.id AND i.state IN ('requested', 'unknown'))) ORDER BY t.id`, ids,
		func(row scanner) error {
			var id string
			err := row.Scan(&id)
			b.Fixed = append(b.Fixed, id)
			return err
		}}}
}

func withCopies(b *records.Book) []any {
	ids := []any{b.Transaction.ID}
	for _, l := range b.Like {
		ids = append(ids, l.ID)
	}
	return ids
}

// table is how one kind of record row is stored: which columns, in which order, and where they live in the struct.
type table[T any] struct {
	name    string
	noun    string
	columns []string // the first is the key
	fields  func(*T) []any
}

func (tb table[T]) scan(row scanner) (one T, err error) {
	return one, row.Scan(scans(tb.fields(&one))...)
}

func (tb table[T]) where(ctx context.Context, v View, condition string, args ...any) ([]T, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+strings.Join(tb.columns, ", ")+" FROM "+tb.name+" WHERE "+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tb.name, err)
	}
	all, err := collect(rows, tb.scan)
	return all, wrap(err, "read %s", tb.name)
}

// question asks for the rows that fit the condition; found is told of each.
func (tb table[T]) question(found func(T), condition string, args ...any) []question {
	return []question{{"SELECT " + strings.Join(tb.columns, ", ") + " FROM " + tb.name + " WHERE " + condition, args, func(row scanner) error {
		one, err := tb.scan(row)
		if err == nil {
			found(one)
		}
		return wrap(err, "read "+tb.name)
	}}}
}

func (tb table[T]) one(ctx context.Context, v View, key string) (T, error) {
	one, err := tb.maybe(ctx, v, key)
	if err != nil || one != nil {
		return value(one), err
	}
	return value(one), countersign.Errorf(countersign.NotFound, "there is no %s %q", tb.noun, key)
}

// maybe returns nil when there is no such row, or no key to look for.
func (tb table[T]) maybe(ctx context.Context, v View, key string) (*T, error) {
	if key == "" {
		return nil, nil
	}
	one, err := tb.scan(v.q.QueryRowContext(ctx, "SELECT "+strings.Join(tb.columns, ", ")+" FROM "+tb.name+" WHERE "+tb.columns[0]+" = $1", key))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &one, wrap(err, "read %s %q", tb.noun, key)
}

func value[T any](p *T) (zero T) {
	if p == nil {
		return zero
	}
	return *p
}

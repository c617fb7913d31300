package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/desk/bank/records"
)

// Imported says what became of a batch of rows.
type Imported struct {
	New, Changed, Same int
	Refused            []records.Problem
}

// Known reports whether a row that is not in the database yet will be there: for a dry run, whose earlier batches were
// never stored.
type Known func(records.Array, string) bool

// Import stores rows of one array, at most a thousand at a time, and locks the accounts they touch: a fix that is being
// posted meanwhile sees all of the batch or nothing. A row that contradicts what is on record, or refers to something that
// is not, is refused and the others are stored. Importing the same rows again changes nothing.
func (t *Tx) Import(ctx context.Context, rows []records.Row) (Imported, error) {
	if len(rows) == 0 {
		return Imported{}, nil
	}
	if err := t.lockTouched(ctx, rows); err != nil {
		return Imported{}, err
	}
	return importers[rows[0].Record.Array()](ctx, t.View, rows, nil, t)
}

// Rehearse says what Import would do, without storing anything.
func (v View) Rehearse(ctx context.Context, rows []records.Row, known Known) (Imported, error) {
	if len(rows) == 0 {
		return Imported{}, nil
	}
	return importers[rows[0].Record.Array()](ctx, v, rows, known, nil)
}

type importer func(context.Context, View, []records.Row, Known, *Tx) (Imported, error)

var importers = map[records.Array]importer{
	records.Customers:     importInto(customers),
	records.Accounts:      importInto(accounts, reference{"customer_id", records.Customers, "customers"}),
	records.Merchants:     importInto(merchants),
	records.Devices:       importInto(devices, reference{"customer_id", records.Customers, "customers"}),
	records.Transactions:  importInto(transactions, reference{"account_id", records.Accounts, "accounts"}),
	records.LedgerEntries: importInto(entries, reference{"transaction_id", records.Transactions, "transactions"}),
	records.Settlements:   importInto(settlements, reference{"transaction_id", records.Transactions, "transactions"}),
}

// reference is a column that must name a row which exists.
type reference struct {
	column string
	array  records.Array
	table  string
}

// importInto makes the importer of one table. With a nil Tx it only rehearses.
func importInto[T any, P interface {
	*T
	records.Record
}](tb table[T], references ...reference) importer {
	return func(ctx context.Context, v View, rows []records.Row, known Known, t *Tx) (done Imported, err error) {
		rows, err = tb.resolve(ctx, v, rows, known, references, &done)
		if err != nil {
			return done, err
		}
		stored, err := tb.existing(ctx, v, keys(rows))
		if err != nil {
			return done, err
		}
		fresh, changed := sortOut[T, P](rows, stored, &done)
		if t == nil || len(fresh)+len(changed) == 0 {
			return done, nil
		}
		return done, tb.keep(ctx, t, fresh, changed)
	}
}

func (tb table[T]) keep(ctx context.Context, t *Tx, fresh, changed []T) error {
	if len(fresh) > 0 {
		if err := tb.insert(ctx, t, fresh...); err != nil {
			return raced(err) // the other one has them by now, and looking again finds them
		}
	}
	for _, row := range changed {
		if err := tb.update(ctx, t, row); err != nil {
			return err
		}
	}
	return nil
}

// sortOut compares the rows with what is stored, and with what came before them in the batch.
func sortOut[T any, P interface {
	*T
	records.Record
}](rows []records.Row, stored []T, done *Imported) (fresh, changed []T) {
	old := make(map[string]P, len(stored))
	for i := range stored {
		old[P(&stored[i]).Key()] = P(&stored[i])
	}
	for _, row := range rows {
		before, exists := old[row.Record.Key()]
		if !exists {
			fresh = append(fresh, *row.Record.(P))
			old[row.Record.Key()] = row.Record.(P)
			done.New++
			continue
		}
		next, news, err := row.Advance(before)
		var refused records.Problem
		switch {
		case errors.As(err, &refused):
			done.Refused = append(done.Refused, refused)
		case news:
			changed = append(changed, *next.(P))
			old[row.Record.Key()] = next.(P)
			done.Changed++
		default:
			done.Same++
		}
	}
	return fresh, changed
}

// resolve refuses rows that refer to something that is neither stored nor known.
func (tb table[T]) resolve(ctx context.Context, v View, rows []records.Row, known Known, references []reference, done *Imported) ([]records.Row, error) {
	for _, r := range references {
		missing, err := v.missing(ctx, r, rows, known)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(row records.Row) bool {
			id := r.of(row)
			if missing[id] {
				done.Refused = append(done.Refused, row.Problem(r.column, id, "the id of one of the "+r.table+", in this file or on record"))
			}
			return missing[id]
		})
	}
	return rows, nil
}

// of is the id that the row's reference names.
func (r reference) of(row records.Row) string {
	switch row := row.Record.(type) {
	case *records.Account:
		return row.CustomerID
	case *records.Device:
		return row.CustomerID
	case *records.Transaction:
		return row.AccountID
	case *records.LedgerEntry:
		return row.TransactionID
	case *records.Settlement:
		return row.TransactionID
	}
	return "" // unreachable: the other kinds refer to nothing
}

func (v View) missing(ctx context.Context, r reference, rows []records.Row, known Known) (map[string]bool, error) {
	missing := map[string]bool{}
	for _, row := range rows {
		if id := r.of(row); known == nil || !known(r.array, id) {
			missing[id] = true
		}
	}
	if len(missing) == 0 {
		return missing, nil
	}
	var ids []any
	for id := range missing {
		ids = append(ids, id)
	}
	found, err := v.q.QueryContext(ctx, "SELECT id FROM "+r.table+" WHERE id IN "+v.d.values(1, len(ids)), ids...)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", r.table, err)
	}
	present, err := collect(found, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
	for _, id := range present {
		delete(missing, id)
	}
	return missing, wrap(err, "look for %s", r.table)
}

// lockTouched takes the locks of the accounts whose transactions, entries or settlements are in the batch.
func (t *Tx) lockTouched(ctx context.Context, rows []records.Row) error {
	var accountIDs, transactionIDs []any
	for _, row := range rows {
		switch row := row.Record.(type) {
		case *records.Transaction:
			accountIDs = append(accountIDs, row.AccountID)
		case *records.LedgerEntry:
			transactionIDs = append(transactionIDs, row.TransactionID)
		case *records.Settlement:
			transactionIDs = append(transactionIDs, row.TransactionID)
		}
	}
	if err := t.lockAccounts(ctx, t.d.values(1, len(accountIDs)), accountIDs); err != nil {
		return err
	}
	return t.lockAccounts(ctx, "(SELECT account_id FROM transactions WHERE id IN "+t.d.values(1, len(transactionIDs))+")", transactionIDs)
}

func (t *Tx) lockAccounts(ctx context.Context, which string, args []any) error {
	if len(args) == 0 {
		return nil
	}
	_, err := t.exec(ctx, "UPDATE accounts SET postings = postings + 1 WHERE id IN "+which, args...)
	return wrap(err, "lock accounts")
}

func keys(rows []records.Row) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = row.Record.Key()
	}
	return all
}

// insert stores new rows in one statement.
func (tb table[T]) insert(ctx context.Context, t *Tx, rows ...T) error {
	all := make([]any, 0, len(rows)*len(tb.columns))
	for i := range rows {
		all = append(all, args(tb.fields(&rows[i]))...)
	}
	_, err := t.exec(ctx, "INSERT INTO "+tb.name+" ("+strings.Join(tb.columns, ", ")+") VALUES "+t.d.values(len(rows), len(tb.columns)), all...)
	return wrap(err, "store %d rows of %s", len(rows), tb.name)
}

// update writes every column of one row that exists.
func (tb table[T]) update(ctx context.Context, t *Tx, row T) error {
	sets := make([]string, 0, len(tb.columns))
	for i, c := range tb.columns[1:] {
		sets = append(sets, fmt.Sprintf("%s = $%d", c, i+2))
	}
	_, err := t.exec(ctx, "UPDATE "+tb.name+" SET "+strings.Join(sets, ", ")+" WHERE "+tb.columns[0]+" = $1", args(tb.fields(&row))...)
	return wrap(err, "change a row of %s", tb.name)
}

// existing reads the rows with these keys.
func (tb table[T]) existing(ctx context.Context, v View, keys []string) ([]T, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	all := make([]any, len(keys))
	for i, k := range keys {
		all[i] = k
	}
	return tb.where(ctx, v, tb.columns[0]+" IN "+v.d.values(1, len(keys)), all...)
}

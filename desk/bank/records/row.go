package records

import "iter"

// Record is one row of any array: *Customer, *Account, *Merchant, *Device, *Transaction, *LedgerEntry or *Settlement.
type Record interface {
	// Key is what the row is known by within its array: its id, for a settlement its transaction's.
	Key() string
	// Array is the array it belongs to.
	Array() Array
	// Validate returns everything that is wrong with the row by itself, nothing when it may be stored. It says nothing of
	// rows that it refers to.
	Validate() []Problem
}

func (c *Customer) Key() string    { return c.ID }
func (a *Account) Key() string     { return a.ID }
func (m *Merchant) Key() string    { return m.ID }
func (d *Device) Key() string      { return d.ID }
func (t *Transaction) Key() string { return t.ID }
func (e *LedgerEntry) Key() string { return e.ID }
func (s *Settlement) Key() string  { return s.TransactionID }

func (c *Customer) Array() Array    { return Customers }
func (a *Account) Array() Array     { return Accounts }
func (m *Merchant) Array() Array    { return Merchants }
func (d *Device) Array() Array      { return Devices }
func (t *Transaction) Array() Array { return Transactions }
func (e *LedgerEntry) Array() Array { return LedgerEntries }
func (s *Settlement) Array() Array  { return Settlements }

// Row is one valid row of an import and where it stood.
type Row struct {
	Record Record
	File   string
	Number int // counted from 1 within its array
	Line   int // of the row's first character

	given uint32 // a bit for each column that the row gave a value, in the order of the array's columns
}

// NewRow is a row that was not read from a file: it gives every column.
func NewRow(r Record) Row { return Row{Record: r, given: ^uint32(0)} }

// Problem says what is wrong with a row that is valid by itself: an account nobody knows, a stored amount that differs.
func (r Row) Problem(field, value, want string) Problem {
	return Problem{r.File, r.Record.Array(), r.Number, r.Line, field, value, want, r.Record.Key()}
}

// Rows returns every record of the set as a row, owners before what they own.
func (s *Set) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		_ = each(s.Customers, yield) && each(s.Accounts, yield) && each(s.Merchants, yield) && each(s.Devices, yield) &&
			each(s.Transactions, yield) && each(s.LedgerEntries, yield) && each(s.Settlements, yield)
	}
}

func each[T any, P interface {
	*T
	Record
}](list []T, yield func(Row) bool) bool {
	for i := range list {
		row := NewRow(P(&list[i]))
		row.Number = i + 1
		if !yield(row) {
			return false
		}
	}
	return true
}

// Add puts the row's record into the array it belongs to.
func (s *Set) Add(r Row) {
	switch r := r.Record.(type) {
	case *Customer:
		s.Customers = append(s.Customers, *r)
	case *Account:
		s.Accounts = append(s.Accounts, *r)
	case *Merchant:
		s.Merchants = append(s.Merchants, *r)
	case *Device:
		s.Devices = append(s.Devices, *r)
	case *Transaction:
		s.Transactions = append(s.Transactions, *r)
	case *LedgerEntry:
		s.LedgerEntries = append(s.LedgerEntries, *r)
	case *Settlement:
		s.Settlements = append(s.Settlements, *r)
	}
}

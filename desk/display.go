package desk

import "countersign"

// Display is what a person who decides is shown of a case's records: what the case is about, and the rows that its facts were
// read from. It is read anew each time it is shown, so it may say something else than facts that were established earlier.
type Display struct {
	Lines  []Line  // the disputed transaction or order, most telling first
	Tables []Table // the records that bear on it

	Ledger   []Posting         // the entries on record that a fix would stand beside
	Accounts map[string]string // what a person calls an account, by its id
}

// Posting is one ledger entry on record.
type Posting struct {
	TransactionID string
	countersign.Entry
	When countersign.When
}

// Line is one labelled value.
type Line struct {
	Label string
	Cell  Cell
}

// Table is some rows of one kind of record.
type Table struct {
	Name    string   // stable; part of the address of a row
	Title   string   // for people
	Cited   []string // how the source of a fact begins that was read from this table: "ledger_entries", "settlement of"
	Columns []string
	Rows    []Row
}

// Row is one record.
type Row struct {
	ID    string // what the source of a fact calls it
	Mine  bool   // the record that the case is about
	Cells []Cell // one for each column
}

// Cell is one value, in the one form that it has. A cell without any is not recorded.
type Cell struct {
	Text   string
	By     string // who wrote Text, when it is not the desk's own word: "the customer", "the merchant"
	Amount *countersign.Money
	When   countersign.When
}

// FactGroup puts a name for people on some facts, and says which complaint they bear on: empty for any.
type FactGroup struct {
	Title string
	About countersign.DisputeReason
	Facts []FactTitle
	Clear string // says of all of them at once that none speaks against a fix, with %d for their number; may be empty
}

// TypedKind is a kind of fact that a person may type in, and its name for people.
type TypedKind struct {
	Name     countersign.TypedKind
	Title    string
	Tightens bool // a rule reads it: a case that was judged without it must be judged again
}

// FactTitle is a fact's name for people. The title is a statement that a fact which is present makes.
type FactTitle struct{ Name, Title string }

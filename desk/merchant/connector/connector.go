// Package connector reads a shop's own database: SQLite, PostgreSQL, MySQL or MariaDB. It changes nothing there, and it runs no
// statement that anybody wrote: not a person, not a mapping, not a model.
//
// A Mapping says in which tables and columns the shop keeps its orders, payments, fulfilments, refunds and returns, and what
// their statuses mean. Its names are looked up in the live catalog, and what is put into a statement is the catalog's own
// spelling, quoted; a name that is not there is an error and never reaches the server. Everything else that varies is a
// parameter. build.go makes every statement that reads a shop, and internal/arch follows each text of this package back to
// where it was written.
//
// What is read arrives as text and is parsed here, cell by cell: one bad date or amount is a Problem of that cell and loses
// no row. A kind of record that cannot be read says why in Unread, and the others still arrive. Unknown is never absent.
package connector

import (
	"log/slog"
	"strings"
)

// The three kinds of database that a shop may have.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	MySQL    = "mysql" // and MariaDB
)

// DSN says where a shop's database is and how to get in. It holds a password, so it shows itself to nobody: not in a format,
// not in a log. Only a mapping's JSON form has it in clear, and the store seals that. string(dsn) is the text.
type DSN string

const concealed = "[connection string]"

func (d DSN) String() string       { return concealed }
func (d DSN) GoString() string     { return concealed }
func (d DSN) LogValue() slog.Value { return slog.StringValue(concealed) }

// Kind is a kind of record that a mapping says where to find.
type Kind string

const (
	Order       Kind = "order"
	Payment     Kind = "payment"
	Fulfillment Kind = "fulfillment"
	Refund      Kind = "refund"
	Return      Kind = "return"
)

// Kinds are all kinds, in the order in which a mapping is set up.
var Kinds = []Kind{Order, Payment, Fulfillment, Refund, Return}

// plural is what sentences call the records of a kind.
func (k Kind) plural() string {
	return strings.ReplaceAll(string(k), "fulfillment", "fulfilment") + "s"
}

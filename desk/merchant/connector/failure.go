package connector

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"countersign"
)

// What goes wrong between us and a shop's database is said in words of ours that say what to do. The drivers' own texts may
// hold the connection string, a password or a customer's data, so they are left behind: an operator gets the engine's code.

// cause is what is left of a driver's error.
type cause struct {
	code string
	err  error // context.Canceled or context.DeadlineExceeded, else nil
}

func (c cause) Error() string { return c.code }
func (c cause) Unwrap() error { return c.err }

// failure is a driver's error as a person may read it.
func failure(err error) *countersign.Error {
	var known *countersign.Error
	if err == nil || errors.As(err, &known) {
		return known
	}
	c := causeOf(err)
	says, ok := sayings[c.code]
	if !ok {
		says = saying{countersign.Unavailable, "the shop's database gave an error that is not understood", "try again; the log has the database's code " + c.code}
	}
	return &countersign.Error{Kind: says.kind, Message: says.message, Hint: says.hint, Err: c}
}

type saying struct {
	kind          countersign.ErrorKind
	message, hint string
}

var (
	wrongPassword = saying{countersign.Unprocessed, "the shop's database refused the user name or the password",
		"check both in the connection string, and that this role may log in from here"}
	wrongDatabase = saying{countersign.Unprocessed, "the server has no database of that name, or not for this role",
		"check the name at the end of the connection string"}
	tableGone = saying{countersign.Unprocessed, "a table that the mapping names is not there any more",
		"look at the mapping again: the shop's tables have changed"}
	columnGone = saying{countersign.Unprocessed, "a column that the mapping names is not there any more",
		"look at the mapping again: the shop's tables have changed"}
	rightsGone = saying{countersign.Unprocessed, "the role may not read a table or a column that the mapping names",
		"ask the owner of the database to grant SELECT on it"}
	tooSlow = saying{countersign.Unavailable, "the shop's database took too long",
		"try again; if it stays slow, an index on the column with the order's key is missing"}
	locked = saying{countersign.Unavailable, "somebody has locked the table in the shop's database",
		"try again when they are done"}
	stopped = saying{countersign.Unavailable, "the shop's database does not answer",
		"see whether it runs and can be reached from here, then try again"}
	unknownHost = saying{countersign.Unavailable, "nobody knows the host of the shop's database",
		"check the host in the connection string"}
	full = saying{countersign.Unavailable, "the shop's database takes no more connections",
		"try again in a moment"}
	notDatabase = saying{countersign.Unprocessed, "the file is not a SQLite database",
		"name the database file itself; an encrypted one cannot be read"}
	damaged = saying{countersign.Unprocessed, "the SQLite file is damaged",
		"ask the owner of the shop for a good copy"}
	cannotOpen = saying{countersign.Unprocessed, "the SQLite file cannot be opened",
		"let this program's user read the file and its folder"}
	offTheList = saying{countersign.Unprocessed, "the mapping does not name this table, or a view calls what may not be called here",
		"name the table in the mapping; a view may look only at tables, with SQLite's plain functions"}
	wouldWrite = saying{countersign.Unprocessed, "reading this table would write something",
		"it is a view that calls a function which writes: make one that only reads"}
	hiddenRows = saying{countersign.Unprocessed, "row security could hide rows of this table from the role, so what is missing could not be told from what is hidden",
		"ask the owner of the database for a role with BYPASSRLS that has only SELECT"}
	unlikeTypes = saying{countersign.Unprocessed, "a column holds another kind of value than the statement expects",
		"look at the columns of the mapping again: the shop's tables have changed"}
	noTLS = saying{countersign.Unprocessed, "the shop's database and this program could not agree on an encrypted connection",
		"check the TLS settings of the connection string"}
	interrupted = saying{countersign.Unavailable, "reading was stopped before it was done",
		"try again"}
)

// outdated reports whether a statement failed because the shop's tables are not what they were when its catalog was read.
func outdated(c cause) bool {
	says := sayings[c.code]
	return says == tableGone || says == columnGone || says == unlikeTypes
}

// sayings go by the engine and its own code.
var sayings = map[string]saying{
	"network": stopped, "network host": unknownHost, "tls": noTLS, "timeout": tooSlow, "canceled": interrupted,

	"postgres 28000": wrongPassword, "postgres 28P01": wrongPassword, "postgres 3D000": wrongDatabase,
	"postgres 42P01": tableGone, "postgres 3F000": tableGone, "postgres 42703": columnGone,
	"postgres 42501": rightsGone, "postgres row security": hiddenRows, "postgres 25006": wouldWrite,
	"postgres 42883": unlikeTypes, "postgres 42804": unlikeTypes, "postgres 22P02": unlikeTypes,
	"postgres 57014": tooSlow, "postgres 55P03": locked, "postgres 53300": full,
	"postgres 57P01": stopped, "postgres 57P02": stopped, "postgres 57P03": stopped,

	"mysql 1045": wrongPassword, "mysql 1698": wrongPassword, "mysql 1130": wrongPassword, "mysql 1044": wrongDatabase, "mysql 1049": wrongDatabase,
	"mysql 1146": tableGone, "mysql 1356": tableGone, "mysql 1054": columnGone,
	"mysql 1142": rightsGone, "mysql 1143": rightsGone, "mysql 1370": rightsGone, "mysql 1792": wouldWrite, "mysql 1267": unlikeTypes,
	"mysql 1969": tooSlow, "mysql 3024": tooSlow, "mysql 1317": tooSlow, "mysql 1205": locked,
	"mysql 1040": full, "mysql 1203": full, "mysql 1226": full, "mysql 1053": stopped, "mysql 1927": stopped,

	"sqlite 26": notDatabase, "sqlite 11": damaged, "sqlite 14": cannotOpen, "sqlite 8": cannotOpen, "sqlite 23": offTheList,
	"sqlite no such table": tableGone, "sqlite no such column": columnGone, "sqlite 5": locked, "sqlite 6": locked, "sqlite 9": tooSlow,
}

func causeOf(err error) cause {
	var ours *countersign.Error
	var network net.Error
	var host *net.DNSError
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &ours):
		return cause{code: string(ours.Kind)}
	case errors.As(err, &pg):
		return cause{code: postgresCode(pg)}
	case errors.As(err, &my):
		return cause{code: "mysql " + strconv.Itoa(int(my.Number))}
	case errors.As(err, &host):
		return cause{code: "network host"}
	case errors.Is(err, context.Canceled):
		return cause{"canceled", context.Canceled}
	case errors.Is(err, sql.ErrTxDone): // the time for all that an order needs is over
		return cause{code: "timeout"}
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)):
		return cause{"timeout", context.DeadlineExceeded}
	case errors.As(err, &lite):
		return cause{code: sqliteCode(lite)}
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "TLS"), strings.Contains(err.Error(), "x509"):
		return cause{code: "tls"}
	case errors.As(err, &network), errors.Is(err, net.ErrClosed), broken(err):
		return cause{code: "network"}
	}
	return cause{code: "unknown"}
}

// broken is the rest of the ways in which drivers say that nobody is there any more.
func broken(err error) bool {
	text := err.Error()
	for _, part := range []string{"bad connection", "unexpected EOF", "EOF", "conn closed", "connection refused", "connection reset", "invalid connection", "broken pipe"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// postgresCode tells row security from a missing right: they have one code.
func postgresCode(e *pgconn.PgError) string {
	if e.Code == "42501" && strings.Contains(e.Message, "row-level security") {
		return "postgres row security"
	}
	return "postgres " + e.Code
}

// sqliteCode is the primary code. What is not there has no code of its own.
func sqliteCode(e *sqlite.Error) string {
	const general = 1
	code := e.Code() & 0xff
	for _, missing := range []string{"no such table", "no such column"} {
		if code == general && strings.Contains(e.Error(), missing) {
			return "sqlite " + missing
		}
	}
	return "sqlite " + strconv.Itoa(code)
}

package store

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"countersign"
)

// Explain turns an error that an operator can mend, or that is over in a moment, into a sentence that says so, and leaves the rest
// alone. What Write returns has been through it; whoever answers a person or a program puts what was read through it too.
func Explain(err error) error {
	var e *countersign.Error
	if errors.As(err, &e) {
		return err
	}
	return explain(err)
}

// explain is Explain for errors that may have been given a sentence by whoever ran into the database: the database's counts.
func explain(err error) error {
	say := func(message, hint string) error {
		e := countersign.Errorf(countersign.Unavailable, "%s", message).Try(hint)
		e.Err = err
		return e
	}
	right, missing := forbidden(err)
	switch {
	case err == nil:
		return nil
	case missing:
		return say("the database's user may not do what this program needs: "+right+"; nothing was changed",
			"make it the owner of the schema and of what is in it, or grant it what is missing")
	case isFull(err):
		return say("the disk that holds the database is full; nothing was changed", "free some space and try again")
	case isIO(err):
		return say("the disk that holds the database failed; nothing was changed", "look at the disk and at how large a file may become there, then try again")
	case isCorrupt(err):
		return say("the database file is damaged", "stop the program and restore a backup")
	case isReadOnly(err):
		return say("the database cannot be written to", "check the rights of the file and its folder, and that the disk is not mounted read-only")
	case errors.Is(err, errBroken), isGone(err):
		return say("the database did not answer; nothing was changed", "try again; if it goes on, see that the server runs and can be reached from here")
	}
	return err
}

// isGone reports whether the server cannot be reached, takes no more connections, stops or starts. Other ends of a connection look like
// those of anything else that is read, and nobody who asks knows which it was.
func isGone(err error) bool {
	var pg *pgconn.PgError
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting) || errors.As(err, &pg) && (isLost(pg) || pg.Code == "53300")
}

// forbidden is the server's word for the right that the user lacks; false when it is about something else.
func forbidden(err error) (string, bool) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "42501" {
		return "", false
	}
	return pg.Message, true
}

package countersign

import (
	"errors"
	"fmt"
)

// ErrorKind decides how an error is answered: which status code, which exit code, whether its text may be shown.
type ErrorKind string

const (
	Invalid      ErrorKind = "invalid"       // the request is wrong; Field says where
	NotFound     ErrorKind = "not_found"     //
	Conflict     ErrorKind = "conflict"      // the request was right for a state that is gone
	Unauthorized ErrorKind = "unauthorized"  // no or a bad credential
	Forbidden    ErrorKind = "forbidden"     // a good credential without the right
	Unprocessed  ErrorKind = "unprocessable" // well formed, and still cannot be done
	TooLarge     ErrorKind = "too_large"     //
	Precondition ErrorKind = "precondition"  // the caller must say which revision it saw
	Unavailable  ErrorKind = "unavailable"   // try again later
	Altered      ErrorKind = "altered"       // what is stored is not what was sealed; nothing of it is shown but that
	Internal     ErrorKind = "internal"      // our fault; the text is for operators only
)

// Error is an error that a person may read: what happened, in which field, and what to do next. Anything that is not an
// *Error is internal, and its text is never shown outside the log.
type Error struct {
	Kind    ErrorKind
	Field   string // the field that is wrong, empty when the request as a whole is
	Message string // one sentence
	Hint    string // what to do next, may be empty
	Err     error  // the cause, for operators
}

func (e *Error) Error() string {
	s := e.Message
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an *Error of that kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// In names the field that the error is about and returns the error.
func (e *Error) In(field string) *Error { e.Field = field; return e }

// Try adds what to do next and returns the error.
func (e *Error) Try(hint string) *Error { e.Hint = hint; return e }

// KindOf returns the kind of the first *Error in err's chain, Internal if there is none.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
